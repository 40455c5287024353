"""GEMBA-DA (Kocmi & Federmann 2023): one direct score from 0 to 100, no errors, one call."""

from __future__ import annotations

from mmad_metric.baselines.context import BaselineContext, Found
from mmad_metric.replies.numbers import DIRECT_ASSESSMENT


async def gemba_da(context: BaselineContext) -> Found:
    score: float = await context.ask(
        "score", context.prompts.score(context.texts), DIRECT_ASSESSMENT
    )
    return Found(score)
