"""The table as text in the shared task's form, as LaTeX, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mmad_metric.metaeval.arrays import or_none
from mmad_metric.metaeval.measures import Measure
from mmad_metric.metaeval.meta_score import MetricResult
from mmad_metric.metaeval.resampling import Interval

ALL = "all"  # the column block over all language pairs


@dataclass(frozen=True, eq=False)
class Table:
    """Results, best first, with what is known about how sure they are.

    intervals: by metric, then by language pair or `ALL`, then by measure or "meta"; ranks: the
    significance cluster of each metric, {} where none was asked for.
    """

    lps: tuple[str, ...]
    measures: tuple[Measure, ...]
    results: Sequence[MetricResult]
    intervals: Mapping[str, Mapping[str, Mapping[str, Interval]]] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    width: int = 3

    def interval(self, metric: str, lp: str, name: str) -> Interval | None:
        return self.intervals.get(metric, {}).get(lp, {}).get(name)


def json_values(table: Table) -> dict[str, Any]:
    """`{"lps", "data", "measures", "metrics": [{"metric", "rank", "meta", "tasks", "by_lp", …}]}`,
    numbers rounded to the table's width, null where a measure is not defined.

    rank: 1 for the best; with significance, that of the metric's cluster, null without one.
    """
    return {
        "lps": list(table.lps),
        "data": _sizes(table),
        "measures": [measure.name for measure in table.measures],
        "metrics": [
            _metric_values(table, result, position)
            for position, result in enumerate(table.results, 1)
        ],
    }


def _sizes(table: Table) -> dict[str, dict[str, Any]]:
    """How much gold each language pair has: the same for all metrics."""
    pairs = {lp: pair for each in table.results for lp, pair in each.by_lp.items()}
    return {
        lp: {
            "n_systems": pairs[lp].n_systems,
            "n_segments": pairs[lp].n_segments,
            "n_cells": pairs[lp].n_cells,
            "left_out": list(pairs[lp].left_out),
        }
        for lp in table.lps
        if lp in pairs
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
    """The cluster, where ranks were asked for; None for a metric that has none, as one that lacks
    a language pair or a meta score."""
    if not table.ranks:
        return position
    return None if or_none(result.meta) is None else table.ranks.get(result.metric)


def text_table(table: Table) -> str:
    """What the table is over, a line a language pair; then a metric a line: rank, name, meta score,
    a block over all pairs and one for each."""
    heads = [
        f"{lp}: {size['n_systems']} systems, {size['n_segments']} segments, {size['n_cells']} "
        "translations with gold"
        + (f"; left out: {', '.join(size['left_out'])}" if size["left_out"] else "")
        for lp, size in _sizes(table).items()
    ]
    rows = _rows(table, table_number(table.width))
    return "\n".join([*heads, "", aligned(rows, left=1), *_notes(table)])


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
    """A tabular of the package booktabs."""
    pairs, names, *body = _rows(table, table_number(table.width))
    lines = [f"\\begin{{tabular}}{{rl{'r' * (len(names) - 2)}}}", "\\toprule"]
    lines += [_latex_row(pairs), _latex_row(names), "\\midrule"]
    lines += [_latex_row(row) for row in body]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def table_number(width: int) -> Callable[[float], str]:
    """Numbers of that many decimals, "-" for none."""

    def number(value: float) -> str:
        return "-" if or_none(value) is None else f"{value + 0.0:.{width}f}"

    return number


def _rows(table: Table, number: Callable[[float], str]) -> list[list[str]]:
    """Two rows of heads, then one a metric."""
    blocks = [*([ALL] if len(table.lps) > 1 else []), *table.lps]
    titles = ["meta", *(measure.title for measure in table.measures)]
    head = [
        "",
        "",
        *(block if place == 0 else "" for block in blocks for place in range(len(titles))),
    ]
    rows = [head, ["rank", "metric", *(titles * len(blocks))]]
    for position, result in enumerate(table.results, 1):
        rank = _rank(table, result, position)
        row = ["-" if rank is None else str(rank), result.metric]
        for block in blocks:
            row += _block_cells(table, result, block, number)
        rows.append(row)
    return rows


def _block_cells(
    table: Table, result: MetricResult, block: str, number: Callable[[float], str]
) -> list[str]:
    whole = block == ALL or len(table.lps) == 1
    found = result if whole else result.by_lp.get(block)
    if found is None:
        return ["-"] * (len(table.measures) + 1)
    cells = []
    for name, value in (("meta", found.meta), *found.values.items()):
        interval = table.interval(result.metric, block, name)
        cell = number(value)
        if interval is not None:
            cell += f" [{number(interval.low)}, {number(interval.high)}]"
        cells.append(cell)
    return cells


def _notes(table: Table) -> list[str]:
    """What a reader must know: metrics that scored only a part."""
    notes = []
    for result in table.results:
        for lp, pair in result.by_lp.items():
            if pair.n_scored < pair.n_cells:
                notes.append(
                    f"{result.metric}, {lp}: {pair.n_scored} of {pair.n_cells} rated "
                    "translations have a score; its pairs without one are not compared"
                )
    return ["", *notes] if notes else []


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


def _latex(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, "\\" + sign)
    return text


def _rounded(value: float, width: int) -> float | None:
    known = or_none(value)
    return None if known is None else round(known, width) + 0.0
