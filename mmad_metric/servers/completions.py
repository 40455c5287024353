"""From the bytes of a chat completion to text and usage, or to the reason why there is none."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mmad_metric.chat import Usage
from mmad_metric.errors import Reason
from mmad_metric.servers.refusals import Problem, read_problem

log = logging.getLogger(__name__)

BAD_GATEWAY = 502
# More letters than this to a token is no language: part of the prompt was not read.
LETTERS_PER_TOKEN = 8
LONG_PROMPT = 2000
# Different prompts with the very same count, this often, have run into a ceiling.
STUCK_AFTER = 3
STUCK_SPREAD = 1.25


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat completion as far as we need it. reasoned: it holds reasoning beside the text."""

    text: str
    model: str
    finish_reason: str
    refusal: str
    reasoned: bool
    usage: Usage


def read_completion(raw: bytes) -> Completion | Problem:
    """The completion, or the problem of a 200 that is none."""
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError):
        found = read_problem(BAD_GATEWAY, raw[:2000].decode("utf-8", "replace"))
        return Problem(BAD_GATEWAY, f"the reply is not JSON: {found.text}")
    choice = _first_choice(payload)
    if choice is None:
        return _problem_inside(payload)
    message = _mapping(choice.get("message"))
    return Completion(
        text=_content(message.get("content")),
        model=_text(payload.get("model")),
        finish_reason=_text(choice.get("finish_reason")),
        refusal=_text(message.get("refusal")),
        reasoned=any(message.get(name) for name in ("reasoning", "reasoning_content")),
        usage=read_usage(payload.get("usage")),
    )


def _first_choice(payload: Any) -> Mapping[str, Any] | None:
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return None
    # A router reports its upstream's failure here.
    failed = choices[0].get("error") or choices[0].get("finish_reason") == "error"
    return None if failed else choices[0]


def _problem_inside(payload: Any) -> Problem:
    """An error that came with status 200."""
    body = _mapping(payload)
    choices = body.get("choices")
    first = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    error = body.get("error") or first.get("error")
    if not error:
        return Problem(BAD_GATEWAY, "the reply holds no choices")
    code = _mapping(error).get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else BAD_GATEWAY  # noqa: PLR2004
    return read_problem(status, error)


def read_usage(usage: Any) -> Usage:
    """The usage of one call; zeros for whatever the server leaves out or garbles."""
    counts = _mapping(usage)
    details = _mapping(counts.get("prompt_tokens_details"))
    return Usage(
        calls=1,
        prompt_tokens=_count(counts.get("prompt_tokens")),
        cached_tokens=_count(details.get("cached_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
    )


def shortcoming(completion: Completion) -> tuple[Reason, str] | None:
    """Why a completion is no usable reply; None when it is one."""
    if completion.finish_reason == "content_filter":
        return Reason.CONTENT_FILTER, "the reply was stopped by the server's content filter"
    text = completion.text.strip()
    if not text and completion.refusal:
        return Reason.REFUSAL, completion.refusal
    # Blanks up to the limit are a model that is lost: more room would only buy more of them.
    lost = not text and completion.text and not completion.reasoned
    if completion.finish_reason == "length" and not lost:
        where = "in its reasoning" if not text and completion.reasoned else "at the token limit"
        return Reason.CUT_SHORT, f"the reply ended {where}"
    if not text:
        beside = "; all it said was reasoning" if completion.reasoned else ""
        return Reason.EMPTY_REPLY, f"the model said nothing{beside}"
    return None


class PromptWatch:
    """Notices, once, that a server reads less of the prompts than was sent.

    Some servers cut a prompt to their context window without a word.
    """

    def __init__(self) -> None:
        self._warned = False
        self._ceiling = self._times = self._smallest = self._largest = 0

    def see(self, letters: int, tokens: int) -> None:
        """One answered call: letters sent, prompt tokens counted by the server (0: unknown)."""
        if self._warned or tokens <= 0 or letters < LONG_PROMPT or tokens < self._ceiling:
            return
        if tokens * LETTERS_PER_TOKEN < letters:
            self._warn(f"{tokens} prompt tokens for {letters} characters")
        if tokens > self._ceiling:
            self._ceiling, self._times, self._smallest, self._largest = tokens, 0, letters, letters
        self._times += 1
        self._smallest = min(self._smallest, letters)
        self._largest = max(self._largest, letters)
        if self._times >= STUCK_AFTER and self._largest >= STUCK_SPREAD * self._smallest:
            self._warn(
                f"{tokens} prompt tokens for prompts of {self._smallest} to "
                f"{self._largest} characters"
            )

    def _warn(self, counts: str) -> None:
        if self._warned:
            return
        self._warned = True
        log.warning(
            "the server may be cutting prompts to its context window: it counts %s; "
            "raise the window on the server",
            counts,
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 2**53
    return int(value) if good else 0


def _content(value: Any) -> str:
    """The text of a message's content; of a list of parts, that of its text parts alone."""
    if isinstance(value, list):
        parts = [_mapping(part) for part in value]
        return "".join(_text(part.get("text")) for part in parts if part.get("type") == "text")
    return _text(value)
