"""The run file: what was rated comes back whole, and half a file never looks like one."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmad_metric.chat import Usage
from mmad_metric.errors import InputError, Reason, RunStopped
from mmad_metric.files.run_file import RunWriter, read_run
from mmad_metric.files.run_lines import parse_segment_line, segment_line
from mmad_metric.mqm import (
    Annotation,
    Category,
    MQMError,
    Placement,
    Provenance,
    Severity,
    Side,
)
from mmad_metric.rating import (
    DebateRound,
    DimensionOutcome,
    Position,
    Segment,
    SegmentRating,
    Status,
)

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "run-file.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

HEADER = {
    "signature": "m:mmad",
    "config": {"rounds": 3},
    "versions": {"mmad-metric": "0"},
    "systems": [{"name": "A", "n_segments": 3}],
}
SUMMARY = {"signature": "m:mmad", "systems": [{"name": "A", "score": None}], "usage": {}}

MISTRANSLATION = Category("accuracy", "mistranslation")
HOUSE = MQMError("Haus", MISTRANSLATION, Severity.MAJOR, Side.TRANSLATION, 4, 8, Placement.EXACT)
SAID = Annotation("Haus", MISTRANSLATION, Severity.MAJOR)
ODD = Annotation(
    "rot",
    Category("other"),
    Severity.MINOR,
    raw_category="Colour / shade",
    raw_severity="so-so",
    flags=("unknown_category",),
)
SCORED = SegmentRating(
    Segment("a house", "Das Haus", "A", 0, "7", "doc", "Ein Haus"),
    Status.SCORED,
    score=-5.0,
    errors=(HOUSE,),
    flags=("checked",),
    outcomes=(
        DimensionOutcome(
            "accuracy",
            opening=(SAID, ODD),
            outcome=(SAID, ODD),
            counter=(ODD,),
            rounds=(
                DebateRound(Position("yes", (SAID,)), Position("no", ()), consistent=False),
                DebateRound(Position("yes", (ODD,)), None, consistent=True),
            ),
        ),
        DimensionOutcome("fluency", opening=(), outcome=()),
    ),
    analysis="One error.",
    usage={"annotate": Usage(4, 4_000, 3_000, 200), "judge": Usage(1, 900, 0, 80)},
    models=("m-1",),
    levels=("json_schema",),
    adapted=("no-temperature",),
)
UNSCORED = SegmentRating(
    Segment("b", "c", "A", 1), Status.UNSCORED, reason=Reason.REFUSAL, detail="no"
)
SKIPPED = SegmentRating(Segment("d", "e", "A", 2), Status.NOT_SAMPLED)
RATINGS = [SCORED, UNSCORED, SKIPPED]


def write(path: Path, ratings: Iterable[SegmentRating] = RATINGS) -> Path:
    with RunWriter(path) as writer:
        writer.write_header(HEADER)
        for rating in ratings:
            writer.write_rating(rating)
        writer.write_summary(SUMMARY)
        writer.commit()
    return path


def interrupted(path: Path, cut: int = 0) -> Path:
    """The .part file of a run that ended after two segments, less its last `cut` bytes."""
    with RunWriter(path) as writer:
        writer.write_header(HEADER)
        writer.write_rating(SCORED)
        writer.write_rating(UNSCORED)
    part = path.with_name(f"{path.name}.part")
    content = part.read_bytes()
    part.write_bytes(content[: len(content) - cut])
    return part


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The file's lines as a strict JSON reader sees them."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    content = path.read_bytes()
    content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    assert content.endswith(b"\n")
    return [
        json.loads(line.decode("utf-8"), parse_constant=refuse)
        for line in content.split(b"\n")[:-1]
    ]


# Round trips ------------------------------------------------------------------------------------

texts = st.text(max_size=12)
labels = st.text(st.characters(categories=["Ll", "Nd"]), min_size=1, max_size=6)
some_flags = st.lists(labels, max_size=2).map(tuple)
categories = st.builds(Category, labels, st.none() | labels)
said_sets: st.SearchStrategy[tuple[Annotation, ...]] = st.lists(
    st.builds(
        Annotation,
        texts,
        categories,
        st.sampled_from(Severity),
        st.booleans(),
        st.none() | texts,
        st.none() | texts,
        some_flags,
    ),
    max_size=2,
).map(tuple)
positions = st.builds(Position, texts, said_sets)
rounds: st.SearchStrategy[tuple[DebateRound, ...]] = st.lists(
    st.builds(
        DebateRound,
        positions,
        st.none() | positions,
        st.none() | st.booleans(),
        st.tuples(texts, texts),
        st.tuples(st.none() | positions, st.none() | positions),
    ),
    max_size=2,
).map(tuple)
provenances = st.builds(
    Provenance,
    st.lists(labels, max_size=2).map(tuple),
    st.booleans(),
    st.integers(0, 10),
    st.lists(labels, max_size=2).map(tuple),
    st.sampled_from([None, "kept", "changed", "added"]),
    st.integers(0, 3),
    st.integers(3, 9),
)


@st.composite
def placed_errors(draw: st.DrawFn) -> MQMError:
    text, start = draw(texts), draw(st.integers(0, 9))
    placement = draw(st.sampled_from(Placement))
    lost = placement is Placement.UNPLACED
    return MQMError(
        text,
        draw(categories),
        draw(st.sampled_from(Severity)),
        draw(st.sampled_from(Side)),
        None if lost else start,
        None if lost else start + len(text),
        placement,
        draw(st.none() | texts),
        draw(st.none() | texts),
        draw(st.none() | texts),
        draw(some_flags),
        draw(st.none() | provenances),
    )


@st.composite
def outcomes(draw: st.DrawFn, dimension: str) -> DimensionOutcome:
    counter = draw(st.none() | said_sets)
    return DimensionOutcome(
        dimension,
        draw(said_sets),
        draw(said_sets),
        counter,
        () if counter is None else draw(rounds),
        None if counter is None else draw(st.none() | texts),
    )


@st.composite
def ratings(draw: st.DrawFn) -> SegmentRating:
    status = draw(st.sampled_from(Status))
    names = draw(st.lists(labels, max_size=2, unique=True))
    count = st.integers(0, 10**12)
    return SegmentRating(
        draw(
            st.builds(
                Segment,
                texts,
                texts,
                texts,
                count,
                st.none() | texts,
                st.none() | texts,
                st.none() | texts,
            )
        ),
        status,
        score=draw(st.floats(max_value=0, allow_infinity=False))
        if status is Status.SCORED
        else None,
        errors=tuple(draw(st.lists(placed_errors(), max_size=2))),
        reason=draw(st.sampled_from(Reason)) if status is Status.UNSCORED else None,
        detail=draw(texts),
        flags=draw(some_flags),
        outcomes=tuple(draw(outcomes(name)) for name in names),
        analysis=draw(texts),
        usage=draw(
            st.dictionaries(labels, st.builds(Usage, count, count, count, count), max_size=2)
        ),
        models=draw(some_flags),
        levels=draw(some_flags),
        adapted=draw(some_flags),
    )


@settings(max_examples=60, deadline=None)
@given(ratings())
def test_any_rating_comes_back_from_its_line_whole(rating: SegmentRating) -> None:
    line = segment_line(rating)
    VALIDATOR.validate(line)
    assert parse_segment_line(line) == rating
    assert parse_segment_line(json.loads(json.dumps(line))) == rating


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_file_gives_back_header_ratings_and_summary(tmp_path: Path, name: str) -> None:
    run = read_run(write(tmp_path / name))
    assert run.header == {"type": "header", "format": "mmad-run", "version": 1, **HEADER}
    assert run.summary == {"type": "summary", **SUMMARY}
    assert run.complete
    assert list(run.ratings()) == list(run.ratings()) == RATINGS


def test_texts_with_every_kind_of_line_break_stay_one_line_each(tmp_path: Path) -> None:
    """A1, A12."""
    text = "a\nb\r\nc\u2028d\u0085e\tf\x1c\x00\ufeff" + "long " * 4_000
    rating = SegmentRating(Segment(text, text), Status.SCORED, score=0.0)
    path = write(tmp_path / "run.jsonl", [rating])
    assert len(lines_of(path)) == 3
    assert [back.segment.translation for back in read_run(path).ratings()] == [text]


def test_a_lone_surrogate_does_not_stop_the_writer_and_keeps_offsets_true(tmp_path: Path) -> None:
    """C21: the span, a lone surrogate at 1..2, is written as U+FFFD, here and in the text."""
    error = MQMError(
        "\ud83d", MISTRANSLATION, Severity.MINOR, Side.TRANSLATION, 1, 2, Placement.EXACT
    )
    rating = SegmentRating(
        Segment("a", "x\ud83d\ude00y"), Status.SCORED, score=-1.0, errors=(error,)
    )
    path = write(tmp_path / "run.jsonl", [rating])
    (back,) = read_run(path).ratings()
    assert back.segment.translation == "x\ufffd\ufffdy"
    assert back.errors[0].text == back.segment.translation[1:2] == "\ufffd"
    assert b"\\ud" not in path.read_bytes()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_no_number_that_json_lacks_is_ever_written(tmp_path: Path, value: float) -> None:
    """C12."""
    rating = SegmentRating(Segment("a", "b"), Status.SCORED, score=0.0)
    object.__setattr__(rating, "score", value)  # no rating can be made so
    with RunWriter(tmp_path / "run.jsonl") as writer:
        writer.write_header(HEADER)
        with pytest.raises(ValueError, match="JSON"):
            writer.write_rating(rating)
        with pytest.raises(ValueError, match="JSON"):
            writer.write_summary({"score": value})
    assert len(lines_of(tmp_path / "run.jsonl.part")) == 1


def test_a_run_with_nothing_scored_is_strict_json_with_nulls(tmp_path: Path) -> None:
    """C12."""
    lines = lines_of(write(tmp_path / "run.jsonl", [UNSCORED, SKIPPED]))
    assert [line["score"] for line in lines[1:3]] == [None, None]


def test_no_penalty_is_written_as_zero_not_minus_zero() -> None:
    line = segment_line(SegmentRating(Segment("a", "b"), Status.SCORED, score=-0.0))
    assert json.dumps(line["score"]) == "0.0"


# The written form -------------------------------------------------------------------------------


def test_keys_stand_in_a_fixed_order_and_empty_ones_are_left_out() -> None:
    assert list(segment_line(SCORED)) == [
        "type",
        "system",
        "index",
        "id",
        "doc",
        "source",
        "translation",
        "reference",
        "status",
        "score",
        "flags",
        "errors",
        "dimensions",
        "analysis",
        "usage",
        "models",
        "levels",
        "adapted",
    ]
    assert segment_line(UNSCORED) == {
        "type": "segment",
        "system": "A",
        "index": 1,
        "source": "b",
        "translation": "c",
        "status": "unscored",
        "score": None,
        "reason": "refusal",
        "detail": "no",
        "errors": [],
        "dimensions": {},
        "usage": {},
    }


def test_a_dimension_is_written_as_it_describes_itself_and_odd_labels_in_full() -> None:
    line = segment_line(SCORED)["dimensions"]
    assert line["fluency"] == SCORED.outcomes[1].to_dict()
    assert line["accuracy"]["opening"] == [
        SAID.to_reply(),
        {
            **ODD.to_reply(),
            "read_as": "other",
            "raw_category": "Colour / shade",
            "raw_severity": "so-so",
            "flags": ["unknown_category"],
        },
    ]


def test_lines_are_compact_utf8(tmp_path: Path) -> None:
    rating = SegmentRating(Segment("ü", "你好"), Status.NOT_SAMPLED)
    content = write(tmp_path / "run.jsonl", [rating]).read_text("utf-8")
    assert content.split("\n")[1] == (
        '{"type":"segment","system":"","index":0,"source":"ü","translation":"你好",'
        '"status":"not_sampled","score":null,"errors":[],"dimensions":{},"usage":{}}'
    )


def test_the_callers_fields_cannot_disguise_a_line(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run.jsonl") as writer:
        writer.write_header({"version": 9, "type": "x", "more": 1})
        writer.write_summary({"type": "x", "more": 1})
    assert lines_of(tmp_path / "run.jsonl.part") == [
        {"type": "header", "format": "mmad-run", "version": 1, "more": 1},
        {"type": "summary", "more": 1},
    ]


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_equal_runs_are_equal_bytes_whenever_and_wherever_written(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(tmp_path / name).read_bytes()
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert write(tmp_path / f"other-{name}").read_bytes() == first
    assert first.startswith(b"\x1f\x8b") == name.endswith(".gz")


def test_two_outcomes_of_one_dimension_are_not_merged_in_silence() -> None:
    outcome = DimensionOutcome("style", (), ())
    with pytest.raises(ValueError, match="two outcomes"):
        segment_line(SegmentRating(Segment("a", "b"), Status.NOT_SAMPLED, outcomes=(outcome,) * 2))


# The schema -------------------------------------------------------------------------------------


def test_every_written_line_fits_the_schema(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for line in lines_of(write(tmp_path / "run.jsonl")):
        VALIDATOR.validate(line)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("segment.properties.status", Status),
        ("segment.properties.reason", Reason),
        ("error.properties.side", Side),
        ("error.properties.placement", Placement),
        ("severity", Severity),
    ],
)
def test_the_schema_knows_the_same_words_as_the_code(path: str, values: type[Enum]) -> None:
    part = SCHEMA["$defs"]
    for key in path.split("."):
        part = part[key]
    assert part["enum"] == [value.value for value in values]


@pytest.mark.parametrize(
    "change",
    [
        {"score": None},
        {"score": 1.0},
        {"status": "unscored"},
        {"reason": "refusal"},
        {"reason": None},
        {"index": -1},
        {"source": None},
        {"errors": [{**HOUSE.to_dict(), "start": None}]},
        {"errors": [{**HOUSE.to_dict(), "placement": "unplaced"}]},
        {"errors": [{**HOUSE.to_dict(), "severity": "Major"}]},
        {"usage": {"judge": {"calls": 1}}},
        {"surplus": 1},
        {"type": "header"},
    ],
)
def test_the_schema_refuses_what_the_writer_never_writes(change: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({**segment_line(SCORED), **change})


# Finished, interrupted, contested ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_file_gets_its_name_when_complete_and_not_before(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"from before")
    with RunWriter(path) as writer:
        writer.write_header(HEADER)
        writer.write_summary(SUMMARY)
        assert path.read_bytes() == b"from before"
        writer.commit()
        assert writer.committed
    assert os.listdir(tmp_path) == [name]
    assert read_run(path).complete


def test_an_exception_leaves_the_part_file_and_the_old_file(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    before = path.read_bytes()

    def ratings_until_interrupted() -> Iterator[SegmentRating]:
        yield SCORED
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(path, ratings_until_interrupted())
    assert path.read_bytes() == before
    assert len(lines_of(tmp_path / "run.jsonl.part")) == 2


def test_a_part_file_from_before_is_started_anew(tmp_path: Path) -> None:
    interrupted(tmp_path / "run.jsonl")
    assert list(read_run(write(tmp_path / "run.jsonl")).ratings()) == RATINGS


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_each_line_is_on_its_way_to_the_disk_when_write_returns(tmp_path: Path, name: str) -> None:
    part = tmp_path / f"{name}.part"
    with RunWriter(tmp_path / name) as writer:
        writer.write_header(HEADER)
        for at in range(3):
            writer.write_rating(RATINGS[at])
            run = read_run(part, allow_torn=True)
            assert list(run.ratings()) == RATINGS[: at + 1]
            assert not run.complete


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_last_line_is_tolerated_when_asked_and_only_then(tmp_path: Path, cut: int) -> None:
    part = interrupted(tmp_path / "run.jsonl", cut)
    whole = [SCORED, UNSCORED] if cut == 1 else [SCORED]  # one byte less: only the LF is gone
    run = read_run(part, allow_torn=True)
    assert list(run.ratings()) == whole
    assert run.summary is None
    if cut > 1:
        with pytest.raises(InputError, match=r"run\.jsonl\.part, line 3: .*cut off"):
            read_run(part)


def test_a_line_torn_within_a_character_is_torn_too(tmp_path: Path) -> None:
    part = interrupted(tmp_path / "run.jsonl")
    part.write_bytes(part.read_bytes() + '{"type":"segment","source":"ü'.encode()[:-1])
    assert list(read_run(part, allow_torn=True).ratings()) == [SCORED, UNSCORED]


def test_a_torn_gzip_keeps_all_lines_before_the_tear(tmp_path: Path) -> None:
    part = interrupted(tmp_path / "run.jsonl.gz", cut=20)
    assert list(read_run(part, allow_torn=True).ratings()) == [SCORED]
    with pytest.raises(InputError, match="cut off"):
        read_run(part)


def test_a_broken_line_amid_the_file_is_never_taken_for_a_torn_one(tmp_path: Path) -> None:
    part = interrupted(tmp_path / "run.jsonl")
    lines = part.read_bytes().split(b"\n")
    part.write_bytes(b"\n".join([lines[0], lines[1][:-9], lines[2], b""]))
    with pytest.raises(InputError, match="line 2"):
        list(read_run(part, allow_torn=True).ratings())


def test_paths_that_cannot_be_written_are_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "taken.jsonl.part").mkdir()
    cases: list[tuple[str | Path, str]] = [
        (tmp_path, "directory"),
        (tmp_path / "absent" / "run.jsonl", "no folder"),
        (tmp_path / "taken.jsonl", "cannot be written"),
        ("-", "needs a path"),
    ]
    for path, part in cases:
        with pytest.raises(InputError, match=part) as caught:
            RunWriter(path)
        assert str(path) in str(caught.value)
    assert not [path for path in tmp_path.rglob("*.part") if path.is_file()]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    """What `-o /dev/null` must not do."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is not a regular file"):
        RunWriter(tmp_path / "pipe")
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "run.jsonl"
    link.symlink_to(tmp_path / "real" / "run.jsonl")
    write(link)
    assert link.is_symlink()
    assert os.listdir(tmp_path / "real") == ["run.jsonl"]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process may grow past 4 KiB, as on a disk that is nearly full."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_failing_disk_stops_the_run_and_leaves_no_finished_file(
    tmp_path: Path, name: str
) -> None:
    noise = "".join(chr(ord("a") + (at * at * 7_919 >> 5) % 26) for at in range(500))
    with pytest.raises(RunStopped, match=f"{name}.part: cannot be written"):
        write(tmp_path / name, [SegmentRating(Segment(noise, "x"), Status.NOT_SAMPLED)] * 2_000)
    assert os.listdir(tmp_path) == [f"{name}.part"]
    RunWriter(tmp_path / name).close()  # the lock is gone


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device")
def test_a_part_file_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl.part").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"run.jsonl: cannot be written"):
        RunWriter(tmp_path / "run.jsonl")


