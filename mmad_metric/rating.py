"""Segments and what rating them gives: debates, outcomes, ratings. Pure values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mmad_metric.chat import Usage
from mmad_metric.errors import Reason
from mmad_metric.mqm import Annotation, MQMError


@dataclass(frozen=True, slots=True)
class Segment:
    """One source and its translation by one system, texts exactly as given.

    system: the system's name ("" when there is just one); index: 0-based row within the
    system; id, doc: the user's own names, if any; repeat: which of several independent ratings
    of the row this is for, from 1; None where a row is rated once.
    """

    source: str
    translation: str
    system: str = ""
    index: int = 0
    id: str | None = None
    doc: str | None = None
    reference: str | None = None
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """A debater's stand after a turn: its argument and its annotations in full."""

    argument: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class DebateRound:
    """One round. `con` is None where the closing turn was not needed; `consistent` is None
    where nobody was asked and the two sets were not equal either."""

    pro: Position
    con: Position | None
    consistent: bool | None


@dataclass(frozen=True, slots=True)
class DimensionOutcome:
    """What one dimension found: the agent's opening, the debate if any, the outcome."""

    dimension: str
    opening: tuple[Annotation, ...]
    outcome: tuple[Annotation, ...]
    counter: tuple[Annotation, ...] | None = None  # con's opening; None: not disputed
    rounds: tuple[DebateRound, ...] = ()

    @property
    def disputed(self) -> bool:
        return self.counter is not None

    @property
    def agreed(self) -> bool:
        """Whether the debate ended in agreement."""
        return bool(self.rounds) and self.rounds[-1].consistent is True

    def to_dict(self) -> dict[str, Any]:
        def said(annotations: tuple[Annotation, ...]) -> list[dict[str, Any]]:
            return [annotation.to_reply() for annotation in annotations]

        def position(value: Position | None) -> dict[str, Any] | None:
            if value is None:
                return None
            return {"argument": value.argument, "annotations": said(value.annotations)}

        result: dict[str, Any] = {"opening": said(self.opening)}
        if self.counter is not None:
            result["counter"] = said(self.counter)
            result["rounds"] = [
                {
                    "pro": position(turn.pro),
                    "con": position(turn.con),
                    "consistent": turn.consistent,
                }
                for turn in self.rounds
            ]
            result["agreed"] = self.agreed
        result["outcome"] = said(self.outcome)
        return result


class Status(str, Enum):
    """What happened to a row."""

    SCORED = "scored"
    UNSCORED = "unscored"
    NOT_SAMPLED = "not_sampled"


@dataclass(frozen=True, slots=True)
class SegmentRating:
    """The result of one segment.

    score: <= 0, 0 is perfect, None unless `status` is scored; errors: placed and merged, in
    the judge's order; reason, detail: why it is unscored; flags: e.g. "empty_translation";
    usage: by role, as first paid; models: what the server says it served; levels, adapted:
    structured-output levels used and parameters the server made us change.
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

    def __post_init__(self) -> None:
        if (self.score is None) != (self.status is not Status.SCORED):
            raise ValueError(f"a {self.status.value} segment with score {self.score}")
        if self.score is not None and not (math.isfinite(self.score) and self.score <= 0):
            raise ValueError(f"a score is a finite number of at most 0, not {self.score}")
        if (self.reason is None) != (self.status is not Status.UNSCORED):
            raise ValueError("an unscored segment has a reason, any other has none")

    @property
    def total_usage(self) -> Usage:
        return sum(self.usage.values(), Usage())
