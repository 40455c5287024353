"""`mmad register`: make `evaluate.load("mmad")` work offline, from any folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.registration import register


def run_register(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser(prog="mmad register", description=__doc__)
    parser.add_argument("--undo", action="store_true", help="remove what it wrote")
    options = parser.parse_args(arguments)
    path = register(undo=options.undo)
    print(f"{'removed' if options.undo else 'registered'}: {path}")
    return EXIT_OK
