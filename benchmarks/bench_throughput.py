"""How near a live run comes to the bound C/L, and how fast a finished one replays.

Run it with `python -m benchmarks.bench_throughput [--segments 2000]`.

The human-rated en-de mix of WMT23 against the loopback server in a process of its own, with
200 ms a call and 64 calls in flight. Bound: T >= W * L / C for W calls. Then the same command
again, all from the cache.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.measure import (
    mmad_command,
    run_measured,
    server_process,
    server_stats,
    write_mix,
)
from mmad_metric.files.run_file import read_run

LATENCY, CONCURRENCY = 0.2, 64


def main() -> None:
    """Print seconds, calls a second, the share of the bound, the replay's speed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--segments", type=int, default=2000)
    count = parser.parse_args().segments
    with tempfile.TemporaryDirectory() as name, server_process(LATENCY) as url:
        folder = Path(name)
        source, output = write_mix(folder, count)
        command = mmad_command(source, output, url, folder)
        begun = time.perf_counter()
        live = run_measured(command)
        seconds = time.perf_counter() - begun
        calls = sum(rating.total_usage.calls for rating in read_run(folder / "run.jsonl").ratings())
        bound = calls * LATENCY / CONCURRENCY
        calling = server_stats(url)["seconds"]
        print(
            f"live: {count} segments, {calls} calls ({calls / count:.1f} each) in {seconds:.1f} s: "
            f"{calls / seconds:.0f} calls/s, {bound / seconds:.1%} of the bound {bound:.1f} s "
            f"({bound / calling:.1%} of it between the first call and the last answer); "
            f"CPU {live.cpu:.1f} s, peak {live.peak_mb:.0f} MB, exit {live.status}"
        )
        begun = time.perf_counter()
        replay = run_measured(command)
        seconds = time.perf_counter() - begun
        start_up = _replay_of_one(folder / "one", url)
        print(
            f"replay: {seconds:.1f} s with start-up, {count / seconds:.0f} segments/s; a run of "
            f"one segment replays in {start_up:.1f} s: {(count - 1) / (seconds - start_up):.0f} "
            f"segments/s beside it; CPU {replay.cpu:.1f} s, peak {replay.peak_mb:.0f} MB, "
            f"exit {replay.status}"
        )


def _replay_of_one(folder: Path, url: str) -> float:
    """Seconds that the replay of a single segment takes: start-up and little else."""
    folder.mkdir()
    command = mmad_command(*write_mix(folder, 1), url, folder)
    run_measured(command)
    begun = time.perf_counter()
    run_measured(command)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
