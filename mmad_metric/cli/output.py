"""What the command line prints of MMAD: system scores with their coverage, segments, spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.cli.terminal import printable
from mmad_metric.layouts import NAME, number
from mmad_metric.mqm import MQMError, Provenance, Side
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import Stability
from mmad_metric.results import SystemTotals


@dataclass(frozen=True, slots=True)
class Style:
    """How to print. width: decimals; short: short signature."""

    width: int
    short: bool = False

    def number(self, score: float | None) -> str:
        return number(score, self.width)


def stability_line(stability: Stability) -> str:
    """How far the repeats agree on the order of the systems."""
    return (
        f"{stability.same_ranking} of {stability.repeats} repeats rank the systems as their mean "
        f"does; {stability.pairs_kept:.1%} of all pairs stand as in the mean"
    )


def details(totals: SystemTotals) -> dict[str, Any]:
    """Counts, reasons, errors by dimension and usage, for JSON."""
    known = totals.to_dict()
    return {key: value for key, value in known.items() if key not in ("system", "score")}


def counts_beside(systems: Sequence[SystemTotals]) -> dict[str, tuple[str, ...]]:
    """The columns that a table of several systems has beside the scores; none without errors."""
    if not all(each.scale.has_errors for each in systems):
        return {}
    titles = {"Major": "n_major", "Minor": "n_minor", "Non-translation": "n_non_translation"}
    return {
        title: tuple(str(each.errors[key]) for each in systems) for title, key in titles.items()
    }


def segment_line(rating: SegmentRating, style: Style, *, bare: bool, named: bool) -> str:
    """A segment in one line. bare: the score alone; named: the system's name first."""
    prefix = f"{printable(rating.segment.system)}\t" if named else ""
    score = style.number(rating.score)
    if bare:
        return prefix + score
    if rating.status is Status.NOT_SAMPLED:
        return f"{prefix}{NAME} = {score} (not_sampled)"
    if rating.reason is not None:
        return f"{prefix}{NAME} = {score} ({rating.reason.value})"
    if not rating.scale.has_errors:
        return f"{prefix}{NAME} = {score}"
    errors = "; ".join(f"{error.category} {error.severity.value}" for error in rating.errors)
    return f"{prefix}{NAME} = {score} {errors or 'no error'}"


def span_lines(rating: SegmentRating, style: Style) -> str:
    """A segment for a person: texts, score, each error with its place."""
    segment = rating.segment
    name = f"{printable(segment.system)}:" if segment.system else ""
    repeat = f", repeat {segment.repeat}" if segment.repeat else ""
    lines = [
        f"[{name}{segment.index + 1}{repeat}] {style.number(rating.score)}",
        f"  source:      {printable(segment.source)}",
        f"  translation: {printable(segment.translation)}",
    ]
    if rating.reason is not None:
        lines.append(f"  unscored: {rating.reason.value} {printable(rating.detail)}".rstrip())
    lines += [f"  {_error(error)}" for error in rating.errors]
    if rating.counts is not None:
        lines.append(f"  counted: {rating.counts.major} major, {rating.counts.minor} minor")
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
        **({"counts": rating.counts.to_dict()} if rating.counts else {}),
        "spans": [error.to_dict() for error in rating.errors],
    }
