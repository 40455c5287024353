"""One coupled annotator: all errors of a segment listed in one call, and placed in the texts."""

from __future__ import annotations

from mmad_metric.baselines.context import BaselineContext
from mmad_metric.mqm import Annotation, MQMError
from mmad_metric.pack_parts import COUPLED
from mmad_metric.provenance import trace
from mmad_metric.rating import DimensionOutcome
from mmad_metric.replies.shapes import coupled_annotations
from mmad_metric.spans import place


async def list_errors(context: BaselineContext, *, critical: bool) -> tuple[Annotation, ...]:
    """The annotator's list, as it said it. critical: whether that is a severity. One call."""
    schema = coupled_annotations(context.prompts.pack.own_labels, critical=critical)
    messages = context.prompts.annotate(context.texts)
    listed: tuple[Annotation, ...] = await context.ask("annotate", messages, schema)
    return listed


def placed_errors(
    context: BaselineContext, listed: tuple[Annotation, ...]
) -> tuple[tuple[MQMError, ...], tuple[DimensionOutcome, ...]]:
    """The errors with their places, and the list as the outcome of all dimensions together.

    Nobody judges: errors that share a span all stand. Only what repeats an earlier error in
    everything goes, which is a list that went round in a circle.
    """
    outcomes = (DimensionOutcome(COUPLED, listed, listed),)
    distinct: dict[object, MQMError] = {}
    for error in place(listed, *context.texts):
        where = (error.side, error.start, error.end, error.text)
        distinct.setdefault((*where, error.category, error.severity), error)
    return trace(tuple(distinct.values()), outcomes, context.texts, judged=False), outcomes
