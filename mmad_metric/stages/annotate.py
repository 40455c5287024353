"""Stage 1, dimension partition: independent agents, one a dimension, side by side.

Without it (`skip_stages` holds 1) one coupled agent annotates the whole typology.
"""

from __future__ import annotations

from mmad_metric.method_space import annotator_of
from mmad_metric.mqm import Annotation
from mmad_metric.pack_parts import Dimension
from mmad_metric.replies.shapes import coupled_annotations, dimension_annotations
from mmad_metric.stages.context import StageContext, side_by_side


async def annotate(context: StageContext) -> list[tuple[Annotation, ...]]:
    """Each dimension's initial result, in the context's order. One call a dimension."""
    return await side_by_side(annotate_dimension(context, each) for each in context.dimensions)


async def annotate_dimension(context: StageContext, dimension: Dimension) -> tuple[Annotation, ...]:
    """One agent's annotations; empty when it finds no error of its dimension."""
    messages = context.prompts.annotate(dimension, context.texts)
    own = context.prompts.pack.own_labels
    schema = (
        coupled_annotations(own)
        if dimension.is_coupled
        else dimension_annotations(dimension.name, own)
    )
    role = annotator_of(context.config, dimension.name)
    labels = context.prompts.labels(dimension)
    value: tuple[Annotation, ...] = await context.ask(role, messages, schema, labels)
    return value
