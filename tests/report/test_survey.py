"""Which runs can be shown, and which of their rows and errors are."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.filtering import ErrorFilter
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.report import survey as room
from mmad_metric.report.runs import open_runs, systems_of
from mmad_metric.report.survey import Choice, Selection, Survey, select, survey
from tests.report.samples import error, how, rated, unscored, write_run

TEXT = "abcdefghij"


def row(index: int, *severities: str, system: str = "A", source: str = "s") -> SegmentRating:
    errors = [error(TEXT[at], at, severity) for at, severity in enumerate(severities)]
    return rated(Segment(f"{source}{index}", TEXT, system, index), *errors)


def shown(paths: list[str], choice: Choice = Choice()) -> tuple[Survey, Selection]:  # noqa: B008 - frozen
    found = survey(open_runs(paths), choice)
    return found, select(found, choice)


def indices(selection: Selection) -> list[int]:
    return [index for index, _ in selection.keys]


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Scores 0, -5, -1, -10, None."""
    ratings = [
        row(0), row(1, "major"), row(2, "minor"), row(3, "major", "major"),
        unscored(Segment("s4", TEXT, "A", 4)),
    ]  # fmt: skip
    return write_run(tmp_path / "run.jsonl", ratings)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        pytest.param(Choice(), [0, 1, 2, 3, 4], id="all that fit"),
        pytest.param(Choice(first=2), [0, 1], id="the first"),
        pytest.param(Choice(worst=2), [3, 1], id="the worst"),
        pytest.param(Choice(worst=9), [3, 1, 2, 0, 4], id="no score is not the worst"),
        pytest.param(Choice(every=True), [0, 1, 2, 3, 4], id="all"),
    ],
)
def test_rows_are_chosen(run: str, choice: Choice, expected: list[int]):
    assert indices(shown([run], choice)[1]) == expected


def test_a_sample_is_the_same_for_one_seed_and_in_order(run: str):
    drawn = indices(shown([run], Choice(sample=3, seed=1))[1])
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 3
    assert drawn == indices(shown([run], Choice(sample=3, seed=1))[1])
    assert {tuple(indices(shown([run], Choice(sample=3, seed=n))[1])) for n in range(9)} != {
        tuple(drawn)
    }


def test_a_page_holds_so_many_ratings_unless_all_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room, "MOST_RATINGS", 5)
    # Two systems, two repeats: four ratings a row.
    ratings = [
        rated(Segment(f"s{index}", "t", system, index, repeat=repeat))
        for system in ("A", "B")
        for index in range(3)
        for repeat in (1, 2)
    ]
    path = write_run(tmp_path / "run.jsonl", ratings)
    found, selection = shown([path])
    assert found.n_ratings == 12
    assert (indices(selection), selection.cut) == ([0], True)
    assert indices(shown([path], Choice(every=True))[1]) == [0, 1, 2]
    # What is asked for by number is not cut.
    assert shown([path], Choice(worst=2))[1].cut is False
    monkeypatch.setattr(room, "MOST_RATINGS", 3)
    assert indices(shown([path])[1]) == [0]


def test_errors_that_do_not_count_leave_the_score(tmp_path: Path):
    kept = error("a", 0, "major", provenance=how(4, 4))
    doubtful = error("b", 1, "major", provenance=how(1, 4))
    unknown = error("c", 2)
    path = write_run(
        tmp_path / "run.jsonl", [rated(Segment("s", TEXT, "A"), kept, doubtful, unknown)]
    )
    found, _ = shown([path], Choice(errors=ErrorFilter(min_support=0.5)))
    # -5 for what is kept, -1 for what has no history; -11 with all.
    assert (found.totals[0].score, found.dropped) == (-6.0, 1)
    assert found.systems[0].told["score"] == -11.0


def test_rows_meet_by_place_and_source_across_runs(tmp_path: Path):
    one = write_run(tmp_path / "one.jsonl", [row(0), row(1)])
    two = write_run(
        tmp_path / "two.jsonl", [row(0, "minor", system="B"), row(1, system="B", source="z")]
    )
    found, _ = shown([one, two])
    assert [each.label for each in found.systems] == ["A", "B"]
    assert [[each.place for each in ratings] for ratings in found.rows.values()] == [
        [0, 1], [0], [1],
    ]  # fmt: skip


