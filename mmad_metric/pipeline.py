"""One segment through the three stages: reads like the paper's figure. Or by one of the baselines.

Calls of a segment with D disputed dimensions out of four, over R rounds:
    4 + (calls of the D debates, each at most 3R - 2 with strategy consensus) + 1
without the 1 where nothing was found, and 0 where there is nothing to rate. The other strategies
say in their modules what a debate takes; without stage 1 there is one annotator and one debate.
A baseline takes one call or two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mmad_metric.baselines.context import BaselineContext, Found
from mmad_metric.baselines.prompts import BaselinePrompts
from mmad_metric.baselines.rate import rate_by_baseline
from mmad_metric.chat import ChatModel, ChatRequest, Reply, Usage
from mmad_metric.config import MMADConfig
from mmad_metric.errors import Reason, SegmentFailure
from mmad_metric.material import Material
from mmad_metric.method_space import METHOD_FACTS, SKIP_JUDGE
from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side
from mmad_metric.provenance import trace
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.scales import Scale
from mmad_metric.scoring import WeightScheme
from mmad_metric.stages.annotate import annotate
from mmad_metric.stages.context import StageContext, side_by_side
from mmad_metric.stages.debate import debate
from mmad_metric.stages.judge import judge
from mmad_metric.templates import Prompts

# mt-metrics-eval writes this line where a system gave no output.
NO_TRANSLATION_SENTINEL = "[No translation supplied]"
# A rating's flag: errors were left out since they quote what precedes the segment.
QUOTES_CONTEXT = "quotes_context"


@dataclass(frozen=True, slots=True)
class Method:
    """Everything that rating a segment needs, besides the segment. scheme: None where the method
    has no errors to weigh."""

    config: MMADConfig
    prompts: Prompts | BaselinePrompts
    scheme: WeightScheme | None
    model: ChatModel

    @property
    def scale(self) -> Scale:
        return METHOD_FACTS[self.config.method].scale


async def rate_segment(segment: Segment, method: Method) -> SegmentRating:
    """Rate one segment. A segment that cannot be rated is a value with a reason.

    Raises RunStopped where the whole run cannot go on.
    """
    known = without_call(segment, method.scheme)
    if known is not None:
        return known
    meter = _Meter(method.model, segment.repeat or 1)
    try:
        rating = await _rate(segment, replace(method, model=meter))
    except SegmentFailure as failure:
        rating = SegmentRating(
            segment,
            Status.UNSCORED,
            reason=failure.reason,
            detail=failure.detail,
            scale=method.scale,
        )
    return meter.account(rating)


async def _rate(segment: Segment, method: Method) -> SegmentRating:
    texts, prompts, scheme = (segment.source, segment.translation), method.prompts, method.scheme
    if isinstance(prompts, BaselinePrompts):
        baseline = BaselineContext(texts, prompts, method.model)
        return _as_rating(segment, await rate_by_baseline(baseline, scheme), method.scale)
    if scheme is None:
        raise ValueError("M-MAD's errors have no weights")
    prompts = prompts.beside(segment.material)
    context = StageContext(texts, prompts, method.config, method.model)
    return await _three_stages(segment, context, scheme)


def _as_rating(segment: Segment, found: Found, scale: Scale) -> SegmentRating:
    return SegmentRating(
        segment,
        Status.SCORED,
        score=found.score,
        errors=found.errors,
        flags=found.flags,
        outcomes=found.outcomes,
        scale=scale,
        counts=found.counts,
    )


async def _three_stages(
    segment: Segment, context: StageContext, scheme: WeightScheme
) -> SegmentRating:
    openings = await annotate(context)
    dimensions = context.dimensions
    outcomes = await side_by_side(
        debate(context, dimension, opening)
        for dimension, opening in zip(dimensions, openings, strict=True)
    )
    found, analysis = await judge(context, outcomes)
    own = tuple(error for error in found if not _of_context(error, segment.material))
    judged = SKIP_JUDGE not in context.config.skip_stages
    errors = trace(own, outcomes, context.texts, judged=judged)
    return SegmentRating(
        segment,
        Status.SCORED,
        score=scheme.segment_score(errors),
        errors=errors,
        flags=(QUOTES_CONTEXT,) * (len(own) < len(found)),
        outcomes=tuple(outcomes),
        analysis=analysis,
    )


def _of_context(error: MQMError, material: Material) -> bool:
    """Whether an error is one of the context that was shown, whose own rating it belongs to: its
    words stand there, and not in the segment."""
    return error.placement is Placement.UNPLACED and bool(error.text) and material.holds(error.text)


def without_call(segment: Segment, scheme: WeightScheme | None) -> SegmentRating | None:
    """The rating of a row that no model needs to see, None for any other.

    No source to judge by: unscored, `empty_source`. The placeholder for a missing output:
    unscored, `missing_translation`. An empty (or blank) translation: one major omission of the
    whole source, flagged `empty_translation`; without a scheme the lowest direct score, 0.
    """
    scale = Scale.DIRECT if scheme is None else Scale.PENALTY
    if not segment.source.strip():
        return SegmentRating(segment, Status.UNSCORED, reason=Reason.EMPTY_SOURCE, scale=scale)
    if segment.translation.strip() == NO_TRANSLATION_SENTINEL:
        return SegmentRating(
            segment, Status.UNSCORED, reason=Reason.MISSING_TRANSLATION, scale=scale
        )
    if segment.translation.strip():
        return None
    flags = ("empty_translation",)
    if scheme is None:
        return SegmentRating(segment, Status.SCORED, score=0.0, flags=flags, scale=scale)
    omission = MQMError(
        segment.source,
        Category("accuracy", "omission"),
        Severity.MAJOR,
        Side.SOURCE,
        0,
        len(segment.source),
        Placement.WHOLE,
    )
    return SegmentRating(
        segment,
        Status.SCORED,
        score=scheme.segment_score([omission]),
        errors=(omission,),
        flags=flags,
    )


class _Meter:
    """Counts what one segment uses, by role, failed calls included. Marks its requests with
    the repeat that they are for."""

    def __init__(self, inner: ChatModel, repeat: int) -> None:
        self._inner = inner
        self._repeat = repeat
        self._usage: dict[str, Usage] = {}
        self._models: set[str] = set()
        self._levels: set[str] = set()
        self._adapted: set[str] = set()

    async def complete(self, request: ChatRequest) -> Reply:
        try:
            reply = await self._inner.complete(replace(request, repeat=self._repeat))
        except SegmentFailure as failure:
            self._add(request.role, failure.usage or Usage())
            raise
        self._add(request.role, reply.usage)
        self._models.add(reply.model)
        self._levels.add(reply.level)
        self._adapted.update(reply.adapted)
        return reply

    def _add(self, role: str, usage: Usage) -> None:
        self._usage[role] = self._usage.get(role, Usage()) + usage

    def account(self, rating: SegmentRating) -> SegmentRating:
        return replace(
            rating,
            usage=dict(sorted(self._usage.items())),
            models=_named(self._models),
            levels=_named(self._levels),
            adapted=_named(self._adapted),
        )


def _named(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(value for value in values if value))
