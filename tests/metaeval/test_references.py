"""Which of several references is no system."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.metaeval.layout import read_eval_set
from mmad_metric.metaeval.loading import Sources, load
from mmad_metric.metaeval.matrices import gold_matrix, left_out
from mmad_metric.metaeval.references import chosen_reference, standard_reference
from tests.metaeval.tiny import lines, seg_score, write_folder

TWO = ("refA", "refB", "synthetic_ref")

USUAL = {
    "the first": ("data", "en-de", "refA"),
    "he-en of WMT23": ("wmt23", "he-en", "refB"),
    "he-en anywhere": ("mine", "he-en", "refB"),
    "en-he": ("WMT23", "en-he", "refB"),
    "en-cs of WMT23": ("wmt23", "en-cs", "refA"),
    "en-cs of WMT22": ("wmt22", "en-cs", "refB"),
    "zh-en of WMT21": ("wmt21.news", "zh-en", "refB"),
    "zh-en of WMT23": ("wmt23", "zh-en", "refA"),
}


@pytest.mark.parametrize("kind", USUAL)
def test_the_standard_reference_is_mt_metrics_evals(kind: str):
    name, lp, expected = USUAL[kind]
    assert standard_reference(f"x/{name}", lp, TWO) == expected
    assert standard_reference(f"x/{name}/", lp, TWO) == expected


def test_one_that_is_not_there_is_not_the_standard():
    assert standard_reference("wmt23", "he-en", ["refA"]) == "refA"
    assert standard_reference("wmt23", "he-en", []) is None
    assert standard_reference("wmt23", "en-de", ["synthetic_ref"]) is None


def test_a_chosen_one_wins_and_must_be_there():
    assert standard_reference("wmt23", "he-en", TWO, "refA") == "refA"
    with pytest.raises(InputError, match=r"no reference 'refC' for en-de; there is refA, refB, sy"):
        standard_reference("data", "en-de", TWO, "refC")


def test_a_choice_is_for_one_pair_or_for_all():
    choices = ("refA", "he-en=refB")
    assert [chosen_reference(choices, lp) for lp in ("he-en", "zh-en")] == ["refB", "refA"]
    assert chosen_reference(("he-en=refB",), "zh-en") is None
    for wrong in ("he-en=", "=refA", ""):
        with pytest.raises(ConfigError, match="one NAME for all"):
            chosen_reference((wrong,), "he-en")
    with pytest.raises(ConfigError, match="'refB': one NAME for all"):
        chosen_reference(("refA", "refB"), "he-en")


@pytest.fixture
def hebrew(tmp_path: Path):
    """he-en with two references, both of which people rated."""
    folder = write_folder(tmp_path / "data", "he-en")
    (folder / "references" / "he-en.synthetic_ref.txt").unlink()
    lines(folder / "references" / "he-en.refB.txt", ["x"] * 4)
    gold = {"A": [0, -1, 0, 0], "refA": [-1, 0, 0, 0], "refB": [0, 0, 0, 0], "B": [-9, 0, 0, 0]}
    seg_score(folder / "human-scores" / "he-en.mqm.seg.score", gold)
    (folder / "human-scores" / "he-en.mqm.sys.score").unlink()
    (folder / "metric-scores" / "he-en" / "Good-refA.seg.score").unlink()
    for reference in ("refA", "refB"):
        scores = {system: [ord(reference[-1])] * 4 for system in gold}
        seg_score(folder / "metric-scores" / "he-en" / f"M-{reference}.seg.score", scores)
    seg_score(folder / "metric-scores" / "he-en" / "Only-refA.seg.score", gold)
    return folder


def test_of_two_references_the_standard_one_is_out_and_the_other_a_system(hebrew: Path):
    data = read_eval_set(str(hebrew), "he-en")
    assert left_out(data) == {"refB", "synthetic_ref"}
    assert gold_matrix(data).systems == ("A", "refA", "B")
    other = read_eval_set(str(hebrew), "he-en", reference="refA")
    assert gold_matrix(other).systems == ("A", "refB", "B")


@pytest.mark.parametrize("reference", ["refA", "refB"])
def test_of_a_metrics_files_the_one_with_the_standard_reference_is_taken(
    hebrew: Path, reference: str
):
    loaded = load(Sources(str(hebrew), ("he-en",), references=(reference,)))
    assert loaded.pairs[0].metrics["M"].system[0] == ord(reference[-1])


def test_a_metric_that_saw_a_system_as_its_reference_is_told(hebrew: Path):
    loaded = load(Sources(str(hebrew), ("he-en",)))
    assert len(loaded.notes) == 1
    assert loaded.notes[0].startswith("Only, he-en: its scores were made with refA, which is a sys")
    assert load(Sources(str(hebrew), ("he-en",), references=("he-en=refA",))).notes == ()
    assert load(Sources(str(hebrew), ("he-en",), exclude=("refA",))).notes == ()


def test_where_no_reference_is_left_out_a_metric_is_told_of_only_if_it_scored_its_own(
    hebrew: Path,
):
    source = Sources(str(hebrew), ("he-en",), keep_all=True, metrics=("Only",))
    (note,) = load(source).notes
    assert note.endswith("made with refA, and refA is among the translations that it scored")
    path = hebrew / "metric-scores" / "he-en" / "Only-refA.seg.score"
    seg_score(path, {"A": [1, 2, 3, 4], "refA": [None] * 4, "refB": [2] * 4, "B": [3] * 4})
    assert load(source).notes == ()


def test_a_choice_for_a_pair_that_is_not_asked_for_is_refused(hebrew: Path):
    with pytest.raises(ConfigError, match="'zh-en' is not one of he-en"):
        load(Sources(str(hebrew), ("he-en",), references=("zh-en=refA",)))
