"""Run files placed in a test set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.metaeval.human_spans import HumanSpans, span_report
from mmad_metric.metaeval.layout import read_eval_set
from mmad_metric.metaeval.loading import Sources, load
from mmad_metric.metaeval.runs import NamedRun, metric_name, read_runs
from mmad_metric.mqm import Side
from tests.metaeval.made_runs import error, rated, write_run
from tests.metaeval.tiny import lines, write_folder


@pytest.fixture
def folder(tmp_path: Path):
    return write_folder(tmp_path / "data")


def rows(system, word, errors=((), (), (), ())):
    return [rated(system, row, f"source {row}", f"{word} {row}", each)
            for row, each in enumerate(errors)]  # fmt: skip


def placed(folder: Path, *paths: Path):
    return read_runs(map(NamedRun, map(str, paths)), {"en-de": read_eval_set(str(folder), "en-de")})


NAMES = {
    "mmad_en-de.jsonl": "mmad",
    "en-de.jsonl": "mmad",
    "en-de_r1.jsonl.gz": "r1",
    "a.en-de.v2.jsonl": "a.v2",
    "plain.jsonl": "plain",
    "run-en-de-final.jsonl": "run-final",
}


@pytest.mark.parametrize("file", NAMES)
def test_a_runs_metric_is_called_after_its_file_without_the_pair(file: str):
    assert metric_name(NamedRun.parse(file), "en-de") == NAMES[file]


def test_a_name_in_front_of_the_path_wins():
    assert NamedRun.parse("M-MAD=x/y.jsonl") == NamedRun("x/y.jsonl", "M-MAD")
    assert NamedRun.parse("x/a=b.jsonl") == NamedRun("x/a=b.jsonl")


def test_an_unscored_segment_is_none_and_not_in_the_mean(tmp_path: Path, folder: Path):
    errors = [(), None, (error("alpha", 0, severity="major"),), ()]
    run = write_run(tmp_path / "m.jsonl", [*rows("A", "alpha", errors), *rows("B", "beta")])
    loaded = load(Sources(str(folder), ("en-de",), runs=(NamedRun(str(run)),)))
    metric = loaded.pairs[0].metrics["m"]
    scores = loaded.runs[0].scores(4)
    assert scores == {"A": [0.0, None, -5.0, 0.0], "B": [0.0] * 4}
    # Means over the segments that both systems have: 0, 2 and 3; C has none.
    assert metric.system[:2].tolist() == [pytest.approx(-5 / 3), 0.0]
    assert metric.n_scored == 2 + 3  # of the three rated segments


def test_a_run_of_some_rows_finds_its_segments_by_their_sources(tmp_path: Path, folder: Path):
    run = write_run(tmp_path / "m.jsonl", [rated("A", 0, "source 3", "alpha 3")])
    assert list(placed(folder, run)[0].ratings["A"]) == [3]


def test_a_byte_order_mark_in_the_data_does_not_part_equal_sources(tmp_path: Path, folder: Path):
    text = "".join(f"source {row}\n" for row in range(4))
    (folder / "sources" / "en-de.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    run = write_run(tmp_path / "m.jsonl", rows("A", "alpha"))
    assert len(placed(folder, run)[0].ratings["A"]) == 4


def test_offsets_are_those_of_the_data_whose_byte_order_mark_people_counted(
    tmp_path: Path, folder: Path
):
    text = "".join(f"alpha {row}\n" for row in range(4))
    (folder / "system-outputs" / "en-de" / "A.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    errors = [(error("alpha", 0), error("source", 0, side=Side.SOURCE), error("x", None))] * 2
    run = write_run(tmp_path / "m.jsonl", rows("A", "alpha", errors))
    found = placed(folder, run)[0].ratings["A"]
    assert [(each.start, each.end) for each in found[0].errors] == [(1, 6), (0, 6), (None, None)]
    assert [(each.start, each.end) for each in found[1].errors] == [(0, 5), (0, 6), (None, None)]


def test_runs_of_one_name_with_other_systems_are_one_metric(tmp_path: Path, folder: Path):
    for system, word in (("A", "alpha"), ("B", "beta")):
        (tmp_path / system).mkdir()
        write_run(tmp_path / system / "m.jsonl", rows(system, word))
    found = placed(folder, tmp_path / "A" / "m.jsonl", tmp_path / "B" / "m.jsonl")
    assert [set(each.ratings) for each in found] == [{"A", "B"}]


REFUSED = {
    "another pair": (lambda p: write_run(p, rows("A", "alpha"), lp="zh-en"), "a run of zh-en"),
    "unknown systems": (
        lambda p: write_run(p, rows("Z", "zeta")),
        r"none of its systems \('Z'\) is one of en-de's",
    ),
    "unknown source": (
        lambda p: write_run(p, [rated("A", 1, "elsewhere", "x")]),
        "system 'A', row 2: its source is not in the test set: 'elsewhere'",
    ),
    "another translation": (
        lambda p: write_run(p, [rated("A", 1, "source 1", "alpha 0")]),
        "system 'A', row 2: its translation is not the test set's: 'alpha 0', 'alpha 1' is exp",
    ),
    "one system under two names": (
        lambda p: write_run(p, [*rows("A", "alpha"), *rows(" A", "alpha")]),
        "two of its systems are 'A' of the test set, one of them is called ' A'",
    ),
    "twice": (
        lambda p: write_run(p, [rated("A", row, "source 1", "alpha 1") for row in (0, 1)]),
        "'A' rates segment 2 of the test set twice",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_run_that_does_not_fit_the_data_is_refused(tmp_path: Path, folder: Path, kind: str):
    make, words = REFUSED[kind]
    make(tmp_path / "m.jsonl")
    with pytest.raises(InputError, match=words):
        placed(folder, tmp_path / "m.jsonl")


def test_a_source_that_stands_twice_needs_its_own_row(tmp_path: Path, folder: Path):
    lines(folder / "sources" / "en-de.txt", ["same", "same", "source 2", "source 3"])
    run = write_run(tmp_path / "m.jsonl", [rated("A", 1, "same", "alpha 1")])
    assert list(placed(folder, run)[0].ratings["A"]) == [1]


def with_texts(folder: Path, sources, **outputs):
    """The folder's first segments with other texts."""
    lines(folder / "sources" / "en-de.txt", sources)
    for system, texts in outputs.items():
        lines(folder / "system-outputs" / "en-de" / f"{system}.txt", texts)


