"""What the benchmarks share: a loopback server process, the gold mix as files, a child's cost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gold import LP, RATINGS, data_folder
from benchmarks.wmt_gold import read_gold
from tests.annotator import Annotator, Item


def gold_script() -> Annotator:
    """Answers from the human ratings of WMT23 en-de; texts it does not know have no errors.

    A number in front of a text (which makes copies different) is looked through.
    """
    table: dict[tuple[str, str], Sequence[Item]] = {}
    for each in read_gold(data_folder(), LP, RATINGS):
        table.setdefault((each.source, each.translation), each.items)

    def look_up(source: str, translation: str) -> Sequence[Item]:
        return table.get((_plain(source), _plain(translation)), ())

    return Annotator(look_up, con_yields=False)


def _plain(text: str) -> str:
    number, mark, rest = text.partition("§ ")
    return rest if mark and number.isdigit() else text


script = None  # made when the server process asks for it, see `answer`


def answer(call: object) -> str:
    """The script that `python -m tests.loopback --script benchmarks.measure:answer` names."""
    global script  # noqa: PLW0603 - one table a server process
    if script is None:
        script = gold_script()
    return script(call)  # type: ignore[arg-type]


@contextmanager
def server_process(latency: float) -> Iterator[str]:
    """The loopback server in a process of its own; gives its URL."""
    command = [sys.executable, "-m", "tests.loopback", "--latency", str(latency),
               "--script", "benchmarks.measure:answer"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def server_stats(url: str) -> dict[str, Any]:
    """What the loopback server counted: calls, seconds from the first to the last."""
    address = url.removesuffix("/v1") + "/stats"
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own server
        stats: dict[str, Any] = json.load(answer)
    return stats


def write_mix(folder: Path, count: int) -> tuple[Path, Path]:
    """`count` segments of the human-rated en-de mix, all systems in turn, as source and output
    files; past the first round each copy is made different by a number in front."""
    gold = list(read_gold(data_folder(), LP, RATINGS))
    gold.sort(key=lambda each: (each.index, each.system))
    source, output = folder / "src.txt", folder / "out.txt"
    with source.open("w", encoding="utf-8") as sources, output.open("w", encoding="utf-8") as outs:
        for number in range(count):
            each = gold[number % len(gold)]
            mark = f"{number}§ "
            sources.write(f"{mark}{each.source}\n")
            outs.write(f"{mark}{each.translation}\n")
    return source, output


@dataclass(frozen=True)
class Cost:
    """What a child process took: seconds of CPU, peak resident memory in MB, exit status."""

    cpu: float
    peak_mb: float
    status: int


def run_measured(command: Sequence[str], stderr: int | None = None) -> Cost:
    """Run a command to its end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return _cost(usage, process.returncode)


def _cost(usage: resource.struct_rusage, status: int) -> Cost:
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status)


def mmad_command(source: Path, output: Path, url: str, folder: Path) -> list[str]:
    """The command line over a pair of files, with C=64, cache and run file in `folder`."""
    return [
        sys.executable, "-m", "mmad_metric.cli", "-s", str(source), "-i", str(output), "-l", LP,
        "--base-url", url, "--model", "gold", "--weights", "wmt", "--concurrency", "64", "-b",
        "--cache", str(folder / "cache"), "-o", str(folder / "run.jsonl"),
    ]  # fmt: skip
