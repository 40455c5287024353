"""Folders of score files: what is found, what is left out, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmad_metric.errors import InputError
from mmad_metric.metaeval.layout import rating_files, read_eval_set, read_folder, text_lines
from mmad_metric.metaeval.loading import Sources, load
from mmad_metric.metaeval.matrices import gold_matrix, left_out, metric_matrix
from mmad_metric.metaeval.metric_files import metric_files, score_files
from tests.metaeval.tiny import lines, seg_score, write_folder


@pytest.fixture
def folder(tmp_path: Path):
    return write_folder(tmp_path / "data")


def test_gold_is_a_matrix_of_the_rated_segments_without_outlier_and_reference(folder: Path):
    gold = gold_matrix(read_eval_set(str(folder), "en-de"))
    assert gold.systems == ("A", "B", "C")
    assert gold.items.tolist() == [0, 1, 3]  # nobody rated segment 2
    assert gold.segment.tolist() == [[0, -1, -5], [-1, -1, -6], [-5, -2, -25]]
    assert gold.system.tolist() == [-2.0, -8 / 3, -32 / 3]
    # Two documents of one name in two domains are two.
    assert gold.documents is not None
    assert gold.documents.tolist() == [0, 0, 1]


def test_of_two_references_the_second_is_a_system(folder: Path):
    lines(folder / "references" / "en-de.refB.txt", ["x"] * 4)
    assert left_out(read_eval_set(str(folder), "en-de")) == {"refA", "synthetic_ref"}


def test_what_is_left_out_can_be_chosen(folder: Path):
    data = read_eval_set(str(folder), "en-de")
    assert gold_matrix(data, ["C"]).systems == ("A", "B", "refA", "synthetic_ref")
    with pytest.raises(InputError, match="en-de: 1 systems with gold scores are left"):
        gold_matrix(data, ["A", "B", "refA", "synthetic_ref"])


def test_without_a_system_file_means_over_rated_segments_are_the_gold(folder: Path):
    (folder / "human-scores" / "en-de.mqm.sys.score").unlink()
    gold = gold_matrix(read_eval_set(str(folder), "en-de"))
    assert gold.system == pytest.approx([-2.0, -8 / 3, -32 / 3])


def test_a_metric_without_a_system_file_has_means_over_all_its_segments(folder: Path):
    data = read_eval_set(str(folder), "en-de")
    gold = gold_matrix(data)
    metric = metric_matrix(metric_files(data)["Good"], gold, 4)
    assert metric.segment.tolist() == [[1, 0.9, 0.5], [0.9, 0.8, 0.4], [0.1, 0.2, 0.0]]
    assert metric.system == pytest.approx([2.9 / 4, 2.6 / 4, 0.8 / 4])


def test_a_system_without_a_file_of_its_own_has_the_mean_of_its_scored_segments(folder: Path):
    scores = folder / "metric-scores" / "en-de" / "Partly-src.seg.score"
    seg_score(scores, {"A": [1, None, 3, 4], "B": [1, 2, 3, None]})
    data = read_eval_set(str(folder), "en-de")
    metric = metric_matrix(metric_files(data)["Partly"], gold_matrix(data), 4)
    assert metric.system[:2].tolist() == [8 / 3, 2.0]
    assert np.isnan(metric.system[2])
    assert np.isnan(metric.segment[2]).all()


def test_given_system_scores_stay_as_given(folder: Path):
    lines(folder / "metric-scores" / "en-de" / "Good-refA.sys.score", ["A\t40", "B\t30", "C\t9"])
    data = read_eval_set(str(folder), "en-de")
    metric = metric_matrix(metric_files(data)["Good"], gold_matrix(data), 4)
    assert metric.system.tolist() == [40, 30, 9]


def test_a_metrics_source_file_goes_before_its_reference_file(folder: Path):
    here = folder / "metric-scores" / "en-de"
    lines(folder / "references" / "en-de.refB.txt", ["x"] * 4)
    for name in ("X-refA", "X-src", "Y-refB", "Y-refA", "Z-all", "GEMBA-MQM-src"):
        seg_score(here / f"{name}.seg.score", {"A": [0] * 4})
    found = metric_files(read_folder(str(folder), "en-de"))
    names = {metric: Path(each.segment or "").name for metric, each in found.items()}
    assert names == {
        "Good": "Good-refA.seg.score",
        "X": "X-src.seg.score",
        "Y": "Y-refA.seg.score",
        "Z": "Z-all.seg.score",
        "GEMBA-MQM": "GEMBA-MQM-src.seg.score",
    }


def found_in(folder: Path, lp="en-de", *, data: Path | None = None, only_pair=True):
    return score_files(
        str(folder), read_folder(str(data or folder / "no data"), lp), only_pair=only_pair
    )


NAMES = {
    "ours": "M_en-de.seg.score",
    "in a folder of the pair": "en-de/M-src.seg.score",
    "as in a data folder": "metric-scores/en-de/M-src.seg.score",
    "bare": "M-src.seg.score",
}


@pytest.mark.parametrize("kind", NAMES)
def test_score_files_are_found_under_every_name(tmp_path: Path, kind: str):
    name = NAMES[kind]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    seg_score(tmp_path / name, {"A": [0]})
    assert set(found_in(tmp_path)) == {"M"}


def test_a_folder_without_scores_for_the_pair_says_what_it_looked_for(tmp_path: Path):
    seg_score(tmp_path / "M_en-de.seg.score", {"A": [0]})
    with pytest.raises(InputError, match=r"no score file for zh-en; expected NAME_zh-en\.seg"):
        found_in(tmp_path, "zh-en", only_pair=False)
    with pytest.raises(InputError, match="no such folder"):
        found_in(tmp_path / "gone", "zh-en")


REFUSED = {
    "no data": (lambda f: [p.unlink() for p in (f / "human-scores").iterdir()], "mqm.seg.score"),
    "few gold": (
        lambda f: seg_score(f / "human-scores" / "en-de.mqm.seg.score", {"A": [0] * 4, "B": [0]}),
        "1 scores for 'B', 4 are expected",
    ),
    "few scores": (
        lambda f: seg_score(f / "metric-scores/en-de/Good-refA.seg.score", {"A": [0] * 3}),
        "3 scores for 'A', 4 are expected",
    ),
    "other systems": (
        lambda f: seg_score(f / "metric-scores/en-de/Good-refA.seg.score", {"Z": [0] * 4}),
        "none of the systems A, B, C",
    ),
    "bad documents": (
        lambda f: lines(f / "documents/en-de.docs", ["news\td1", "d2"]),
        "en-de.docs, line 2: a domain, a tab and a document",
    ),
    "no metric": (
        lambda f: (f / "metric-scores/en-de/Good-refA.seg.score").unlink(),
        "no metric scores for en-de",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_broken_data_is_refused_by_name(folder: Path, kind: str):
    change, words = REFUSED[kind]
    change(folder)
    with pytest.raises(InputError, match=words):
        load(Sources(str(folder), ("en-de",)))


def test_an_unknown_metric_and_a_pair_named_twice_are_refused(folder: Path):
    with pytest.raises(InputError, match="no scores for the metric 'COMET'"):
        load(Sources(str(folder), ("en-de",), metrics=("COMET", "Good")))
    with pytest.raises(InputError, match="named twice"):
        load(Sources(str(folder), ("en-de", "en-de")))


def test_a_folder_that_is_no_data_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="no folder human-scores"):
        read_eval_set(str(tmp_path), "en-de")


def test_rating_files_are_told_by_rater(folder: Path):
    here = folder / "human-scores"
    for name in ("mqm.rater1", "mqm.merged", "mqm", "other.x"):
        lines(here / f"en-de.{name}.seg.rating", [])
    assert set(rating_files(str(folder), "en-de")) == {"rater1", "merged", "mqm"}


def test_the_byte_order_mark_of_a_text_stays_in_it(tmp_path: Path):
    # Human offsets of WMT23 count it.
    (tmp_path / "x.txt").write_bytes(b"\xef\xbb\xbfa\nb\n")
    assert text_lines(str(tmp_path / "x.txt")) == ["\ufeffa", "b"]


def test_excluded_systems_are_left_out_beside_the_usual_ones(folder: Path):
    usual = load(Sources(str(folder), ("en-de",))).pairs[0].gold.systems
    fewer = load(Sources(str(folder), ("en-de",), exclude=usual[:1])).pairs[0].gold.systems
    assert fewer == usual[1:]


def test_a_file_that_speaks_of_another_pair_is_no_score_file_of_this_one(folder: Path):
    (folder / "more").mkdir()
    seg_score(folder / "more" / "X_zh-en.seg.score", {"A": [0] * 4})
    with pytest.raises(InputError, match="no score file for en-de"):
        found_in(folder / "more")


def test_an_ending_is_taken_off_a_name_only_where_it_names_what_the_metric_saw(folder: Path):
    here = folder / "metric-scores" / "en-de"
    for name in ("X-refZ", "Y-refA.synthetic_ref", "Z-all", "W-large", "V"):
        seg_score(here / f"{name}.seg.score", {"A": [0] * 4})
    found = metric_files(read_folder(str(folder), "en-de"))
    # refA and synthetic_ref are the data's; there is no refZ, so that X-refZ is a whole name.
    assert set(found) == {"Good", "X-refZ", "Y", "Z", "W-large", "V"}
    assert found["Y"].seen() == ("refA", "synthetic_ref")


def test_our_own_file_names_lose_no_ending(tmp_path: Path, folder: Path):
    (tmp_path / "out").mkdir()
    for name in ("plain", "my-refA", "my-src"):
        seg_score(tmp_path / "out" / f"{name}_en-de.seg.score", {"A": [0] * 4})
    assert set(found_in(tmp_path / "out", data=folder)) == {"plain", "my-refA", "my-src"}


def test_without_files_of_references_their_usual_names_are_taken_for_them(tmp_path: Path):
    for name in ("A-ref", "B-refC.refA", "C-reference"):
        seg_score(tmp_path / f"{name}.seg.score", {"A": [0]})
    assert set(found_in(tmp_path)) == {"A", "B", "C-reference"}


def test_a_system_that_the_gold_system_file_lacks_is_kept_and_told(folder: Path):
    lines(folder / "human-scores" / "en-de.mqm.sys.score", ["C\t-9", "A\tNone", "Z\t-1"])
    data = read_eval_set(str(folder), "en-de")
    gold = gold_matrix(data)
    assert dict(zip(gold.systems, gold.system, strict=True)) == {
        "C": -9, "A": -2.0, "B": pytest.approx(-8 / 3)
    }  # fmt: skip
    assert [note.rpartition("/")[2] for note in data.notes] == [
        (
            "en-de.mqm.sys.score: no score for A, B, refA, synthetic_ref; the mean of the rated "
            "segments stands for it"
        ),
        "en-de.mqm.seg.score: no scores for Z, which has one in en-de.mqm.sys.score; left out",
    ]
    assert set(data.notes) <= set(load(Sources(str(folder), ("en-de",))).notes)


def test_data_without_gaps_has_no_notes(wmt23: Path):
    for lp in ("en-de", "zh-en"):
        assert read_eval_set(str(wmt23), lp).notes == ()
