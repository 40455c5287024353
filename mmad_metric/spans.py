"""Finds the spans that agents quote in the source and in the translation.

Offsets are code points into the text as given, half-open. A model's own offsets are never read.
Words are found as they stand, or equal under `normalise.fold`; nothing else is ever "found", so
a changed word, digit or punctuation mark leaves the error unplaced, but counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from mmad_metric.mqm import (
    SOURCE_ISSUE,
    WHOLE_SEGMENT,
    Annotation,
    Category,
    MQMError,
    Placement,
    Side,
)
from mmad_metric.normalise import Folded, fold, inner_positions, inside_words, without_quotes

# What a model says that has nothing to quote. A blank may well be the error.
_NOTHING = ("",)
# How much text (code points) one ellipsis in a quotation may stand for: about a clause.
MAX_GAP = 100
# A quotation in more parts than this is not a shortened one, and joining it would be slow.
_MAX_PARTS = 8
_DOTS = "(?:[\u2026\u22ef]|\\.{3})[.\u2026\u22ef]*"
_ELLIPSIS = re.compile(rf"\[ ?{_DOTS} ?\]|\( ?{_DOTS} ?\)|{_DOTS}")
_OMISSION = Category("accuracy", "omission")

Spot = tuple[int, int]


def place(annotations: Sequence[Annotation], source: str, translation: str) -> tuple[MQMError, ...]:
    """Place each annotation: one error for each, in the same order, nothing merged or dropped.

    Omissions, source issues and what the agent calls a source error are looked for in the
    source first, everything else in the translation first; the other text comes second, for
    uncut whole words only, and a side at odds with the annotation is flagged `found_in_source`
    or `found_in_translation`. What is found nowhere is unplaced on the first side.

    Annotations alike in occurrences, category and severity take successive occurrences, and
    the surplus takes the last one again. Any other annotation starts at the first occurrence,
    so that two labels for the same words meet on one span. Non-translation, and nothing else,
    covers the whole translation whatever words it quotes.
    """
    texts = {Side.SOURCE: _known_text(source), Side.TRANSLATION: _known_text(translation)}
    claims: Counter[Hashable] = Counter()
    errors = []
    for annotation in annotations:
        if annotation.category.is_non_translation:
            errors.append(_whole(annotation, translation))
            continue
        side, found = _look_for(annotation, texts)
        if found is None:
            errors.append(_error(annotation, side, annotation.span))
            continue
        label = (annotation.category, annotation.raw_category, annotation.severity)
        kind = (side, found.spots, label)
        start, end = found.spots[min(claims[kind], len(found.spots) - 1)]
        claims[kind] += 1
        words = texts[side].text[start:end]
        errors.append(_error(annotation, side, words, start, found.placement))
    return tuple(errors)


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a quotation stands in one text: its occurrences from left to right, apart."""

    placement: Placement
    spots: tuple[Spot, ...]
    whole_words: bool

    @property
    def certain(self) -> bool:
        """Good enough for the text where the quotation was not expected."""
        return self.whole_words and self.placement is not Placement.APPROXIMATE


@dataclass
class _Text:
    """One text with what is worked out about it once, and only when needed."""

    text: str
    looked_up: dict[str, _Found | None] = field(default_factory=dict)
    equals: dict[str, list[Spot]] = field(default_factory=dict)

    @cached_property
    def inner(self) -> frozenset[int]:
        return inner_positions(self.text)

    @cached_property
    def inside_words(self) -> frozenset[int]:
        return inside_words(self.text)

    @cached_property
    def folded(self) -> Folded:
        return fold(self.text)

    def find(self, span: str) -> _Found | None:
        if span not in self.looked_up:
            self.looked_up[span] = _find(span, self)
        return self.looked_up[span]


@lru_cache(maxsize=32)
def _known_text(text: str) -> _Text:
    """The texts of a segment are looked through for each agent's word in turn."""
    return _Text(text)


def _look_for(annotation: Annotation, texts: dict[Side, _Text]) -> tuple[Side, _Found | None]:
    """Where the quoted words stand; the side that they belong to if they stand nowhere."""
    first, second = _sides(annotation)
    found = texts[first].find(annotation.span)
    if found is None:
        elsewhere = texts[second].find(annotation.span)
        if elsewhere is not None and elsewhere.certain:
            return second, elsewhere
    return first, found


def _sides(annotation: Annotation) -> tuple[Side, Side]:
    category = annotation.category
    if annotation.is_source_error or category == _OMISSION or category.dimension == SOURCE_ISSUE:
        return Side.SOURCE, Side.TRANSLATION
    return Side.TRANSLATION, Side.SOURCE


def _whole(annotation: Annotation, translation: str) -> MQMError:
    if annotation.span in ("", WHOLE_SEGMENT):  # words that only say "everything"
        annotation = replace(annotation, span=translation)
    return _error(annotation, Side.TRANSLATION, translation, 0, Placement.WHOLE)


def _error(
    annotation: Annotation,
    side: Side,
    words: str,
    start: int | None = None,
    placement: Placement = Placement.UNPLACED,
) -> MQMError:
    return MQMError(
        text=words,
        category=annotation.category,
        severity=annotation.severity,
        side=side,
        start=start,
        end=None if start is None else start + len(words),
        placement=placement,
        quoted=None if annotation.span == words else annotation.span,
        raw_category=annotation.raw_category,
        raw_severity=annotation.raw_severity,
        flags=_flags(annotation, side),
    )


