"""Options that choose which errors count, by how they came to be."""

from __future__ import annotations

import argparse

from mmad_metric.cli.name_lists import name_list
from mmad_metric.errors import ConfigError
from mmad_metric.filtering import ErrorFilter
from mmad_metric.names import nearest
from mmad_metric.provenance import RAISING


def add_error_filters(parser: argparse.ArgumentParser) -> None:
    """--min-support, --disputed-only, --undisputed-only, --raised-by."""
    group = parser.add_argument_group("only errors that")
    group.add_argument(
        "--min-support",
        type=float,
        metavar="X",
        help="at least this share, 0 to 1, of the agents asked keep in their last word",
    )
    disputed = group.add_mutually_exclusive_group()
    disputed.add_argument(
        "--disputed-only",
        dest="disputed",
        action="store_const",
        const=True,
        help="pro and con opened with different views of",
    )
    disputed.add_argument(
        "--undisputed-only", dest="disputed", action="store_const", const=False, help="the others"
    )
    group.add_argument(
        "--raised-by",
        type=name_list,
        default=[],
        metavar="AGENT[,…]",
        help="one of these raised first: annotate.accuracy, or a kind: " + ", ".join(RAISING),
    )


def error_filter(options: argparse.Namespace) -> ErrorFilter:
    """Raises ConfigError for a share that is none, and for an agent that raises no errors."""
    for agent in options.raised_by:
        if agent.partition(".")[0] not in RAISING:
            raise ConfigError(
                f"--raised-by: errors are raised by {', '.join(RAISING)}, or one of these for a "
                f"dimension (annotate.accuracy), not by {agent!r}{nearest(agent, RAISING)}"
            )
    return ErrorFilter(options.min_support, options.disputed, tuple(options.raised_by))
