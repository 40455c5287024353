"""Which baseline rates: from a segment's texts to what the configured method finds."""

from __future__ import annotations

from mmad_metric.baselines.context import BaselineContext, Found
from mmad_metric.baselines.eaprompt import eaprompt
from mmad_metric.baselines.gemba_da import gemba_da
from mmad_metric.baselines.gemba_mqm import gemba_mqm
from mmad_metric.method_space import GEMBA_MQM
from mmad_metric.scoring import WeightScheme


async def rate_by_baseline(context: BaselineContext, scheme: WeightScheme | None) -> Found:
    """scheme: None where the method has no errors to weigh.

    Raises SegmentFailure or RunStopped, as the model does.
    """
    if scheme is None:
        return await gemba_da(context)
    if context.prompts.pack.method == GEMBA_MQM:
        return await gemba_mqm(context, scheme)
    return await eaprompt(context, scheme)