def _flags(annotation: Annotation, side: Side) -> tuple[str, ...]:
    """The annotation's flags, and one more if the side is not where it belongs.

    An omission is at home on both sides: some raters mark the place where words are missing.
    """
    said = Side.SOURCE if annotation.is_source_error else Side.TRANSLATION
    remark = f"found_in_{side.value}"
    if (
        side in (said, _sides(annotation)[0])
        or annotation.category.is_non_translation
        or remark in annotation.flags
    ):
        return annotation.flags
    return (*annotation.flags, remark)


def _find(span: str, text: _Text) -> _Found | None:
    """Whole words in the strictest reading that has any, else parts of words likewise, else
    the parts that an ellipsis joins."""
    if span in _NOTHING:
        return None
    cut: _Found | None = None
    for placement, spots in _readings(span, text):
        whole = _whole_words(spots, text)
        if whole:
            return _Found(placement, _apart(whole), whole_words=True)
        if spots and cut is None:
            cut = _Found(placement, _apart(spots), whole_words=False)
    if cut is not None:
        return cut
    stretches = _stretches(span, text)
    if not stretches:
        return None
    return _Found(Placement.APPROXIMATE, _apart(stretches), whole_words=True)


def _readings(span: str, text: _Text) -> Iterator[tuple[Placement, list[Spot]]]:
    """The occurrences of the span as it is read ever less strictly."""
    yield Placement.EXACT, _exact(span, text)
    trimmed = span.strip()
    if trimmed != span:
        yield Placement.NORMALISED, _exact(trimmed, text)
    # Where neither has anything to fold, this would be the exact search again.
    if text.folded.text != text.text or fold(trimmed).text != trimmed:
        yield Placement.NORMALISED, _equal(trimmed, text)
    bare = without_quotes(trimmed)
    if bare != trimmed:
        yield Placement.NORMALISED, _exact(bare, text)
        yield Placement.NORMALISED, _equal(bare, text)


def _exact(words: str, text: _Text) -> list[Spot]:
    spots = [(at, at + len(words)) for at in _occurrences(words, text.text)]
    if not spots or not text.inner:
        return spots
    return [spot for spot in spots if text.inner.isdisjoint(spot)]


def _equal(words: str, text: _Text) -> list[Spot]:
    wanted = fold(words).text.strip()
    if wanted not in text.equals:
        found = _occurrences(wanted, text.folded.text)
        spots = (text.folded.stretch(at, at + len(wanted)) for at in found)
        text.equals[wanted] = [spot for spot in spots if spot is not None]
    return text.equals[wanted]


def _whole_words(spots: Sequence[Spot], text: _Text) -> list[Spot]:
    return [spot for spot in spots if text.inside_words.isdisjoint(spot)]


def _apart(spots: Sequence[Spot]) -> tuple[Spot, ...]:
    """The spots, sorted as they are, less those that overlap one taken before."""
    taken: list[Spot] = []
    for spot in spots:
        if not taken or spot[0] >= taken[-1][1]:
            taken.append(spot)
    return tuple(taken)


def _stretches(span: str, text: _Text) -> list[Spot]:
    """The stretches from the first to the last part of a quotation shortened by ellipses.

    The parts are whole words, in order, each at most `MAX_GAP` after the one before.
    """
    if not _ELLIPSIS.search(span):
        return []
    for words in dict.fromkeys((span, without_quotes(span))):
        parts = [part for part in _ELLIPSIS.split(words) if part.strip()]
        if not 0 < len(parts) <= _MAX_PARTS:
            continue
        found = [_whole_words(_equal(part, text), text) for part in parts]
        stretches = found[0]
        for spots in found[1:]:
            stretches = _continued(stretches, spots)
        if stretches:
            return stretches
    return []


def _continued(stretches: Sequence[Spot], spots: Sequence[Spot]) -> list[Spot]:
    """Each spot joined to the nearest stretch before it, if that is near enough."""
    joined: list[Spot] = []
    nearest: Spot | None = None
    at = 0
    for start, end in spots:
        while at < len(stretches) and stretches[at][1] <= start:
            nearest = stretches[at]
            at += 1
        if nearest is not None and start - nearest[1] <= MAX_GAP:
            joined.append((nearest[0], end))
    return joined


def _occurrences(words: str, text: str) -> list[int]:
    """Every start of the words in the text, overlapping ones too, in linear time."""
    if not words or words not in text:
        return []
    borders = _borders(words)
    if borders[-1] == 0:  # cannot overlap itself: jump from one to the next
        starts = []
        at = text.find(words)
        while at >= 0:
            starts.append(at)
            at = text.find(words, at + len(words))
        return starts
    return _overlapping(words, text, borders)


def _borders(words: str) -> list[int]:
    """For each prefix the length of its longest proper prefix that is also its suffix."""
    borders = [0] * len(words)
    length = 0
    for at in range(1, len(words)):
        while length and words[at] != words[length]:
            length = borders[length - 1]
        length += words[at] == words[length]
        borders[at] = length
    return borders


def _overlapping(words: str, text: str, borders: Sequence[int]) -> list[int]:
    """The search of Knuth, Morris and Pratt: repetitive texts cost no more than others."""
    starts = []
    length = 0
    for at, char in enumerate(text):
        while length and char != words[length]:
            length = borders[length - 1]
        length += char == words[length]
        if length == len(words):
            starts.append(at + 1 - length)
            length = borders[length - 1]
    return starts