OTHER_RUN = """
import sys
from mmad_metric.files.run_file import RunWriter
with RunWriter(sys.argv[1]) as writer:
    writer.write_header({})
    print("started", flush=True)
    sys.stdin.readline()
    writer.commit()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file locks")
def test_two_processes_do_not_write_one_path(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", OTHER_RUN, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"started\n"
        with pytest.raises(InputError, match="another run is writing it"):
            RunWriter(path)
        other.communicate(b"\n")
    assert other.returncode == 0
    assert len(lines_of(path)) == 1  # the attempt did not truncate it
    assert read_run(write(path)).complete


@pytest.mark.skipif(sys.platform == "win32", reason="file locks")
def test_a_lock_won_on_a_file_already_renamed_away_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our opening of the .part file and its lock, another run commits it."""
    import fcntl

    path = tmp_path / "run.jsonl"
    (tmp_path / "run.jsonl.part").write_bytes(b"finished by the other\n")
    lock = fcntl.flock

    def late(handle: Any, flags: int) -> None:
        if not path.exists():
            os.replace(tmp_path / "run.jsonl.part", path)
        lock(handle, flags)

    monkeypatch.setattr(fcntl, "flock", late)
    with RunWriter(path) as writer:
        writer.write_header(HEADER)
        assert path.read_bytes() == b"finished by the other\n"
        writer.commit()
    assert len(lines_of(path)) == 1


