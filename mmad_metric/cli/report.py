"""`mmad report`: stored runs as one HTML page; no model is called."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from mmad_metric.cli.error_filters import add_error_filters, error_filter
from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.targets import check_report_target
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import ConfigError
from mmad_metric.files.lines import readable
from mmad_metric.files.system_names import name_of_file
from mmad_metric.report.document import Written, write_report
from mmad_metric.report.survey import MOST_RATINGS, Choice

_EPILOG = f"""\
The page is one file: it opens without a network, and asks nobody for anything. It shows every
error in its text, who raised it and who keeps it, and the debate; it filters by system, dimension,
severity, support, dispute and words. Systems of several runs stand side by side where their
sources are the same. Without --first, --worst, --sample or --all it shows the first segments,
{MOST_RATINGS} ratings in all; its tables count every segment in any case.

With --min-support, --disputed-only, --undisputed-only or --raised-by other errors do not count:
scores are computed anew, and the page says so. Errors without provenance are kept.
"""


def run_report(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = _parser().parse_args(arguments)
    choice = Choice(
        systems=tuple(options.systems or ()),
        errors=error_filter(options),
        first=options.first,
        worst=options.worst,
        sample=options.sample,
        seed=_seed(options),
        every=options.all,
    )
    target = options.output or _beside(options.runs[0])
    check_report_target("-o", target, options.runs)
    _tell(write_report(options.runs, target, choice), quiet=options.quiet)
    print(readable(target))
    return EXIT_OK


def report_of_run(path: str, target: str, *, quiet: bool) -> None:
    """The report of a run that the main command has just finished."""
    _tell(write_report([path], target, Choice()), quiet=quiet)


def _tell(written: Written, *, quiet: bool) -> None:
    if written.selection.cut and not quiet:
        tell(
            f"{written.shown} of {written.rated} segments are on the page, "
            f"{written.selection.how}; `mmad report RUN` with --worst N, --sample N, --first N or "
            "--all shows others"
        )


def _beside(run: str) -> str:
    """`run.html` beside `run.jsonl` or `run.jsonl.gz`."""
    return os.path.join(os.path.dirname(run), f"{name_of_file(run)}.html")


def _seed(options: argparse.Namespace) -> int:
    if options.seed is None:
        return 0
    if options.sample is None:
        raise ConfigError("--seed draws the segments of --sample, which is not given")
    if options.seed < 0:
        raise ConfigError(f"--seed: {options.seed} is not a whole number of at least 0")
    return int(options.seed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mmad report",
        description="Show finished runs as one HTML page. Makes no call.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help="finished run files (mmad -o)")
    add("-o", "--output", metavar="FILE", help="the page (default: beside the first run, .html)")
    add("--system", nargs="+", action="extend", metavar="NAME", dest="systems",
        help="only these systems")  # fmt: skip
    shown = parser.add_argument_group("segments to show").add_mutually_exclusive_group()
    shown.add_argument("--first", type=int, metavar="N", help="the first N segments")
    shown.add_argument("--worst", type=int, metavar="N",
                       help="the N segments with the lowest score of any system")  # fmt: skip
    shown.add_argument("--sample", type=int, metavar="N", help="N segments drawn at random")
    shown.add_argument("--all", action="store_true", help="all, however large the page gets")
    add("--seed", type=int, metavar="N", help="seed of --sample (default: 0)")
    add_error_filters(parser)
    add("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    return parser
