"""Which JSON in a reply is the answer: the last that claims to be one, unless it is an echo.

An answer that claims to be one and cannot be read for certain makes the whole reply unreadable;
an earlier draft never stands in for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mmad_metric.chat import UnreadableReply
from mmad_metric.errors import quoted
from mmad_metric.normalise import sound
from mmad_metric.replies.mend import goes_on, has_only_keys, repair
from mmad_metric.replies.scan import Found, after_thinking, decode, find_json, unfenced

Value = TypeVar("Value")
Texts = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reader(Generic[Value]):
    """One kind of reply.

    build: the value of decoded JSON, or UnreadableReply; claims: whether decoded JSON found
    among other text is meant as an answer; key: a key of an answer, as it is written; known:
    every key that an answer may hold; build_prose: the value of a reply without any JSON.
    """

    build: Callable[[object], Value]
    claims: Callable[[object], bool]
    key: re.Pattern[str]
    known: frozenset[str]
    build_prose: Callable[[str], Value] | None = None


def read_reply(reader: Reader[Value], text: str, texts: tuple[str, str]) -> Value:
    """The reply's value; texts is the segment's (source, translation).

    Raises UnreadableReply and nothing else.
    """
    try:
        try:
            value = decode(text)
        except ValueError:
            return _search(reader, text, texts)
        return reader.build(value)
    except RecursionError:
        raise UnreadableReply("nested too deeply") from None


def _search(reader: Reader[Value], text: str, texts: Texts) -> Value:
    """The answer of a reply that is not JSON as a whole."""
    after = after_thinking(text)
    # A closing tag quoted from the texts would make what follows it look like a whole reply.
    if after is None or (after[1] and _occurs(after[1], texts)):
        spoken = ""
    else:
        spoken = unfenced(text[after[0] :])
        try:
            value = decode(spoken)
        except ValueError:
            pass
        else:
            return reader.build(value)
    answers = [
        each
        for each in find_json(text)
        if _claims(reader, each, text)
        and (text[each.start : each.end] == spoken or not _is_echo(text, each, texts))
    ]
    objects = [each for each in answers if text[each.start] == "{"]
    if answers:
        return reader.build(_decoded(reader, (objects or answers)[-1], text))
    if reader.build_prose is not None and spoken:
        return reader.build_prose(spoken)
    raise UnreadableReply(f"no JSON of the wanted shape in {quoted(sound(text))}")


def _claims(reader: Reader[Value], found: Found, text: str) -> bool:
    if found.how == "broken":
        return reader.key.search(text, found.start, found.end) is not None
    return reader.claims(found.value)


def _decoded(reader: Reader[Value], found: Found, text: str) -> object:
    if found.how == "broken":
        value = repair(text[found.start : found.end], reader.known)
        if value is None or goes_on(text, found.end):
            raise UnreadableReply("its JSON is broken beyond certain repair")
        return value
    if found.how == "guessed" and not has_only_keys(found.value, reader.known):
        raise UnreadableReply("quotation marks inside its strings leave several readings")
    return found.value


def _is_echo(text: str, found: Found, texts: Texts) -> bool:
    """Whether the JSON was quoted from the segment (blanks aside)."""
    return _occurs(text[found.start : found.end], texts)


def _occurs(words: str, texts: Texts) -> bool:
    if any(words in text for text in texts):
        return True
    packed = "".join(words.split())
    return any(packed in "".join(text.split()) for text in texts)
