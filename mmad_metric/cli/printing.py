"""System scores on stdout, in sacreBLEU's layouts for one and for several systems."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from mmad_metric.cli.columns import Cell, Column
from mmad_metric.cli.resampling import PairedTest
from mmad_metric.cli.terminal import printable
from mmad_metric.layouts import number

_CYAN, _PLAIN = "\x1b[36m", "\x1b[39m\x1b[0m"
_SIGNIFICANT = 0.05


def wants_color(options: argparse.Namespace) -> bool:
    """Colours are for a terminal whose owner has nothing against them."""
    refused = options.no_color or os.environ.get("NO_COLOR")
    return not refused and options.format == "text" and sys.stdout.isatty()


def json_single(results: Mapping[str, str]) -> str:
    """One system. results: by the metric's key, which decides on the order; each is JSON."""
    texts = [results[key] for key in sorted(results)]
    if len(texts) <= 1:
        return "".join(texts)
    # With -b there are bare scores here, of which None is no JSON.
    return "[\n" + ",\n".join("null" if text == "None" else text for text in texts) + "\n]"


def print_lines(options: argparse.Namespace, results: Mapping[str, str]) -> None:
    """One system, a line a metric, aligned at the score."""
    texts = [results[key] for key in sorted(results)]
    # A signature has no space, so that the first " = " is the one before the score.
    ends = [max(text.find(" = "), 0) for text in texts if not options.score_only]
    for text in texts:
        end = 0 if options.score_only else max(text.find(" = "), 0)
        print(f"{text[:end]:>{max(ends, default=0)}}{_highlighted(options, text[end:])}")


def _highlighted(options: argparse.Namespace, text: str) -> str:
    """The interval in colour."""
    start = text.find("(μ = ")
    end = text.find(")", start) + 1
    if start < 0 or not wants_color(options):
        return text
    return f"{text[:start]}{_CYAN}{text[start:end]}{_PLAIN}{text[end:]}"


def json_several(
    options: argparse.Namespace,
    names: Sequence[str],
    columns: Mapping[str, Column],
    extra: Sequence[Mapping[str, Any]] | None,
) -> str:
    """Several systems: a list of objects. extra: what each of them tells besides."""
    tested = PairedTest.asked(options) is not None
    shown = _labels(options, names)
    return json.dumps(_rows(shown, _ordered(options, columns), extra, paired=tested), indent=4)


def _labels(options: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """The systems as a table names them: in a test the first is the baseline."""
    named_by_place = options.systems is None and options.names is None
    if PairedTest.asked(options) is None or named_by_place:
        return list(names)
    return [f"Baseline: {names[0]}", *names[1:]]


def _ordered(options: argparse.Namespace, columns: Mapping[str, Column]) -> list[Column]:
    """SacreBLEU sorts the metrics, but for a test, where they stand as they were asked for."""
    asked = [name.upper() for name in dict.fromkeys(options.metrics)]
    return [columns[key] for key in (sorted(columns) if not PairedTest.asked(options) else asked)]


def _rows(
    names: Sequence[str],
    columns: Sequence[Column],
    extra: Sequence[Mapping[str, Any]] | None,
    *,
    paired: bool,
) -> list[dict[str, Any]]:
    def value(column: Column, cell: Cell) -> Any:
        if paired:
            return cell.to_dict()
        return None if cell.score is None else number(cell.score, column.width)

    return [
        {
            "system": name,
            **{column.name: value(column, column.cells[row]) for column in columns},
            **(extra[row] if extra else {}),
        }
        for row, name in enumerate(names)
    ]


def print_scores(
    options: argparse.Namespace, names: Sequence[str], columns: Mapping[str, Column]
) -> None:
    """-b for several systems: a line each, its name and its bare scores."""
    ordered = _ordered(options, columns)
    for row, name in enumerate(names):
        scores = (number(each.cells[row].score, each.width) for each in ordered)
        print("\t".join([printable(name), *scores]))


def print_table(
    options: argparse.Namespace, names: Sequence[str], columns: Mapping[str, Column]
) -> None:
    """Several systems. sacreBLEU prints the table, from cells that are made here: for scores of
    any sign, and widths of their own."""
    from sacrebleu.utils import Color, print_results_table

    test, ordered = PairedTest.asked(options), _ordered(options, columns)
    shown = [printable(name) for name in _labels(options, names)]
    table: dict[str, list[str]] = {"System": shown}
    kept, Color.ENABLE_COLORS = Color.ENABLE_COLORS, wants_color(options)
    try:
        for column in ordered:
            resampled = any(cell.mean is not None for cell in column.cells)
            title = f"{column.name} (μ ± 95% CI)" if resampled else column.name
            table[title] = [_cell_text(options, column, cell) for cell in column.cells]
            table |= {name: list(texts) for name, texts in column.beside.items()}
        trials = test.trials if test else 0
        theirs = argparse.Namespace(
            format=options.format,
            width=min(column.width for column in ordered),
            paired_bs=options.paired_bs,
            paired_ar=options.paired_ar,
            paired_bs_n=trials,
            paired_ar_n=trials,
        )
        print_results_table(table, {each.name: each.signature for each in ordered}, theirs)
    finally:
        Color.ENABLE_COLORS = kept


def _cell_text(options: argparse.Namespace, column: Column, cell: Cell) -> str:
    from sacrebleu.utils import Color

    text = number(cell.score, column.width)
    if cell.mean is not None and cell.half is not None:
        text += f" ({number(cell.mean, column.width)} ± {number(cell.half, column.width)})"
    text = f"{text} {cell.beside}".rstrip()
    if cell.p_value is None:
        return text
    p_value = f"(p = {cell.p_value:.4f})"
    if cell.p_value > _SIGNIFICANT:
        p_value = str(Color.format(p_value, "red"))
    else:
        p_value += "*"
    return f"{text}{' ' if options.format == 'latex' else chr(10)}{p_value}"
