"""The main command: what is asked for, checked, and handed to who can do it."""

from __future__ import annotations

import argparse
import logging
import os

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.sacrebleu_options import SMOOTHING, is_utility
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
    if options.width is not None and not 0 <= options.width <= 10:  # noqa: PLR2004 - beyond it lies rounding noise
        raise InputError(f"--width: {options.width} is not from 0 to 10")
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
    if options.confidence and options.confidence_n < 2:  # noqa: PLR2004 - an interval has two ends
        raise ConfigError(f"--confidence-n {options.confidence_n}: at least 2 resamples are needed")
    for name in ("paired_bs_n", "paired_ar_n", "paired_jobs"):
        if getattr(options, name) < 0:
            flag = name.replace("_", "-")
            raise ConfigError(f"--{flag}: {getattr(options, name)} is not at least 0")
    if options.confidence or options.paired_bs or options.paired_ar:
        from mmad_metric.cli.resampling import Seed

        Seed.from_environment()
