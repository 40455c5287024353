"""What the command line prints: system scores as sacreBLEU lays them out, segments, spans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.cli.terminal import printable
from mmad_metric.mqm import MQMError, Provenance, Side
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import Stability
from mmad_metric.results import SystemTotals
from mmad_metric.signature import format_signature

NAME = "MMAD"


@dataclass(frozen=True, slots=True)
class Style:
    """How to print. width: decimals; short: short signature."""

    width: int
    short: bool = False

    def number(self, score: float | None) -> str:
        """A score for people; "None" where there is none, as mt-metrics-eval writes it."""
        return "None" if score is None else f"{score + 0.0:.{self.width}f}"


def coverage(totals: SystemTotals) -> str:
    """How many rows a mean stands on, e.g. "57/60 scored (3 unreadable_reply)"."""
    text = f"{totals.n_scored}/{totals.n_rated} scored"
    if totals.reasons:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(totals.reasons.items()))
        text += f" ({listed})"
    if totals.n_not_sampled:
        text += f", {totals.n_not_sampled} not sampled"
    return text


def verbose_score(totals: SystemTotals) -> str:
    """Coverage and error counts in one line."""
    errors = totals.errors
    return (
        f"{coverage(totals)}{_repeats(totals)}, {errors['n_major']} major, "
        f"{errors['n_minor']} minor, {errors['n_non_translation']} non-translation"
    )


def _repeats(totals: SystemTotals) -> str:
    """How often segments were rated, and how far the judge agrees with itself."""
    if totals.repeats == 1:
        return ""
    noise = "" if totals.noise is None else f", noise sd {totals.noise:.2f}"
    ratings = f"{totals.n_ratings_scored}/{totals.n_ratings} ratings"
    return f", {totals.repeats} repeats ({ratings} scored{noise}); in all repeats"


def stability_line(stability: Stability) -> str:
    """How far the repeats agree on the order of the systems."""
    return (
        f"{stability.same_ranking} of {stability.repeats} repeats rank the systems as their mean "
        f"does; {stability.pairs_kept:.1%} of all pairs stand as in the mean"
    )


def json_output(systems: Sequence[SystemTotals], signature: Mapping[str, str], style: Style) -> str:
    """One system: an object; several: a list of objects. Strict JSON; scores rounded."""
    if len(systems) == 1:
        return json.dumps(_one_system(systems[0], signature, style), indent=1, ensure_ascii=False)
    rows = [
        {
            "system": each.name,
            NAME: style.number(each.score),
            **_details(each),
            "signature": format_signature(signature, short=style.short),
        }
        for each in systems
    ]
    return json.dumps(rows, indent=4, ensure_ascii=False)


def _one_system(totals: SystemTotals, signature: Mapping[str, str], style: Style) -> dict[str, Any]:
    score = totals.score
    return {
        "name": NAME,
        "score": None if score is None else round(score, style.width) + 0.0,
        "signature": format_signature(signature, short=style.short),
        "verbose_score": verbose_score(totals),
        **_details(totals),
        **signature,
    }


def _details(totals: SystemTotals) -> dict[str, Any]:
    known = totals.to_dict()
    return {key: value for key, value in known.items() if key not in ("system", "score")}


def text_output(systems: Sequence[SystemTotals], signature: Mapping[str, str], style: Style) -> str:
    """One system: a line; several: a table and the signature."""
    shown = format_signature(signature, short=style.short)
    if len(systems) == 1:
        only = systems[0]
        return f"{NAME}|{shown} = {style.number(only.score)} {verbose_score(only)}"
    rows = [("System", NAME, "Segments")]
    rows += [(each.name, style.number(each.score), verbose_score(each)) for each in systems]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:<{widths[0]}}  {score:>{widths[1]}}  {detail}" for name, score, detail in rows]
    return "\n".join([*lines, "", f"{NAME}|{shown}"])


def segment_line(rating: SegmentRating, style: Style, *, bare: bool, named: bool) -> str:
    """A segment in one line. bare: the score alone; named: the system's name first."""
    prefix = f"{rating.segment.system}\t" if named else ""
    score = style.number(rating.score)
    if bare:
        return prefix + score
    if rating.status is Status.NOT_SAMPLED:
        return f"{prefix}{NAME} = {score} (not_sampled)"
    if rating.reason is not None:
        return f"{prefix}{NAME} = {score} ({rating.reason.value})"
    errors = "; ".join(f"{error.category} {error.severity.value}" for error in rating.errors)
    return f"{prefix}{NAME} = {score} {errors or 'no error'}"


def span_lines(rating: SegmentRating, style: Style) -> str:
    """A segment for a person: texts, score, each error with its place."""
    segment = rating.segment
    name = f"{segment.system}:" if segment.system else ""
    repeat = f", repeat {segment.repeat}" if segment.repeat else ""
    lines = [
        f"[{name}{segment.index + 1}{repeat}] {style.number(rating.score)}",
        f"  source:      {printable(segment.source)}",
        f"  translation: {printable(segment.translation)}",
    ]
    if rating.reason is not None:
        lines.append(f"  unscored: {rating.reason.value} {printable(rating.detail)}".rstrip())
    lines += [f"  {_error(error)}" for error in rating.errors]
    return "\n".join(lines)


def _error(error: MQMError) -> str:
    place = "not found in the text"
    if error.start is not None:
        where = "source " if error.side is Side.SOURCE else ""
        place = f"{where}{error.start}..{error.end}"
    shown = f"{error.severity.value:<8} {error.category}: “{printable(error.text)}” ({place})"
    return shown if error.provenance is None else f"{shown} [{_history(error.provenance)}]"


def _history(known: Provenance) -> str:
    """How an error came to be, e.g. "3/4 agents; disputed, 2 rounds; judge kept"."""
    parts = [f"{known.support}/{known.asked} agents"]
    if known.disputed:
        yielded = "".join(f", {name} yielded" for name in known.yielded)
        plural = "" if known.rounds == 1 else "s"
        parts.append(f"disputed, {known.rounds} round{plural}{yielded}")
    if known.judge is not None:
        parts.append(f"judge {known.judge}")
    return "; ".join(parts)


def segment_dict(rating: SegmentRating) -> dict[str, Any]:
    """A segment for --show-spans in JSON."""
    return {
        "system": rating.segment.system,
        "index": rating.segment.index,
        **({"repeat": rating.segment.repeat} if rating.segment.repeat else {}),
        "score": rating.score,
        "reason": rating.reason.value if rating.reason else None,
        "spans": [error.to_dict() for error in rating.errors],
    }
