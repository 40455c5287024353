"""Debates as they are read: who spoke, in what order, and where a stand changed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mmad_metric.mqm import Annotation
from mmad_metric.rating import DebateRound, DimensionOutcome, Position

SIDES = ("pro", "con")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said. to: the side that a question is put to, "" elsewhere; annotations: None
    for a question; unchanged: whether they are what this side last said."""

    speaker: str
    words: str
    to: str = ""
    annotations: tuple[Annotation, ...] | None = None
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """A round's turns in the order of speaking. consistent: see `rating.DebateRound`."""

    number: int
    turns: tuple[Turn, ...]
    consistent: bool | None


def rounds_of(outcome: DimensionOutcome) -> list[Round]:
    """The rounds of a dimension's debate; [] where there was none."""
    stands = {"pro": outcome.opening, "con": outcome.counter}
    rounds = []
    for number, debated in enumerate(outcome.rounds, 1):
        turns = []
        for turn in _turns(debated):
            if turn.annotations is None:
                turns.append(turn)
                continue
            same = turn.annotations == stands[turn.speaker]
            turns.append(replace(turn, unchanged=same))
            stands[turn.speaker] = turn.annotations
        rounds.append(Round(number, tuple(turns), debated.consistent))
    return rounds


def _turns(debated: DebateRound) -> Iterator[Turn]:
    """Where nobody answers besides, the sides' own turns are the answers to the questions, and a
    side that was asked nothing has not spoken."""
    stands = zip(SIDES, (debated.pro, debated.con), strict=True)
    if any(debated.questions) and not any(debated.answers):
        for (side, stand), question in zip(stands, debated.questions, strict=True):
            if question:
                yield Turn("interrogator", question, side)
                yield from _spoken(side, stand)
        return
    for side, stand in stands:
        yield from _spoken(side, stand)
    for side, question, answer in zip(SIDES, debated.questions, debated.answers, strict=True):
        if question:
            yield Turn("interrogator", question, side)
        yield from _spoken(side, answer)


def _spoken(side: str, stand: Position | None) -> Iterator[Turn]:
    if stand is not None:
        yield Turn(side, stand.argument, "", stand.annotations)
