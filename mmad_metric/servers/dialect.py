"""What a server understands: the request in its dialect, and what to leave out when it objects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from mmad_metric.chat import ChatRequest, Message, ReplySchema
from mmad_metric.normalise import sound
from mmad_metric.servers.endpoint import LEVELS, Endpoint

# Parts of a request that a server may refuse, as `refusals` names them.
FORMAT, TEMPERATURE, TOKENS, SYSTEM = "response_format", "temperature", "max_tokens", "system"
TOKEN_NAMES = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How requests are put for one server.

    level: structured-output level; token_names: names of the token limit that may still be
    tried, the first is used, none means no limit is sent; temperature: whether it is sent;
    fold_system: whether the system message goes into the first user message.
    """

    level: str
    token_names: tuple[str, ...]
    temperature: bool
    fold_system: bool

    def adapted(self, start: Dialect) -> tuple[str, ...]:
        """What the server made us change since the start, sorted, beside the level."""
        notes = []
        if start.temperature and not self.temperature:
            notes.append("no-temperature")
        if self.fold_system and not start.fold_system:
            notes.append("folded-system")
        if self.token_names[:1] != start.token_names[:1]:
            name = self.token_names[0] if self.token_names else "no_token_limit"
            notes.append(name.replace("_", "-"))
        return tuple(sorted(notes))


def first_dialect(endpoint: Endpoint, *, own_server: bool) -> Dialect:
    """What to try first.

    OpenAI's reasoning models refuse max_tokens; compatible servers nearly all know it, and one
    of them ignores the newer name in silence.
    """
    names = TOKEN_NAMES if own_server else TOKEN_NAMES[::-1]
    return Dialect(endpoint.level, names, endpoint.temperature is not None, endpoint.fold_system)


def without(current: Dialect, sent: Dialect, part: str) -> Dialect | None:
    """The current dialect without what a server refused of a request put in `sent`.

    Several calls may be refused for the same reason before the first of them is learnt from:
    the second changes nothing more. None: the part was not in the request, or is all gone.
    """
    if part == FORMAT:
        lower = LEVELS.index(sent.level) + 1
        if lower == len(LEVELS):
            return None
        return replace(current, level=LEVELS[max(lower, LEVELS.index(current.level))])
    if part == TEMPERATURE and sent.temperature:
        return replace(current, temperature=False)
    if part == TOKENS and sent.token_names:
        left = tuple(name for name in current.token_names if name != sent.token_names[0])
        return replace(current, token_names=left)
    if part == SYSTEM and not sent.fold_system:
        return replace(current, fold_system=True)
    return None


def probes(dialect: Dialect, *, has_system: bool) -> tuple[Dialect, ...]:
    """What to try, in this order, after a refusal that names nothing: one change, then all."""
    lower = LEVELS[LEVELS.index(dialect.level) + 1 :]
    single = [replace(dialect, level=level) for level in lower]
    if dialect.temperature:
        single.append(replace(dialect, temperature=False))
    if len(dialect.token_names) > 1:
        single.append(replace(dialect, token_names=dialect.token_names[1:]))
    fold = has_system and not dialect.fold_system
    if fold:
        single.append(replace(dialect, fold_system=True))
    least = replace(
        dialect, level=LEVELS[-1], temperature=False, fold_system=dialect.fold_system or fold
    )
    return tuple(dict.fromkeys([*single, least] if least != dialect else single))


def check_messages(messages: Sequence[Message]) -> None:
    """Raises ValueError unless they are: at most one system message, user, assistant, … user.

    Chat templates of open models accept nothing else.
    """
    turns = messages[1:] if messages and messages[0].role == "system" else messages
    if len(turns) % 2 == 0:
        raise ValueError("messages: must end with a user's turn")
    for number, message in enumerate(turns):
        expected = "assistant" if number % 2 else "user"
        if message.role != expected:
            at = number + len(messages) - len(turns)
            raise ValueError(f"messages[{at}]: role is {message.role}, expected {expected}")


def folded(messages: Sequence[Message]) -> list[Message]:
    """The messages with the system's text at the head of the first user message."""
    if messages[0].role != "system":
        return list(messages)
    system, first, *rest = messages
    return [Message("user", f"{system.content}\n\n{first.content}"), *rest]


def request_fields(
    endpoint: Endpoint, dialect: Dialect, schema: ReplySchema, room: int
) -> dict[str, Any]:
    """The fields of a chat call beside its messages: no more than needed, since some servers
    refuse unknown ones."""
    body: dict[str, Any] = {"model": endpoint.model}
    if dialect.temperature:
        body["temperature"] = endpoint.temperature
    if dialect.token_names:
        body[dialect.token_names[0]] = endpoint.max_tokens * room
    if dialect.level == "json_schema":
        shape = {"name": schema.name, "strict": True, "schema": schema.json_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif dialect.level == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body | dict(endpoint.extra_body or {})


def request_bytes(endpoint: Endpoint, dialect: Dialect, request: ChatRequest) -> bytes:
    """The body of a chat call, JSON in UTF-8.

    Put together from parts that repeat from call to call, the demonstrations above all: each
    is encoded once.
    """
    messages = folded(request.messages) if dialect.fold_system else request.messages
    fields = _fields_bytes(endpoint, dialect, request.schema, request.room)
    listed = b", ".join(map(_message_bytes, messages))
    return fields[:-1] + b', "messages": [' + listed + b"]}"


@lru_cache(maxsize=64)
def _fields_bytes(endpoint: Endpoint, dialect: Dialect, schema: ReplySchema, room: int) -> bytes:
    return encode(request_fields(endpoint, dialect, schema, room))


@lru_cache(maxsize=512)
def _message_bytes(message: Message) -> bytes:
    return encode({"role": message.role, "content": message.content})


def encode(body: dict[str, Any]) -> bytes:
    """JSON in UTF-8. A lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    return sound(json.dumps(body, ensure_ascii=False, allow_nan=False)).encode()
