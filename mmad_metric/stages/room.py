"""The room of one debate: two debaters with a chat each, and the turns that they can take."""

from __future__ import annotations

from dataclasses import dataclass

from mmad_metric.chat import Message
from mmad_metric.deciding_prompts import Dispute, Moment, answer
from mmad_metric.mqm import Annotation
from mmad_metric.pack_parts import Dimension
from mmad_metric.rating import DebateRound, Position
from mmad_metric.replies.shapes import debate_turn
from mmad_metric.stages.context import StageContext, side_by_side
from mmad_metric.stages.positions import counter_position, counter_words, same_annotations
from mmad_metric.templates import Side, position_reply


@dataclass(frozen=True, slots=True)
class Ending:
    """How a debate came out. verdict: the words of whoever decided it, None where the sides
    themselves did."""

    outcome: tuple[Annotation, ...]
    rounds: tuple[DebateRound, ...]
    verdict: str | None = None


@dataclass
class Debater:
    """One side: its chat so far, beginning with its opening, and where it stands."""

    role: str
    chat: tuple[Message, ...]
    position: Position

    async def speak(self, room: Room, heard: Message) -> Position:
        """Hear a message, answer, stand somewhere. One call."""
        asked = (*self.chat, heard)
        schema = debate_turn(room.dispute.dimension.home, room.context.prompts.pack.own_labels)
        self.position = await room.context.ask(self.role, asked, schema, room.labels)
        self.chat = (*asked, Message("assistant", position_reply(self.position)))
        return self.position


@dataclass(frozen=True, slots=True)
class Room:
    """What a strategy works with. Everybody in it speaks about `dispute`."""

    context: StageContext
    dispute: Dispute
    pro: Debater
    con: Debater

    @property
    def rounds(self) -> int:
        return self.context.config.rounds

    @property
    def labels(self) -> tuple[str, ...]:
        """What the errors in dispute may be called."""
        return self.context.prompts.labels(self.dispute.dimension, self.dispute.topic)

    async def turn(
        self, debater: Debater, opponent: Position, number: int, *, closing: bool | None = None
    ) -> Position:
        """A debater hears the other's position. closing: as in `Prompts.debate_turn`."""
        prompts = self.context.prompts
        heard = prompts.debate_turn(opponent, number, self.rounds, closing=closing)
        return await debater.speak(self, heard)

    async def exchange(self, number: int, *, closing: bool | None = None) -> DebateRound:
        """Pro speaks, then con, who hears what pro has just said; with simultaneous turns both
        hear what the other held before the round. Two calls."""
        pro, con = self.pro, self.con
        if self.context.config.turns == "simultaneous":
            before = (pro.position, con.position)
            await side_by_side(
                [
                    self.turn(pro, before[1], number, closing=closing),
                    self.turn(con, before[0], number, closing=closing),
                ]
            )
        else:
            await self.turn(pro, con.position, number, closing=closing)
            await self.turn(con, pro.position, number, closing=closing)
        equal = same_annotations(pro.position.annotations, con.position.annotations)
        return DebateRound(pro.position, con.position, consistent=True if equal else None)

    async def answer(self, debater: Debater, questions: str, number: int) -> Position:
        """A debater is questioned. One call."""
        moment = Moment(number, self.rounds)
        heard = answer(self.context.prompts, self.dispute, questions, moment)
        return await debater.speak(self, heard)


def open_room(context: StageContext, dimension: Dimension, opening: tuple[Annotation, ...]) -> Room:
    """Both sides with their openings, before anybody has been asked."""
    config = context.config
    words = context.prompts.pack.openings_on(config.topic)
    stands = {
        "pro": Position(words["pro"], opening),
        "con": Position(
            words[counter_words(opening, config.topic)], counter_position(opening, config.topic)
        ),
    }
    pro, con = (_debater(context, dimension, role, stand) for role, stand in stands.items())
    dispute = Dispute(dimension, context.texts, opening, config.topic, config.strategy)
    return Room(context, dispute, pro, con)


def _debater(context: StageContext, dimension: Dimension, role: str, opening: Position) -> Debater:
    config = context.config
    side = Side(role, config.dispute, config.topic, config.strategy)
    chat = context.prompts.debate_start(dimension, side, context.texts, opening)
    return Debater(role, chat, opening)