def test_a_part_with_a_repeated_source_is_placed_by_translation_and_order(
    tmp_path: Path, folder: Path
):
    with_texts(folder, ["x", "y", "x", "z"], A=["eins", "zwei", "drei", "vier"],
               B=["one", "two", "one", "four"])  # fmt: skip
    # Row 1 holds the second x: its translation tells.
    run = write_run(tmp_path / "m.jsonl", [rated("A", 0, "y", "zwei"), rated("A", 1, "x", "drei")])
    assert list(placed(folder, run)[0].ratings["A"]) == [1, 2]
    # B's translations are equal: the order of the rows tells.
    rows = [rated("B", 0, "y", "two"), rated("B", 1, "x", "one"), rated("B", 2, "z", "four")]
    run = write_run(tmp_path / "m.jsonl", rows)
    assert list(placed(folder, run)[0].ratings["B"]) == [1, 2, 3]


def test_the_translation_of_one_system_places_the_row_of_all(tmp_path: Path, folder: Path):
    with_texts(folder, ["x", "x", "y", "z"], A=["eins", "zwei", "drei", "vier"],
               B=["one", "one", "three", "four"])  # fmt: skip
    rows = [("x", "zwei", "one"), ("y", "drei", "three")]
    ratings = [
        rated(system, index, source, texts[place])
        for place, system in enumerate("AB")
        for index, (source, *texts) in enumerate(rows)
    ]
    found = placed(folder, write_run(tmp_path / "m.jsonl", ratings))[0].ratings
    assert {system: list(each) for system, each in found.items()} == {"A": [1, 2], "B": [1, 2]}


