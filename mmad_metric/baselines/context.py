"""What a baseline works with, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mmad_metric.baselines.prompts import BaselinePrompts
from mmad_metric.chat import ChatModel, ChatRequest, Message, ReplySchema
from mmad_metric.mqm import MQMError
from mmad_metric.rating import DimensionOutcome, ErrorCounts
from mmad_metric.stages.context import answer_of


@dataclass(frozen=True, slots=True)
class BaselineContext:
    """texts is the segment's (source, translation)."""

    texts: tuple[str, str]
    prompts: BaselinePrompts
    model: ChatModel

    async def ask(self, role: str, messages: tuple[Message, ...], schema: ReplySchema) -> Any:
        """One request; the value that the schema reads from the reply.

        Raises SegmentFailure or RunStopped, as the model does.
        """
        return await answer_of(self.model, ChatRequest(role, messages, schema, self.texts))


@dataclass(frozen=True, slots=True)
class Found:
    """A segment's score on the method's scale, and what it was made of."""

    score: float
    errors: tuple[MQMError, ...] = ()
    outcomes: tuple[DimensionOutcome, ...] = ()
    flags: tuple[str, ...] = ()
    counts: ErrorCounts | None = None