# Reading what is no run file --------------------------------------------------------------------


def edited(tmp_path: Path, number: int, change: dict[str, Any], *without: str) -> Path:
    lines = lines_of(write(tmp_path / "run.jsonl"))
    line = {**lines[number - 1], **change}
    lines[number - 1] = {key: value for key, value in line.items() if key not in without}
    path = tmp_path / "edited.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"Das Haus\n", "line 1: not JSON"),
        (b'{"source": "a"}\n', "line 1: not the header"),
        (b'{"type": "header", "format": "other", "version": 1}\n', "line 1: not the header"),
        (b'{"type": "header", "format": "mmad-run", "version": 2}\n', "line 1: version 2"),
        (b'{"type": "header", "format": "mmad-run", "version": NaN}\n', "line 1: not strict"),
        (b'{"type": "header"', "line 1.*cut off"),
        (b"\xff\n", "line 1: byte 0xff"),
    ],
)
def test_what_is_no_run_file_is_refused_on_opening(
    tmp_path: Path, content: bytes, part: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"x.jsonl.*{part}"):
        read_run(path)


@pytest.mark.parametrize(
    ("change", "without", "part"),
    [
        ({}, ["source"], "'source' is missing"),
        ({}, ["score"], "'score' is missing"),
        ({"source": None}, [], "'source' is null"),
        ({"index": "0"}, [], "'index' is a string"),
        ({"index": True}, [], "'index' is a boolean"),
        ({"status": "fine"}, [], "fine"),
        ({"status": "unscored"}, [], "unscored"),
        ({"score": "-5"}, [], "'score' is a string"),
        ({"score": True}, [], "'score' is a boolean"),
        ({"score": 10**400}, [], "'score' is 1000"),
        ({"reason": "tired"}, [], "tired"),
        ({"flags": "checked"}, [], "'flags' is a string"),
        ({"flags": [1]}, [], "'flags' holds a number"),
        ({"errors": {}}, [], "'errors' is an object"),
        ({"errors": ["Haus"]}, [], "'errors' holds a string"),
        ({"errors": [{"text": "Haus"}]}, [], "is missing"),
        ({"errors": [{**HOUSE.to_dict(), "end": 9}]}, [], "slice"),
        ({"errors": [{**HOUSE.to_dict(), "end": 8.0}]}, [], "'end' is a number"),
        ({"errors": [{**HOUSE.to_dict(), "severity": "bad"}]}, [], "bad"),
        ({"errors": [{**HOUSE.to_dict(), "flags": "x"}]}, [], "'flags' is a string"),
        ({"errors": [{**HOUSE.to_dict(), "quoted": 1}]}, [], "'quoted' is a number"),
        ({"dimensions": []}, [], "'dimensions' is an array"),
        ({"dimensions": {"style": {"opening": []}}}, [], "'outcome' is missing"),
        ({"dimensions": {"style": 1}}, [], "not a segment line"),
        ({"usage": {"judge": {"callz": 1}}}, [], "callz"),
        ({"usage": {"judge": {"calls": "1"}}}, [], "'calls' is a string"),
        ({"usage": {"judge": 1}}, [], "not a segment line"),
        ({"type": "note"}, [], "'note'"),
    ],
)
def test_broken_segment_lines_are_named_by_file_and_line(
    tmp_path: Path, change: dict[str, Any], without: list[str], part: str
) -> None:
    run = read_run(edited(tmp_path, 2, change, *without))
    with pytest.raises(InputError) as caught:
        list(run.ratings())
    assert str(caught.value).startswith(f"{tmp_path / 'edited.jsonl'}, line 2: ")
    assert part in str(caught.value)


