"""Strategy `consensus`: the sides debate until they agree; else pro's last word stands.

A round is pro, con, and a check whether they agree, which equal sets spare. After pro's turn in
the last round nothing can change the outcome, so con's turn and the check are not made there
(`full_debate` makes them, for the record): at most 3R - 2 calls, 3R with `full_debate`; 3r where
the check says yes in round r < R, one less where the sets became equal.
"""

from __future__ import annotations

from dataclasses import replace

from mmad_metric.rating import DebateRound, Position
from mmad_metric.replies.shapes import CONSENSUS_CHECK
from mmad_metric.stages.room import Ending, Room


async def consensus(room: Room) -> Ending:
    """Pro's annotations when both agree, or after the last round."""
    rounds: list[DebateRound] = []
    for number in range(1, room.rounds + 1):
        if number == room.rounds and not room.context.config.full_debate:
            closing = await room.turn(room.pro, room.con.position, number)
            rounds.append(DebateRound(closing, None, None))
            break
        said = await room.exchange(number)
        agreed = said.consistent or await _agree(room, room.pro.position, room.con.position)
        rounds.append(replace(said, consistent=agreed))
        if agreed:
            break
    return Ending(rounds[-1].pro.annotations, tuple(rounds))


async def _agree(room: Room, pro: Position, con: Position) -> bool:
    dispute = room.dispute
    messages = room.context.prompts.consensus(
        dispute.dimension, dispute.texts, pro, con, dispute.topic
    )
    return bool(await room.context.ask("consensus", messages, CONSENSUS_CHECK))
