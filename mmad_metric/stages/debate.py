"""Stage 2, debate inside a dimension: pro stands for the first result, con opposes it.

How it ends is the strategy's affair, in the module of its name; `none` has no debate.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from mmad_metric.mqm import Annotation
from mmad_metric.pack_parts import Dimension
from mmad_metric.rating import DimensionOutcome
from mmad_metric.stages.consensus import consensus
from mmad_metric.stages.consultancy_review import consultancy_review
from mmad_metric.stages.context import StageContext
from mmad_metric.stages.deliberation import deliberation
from mmad_metric.stages.interactive_review import interactive_review
from mmad_metric.stages.positions import is_disputed
from mmad_metric.stages.room import Ending, Room, open_room

STRATEGIES: Mapping[str, Callable[[Room], Awaitable[Ending]]] = {
    "consensus": consensus,
    "deliberation": deliberation,
    "interactive-review": interactive_review,
    "consultancy-review": consultancy_review,
}


async def debate(
    context: StageContext, dimension: Dimension, opening: tuple[Annotation, ...]
) -> DimensionOutcome:
    """The outcome of one dimension. An undisputed one keeps its opening and costs no call."""
    config = context.config
    if not config.debates() or not is_disputed(opening, config.dispute, config.topic):
        return DimensionOutcome(dimension.name, opening, opening)
    room = open_room(context, dimension, opening)
    counter = room.con.position.annotations
    ending = await STRATEGIES[config.strategy](room)
    return DimensionOutcome(
        dimension.name, opening, ending.outcome, counter, ending.rounds, ending.verdict
    )
