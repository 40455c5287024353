"""Segment lines of the run file: a rating as plain JSON values, and back without loss."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from mmad_metric.chat import Usage
from mmad_metric.errors import InputError, Reason
from mmad_metric.files.json_lines import kind
from mmad_metric.mqm import Annotation, Category, MQMError, Severity
from mmad_metric.rating import (
    DebateRound,
    DimensionOutcome,
    ErrorCounts,
    Position,
    Segment,
    SegmentRating,
    Status,
)
from mmad_metric.scales import Scale

_T = TypeVar("_T")
_NOT_GIVEN: Any = object()
_USUAL = ("error_span", "category", "severity", "is_source_error")


def segment_line(rating: SegmentRating) -> dict[str, Any]:
    """The rating as it stands in the run file, keys in their fixed order; see
    docs/run-file.schema.json. Fields that would be empty are left out, but for those that
    every reader looks for."""
    segment = rating.segment
    line: dict[str, Any] = {"type": "segment", "system": segment.system, "index": segment.index}
    _put(line, "repeat", segment.repeat)
    _put(line, "id", segment.id)
    _put(line, "doc", segment.doc)
    line["source"] = segment.source
    line["translation"] = segment.translation
    _put(line, "reference", segment.reference)
    line["status"] = rating.status.value
    # -0.0, the negative of no penalty, is written as 0.0.
    line["score"] = None if rating.score is None else rating.score + 0.0
    _put(line, "scale", None if rating.scale is Scale.PENALTY else rating.scale.value)
    _put(line, "counts", rating.counts and rating.counts.to_dict())
    _put(line, "reason", rating.reason.value if rating.reason else None)
    _put(line, "detail", rating.detail or None)
    _put(line, "flags", list(rating.flags) or None)
    line["errors"] = [error.to_dict() for error in rating.errors]
    line["dimensions"] = _outcomes_line(rating.outcomes)
    _put(line, "analysis", rating.analysis or None)
    line["usage"] = {role: usage.to_dict() for role, usage in rating.usage.items()}
    for name in ("models", "levels", "adapted"):
        _put(line, name, list(getattr(rating, name)) or None)
    return line


def parse_segment_line(line: Mapping[str, Any]) -> SegmentRating:
    """The inverse of `segment_line`. Raises InputError that names what is wrong in the line."""
    try:
        segment = Segment(
            source=_get(line, "source", str),
            translation=_get(line, "translation", str),
            system=_get(line, "system", str),
            index=_get(line, "index", int),
            id=_get(line, "id", str, None),
            doc=_get(line, "doc", str, None),
            reference=_get(line, "reference", str, None),
            repeat=_repeat(line),
        )
        reason = _get(line, "reason", str, None)
        return SegmentRating(
            segment=segment,
            status=Status(_get(line, "status", str)),
            score=_score(line),
            errors=tuple(_error(item) for item in _items(line, "errors", dict)),
            reason=None if reason is None else Reason(reason),
            detail=_get(line, "detail", str, ""),
            flags=_strings(line, "flags"),
            outcomes=tuple(
                _outcome(name, value) for name, value in _get(line, "dimensions", dict).items()
            ),
            analysis=_get(line, "analysis", str, ""),
            usage={role: _usage(used) for role, used in _get(line, "usage", dict).items()},
            models=_strings(line, "models"),
            levels=_strings(line, "levels"),
            adapted=_strings(line, "adapted"),
            scale=Scale(_get(line, "scale", str, Scale.PENALTY.value)),
            counts=_counts(line),
        )
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"not a segment line: {error} is missing") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a segment line: {error}") from None


def _repeat(line: Mapping[str, Any]) -> int | None:
    repeat: int | None = _get(line, "repeat", int, None)
    if repeat is not None and repeat < 1:
        raise InputError(f"not a segment line: 'repeat' is {repeat}, not a number from 1")
    return repeat


def _counts(line: Mapping[str, Any]) -> ErrorCounts | None:
    counts = _get(line, "counts", dict, None)
    if counts is None:
        return None
    return ErrorCounts(_get(counts, "major", int), _get(counts, "minor", int))


def _error(line: dict[str, Any]) -> MQMError:
    _get(line, "text", str)
    for key in ("start", "end"):
        _get(line, key, int, None)
    for key in ("quoted", "raw_category", "raw_severity"):
        _get(line, key, str, None)
    _strings(line, "flags")
    if line.get("provenance") is not None:
        _check_provenance(_get(line, "provenance", dict))
    return MQMError.from_dict(line)


def _check_provenance(line: Mapping[str, Any]) -> None:
    for key in ("raised_by", "yielded"):
        _items(line, key, str)
    for key in ("rounds", "support", "asked"):
        _get(line, key, int)
    _get(line, "disputed", bool)
    _get(line, "judge", str, None)


def _usage(line: Mapping[str, Any]) -> Usage:
    usage = Usage(**line)
    for key in line:
        _get(line, key, int)
    return usage


def _outcomes_line(outcomes: Sequence[DimensionOutcome]) -> dict[str, Any]:
    lines = {outcome.dimension: _outcome_line(outcome) for outcome in outcomes}
    if len(lines) != len(outcomes):
        raise ValueError("two outcomes of one dimension in a rating")
    return lines


def _outcome_line(outcome: DimensionOutcome) -> dict[str, Any]:
    """`DimensionOutcome.to_dict()`, with what its annotations leave unsaid added to them."""
    line = outcome.to_dict()
    _complete(line["opening"], outcome.opening)
    _complete(line["outcome"], outcome.outcome)
    if outcome.counter is not None:
        _complete(line["counter"], outcome.counter)
        for round_line, debated in zip(line["rounds"], outcome.rounds, strict=True):
            for side in ("pro", "con"):
                position: Position | None = getattr(debated, side)
                if position is not None:
                    _complete(round_line[side]["annotations"], position.annotations)
            for side, answer in zip(("pro", "con"), debated.answers, strict=True):
                if answer is not None:
                    _complete(round_line["answers"][side]["annotations"], answer.annotations)
    return line


def _complete(lines: list[dict[str, Any]], annotations: Sequence[Annotation]) -> None:
    """Adds the rare fields. A reply states an unknown label as the agent wrote it: `read_as` is
    then the category that it counts as."""
    for line, annotation in zip(lines, annotations, strict=True):
        if annotation.raw_category is not None:
            line["read_as"] = str(annotation.category)
            line["raw_category"] = annotation.raw_category
        if annotation.raw_severity is not None:
            line["raw_severity"] = annotation.raw_severity
        if annotation.flags:
            line["flags"] = list(annotation.flags)


def _outcome(dimension: str, line: Mapping[str, Any]) -> DimensionOutcome:
    return DimensionOutcome(
        dimension=dimension,
        opening=_annotations(line, "opening"),
        outcome=_annotations(line, "outcome"),
        counter=_annotations(line, "counter") if "counter" in line else None,
        rounds=tuple(_round(turn) for turn in line.get("rounds", ())),
        verdict=_get(line, "verdict", str, None),
    )


def _round(line: Mapping[str, Any]) -> DebateRound:
    pro = _position(line["pro"])
    if pro is None:
        raise InputError("not a segment line: a debate round without 'pro'")
    questions, answers = _get(line, "questions", dict, {}), _get(line, "answers", dict, {})
    return DebateRound(
        pro,
        _position(line["con"]),
        _get(line, "consistent", bool, None),
        (_get(questions, "pro", str, ""), _get(questions, "con", str, "")),
        (_position(answers.get("pro")), _position(answers.get("con"))),
    )


def _position(line: Mapping[str, Any] | None) -> Position | None:
    if line is None:
        return None
    return Position(_get(line, "argument", str), _annotations(line, "annotations"))


def _annotations(line: Mapping[str, Any], key: str) -> tuple[Annotation, ...]:
    return tuple(_annotation(item) for item in _items(line, key, dict))


def _annotation(line: Mapping[str, Any]) -> Annotation:
    if len(line) == len(_USUAL):
        values: Any = tuple(map(line.get, _USUAL))
        # Exact types: to the memory behind it, 1 and True are the same.
        if tuple(map(type, values)) == (str, str, str, bool):
            return _usual_annotation(values)
    dimension, _, subcategory = _get(
        line, "read_as" if "read_as" in line else "category", str
    ).partition("/")
    return Annotation(
        span=_get(line, "error_span", str),
        category=Category(dimension, subcategory or None),
        severity=Severity(line["severity"]),
        is_source_error=_get(line, "is_source_error", bool),
        raw_category=_get(line, "raw_category", str, None),
        raw_severity=_get(line, "raw_severity", str, None),
        flags=_strings(line, "flags"),
    )


@lru_cache(maxsize=4096)
def _usual_annotation(values: tuple[str, str, str, bool]) -> Annotation:
    """An annotation without rare fields. A debate repeats the same few over and over."""
    span, label, severity, is_source_error = values
    dimension, _, subcategory = label.partition("/")
    return Annotation(
        span, Category(dimension, subcategory or None), Severity(severity), is_source_error
    )


def _put(line: dict[str, Any], key: str, value: object) -> None:
    if value is not None:
        line[key] = value


def _get(line: Mapping[str, Any], key: str, wanted: type[_T], default: Any = _NOT_GIVEN) -> Any:
    """The value under the key. A default also stands for null."""
    value = line[key] if default is _NOT_GIVEN else line.get(key)
    if value is None and default is not _NOT_GIVEN:
        return default
    # In Python a boolean is a whole number; in a file it is not.
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise InputError(f"not a segment line: {key!r} is {kind(value)}")
    return value


def _score(line: Mapping[str, Any]) -> float | None:
    score = line["score"]
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise InputError(f"not a segment line: 'score' is {kind(score)}")
    if not abs(score) <= sys.float_info.max:  # also false for NaN
        raise InputError(f"not a segment line: 'score' is {score}")
    return float(score)


def _items(line: Mapping[str, Any], key: str, wanted: type[_T], default: Any = _NOT_GIVEN) -> Any:
    items = _get(line, key, list, default)
    for item in items:
        if not isinstance(item, wanted):
            raise InputError(f"not a segment line: {key!r} holds {kind(item)}")
    return items


def _strings(line: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_items(line, key, str, ()))
