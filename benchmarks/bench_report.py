"""Time, memory and size of the HTML report for ever more segments, and how long it takes to open.

Run it with `python -m benchmarks.bench_report [--segments 1000 20000] [--open]`. Rates 200 segments
with debates over three rounds, and repeats them as often as need be. --open needs Chromium.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.measure import mmad_command, run_measured, server_process, write_mix
from tests.browser import chromium

RATED = 200


def main() -> None:
    """Print a line for each size, as the report chooses its segments and with --all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--segments", type=int, nargs="+", default=[1000, 20000])
    parser.add_argument("--open", action="store_true", help="open each page in Chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server_process(0.0) as url:
            run_measured(mmad_command(*write_mix(folder, RATED), url, folder))
        lines = (folder / "run.jsonl").read_text(encoding="utf-8").splitlines()
        for count in options.segments:
            run = folder / f"{count}.jsonl"
            # Line by line: a child's peak memory is not below what its parent held.
            with run.open("w", encoding="utf-8") as out:
                out.writelines(repeated(lines, count))
            for more in ([], ["--all"]):
                _measure(run, more, opened=options.open)


def repeated(lines: list[str], count: int) -> Iterable[str]:
    """The lines of a run of so many segments: those of a shorter one, over and over."""
    header, *segments, summary = lines
    yield header + "\n"
    for index in range(count):
        segment: dict[str, Any] = json.loads(segments[index % len(segments)])
        yield json.dumps(segment | {"index": index}, ensure_ascii=False) + "\n"
    yield summary + "\n"


def _measure(run: Path, more: list[str], *, opened: bool) -> None:
    page = run.with_suffix(".html")
    command = [sys.executable, "-m", "mmad_metric.cli", "report", str(run), "-o", str(page), "-q"]
    cost = run_measured([*command, *more])
    text = (
        f"{run.stem} segments {' '.join(more)}: {cost.cpu:.1f} s of CPU, {cost.peak_mb:.0f} MB; "
        f"run file {_megabytes(run)}, page {_megabytes(page)}"
    )
    print(text + (_opening(page) if opened else ""), flush=True)


def _megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


def _opening(page: Path) -> str:
    """How long a browser takes to open the page, and a filter to take hold."""
    with chromium() as browser:
        tab = browser.new_page()
        tab.set_default_timeout(300_000)
        begun = time.perf_counter()
        tab.goto(page.as_uri())
        shown = time.perf_counter()
        tab.locator("select[name=severity]").select_option("major")
        tab.locator(".count").get_by_text("recomputed").wait_for()
        return f"; opens in {shown - begun:.1f} s, filters in {time.perf_counter() - shown:.1f} s"


if __name__ == "__main__":
    main()
