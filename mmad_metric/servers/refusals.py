"""What a server's error means: from status and payload to one kind of trouble, by tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any

from mmad_metric.servers.dialect import FORMAT, SYSTEM, TEMPERATURE, TOKENS

# Error texts name what they mind at once; further on they may quote the user's own words.
NAMES_WITHIN = 600


class Kind(Enum):
    """What to do about an error depends on this alone."""

    FILTERED = "a content filter stopped it"
    TOO_LONG = "longer than the model's context"
    OUT_OF_MONEY = "quota or balance used up"
    NO_ENTRY = "key not accepted"
    NOT_FOUND = "no such address or model"
    BUSY = "rate limited"
    PART = "a part of the request is not understood"
    VALUE = "a part's value is out of range"
    EXTRA = "a field that the user added is not understood"
    VAGUE = "refused without a reason"
    BAD = "refused for another reason"
    BROKEN = "the server failed"
    TIMEOUT = "no answer in time"
    CONNECTION = "no connection"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as received.

    status: HTTP's; text: for people; codes: its code and type, param: what it is about, all in
    lower case; try_later: whether it says when to try again.
    """

    status: int
    text: str
    codes: frozenset[str] = frozenset()
    param: str = ""
    try_later: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error as understood. part: what PART, VALUE and EXTRA are about."""

    kind: Kind
    text: str
    status: int = 0
    part: str = ""


# What a status means when nothing else tells. A redirect left over leads to no chat call.
BY_STATUS = {
    **dict.fromkeys((400, 422, 501), Kind.VAGUE),
    **dict.fromkeys((401, 403), Kind.NO_ENTRY),
    **dict.fromkeys((404, 405, 410, *range(300, 400)), Kind.NOT_FOUND),
    **dict.fromkeys((408, 409), Kind.BROKEN),
    429: Kind.BUSY,
}

FILTER_CODES = {
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "data_inspection_failed",
    "datainspectionfailed",
    "moderation_blocked",
}
FILTER_WORDS = re.compile(
    r"content management policy|content exists risk|flagged as potentially violating"
    r"|usage polic(y|ies)|input was flagged|inappropriate content|safety (system|filter)"
)
LENGTH_CODES = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
    "model_context_window_exceeded",
    "prompt_too_long",
}
LENGTH_WORDS = re.compile(
    r"context (length|size|window)|prompt is too long|input is too long|too many (input )?tokens"
    r"|reduce the length|max_model_len|request entity too large|maximum input length"
)
MONEY_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_balance",
    "insufficient_credits",
    "access_terminated",
}
MONEY_WORDS = re.compile(
    r"exceeded your current quota|insufficient (balance|credits?|funds|quota)|out of credits"
    r"|billing (hard )?limit|credit balance is too low"
)
# One large provider words a rate limit of a minute as a used-up quota.
LATER_WORDS = re.compile(r"retry (in|after)|retrydelay|per[- ]?minute|try again in")

FORMAT_WORDS = re.compile(
    r"response_?format|json_schema|json_object|json[ _-]mode|json output|structured[ _-]output"
    r"|guided|grammar"
)
TOKEN_WORDS = re.compile(r"max_tokens|max_completion_tokens|max_output_tokens|max_new_tokens")
TEMPERATURE_WORDS = re.compile(r"\btemperature\b")
SYSTEM_WORDS = re.compile(
    r"system['\"`]? (role|message|prompt|instruction)|role.{0,40}\bsystem\b|developer instruction"
    r"|roles? must alternate|only user and assistant|must alternate"
)
# In this order: a text about the first often mentions the others. No server calls the last by name.
PARTS = (
    (FORMAT, FORMAT_WORDS),
    (TOKENS, TOKEN_WORDS),
    (TEMPERATURE, TEMPERATURE_WORDS),
    (SYSTEM, SYSTEM_WORDS),
)
REFUSING_WORDS = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|forbidden|invalid"
    r"|must be|must contain|must alternate|only|deprecated|unavailable|not available"
    r"|not implemented|cannot|can't|not enabled|no such|ignored|failed to"
    r"|extra (fields?|inputs?|arguments?)"
)
RANGE_CODES = {"integer_above_max_value", "integer_below_min_value", "decimal_above_max_value"}
RANGE_WORDS = re.compile(
    r"too (large|high|big)|at most|less than or equal|<=|≤|exceeds|above (the )?max"
    r"|maximum (allowed|value|number)|supports at most|\[1, ?\d+\]|below min"
)


def read_problem(status: int, payload: Any, *, try_later: bool = False) -> Problem:
    """The error in a server's payload, whatever its shape. try_later: it says when to retry."""
    if isinstance(payload, Mapping) and isinstance(payload.get("error"), (Mapping, str)):
        payload = payload["error"]
    if not isinstance(payload, Mapping):
        return Problem(status, _page_title(_words(payload)), try_later=try_later)
    text, located = _message(payload)
    inner = payload.get("innererror")
    named = [payload.get(name) for name in ("code", "type", "status")]
    named.append(inner.get("code") if isinstance(inner, Mapping) else None)
    codes = frozenset(name.lower() for name in named if isinstance(name, str))
    return Problem(status, text, codes, _words(payload.get("param") or located).lower(), try_later)


