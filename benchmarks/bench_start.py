"""CPU that `mmad --help` and `import mmad_metric` take: below 0.3 s, or people notice.

Run it with `python -m benchmarks.bench_start`.
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.measure import run_measured


def main() -> None:
    """Print the median CPU seconds of nine runs each."""
    for name, command in (
        ("python -c pass", ["-c", "pass"]),
        ("import mmad_metric", ["-c", "import mmad_metric"]),
        ("mmad --help", ["-m", "mmad_metric.cli", "--help"]),
        ("mmad --version", ["-m", "mmad_metric.cli", "--version"]),
    ):
        costs = [run_measured([sys.executable, *command]).cpu for _ in range(9)]
        print(f"{name}: {statistics.median(costs):.3f} s of CPU")


if __name__ == "__main__":
    main()
