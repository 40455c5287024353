"""`mmad sweep`: rate one input under a grid of settings; resumable, stage 1 paid for once."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence

from tqdm import tqdm

from mmad_metric.blocking import run_blocking
from mmad_metric.cli.exits import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_OK, EXIT_UNSCORED
from mmad_metric.cli.forecast import sampled
from mmad_metric.cli.given import open_given
from mmad_metric.cli.options import add_inputs, add_settings, given_settings
from mmad_metric.cli.rate import UNUSED_REFERENCES, losses, notices, paid_line, tell_all
from mmad_metric.cli.sacrebleu_options import FORMATS as FORMAT_NAMES
from mmad_metric.cli.sacrebleu_options import add_test_set, chosen_format
from mmad_metric.cli.sweep_output import FORMATS, SweepReport, forecast_text, forecast_values
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import InputError, MMADError
from mmad_metric.files.inputs import Inputs
from mmad_metric.files.lines import readable
from mmad_metric.forecast import Paid, forecast
from mmad_metric.layouts import DEFAULT_WIDTH
from mmad_metric.repeats import RatedRow
from mmad_metric.session import Plan
from mmad_metric.sweep.folder import prepare_folder, run_path, strangers
from mmad_metric.sweep.grid import GridError, read_grid
from mmad_metric.sweep.running import (
    SettingRun,
    Sweep,
    look_beside_each,
    make_plans,
    prepare_sweep,
    rate_sweep,
)
from mmad_metric.sweep.settings import make_settings

_EPILOG = """\
GRID.toml:
  [base]                              settings of all
  weights = "wmt"
  [grid]                              every combination of these values
  strategy = ["consensus", "deliberation", "none"]
  rounds = [1, 2, 3]
  [[settings]]                        more settings, one each
  name = "free"
  topic = "free"
  [[exclude]]                         combinations to leave out
  strategy = "deliberation"
  rounds = 3

