"""Strategy `interactive-review`: an interrogator follows the debate, questions both, decides.

A round is pro, con, the interrogator's questions to both, and their answers side by side (the
other's answer is heard in the next round). Who asks nothing gets no answers. After the last
round it decides: at most 5R + 1 calls, 3R + 1 where it never asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from mmad_metric.chat import Message
from mmad_metric.deciding_prompts import Moment, interrogator_system, interrogator_user
from mmad_metric.rating import DebateRound, Position
from mmad_metric.replies.shapes import INTERROGATION, Judgement, dimension_verdict
from mmad_metric.stages.context import side_by_side
from mmad_metric.stages.room import Ending, Room


@dataclass
class Interrogator:
    """Who questions, with its chat so far. side: whom it questions alone, "" for both."""

    chat: tuple[Message, ...]
    side: str = ""

    async def ask(self, room: Room, moment: Moment) -> str:
        """Its questions after what it has just heard; "" when it has none. One call."""
        heard = (
            *self.chat,
            interrogator_user(room.context.prompts, room.dispute, moment, self.side),
        )
        questions = str(await room.context.ask("interrogator", heard, INTERROGATION))
        said = json.dumps({"questions": questions}, ensure_ascii=False)
        self.chat = (*heard, Message("assistant", said))
        return questions


async def interactive_review(room: Room) -> Ending:
    """The interrogator's annotations."""
    prompts, dispute = room.context.prompts, room.dispute
    interrogator = Interrogator((interrogator_system(prompts, dispute),))
    rounds: list[DebateRound] = []
    answers: tuple[tuple[str, Position], ...] = ()
    for number in range(1, room.rounds + 1):
        said = await room.exchange(number, closing=False)
        stands = (("A", room.pro.position), ("B", room.con.position))
        moment = Moment(number, room.rounds, stands, answers, first=number == 1)
        questions = await interrogator.ask(room, moment)
        answers = ()
        if questions:
            pro, con = await side_by_side(
                room.answer(debater, questions, number) for debater in (room.pro, room.con)
            )
            answers = (("A", pro), ("B", con))
            said = replace(said, questions=(questions, questions), answers=(pro, con))
        rounds.append(said)
    last = Moment(room.rounds, room.rounds, answers=answers, deciding=True)
    asked = (*interrogator.chat, interrogator_user(prompts, dispute, last))
    schema = dimension_verdict(dispute.dimension.home, prompts.pack.own_labels)
    decided: Judgement = await room.context.ask("interrogator", asked, schema, room.labels)
    return Ending(decided.annotations, tuple(rounds), decided.analysis)
