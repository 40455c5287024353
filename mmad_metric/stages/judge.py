"""Stage 3, final judgement: one judge reads the four outcomes and gives the final errors."""

from __future__ import annotations

from collections.abc import Sequence

from mmad_metric.merging import merge
from mmad_metric.method_space import SKIP_JUDGE
from mmad_metric.mqm import MQMError
from mmad_metric.pack_parts import ALL_DIMENSIONS
from mmad_metric.rating import DimensionOutcome
from mmad_metric.replies.shapes import Judgement, final_judgement
from mmad_metric.spans import place
from mmad_metric.stages.context import StageContext


async def judge(
    context: StageContext, outcomes: Sequence[DimensionOutcome]
) -> tuple[tuple[MQMError, ...], str]:
    """The final errors, placed and merged, and the judge's analysis.

    One call; none where every outcome is empty (a perfect segment) or stage 3 is left out, in
    which case the same merge rule is applied to the outcomes themselves.
    """
    source, translation = context.texts
    order = [dimension.name for dimension in context.prompts.pack.dimensions]
    if not any(outcome.outcome for outcome in outcomes):
        return (), ""
    if SKIP_JUDGE in context.config.skip_stages:
        found = [error for each in outcomes for error in place(each.outcome, source, translation)]
        return merge(found, order), ""
    judgement = await _ask(context, outcomes)
    placed = place(judgement.annotations, source, translation)
    return merge(placed, order), judgement.analysis


async def _ask(context: StageContext, outcomes: Sequence[DimensionOutcome]) -> Judgement:
    by_name = {dimension.name: dimension for dimension in context.dimensions}
    shown = [(by_name[each.dimension], each.outcome) for each in outcomes]
    schema = final_judgement(context.prompts.pack.own_labels)
    messages = context.prompts.judge(context.texts, shown)
    labels = context.prompts.labels(ALL_DIMENSIONS)
    value: Judgement = await context.ask("judge", messages, schema, labels)
    return value
