"""How each final error came to be: who raised it, whether it was disputed, who keeps it. Pure.

An agent's annotation is about a final error when it marks the same place (side and offsets after
placing); where it marks no such place, an overlapping one with the same dimension counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from mmad_metric.mqm import Annotation, Category, MQMError, Provenance, Severity
from mmad_metric.rating import DimensionOutcome, Position
from mmad_metric.spans import place

Version = tuple[Category, Severity]
# Who may have raised an error: the judge, or one of the others, with a dimension (`pro.style`).
RAISING = ("annotate", "pro", "con", "verdict", "judge")


def trace(
    errors: Sequence[MQMError],
    outcomes: Sequence[DimensionOutcome],
    texts: tuple[str, str],
    *,
    judged: bool,
) -> tuple[MQMError, ...]:
    """The final errors with their provenance; texts: the segment's (source, translation);
    judged: whether a judge was asked for them."""
    room = _Placer(texts)
    return tuple(
        replace(error, provenance=_provenance(error, outcomes, room, judged=judged))
        for error in errors
    )


@dataclass
class _Placer:
    """Places each list of annotations once, and looks once for an error in it. Keys are ids:
    the outcomes hold the lists as long as this lives, and hashing them would take longest."""

    texts: tuple[str, str]
    placed: dict[int, list[MQMError]] = field(default_factory=dict)
    found: dict[tuple[int, int], set[Version]] = field(default_factory=dict)

    def versions(self, annotations: tuple[Annotation, ...], error: MQMError) -> set[Version]:
        """What a list says about an error: category and severity, more than one if it marks the
        place twice; empty where it does not mention it."""
        if not annotations:
            return set()
        key = (id(annotations), id(error))
        if key not in self.found:
            self.found[key] = self._find(annotations, error)
        return self.found[key]

    def _find(self, annotations: tuple[Annotation, ...], error: MQMError) -> set[Version]:
        if id(annotations) not in self.placed:
            self.placed[id(annotations)] = list(place(annotations, *self.texts))
        placed = self.placed[id(annotations)]
        about = [each for each in placed if _same_place(each, error)]
        about = about or [each for each in placed if _overlap(each, error)]
        return {(each.category, each.severity) for each in about}


def _same_place(one: MQMError, other: MQMError) -> bool:
    if one.category.is_non_translation or other.category.is_non_translation:
        return one.category == other.category
    if one.start is None or other.start is None:
        return one.start == other.start and (one.side, _words(one)) == (other.side, _words(other))
    return (one.side, one.start, one.end) == (other.side, other.start, other.end)


def _words(error: MQMError) -> str:
    return " ".join((error.quoted or error.text).casefold().split())


def _overlap(one: MQMError, other: MQMError) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    if one.category.dimension != other.category.dimension or one.side is not other.side:
        return False
    return one.start < other.end and other.start < one.end


@dataclass(frozen=True, slots=True)
class _Agent:
    """Somebody who was asked. said: its lists in order, the last one its last word."""

    name: str
    said: tuple[tuple[Annotation, ...], ...]


def _agents(outcome: DimensionOutcome) -> Iterator[_Agent]:
    """Whoever made a call about a dimension and listed errors, in the order of speaking."""
    name = outcome.dimension
    yield _Agent(f"annotate.{name}", (outcome.opening,))
    for side, stands in zip(("pro", "con"), _stands(outcome), strict=True):
        if stands:
            yield _Agent(f"{side}.{name}", tuple(stand.annotations for stand in stands))
    if outcome.verdict is not None:
        yield _Agent(f"verdict.{name}", (outcome.outcome,))


def _stands(outcome: DimensionOutcome) -> tuple[list[Position], list[Position]]:
    """What pro and con said when they were asked, openings aside."""
    pro: list[Position | None] = []
    con: list[Position | None] = []
    for turn in outcome.rounds:
        # Questioned alone, a side that was asked nothing has its stand repeated.
        alone = any(turn.questions) and not any(turn.answers)
        pro += [None if alone and not turn.questions[0] else turn.pro, turn.answers[0]]
        con += [turn.con, turn.answers[1]]
    return [each for each in pro if each], [each for each in con if each]


def _provenance(
    error: MQMError, outcomes: Sequence[DimensionOutcome], room: _Placer, *, judged: bool
) -> Provenance:
    raised = {
        outcome.dimension: [
            agent.name
            for agent in _agents(outcome)
            if any(room.versions(said, error) for said in agent.said)
        ]
        for outcome in outcomes
    }
    concerned = [outcome for outcome in outcomes if raised[outcome.dimension]]
    # The first to name it has raised it; who came later spoke about what was there.
    raised_by = [raised[outcome.dimension][0] for outcome in concerned]
    asked = list(chain.from_iterable(map(_agents, concerned or _responsible(error, outcomes))))
    final = {(error.category, error.severity)}
    keeping = sum(final <= room.versions(agent.said[-1], error) for agent in asked)
    return Provenance(
        raised_by=tuple(raised_by) or ("judge",),
        disputed=any(_is_disputed(error, outcome, room) for outcome in concerned),
        rounds=max((len(outcome.rounds) for outcome in concerned), default=0),
        yielded=tuple(chain.from_iterable(_yielded(error, each, room) for each in concerned)),
        judge=_judge(error, outcomes, room) if judged else None,
        support=keeping + judged,
        asked=len(asked) + judged,
    )


def _responsible(
    error: MQMError, outcomes: Sequence[DimensionOutcome]
) -> Sequence[DimensionOutcome]:
    """Whose agents could have raised what nobody but the judge did: those of its dimension."""
    own = [each for each in outcomes if each.dimension == error.category.dimension]
    return own or outcomes


def _is_disputed(error: MQMError, outcome: DimensionOutcome, room: _Placer) -> bool:
    """Whether the openings differ on it. What only came up in the debate was not opened with."""
    if outcome.counter is None:
        return False
    return room.versions(outcome.opening, error) != room.versions(outcome.counter, error)


def _yielded(error: MQMError, outcome: DimensionOutcome, room: _Placer) -> Iterator[str]:
    """Sides that opened otherwise and ended where the other one stands, or had begun."""
    if not _is_disputed(error, outcome, room) or outcome.counter is None:
        return
    opened = room.versions(outcome.opening, error)
    opposed = room.versions(outcome.counter, error)
    pro, con = _stands(outcome)
    last_pro = room.versions(pro[-1].annotations, error) if pro else opened
    last_con = room.versions(con[-1].annotations, error) if con else opposed
    if last_pro != opened and last_pro in (opposed, last_con):
        yield f"pro.{outcome.dimension}"
    if last_con == opened:
        yield f"con.{outcome.dimension}"


def _judge(error: MQMError, outcomes: Sequence[DimensionOutcome], room: _Placer) -> str:
    """What the judge did to what the dimensions handed on."""
    handed = set().union(*(room.versions(outcome.outcome, error) for outcome in outcomes))
    if not handed:
        return "added"
    return "kept" if (error.category, error.severity) in handed else "changed"
