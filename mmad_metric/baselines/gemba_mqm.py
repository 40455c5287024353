"""GEMBA-MQM (Kocmi & Federmann 2023): one annotator of everything, three fixed demonstrations.

One call a segment. The score counts the five errors that weigh most, 25 points at most under the
method's own weights.
"""

from __future__ import annotations

from mmad_metric.baselines.context import BaselineContext, Found
from mmad_metric.baselines.listing import list_errors, placed_errors
from mmad_metric.baselines.scores import heaviest_score
from mmad_metric.scoring import WeightScheme


async def gemba_mqm(context: BaselineContext, scheme: WeightScheme) -> Found:
    listed = await list_errors(context, critical=True)
    errors, outcomes = placed_errors(context, listed)
    return Found(heaviest_score(errors, scheme), errors, outcomes)
