"""Small files and a server for tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from mmad_metric.cli import main
from tests.cli.small_sweep import GRID
from tests.loopback import LoopbackServer

SOURCES = ["The red house is old.", "Good morning.", "It is cold today."]
GOOD = ["Das Haus ist rot und alt.", "Guten Morgen.", "Es ist heute kalt."]
BAD = ["Das rote Maus ist alt.", "Guten Morgen.", "Es ist heute recht sehr kalt."]


@dataclass
class Ran:
    """What a command left: exit status, stdout, stderr."""

    status: int
    out: str
    err: str


def write_files(folder: Path) -> Path:
    for name, lines in (("src.txt", SOURCES), ("good.txt", GOOD), ("bad.txt", BAD)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "grid.toml").write_text(GRID)
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return write_files(tmp_path)


@pytest.fixture
def mmad(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command line in the folder of the small files."""
    monkeypatch.chdir(files)

    def run(*arguments: str) -> Ran:
        try:
            status = main(arguments)
        except SystemExit as exited:
            status = int(exited.code or 0)
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return run


Mmad = Callable[..., Ran]
Sweep = Callable[..., Ran]


@pytest.fixture
def sweep(mmad: Mmad) -> Sweep:
    """Runs the sweep of grid.toml over the small files on a server; its folder is `runs`."""

    def run(server: LoopbackServer, *more: str) -> Ran:
        return mmad("sweep", "grid.toml", "-s", "src.txt", "-i", "good.txt", "bad.txt", "-l",
                    "en-de", "--base-url", server.url, "-o", "runs", *more)  # fmt: skip

    return run
