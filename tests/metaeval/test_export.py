"""Exports: other tools' formats hold what the run says, and our readers read it back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mmad_metric.errors import InputError, Reason
from mmad_metric.files.run_file import read_run
from mmad_metric.files.score_files import read_segment_scores, read_system_scores
from mmad_metric.filtering import ErrorFilter
from mmad_metric.metaeval.export import KINDS, Exported, export
from mmad_metric.metaeval.layout import read_folder
from mmad_metric.metaeval.loading import Sources, load
from mmad_metric.metaeval.marot import read_marot, scores
from mmad_metric.metaeval.ratings import read_ratings
from mmad_metric.metaeval.runs import NamedRun
from mmad_metric.mqm import MQMError, Provenance, Side
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.scoring import SCHEMES
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
    with pytest.raises(InputError, match="did not finish"):
        Exported.of(read_run(path), "r", "en-de")
    path = write_run(tmp_path / "r.jsonl", [rated(name, 0, "s", "t") for name in ("a b", "a_b")])
    with pytest.raises(InputError, match="would both be called 'a_b'"):
        Exported.of(read_run(path), "r", "en-de")
    path = write_run(tmp_path / "r.jsonl", [rated("a", 0, "s", "t")] * 2)
    with pytest.raises(InputError, match="row 1 stands there twice"):
        Exported.of(read_run(path), "r", "en-de")


def exported(path: Path, folder: Path | None = None, errors: ErrorFilter | None = None):
    data = None if folder is None else read_folder(str(folder), "en-de")
    return Exported.of(read_run(path), "m", "en-de", data, errors)


def test_rows_of_a_part_are_the_test_sets_segments_where_it_is_given(tmp_path: Path):
    folder = write_folder(tmp_path / "data")
    part = [
        rated("A", 0, "source 1", "alpha 1", (GRAMMAR,), doc="mine"),
        rated("A", 1, "source 3", "alpha 3", ()),
        SegmentRating(Segment("source 2", "alpha 2", "A", 2), Status.NOT_SAMPLED),
    ]
    path = write_run(tmp_path / "m.jsonl", part)
    out = str(tmp_path / "out")
    seg, _, rating, tsv, spans = export(exported(path, folder), KINDS, out)
    assert read_segment_scores(seg) == {"A": [None, -1.0, None, 0.0]}
    texts = ([f"source {row}" for row in range(4)], {"A": [f"alpha {row}" for row in range(4)]})
    assert read_ratings(rating, texts) == {"A": [None, (GRAMMAR,), None, ()]}
    assert [(each.segment, each.doc) for each in read_marot(tsv)] == [(2, "mine"), (4, "d1")]
    lines = [json.loads(line) for line in Path(spans).read_text("utf-8").splitlines()]
    assert [each["index"] for each in lines] == [1, 3]
    # Without the test set they are the run's own rows.
    seg, _, _, tsv, _ = export(exported(path), KINDS, out)
    assert read_segment_scores(seg) == {"A": [-1.0, 0.0, None]}
    assert [each.segment for each in read_marot(tsv)] == [1, 2]


def test_the_test_sets_texts_are_known_without_any_human_score(tmp_path: Path):
    folder = write_folder(tmp_path / "data")
    shutil.rmtree(folder / "human-scores")
    path = write_run(tmp_path / "m.jsonl", [rated("A", 0, "source 1", "alpha 1")])
    assert [row is None for row in exported(path, folder).rows["A"]] == [True, False, True, True]
    path = write_run(tmp_path / "m.jsonl", [rated("Z", 0, "source 1", "zeta 1")])
    with pytest.raises(InputError, match="none of its systems"):
        exported(path, folder)


def test_offsets_are_those_of_the_test_sets_text_where_it_is_given(tmp_path: Path):
    folder = write_folder(tmp_path / "data")
    text = "".join(f"alpha {row}\n" for row in range(4))
    (folder / "system-outputs" / "en-de" / "A.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    path = write_run(tmp_path / "m.jsonl", [rated("A", 0, "source 0", "alpha 0", (GRAMMAR,))])
    rating = export(exported(path, folder), ["ratings"], str(tmp_path))[0]
    first = json.loads(Path(rating).read_text("utf-8").split("\n")[0].split("\t")[1])["errors"][0]
    assert (first["start"], first["end"]) == (1, 6)


REPEATS = [
    replace(each, segment=replace(each.segment, repeat=number))
    for row, errors in enumerate([((GRAMMAR,), None, (GRAMMAR, MAJOR)), (None, None, None)])
    for number, each in enumerate(
        (rated("A", row, f"source {row}", f"alpha {row}", each) for each in errors), 1
    )
]


def test_repeats_are_raters_and_their_mean_is_the_score(tmp_path: Path):
    path = write_run(tmp_path / "m.jsonl", REPEATS)
    paths = export(exported(path), KINDS, str(tmp_path / "out"))
    names = [Path(each).name.removeprefix("m_en-de.") for each in paths]
    assert names == [
        "seg.score", "sys.score", "repeat1.seg.rating", "repeat2.seg.rating",
        "repeat3.seg.rating", "mqm.tsv", "spans.jsonl",
    ]  # fmt: skip
    assert read_segment_scores(paths[0]) == {"A": [-3.5, None]}
    assert read_system_scores(paths[1]) == {"A": -3.5}
    texts = ([f"source {row}" for row in range(2)], {"A": [f"alpha {row}" for row in range(2)]})
    assert [read_ratings(each, texts)["A"] for each in paths[2:5]] == [
        [(GRAMMAR,), None], [None, None], [(GRAMMAR, MAJOR), None]
    ]  # fmt: skip
    tsv = list(read_marot(paths[5]))
    assert [each.rater for each in tsv] == ["m-repeat1", "m-repeat3", "m-repeat3"]
    assert scores(tsv, SCHEMES["wmt"]) == {("A", 1): -3.5}
    lines = [json.loads(line) for line in Path(paths[6]).read_text("utf-8").splitlines()]
    assert [(each["index"], each["repeat"], each["score"]) for each in lines] == [
        (0, 1, -1.0), (0, 2, None), (0, 3, -6.0), (1, 1, None), (1, 2, None), (1, 3, None)
    ]  # fmt: skip


def test_every_export_calls_a_system_by_one_word(tmp_path: Path):
    path = write_run(tmp_path / "m.jsonl", [rated("my A", 0, "s", "x", ())])
    for kind in KINDS:
        for file in export(exported(path), [kind], str(tmp_path / "out")):
            text = Path(file).read_text("utf-8")
            assert "my_A" in text
            assert "my A" not in text


def test_a_run_without_rows_writes_nothing(tmp_path: Path):
    path = write_run(tmp_path / "m.jsonl", [])
    with pytest.raises(InputError, match=r"m\.jsonl: this run has no segments"):
        exported(path)
    assert not list(tmp_path.glob("*.score"))


def test_a_missing_translation_is_none_everywhere(tmp_path: Path):
    segment = Segment("source 0", "[No translation supplied]", "A", 0)
    missing = SegmentRating(segment, Status.UNSCORED, reason=Reason.MISSING_TRANSLATION)
    path = write_run(tmp_path / "m.jsonl", [missing])
    seg, _, rating, tsv, spans = export(exported(path), KINDS, str(tmp_path / "out"))
    assert Path(seg).read_text("utf-8") == Path(rating).read_text("utf-8") == "A\tNone\n"
    assert list(read_marot(tsv)) == []
    line = json.loads(Path(spans).read_text("utf-8"))
    assert (line["score"], line["spans"], line["reason"]) == (None, None, "missing_translation")


def supported(error: MQMError, support: int):
    return replace(error, provenance=Provenance(("judge",), False, 0, (), "kept", support, 4))


def test_a_filter_drops_errors_from_every_export_and_the_score(tmp_path: Path):
    errors = (supported(GRAMMAR, 1), supported(MAJOR, 3), NOWHERE)
    path = write_run(tmp_path / "m.jsonl", [rated("A", 0, "source 0", "alpha 0", errors)])
    run = exported(path, errors=ErrorFilter(min_support=0.5))
    assert run.notes == (f"{path}: 2 of 3 errors kept, 1 of them without provenance",)
    seg, system, rating, tsv, spans = export(run, KINDS, str(tmp_path / "out"))
    assert read_segment_scores(seg) == {"A": [-6.0]}
    assert read_system_scores(system) == {"A": -6.0}
    texts = (["source 0"], {"A": ["alpha 0"]})
    assert [len(each or ()) for each in read_ratings(rating, texts)["A"]] == [2]
    assert len(list(read_marot(tsv))) == 2
    line = json.loads(Path(spans).read_text("utf-8"))
    assert (line["score"], len(line["spans"])) == (-6.0, 2)


def test_a_filter_weighs_what_it_keeps_by_the_runs_own_weights(tmp_path: Path):
    minor = supported(error("0", 6, category="fluency/punctuation"), 4)
    ratings = [rated("A", 0, "source 0", "alpha 0", (minor, supported(MAJOR, 0)))]
    path = write_run(tmp_path / "m.jsonl", ratings, weights="wmt")
    seg = export(exported(path, errors=ErrorFilter(min_support=0.1)), ["scores"], str(tmp_path))[0]
    assert read_segment_scores(seg) == {"A": [-0.1]}


def test_texts_with_tags_are_counted(run, tmp_path: Path):
    assert run.tagged() == 0
    path = write_run(
        tmp_path / "m.jsonl", [rated("A", 0, "a <v> b", "a </v>"), rated("A", 1, "<b>", "")]
    )
    assert exported(path).tagged() == 2