def _message(payload: Mapping[str, Any]) -> tuple[str, str]:
    """(text, location) of an error object; location is "" unless a validator names it."""
    for name in ("message", "detail", "error", "msg", "error_description"):
        found = payload.get(name)
        if isinstance(found, Mapping):
            return _message(found)
        if isinstance(found, list):
            return _validation_errors(found)
        if found:
            return _words(found), ""
    return "", ""


def _validation_errors(errors: list[Any]) -> tuple[str, str]:
    # Their "input" repeats what was sent: left out, lest a user's text be read as the reason.
    found = [item for item in errors if isinstance(item, Mapping)]
    places = [
        ".".join(str(step) for step in item.get("loc") or () if step != "body") for item in found
    ]
    texts = [
        f"{place}: {_words(item.get('msg'))}" for place, item in zip(places, found, strict=True)
    ]
    return "; ".join(texts), places[0] if places else ""


def _words(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _page_title(text: str) -> str:
    if not text.lstrip().startswith("<"):
        return text
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return f"an HTML page: {title.group(1).strip()}" if title else "an HTML page"


def understand(problem: Problem, extras: Collection[str] = ()) -> Trouble:
    """The trouble that a problem means. extras: fields of the request that the user added.

    Filter and length come first: their texts often mention parameters too.
    """
    kind, part = _limits(problem), ""
    if kind is None:
        kind, part = _by_part(problem, extras)
    if kind is None:
        kind = _by_status(problem.status)
    return Trouble(kind, problem.text, problem.status, part)


def _limits(problem: Problem) -> Kind | None:
    status, codes, text = problem.status, problem.codes, problem.text.lower()
    if codes & FILTER_CODES or (status in (400, 403, 422, 451) and FILTER_WORDS.search(text)):
        return Kind.FILTERED
    if codes & LENGTH_CODES or (status in (400, 413, 422, 500) and LENGTH_WORDS.search(text)):
        return Kind.TOO_LONG
    if status == HTTPStatus.PAYMENT_REQUIRED or codes & MONEY_CODES:
        return Kind.OUT_OF_MONEY
    if (
        status in (400, 403, 429)
        and MONEY_WORDS.search(text)
        and not (problem.try_later or LATER_WORDS.search(text))
    ):
        return Kind.OUT_OF_MONEY
    return None


def _by_part(problem: Problem, extras: Collection[str]) -> tuple[Kind | None, str]:
    if problem.status not in (400, 422, 500, 501):
        return None, ""
    named = re.split(r"[.\[]", problem.param)[0]
    if named == "model" or "model_not_found" in problem.codes:
        return Kind.NOT_FOUND, ""
    extra = _extra(problem, named, extras)
    if extra:
        return Kind.EXTRA, extra
    part = _part(problem, named)
    if part:
        ranged = problem.codes & RANGE_CODES or RANGE_WORDS.search(problem.text.lower())
        return (Kind.VALUE if ranged and part in (TOKENS, TEMPERATURE) else Kind.PART), part
    return (Kind.BAD, named) if named and problem.status in (400, 422) else (None, "")


def _minds(problem: Problem) -> bool:
    return bool(REFUSING_WORDS.search(problem.text.lower()[:NAMES_WITHIN]))


def _extra(problem: Problem, named: str, extras: Collection[str]) -> str:
    """Which of the user's own fields an error is about; "" if none."""
    text = problem.text.lower()[:NAMES_WITHIN]
    for extra in extras:
        word = rf"(?<!\w){re.escape(extra.lower())}(?!\w)"
        if named == extra.lower() or (not named and _minds(problem) and re.search(word, text)):
            return extra
    return ""


def _part(problem: Problem, named: str) -> str:
    """Which part of a request an error is about; "" if it names none that we send."""
    for part, words in PARTS[:-1]:
        if words.fullmatch(named):
            return part
    if named not in ("", "messages") or not _minds(problem):
        return ""
    text = problem.text.lower()[:NAMES_WITHIN]
    # An error in the messages may quote them: no reason to think of numbers.
    parts = [item for item in PARTS if not named or item[0] in (FORMAT, SYSTEM)]
    for part, words in parts:
        if words.search(text):
            return part
    return ""


def _by_status(status: int) -> Kind:
    other = Kind.BROKEN if status >= HTTPStatus.INTERNAL_SERVER_ERROR else Kind.BAD
    return BY_STATUS.get(status, other)
