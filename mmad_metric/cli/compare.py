"""`mmad compare`: systems from stored runs, side by side; no model is called."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from mmad_metric.cli.compare_output import FORMATS, Report
from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.resampling import DEFAULT_SEED, DEFAULT_TRIALS, Seed
from mmad_metric.cli.sacrebleu_options import checked_width, chosen_format
from mmad_metric.cli.terminal import tell
from mmad_metric.comparison.outcome import Procedure, compare
from mmad_metric.comparison.segments import fetch_rows
from mmad_metric.comparison.systems import read_systems
from mmad_metric.errors import ConfigError

_EPILOG = """\
The first system is the baseline. A score is the mean over the segments that all systems
have a score for; a pair is tested on those that both have one for.

environment: SACREBLEU_SEED (a number, or none for another one each time),
SACREBLEU_FORMAT (goes before -f where it is one of its choices)
"""


def run_compare(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = _parser().parse_args(arguments)
    settings, style = _settings(options), chosen_format(options.format)
    compared = read_systems(options.files, options.names, options.gold, force=options.force)
    if not options.quiet:
        for notice in compared.notices:
            tell(notice)
    outcome = compare(compared.systems, settings, options.top)
    rows = fetch_rows(compared, {each.index for each in outcome.differences})
    signatures = tuple(compared.signatures[system.source] for system in compared.systems)
    print(FORMATS[style](Report(outcome, signatures, rows, options.width, options.short)))
    return EXIT_OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mmad compare",
        description="Compare systems from run files, or from .seg.score files: paired tests, wins "
        "and losses, clusters, errors, the segments that differ most. Makes no call.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="run files (mmad -o), or .seg.score files")
    add("--name", nargs="+", action="extend", metavar="NAME", dest="names",
        help="names of the systems, in order (default: from the files)")  # fmt: skip
    add("--gold", metavar="FILE", help="a .seg.score file: only segments with a score in it count")
    test = parser.add_mutually_exclusive_group()
    test.add_argument("-par", "--paired-ar", dest="method", action="store_const", const="ar",
                      default="ar",
                      help="approximate randomization, two-sided (default)")  # fmt: skip
    test.add_argument("-pbs", "--paired-bs", dest="method", action="store_const", const="bs",
                      help="paired bootstrap, sacreBLEU's")  # fmt: skip
    add(
        "-n", type=int, metavar="N", help="trials or resamples (default: 10000 for ar, 1000 for bs)"
    )
    add("--seed", type=int, metavar="N", help=f"seed of the resampling (default: {DEFAULT_SEED})")
    add("--alpha", type=float, default=0.05, metavar="P",
        help="significant are p-values below this (default: 0.05)")  # fmt: skip
    add("--top", type=int, default=5, metavar="N",
        help="show the N segments that differ most (default: 5)")  # fmt: skip
    add("--force", action="store_true",
        help="compare in spite of different settings, and unfinished runs")  # fmt: skip
    add("-f", "--format", choices=tuple(FORMATS), default="json", help="(default: json)")
    add("-w", "--width", type=int, default=2, metavar="N",
        help="decimals of a score in text and LaTeX (default: 2)")  # fmt: skip
    add("-sh", "--short", action="store_true", help="short signature")
    add("-nc", "--no-color", action="store_true", help="there are no colours")
    add("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    return parser


def _settings(options: argparse.Namespace) -> Procedure:
    n = DEFAULT_TRIALS[options.method] if options.n is None else options.n
    if n < 1:
        raise ConfigError(f"-n: {n} is not a whole number of at least 1")
    if options.top < 0:
        raise ConfigError(f"--top: {options.top} is not a whole number of at least 0")
    checked_width(options.width)
    if not (math.isfinite(options.alpha) and 0 < options.alpha < 1):
        raise ConfigError(f"--alpha: {options.alpha} is not between 0 and 1")
    return Procedure(options.method, n, _seed(options.seed), options.alpha)


def _seed(given: int | None) -> int:
    """The option, else $SACREBLEU_SEED, else sacreBLEU's default."""
    if given is None:
        return Seed.from_environment().value
    if given < 0:
        raise ConfigError(f"--seed: {given} is not a whole number of at least 0")
    return given