@pytest.mark.parametrize(("number", "consistent"), [(0, "yes"), (1, 1)])
def test_broken_debates_are_refused(number: int, consistent: object) -> None:
    line = json.loads(json.dumps(segment_line(SCORED)))
    line["dimensions"]["accuracy"]["rounds"][number]["consistent"] = consistent
    with pytest.raises(InputError, match="'consistent'"):
        parse_segment_line(line)
    line["dimensions"]["accuracy"]["rounds"][number].update(consistent=None, pro=None)
    with pytest.raises(InputError, match="'pro'"):
        parse_segment_line(line)


def test_nothing_follows_the_summary(tmp_path: Path) -> None:
    content = write(tmp_path / "run.jsonl").read_bytes()
    twice = tmp_path / "twice.jsonl"
    twice.write_bytes(content + content)
    with pytest.raises(InputError, match="line 6: a line after the summary"):
        read_run(twice)


def test_a_text_that_speaks_of_a_summary_is_not_one(tmp_path: Path) -> None:
    rating = SegmentRating(Segment("a", "b", system='"summary"'), Status.NOT_SAMPLED)
    run = read_run(write(tmp_path / "run.jsonl", [rating, rating]))
    assert list(run.ratings()) == [rating, rating]


def test_a_file_without_summary_is_incomplete_but_readable(tmp_path: Path) -> None:
    run = read_run(interrupted(tmp_path / "run.jsonl"))
    assert (run.complete, run.summary) == (False, None)
    assert list(run.ratings()) == [SCORED, UNSCORED]


def test_a_missing_run_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.jsonl"):
        read_run(tmp_path / "absent.jsonl")


# Size -------------------------------------------------------------------------------------------


def many(n: int) -> Iterator[SegmentRating]:
    for _ in range(n):
        yield SCORED


def test_ratings_are_read_and_written_one_at_a_time(tmp_path: Path) -> None:
    """Streamed: the third rating can be had although the fourth line is broken."""
    path = write(tmp_path / "run.jsonl", many(3))
    lines = path.read_bytes().split(b"\n")
    lines[3] = b"broken"
    path.write_bytes(b"\n".join(lines))
    stream = read_run(path).ratings()
    assert [next(stream), next(stream)] == [SCORED, SCORED]
    with pytest.raises(InputError, match="line 4"):
        next(stream)