def test_a_row_that_could_be_several_segments_has_no_score_and_is_told(
    tmp_path: Path, folder: Path
):
    with_texts(folder, ["x", "x", "y", "z"], A=["eins", "eins", "drei", "vier"])
    run = write_run(tmp_path / "m.jsonl", [rated("A", 0, "x", "eins"), rated("A", 1, "z", "vier")])
    found = placed(folder, run)[0]
    assert found.scores(4) == {"A": [None, None, None, 0.0]}
    assert "1 of 2 rows could be several segments of the test set" in found.notes[0]
    assert "the first is row 1 of 'A': 'x'; left without a score" in found.notes[0]
    assert load(Sources(str(folder), ("en-de",), runs=(NamedRun(str(run)),))).notes == found.notes
    run = write_run(tmp_path / "m.jsonl", [rated("A", 2, "x", "eins")])
    with pytest.raises(InputError, match="1 of 1 rows could be several segments"):
        placed(folder, run)


def test_a_document_tells_equal_segments_apart(tmp_path: Path, folder: Path):
    lines(folder / "documents" / "en-de.docs", ["n\td1", "n\td1", "n\td2", "n\td2"])
    with_texts(folder, ["x", "y", "x", "z"], A=["eins", "zwei", "eins", "vier"])
    run = write_run(tmp_path / "m.jsonl", [rated("A", 1, "x", "eins", doc="d2")])
    assert list(placed(folder, run)[0].ratings["A"]) == [2]


@pytest.mark.parametrize("what", ["system-outputs/en-de/A.txt", "sources/en-de.txt"])
def test_data_of_unequal_lengths_is_refused(tmp_path: Path, folder: Path, what: str):
    lines(folder / what, ["source 0"])
    run = write_run(tmp_path / "m.jsonl", rows("A", "alpha"))
    with pytest.raises(InputError, match=r"lines of .*, but \d of sources/en-de\.txt"):
        placed(folder, run)


def test_a_run_of_left_out_systems_alone_has_no_distance_of_scores(tmp_path: Path, folder: Path):
    data = read_eval_set(str(folder), "en-de")
    run = placed(folder, write_run(tmp_path / "m.jsonl", rows("refA", "reference")))[0]
    human = HumanSpans({"r": {}}, {})
    assert span_report(run, human, data, ["A", "B"])["score_distribution"] == {
        "earth_mover": None, "kolmogorov_smirnov": None
    }  # fmt: skip


def test_systems_that_the_test_set_lacks_are_told(tmp_path: Path, folder: Path):
    run = write_run(tmp_path / "m.jsonl", [*rows("A", "alpha"), *rows("Z", "zeta")])
    found = placed(folder, run)[0]
    assert set(found.ratings) == {"A"}
    assert found.notes[0].endswith("'Z': no system of the test set; left out")


def test_a_segment_rated_several_times_has_the_mean_and_all_readings(tmp_path: Path, folder: Path):
    errors = [(), None, (error("alpha", 0, severity="major"),)]
    ratings = [
        replace(each, segment=replace(each.segment, repeat=number))
        for row in range(4)
        for number, each in enumerate(
            (rated("A", row, f"source {row}", f"alpha {row}", each) for each in errors), 1
        )
    ]
    found = placed(folder, write_run(tmp_path / "m.jsonl", ratings))[0]
    assert found.scores(4) == {"A": [-2.5] * 4}
    assert found.ratings["A"][0].readings == (errors[0], errors[2])


def test_one_system_rated_twice_under_one_name_is_refused(tmp_path: Path, folder: Path):
    run = write_run(tmp_path / "m.jsonl", rows("A", "alpha"))
    with pytest.raises(InputError, match="'m' rates 'A' twice; tell the runs apart by NAME=PATH"):
        placed(folder, run, run)


def test_names_with_spaces_are_the_same_system(tmp_path: Path, folder: Path):
    run = write_run(tmp_path / "m.jsonl", rows(" A", "alpha"))
    assert set(placed(folder, run)[0].ratings) == {"A"}


def test_a_run_that_did_not_finish_is_refused(tmp_path: Path, folder: Path):
    run = write_run(tmp_path / "m.jsonl", rows("A", "alpha"), finished=False)
    with pytest.raises(InputError, match="this run did not finish"):
        placed(folder, run)
