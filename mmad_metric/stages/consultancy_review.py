"""Strategy `consultancy-review`: an interrogator questions each side alone, then decides.

The two consultations run side by side and know nothing of each other. Each has at most R
questions with an answer each, and ends when nothing is asked any more. Then the interrogator
reads both records and decides: at most 4R + 1 calls, 3 where it never asks.
"""

from __future__ import annotations

from itertools import zip_longest

from mmad_metric.deciding_prompts import Moment, Said, interrogator_system
from mmad_metric.rating import DebateRound, Position
from mmad_metric.stages.context import side_by_side
from mmad_metric.stages.deliberation import decide
from mmad_metric.stages.interactive_review import Interrogator
from mmad_metric.stages.room import Debater, Ending, Room

# A question with its answer.
Exchange = tuple[str, Position]


async def consultancy_review(room: Room) -> Ending:
    """The interrogator's annotations."""
    opened = (room.pro.position, room.con.position)
    pro, con = await side_by_side(_consult(room, debater) for debater in (room.pro, room.con))
    record: list[Said] = []
    for side, opening, exchanges in zip(("A", "B"), opened, (pro, con), strict=True):
        record.append(Said(side, opening.argument))
        record += [Said(side, stand.argument, question) for question, stand in exchanges]
    decided = await decide(room, "interrogator", record)
    return Ending(decided.annotations, _rounds(room, pro, con), decided.analysis)


async def _consult(room: Room, debater: Debater) -> list[Exchange]:
    """Question one side alone, until nothing is left to ask."""
    system = interrogator_system(room.context.prompts, room.dispute, debater.role)
    interrogator = Interrogator((system,), debater.role)
    name = "A" if debater.role == "pro" else "B"
    exchanges: list[Exchange] = []
    for number in range(1, room.rounds + 1):
        stand = ((name, debater.position),)
        first = number == 1
        moment = Moment(
            number, room.rounds, stand if first else (), () if first else stand, first=first
        )
        question = await interrogator.ask(room, moment)
        if not question:
            break
        exchanges.append((question, await room.answer(debater, question, number)))
    return exchanges


def _rounds(room: Room, pro: list[Exchange], con: list[Exchange]) -> tuple[DebateRound, ...]:
    """The consultations as rounds. Pro's stand is repeated where only con was asked."""
    nothing = ("", None)
    return tuple(
        DebateRound(
            asked_pro[1] or room.pro.position,
            asked_con[1],
            consistent=None,
            questions=(asked_pro[0], asked_con[0]),
        )
        for asked_pro, asked_con in zip_longest(pro, con, fillvalue=nothing)
    )
