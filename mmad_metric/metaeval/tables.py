"""The table as text in the shared task's form, as LaTeX, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmad_metric.metaeval import latex
from mmad_metric.metaeval.arrays import or_none
from mmad_metric.metaeval.coverage import Coverage, partial_notes
from mmad_metric.metaeval.measures import Measure
from mmad_metric.metaeval.meta_score import MetricResult
from mmad_metric.metaeval.resampling import Interval

ALL = "all"  # the column block over all language pairs


@dataclass(frozen=True, eq=False)
class Table:
    """Results, best first, with what is known about how sure they are.

    coverage: of each language pair; intervals: by metric, then by language pair or `ALL`, then by
    measure or "meta"; ranks: the significance cluster of each metric, {} where none was asked for.
    """

    coverage: tuple[Coverage, ...]
    measures: tuple[Measure, ...]
    results: Sequence[MetricResult]
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    width: int = 3

    @property
    def lps(self) -> tuple[str, ...]:
        return tuple(each.lp for each in self.coverage)

    def interval(self, metric: str, lp: str, name: str) -> Interval | None:
        return self.intervals.get(metric, {}).get(lp, {}).get(name)


def json_values(table: Table) -> dict[str, Any]:
    """`{"lps", "by_lp": {LP: {"n_systems", "n_rated", "n_segments", "n_cells", "left_out"}},
    "measures", "metrics": [{"metric", "rank", "meta", "tasks", "by_lp", …}]}`, numbers rounded to
    the table's width, null where a measure is not defined.

    rank: 1 for the best, or, where ranks were asked for, that of the metric's cluster; null without
    a meta score.
    """
    return {
        "lps": list(table.lps),
        "by_lp": {each.lp: each.values() for each in table.coverage},
        "measures": [measure.name for measure in table.measures],
        "metrics": [
            _metric_values(table, result, position)
            for position, result in enumerate(table.results, 1)
        ],
    }


def _metric_values(table: Table, result: MetricResult, position: int) -> dict[str, Any]:
    def block(lp: str, meta: float, values: Mapping[str, float]) -> dict[str, Any]:
        found: dict[str, Any] = {
            "meta": _rounded(meta, table.width),
            "tasks": {name: _rounded(value, table.width) for name, value in values.items()},
        }
        known = table.intervals.get(result.metric, {}).get(lp, {})
        if known:
            found["confidence"] = {
                name: [_rounded(each, table.width) for each in (interval.low, interval.high)]
                for name, interval in known.items()
            }
        return found

    return {
        "metric": result.metric,
        "rank": _rank(table, result, position),
        **block(ALL, result.meta, result.values),
        "by_lp": {
            lp: {
                **block(lp, pair.meta, pair.values),
                "n_scored": pair.n_scored,
                "n_cells": pair.n_cells,
            }
            for lp, pair in result.by_lp.items()
        },
    }


def _rank(table: Table, result: MetricResult, position: int) -> int | None:
    """The cluster, where ranks were asked for, else the position; None for a metric without a
    meta score, as one that lacks a language pair."""
    if or_none(result.meta) is None:
        return None
    return table.ranks.get(result.metric) if table.ranks else position


def text_table(table: Table) -> str:
    """What the data is; then a metric a line: rank, name, meta score; a block of columns a
    language pair, and one over all."""
    names, *body = _rows(table)
    head = ["" if place else block for block in _blocks(table) for place in range(_wide(table))]
    notes = partial_notes(table.results)
    lines = [each.line() for each in table.coverage]
    lines += ["", aligned([["", "", *head], names, *body], left=1)]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def aligned(rows: Sequence[Sequence[str]], *, left: int = 0) -> str:
    """Columns side by side, the one at `left` to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def latex_table(table: Table) -> str:
    """A tabular; what the text says around the table stands in comments before it."""
    names, *body = _rows(table)
    comments = [*(each.line() for each in table.coverage), *partial_notes(table.results)]
    columns = "rl" + "r" * (len(names) - 2)
    groups = [("", 2), *((block, _wide(table)) for block in _blocks(table))]
    return latex.tabular(columns, [names], body, groups=groups, comments=comments)


def table_number(width: int) -> Callable[[float], str]:
    """Numbers of that many decimals, "-" for none."""

    def number(value: float) -> str:
        return "-" if or_none(value) is None else f"{value + 0.0:.{width}f}"

    return number


def _blocks(table: Table) -> list[str]:
    """The language pairs, before several the whole."""
    return [*([ALL] if len(table.lps) > 1 else []), *table.lps]


def _wide(table: Table) -> int:
    """Columns of a block."""
    return len(table.measures) + 1


def _rows(table: Table) -> list[list[str]]:
    """The row of names, then one a metric."""
    titles = ["meta", *(measure.title for measure in table.measures)]
    rows = [["rank", "metric", *(titles * len(_blocks(table)))]]
    for position, result in enumerate(table.results, 1):
        rank = _rank(table, result, position)
        row = ["-" if rank is None else str(rank), result.metric]
        for block in _blocks(table):
            row += _block_cells(table, result, block)
        rows.append(row)
    return rows


def _block_cells(table: Table, result: MetricResult, block: str) -> list[str]:
    number = table_number(table.width)
    whole = block == ALL or len(table.lps) == 1
    found = result if whole else result.by_lp.get(block)
    if found is None:
        return ["-"] * _wide(table)
    cells = []
    for name, value in (("meta", found.meta), *found.values.items()):
        interval = table.interval(result.metric, block, name)
        cell = number(value)
        if interval is not None and not np.isnan([value, interval.low]).all():
            cell += f" [{number(interval.low)}, {number(interval.high)}]"
        cells.append(cell)
    return cells


def _rounded(value: float, width: int) -> float | None:
    known = or_none(value)
    return None if known is None else round(known, width) + 0.0
