"""Finds the JSON in a reply: what a model wrote around it, before it, or about it is left aside.

Knows strings, so that a bracket in a span or in prose is not taken for structure, and knows the
thinking parts of reasoning models, where drafts are no answers. One pass, roughly linear.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from mmad_metric.replies.mend import mend

# Bounds on the work: broken places in one reply that are looked at again, and at all.
_MAX_MENDS = 16
_MAX_BROKEN = 256
_MAX_RESTARTS = 64

_TAGS = "think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis|seed:think"
_OPEN = (
    rf"<\s*(?:{_TAGS})\s*>|\[THINK\]|\u25c1think\u25b7|<\|begin_of_thought\|>"
    r"|<\|channel\|>\s*analysis"
)
_CLOSE = (
    rf"</\s*(?:{_TAGS})\s*>|\[/THINK\]|\u25c1/think\u25b7|<\|end_of_thought\|>"
    r"|<\|channel\|>\s*final\s*(?:<\|message\|>)?"
)
_QUOTE = "[\"'\u201c\u201e\u2018]"
_LANDMARK = re.compile(
    rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<json>\{{\s*{_QUOTE}|\[\s*\{{\s*{_QUOTE})",
    re.IGNORECASE,
)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)
_OPENING = re.compile(_OPEN, re.IGNORECASE)
_FENCED = re.compile(r"\s*```[\w-]*\s(?P<inside>.*?)\s*```\s*\Z", re.DOTALL)
_REST = re.compile(r"\s*(?:```)?\s*\Z")
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)
_LINE_START = re.compile(r'^[ \t]*(\{\s*")', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Found:
    """One JSON value in a text, `text[start:end]`.

    how: "exact"; "guessed" where unescaped quotation marks had to be told from real ones;
    "broken" where no value could be read (`value` is None then).
    """

    value: object
    start: int
    end: int
    how: Literal["exact", "guessed", "broken"]


def decode(text: str) -> Any:
    """The value that the whole text is. Raises ValueError on anything but strict JSON.

    Line breaks inside strings are let through (they mean themselves); NaN, infinities and a key
    that stands twice in one object are not: the first of two values would be lost.
    """
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, strict=False)


def after_thinking(text: str) -> tuple[int, str] | None:
    """Where the part meant for the reader begins, and the tag before it ("" at the start).

    None if thinking never ended.
    """
    start, tag = 0, ""
    for close in _CLOSING.finditer(text):
        start, tag = close.end(), close.group()
    return None if _OPENING.search(text, start) else (start, tag)


def unfenced(text: str) -> str:
    """The text without blank edges, byte order mark and a code fence around the whole."""
    text = text.strip("\ufeff \t\r\n")
    fenced = _FENCED.match(text)
    return fenced["inside"] if fenced else text


def find_json(text: str) -> list[Found]:
    """Every outermost object, and list of objects, outside thinking parts, in order.

    Nothing inside a value counts on its own: the items of a reply that was cut off are not
    found. Text that ends in the middle of thinking holds no answer at all.
    """
    found: list[Found] = []
    position, broken = 0, 0
    while (landmark := _LANDMARK.search(text, position)) is not None:
        position = landmark.end()
        if landmark.lastgroup == "open":
            close = _CLOSING.search(text, position)
            if close is None:
                return []
            position = close.end()
        elif landmark.lastgroup == "close":  # its opening tag stood in the prompt
            found.clear()
        else:
            here = _read_at(text, landmark.start(), may_mend=broken < _MAX_MENDS)
            broken += here.how != "exact"
            if broken > _MAX_BROKEN:
                here, position = Found(None, here.start, len(text), "broken"), len(text)
            elif here.how == "broken" and here.end == len(text):
                here, position = _give_up_or_restart(text, here, found)
            else:
                position = here.end
            found.append(here)
    return found


def _read_at(text: str, start: int, *, may_mend: bool) -> Found:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return Found(value, start, end, "exact")
    except (ValueError, RecursionError):
        pass
    for guess in (False, True) if may_mend else ():
        mended = mend(text, start, guess=guess)
        if mended is not None:
            try:
                value = decode(mended.json)
            except ValueError:
                continue
            return Found(value, start, mended.end, "guessed" if guess else "exact")
    return Found(None, start, _balanced_end(text, start), "broken")


def _balanced_end(text: str, start: int) -> int:
    """Where the brackets opened at `start` are closed again; the text's end if never."""
    depth = 0
    for match in _STRUCTURE.finditer(text, start):
        mark = match.group()
        if mark == '"':
            break
        if mark in ("{", "["):
            depth += 1
        elif mark in ("}", "]"):
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def _give_up_or_restart(text: str, broken: Found, found: list[Found]) -> tuple[Found, int]:
    """After a value that never ends: (what to report, where to go on).

    A broken draft may have swallowed what came after it. The answer is still there if thinking
    ends later on, or if an object that begins a line ends the reply.
    """
    close = _CLOSING.search(text, broken.start)
    if close is not None:
        return Found(None, broken.start, close.start(), "broken"), close.start()
    for number, line in enumerate(_LINE_START.finditer(text, broken.start + 1)):
        if number == _MAX_RESTARTS:
            break
        try:
            value, end = _DECODER.raw_decode(text, line.start(1))
        except (ValueError, RecursionError):
            continue
        if _REST.match(text, end):
            found.append(Found(None, broken.start, line.start(1), "broken"))
            return Found(value, line.start(1), end, "exact"), end
    return broken, len(text)
