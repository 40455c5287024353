"""Reply schemas made narrow for one segment, so that a small model cannot help but quote it.

A grammar-constrained server then gives spans that occur in the texts, known labels where they
are given, and replies that come to an end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from mmad_metric.mqm import NON_TRANSLATION, TYPOLOGY, WHOLE_SEGMENT

# Goes into cache keys: another narrowing gives other replies.
NARROWING = 3

# Measured with llama.cpp on two cores, CPU time a token: 26 ms without spans, 26-30 ms up to
# these bounds (the grammar itself takes 0.03 s a call), 31-37 ms at twice, 150 ms at five times.
MOST_SPANS = 2_000
MOST_LETTERS = 50_000
# A text of many units goes down this list until its spans fit.
SPAN_UNITS = (24, 16, 12, 8, 6, 4, 3)

LABELS = tuple(f"{name}/{sub}" for name, subs in TYPOLOGY.items() for sub in subs)
_OMISSION = "/omission"  # of whatever dimension
_PROSE_FIELDS = ("argument", "analysis", "questions")
_COUNT_FIELDS = ("major", "minor")
_SCORE_FIELD, _BEST_SCORE = "score", 100
_LONGEST_LABEL = 60
_LONGEST_FREE_SPAN = 400


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a reply may hold.

    items: errors in a list; letters: of an argument or analysis; units: the longest span that
    may be asked for must have at least so many words, else spans are left free; labels: the
    only categories, beside non-translation (none: any); whole: whether a reply may call the
    whole segment a non-translation.
    """

    items: int
    letters: int
    units: int
    labels: tuple[str, ...] = ()
    whole: bool = True


# A model of 135 M parameters repeats itself until something stops it, and would answer nothing
# but non-translation: there would be no spans to see.
TIGHT = Bounds(items=4, letters=300, units=3, labels=LABELS, whole=False)
# A model that can judge is only kept from quoting what is not there, and from never ending.
ROOMY = Bounds(items=24, letters=1_800, units=8)


def constrain(
    schema: Mapping[str, Any], texts: tuple[str, str], bounds: Bounds = TIGHT
) -> dict[str, Any]:
    """A reply schema narrowed for a segment (source, translation).

    Spans become an enum of the texts' own stretches of words (of letters in scripts without
    spaces): the source's go with is_source_error true, the translation's with false, "all" with
    non-translation. Texts too long for that keep free spans. Counts of errors go up to the items
    of a list, a score to 100, in whole numbers: a number without bounds need never end. A schema
    without such fields comes back as it is. The schema given is not changed.
    """
    spans = span_choices(texts, bounds.units)
    narrowed: dict[str, Any] = _narrow(schema, spans, bounds)
    return narrowed


def _narrow(part: Any, spans: tuple[tuple[str, ...], ...] | None, bounds: Bounds) -> Any:
    if isinstance(part, list):
        return [_narrow(each, spans, bounds) for each in part]
    if not isinstance(part, Mapping):
        return part
    fields = part.get("properties", {})
    if "error_span" in fields:
        return _annotation(part, spans, bounds)
    result = {key: _narrow(value, spans, bounds) for key, value in part.items()}
    for name in fields:
        if name in _PROSE_FIELDS:
            result["properties"][name]["maxLength"] = bounds.letters
        elif name in _COUNT_FIELDS or name == _SCORE_FIELD:
            most = _BEST_SCORE if name == _SCORE_FIELD else bounds.items
            result["properties"][name] = {"type": "integer", "minimum": 0, "maximum": most}
    if part.get("type") == "array":
        result["maxItems"] = bounds.items
    return result


def _annotation(
    part: Mapping[str, Any], spans: tuple[tuple[str, ...], ...] | None, bounds: Bounds
) -> dict[str, Any]:
    """The shape of one annotation, as alternatives that each hang together."""
    if spans is None:
        return _free(part, bounds)
    source, translation = spans
    omitted, present = _by_side(bounds.labels)
    variants = []
    if bounds.whole:
        whole = ({"enum": [WHOLE_SEGMENT]}, {"enum": [NON_TRANSLATION]})
        variants.append(_variant(part, *whole, flag=False))
    # An empty list of labels means any label, unless labels were given and none is of this side.
    if translation and (present or not bounds.labels):
        variants.append(_variant(part, {"enum": list(translation)}, _category(present), flag=False))
    if source and (omitted or not bounds.labels):
        variants.append(_variant(part, {"enum": list(source)}, _category(omitted), flag=True))
    return {"anyOf": variants} if variants else _free(part, bounds)


