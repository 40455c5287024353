"""What a stage works with: the segment's texts, the prompts, the settings, the model."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from mmad_metric.chat import ChatModel, ChatRequest, Message, ReplySchema
from mmad_metric.config import MMADConfig
from mmad_metric.errors import RunStopped
from mmad_metric.method_space import SKIP_PARTITION
from mmad_metric.pack_parts import ALL_DIMENSIONS, Dimension
from mmad_metric.templates import Prompts

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class StageContext:
    """texts is the segment's (source, translation)."""

    texts: tuple[str, str]
    prompts: Prompts
    config: MMADConfig
    model: ChatModel

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """What is annotated and debated apart: the pack's dimensions, or all of them at once."""
        if SKIP_PARTITION in self.config.skip_stages:
            return (ALL_DIMENSIONS,)
        return self.prompts.pack.dimensions

    async def ask(
        self,
        role: str,
        messages: tuple[Message, ...],
        schema: ReplySchema,
        labels: tuple[str, ...] = (),
    ) -> Any:
        """One request; the value that the schema reads from the reply. labels: what errors may be
        called.

        Raises SegmentFailure or RunStopped, as the model does.
        """
        request = ChatRequest(role, messages, schema, self.texts, labels=labels)
        return await answer_of(self.model, request)


async def answer_of(model: ChatModel, request: ChatRequest) -> Any:
    """The value that the request's schema reads from the model's reply."""
    reply = await model.complete(request)
    return reply.read(request).value


async def side_by_side(work: Iterable[Coroutine[Any, Any, Value]]) -> list[Value]:
    """Run together, wait for all, then raise the first failure in order, if any.

    The others are not cut off: their replies are paid for, and a rerun finds them in the cache.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    failures.sort(key=lambda failure: not isinstance(failure, RunStopped))
    if failures:
        raise failures[0]
    return [result for result in results if not isinstance(result, BaseException)]
