"""Speed and memory of the statistics: 15 systems, 2,000 segments, 100,000 resamples.

Run it with `python -m benchmarks.bench_stats`, or with another number of resamples as argument.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from mmad_metric.stats import Score, confidences, paired_tests

SYSTEMS, SEGMENTS, REPEATS = 15, 2000, 3
SEED = 12345


def scores(*, gaps: bool = False, repeats: int = 1) -> list[list[Score]]:
    """Scores as a judge gives them: no error in a third of the segments, whole points."""
    rng = np.random.default_rng(1)
    penalties = np.floor(rng.gamma(0.7, 4, (SYSTEMS, SEGMENTS, repeats)))
    missing = rng.random(penalties.shape) < (0.05 if gaps else 0)
    cells = [
        [
            [None if lost else -float(value) for value, lost in zip(*row, strict=True)]
            for row in zip(*system, strict=True)
        ]
        for system in zip(penalties, missing, strict=True)
    ]
    if repeats == 1:
        return [[row[0] for row in system] for system in cells]
    return [list(system) for system in cells]


def timed(name: str, work: Callable[[], object]) -> None:
    """Print the time of one run on the clock and on all cores together, and the most memory that
    the process has taken so far."""
    begun, worked = time.perf_counter(), time.process_time()
    work()
    seconds, cpu = time.perf_counter() - begun, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {seconds:.1f} s, {cpu:.1f} s of CPU, peak so far {peak:.0f} MB", flush=True)


def main() -> None:
    """Print a line a task."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{SYSTEMS} systems, {SEGMENTS} segments, {n} resamples")
    whole, gaps, repeated = scores(), scores(gaps=True), scores(repeats=REPEATS)
    to_first = [(0, system) for system in range(1, SYSTEMS)]
    every = list(combinations(range(SYSTEMS), 2))
    timed("intervals of all systems", lambda: confidences(whole, n, SEED))
    timed("ar, 14 systems against the first", lambda: paired_tests(whole, to_first, "ar", n, SEED))
    timed("bs, 14 systems against the first", lambda: paired_tests(whole, to_first, "bs", n, SEED))
    timed("ar, all 105 pairs", lambda: paired_tests(whole, every, "ar", n, SEED))
    timed("bs, all 105 pairs", lambda: paired_tests(whole, every, "bs", n, SEED))
    timed("ar, all pairs, 5% unscored", lambda: paired_tests(gaps, every, "ar", n, SEED))
    timed("bs, all pairs, 5% unscored", lambda: paired_tests(gaps, every, "bs", n, SEED))
    timed("intervals, 3 repeats", lambda: confidences(repeated, n, SEED))


if __name__ == "__main__":
    main()
