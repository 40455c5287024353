"""Killed, interrupted, in another locale: nothing finished is lost, no output looks complete."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from mmad_metric.files.run_file import read_run
from tests.annotator import KNOWN, Annotator
from tests.loopback import LoopbackServer

pytestmark = pytest.mark.slow

ROWS, CONCURRENCY = 40, 4


def start(
    folder: Path, server: LoopbackServer, cache: str, output: str, *more: str
) -> subprocess.Popen[bytes]:
    """The command line as a process of its own, which can be killed."""
    arguments = [
        sys.executable, "-m", "mmad_metric.cli", "-s", "src.txt", "-i", "out.txt", "-l", "en-de",
        "--base-url", server.url, "--model", "m", "--concurrency", str(CONCURRENCY),
        "--cache", cache, "-o", output, *more,
    ]  # fmt: skip
    return subprocess.Popen(
        arguments,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # pytest's own handling of Ctrl-C must not reach it, nor an ignored one from a shell job.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sources = [f"The red house number {n} is old." for n in range(ROWS)]
    outputs = [
        f"{'Das rote Maus' if n % 3 else 'Das Haus'} Nummer {n} ist alt." for n in range(ROWS)
    ]
    (tmp_path / "src.txt").write_text("\n".join(sources) + "\n")
    (tmp_path / "out.txt").write_text("\n".join(outputs) + "\n")
    return tmp_path


def finish(process: subprocess.Popen[bytes], status: int) -> None:
    _, err = process.communicate(timeout=120)
    assert process.returncode == status, err.decode()


def wait_for(server: LoopbackServer, calls: int) -> None:
    deadline = time.monotonic() + 60
    while server.call_count < calls:
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.005)


def test_a_killed_run_goes_on_without_repeating_a_paid_call_and_ends_the_same(folder: Path):
    with LoopbackServer(Annotator(KNOWN), latency=0.01) as server:
        finish(start(folder, server, "cache-a", "whole.jsonl"), 0)
        needed = server.call_count
        killed = start(folder, server, "cache-b", "resumed.jsonl")
        wait_for(server, needed + needed // 2)
        killed.send_signal(signal.SIGKILL)
        finish(killed, -signal.SIGKILL)
        assert not (folder / "resumed.jsonl").exists()
        finish(start(folder, server, "cache-b", "resumed.jsonl"), 0)
        assert 2 * needed <= server.call_count <= 2 * needed + CONCURRENCY
    assert (folder / "resumed.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()


def test_ctrl_c_ends_cleanly_says_how_to_go_on_and_keeps_what_is_done(folder: Path):
    with LoopbackServer(Annotator(KNOWN), latency=0.02) as server:
        process = start(folder, server, "cache", "run.jsonl")
        wait_for(server, 80)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert b"interrupted" in err
    assert b"the same command again goes on" in err
    assert b"Traceback" not in err
    assert b"never retrieved" not in err
    assert not (folder / "run.jsonl").exists()
    part = read_run(folder / "run.jsonl.part", allow_torn=True)
    assert list(part.ratings())
    assert part.summary is None


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}])
def test_texts_are_utf8_whatever_the_locale(tmp_path: Path, locale: Mapping[str, str]):
    (tmp_path / "src.txt").write_text("Grüße aus Köln 你好\n", encoding="utf-8")
    (tmp_path / "out.txt").write_text("Das rote Maus – ü\n", encoding="utf-8")
    with LoopbackServer(Annotator(KNOWN)) as server:
        environment = {**os.environ, **locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        result = subprocess.run(
            [sys.executable, "-m", "mmad_metric.cli", "-s", "src.txt", "-i", "-", "-l", "de-en",
             "--base-url", server.url, "--model", "m", "-f", "text", "--show-spans"],
            cwd=tmp_path, env=environment, input=(tmp_path / "out.txt").read_bytes(),
            capture_output=True, check=True,
        )  # fmt: skip
    assert "Das rote Maus – ü" in result.stdout.decode("utf-8")
    assert "Grüße aus Köln 你好" in result.stdout.decode("utf-8")


def test_a_reader_that_goes_away_is_no_accident(folder: Path):
    with LoopbackServer(Annotator(KNOWN)) as server:
        process = start(folder, server, "cache", "run.jsonl", "-sl")
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=60)
    assert b"Traceback" not in err


def test_a_closed_output_is_no_accident(folder: Path):
    with LoopbackServer(Annotator(KNOWN)) as server:
        command = f"{sys.executable} -m mmad_metric.cli -s src.txt -i out.txt -l en-de -q --model m"
        result = subprocess.run(
            ["bash", "-c", f"{command} --base-url {server.url} >&-"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_an_output_that_cannot_be_written_is_said_in_one_line(folder: Path):
    with LoopbackServer(Annotator(KNOWN)) as server, Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "mmad_metric.cli", "-s", "src.txt", "-i", "out.txt", "-l",
             "en-de", "--base-url", server.url, "--model", "m", "-q"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.decode().splitlines() == [
        "mmad: standard output cannot be written: No space left on device"
    ]
