"""Segments and what rating them gives: debates, outcomes, ratings. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mmad_metric.chat import Usage
from mmad_metric.errors import Reason
from mmad_metric.material import NO_MATERIAL, Material
from mmad_metric.mqm import Annotation, MQMError
from mmad_metric.scales import Scale


@dataclass(frozen=True, slots=True)
class Segment:
    """One source and its translation by one system, texts exactly as given.

    system: the system's name ("" when there is just one); index: 0-based row within the
    system; id, doc: the user's own names, if any; repeat: which of several independent ratings
    of the row this is for, from 1; None where a row is rated once; material: what is shown
    beside the texts.
    """

    source: str
    translation: str
    system: str = ""
    index: int = 0
    id: str | None = None
    doc: str | None = None
    reference: str | None = None
    repeat: int | None = None
    material: Material = NO_MATERIAL


@dataclass(frozen=True, slots=True)
class Position:
    """A debater's stand after a turn: its argument and its annotations in full."""

    argument: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class DebateRound:
    """One round. `con` is None where its turn was not needed; `consistent` is None where nobody
    was asked and the two sets were not equal either.

    questions: what an interrogator put to pro and to con, "" where nothing; answers: what they
    said to it after their turns (with strategy `consultancy-review` `pro` and `con` are the
    answers themselves).
    """

    pro: Position
    con: Position | None
    consistent: bool | None
    questions: tuple[str, str] = ("", "")
    answers: tuple[Position | None, Position | None] = (None, None)


@dataclass(frozen=True, slots=True)
class DimensionOutcome:
    """What one dimension found: the agent's opening, the debate if any, the outcome.

    verdict: the words of whoever decided the debate, None where the sides themselves did.
    Without stage 1 there is one "dimension", named as `packs.COUPLED`.
    """

    dimension: str
    opening: tuple[Annotation, ...]
    outcome: tuple[Annotation, ...]
    counter: tuple[Annotation, ...] | None = None  # con's opening; None: not disputed
    rounds: tuple[DebateRound, ...] = ()
    verdict: str | None = None

    @property
    def disputed(self) -> bool:
        return self.counter is not None

    @property
    def agreed(self) -> bool:
        """Whether the debate ended in agreement."""
        return bool(self.rounds) and self.rounds[-1].consistent is True

    def to_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"opening": _said(self.opening)}
        if self.counter is not None:
            result["counter"] = _said(self.counter)
            result["rounds"] = [_round_dict(turn) for turn in self.rounds]
            result["agreed"] = self.agreed
        if self.verdict is not None:
            result["verdict"] = self.verdict
        result["outcome"] = _said(self.outcome)
        return result


def _said(annotations: tuple[Annotation, ...]) -> list[dict[str, Any]]:
    return [annotation.to_reply() for annotation in annotations]


def _position_dict(value: Position | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"argument": value.argument, "annotations": _said(value.annotations)}


def _round_dict(turn: DebateRound) -> dict[str, Any]:
    """What strategy `consensus` never has is left out where it is empty."""
    result: dict[str, Any] = {
        "pro": _position_dict(turn.pro),
        "con": _position_dict(turn.con),
        "consistent": turn.consistent,
    }
    if any(turn.questions):
        result["questions"] = dict(zip(("pro", "con"), turn.questions, strict=True))
    if any(turn.answers):
        result["answers"] = {
            side: _position_dict(answer)
            for side, answer in zip(("pro", "con"), turn.answers, strict=True)
        }
    return result


class Status(str, Enum):
    """What happened to a row."""

    SCORED = "scored"
    UNSCORED = "unscored"
    NOT_SAMPLED = "not_sampled"


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """How many errors of each severity an agent counts, none of them negative."""

    major: int
    minor: int

    def __post_init__(self) -> None:
        if self.major < 0 or self.minor < 0:
            raise ValueError(f"{self.major} major and {self.minor} minor errors are no counts")

    def to_dict(self) -> dict[str, int]:
        return {"major": self.major, "minor": self.minor}


@dataclass(frozen=True, slots=True)
class SegmentRating:
    """The result of one segment.

    score: a number on `scale`, None unless `status` is scored; errors: placed and merged, in
    the judge's order; reason, detail: why it is unscored; flags: what else there is to say,
    "empty_translation" or "quotes_context"; usage: by role, as first paid; models: what the
    server says it served; levels, adapted: structured-output levels used and parameters the
    server made us change; counts: what the score was made of, where an agent counted the errors.
    """

    segment: Segment
    status: Status
    score: float | None = None
    errors: tuple[MQMError, ...] = ()
    reason: Reason | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()
    outcomes: tuple[DimensionOutcome, ...] = ()
    analysis: str = ""
    usage: Mapping[str, Usage] = field(default_factory=dict, hash=False)
    models: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    adapted: tuple[str, ...] = ()
    scale: Scale = Scale.PENALTY
    counts: ErrorCounts | None = None

    def __post_init__(self) -> None:
        if (self.score is None) != (self.status is not Status.SCORED):
            raise ValueError(f"a {self.status.value} segment with score {self.score}")
        if self.score is not None and not self.scale.holds(self.score):
            raise ValueError(f"a score is a finite number {self.scale.range}, not {self.score}")
        if self.errors and not self.scale.has_errors:
            raise ValueError(f"errors beside a score {self.scale.range}")
        if (self.reason is None) != (self.status is not Status.UNSCORED):
            raise ValueError("an unscored segment has a reason, any other has none")

    @property
    def total_usage(self) -> Usage:
        return sum(self.usage.values(), Usage())
