"""The results of all metrics side by side, printed together."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mmad_metric.cli.columns import Column
from mmad_metric.cli.overlap import Overlap
from mmad_metric.cli.printing import (
    json_several,
    json_single,
    print_lines,
    print_scores,
    print_table,
)
from mmad_metric.cli.test_sets import subsets_in_detail
from mmad_metric.files.inputs import Inputs

_NO_DETAIL = "No subset information found. Consider using --origlang argument."  # sacreBLEU's


@dataclass
class Part:
    """A part of the test set: its rows of the whole set; names and scores of each metric."""

    title: str
    rows: Sequence[int]
    scores: list[tuple[str, str]]


@dataclass
class Findings:
    """Results by the metric's key (BLEU, CHRF, MMAD, TER).

    single: the one system, laid out; columns: several systems; extra: what JSON tells of each
    system besides; below: lines that follow a table; parts: of -d.
    """

    single: dict[str, str] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    extra: Sequence[Mapping[str, Any]] | None = None
    below: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


def overlap_findings(options: argparse.Namespace, inputs: Inputs) -> Findings:
    """What sacreBLEU's metrics find; and with -d the parts of the test set. Raises InputError."""
    overlap = Overlap(options, inputs) if options.overlap else None
    if len(inputs.systems) > 1:
        return Findings(columns=overlap.columns() if overlap else {})
    found = Findings(single=overlap.single() if overlap else {})
    if options.detail:
        for title, rows in subsets_in_detail(options, inputs.n_whole):
            found.parts.append(Part(title, rows, overlap.on_rows(rows) if overlap else []))
    return found


def print_sentences(options: argparse.Namespace, inputs: Inputs) -> None:
    for line in Overlap(options, inputs).sentences():
        print(line)


def print_findings(
    options: argparse.Namespace,
    inputs: Inputs,
    found: Findings,
    segments: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """The whole result on stdout. segments: what --show-spans adds to JSON."""
    names = [each.label for each in inputs.systems]
    if len(names) > 1 and options.score_only and options.rates:
        print_scores(options, [each.name for each in inputs.systems], found.columns)
    elif options.format == "json":
        several = json_several(options, names, found.columns, found.extra)
        text = several if len(names) > 1 else json_single(found.single)
        if segments is not None and not options.score_only:
            whole = {"systems": json.loads(text), "segments": segments}
            text = json.dumps(whole, indent=1, ensure_ascii=False)
        print(text)
    elif len(names) > 1:
        print_table(options, names, found.columns)
        for line in found.below:
            print(f"\n{line}")
    else:
        print_lines(options, found.single)
    if options.detail and len(names) == 1:
        _print_parts(found.parts)


def _print_parts(parts: Sequence[Part]) -> None:
    if not parts:
        print(_NO_DETAIL)
        return
    widest = max(len(part.title) for part in parts) + 1
    names = max(len(name) for part in parts for name, _ in part.scores)
    for part in parts:
        for name, score in part.scores:
            print(
                f"{part.title:<{widest}}: sentences={len(part.rows):<6} {name:<{names}} = {score}"
            )
