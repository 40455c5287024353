"""Reply text to typed value: what each kind of reply must look like, and what is made of it.

The schemas are strict, the reading is tolerant, and whatever cannot be read for certain raises
`UnreadableReply`: it is never an empty list of errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from mmad_metric.chat import ReplySchema, UnreadableReply
from mmad_metric.labels import OwnLabels
from mmad_metric.mqm import Annotation
from mmad_metric.normalise import sound
from mmad_metric.rating import Position
from mmad_metric.replies.items import (
    ITEM_KEYS,
    LIST_KEYS,
    MISSING,
    REMARK_KEYS,
    Asking,
    is_grouped,
    is_item,
    is_numbered,
    lookup,
    read_annotations,
    unpacked,
)
from mmad_metric.replies.search import Reader, read_reply

_ARGUMENT_KEYS = ("argument", "arguments", "reasoning", "explanation", "analysis")
_ANALYSIS_KEYS = ("analysis", "reasoning", "explanation", "argument")
_QUESTION_KEYS = ("questions", "question")
_VERDICT_KEYS = ("consistent", "consistency", "consensus", "agreement", "agree", "answer")
PROSE_KEYS = frozenset((*_ARGUMENT_KEYS, *_ANALYSIS_KEYS))

_YES = frozenset(("yes", "true", "是", "はい", "ja", "sí", "si", "oui", "да"))
_NO = frozenset(("no", "false", "否", "不", "いいえ", "nein", "non", "нет"))
_LABEL_WORDS = 4
_BUT = frozenset(("not", "but", "however", "although", "except", "partly", "partially"))


class Shape(BaseModel):
    """A reply's fields: all of them required, no others allowed."""

    model_config = ConfigDict(extra="forbid")


class _AnnotationShape(Shape):
    error_span: str
    category: str
    severity: Literal["minor", "major"]
    is_source_error: bool


class _AnnotationsShape(Shape):
    annotations: list[_AnnotationShape]


class _CoupledAnnotationShape(Shape):
    error_span: str
    category: str
    severity: Literal["minor", "major", "critical"]
    is_source_error: bool


class _CoupledAnnotationsShape(Shape):
    annotations: list[_CoupledAnnotationShape]


class _DebateTurnShape(Shape):
    argument: str
    annotations: list[_AnnotationShape]


class _JudgementShape(Shape):
    analysis: str
    annotations: list[_AnnotationShape]


class _InterrogationShape(Shape):
    questions: str


class _ConsensusShape(Shape):
    consistent: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's annotations, not yet placed or merged, and its analysis."""

    analysis: str
    annotations: tuple[Annotation, ...]


@lru_cache(maxsize=64)
def dimension_annotations(home: str, own: OwnLabels = ()) -> ReplySchema:
    """An agent's annotations: tuple[Annotation, ...]. home: the dimension that is asked; own: the
    prompt pack's own labels."""
    build = partial(_annotations, asking=(home, own))
    return _annotating("dimension_annotations", _AnnotationsShape, build)


@lru_cache(maxsize=64)
def coupled_annotations(own: OwnLabels = (), *, critical: bool = False) -> ReplySchema:
    """The annotations of an agent for all dimensions: tuple[Annotation, ...]. critical: whether
    the agent is offered that severity too."""
    build = partial(_annotations, asking=(None, own))
    shape = _CoupledAnnotationsShape if critical else _AnnotationsShape
    return _annotating("coupled_annotations", shape, build)


@lru_cache(maxsize=64)
def debate_turn(home: str | None, own: OwnLabels = ()) -> ReplySchema:
    """A debater's turn in a dimension (None: in all of them): rating.Position."""
    build = partial(_position, asking=(home, own))
    return _annotating("debate_turn", _DebateTurnShape, build)


@lru_cache(maxsize=64)
def dimension_verdict(home: str | None, own: OwnLabels = ()) -> ReplySchema:
    """What whoever decides a debate makes of it: Judgement."""
    build = partial(_judgement, asking=(home, own))
    return _annotating("dimension_verdict", _JudgementShape, build)


@lru_cache(maxsize=64)
def final_judgement(own: OwnLabels = ()) -> ReplySchema:
    """The final judge's reply: Judgement."""
    build = partial(_judgement, asking=(None, own))
    return _annotating("final_judgement", _JudgementShape, build)


def _annotations(value: object, asking: Asking) -> tuple[Annotation, ...]:
    value = unpacked(value)
    if isinstance(value, dict):
        listed = lookup(value, LIST_KEYS)
        if listed == [] and any(value.get(key) for key in LIST_KEYS):
            raise UnreadableReply("one list of annotations is empty and another is not")
        value = _without_prose(value) if listed is MISSING else listed
    return read_annotations(value, asking)


def _without_prose(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in PROSE_KEYS}


def _position(value: object, asking: Asking) -> Position:
    value = unpacked(value)
    return Position(_prose(value, _ARGUMENT_KEYS), _annotations(value, asking))