def _free(part: Mapping[str, Any], bounds: Bounds) -> dict[str, Any]:
    """The shape of one annotation whose words are anybody's."""
    labels = (*bounds.labels, NON_TRANSLATION) if bounds.labels and bounds.whole else bounds.labels
    return _variant(part, {"maxLength": _LONGEST_FREE_SPAN}, _category(labels))


def _by_side(labels: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels whose words stand in the source, and those whose words stand in the translation."""
    labels = tuple(labels)
    return (
        tuple(label for label in labels if label.endswith(_OMISSION)),
        tuple(label for label in labels if not label.endswith(_OMISSION)),
    )


def _category(labels: tuple[str, ...]) -> dict[str, Any]:
    return {"enum": list(labels)} if labels else {"maxLength": _LONGEST_LABEL}


def _variant(
    part: Mapping[str, Any],
    span: Mapping[str, Any],
    category: Mapping[str, Any],
    *,
    flag: bool | None = None,
) -> dict[str, Any]:
    fields = dict(part["properties"])
    fields["error_span"] = {**fields["error_span"], **span}
    if "category" in fields:
        fields["category"] = {**fields["category"], **category}
    if "is_source_error" in fields and flag is not None:
        fields["is_source_error"] = {**fields["is_source_error"], "enum": [flag]}
    return {**part, "properties": fields}


@lru_cache(maxsize=64)
def span_choices(
    texts: tuple[str, str], least_units: int
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """All stretches of (source, translation) that a span may be, longest allowed length first
    lowered until they fit MOST_SPANS and MOST_LETTERS. None when even `least_units` do not."""
    if sum(map(len, texts)) > MOST_LETTERS:  # no need to look into a whole book
        return None
    places = [list(_units(text)) for text in texts]
    for units in SPAN_UNITS:
        if units < least_units:
            return None
        source, translation = (
            _stretches(text, where, units) for text, where in zip(texts, places, strict=True)
        )
        if source is not None and translation is not None and _fit([*source, *translation]):
            return source, translation
    return None


def _fit(spans: list[str]) -> bool:
    return len(spans) <= MOST_SPANS and sum(map(len, spans)) <= MOST_LETTERS


def _stretches(text: str, units: list[tuple[int, int]], most: int) -> tuple[str, ...] | None:
    """Each run of up to `most` units as it stands in the text, in order, once. None when they
    are too long to be listed at all."""
    found: dict[str, None] = {}
    letters = 0
    for first, (start, _) in enumerate(units):
        for _, end in units[first : first + most]:
            span = text[start:end]
            letters += 0 if span in found else len(span)
            if letters > MOST_LETTERS:
                return None
            found[span] = None
    return tuple(found)


def _units(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each word, each run of signs, and each letter of scripts without spaces."""
    start = 0
    for kind, run in groupby(_kinds(text)):
        length = sum(1 for _ in run)
        if kind[0] != "b":
            yield start, start + length
        start += length


def _kinds(text: str) -> Iterator[tuple[str, int]]:
    """For each character what it is: (w)ord, (s)ign, (b)lank; neighbours that are equal belong
    together. Marks and joiners go with what they follow."""
    last = ("b", 0)
    for position, letter in enumerate(text):
        category = unicodedata.category(letter)
        if letter.isspace():
            last = ("b", 0)
        elif category[0] == "M" or category == "Cf":
            last = ("w", position) if last[0] == "b" else last
        elif _stands_alone(letter):
            last = ("w", position + 1)  # a number of its own, so that no neighbour joins
        elif category[0] in "PS":
            last = ("s", 0)
        else:
            last = ("w", 0)
        yield last


# First and last letters of blocks that are written without spaces: Thai and Lao, Myanmar, Khmer,
# hiragana, Han with its extensions. Katakana words are short enough to be words.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x309F),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)


def _stands_alone(letter: str) -> bool:
    code = ord(letter)
    return code >= _UNSPACED[0][0] and any(first <= code <= last for first, last in _UNSPACED)
