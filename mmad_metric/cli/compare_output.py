"""How `mmad compare` prints: JSON and tables in sacreBLEU's manner, differing segments in full."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.cli.output import Style, span_lines, stability_line
from mmad_metric.cli.tables import Row, latex_table, text_table
from mmad_metric.cli.terminal import printable
from mmad_metric.comparison.outcome import Difference, Outcome, PairOutcome, SystemOutcome
from mmad_metric.layouts import NAME
from mmad_metric.repeats import RatedRow
from mmad_metric.signature import format_signature
from mmad_metric.stats import LEAST, Interval

TESTS = {
    "ar": "Paired approximate randomization test with {} trials",
    "bs": "Paired bootstrap resampling test with {} resampling trials",
}
SEVERITIES = ("critical", "major", "minor", "neutral")


@dataclass(frozen=True, slots=True)
class Report:
    """What is printed. signatures: of the systems by their place, None for mere scores; rows: by
    (place of the system, index) the segments that differ; width: decimals in text and LaTeX;
    short: short signature."""

    outcome: Outcome
    signatures: Sequence[Mapping[str, str] | None]
    rows: Mapping[tuple[int, int], RatedRow]
    width: int
    short: bool

    @property
    def style(self) -> Style:
        return Style(self.width, self.short)

    @property
    def signature_texts(self) -> list[str | None]:
        """Of each system; one, where it is that of all."""
        texts = [
            None if each is None else format_signature(each, short=self.short)
            for each in self.signatures
        ]
        return texts[:1] if len(set(texts)) == 1 else texts

    @property
    def signature_lines(self) -> list[str]:
        texts = self.signature_texts
        if len(texts) == 1:
            return [] if texts[0] is None else [f"{NAME}|{texts[0]}"]
        return [
            f"{printable(system.name)}: {NAME}|{text}"
            for system, text in zip(self.outcome.systems, texts, strict=True)
            if text is not None
        ]


# -- JSON


def json_report(report: Report) -> str:
    """An object; its `systems` are laid out as sacreBLEU's paired test lays them out. Strict
    JSON, numbers in full."""
    outcome = report.outcome
    settings = outcome.settings
    result: dict[str, Any] = {
        "name": NAME,
        "signature": report.signature_texts[0] if len(report.signature_texts) == 1 else None,
        "test": {
            "method": settings.method,
            "n": settings.n,
            "seed": settings.seed,
            "alpha": settings.alpha,
        },
        "n_segments": outcome.n_segments,
        "n_common": outcome.n_common,
        "baseline": outcome.systems[0].name,
        "systems": [
            _system_dict(system, is_baseline=place == 0)
            for place, system in enumerate(outcome.systems)
        ],
        "pairs": [_pair_dict(pair, outcome) for pair in outcome.pairs],
        "clusters": outcome.clusters,
    }
    if outcome.stability is not None:
        result["ranking_stability"] = outcome.stability.to_dict()
    if len(report.signature_texts) > 1:
        for system, text in zip(result["systems"], report.signature_texts, strict=True):
            system["signature"] = text
    result["segments"] = [_difference_dict(each, report) for each in outcome.differences]
    return json.dumps(result, indent=4, ensure_ascii=False, allow_nan=False)


def _system_dict(system: SystemOutcome, *, is_baseline: bool) -> dict[str, Any]:
    known = system.interval.known
    result: dict[str, Any] = {
        "system": f"Baseline: {system.name}" if is_baseline else system.name,
        NAME: {
            "score": system.score,
            "p_value": system.p_value,
            "mean": system.interval.mean if known else None,
            "ci": system.interval.half_width if known else None,
        },
        "name": system.name,
        "file": system.file,
        "low": system.interval.low if known else None,
        "high": system.interval.high if known else None,
        "n": system.n,
        "own_score": system.own_score,
        "n_scored": system.n_scored,
        "n_rated": system.n_asked,
        "rank": [system.standing.first, system.standing.last],
        "cluster": system.standing.cluster,
    }
    if system.noise is not None:
        result["noise_sd"] = system.noise
    if system.errors is not None:
        result["errors"] = system.errors
    return result


def _pair_dict(pair: PairOutcome, outcome: Outcome) -> dict[str, Any]:
    difference = pair.test.difference
    return {
        "baseline": outcome.systems[pair.baseline].name,
        "system": outcome.systems[pair.system].name,
        "n_common": pair.test.n_common,
        "difference": None if math.isnan(difference) else difference,
        "p_value": pair.test.p_value,
        "wins": pair.wins,
        "losses": pair.losses,
        "ties": pair.ties,
    }


def _difference_dict(difference: Difference, report: Report) -> dict[str, Any]:
    systems = report.outcome.systems
    result: dict[str, Any] = {
        "index": difference.index,
        "difference": difference.size,
        "scores": {
            system.name: score for system, score in zip(systems, difference.scores, strict=True)
        },
    }
    known = [
        (system.name, row)
        for place, system in enumerate(systems)
        if (row := report.rows.get((place, difference.index))) is not None
    ]
    if known:
        segment = known[0][1].segment
        result |= {"id": segment.id, "doc": segment.doc, "source": segment.source}
        result["translations"] = {
            name: {
                "translation": row.segment.translation,
                "spans": [error.to_dict() for error in row.errors],
            }
            for name, row in known
        }
    return result


# -- text and LaTeX


def text_report(report: Report) -> str:
    """Tables, clusters, then the segments that differ most."""
    outcome = report.outcome
    parts = [_heading(outcome), text_table(*_system_table(report))]
    parts += _without_interval(outcome)
    if outcome.pairs:
        parts += [text_table(*_pair_table(report)), _cluster_lines(outcome)]
    if outcome.stability is not None:
        parts.append(stability_line(outcome.stability))
    errors = _error_table(outcome)
    if errors is not None:
        parts.append(text_table(*errors))
    if outcome.differences:
        parts.append("Segments that differ most:")
        parts += [_difference_text(each, report) for each in outcome.differences]
    if report.signature_lines:
        parts.append("\n".join(report.signature_lines))
    return "\n\n".join(parts)


def _heading(outcome: Outcome) -> str:
    """Which test it is, and on how much."""
    test = TESTS[outcome.settings.method].format(outcome.settings.n)
    coverage = f"{outcome.n_common} of {outcome.n_segments} segments are scored for all systems"
    if not outcome.n_common:
        coverage += ", so that each score is over the system's own"
    return f"{test}, seed {outcome.settings.seed}; {coverage}"


def _without_interval(outcome: Outcome) -> list[str]:
    """Which systems have none, and why; no line where all have one."""
    without = [printable(each.name) for each in outcome.systems if not each.interval.known]
    if not without:
        return []
    what = "scored segments" if outcome.settings.n >= LEAST else "resamples (-n)"
    return [f"No interval for {', '.join(without)}: it takes at least {LEAST} {what}"]


def latex_report(report: Report) -> str:
    """The tables of the text; as comments what else it says of them, and the signature."""
    outcome = report.outcome
    tables, notes = [_system_table(report)], [_heading(outcome), *_without_interval(outcome)]
    if outcome.pairs:
        tables.append(_pair_table(report))
        notes += _cluster_lines(outcome).split("\n")
    if outcome.stability is not None:
        notes.append(stability_line(outcome.stability))
    errors = _error_table(outcome)
    if errors is not None:
        tables.append(errors)
    parts = [latex_table(*table) for table in tables]
    parts += ["\n".join(f"% {line}" for line in (*notes, *report.signature_lines))]
    return "\n\n".join(parts)


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "json": json_report,
    "text": text_report,
    "latex": latex_report,
}


def _system_table(report: Report) -> tuple[Row, Sequence[Row]]:
    outcome = report.outcome
    header = ["System", f"{NAME} (μ ± 95% CI)", "Over", "p", "Cluster", "Rank", "Scored"]
    repeated = any(system.noise is not None for system in outcome.systems)
    if repeated:
        header.append("Noise sd")
    rows = []
    for place, system in enumerate(outcome.systems):
        standing = system.standing
        row = [
            f"Baseline: {system.name}" if place == 0 else system.name,
            f"{report.style.number(system.score)}{_interval(system.interval, report.width)}",
            str(system.n),
            "" if system.p_value is None else _p_value(system.p_value, outcome.settings.alpha),
            str(standing.cluster),
            f"{standing.first}-{standing.last}",
            f"{system.n_scored}/{system.n_asked}",
        ]
        if repeated:
            row.append(report.style.number(system.noise))
        rows.append(row)
    return header, rows


def _interval(interval: Interval, width: int) -> str:
    if not interval.known:
        return ""
    return f" ({interval.mean + 0.0:.{width}f} ± {interval.half_width:.{width}f})"


def _p_value(p_value: float, alpha: float) -> str:
    return f"{p_value:.4f}{'*' if p_value < alpha else ''}"


def _pair_table(report: Report) -> tuple[Row, Sequence[Row]]:
    outcome = report.outcome
    rows = [
        [
            f"{outcome.systems[pair.system].name} - {outcome.systems[pair.baseline].name}",
            "None"
            if math.isnan(pair.test.difference)
            else f"{pair.test.difference:+.{report.width}f}",
            _p_value(pair.test.p_value, outcome.settings.alpha),
            str(pair.wins),
            str(pair.losses),
            str(pair.ties),
            str(pair.test.n_common),
        ]
        for pair in outcome.pairs
    ]
    return ["Pair", "Difference", "p", "Wins", "Losses", "Ties", "Segments"], rows


def _cluster_lines(outcome: Outcome) -> str:
    lines = [
        f"Clusters (each system is better than all of later ones, p < {outcome.settings.alpha:g}):"
    ]
    lines += [
        f"  {number}. {', '.join(map(printable, names))}"
        for number, names in enumerate(outcome.clusters, 1)
    ]
    return "\n".join(lines)


def _error_table(outcome: Outcome) -> tuple[Row, Sequence[Row]] | None:
    """Errors by dimension and severity, a column for each system; None where none is known."""
    known = [system for system in outcome.systems if system.errors is not None]
    kinds = {
        (dimension, severity)
        for system in known
        for dimension, counts in (system.errors or {}).items()
        for severity in counts
    }
    if not known:
        return None
    ordered = sorted(kinds, key=lambda kind: (kind[0], SEVERITIES.index(kind[1])))
    rows: list[Row] = [
        [
            f"{dimension} {severity}",
            *(str((each.errors or {}).get(dimension, {}).get(severity, 0)) for each in known),
        ]
        for dimension, severity in ordered
    ]
    rows.append(
        [
            "all errors",
            *(str(sum(sum(c.values()) for c in (e.errors or {}).values())) for e in known),
        ]
    )
    return ["Errors", *(system.name for system in known)], rows


def _difference_text(difference: Difference, report: Report) -> str:
    """A segment with the system that did best on it and the one that did worst."""
    systems, style = report.outcome.systems, report.style
    lines = [
        f"[{difference.index + 1}] "
        + ", ".join(
            f"{printable(system.name)} {style.number(score)}"
            for system, score in zip(systems, difference.scores, strict=True)
        )
    ]
    for place in (difference.best, difference.worst):
        row = report.rows.get((place, difference.index))
        if row is not None:
            shown = span_lines(row.as_rating(), style).split("\n")
            named = [f"  {printable(systems[place].name)} {style.number(row.score)}", *shown[1:]]
            lines += [named[0], *(f"  {line}" for line in named[1:])]
    return "\n".join(lines)
