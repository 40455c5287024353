"""Exports: other tools' formats hold what the run says, and our readers read it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.files.run_file import read_run
from mmad_metric.files.score_files import read_segment_scores, read_system_scores
from mmad_metric.metaeval.export import KINDS, Exported, export
from mmad_metric.metaeval.loading import Sources, load
from mmad_metric.metaeval.marot import read_marot
from mmad_metric.metaeval.ratings import read_ratings
from mmad_metric.metaeval.runs import NamedRun
from mmad_metric.mqm import Side
from mmad_metric.rating import Segment, SegmentRating, Status
from tests.metaeval.made_runs import error, rated, write_run
from tests.metaeval.tiny import write_folder

GRAMMAR = error("alpha", 0)
MAJOR = error("0", 6, severity="major", category="accuracy/mistranslation")
OMITTED = error("source", 0, side=Side.SOURCE, category="accuracy/omission", severity="major")
NOWHERE = error("omega", None, category="style/awkward")
RATINGS = [
    rated("my A", 0, "source 0", "alpha 0", (GRAMMAR, MAJOR), doc="d1"),
    rated("my A", 1, "source 1", "alpha 1", ()),
    rated("my A", 2, "source 2", "alpha 2", None),
    rated("my A", 3, "source 3", "alpha 3", (OMITTED, NOWHERE)),
    rated("B", 0, "source 0", "beta 0", ()),
    SegmentRating(Segment("source 1", "beta 1", "B", 1), Status.NOT_SAMPLED),
]


@pytest.fixture
def run(tmp_path: Path):
    path = write_run(tmp_path / "m_en-de.jsonl", RATINGS)
    return Exported.of(read_run(path), "m", "en-de")


def test_score_files_hold_none_for_unscored_and_means_over_the_scored(run, tmp_path: Path):
    paths = export(run, ["scores"], str(tmp_path / "out"))
    assert [Path(path).name for path in paths] == ["m_en-de.seg.score", "m_en-de.sys.score"]
    assert read_segment_scores(paths[0]) == {"my_A": [-6.0, 0.0, None, -6.0], "B": [0.0, None]}
    assert read_system_scores(paths[1]) == {"my_A": -4.0, "B": 0.0}


def test_a_system_without_any_score_has_none(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", [rated("A", 0, "s", "t", None)])
    paths = export(Exported.of(read_run(path), "r", "en-de"), ["scores"], str(tmp_path))
    assert read_system_scores(paths[1]) == {"A": None}


def test_rows_that_the_run_lacks_are_none(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", [rated("A", 2, "s", "t")])
    paths = export(Exported.of(read_run(path), "r", "en-de"), ["scores"], str(tmp_path))
    assert read_segment_scores(paths[0]) == {"A": [None, None, 0.0]}


def test_ratings_come_back_with_places_and_weights(run, tmp_path: Path):
    path = export(run, ["ratings"], str(tmp_path))[0]
    texts = (
        [f"source {row}" for row in range(4)],
        {"my_A": [f"alpha {row}" for row in range(4)], "B": ["beta 0", "beta 1"]},
    )
    assert read_ratings(path, texts) == {
        "my_A": [(GRAMMAR, MAJOR), (), None, (OMITTED, NOWHERE)],
        "B": [(), None],
    }
    first = json.loads(Path(path).read_text(encoding="utf-8").split("\n")[0].split("\t")[1])
    assert [each["score"] for each in first["errors"]] == [1.0, 5.0]
    assert set(first["errors"][0]) == {
        "start", "end", "category", "severity", "score", "is_source_error"
    }  # fmt: skip


def test_marots_tsv_comes_back_an_error_a_row(run, tmp_path: Path):
    rows = list(read_marot(export(run, ["marot"], str(tmp_path))[0]))
    assert [(each.system, each.segment, each.error) for each in rows] == [
        ("my_A", 1, GRAMMAR),
        ("my_A", 1, MAJOR),
        ("my_A", 2, None),
        ("my_A", 4, OMITTED),
        ("my_A", 4, error("", None, category="style/awkward")),  # TSV keeps no words without place
        ("B", 1, None),
    ]
    assert {each.rater for each in rows} == {"m"}


def test_spans_come_back_as_json_lines_and_null_is_not_an_empty_list(run, tmp_path: Path):
    lines = Path(export(run, ["spans"], str(tmp_path))[0]).read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert [each["score"] for each in found] == [-6.0, 0.0, None, -6.0, 0.0, None]
    assert [each["spans"] and len(each["spans"]) for each in found] == [2, [], None, 2, [], None]
    assert found[0]["spans"][0] == GRAMMAR.to_dict()
    assert found[2]["reason"] == "refusal"
    assert found[0]["translation"] == "alpha 0"


def test_mt_metrics_evals_names_are_on_offer(run, tmp_path: Path):
    paths = export(run, ["scores"], str(tmp_path), mtme=True)
    assert paths[0] == str(tmp_path / "metric-scores" / "en-de" / "m-src.seg.score")


def test_an_exported_run_and_the_run_itself_are_the_same_metric(tmp_path: Path):
    folder = write_folder(tmp_path / "data")
    words = {"A": "alpha", "B": "beta", "C": "gamma"}
    ratings = [
        rated(system, row, f"source {row}", f"{word} {row}", (GRAMMAR,) * ((row + place) % 3))
        for place, (system, word) in enumerate(words.items())
        for row in range(4)
    ]
    path = write_run(tmp_path / "m.jsonl", ratings)
    export(Exported.of(read_run(path), "m", "en-de"), KINDS, str(tmp_path / "out"))
    sides = [
        load(Sources(str(folder), ("en-de",), **more)).pairs[0].metrics["m"]
        for more in ({"runs": (NamedRun(str(path)),)}, {"scores": (str(tmp_path / "out"),)})
    ]
    assert (sides[0].segment == sides[1].segment).all()
    assert (sides[0].system == sides[1].system).all()


def test_a_line_break_fits_no_tsv_and_leaves_no_file(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", [rated("A", 0, "s\nt", "x")])
    run = Exported.of(read_run(path), "r", "en-de")
    with pytest.raises(InputError, match="segment 1: the source holds a tab or line break"):
        export(run, ["marot"], str(tmp_path / "out"))
    assert not list((tmp_path / "out").iterdir())
    assert export(run, ["spans", "ratings"], str(tmp_path / "out"))


def test_an_unfinished_run_and_one_with_names_that_collide_are_refused(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", RATINGS, finished=False)
    with pytest.raises(InputError, match="did not get to its end"):
        Exported.of(read_run(path), "r", "en-de")
    path = write_run(tmp_path / "r.jsonl", [rated(name, 0, "s", "t") for name in ("a b", "a_b")])
    with pytest.raises(InputError, match="would both be called 'a_b'"):
        Exported.of(read_run(path), "r", "en-de")
    path = write_run(tmp_path / "r.jsonl", [rated("a", 0, "s", "t")] * 2)
    with pytest.raises(InputError, match="row 1 stands there twice"):
        Exported.of(read_run(path), "r", "en-de")
