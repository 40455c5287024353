"""What stands in a sweep's folder: nothing is replaced that is not the very run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from mmad_metric.cli import main
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad, Ran, Sweep, write_files
from tests.cli.small_sweep import CALLS, GRID, contents
from tests.loopback import LoopbackServer


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopbackServer, Path]]:
    """A server, and the folder of a sweep that it has answered."""
    folder = write_files(tmp_path_factory.mktemp("finished"))
    systems = [str(folder / "good.txt"), str(folder / "bad.txt")]
    with LoopbackServer(Annotator(KNOWN)) as server, redirect_stdout(StringIO()):
        status = main(
            ["sweep", str(folder / "grid.toml"), "-s", str(folder / "src.txt"), "-i", *systems,
             "-l", "en-de", "--base-url", server.url, "-o", str(folder / "runs"), "-q",
             "--no-cache"]
        )  # fmt: skip
        assert status == 0
        yield server, folder / "runs"


@pytest.fixture
def done(finished: tuple[LoopbackServer, Path], files: Path) -> LoopbackServer:
    """The finished sweep beside the small files, and the server that knows it."""
    shutil.copytree(finished[1], files / "runs")
    return finished[0]


def refused(ran: Ran, done: LoopbackServer) -> list[str]:
    """The messages of a sweep that has made no call."""
    assert (ran.status, ran.out, done.call_count) == (1, "", sum(CALLS))
    return ran.err.splitlines()


def test_other_settings(sweep: Sweep, files: Path, done: LoopbackServer):
    before = contents(files / "runs")
    lines = refused(sweep(done, "--weights", "wmt", "--reasks", "1"), done)
    assert len(lines) == 5  # all of them at once
    assert (
        "runs/none.jsonl is a run of another configuration: weights (mmad / wmt), reasks "
        "(2 / 1), weight_table (… / …); it is not replaced" in lines[4]
    )
    assert contents(files / "runs") == before


def test_another_version(sweep: Sweep, files: Path, done: LoopbackServer):
    path = files / "runs" / "none.jsonl"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"mmad-metric":"', '"mmad-metric":"9.'), encoding="utf-8")
    assert text != path.read_text("utf-8")
    [line] = refused(sweep(done), done)
    assert "mmad-metric (9." in line


def test_other_texts(sweep: Sweep, files: Path, done: LoopbackServer):
    (files / "bad.txt").write_text("Das rote Maus ist alt.\nGuten Tag.\nEs ist kalt.\n")
    lines = refused(sweep(done), done)
    assert "runs/none.jsonl is a run over other texts, first in row 2 of system 'bad'" in lines[4]


def test_other_systems(sweep: Sweep, files: Path, done: LoopbackServer):
    lines = refused(sweep(done, "--name", "a", "b"), done)
    assert "another configuration: other systems;" in lines[0]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"notes\n", "this is not a run file; runs/none.jsonl is not replaced"),
        (lambda data: b"", "is empty, not a run file"),
        (lambda data: b"".join(data.splitlines(keepends=True)[:-1]), "did not finish"),
        (lambda data: data[:-9], "the line is cut off"),
        (
            lambda data: b"".join(x for n, x in enumerate(data.splitlines(keepends=True))
                                  if n != 6),
            "lacks segments of the input",
        ),
    ],
    ids=["notes", "empty", "unfinished", "torn", "short"],
)  # fmt: skip
def test_no_whole_run(
    sweep: Sweep, files: Path, done: LoopbackServer,
    damage: Callable[[bytes], bytes], words: str,
):  # fmt: skip
    path = files / "runs" / "none.jsonl"
    path.write_bytes(damaged := damage(path.read_bytes()))
    [line] = refused(sweep(done), done)
    assert words in line
    assert path.read_bytes() == damaged


def test_an_account_that_is_none(sweep: Sweep, files: Path, done: LoopbackServer):
    (files / "runs" / "sweep.json").write_text('{"mine": 1}')
    [line] = refused(sweep(done), done)
    assert "runs/sweep.json: not the account of a sweep" in line


def test_a_run_of_no_setting_is_named(sweep: Sweep, files: Path, done: LoopbackServer):
    (files / "grid.toml").write_text(GRID.replace("[1, 2]", "[1]"))
    (files / "runs" / "consensus-r1.jsonl").rename(files / "runs" / "consensus.jsonl")
    (files / "runs" / "deliberation-r1.jsonl").rename(files / "runs" / "deliberation.jsonl")
    ran = sweep(done)
    assert (ran.status, done.call_count) == (0, sum(CALLS))
    assert "not of this grid: consensus-r2.jsonl, deliberation-r2.jsonl" in ran.err


def test_an_input_is_no_place_for_a_run(mmad: Mmad, files: Path, done: LoopbackServer):
    (files / "none.jsonl").write_text('{"source": "a", "translation": "b"}\n')
    ran = mmad("sweep", "grid.toml", "-i", "none.jsonl", "-l", "en-de", "-o", ".",
               "--base-url", done.url)  # fmt: skip
    [line] = refused(ran, done)
    assert line == "mmad: -o .: none.jsonl is an input"


def test_a_file_in_the_folders_place(sweep: Sweep, files: Path, done: LoopbackServer):
    [line] = refused(sweep(done, "-o", "src.txt"), done)
    assert line.startswith("mmad: -o src.txt: no folder can be made there")
