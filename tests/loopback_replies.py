"""What the loopback server can be told to answer: good replies, and every bad one we know of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

JSON = "application/json"


@dataclass(frozen=True)
class ReceivedCall:
    """One call as the server got it. number: 1 for the server's first call."""

    number: int
    path: str
    query: str
    headers: Mapping[str, str]
    raw: bytes

    @cached_property
    def body(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body.get("messages", [])
        return found

    @property
    def prompt(self) -> str:
        """The last message's text."""
        return str(self.messages[-1]["content"]) if self.messages else ""

    @property
    def level(self) -> str:
        """json_schema, json_object or text."""
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def schema(self) -> str:
        """The name of the JSON schema that is asked for; "" without one."""
        return str(self.body.get("response_format", {}).get("json_schema", {}).get("name", ""))


@dataclass(frozen=True)
class Scripted:
    """An answer in detail.

    body: sent as it is instead of a completion; drop: hang up before the answer or in its
    middle; usage: "counted" (from the sizes), None (left out) or the given value; delay in
    seconds, before the answer.
    """

    content: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = JSON
    delay: float = 0.0
    drop: Literal["", "before", "mid"] = ""
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    refusal: str | None = None
    usage: Any = "counted"
    model: str | None = None


Answer = str | Scripted
Script = Callable[[ReceivedCall], Answer]


def completion_bytes(answer: Scripted, model: str, prompt_bytes: int) -> bytes:
    """The answer as a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.content}
    if answer.reasoning is not None:
        message["reasoning"] = message["reasoning_content"] = answer.reasoning
    if answer.refusal is not None:
        message["refusal"] = answer.refusal
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    payload: dict[str, Any] = {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": answer.model or model,
        "choices": [choice],
    }
    if answer.usage == "counted":
        payload["usage"] = counted_usage(answer, prompt_bytes)
    elif answer.usage is not None:
        payload["usage"] = answer.usage
    return json.dumps(payload).encode()


def counted_usage(answer: Scripted, prompt_bytes: int) -> dict[str, Any]:
    """Four bytes a token, as a rule of thumb."""
    written = len(str(answer.content or "")) + len(answer.reasoning or "")
    prompt, reply = prompt_bytes // 4, max(1, written // 4)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply,
        "total_tokens": prompt + reply,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def in_turn(answers: Sequence[Answer]) -> Script:
    """The n-th answer to the n-th call; the last one from then on."""
    return lambda call: answers[min(call.number, len(answers)) - 1]


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Scripted:
    """An error in OpenAI's shape."""
    detail = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    body = json.dumps({"error": detail}).encode()
    return Scripted(status=status, body=body, headers=headers or {})


def raw_error(status: int, payload: Any) -> Scripted:
    """An error whose body is any JSON value, for servers with shapes of their own."""
    return Scripted(status=status, body=json.dumps(payload).encode())


def rate_limited(after_ms: int = 10) -> Scripted:
    return error(
        429,
        "Rate limit reached for requests",
        code="rate_limit_exceeded",
        headers={"Retry-After-Ms": str(after_ms)},
    )


def quota_exhausted() -> Scripted:
    return error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        code="insufficient_quota",
    )


def unauthorized(key: str = "sk-proj-****abcd") -> Scripted:
    return error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


def forbidden() -> Scripted:
    return error(403, "Your project does not have access to this model.", code="no_access")


def not_found() -> Scripted:
    return raw_error(404, {"detail": "Not Found"})


def server_error(status: int = 500) -> Scripted:
    return error(status, "The server had an error.", headers={"Retry-After-Ms": "10"})


def context_too_long() -> Scripted:
    return error(
        400,
        "This model's maximum context length is 4096 tokens. However, you "
        "requested 5000 tokens (3976 in the messages, 1024 in the completion).",
        code="context_length_exceeded",
        param="messages",
    )


def content_filtered() -> Scripted:
    """Azure's way to refuse a prompt."""
    return error(
        400,
        "The response was filtered due to the prompt triggering the content management policy.",
        code="content_filter",
        param="prompt",
    )


def filtered_reply(text: str = "") -> Scripted:
    """A reply that the filter stopped on its way."""
    return Scripted(content=text, finish_reason="content_filter")


def refusing(text: str = "I cannot help with that.") -> Scripted:
    return Scripted(content=None, refusal=text)


def only_reasoning(text: str = '{"annotations": []}', finish: str = "stop") -> Scripted:
    """No content; all the text is in the reasoning field."""
    return Scripted(content=None, reasoning=text, finish_reason=finish)


def cut_short(text: str = '{"annotations": [{"error_span": "Ha') -> Scripted:
    return Scripted(content=text, finish_reason="length")


def whitespace(length: int = 4000) -> Scripted:
    """What JSON mode does on some servers when the prompt does not say JSON."""
    return Scripted(content=" \n" * (length // 2), finish_reason="length")


def malformed() -> Scripted:
    return Scripted(body=b'{"id": "x", "choices": [{"mess')


def no_choices() -> Scripted:
    return Scripted(body=b'{"id": "x", "object": "chat.completion", "choices": []}')


def html_page(status: int = 200) -> Scripted:
    page = b"<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"
    return Scripted(
        status=status, body=page, content_type="text/html", headers={"Retry-After-Ms": "10"}
    )


def dropped(where: Literal["before", "mid"] = "before") -> Scripted:
    return Scripted(content="{}", drop=where)


REFUSALS = {
    "json_schema": error(
        400,
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with "
        "this model.",
        param="response_format",
    ),
    "json_object": raw_error(
        400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}
    ),
    "response_format": raw_error(
        422,
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "response_format"],
                    "msg": "Extra inputs are not permitted",
                    "input": {"a": "b"},
                }
            ]
        },
    ),
    "temperature": error(
        400,
        "Unsupported value: 'temperature' does not support 0.0 with this model. Only the "
        "default (1) value is supported.",
        code="unsupported_value",
        param="temperature",
    ),
    "max_tokens": error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        code="unsupported_parameter",
        param="max_tokens",
    ),
    "max_completion_tokens": raw_error(
        422,
        {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "max_completion_tokens"],
                        "msg": "Extra inputs are not permitted",
                        "input": 1024,
                    }
                ]
            },
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        },
    ),
    "system": raw_error(
        400, {"object": "error", "message": "System role not supported", "code": 400}
    ),
}


def has(call: ReceivedCall, part: str) -> bool:
    """Whether a call holds a part that some servers refuse (a key of REFUSALS, or a field)."""
    if part in ("json_schema", "json_object"):
        return call.level == part
    if part == "system":
        return any(message["role"] == "system" for message in call.messages)
    return part in call.body


def picky(script: Script, *parts: str, vague: bool = False) -> Script:
    """A server that refuses calls with any of these parts, and answers the others by script.

    vague: it does not say what it minds. Parts outside REFUSALS are fields of the body.
    """

    def answer(call: ReceivedCall) -> Answer:
        for part in parts:
            if has(call, part):
                if vague:
                    return raw_error(400, {"error": {"message": "Bad Request"}})
                refusal = REFUSALS.get(part)
                return refusal or error(400, f"Unrecognized request argument supplied: {part}")
        return script(call)

    return answer
