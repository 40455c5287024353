"""EAPrompt (Lu et al. 2024): list the errors, then count them in a second turn of the same chat.

Two calls a segment. The counts make the score, as in the paper; the list gives the spans.
"""

from __future__ import annotations

from mmad_metric.baselines.context import BaselineContext, Found
from mmad_metric.baselines.listing import list_errors, placed_errors
from mmad_metric.baselines.scores import counts_score, listed_counts
from mmad_metric.rating import ErrorCounts
from mmad_metric.replies.numbers import ERROR_COUNTS
from mmad_metric.scoring import WeightScheme

# On a rating whose counts are not the numbers of the errors listed.
COUNTS_DIFFER = "counts_differ"


async def eaprompt(context: BaselineContext, scheme: WeightScheme) -> Found:
    listed = await list_errors(context, critical=False)
    asked = context.prompts.count(context.texts, listed)
    counts: ErrorCounts = await context.ask("count", asked, ERROR_COUNTS)
    errors, outcomes = placed_errors(context, listed)
    flags = () if counts == listed_counts(listed) else (COUNTS_DIFFER,)
    return Found(counts_score(counts, scheme), errors, outcomes, flags, counts)
