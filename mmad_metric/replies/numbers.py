"""Replies that are numbers: a direct score from 0 to 100, and counts of errors by severity.

Tolerant of how a number is written, strict about which one is meant: where two readings are
possible, or the number is none that was asked for, the reply is unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mmad_metric.chat import UnreadableReply
from mmad_metric.errors import quoted
from mmad_metric.rating import ErrorCounts
from mmad_metric.replies.items import MISSING, REMARK_KEYS, lookup, unpacked
from mmad_metric.replies.search import Reader
from mmad_metric.replies.shapes import PROSE_KEYS, Shape, reply_schema
from mmad_metric.scales import Scale

_SCORE_KEYS = ("score", "rating", "grade", "assessment", "direct_assessment", "value")
_MAJOR_KEYS = ("major", "major_errors", "n_major", "num_major", "major_count")
_MINOR_KEYS = ("minor", "minor_errors", "n_minor", "num_minor", "minor_count")
_THOUGHT_KEYS = PROSE_KEYS | {"thought", "thoughts"}
_MOST_ERRORS = 999  # more is no count of a segment's errors
_MOST_DIGITS = 9
_NEVER = re.compile(r"(?!)")  # broken JSON is not mended here: a digit may be missing

# A number that stands alone: no part of a word, a date, a version or a longer number.
_NUMBER = re.compile(
    r"(?<![\w.,:/])(?<![eE][-+])[-+\u2212]?\d+(?:[.,]\d+)?(?![A-Za-z0-9_]|[.,:/]\d)"
)
# The scale itself, which is no score: "/100", "out of 100", "(0-100)".
_SCALE = re.compile(
    r"\s*/\s*100(?![\d.,]*\d)|\bout\s+of\s+(?:a\s+(?:possible\s+)?)?100(?![\d.,]*\d)"
    r"|\b(?:from\s+)?0\s*(?:-|\u2013|\u2014|to|bis|\.\.)\s*100(?![\d.,]*\d)",
    re.IGNORECASE,
)
_SCORE_LABEL = re.compile(
    r"(?:\b(?:score|rating|grade|punktzahl|bewertung|puntuaci\u00f3n|\u043e\u0446\u0435\u043d\u043a\u0430)\b"
    r"|\u8bc4\u5206|\u5206\u6570|\u5f97\u5206|\u30b9\u30b3\u30a2)(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_COUNT_WORDS = {
    word: number
    for number, words in enumerate(
        ("zero no none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
         "ten")
    )
    for word in words.split()
}  # fmt: skip
_COUNT = rf"\d{{1,{_MOST_DIGITS}}}|{'|'.join(_COUNT_WORDS)}"
_SEVERITY = r"\b(?P<severity>major|minor)\b"
_MARKS = r"[*_`\"' \t]*"  # of emphasis; never a new line, which may begin a numbered list
# "Major errors: 2", "Minor = one"; and "2 major", "no minor errors".
_LABEL_FIRST = re.compile(
    rf"{_SEVERITY}(?:[ \t]+(?:errors?|mistakes?|issues?))?(?:[ \t]+count)?"
    rf"{_MARKS}[:=\u2013-]{_MARKS}(?P<count>{_COUNT})(?![\w.,]*\d)\b",
    re.IGNORECASE,
)
_COUNT_FIRST = re.compile(
    rf"(?<![\w.,-])(?P<count>{_COUNT})[*_`]*[ \t]+[*_`]*{_SEVERITY}", re.IGNORECASE
)
_SEVERAL = re.compile(r"\d[ \t]*(?:-|\u2013|\u2014|to|or)[ \t]*\d", re.IGNORECASE)
_TWO_NUMBERS = re.compile(
    rf"[\s(\[*_`]*(\d{{1,{_MOST_DIGITS}}})\s*[,;/\s]\s*(\d{{1,{_MOST_DIGITS}}})[\s)\]*_`.]*"
)


class _ScoreShape(Shape):
    score: float


class _CountsShape(Shape):
    major: int
    minor: int


def _score(value: object) -> float:
    """A number from 0 to 100, alone or under the name of a score."""
    value = unpacked(value)
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    if isinstance(value, dict):
        value = lookup(value, _SCORE_KEYS)
    if isinstance(value, str):
        return _score_prose(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnreadableReply("no score")
    return _on_scale(value)


def _score_prose(text: str) -> float:
    """The one number that follows the name of a score; without such a name the one number that
    there is. "85/100" and "85 out of 100" are 85."""
    _refuse_broken(text)
    text = _SCALE.sub(" ", text)
    labelled = [label["rest"] for label in _SCORE_LABEL.finditer(text)]
    named = {number for rest in labelled for number in _numbers(rest)}
    found = named or set(_numbers(text))
    if len(found) != 1:
        raise UnreadableReply(f"{len(found)} numbers where one score is expected")
    return _on_scale(found.pop())


def _refuse_broken(text: str) -> None:
    """JSON that could not be read is no prose: it may have been cut off within a number."""
    if "{" in text:
        raise UnreadableReply("its JSON is broken")


def _numbers(text: str) -> list[float]:
    return [_number(match.group()) for match in _NUMBER.finditer(text)]


def _number(written_so: str) -> float:
    """A comma may be a decimal one; before three digits nobody knows."""
    whole, _, fraction = written_so.replace("\u2212", "-").replace(",", ".").partition(".")
    if "," in written_so and len(fraction) == 3:  # noqa: PLR2004 - a group of thousands
        raise UnreadableReply(f"{written_so} has two readings")
    if max(len(whole), len(fraction)) > _MOST_DIGITS:
        raise UnreadableReply("a number of too many digits")
    return float(f"{whole}.{fraction or 0}")


def _on_scale(number: float) -> float:
    if not Scale.DIRECT.holds(number):
        raise UnreadableReply(f"a score {Scale.DIRECT.range} is expected, not {str(number)[:20]}")
    return float(number) + 0.0


def _counts(value: object) -> ErrorCounts:
    """Two whole numbers under the names of the severities, or in that order alone."""
    value = unpacked(value)
    if isinstance(value, str):
        return _counts_prose(value)
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004 - major, minor
        return ErrorCounts(*map(_count, value))
    if not isinstance(value, dict):
        raise UnreadableReply("no counts")
    if _count(_given(value, ("critical",), 0)):
        raise UnreadableReply("critical errors are counted, which nobody asked for")
    return ErrorCounts(_count(_given(value, _MAJOR_KEYS)), _count(_given(value, _MINOR_KEYS)))


def _given(value: Mapping[str, object], names: Iterable[str], default: object = MISSING) -> object:
    found: object = lookup(value, names)
    if found is not MISSING:
        return found
    if default is MISSING:
        raise UnreadableReply(f"no number of {next(iter(names))} errors")
    return default


def _count(said: object) -> int:
    if isinstance(said, str):
        word = said.strip().casefold()
        plain = word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS
        said = int(word) if plain else _COUNT_WORDS.get(word)
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    if isinstance(said, bool) or not isinstance(said, int) or not 0 <= said <= _MOST_ERRORS:
        raise UnreadableReply(f"{quoted(str(said))} is no number of errors")
    return said


def _counts_prose(text: str) -> ErrorCounts:
    """Each severity with exactly one number; or two numbers and nothing else, major first."""
    _refuse_broken(text)
    pair = _TWO_NUMBERS.fullmatch(text)
    if pair is not None:
        return ErrorCounts(_count(pair[1]), _count(pair[2]))
    if _SEVERAL.search(text):
        raise UnreadableReply("a range of numbers")
    found: dict[str, set[int]] = {"major": set(), "minor": set()}
    for pattern in (_LABEL_FIRST, _COUNT_FIRST):
        for match in pattern.finditer(text):
            found[match["severity"].casefold()].add(_count(match["count"]))
        if any(found.values()):  # one way of putting it; a second one would read across it
            break
    for severity, numbers in found.items():
        if len(numbers) != 1:
            raise UnreadableReply(f"{len(numbers)} numbers of {severity} errors, not one")
    return ErrorCounts(found["major"].pop(), found["minor"].pop())


def _claims_score(value: object) -> bool:
    return isinstance(value, dict) and lookup(value, _SCORE_KEYS) is not MISSING


def _claims_counts(value: object) -> bool:
    return isinstance(value, dict) and any(
        lookup(value, names) is not MISSING for names in (_MAJOR_KEYS, _MINOR_KEYS)
    )


DIRECT_ASSESSMENT = reply_schema(
    "direct_assessment",
    _ScoreShape,
    Reader(
        _score,
        _claims_score,
        _NEVER,
        frozenset(_SCORE_KEYS) | _THOUGHT_KEYS | REMARK_KEYS,
        _score_prose,
    ),
)
ERROR_COUNTS = reply_schema(
    "error_counts",
    _CountsShape,
    Reader(
        _counts,
        _claims_counts,
        _NEVER,
        frozenset((*_MAJOR_KEYS, *_MINOR_KEYS, "critical")) | _THOUGHT_KEYS | REMARK_KEYS,
        _counts_prose,
    ),
)