def test_rows_left_out_of_the_sample_are_counted_and_not_shown(tmp_path: Path):
    left = SegmentRating(Segment("s1", "t", "A", 1), Status.NOT_SAMPLED)
    found, selection = shown([write_run(tmp_path / "run.jsonl", [row(0), left])])
    assert indices(selection) == [0]
    assert found.totals[0].n_not_sampled == 1


def test_systems_of_one_name_are_told_apart_by_their_run(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    paths = [
        write_run(tmp_path / name, [row(0, system=system)])
        for name, system in (("x.jsonl", "A"), ("y.jsonl", "A"), ("z.jsonl", ""))
    ]
    paths.append(write_run(tmp_path / "sub" / "y.jsonl.gz", [row(0)]))
    labels = [each.label for each in systems_of(open_runs(paths))]
    assert labels == ["A (x)", "A (y)", "z", "A (y) #2"]
    found, _ = shown(paths, Choice(systems=("A (y)", "z")))
    assert [each.label for each in found.systems] == ["A (y)", "z"]
    assert len(shown(paths, Choice(systems=("A",)))[0].systems) == 3


def test_a_system_that_is_not_there_is_refused_with_those_that_are(run: str):
    with pytest.raises(ConfigError, match=r"--system 'X'.* there are A"):
        shown([run], Choice(systems=("X",)))


@pytest.mark.parametrize("name", ["first", "worst", "sample"])
def test_no_segments_at_all_is_no_choice(name: str):
    nothing: dict[str, Any] = {name: 0}
    with pytest.raises(ConfigError, match=f"--{name}: 0 is not"):
        Choice(**nothing)


def broken(tmp_path: Path, kind: str) -> str:
    """The path of a file that no report can be made of."""
    path = tmp_path / "run.jsonl"
    if kind == "nothing there":
        return str(path)
    if kind == "unfinished":
        return write_run(path, [row(0)], finished=False)
    write_run(path, [row(0), row(1)])
    lines = path.read_bytes().split(b"\n")
    if kind == "cut off":
        path.write_bytes(b"\n".join(lines[:2]) + b"\n" + lines[2][:40])
    elif kind == "a broken line":
        lines[2] = lines[2].replace(b'"score"', b'"scare"')
        path.write_bytes(b"\n".join(lines))
    elif kind == "no run":
        path.write_text("hello\n", encoding="utf-8")
    elif kind == "an unlisted system":
        lines[2] = lines[2].replace(b'"system":"A"', b'"system":"Z"')
        path.write_bytes(b"\n".join(lines))
    else:
        lines[0] = lines[0].replace(b'"en-de"', b'"klingon"')
        path.write_bytes(b"\n".join(lines))
    return str(path)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("nothing there", r"run\.jsonl: .*[Nn]o such file"),
        ("unfinished", r"run\.jsonl\.part: the run did not get to its end"),
        ("cut off", r"run\.jsonl, line 3: .*cut off"),
        ("a broken line", r"run\.jsonl, line 3: not a segment line: 'score' is missing"),
        ("no run", r"run\.jsonl, line 1: .*not a run file"),
        ("an unlisted system", r"run\.jsonl: segments of system 'Z'"),
        ("no pair", r"run\.jsonl, line 1: .*klingon"),
    ],
    ids=lambda value: value.replace(" ", "-") if "jsonl" not in value else "",
)
def test_what_is_no_finished_run_is_refused_with_its_place(tmp_path: Path, kind: str, words: str):
    with pytest.raises(InputError, match=words):
        shown([broken(tmp_path, kind)])


def test_a_run_named_twice_is_refused(run: str, tmp_path: Path):
    (tmp_path / "same.jsonl").symlink_to(run)
    with pytest.raises(InputError, match=r"same\.jsonl: this run is named twice"):
        open_runs([run, str(tmp_path / "same.jsonl")])


def test_a_gzipped_run_is_read_as_any_other(run: str, tmp_path: Path):
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(run).read_bytes()))
    assert indices(shown([str(packed)])[1]) == [0, 1, 2, 3, 4]
