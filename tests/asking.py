"""Requests and endpoints for tests that talk to a loopback server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from mmad_metric.chat import ChatRequest, Message, Reply, ReplySchema
from mmad_metric.servers.openai_chat import Endpoint, OpenAIChat
from tests.loopback import LoopbackServer

EMPTY = '{"annotations": []}'
KEY = "sk-test-0123456789abcdef"
SHAPE = {
    "type": "object",
    "properties": {"annotations": {"type": "array", "items": {"type": "string"}}},
    "required": ["annotations"],
    "additionalProperties": False,
}


def a_request(
    text: str = "Rate: Haus -> house. Answer in JSON.",
    *,
    system: str = "You rate.",
    name: str = "dimension_annotations",
    room: int = 1,
) -> ChatRequest:
    head = (Message("system", system),) if system else ()
    schema = ReplySchema(name, SHAPE, lambda reply, texts: reply)
    messages = (*head, Message("user", text))
    return ChatRequest("annotate", messages, schema, ("Haus", "house"), room)


def an_endpoint(server: LoopbackServer | str, **settings: Any) -> Endpoint:
    url = server if isinstance(server, str) else server.url
    return Endpoint(
        **{"model": "judge-1", "base_url": url, "max_retries": 2, "api_key": KEY, **settings}
    )


def ask(server: LoopbackServer | str, request: ChatRequest | None = None, **settings: Any) -> Reply:
    """One request on a connection of its own; raises what it raises."""
    return ask_all(server, [request or a_request()], **settings)[0]


def ask_all(
    server: LoopbackServer | str, requests: Sequence[ChatRequest], **settings: Any
) -> list[Reply]:
    """One request after the other on one connection."""

    async def run() -> list[Reply]:
        async with OpenAIChat(an_endpoint(server, **settings)) as chat:
            return [await chat.complete(request) for request in requests]

    return asyncio.run(run())


def ask_at_once(
    server: LoopbackServer | str,
    requests: Sequence[ChatRequest],
    *,
    gate: int = 1000,
    **settings: Any,
) -> list[Reply | BaseException]:
    """All requests at the same time, `gate` of them in the model's hands as in a run.

    Failures come back as values.
    """

    async def run() -> list[Reply | BaseException]:
        slots = asyncio.Semaphore(gate)
        async with OpenAIChat(an_endpoint(server, **settings)) as chat:

            async def one(request: ChatRequest) -> Reply:
                async with slots:
                    return await chat.complete(request)

            return await asyncio.gather(*map(one, requests), return_exceptions=True)

    return asyncio.run(run())
