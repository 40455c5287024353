"""Score files: what is read, what is refused, what is written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.files.score_files import (
    is_score_file,
    read_equal_scores,
    read_segment_scores,
    read_system_scores,
    segment_score_lines,
    system_field,
    system_score_lines,
    unique_fields,
)

READABLE = {
    "tabs": b"A\t-1.5\nA\tNone\nB\t2\n",
    "no LF at the end": b"A\t-1.5\nA\tNone\nB\t2",
    "CRLF": b"A\t-1.5\r\nA\tNone\r\nB\t2.0\r\n",
    "spaces": b"A -1.5\nA   None\nB 2\n",
    "BOM": b"\xef\xbb\xbfA\t-1.5\nA\tNone\nB\t2\n",
    "gzip": gzip.compress(b"A\t-1.5\nA\tNone\nB\t2\n"),
    "systems in turns": b"A\t-1.5\nB\t2\nA\tNone\n",
}


@pytest.mark.parametrize("kind", READABLE)
def test_none_is_none_and_never_zero(tmp_path: Path, kind: str):
    path = tmp_path / "x.seg.score"
    path.write_bytes(READABLE[kind])
    assert read_segment_scores(str(path)) == {"A": [-1.5, None], "B": [2.0]}


REFUSED = {
    "not a number": ("A\t1\nB\tx\n", "line 2: .* found 'B\\\\tx'"),
    "no score": ("A\t1\nB\n", "line 2"),
    "three fields": ("A\t1\nB\t1\t2\nC\n", "line 2"),
    "blank line": ("A\t1\n\nB\t1\n", "line 2"),
    "nan": ("A\tnan\n", "line 1: .* number or None"),
    "infinity": ("A\t1\nA\tinf\n", "line 2"),
    "grouped digits": ("A\t1\nA\t1_0\n", "line 2: .* found 'A\\\\t1_0'"),
    "grouped digits beside None": ("A\tNone\nA_1\t1_0\n", "line 2"),
    "minus infinity": ("A\t-Infinity\n", "line 1"),
    "none": ("A\tnone\n", "line 1"),
    "hexadecimal": ("A\t0x10\n", "line 1"),
    "other digits": ("A\t\u0663\n", "line 1"),
    "a space that is none": ("A\t1\u00a0\n", "line 1"),
    "a comma": ("A\t1,5\n", "line 1"),
    "a name with a space": ("System A\t1\n", "line 1"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_anything_else_is_refused_with_its_line(tmp_path: Path, kind: str):
    text, words = REFUSED[kind]
    path = tmp_path / "x.seg.score"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_segment_scores(str(path))


def test_numbers_whose_sum_is_too_large_are_still_numbers(tmp_path: Path):
    (tmp_path / "x").write_text("A\t1e308\nA\t1e308\nA\tNone\n", encoding="utf-8")
    assert read_segment_scores(str(tmp_path / "x")) == {"A": [1e308, 1e308, None]}


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"gone\.seg\.score: cannot be read"):
        read_segment_scores(str(tmp_path / "gone.seg.score"))


def test_an_empty_file_has_no_system(tmp_path: Path):
    (tmp_path / "x").write_bytes(b"")
    assert read_segment_scores(str(tmp_path / "x")) == {}


def test_a_second_system_score_is_refused(tmp_path: Path):
    path = tmp_path / "x.sys.score"
    path.write_text("A\t1\nB\tNone\nA\t2\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3: a second score for 'A'"):
        read_system_scores(str(path))


def test_what_is_written_is_read_back(tmp_path: Path):
    segments = {"A": [-1.1, None, 0.0, 1e-17], "B x": [None, None, None, -25.0]}
    (tmp_path / "x.seg.score").write_text("".join(segment_score_lines(segments)))
    assert read_segment_scores(str(tmp_path / "x.seg.score")) == {
        "A": segments["A"],
        "B_x": segments["B x"],
    }
    systems = {"A": -0.1 - 0.2, "B": None}
    (tmp_path / "x.sys.score").write_text("".join(system_score_lines(systems)))
    assert read_system_scores(str(tmp_path / "x.sys.score")) == systems


def test_minus_zero_is_written_as_zero():
    assert list(system_score_lines({"A": -0.0})) == ["A\t0.0\n"]


def test_names_are_single_words_and_stay_apart():
    assert system_field(" my  system\u00a0x ") == "my_system_x"
    assert system_field("") == "system"
    assert unique_fields(["a b", "c"]) == {"a b": "a_b", "c": "c"}
    with pytest.raises(InputError, match="'a b' and 'a_b' would both be called 'a_b'"):
        unique_fields(["a b", "a_b"])


@pytest.mark.parametrize("lp", ["en-de", "zh-en"])
def test_every_released_and_shared_file_is_read_whole(wmt23: Path, lp: str):
    rows = {"en-de": 557, "zh-en": 1976}[lp]
    files = [*(wmt23 / "mmad-released").glob(f"*_{lp}.seg.score"),
             *sorted((wmt23 / "metric-scores" / lp).glob("*.seg.score"))[:4]]  # fmt: skip
    assert len(files) == 8
    for path in files:
        assert {len(scores) for scores in read_segment_scores(str(path)).values()} == {rows}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/M.seg.score", True),
        ("M.SEG.SCORE", True),
        ("M.seg.score.gz", True),
        ("M.sys.score", False),
        ("r.jsonl", False),
    ],
)
def test_score_files_are_known_by_their_name(path: str, expected: bool):
    assert is_score_file(path) is expected


def test_a_file_that_stands_alone_has_as_many_scores_of_each_system(tmp_path: Path):
    path = tmp_path / "m.seg.score"
    path.write_text("B\t-1.5\nA\tNone\nB\t0\nA\t-2e1\n", encoding="utf-8")
    assert read_equal_scores(str(path)) == {"B": (-1.5, 0.0), "A": (None, -20.0)}
    for text, named in (
        ("", "is empty"),
        ("A\t1\nB\t1\nB\t1\n", "2 scores of system 'B', but 1 of 'A'"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=rf"m\.seg\.score: .*{named}"):
            read_equal_scores(str(path))
