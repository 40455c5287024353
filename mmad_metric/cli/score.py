"""The main command: what is asked for, checked, and handed to who can do it."""

from __future__ import annotations

import argparse
import logging
import os

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.sacrebleu_options import SMOOTHING, checked_width, is_utility
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import ConfigError, InputError

# Options that are about rating by a model, with what they are called.
_OF_RATING = {
    "output": "-o", "report": "--report", "show_spans": "--show-spans", "dry_run": "--dry-run",
    "strict": "--strict",
}  # fmt: skip


def run_score(options: argparse.Namespace) -> int:
    """Do what the options of the main command name; returns the exit status."""
    if is_utility(options):
        from mmad_metric.cli.test_sets import run_utility

        return run_utility(options)
    _check(options)
    logging.basicConfig(
        format="mmad: %(message)s", level=logging.ERROR if options.quiet else logging.WARNING
    )
    if options.rates:
        from mmad_metric.cli.rate import run_rate

        return run_rate(options)
    from mmad_metric.cli.findings import overlap_findings, print_findings, print_sentences
    from mmad_metric.cli.given import open_given

    inputs = open_given(options)
    if options.sentence_level:
        print_sentences(options, inputs)
    else:
        print_findings(options, inputs, overlap_findings(options, inputs))
    return EXIT_OK


def _check(options: argparse.Namespace) -> None:
    if options.width is not None:
        checked_width(options.width)
    if options.sources in SMOOTHING and not os.path.exists(options.sources):
        raise InputError(
            f"-s {options.sources}: no such file; -s is the source here, and sacreBLEU's smoothing "
            f"is --smooth-method {options.sources}"
        )
    if options.sentence_level:
        _check_sentence_level(options)
    if not options.rates:
        for name, flag in _OF_RATING.items():
            if getattr(options, name):
                raise InputError(f"{flag} is about mmad, which -m does not name")
    _check_resampling(options)
    if options.detail and options.format == "json":
        options.format = "text"  # as in sacreBLEU: the details are no JSON


def _check_sentence_level(options: argparse.Namespace) -> None:
    if options.show_spans:
        raise InputError("-sl and --show-spans both print the segments: choose one")
    if options.rates + len(options.overlap) > 1:
        raise InputError("-sl prints the segments of one metric: name one with -m")
    if options.confidence or options.paired_bs or options.paired_ar:
        raise InputError("-sl prints segments, about which no interval and no test tells anything")


def _check_resampling(options: argparse.Namespace) -> None:
    """What gives no interval or no test is said, not refused: sacreBLEU takes it as well."""
    if options.paired_jobs < 0:
        raise ConfigError(f"--paired-jobs: {options.paired_jobs} is not at least 0")
    if not (options.confidence or options.paired_bs or options.paired_ar):
        return
    from mmad_metric.cli.resampling import PairedTest, Seed, is_enough

    Seed.from_environment()
    test, n = PairedTest.asked(options), options.confidence_n
    given = {"bs": options.paired_bs_n, "ar": options.paired_ar_n}
    if options.quiet:
        return
    if options.confidence and not is_enough(n):
        tell(f"--confidence-n {n}: so few resamples give no interval")
    if test is not None and test.method == "bs" and not is_enough(test.trials) and options.rates:
        tell(f"--paired-bs-n {test.trials}: so few resamples give no interval of MMAD")
    if test is not None and given[test.method] < 0:
        tell(f"--paired-{test.method}-n {given[test.method]}: the default is taken, {test.trials}")