Names are those of the long options, with underscores. DIR gets a run file a setting, which
mmad meta-eval, compare and export read. The same command goes on with a sweep that was
interrupted. See docs/sweep.md.
"""
_MOST_DECIMALS = 10


def run_sweep(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = _parse(arguments)
    logging.basicConfig(
        format="mmad: %(message)s", level=logging.ERROR if options.quiet else logging.WARNING
    )
    try:
        return _run(options)
    except GridError as error:
        for problem in error.problems:
            tell(problem)
        return EXIT_ERROR


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mmad sweep",
        description="Rate systems under every setting of a grid, with one cache, so that what "
        "settings have in common is paid for once; prints a table of scores, calls and costs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("grid", metavar="GRID.toml", help="the settings to combine")
    add_inputs(parser.add_argument_group("input"))
    add_test_set(parser.add_argument_group("test sets"))
    add_settings(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="DIR", help="folder of the run files")
    group.add_argument(
        "-f", "--format", choices=FORMAT_NAMES, default="json", help="(default: json)"
    )
    group.add_argument("-w", "--width", type=int, default=DEFAULT_WIDTH, metavar="N",
                       help="decimals of scores in text and LaTeX (default: 2)")  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    # What the main command can be asked for besides, and the sweep cannot.
    parser.set_defaults(
        rates=True, overlap=[], paired_bs=False, paired_ar=False, confidence=False,
        sentence_level=False,
    )  # fmt: skip
    options = parser.parse_intermixed_args(arguments)
    options.format = chosen_format(options.format)
    if options.systems is None:
        parser.error("-i/--input is needed: the translations to rate")
    if options.output is None and not options.dry_run:
        parser.error("-o/--output is needed: the folder of the run files")
    return options


def _run(options: argparse.Namespace) -> int:
    if not 0 <= options.width <= _MOST_DECIMALS:
        raise InputError(f"--width: {options.width} is not from 0 to {_MOST_DECIMALS}")
    given = given_settings(options) | ({} if options.lp is None else {"lp": options.lp})
    made = make_settings(read_grid(options.grid), given)
    plans = make_plans(made.settings)
    options.lp = str(made.settings[0].config.lp)  # perhaps the file's: a test set is of a pair
    inputs = open_given(options)
    beside = look_beside_each(plans, inputs)
    if options.dry_run:
        tell_all(options, made.notices)
        _print_forecast(plans, inputs, options)
        return EXIT_OK
    _check_output(options, plans)
    sweep = prepare_sweep(plans, beside, inputs, options.output)
    told = [notice for _, plan in plans for notice in notices(plan, options)]
    told += [
        notice
        for (_, plan), looked in zip(plans, beside, strict=True)
        for notice in looked.notices(plan.glossary)
    ]
    if any(plan.config.use_reference for _, plan in plans):
        told = [notice for notice in told if notice != UNUSED_REFERENCES]
    tell_all(options, [*made.notices, *dict.fromkeys(told), *_of_folder(sweep, options.output)])
    return _rate(sweep, options)


def _check_output(options: argparse.Namespace, plans: Sequence[tuple[str, Plan]]) -> None:
    """No run may take the place of an input."""
    prepare_folder(options.output)
    inputs = [options.grid, options.sources, *options.systems, *options.references]
    inputs += [options.doc_ids, *(plan.config.glossary for _, plan in plans)]
    given = [path for path in inputs if path and os.path.exists(path)]
    targets = [path for name, _ in plans if os.path.exists(path := run_path(options.output, name))]
    for path in given:
        if any(os.path.samefile(path, target) for target in targets):
            raise InputError(f"-o {readable(options.output)}: {path} is an input")


def _of_folder(sweep: Sweep, folder: str) -> list[str]:
    """What is in the folder already."""
    lines = []
    finished = [run for run in sweep.runs if run.resumed]
    if finished:
        lines.append(f"{len(finished)} of {len(sweep.runs)} settings are finished already")
    lines += [
        f"{run.name}: finished before, with unscored segments; remove {readable(run.path)} to try "
        "them again"
        for run, kept in sweep.done
        if kept.has_unscored
    ]
    others = strangers(folder, [run.name for run in sweep.runs])
    if others:
        lines.append(f"not of this grid: {', '.join(map(readable, others))}")
    return lines


def _print_forecast(
    plans: Sequence[tuple[str, Plan]], inputs: Inputs, options: argparse.Namespace
) -> None:
    paid: Paid = {}
    found = [(name, plan, forecast(plan, sampled(plan, inputs), paid)) for name, plan in plans]
    values = forecast_values(found)
    print(json.dumps(values, indent=1) if options.format == "json" else forecast_text(values))


def _rate(sweep: Sweep, options: argparse.Namespace) -> int:
    try:
        _rate_pending(sweep, options)
    except KeyboardInterrupt:
        tell(f"interrupted; {_progress(sweep)}")
        status = EXIT_INTERRUPTED
    except GridError:
        raise
    except MMADError as stopped:
        tell(f"stopped: {stopped}; {_progress(sweep)}")
        status = EXIT_ERROR
    else:
        status = EXIT_UNSCORED if sweep.has_unscored else EXIT_OK
    if sweep.done:
        print(FORMATS[options.format](SweepReport(sweep, options.width)))
    tell_all(options, _account(sweep))
    return status


def _rate_pending(sweep: Sweep, options: argparse.Namespace) -> None:
    silent = options.quiet or not sys.stderr.isatty()
    total = sweep.inputs.total * len(sweep.pending)
    with tqdm(total=total, unit="seg", disable=silent, file=sys.stderr) as bar:

        def show(run: SettingRun, _: RatedRow) -> None:
            bar.set_description(run.name, refresh=False)
            bar.update()

        run_blocking(lambda: rate_sweep(sweep, show, strict=options.strict))


def _progress(sweep: Sweep) -> str:
    """How far it came, and how to go on."""
    text = f"{len(sweep.done)} of {len(sweep.runs)} settings are finished"
    if sweep.runs[0].plan.config.use_cache:
        return f"{text}; the same command again goes on from here (replies are in the cache)"
    return f"{text}; without a cache the others start from the beginning"


def _account(sweep: Sweep) -> list[str]:
    """What this invocation paid, and what has no score."""
    lines = []
    if sweep.gate is not None:
        lines.append(paid_line(sweep.gate, sweep.hits, sweep.configs))
    for run, kept in sweep.done:
        lost = losses(kept.systems)
        if lost:
            lines += [f"{run.name}:", *(f"  {line}" for line in lost)]
    return lines
