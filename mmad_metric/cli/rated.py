"""MMAD's part of the findings: scores with their coverage, intervals, tests."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mmad_metric.cli.columns import Cell, Column
from mmad_metric.cli.findings import Findings
from mmad_metric.cli.output import Style, counts_beside, details, stability_line
from mmad_metric.cli.resampling import (
    PairedTest,
    Seed,
    compare_systems,
    interval,
    is_enough,
)
from mmad_metric.cli.terminal import tell
from mmad_metric.layouts import NAME, coverage, number, shown_score
from mmad_metric.repeats import RowScore, ranking_stability, row_mean
from mmad_metric.results import SystemTotals
from mmad_metric.scoring import mean
from mmad_metric.signature import format_signature, resampled


@dataclass(frozen=True, slots=True)
class Rated:
    """What rating gave. scores: of each system's segments; rows: where they
    stand in the whole test set; signature: its keys and values."""

    systems: Sequence[SystemTotals]
    scores: Sequence[Sequence[RowScore]]
    rows: Sequence[int]
    signature: Mapping[str, str]
    style: Style

    @property
    def is_repeated(self) -> bool:
        return any(each.repeats > 1 for each in self.systems)


def add_rated(options: argparse.Namespace, rated: Rated, found: Findings) -> None:
    """Put MMAD's results beside those that are there already."""
    if len(rated.systems) > 1:
        _add_several(options, rated, found)
        return
    _add_single(options, rated, found)
    if options.detail:
        _add_parts(rated, found)


def _add_single(options: argparse.Namespace, rated: Rated, found: Findings) -> None:
    [totals] = rated.systems
    signature, middle = rated.signature, None
    if options.confidence and is_enough(options.confidence_n):
        seed = Seed.from_environment()
        middle = interval(rated.scores[0], options.confidence_n, seed)
        signature = resampled(signature, seed=seed.text, bs=options.confidence_n)
        if middle is None:
            _tell_no_interval(options, coverage(totals))
    shown = shown_score(totals, rated.style.width, middle)
    if options.score_only:
        text = shown.bare()
    elif options.format == "json":
        values = shown.to_dict(signature, details(totals))
        text = json.dumps(values, indent=1, ensure_ascii=False)
    else:
        text = shown.line(format_signature(signature, short=rated.style.short))
    found.single[NAME] = text


def _add_several(options: argparse.Namespace, rated: Rated, found: Findings) -> None:
    signature, beside = rated.signature, counts_beside(rated.systems)
    cells = [Cell(each.score, beside=f"{each.n_scored}/{each.n_rated}") for each in rated.systems]
    test = PairedTest.asked(options)
    if test is not None:
        seed = Seed.from_environment()
        cells = compare_systems(list(zip(cells, rated.scores, strict=True)), test, seed)
        signature = resampled(signature, seed=seed.text, **{test.method: test.trials})
        beside["Difference"] = tuple(_difference(cell, rated.style.width) for cell in cells)
        beside["Common"] = tuple(str(cell.more.get("n_common", "-")) for cell in cells)
        if test.method == "bs" and is_enough(test.trials):
            without = [each.name for each, cell in zip(rated.systems, cells, strict=True)
                       if cell.mean is None]  # fmt: skip
            if without:
                _tell_no_interval(options, ", ".join(without))
    shown = format_signature(signature, short=rated.style.short)
    found.columns[NAME] = Column(NAME, tuple(cells), shown, rated.style.width, beside)
    long = format_signature(signature)
    stability = ranking_stability(rated.scores) if rated.is_repeated else None
    more = {} if stability is None else {"ranking_stability": stability.to_dict()}
    found.extra = [{**details(each), **more, "signature": long} for each in rated.systems]
    if stability is not None:
        found.below.append(stability_line(stability))


def _difference(cell: Cell, width: int) -> str:
    """What is tested, over the common segments: with gaps it is not that of the means shown."""
    if "difference" not in cell.more:
        return "-"
    difference = cell.more["difference"]
    return number(None, width) if difference is None else f"{difference + 0.0:+.{width}f}"


def _tell_no_interval(options: argparse.Namespace, what: str) -> None:
    if not options.quiet:
        tell(f"{NAME}, {what}: no interval, which takes at least two scored segments")


def _add_parts(rated: Rated, found: Findings) -> None:
    """MMAD's means on the parts that -d tells apart, over what was rated of them."""
    by_row = dict(zip(rated.rows, rated.scores[0], strict=True))
    for part in found.parts:
        scores = [row_mean(by_row[row]) for row in part.rows if row in by_row]
        scored = [score for score in scores if score is not None]
        text = f"{number(mean(scored), rated.style.width)} {len(scored)}/{len(scores)} scored"
        part.scores.append((NAME, text))
