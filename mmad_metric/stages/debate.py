"""Stage 2, debate inside a dimension: pro stands for the first result, con opposes it.

With strategy `consensus` a debate over R rounds makes at most 3R - 2 calls: three a round
(pro, con, consensus check), without con's turn and the check in the last one, where pro's
annotations stand either way. Two equal sets agree without a check, so a debate that agrees in
round r < R costs 3r calls, or 3r - 1 when the sets became equal. `full_debate` makes the two
closing calls too: at most 3R.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mmad_metric.chat import Message
from mmad_metric.config import MMADConfig
from mmad_metric.mqm import Annotation, Severity
from mmad_metric.packs import Dimension
from mmad_metric.rating import DebateRound, DimensionOutcome, Position
from mmad_metric.replies.shapes import CONSENSUS_CHECK, debate_turn
from mmad_metric.stages.context import StageContext, side_by_side
from mmad_metric.templates import Side, position_reply


def is_disputed(annotations: Sequence[Annotation], dispute: str) -> bool:
    """Whether a first result can be debated on severity.

    dispute "major": it holds a major (or critical) error or non-translation; "any": any error.
    """
    if dispute == "any":
        return bool(annotations)
    return any(each.severity.is_severe or each.category.is_non_translation for each in annotations)


def counter_position(annotations: Sequence[Annotation]) -> tuple[Annotation, ...]:
    """Con's opening: every major made minor, the severity alone; no non-translation.

    Where nothing is severe (dispute "any") the errors are opposed as no errors at all.
    """
    if any(each.category.is_non_translation for each in annotations):
        return ()
    if not any(each.severity.is_severe for each in annotations):
        return ()
    return tuple(
        replace(each, severity=Severity.MINOR) if each.severity.is_severe else each
        for each in annotations
    )


def same_annotations(one: Sequence[Annotation], other: Sequence[Annotation]) -> bool:
    """Equal as sets with repetition: quoted words (Unicode form, case and blanks aside),
    category, severity and side."""
    return Counter(map(_signature, one)) == Counter(map(_signature, other))


def _signature(annotation: Annotation) -> tuple[str, str, Severity, bool]:
    words = " ".join(unicodedata.normalize("NFC", annotation.span).casefold().split())
    label = annotation.to_reply()["category"]
    return words, label, annotation.severity, annotation.is_source_error


@dataclass
class _Debater:
    """One side: its chat so far, beginning with its opening, and where it stands."""

    role: str
    chat: tuple[Message, ...]
    position: Position

    async def turn(
        self, context: StageContext, dimension: Dimension, opponent: Position, number: int
    ) -> Position:
        """See the other's position, answer, stand somewhere. One call."""
        rounds = context.config.rounds
        asked = (*self.chat, context.prompts.debate_turn(opponent, number, rounds))
        self.position = await context.ask(self.role, asked, debate_turn(dimension.name))
        self.chat = (*asked, Message("assistant", position_reply(self.position)))
        return self.position


async def debate(
    context: StageContext, dimension: Dimension, opening: tuple[Annotation, ...]
) -> DimensionOutcome:
    """The outcome of one dimension. An undisputed one keeps its opening and costs no call."""
    config = context.config
    if not config.debates() or not is_disputed(opening, config.dispute):
        return DimensionOutcome(dimension.name, opening, opening)
    counter = counter_position(opening)
    words = context.prompts.pack.openings
    pro = _debater(context, dimension, "pro", Position(words["pro"], opening))
    con = _debater(context, dimension, "con", Position(words[_counter_words(opening)], counter))
    rounds: list[DebateRound] = []
    for number in range(1, config.rounds + 1):
        turn = await _round(context, dimension, (pro, con), number)
        rounds.append(turn)
        if turn.consistent:
            break
    outcome = rounds[-1].pro.annotations
    return DimensionOutcome(dimension.name, opening, outcome, counter, tuple(rounds))


def _counter_words(opening: Sequence[Annotation]) -> str:
    """Which of the pack's openings goes with `counter_position`."""
    if any(each.category.is_non_translation for each in opening):
        return "con_non_translation"
    return "con" if any(each.severity.is_severe for each in opening) else "con_no_error"


def _debater(context: StageContext, dimension: Dimension, role: str, opening: Position) -> _Debater:
    side = Side(role, context.config.dispute)
    chat = context.prompts.debate_start(dimension, side, context.texts, opening)
    return _Debater(role, chat, opening)


def _is_closing(config: MMADConfig, number: int) -> bool:
    """In the last round nothing after pro's turn can change the outcome."""
    return number == config.rounds and not config.full_debate


async def _round(
    context: StageContext, dimension: Dimension, sides: tuple[_Debater, _Debater], number: int
) -> DebateRound:
    pro, con = sides
    if _is_closing(context.config, number):
        position = await pro.turn(context, dimension, con.position, number)
        return DebateRound(position, None, None)
    if context.config.turns == "simultaneous":
        before = (pro.position, con.position)
        await side_by_side(
            [
                pro.turn(context, dimension, before[1], number),
                con.turn(context, dimension, before[0], number),
            ]
        )
    else:
        await pro.turn(context, dimension, con.position, number)
        await con.turn(context, dimension, pro.position, number)
    consistent = await _agree(context, dimension, pro.position, con.position)
    return DebateRound(pro.position, con.position, consistent)


async def _agree(context: StageContext, dimension: Dimension, pro: Position, con: Position) -> bool:
    if same_annotations(pro.annotations, con.annotations):
        return True
    messages = context.prompts.consensus(dimension, context.texts, pro, con)
    return bool(await context.ask("consensus", messages, CONSENSUS_CHECK))
