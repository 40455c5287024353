"""`mmad register`: make `evaluate.load("mmad")` work from any folder, offline too."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.registration import is_registered, register


def run_register(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="mmad register",
        description='Make evaluate.load("mmad") work from any folder, offline too.',
        epilog="Writes one line into the modules cache of evaluate ($HF_MODULES_CACHE, else "
        "$HF_HOME/modules), which imports the installed package: an upgrade needs nothing more. "
        "Any number of processes may do it at once. Offline, set HF_EVALUATE_OFFLINE=1. More in "
        "docs/evaluate.md.",
    )
    parser.add_argument("--undo", action="store_true", help="remove what it wrote")
    options = parser.parse_args(arguments)
    was_there = is_registered()
    path = register(undo=options.undo)
    if options.undo:
        print(f"removed: {path}" if was_there else f"it was not registered: no {path}")
    else:
        print(f"registered: {path}")
    return EXIT_OK