def _judgement(value: object, asking: Asking) -> Judgement:
    value = unpacked(value)
    return Judgement(_prose(value, _ANALYSIS_KEYS), _annotations(value, asking))


def _questions(value: object) -> str:
    """What is asked, as one text; empty where nothing is left to ask."""
    value = unpacked(value)
    if isinstance(value, dict):
        value = lookup(value, _QUESTION_KEYS)
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise UnreadableReply("no questions")
    return sound(value).strip()


def _questions_prose(text: str) -> str:
    """A reply without JSON is taken as the questions when it asks something."""
    if text[:1] in "{[" or not any(mark in text for mark in "?\uff1f\u061f"):
        raise UnreadableReply("no questions")
    return sound(text).strip()


def _asks(value: object) -> bool:
    return isinstance(value, dict) and lookup(value, _QUESTION_KEYS) is not MISSING


def _prose(value: object, names: Iterable[str]) -> str:
    """The text under one of the names. A missing argument costs nobody its annotations."""
    said = lookup(value, names) if isinstance(value, dict) else MISSING
    if isinstance(said, list) and all(isinstance(part, str) for part in said):
        said = "\n".join(said)
    return sound(said) if isinstance(said, str) else ""


def _claims_annotations(value: object) -> bool:
    if isinstance(value, list):
        return any(is_item(item) for item in value)
    if not isinstance(value, dict):
        return False
    if lookup(value, LIST_KEYS) is not MISSING:
        return True
    listed = _without_prose(value)
    return is_numbered(listed) or is_grouped(listed)


def _consistent(value: object) -> bool:
    """Whether it is a yes. Anything unclear under the right name is a no."""
    value = unpacked(value)
    if isinstance(value, dict):
        value = lookup(value, _VERDICT_KEYS)
        if value is not MISSING:
            return value is True or (isinstance(value, str) and _verdict(value) is True)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _consistent_prose(value)
    raise UnreadableReply("neither yes nor no")


def _consistent_prose(text: str) -> bool:
    verdict = _verdict(text)
    if verdict is None:
        raise UnreadableReply("neither yes nor no")
    return verdict


def _verdict(text: str) -> bool | None:
    """A yes that nothing takes back, a no, or neither: the first word counts, which may stand
    after a label as in "Final answer: yes"."""
    label, colon, rest = text.casefold().partition(":")
    words = re.findall(r"\w+", label)
    if colon and len(words) <= _LABEL_WORDS and not any(word in _YES | _NO for word in words):
        words = []
    words += re.findall(r"\w+", rest)
    lead = words[0] if words else ""
    if lead in _YES:
        return not any(word in _NO or word in _BUT for word in words)
    return False if lead in _NO else None


def _claims_verdict(value: object) -> bool:
    return isinstance(value, dict) and lookup(value, _VERDICT_KEYS) is not MISSING


def _written(names: Iterable[str]) -> re.Pattern[str]:
    """One of the names as a key in JSON or nearly JSON."""
    quote = "[\"'\u201c\u201d\u201e\u2018\u2019]"
    return re.compile(f"{quote}(?:{'|'.join(names)}){quote}\\s*:", re.IGNORECASE)


def _annotating(name: str, shape: type[BaseModel], build: Callable[[object], Any]) -> ReplySchema:
    known = ITEM_KEYS | REMARK_KEYS | PROSE_KEYS | set(LIST_KEYS)
    reader = Reader(build, _claims_annotations, _written(LIST_KEYS), known)
    return reply_schema(name, shape, reader)


def reply_schema(name: str, shape: type[BaseModel], reader: Reader[Any]) -> ReplySchema:
    """A schema as servers know it, and how replies to it are read."""
    return ReplySchema(name, strict_schema(shape), partial(read_reply, reader))


def strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema without references, which simple servers do not follow."""
    schema = shape.model_json_schema()
    definitions = schema.pop("$defs", {})

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inlined(definitions[part["$ref"].rpartition("/")[2]])
        return {
            key: inlined(item)
            for key, item in part.items()
            if not (key in ("title", "description") and isinstance(item, str))
        }

    result: dict[str, Any] = inlined(schema)
    return result


FINAL_JUDGEMENT = final_judgement()
INTERROGATION = reply_schema(
    "interrogation",
    _InterrogationShape,
    Reader(
        _questions,
        _asks,
        _written(_QUESTION_KEYS),
        frozenset(_QUESTION_KEYS) | PROSE_KEYS | REMARK_KEYS,
        _questions_prose,
    ),
)
CONSENSUS_CHECK = reply_schema(
    "consensus_check",
    _ConsensusShape,
    Reader(
        _consistent,
        _claims_verdict,
        _written(_VERDICT_KEYS),
        frozenset(_VERDICT_KEYS) | PROSE_KEYS | REMARK_KEYS,
        _consistent_prose,
    ),
)
