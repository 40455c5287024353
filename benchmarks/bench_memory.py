"""Peak memory of the command line for ever more segments: it must not grow with them.

Run it with `python -m benchmarks.bench_memory [--segments 2000 20000]`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.measure import mmad_command, run_measured, server_process, write_mix


def main() -> None:
    """Print the peak resident memory of a live run and of its replay, a line a size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--segments", type=int, nargs="+", default=[2000, 20000])
    for count in parser.parse_args().segments:
        with tempfile.TemporaryDirectory() as name, server_process(0.0) as url:
            folder = Path(name)
            command = mmad_command(*write_mix(folder, count), url, folder)
            live = run_measured(command)
            replay = run_measured(command)
            print(
                f"{count} segments: live {live.peak_mb:.0f} MB, replay {replay.peak_mb:.0f} MB "
                f"(exit {live.status}, {replay.status})",
                flush=True,
            )


if __name__ == "__main__":
    main()
