"""Files of segment scores: read as mt-metrics-eval writes them, refused where they are not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.files.score_files import is_score_file, read_score_file


def write(folder: Path, text: str) -> str:
    path = folder / "m.seg.score"
    path.write_bytes(text.encode())
    return str(path)


def test_scores_come_by_system_in_order_and_none_is_no_score(tmp_path: Path):
    path = write(tmp_path, "B\t-1.5\nA\tNone\r\nB\t0\nA\t-2e1\n")
    assert read_score_file(path) == {"B": (-1.5, 0.0), "A": (None, -20.0)}


def test_gzipped_files_are_read_as_they_are(tmp_path: Path):
    path = tmp_path / "m.seg.score.gz"
    path.write_bytes(gzip.compress(b"A\t1\n"))
    assert is_score_file(str(path))
    assert read_score_file(str(path)) == {"A": (1.0,)}


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/M.seg.score", True), ("M.SEG.SCORE", True), ("M.sys.score", False), ("r.jsonl", False)],
)
def test_score_files_are_known_by_their_name(path: str, expected: bool):
    assert is_score_file(path) is expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("A\t1\nA 2\n", "line 2: expected a system, a tab and a score"),
        ("A\t1\t2\n", "line 1: expected a system"),
        (" \t1\n", "line 1: expected a system"),
        ("A\tx\n", "line 1: 'x' is no score"),
        ("A\tnan\n", "line 1: 'nan' is no score"),
        ("A\tinf\n", "line 1: 'inf' is no score"),
        ("A\t\n", "line 1: '' is no score"),
        ("", "is empty"),
        ("A\t1\nB\t1\nB\t1\n", "2 scores of system 'B', but 1 of 'A'"),
    ],
    ids=["space", "three", "nameless", "word", "nan", "infinite", "blank", "empty", "unequal"],
)
def test_what_is_no_score_file_is_refused_with_file_and_line(tmp_path: Path, text: str, named: str):
    with pytest.raises(InputError, match=r"m\.seg\.score.*") as caught:
        read_score_file(write(tmp_path, text))
    assert named in str(caught.value)
