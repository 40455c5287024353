"""What `mmad meta-eval` prints, in every mode: the result alone on stdout, JSON without NaN."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Mmad
from tests.metaeval.made_runs import error, rated, write_run
from tests.metaeval.tiny import lines, seg_score, write_folder

BASE = ("meta-eval", "--data", "data", "--lp", "en-de")
NONE = [None] * 4


@pytest.fixture
def data(files: Path) -> Path:
    """The tiny folder with two raters, metrics that lack much or all, and a run that scored
    nothing."""
    folder: Path = write_folder(files / "data")
    scores = folder / "metric-scores/en-de"
    seg_score(scores / "Nothing-src.seg.score", dict.fromkeys("ABC", NONE))
    seg_score(scores / "Constant-src.seg.score", dict.fromkeys("ABC", [1] * 4))
    seg_score(scores / "OnlyA-src.seg.score", {"A": [1, 2, 3, 4]})
    seg_score(scores / "BC-src.seg.score", {"A": NONE, "B": [1, 2, 3, 1], "C": [0, 1, 0, 0]})
    lines(scores / "Systems-src.sys.score", ["A\t3", "B\t2", "C\t1"])
    span = json.dumps({"errors": [{"start": 0, "end": 4, "category": "fluency/grammar",
                                   "severity": "minor", "is_source_error": False}]})  # fmt: skip
    for rater in (1, 2):
        path = folder / "human-scores" / f"en-de.mqm.rater{rater}.seg.rating"
        lines(path, [f"{system}\t{span}" for system in "ABC" for _ in range(4)])
    for name, errors in (("unscored", None), ("scored", (error("alph", 0),))):
        ratings = [
            rated(system, row, f"source {row}", f"{word} {row}",
                  errors if system == "A" or errors is None else ())
            for system, word in zip("ABC", ("alpha", "beta", "gamma"), strict=True)
            for row in range(4)
        ]  # fmt: skip
        write_run(files / f"{name}_en-de.jsonl", ratings)
    return folder


RUNS = ("--runs", "unscored_en-de.jsonl", "scored_en-de.jsonl")
DRAWN = ("--confidence", "--significance", "--ranks", "--samples", "40")
MODES = {
    "table": (),
    "runs": RUNS,
    "drawn": (*RUNS, *DRAWN),
    "documents": ("--confidence", "--unit", "documents", "--samples", "40"),
    "wmt24": (*DRAWN, "--meta-set", "wmt24"),
    "systems": (*DRAWN, "--measures", "sys_accuracy"),
    "segments": (*DRAWN, "--measures", "seg_pearson"),
    "other measures": (*DRAWN, "--measures", "sys_spearman,seg_kendall_b_item,seg_acc_eq_system"),
    "spans": (*RUNS, "--spans"),
    "raters": ("--raters", "--samples", "40"),
    "raters beside metrics": (
        "--raters", "--samples", "40", *RUNS,
        "--metrics", "Good,Nothing,Systems,BC,unscored,scored",
    ),
    "selection": ("--select", "Good", "BC", "--measures", "seg_acc_eq"),
    "charts": ("--metrics", "Nothing", "--plots", "charts"),
}  # fmt: skip


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


# Warnings are errors in all tests: none of numpy's comes up either.
@pytest.mark.parametrize("mode", MODES)
def test_stdout_is_json_without_nan_whatever_is_not_defined(mmad: Mmad, data: Path, mode: str):
    ran = mmad(*BASE, *MODES[mode])
    assert ran.status == 0, ran.err
    assert isinstance(json.loads(ran.out, parse_constant=refuse), dict)
    assert "nan" not in mmad(*BASE, *MODES[mode], "-f", "text").out.lower()


def test_what_is_not_defined_is_null_or_a_dash(mmad: Mmad, data: Path):
    options = ("--metrics", "Good,Nothing", *DRAWN)
    values = json.loads(mmad(*BASE, *options).out)
    nothing = values["metrics"][1]
    assert (nothing["metric"], nothing["rank"], nothing["meta"]) == ("Nothing", None, None)
    assert set(nothing["tasks"].values()) == {None}
    assert all(each == [None, None] for each in nothing["confidence"].values())
    assert values["significance"] == []
    text = mmad(*BASE, *options, "-f", "text").out.splitlines()
    assert text[5].split() == ["-", "Nothing", *["-"] * 5]
    assert text[-2:] == ["no two metrics to compare", "Nothing: not tested, it has no meta score"]


def test_tests_tell_on_how_much_both_are_compared(mmad: Mmad, data: Path):
    options = ("--metrics", "Good,BC", "--measures", "sys_accuracy,seg_pearson", "--significance",
               "--samples", "19")  # fmt: skip
    found = json.loads(mmad(*BASE, *options).out)["significance"]
    assert len(found) == 1
    # BC lacks A, and people lack the third segment.
    assert (
        found[0]["common"]["en-de"] == {"n_systems": 2, "n_cells": 6} == found[0]["common"]["all"]
    )
    head, row = mmad(*BASE, *options, "-f", "text").out.splitlines()[-2:]
    assert head.split()[3:6] == ["pairs", "systems", "translations"]
    assert row.split()[3:6] == ["en-de", "2", "6"]


def test_tests_in_latex_are_a_second_tabular(mmad: Mmad, data: Path):
    out = mmad(
        *BASE, "--metrics", "Good,BC", "--significance", "--samples", "19", "-f", "latex"
    ).out
    assert out.count("\\begin{tabular}") == out.count("\\end{tabular}") == 2
    assert "\ncomment" not in out


def test_a_metric_without_scores_for_a_pair_is_told_beside_raters(mmad: Mmad, data: Path):
    write_folder(data, "zh-en")
    for rater in (1, 2):
        ratings = data / "human-scores" / f"en-de.mqm.rater{rater}.seg.rating"
        (data / "human-scores" / f"zh-en.mqm.rater{rater}.seg.rating").write_bytes(
            ratings.read_bytes()
        )
    ran = mmad("meta-eval", "--data", "data", "--lp", "en-de,zh-en", "--raters", "--metrics", "BC")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "mmad: 'BC' has no scores for zh-en\n"


def test_beside_raters_it_is_told_how_much_a_metric_scored(mmad: Mmad, data: Path):
    given = (*BASE, "--raters", "--metrics", "BC,Nothing", "--samples", "40")
    assert json.loads(mmad(*given).out)["raters"][0]["n_scored"] == {"BC": 8, "Nothing": 0}
    assert mmad(*given, "-f", "text").out.splitlines()[-2:] == [
        "BC: 8 of 12 segments have a score",
        "Nothing: 0 of 12 segments have a score",
    ]


def test_charts_without_matplotlib_name_the_extra_before_anything_is_read(
    mmad: Mmad, data: Path, monkeypatch: pytest.MonkeyPatch
):
    import mmad_metric.metaeval as package

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "mmad_metric.metaeval.plots", raising=False)
    monkeypatch.delattr(package, "plots", raising=False)
    ran = mmad("meta-eval", "--data", "nowhere", "--lp", "en-de", "--plots", "charts")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "mmad: --plots needs matplotlib: pip install 'mmad-metric[report]'\n"
