"""Strategy `deliberation`: R rounds of debate in any case, then a judge of the dimension decides.

The judge reads everything that both sides said, and where they stand. Always 2R + 1 calls.
"""

from __future__ import annotations

from mmad_metric.deciding_prompts import Said, verdict
from mmad_metric.rating import DebateRound
from mmad_metric.replies.shapes import Judgement, dimension_verdict
from mmad_metric.stages.room import Ending, Room


async def deliberation(room: Room) -> Ending:
    """The judge's annotations."""
    opened = (room.pro.position, room.con.position)
    rounds = [await room.exchange(number) for number in range(1, room.rounds + 1)]
    record = [Said("A", opened[0].argument), Said("B", opened[1].argument)]
    for said in rounds:
        record += _said(said)
    decided = await decide(room, "dimension-judge", record)
    return Ending(decided.annotations, tuple(rounds), decided.analysis)


def _said(turn: DebateRound) -> list[Said]:
    con = [] if turn.con is None else [Said("B", turn.con.argument)]
    return [Said("A", turn.pro.argument), *con]


async def decide(room: Room, role: str, record: list[Said]) -> Judgement:
    """Ask somebody who has only read the record for the annotations that stand. One call."""
    prompts, dispute = room.context.prompts, room.dispute
    messages = verdict(prompts, dispute, record, (room.pro.position, room.con.position))
    schema = dimension_verdict(dispute.dimension.home, prompts.pack.own_labels)
    value: Judgement = await room.context.ask(role, messages, schema, room.labels)
    return value
