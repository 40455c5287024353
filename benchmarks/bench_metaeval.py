"""Meta-evaluation of 35 metrics on two language pairs: the table, and its intervals.

Run it with `python -m benchmarks.bench_metaeval [--samples N]`.

Times the command itself, start-up and reading of 1.5 million scores included. Needs
MMAD_WMT23_DIR (default ../shared/wmt23) with mmad-released/ in it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

from benchmarks.gold import data_folder


def timed(*more: str) -> tuple[float, float, int]:
    """CPU seconds, wall seconds and number of metrics of one call of the command."""
    data = data_folder()
    command = [sys.executable, "-m", "mmad_metric.cli", "meta-eval", "--data", str(data),
               "--scores", str(data / "mmad-released"), "--lp", "en-de,zh-en", *more]  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, len(json.loads(done.stdout)["metrics"])


def main() -> None:
    """Print a line a task."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    tasks: dict[str, list[str]] = {
        "table": [],
        f"table with intervals of {samples} resamples": [
            "--confidence", "--samples", str(samples)
        ],
        f"one test of two metrics, {samples} exchanges": [
            "--metrics", "M-MAD,GEMBA-MQM", "--significance", "--samples", str(samples)
        ],
    }  # fmt: skip
    for name, options in tasks.items():
        cpu, wall, metrics = timed(*options)
        print(f"{name}: {metrics} metrics, {cpu:.1f} s of CPU, {wall:.1f} s")


if __name__ == "__main__":
    main()
