"""The published table of WMT23 and the authors' files, digit for digit."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from mmad_metric.cli import main
from mmad_metric.metaeval.human_spans import read_human_spans
from mmad_metric.metaeval.layout import read_eval_set
from mmad_metric.metaeval.loading import Sources, load
from mmad_metric.metaeval.matrices import gold_matrix, left_out
from mmad_metric.mqm import Side
from tests.metaeval.made_runs import rated, write_run

# Meta scores as published: zh-en + en-de, zh-en, en-de.
PUBLISHED = {
    "M-MAD": (0.814, 0.808, 0.823),
    "GEMBA-MQM": (0.784, 0.784, 0.786),
    "EAPrompt": (0.772, 0.760, 0.788),
    "CometKiwi": (0.793, 0.776, 0.816),
    "MetricX-23-QE": (0.806, 0.787, 0.830),
    "MetricX-23": (0.808, 0.794, 0.823),
    "XCOMET-Ensemble": (0.826, 0.809, 0.845),
}
# System accuracy, system Pearson, acc-t, segment Pearson of M-MAD, as published.
COMPONENTS = {"zh-en": (0.933, 0.987, 0.517, 0.577), "en-de": (0.970, 0.979, 0.555, 0.552)}
TASKS = ("sys_accuracy", "sys_pearson", "seg_acc_t", "seg_pearson")


@pytest.fixture(scope="module")
def table(wmt23: Path, request):
    """What the command prints for all metrics and both language pairs."""
    capture = request.getfixturevalue("module_capture")
    return capture(
        ["meta-eval", "--data", str(wmt23), "--scores", str(wmt23 / "mmad-released"),
         "--lp", "zh-en,en-de", "-f", "json"]
    )  # fmt: skip


@pytest.fixture(scope="module")
def module_capture():
    def run(arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            assert main(arguments) == 0
        return json.loads(out.getvalue())

    return run


@pytest.mark.parametrize("metric", PUBLISHED)
def test_the_meta_scores_are_the_published_ones(table, metric: str):
    row = next(each for each in table["metrics"] if each["metric"] == metric)
    meta = (row["meta"], row["by_lp"]["zh-en"]["meta"], row["by_lp"]["en-de"]["meta"])
    assert meta == PUBLISHED[metric]


@pytest.mark.parametrize("lp", COMPONENTS)
def test_the_components_of_m_mad_are_the_published_ones(table, lp: str):
    row = next(each for each in table["metrics"] if each["metric"] == "M-MAD")
    assert tuple(row["by_lp"][lp]["tasks"][task] for task in TASKS) == COMPONENTS[lp]


def test_other_published_components_are_met(table):
    rows = {each["metric"]: each for each in table["metrics"]}
    gemba = rows["GEMBA-MQM"]["by_lp"]
    assert gemba["zh-en"]["tasks"]["seg_acc_t"] == 0.472
    assert gemba["en-de"]["tasks"]["seg_acc_t"] == 0.474
    assert rows["M-MAD"]["tasks"]["sys_accuracy"] == 0.947
    assert rows["XCOMET-Ensemble"]["tasks"]["sys_accuracy"] == 0.918


def test_all_35_metrics_come_in_one_call_best_first(table):
    assert table["lps"] == ["zh-en", "en-de"]
    metas = [each["meta"] for each in table["metrics"]]
    assert len(metas) == 35
    assert metas == sorted(metas, reverse=True)
    assert [each["rank"] for each in table["metrics"]] == list(range(1, 36))


def test_one_language_pair_alone_gives_its_own_column(wmt23: Path, module_capture):
    found = module_capture(
        ["meta-eval", "--data", str(wmt23), "--scores", str(wmt23 / "mmad-released"),
         "--lp", "zh-en", "--metrics", "M-MAD,MetricX-23"]
    )  # fmt: skip
    assert {row["metric"]: row["meta"] for row in found["metrics"]} == {
        "M-MAD": 0.808,
        "MetricX-23": 0.794,
    }


@pytest.mark.parametrize(("lp", "systems", "items"), [("en-de", 12, 460), ("zh-en", 15, 1177)])
def test_outlier_and_standard_reference_are_left_out(wmt23: Path, lp, systems, items):
    data = read_eval_set(str(wmt23), lp)
    assert left_out(data) == {"synthetic_ref", "refA"}
    gold = gold_matrix(data)
    assert gold.segment.shape == (systems, items)
    assert not {"refA", "synthetic_ref"} & set(gold.systems)


def test_a_metric_of_another_folder_takes_the_place_of_its_namesake(wmt23: Path):
    def scores(*folders: str):
        loaded = load(Sources(str(wmt23), ("en-de",), folders, metrics=("GEMBA-MQM",)))
        return loaded.pairs[0].metrics["GEMBA-MQM"].system

    assert (scores() != scores(str(wmt23 / "mmad-released"))).all()


def test_a_run_that_says_what_people_said_agrees_fully(wmt23: Path, tmp_path, module_capture):
    human = read_human_spans(read_eval_set(str(wmt23), "en-de"))
    data = read_eval_set(str(wmt23), "en-de")
    sources, outputs = data.texts()
    ratings = []
    for system, rows in human.ratings["merged"].items():
        for row, errors in enumerate(rows):
            if errors is None:
                continue
            # As `mmad` rates a file of lines: without the byte-order mark that people counted.
            text = outputs[system][row]
            bare = text.removeprefix("\ufeff")
            moved = tuple(
                replace(each, start=(each.start or 0) - 1, end=(each.end or 0) - 1)
                if bare != text and each.side is Side.TRANSLATION
                else each
                for each in errors
            )
            ratings.append(rated(system, row, sources[row], bare, moved))
    assert len(ratings) == 5980
    run = write_run(tmp_path / "people_en-de.jsonl", ratings)
    found = module_capture(
        ["meta-eval", "--data", str(wmt23), "--lp", "en-de", "--metrics", "people", "--runs",
         str(run), "--spans"]
    )  # fmt: skip
    assert found["metrics"][0]["meta"] == 1.0
    spans = found["spans"][0]
    assert spans["n_compared"] == 12 * 460
    for kind in ("characters", "characters_severity", "exact", "exact_severity"):
        assert spans[kind]["micro"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert spans["score_distribution"] == {"earth_mover": 0.0, "kolmogorov_smirnov": 0.0}
    assert spans["severity_agreement"] == 1.0
