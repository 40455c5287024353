"""The one seam to a language model: `ChatModel.complete(request) -> Reply`.

Whatever talks to a server, caches, limits or scripts replies implements this one method, and
may wrap another model. The stages know nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from mmad_metric.errors import MMADError


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class UnreadableReply(MMADError):  # noqa: N818 - named after the thing that came back
    """The reply's text is not the value that was asked for."""


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The shape that a reply must have.

    name: the schema's name for the server; json_schema: strict JSON schema (every field
    required, no others allowed); read: turns the reply's text into the value, given the
    segment's (source, translation), or raises `UnreadableReply`.
    """

    name: str
    json_schema: dict[str, Any] = field(hash=False)
    read: Callable[[str, tuple[str, str]], Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked of a model.

    role: the agent's part (annotate, pro, con, consensus, judge); texts: the segment's
    (source, translation), for readers and span constraints; room: how many times the usual
    token limit the reply may take (a reply that was cut short is asked for with more); repeat:
    which of several independent ratings asks, from 1, so that no cache serves one's reply to
    another; labels: the categories that an error may have, beside non-translation (none: any).
    """

    role: str
    messages: tuple[Message, ...]
    schema: ReplySchema
    texts: tuple[str, str]
    room: int = 1
    repeat: int = 1
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls answered and tokens counted by the server. Sums with `+`."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def to_dict(self) -> dict[str, int]:
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "completion_tokens": self.completion_tokens,
        }


UNREAD: Any = object()  # the value of a reply that nobody has read yet


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    model: the model that the server says it served; level: the structured-output level used
    (json_schema, json_object, text); adapted: parameters the server made us change, e.g.
    "no-temperature"; finish_reason as the server says; usage of all calls it took.
    """

    text: str
    model: str = ""
    finish_reason: str = "stop"
    usage: Usage = Usage(calls=1)
    level: str = "text"
    adapted: tuple[str, ...] = ()
    value: Any = field(default=UNREAD, compare=False, repr=False)

    def read(self, request: ChatRequest) -> Reply:
        """The same with `value` read by the request's schema, if it was not. Raises
        UnreadableReply."""
        if self.value is not UNREAD:
            return self
        return replace(self, value=request.schema.read(self.text, request.texts))


class ChatModel(Protocol):
    """Anything that answers a request.

    Raises SegmentFailure when this request cannot be answered, RunStopped when no request can.
    """

    async def complete(self, request: ChatRequest) -> Reply: ...
