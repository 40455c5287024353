"""Stage 1, dimension partition: independent agents, one a dimension, side by side."""

from __future__ import annotations

from mmad_metric.mqm import Annotation
from mmad_metric.packs import Dimension
from mmad_metric.replies.shapes import dimension_annotations
from mmad_metric.stages.context import StageContext, side_by_side


async def annotate(context: StageContext) -> list[tuple[Annotation, ...]]:
    """Each dimension's initial result, in the pack's order. One call a dimension."""
    dimensions = context.prompts.pack.dimensions
    return await side_by_side(annotate_dimension(context, each) for each in dimensions)


async def annotate_dimension(context: StageContext, dimension: Dimension) -> tuple[Annotation, ...]:
    """One agent's annotations; empty when it finds no error of its dimension."""
    messages = context.prompts.annotate(dimension, context.texts)
    schema = dimension_annotations(dimension.name)
    value: tuple[Annotation, ...] = await context.ask("annotate", messages, schema)
    return value
