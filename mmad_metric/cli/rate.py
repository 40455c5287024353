"""MMAD on the main command's inputs: rate one or several systems, streaming, resumable."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from mmad_metric.beside import Beside, look_beside
from mmad_metric.blocking import run_blocking
from mmad_metric.calls.connect import Connection, role_costs, role_prices
from mmad_metric.cli.exits import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_OK, EXIT_UNSCORED
from mmad_metric.cli.findings import Findings, overlap_findings, print_findings
from mmad_metric.cli.forecast import print_forecast
from mmad_metric.cli.given import open_given
from mmad_metric.cli.options import config_from
from mmad_metric.cli.output import (
    Style,
    segment_dict,
    segment_line,
    span_lines,
    stability_line,
)
from mmad_metric.cli.rated import Rated, add_rated
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import InputError, RunStopped
from mmad_metric.files.inputs import Inputs
from mmad_metric.files.run_file import RunWriter, read_run
from mmad_metric.layouts import DEFAULT_WIDTH
from mmad_metric.local.model import SHIPPED_NOTICE, parse_local
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import RatedRow, determinism_warning, ranking_stability
from mmad_metric.results import SystemTotals, observed
from mmad_metric.session import Plan, Session, open_session

GC_EVERY = 20_000  # new objects


@dataclass
class Run:
    """One invocation: what was asked, what is read, what has come so far."""

    options: argparse.Namespace
    plan: Plan
    inputs: Inputs
    writer: RunWriter | None
    totals: dict[str, SystemTotals]
    beside: Beside
    shown: list[dict[str, Any]] = field(default_factory=list)
    connection: Connection | None = None

    @property
    def style(self) -> Style:
        width = self.options.width
        return Style(DEFAULT_WIDTH if width is None else width, self.options.short)

    @property
    def done(self) -> int:
        return sum(totals.n_segments for totals in self.totals.values())


def run_rate(options: argparse.Namespace) -> int:
    """Rate what the options name, beside what sacreBLEU's metrics make of it; returns the exit
    status."""
    plan = Plan.of(config_from(options))
    inputs = open_given(options)
    beside = look_beside(inputs.segments(), plan.config)
    _check_output(options)
    if options.dry_run:
        print_forecast(plan, inputs, as_json=options.format == "json")
        return EXIT_OK
    _tell(options, [*_notices(plan, inputs, options), *beside.notices(plan.glossary)])
    # Before any call: what cannot be computed should cost nothing.
    found = overlap_findings(options, inputs)
    cost = role_costs(plan.config)
    totals = {each.name: SystemTotals(each.name, plan.scheme, cost=cost) for each in inputs.systems}
    with ExitStack() as stack:
        writer = stack.enter_context(RunWriter(options.output)) if options.output else None
        return _rate(Run(options, plan, inputs, writer, totals, beside), found)


def _check_output(options: argparse.Namespace) -> None:
    """The run file must not take the place of an input, nor of anything that is no run file."""
    if not options.output or not os.path.isfile(options.output):
        return
    systems = options.systems or []
    inputs = [options.sources, *systems, *options.references, options.weights]
    inputs += [options.doc_ids, options.glossary]
    for path in inputs:
        if path and os.path.exists(path) and os.path.samefile(path, options.output):
            raise InputError(f"-o {options.output}: this is an input, {path}")
    if os.path.getsize(options.output):
        try:
            read_run(options.output)
        except InputError:
            raise InputError(
                f"-o {options.output}: this file exists and is no run file; it is not replaced"
            ) from None


def _notices(plan: Plan, inputs: Inputs, options: argparse.Namespace) -> list[str]:
    notices = []
    roles = plan.config.roles()
    locals_used = [parse_local(plan.config.model_for(role)[0]) for role in roles]
    if any(local is not None and local.is_shipped for local in locals_used):
        notices.append(SHIPPED_NOTICE)
    if options.references and not (options.overlap or options.use_reference):
        notices.append("references are kept in the run file, but not used by the metric")
    if not inputs.total:
        notices.append("the input is empty: there is nothing to rate")
    if not plan.config.use_cache:
        notices.append("no cache: an interrupted run starts from the beginning")
    if (doubt := determinism_warning(plan.config)) is not None:
        notices.append(doubt)
    if plan.demo_pair != str(plan.config.lp):
        notices.append(
            f"no demonstrations for {plan.config.lp}: those of {plan.demo_pair} are used"
        )
    return notices


def _tell(options: argparse.Namespace, lines: list[str]) -> None:
    if not options.quiet:
        for line in lines:
            tell(line)


def _rate(run: Run, found: Findings) -> int:
    try:
        run_blocking(lambda: _stream(run))
    except KeyboardInterrupt:
        tell(f"interrupted; {_progress(run)}")
        return EXIT_INTERRUPTED
    except RunStopped as stopped:
        tell(f"stopped: {stopped}; {_progress(run)}")
        return EXIT_ERROR
    if not run.options.sentence_level:
        _print_result(run, found)
    _tell(run.options, _account(run))
    return EXIT_UNSCORED if any(each.n_unscored for each in run.totals.values()) else EXIT_OK


def _progress(run: Run) -> str:
    """How far it came, and how to go on."""
    text = f"{run.done} of {run.inputs.total} segments are finished"
    if run.writer is not None:
        text += f" and stand in {run.writer.part}"
    if run.plan.config.use_cache:
        return f"{text}; the same command again goes on from here (replies are in the cache)"
    return f"{text}; without a cache the same command starts from the beginning"


async def _stream(run: Run) -> None:
    # What is loaded by now stays: without this, a quarter of a run's CPU goes into looking
    # through it for garbage.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_EVERY, 20, 50)
    systems = [(each.name, each.n_segments) for each in run.inputs.systems]
    async with open_session(run.plan) as session:
        run.connection = session.connection
        if run.writer is not None:
            run.writer.write_header(run.plan.header(systems))
        await _rate_all(run, session)
    if run.writer is not None:
        run.writer.write_summary(_summary(run))
        run.writer.commit()


async def _rate_all(run: Run, session: Session) -> None:
    silent = run.options.quiet or not sys.stderr.isatty()
    with tqdm(total=run.inputs.total, unit="seg", disable=silent, file=sys.stderr) as bar:
        segments, sizes = run.inputs.segments(), run.beside.sizes
        async for rating in session.rate(segments, run.inputs.n_rows, sizes):
            totals = run.totals[rating.segment.system]
            totals.add(rating)
            if run.writer is not None:
                run.writer.write_rating(rating)
            is_last = rating.segment.repeat in (None, run.plan.config.repeats)
            if is_last and totals.row is not None:
                _print_row(run, totals.row)
                bar.update()
            if run.options.strict and rating.status is Status.UNSCORED:
                segment = rating.segment
                raise RunStopped(
                    f"--strict: {segment.system} segment {segment.index + 1} is unscored "
                    f"({rating.reason.value if rating.reason else ''} {rating.detail})".rstrip()
                )


def _of_repeats(row: RatedRow, style: Style) -> str:
    """How far the repeats of a segment are apart, and how many of them there are."""
    known, asked = len(row.known), len(row.ratings)
    count = f"{asked} repeats" if known == asked else f"{known} of {asked} repeats scored"
    if row.deviation is None:
        return "" if row.status is Status.NOT_SAMPLED else f" ({count})"
    return f" (sd {style.number(row.deviation)} over {count})"


def _print_row(run: Run, row: RatedRow) -> None:
    """A segment whose ratings are all there."""
    options = run.options
    if options.sentence_level:
        named = len(run.totals) > 1
        line = segment_line(row.as_rating(), run.style, bare=options.score_only, named=named)
        if row.is_repeated and not options.score_only:
            line += _of_repeats(row, run.style)
        tqdm.write(line, file=sys.stdout)
    elif options.show_spans and row.status is not Status.NOT_SAMPLED:
        for rating in row.ratings:
            _print_spans(run, rating)


def _print_spans(run: Run, rating: SegmentRating) -> None:
    if run.options.format == "json":
        run.shown.append(segment_dict(rating))
    else:
        tqdm.write(span_lines(rating, run.style), file=sys.stdout)


def _summary(run: Run) -> dict[str, Any]:
    totals = list(run.totals.values())
    return {
        "signature": run.plan.signature(observed(totals)),
        "systems": [each.to_dict() for each in totals],
    }


def _print_result(run: Run, found: Findings) -> None:
    systems = list(run.totals.values())
    signature = run.plan.signature_fields(observed(systems))
    scores, rows = [each.row_scores for each in systems], run.inputs.row_numbers
    add_rated(run.options, Rated(systems, scores, rows, signature, run.style), found)
    print_findings(run.options, run.inputs, found, run.shown if run.options.show_spans else None)


def _account(run: Run) -> list[str]:
    """What this run paid; replies that came from the cache are told here alone."""
    connection = run.connection
    if connection is None:
        return []
    usage = connection.gate.usage
    paid = (
        f"{usage.calls} calls, {connection.hits} replies from the cache; "
        f"{usage.prompt_tokens} prompt tokens ({usage.cached_tokens} cached by the server), "
        f"{usage.completion_tokens} completion tokens, {_spent(run, connection)}"
    )
    lines = [paid]
    stability = ranking_stability([each.row_scores for each in run.totals.values()])
    if stability is not None and run.plan.config.repeats > 1:
        lines.append(stability_line(stability))
    if len(connection.paid) > 1:
        lines.append("  " + "; ".join(_paid_by_role(run, connection)))
    for each in run.totals.values():
        lost = each.n_ratings - each.n_ratings_scored
        if each.repeats > 1 and lost:
            lines.append(f"{each.name}: {lost} of {each.n_ratings} ratings unscored")
        if each.n_unscored:
            lines.append(f"{each.name}: {each.n_unscored} of {each.n_rated} segments unscored")
        for reason, count in sorted(each.reasons.items()):
            example = each.examples.get(reason)
            lines.append(f"  {count} {reason}{f', such as: {example}' if example else ''}")
    return lines


def _paid_by_role(run: Run, connection: Connection) -> Iterator[str]:
    """What each role took in this run, e.g. "judge 3 calls, $0.0004"."""
    cost = role_costs(run.plan.config)
    for role, usage in sorted(connection.paid.items()):
        dollars = cost(role, usage)
        price = f", ${dollars:.4f}" if dollars else ""
        yield f"{role} {usage.calls} calls{price}"


def _spent(run: Run, connection: Connection) -> str:
    config = run.plan.config
    is_free = parse_local(config.model) is not None and not config.role_models
    if is_free or not connection.gate.usage.calls:
        return "no cost"
    if None in role_prices(config).values():
        return "cost unknown (no price list for this model at this server)"
    return f"${connection.gate.spent:.4f}"
