"""MMAD on the main command's inputs: rate one or several systems, streaming, resumable."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from mmad_metric.beside import look_beside
from mmad_metric.blocking import run_blocking
from mmad_metric.calls.connect import Connection, role_costs, role_prices
from mmad_metric.calls.limits import Gate
from mmad_metric.chat import Usage
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
)
from mmad_metric.cli.rated import Rated, add_rated
from mmad_metric.cli.report import report_of_run
from mmad_metric.cli.targets import check_report_target, check_run_target
from mmad_metric.cli.terminal import tell
from mmad_metric.config import MMADConfig
from mmad_metric.errors import RunStopped
from mmad_metric.files.inputs import Inputs
from mmad_metric.files.run_file import RunWriter
from mmad_metric.layouts import DEFAULT_WIDTH
from mmad_metric.local.model import SHIPPED_NOTICE, parse_local
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.recording import Recording, record, settle_collector
from mmad_metric.repeats import RatedRow, determinism_warning
from mmad_metric.results import SystemTotals, observed
from mmad_metric.session import Plan, open_session

UNUSED_REFERENCES = "references are kept in the run file, but not used by the metric"


@dataclass
class Run:
    """One invocation: what was asked, what is read, what has come so far."""

    options: argparse.Namespace
    recording: Recording
    shown: list[dict[str, Any]] = field(default_factory=list)
    connection: Connection | None = None

    @property
    def plan(self) -> Plan:
        return self.recording.plan

    @property
    def inputs(self) -> Inputs:
        return self.recording.inputs

    @property
    def systems(self) -> list[SystemTotals]:
        return self.recording.systems

    @property
    def style(self) -> Style:
        width = self.options.width
        return Style(DEFAULT_WIDTH if width is None else width, self.options.short)


def run_rate(options: argparse.Namespace) -> int:
    """Rate what the options name, beside what sacreBLEU's metrics make of it; returns the exit
    status."""
    plan = Plan.of(config_from(options))
    inputs = open_given(options)
    beside = look_beside(inputs.segments(), plan.config)
    _check_outputs(options)
    if options.dry_run:
        print_forecast(plan, inputs, as_json=options.format == "json")
        return EXIT_OK
    tell_all(options, [*notices(plan, options), *beside.notices(plan.glossary)])
    # Before any call: what cannot be computed should cost nothing.
    found = overlap_findings(options, inputs)
    with ExitStack() as stack:
        path = options.output
        if options.report and not path:  # the report is made from a run file, kept or not
            folder = stack.enter_context(TemporaryDirectory(prefix="mmad-"))
            path = os.path.join(folder, "run.jsonl")
        writer = stack.enter_context(RunWriter(path)) if path else None
        recording = Recording.of(plan, inputs, writer, beside.sizes)
        return _rate(Run(options, recording), found)


def _check_outputs(options: argparse.Namespace) -> None:
    """Neither the run file nor the report takes the place of what is no older one of its kind."""
    inputs = [options.sources, *(options.systems or []), *options.references, options.weights]
    inputs += [options.doc_ids, options.glossary]
    if options.output:
        check_run_target(options.output, inputs)
    if options.report:
        check_report_target("--report", options.report, inputs, options.output)


def notices(plan: Plan, options: argparse.Namespace) -> list[str]:
    """What the user should know before the first call."""
    told = []
    roles = plan.config.roles()
    locals_used = [parse_local(plan.config.model_for(role)[0]) for role in roles]
    if any(local is not None and local.is_shipped for local in locals_used):
        told.append(SHIPPED_NOTICE)
    if options.references and not (options.overlap or plan.config.use_reference):
        told.append(UNUSED_REFERENCES)
    if not plan.config.use_cache:
        told.append("no cache: an interrupted run starts from the beginning")
    if (doubt := determinism_warning(plan.config)) is not None:
        told.append(doubt)
    if plan.borrowed_pair:
        told.append(
            f"no demonstrations for {plan.config.lp}: those of {plan.borrowed_pair} are used"
        )
    return told


def tell_all(options: argparse.Namespace, lines: Iterable[str]) -> None:
    """Messages on stderr, unless they are not wanted."""
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
    tell_all(run.options, _account(run))
    writer = run.recording.writer
    if run.options.report and writer is not None:
        report_of_run(writer.path, run.options.report, quiet=run.options.quiet)
    return EXIT_UNSCORED if run.recording.has_unscored else EXIT_OK


def _progress(run: Run) -> str:
    """How far it came, and how to go on."""
    recording = run.recording
    text = f"{recording.done} of {run.inputs.total} segments are finished"
    if recording.writer is not None and run.options.output:
        text += f" and stand in {recording.writer.part}"
    if run.plan.config.use_cache:
        return f"{text}; the same command again goes on from here (replies are in the cache)"
    return f"{text}; without a cache the same command starts from the beginning"


async def _stream(run: Run) -> None:
    settle_collector()
    async with open_session(run.plan) as session:
        run.connection = session.connection
        silent = run.options.quiet or not sys.stderr.isatty()
        with tqdm(total=run.inputs.total, unit="seg", disable=silent, file=sys.stderr) as bar:

            def show(row: RatedRow) -> None:
                _print_row(run, row)
                bar.update()

            await record(run.recording, session, show, strict=run.options.strict)


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
        named = len(run.systems) > 1
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


def _print_result(run: Run, found: Findings) -> None:
    systems = run.systems
    signature = run.plan.signature_fields(observed(systems))
    scores, rows = [each.row_scores for each in systems], run.inputs.row_numbers
    add_rated(run.options, Rated(systems, scores, rows, signature, run.style), found)
    print_findings(run.options, run.inputs, found, run.shown if run.options.show_spans else None)


def _account(run: Run) -> list[str]:
    """What this run paid; replies that came from the cache are told here alone."""
    connection = run.connection
    if connection is None:
        return []
    lines = [paid_line(connection.gate, connection.hits, [run.plan.config])]
    if len(connection.paid) > 1:
        lines.append("  " + "; ".join(_paid_by_role(run, connection)))
    return lines + losses(run.systems)


def losses(systems: Iterable[SystemTotals]) -> list[str]:
    """What has no score, and why."""
    lines = []
    for each in systems:
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
        yield f"{role} {_calls(usage)}{price}"


def _calls(usage: Usage) -> str:
    return f"{usage.calls} call{'' if usage.calls == 1 else 's'}"


def paid_line(gate: Gate, hits: int, configs: Sequence[MMADConfig]) -> str:
    """What went through a gate, under one configuration or several."""
    usage = gate.usage
    return (
        f"{_calls(usage)}, {hits} {'reply' if hits == 1 else 'replies'} from the cache; "
        f"{usage.prompt_tokens} prompt tokens ({usage.cached_tokens} cached by the server), "
        f"{usage.completion_tokens} completion tokens, {_spent(gate, configs)}"
    )


def _spent(gate: Gate, configs: Sequence[MMADConfig]) -> str:
    is_free = all(parse_local(each.model) is not None and not each.role_models for each in configs)
    if is_free or not gate.usage.calls:
        return "no cost"
    if any(None in role_prices(each).values() for each in configs):
        return "cost unknown (no price list for this model at this server)"
    return f"${gate.spent:.4f}"
