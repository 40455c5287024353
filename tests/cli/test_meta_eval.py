"""`mmad meta-eval` and `mmad export` from end to end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mmad_metric.mqm import Provenance
from tests.cli.conftest import Mmad
from tests.metaeval.made_runs import error, rated, write_run
from tests.metaeval.tiny import lines, seg_score, write_folder

WORDS = {"A": "alpha", "B": "beta", "C": "gamma"}


@pytest.fixture
def data(files: Path):
    """The tiny folder with human spans, in the folder of the small files; and two runs."""
    folder = write_folder(files / "data")
    span = {"start": 0, "end": 4, "category": "fluency/grammar", "severity": "minor",
            "is_source_error": False}  # fmt: skip
    for rater in (1, 2):
        lines(
            folder / "human-scores" / f"en-de.mqm.rater{rater}.seg.rating",
            [f"{system}\t{json.dumps({'errors': [span] * (row == rater)})}"
             for system in WORDS for row in range(4)],
        )  # fmt: skip
    for name, heavy in (("careful", "C"), ("careless", "A")):
        ratings = [
            rated(system, row, f"source {row}", f"{word} {row}",
                  (error(word[:4], 0, severity="major"),) * (system == heavy and row != 2))
            for system, word in WORDS.items() for row in range(4)
        ]  # fmt: skip
        write_run(files / f"{name}_en-de.jsonl", ratings)
    return folder


BASE = ("meta-eval", "--data", "data", "--lp", "en-de")
RUNS = ("--runs", "careful_en-de.jsonl", "careless_en-de.jsonl")
OVER = "en-de: 3 systems, 3 of 4 segments with gold; left out: refA, synthetic_ref"


def test_runs_and_score_files_stand_in_one_table_best_first(mmad: Mmad, data: Path):
    ran = mmad(*BASE, *RUNS)
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["lps"] == ["en-de"]
    assert found["by_lp"]["en-de"] == {
        "n_systems": 3, "n_rated": 3, "n_segments": 4, "n_cells": 9,
        "left_out": ["refA", "synthetic_ref"],
    }  # fmt: skip
    assert [each["metric"] for each in found["metrics"]] == ["Good", "careful", "careless"]
    careful = found["metrics"][1]
    # Systems 0, 0 and -3.75 beside gold -2, -8/3 and -32/3: two of three pairs agree.
    assert careful["tasks"]["sys_accuracy"] == 0.667
    assert careful["by_lp"]["en-de"]["n_scored"] == careful["by_lp"]["en-de"]["n_cells"] == 9
    assert careful["meta"] == careful["by_lp"]["en-de"]["meta"]


def test_text_has_a_line_a_metric_and_latex_is_a_tabular(mmad: Mmad, data: Path):
    text = mmad(*BASE, *RUNS, "-f", "text").out.splitlines()
    assert text[0] == OVER
    assert text[3].split()[:3] == ["rank", "metric", "meta"]
    assert [line.split()[1] for line in text[4:7]] == ["Good", "careful", "careless"]
    latex = mmad(*BASE, *RUNS, "-f", "latex").out
    assert latex.startswith(f"% {OVER}\n")
    assert "\\begin{tabular}{rlrrrrr}\n\\toprule" in latex
    assert "\\midrule\n1 & Good & " in latex
    assert latex.rstrip().endswith("\\bottomrule\n\\end{tabular}")


def test_latex_escapes_what_latex_reads(mmad: Mmad, data: Path):
    seg_score(data / "metric-scores/en-de/a_b-src.seg.score", {"A": [1] * 4, "B": [0] * 4})
    assert "a\\_b" in mmad(*BASE, "-f", "latex").out


def test_a_metric_that_scores_a_part_is_noted(mmad: Mmad, data: Path):
    seg_score(
        data / "metric-scores/en-de/Part-src.seg.score",
        {"A": [1, None, 1, 1], "B": [0, 0.5, 0, 0], "C": [0, 0, 0, 0.1]},
    )
    assert "Part, en-de: 8 of 9 rated translations have a score" in mmad(*BASE, "-f", "text").out


def test_intervals_tests_and_ranks_come_with_the_table(mmad: Mmad, data: Path):
    ran = mmad(*BASE, *RUNS, "--confidence", "--significance", "--ranks", "--samples", "40")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    low, high = found["metrics"][0]["confidence"]["meta"]
    assert low <= high
    assert len(found["significance"]) == 3
    assert found["significance"][0]["first"] == "Good"
    assert {each["rank"] for each in found["metrics"]} <= {1, 2, 3}
    text = mmad(*BASE, *RUNS, "--confidence", "--significance", "--samples", "40", "-f", "text")
    assert "Good > careful" in text.out


def test_spans_of_runs_are_held_against_everyone_who_rated(mmad: Mmad, data: Path):
    found = json.loads(mmad(*BASE, *RUNS, "--spans").out)["spans"][0]
    # 12 segments, two raters each, who share its weight. Characters: each rater marks 4 on three
    # segments, the run 4 on three segments of C, of which the first rater marked one (the run
    # leaves unmarked what the second did). So 4/2 of 12, both ways.
    assert (found["metric"], found["n_compared"]) == ("careful", 24)
    assert found["characters"]["micro"] == {"precision": 0.167, "recall": 0.167, "f1": 0.167}
    assert found["characters_severity"]["micro"]["f1"] == 0.083
    assert found["severity_agreement"] == 0.0
    assert found["by_dimension"]["fluency"]["f1"] == 0.167
    text = mmad(*BASE, *RUNS, "--spans", "-f", "text").out
    assert "careful, en-de: spans beside those of people" in text


def test_raters_are_compared_with_each_other_and_with_metrics(mmad: Mmad, data: Path):
    ran = mmad(*BASE, "--raters", "--metrics", "Good", "--samples", "40", "-f", "text")
    assert ran.status == 0, ran.err
    assert "12 segments of 4 sources that all 2 raters rated (1 pairs of raters)" in ran.out
    assert any(line.startswith("Good") for line in ran.out.splitlines())


def test_a_tsv_of_wmt_serves_as_gold(mmad: Mmad, data: Path):
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    rows = [
        f"{system}\td\t1\t{row + 1}\tr1\tsource {row}\t<v>{word}</v> {row}\tFluency/Grammar\t"
        f"{'Major' if system == 'C' else 'Minor'}"
        for system, word in WORDS.items() for row in range(2)
    ]  # fmt: skip
    lines(data.parent / "mqm_en-de.tsv", [header, *rows[:-1], rows[-1].replace(" 1\t", " one\t")])
    ran = mmad(*BASE, *RUNS, "--spans", "--gold", "mqm_{lp}.tsv")
    assert ran.status == 1
    assert "line 7: segment 2 of sources/en-de.txt: its source is another one" in ran.err
    lines(data.parent / "mqm_en-de.tsv", [header, *rows[:-1], rows[-1].replace("> 1", "> one")])
    ran = mmad(*BASE, *RUNS, "--spans", "--gold", "mqm_{lp}.tsv")
    assert ran.status == 0, ran.err
    assert "mqm_en-de.tsv: 1 of 6 rows annotate another text than the system's" in ran.err
    found = json.loads(ran.out)
    assert found["metrics"][0]["by_lp"]["en-de"]["n_cells"] == 6
    careful = next(each for each in found["spans"] if each["metric"] == "careful")
    # On two segments of each system the raters mark the first word; of C's the second has lost
    # its place. The run marks four characters of C's first word twice: 4 of 8 agree.
    assert careful["characters"]["micro"]["precision"] == 0.5


def test_selection_reports_what_it_picked_and_what_that_is_worth(mmad: Mmad, data: Path):
    ran = mmad(*BASE, "--select", "careful_en-de.jsonl", "careless_en-de.jsonl", "Good",
               "--measures", "sys_accuracy", "--seeds", "3")  # fmt: skip
    found = json.loads(ran.out)
    assert found["n_splits"] == 6
    assert sum(each["picked"] for each in found["configurations"]) == 6
    assert {each["name"] for each in found["configurations"]} == {"Good", "careful", "careless"}


def test_a_measure_that_is_not_defined_on_a_part_is_no_ground_for_a_pick(mmad: Mmad, data: Path):
    # Three items in three parts: one item alone, of which no correlation is defined.
    seg_score(
        data / "metric-scores/en-de/Other-src.seg.score",
        {"A": [1, 0, 1, 2], "B": [0, 0.5, 0, 0.3], "C": [0, 0.3, 0, 0.1]},
    )
    ran = mmad(*BASE, "--select", "Other", "Good", "--measures", "seg_pearson_system",
               "--folds", "3")  # fmt: skip
    assert ran.status == 1
    assert "--folds 3: in split 1 of 60 a measure is not defined for 'Other' on the" in ran.err
    assert "held out (too few items, or scores missing); take fewer folds, " in ran.err


def test_a_configuration_without_a_meta_score_is_refused_by_name(mmad: Mmad, data: Path):
    # One score for all of a system's segments correlates with nothing.
    ran = mmad(*BASE, "--select", "careless_en-de.jsonl", "Good", "--measures",
               "sys_spearman,seg_kendall_b_system")  # fmt: skip
    assert ran.status == 1
    assert "'careless' has no meta score, for on all of the data seg_kendall_b_system" in ran.err


def test_a_configuration_that_scored_a_part_is_noted_in_a_selection(mmad: Mmad, data: Path):
    seg_score(
        data / "metric-scores/en-de/Part-src.seg.score",
        {"A": [1, None, 1, 1], "B": [0, 0.5, 0, 0], "C": [0, 0, 0, 0.1]},
    )
    given = (*BASE, "--select", "Part", "Good", "--measures", "sys_accuracy")
    text = mmad(*given, "-f", "text").out.splitlines()
    assert text[0] == OVER
    assert text[-1].startswith("Part, en-de: 8 of 9 rated translations have a score")
    values = json.loads(mmad(*given).out)
    found = {each["name"]: each for each in values["configurations"]}
    assert (found["Part"]["n_scored"], found["Part"]["n_cells"]) == (8, 9)
    assert values["measures"] == ["sys_accuracy"]


def test_charts_are_written_and_named_on_stderr(mmad: Mmad, data: Path):
    for ending in ("png", "svg"):
        ran = mmad(*BASE, *RUNS, "--significance", "--samples", "19", "--plots", f"charts/{ending}",
                   "--plot-format", ending)  # fmt: skip
        assert ran.status == 0, ran.err
        names = {path.name for path in (data.parent / "charts" / ending).iterdir()}
        assert names == {
            *(f"scatter_{name}_en-de.{ending}" for name in ("Good", "careful", "careless")),
            f"distributions_en-de.{ending}",
            f"significance_meta.{ending}",
        }
        assert all(name in ran.err for name in names)
    svg = (data.parent / "charts/svg/scatter_Good_en-de.svg").read_text("utf-8")
    assert "Good" in svg
    assert "systems, Pearson" in svg


REFUSED = {
    "data": (("--data", "nowhere", "--lp", "en-de"), "nowhere: no folder human-scores"),
    "pair": (("--data", "data", "--lp", "zh-en"), "'zh-en'; there are those of en-de"),
    "excluded": (("--data", "data", "--lp", "en-de", "--exclude", "Z"), "'Z' is no system of"),
    "measure": (("--data", "data", "--lp", "en-de", "--measures", "r2"), "measure 'r2'"),
    "select": (
        ("--data", "data", "--lp", "en-de", "--select", "Good", "gone.jsonl"),
        "'gone.jsonl' is neither a file nor a metric",
    ),
    "charts": (
        ("--data", "data", "--lp", "en-de", "--plots", "src.txt/charts"),
        "src.txt/charts: no charts can be written there: Not a directory",
    ),
    "folds": (
        ("--data", "data", "--lp", "en-de", "--select", "a", "b", "--folds", "1"),
        "--folds: at least 2, not 1",
    ),
    "intervals of few samples": (
        ("--data", "data", "--lp", "en-de", "--confidence", "--samples", "39"),
        "--samples: at least 40 with --confidence, not 39: a 95% interval leaves out a fortieth",
    ),
    "tests of few samples": (
        ("--data", "data", "--lp", "en-de", "--ranks", "--samples", "18"),
        "--samples: at least 19 with --ranks, not 18: fewer exchanges cannot give a p of 0.05",
    ),
    "run left out": (
        ("--data", "data", "--lp", "en-de", *RUNS, "--metrics", "careful,Good"),
        "--runs: --metrics does not name 'careless'",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_done_is_said_in_one_line(mmad: Mmad, data: Path, kind: str):
    arguments, words = REFUSED[kind]
    ran = mmad("meta-eval", *arguments)
    assert (ran.status, ran.out) == (1, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_export_writes_files_that_meta_eval_reads_back(mmad: Mmad, data: Path):
    ran = mmad("export", "careful_en-de.jsonl", "x=careless_en-de.jsonl", "-o", "out",
               "--to", "scores,ratings,marot,spans")  # fmt: skip
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[0] == "out/careful_en-de.seg.score"
    assert len(ran.out.splitlines()) == 10
    direct = json.loads(mmad(*BASE, *RUNS).out)["metrics"]
    exported = json.loads(mmad(*BASE, "--scores", "out").out)["metrics"]
    assert exported[1] == direct[1]
    assert {**exported[2], "metric": "careless"} == direct[2]


def test_what_is_exported_for_mt_metrics_eval_is_read_back_from_where_it_was_written(
    mmad: Mmad, data: Path
):
    paths = mmad("export", "my-refA=careful_en-de.jsonl", "-o", "out", "--mtme").out.splitlines()
    assert paths[0] == "out/metric-scores/en-de/my-refA-src.seg.score"
    found = json.loads(mmad(*BASE, "--scores", "out").out)["metrics"]
    direct = json.loads(mmad(*BASE, "--runs", "my-refA=careful_en-de.jsonl").out)["metrics"]
    assert found == direct


def test_the_standard_reference_can_be_named(mmad: Mmad, data: Path):
    lines(data / "references" / "en-de.refB.txt", ["x"] * 4)
    gold = (data / "human-scores" / "en-de.mqm.seg.score").read_text("utf-8")
    lines(data / "human-scores" / "en-de.mqm.seg.score",
          [*gold.splitlines(), *("refB\t-1",) * 4])  # fmt: skip
    for choice, kept in (((), "refB"), (("--reference", "en-de=refB"), "refA")):
        ran = mmad(*BASE, "-f", "text", *choice)
        assert ran.out.startswith("en-de: 4 systems, "), ran.err
        assert f"no score for {kept}" in ran.err or kept == "refA"
    ran = mmad(*BASE, "--reference", "refC")
    assert (ran.status, ran.out) == (1, "")
    assert "no reference 'refC' for en-de; there is refA, refB, synthetic_ref" in ran.err


def test_export_filters_errors_by_how_they_came_to_be(mmad: Mmad, data: Path):
    def made(support, *, disputed):
        how = Provenance(("annotate.fluency",), disputed, 1, (), "kept", support, 4)
        return replace(error("alpha", 0), provenance=how)

    errors = (made(1, disputed=True), made(2, disputed=False), made(4, disputed=True))
    write_run(data.parent / "m_en-de.jsonl", [rated("A", 0, "source 0", "alpha 0", errors)])
    kept = {
        (): -3.0,
        ("--min-support", "0.5"): -2.0,
        ("--disputed-only",): -2.0,
        ("--undisputed-only",): -1.0,
        ("--disputed-only", "--min-support", "0.5"): -1.0,
        ("--raised-by", "annotate,judge"): -3.0,
        ("--raised-by", "judge"): 0.0,
    }
    for options, score in kept.items():
        ran = mmad("export", "m_en-de.jsonl", "-o", "out", *options)
        assert ran.status == 0, ran.err
        assert (data.parent / "out/m_en-de.seg.score").read_text("utf-8") == f"A\t{score}\n"
        assert ("of 3 errors kept" in ran.err) == bool(options)
    assert mmad("export", "m_en-de.jsonl", "-o", "out", "--min-support", "50").status == 1
    both = ("--disputed-only", "--undisputed-only")
    assert mmad("export", "m_en-de.jsonl", "-o", "out", *both).status == 2


def test_export_of_a_part_stands_in_the_test_set_and_says_what_a_tsv_cannot(mmad: Mmad, data: Path):
    lines(data / "system-outputs" / "en-de" / "A.txt", ["alpha 0", "a <v> 1", "alpha 2", "alpha 3"])
    write_run(
        data.parent / "m_en-de.jsonl", [rated("A", 0, "source 1", "a <v> 1", (error("1", 6),))]
    )
    ran = mmad("export", "m_en-de.jsonl", "-o", "out", "--data", "data", "--to", "scores,marot")
    assert ran.status == 0, ran.err
    assert "m_en-de.jsonl: 1 texts hold <v> or </v>" in ran.err
    scores = (data.parent / "out/m_en-de.seg.score").read_text("utf-8").splitlines()
    assert scores == ["A\tNone", "A\t-1.0", "A\tNone", "A\tNone"]
    tsv = (data.parent / "out/m_en-de.mqm.tsv").read_text("utf-8").splitlines()
    assert tsv[1].split("\t")[3] == "2"
    lines(
        data.parent / "gold.tsv",
        [*tsv, tsv[1].replace("A\t", "B\t", 1).replace("a <v> <v>1</v>", "beta 1")],
    )
    ran = mmad(*BASE, "--gold", "gold.tsv", "--runs", "m_en-de.jsonl", "--spans")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["spans"][0]["exact"]["micro"]["f1"] == 1.0


def test_export_refuses_unknown_kinds_and_files_written_twice(mmad: Mmad, data: Path):
    ran = mmad("export", "careful_en-de.jsonl", "-o", "out", "--to", "xml")
    assert (ran.status, "--to: 'xml' is not one of scores" in ran.err) == (1, True)
    ran = mmad("export", "x=careful_en-de.jsonl", "x=careless_en-de.jsonl", "-o", "out")
    assert (ran.status, "would write the same files" in ran.err) == (1, True)


@pytest.mark.parametrize("command", ["meta-eval", "export"])
def test_help_needs_no_data(mmad: Mmad, command: str):
    ran = mmad(command, "--help")
    assert ran.status == 0
    assert "None" in ran.out  # what a missing score is


def test_a_wrong_option_is_misuse(mmad: Mmad):
    assert mmad("meta-eval", "--data", "x", "--lp", "en-de", "--split", "words").status == 2
