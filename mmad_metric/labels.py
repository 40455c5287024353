"""Free-text labels to MQM values: what a model or an annotator called a category or severity.

A label decides by itself, never by the words of the span. What is not understood is kept and
flagged, so that no error disappears or becomes weightless because of its name.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from mmad_metric.label_words import (
    ALSO_UNDERSTOOD,
    CATEGORY_WORDS,
    DIMENSION_WORDS,
    NO_ERROR_WORDS,
    SEVERITY_WORDS,
)
from mmad_metric.mqm import NON_TRANSLATION, OTHER, SOURCE_ISSUE, TYPOLOGY, Category, Severity

SeverityLabel = tuple[Severity, str | None, tuple[str, ...]]
CategoryLabel = tuple[Category, str | None, tuple[str, ...]]
# Dimensions with their subcategories that a prompt pack has beyond the typology, lower case.
OwnLabels = tuple[tuple[str, tuple[str, ...]], ...]

UNKNOWN_SEVERITY = "unknown_severity"
UNKNOWN_CATEGORY = "unknown_category"

_MAX_RAW = 100  # characters of a label that are kept
_MAX_READ = 200  # characters of a label that are looked at
# High enough that minor/major, addition/edition, mistranslation/non-translation stay apart.
_CLOSE = 0.85
_VERY_CLOSE = 0.93  # for the one label that condemns the whole segment

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_SEPARATOR = re.compile(r"[/\\:>|,;.()\[\]\u2013\u2014\u2192\u00bb\u00b7\u30fb\u3001]+|\s-+\s")
_EDGES = " \t\r\n\"'`*!?#\u201c\u201d\u201e\u3002\u2018\u2019\u00ab\u00bb-"
_AFFIX = re.compile(r"^(?:severity|category|type) | (?:errors?|issues?|mistakes?|problems?)$")
_NEGATION = ("no ", "not ", "non ", "without ")


def _parts(text: str) -> tuple[str, ...]:
    """The parts of a label, e.g. ("accuracy", "untranslated text"), cleaned."""
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold().replace("_", " ")
    pieces = (piece.strip(_EDGES) for piece in _SEPARATOR.split(folded))
    parts = (" ".join(piece.replace("-", " ").split()) for piece in pieces)
    return tuple(part for part in parts if part)


def _clean(text: str) -> str:
    return "/".join(_parts(text))


def _label(name: str) -> Category:
    dimension, _, subcategory = name.partition("/")
    return Category(dimension, subcategory or None)


def _own_labels() -> list[Category]:
    labels = [
        Category(dimension, subcategory)
        for table in (TYPOLOGY, ALSO_UNDERSTOOD)
        for dimension, subcategories in table.items()
        for subcategory in subcategories
    ]
    return [*labels, Category(NON_TRANSLATION), Category(SOURCE_ISSUE), Category(OTHER)]


def _index(labels: Iterable[Category]) -> dict[str, tuple[Category, ...]]:
    """Every word for a subcategory with its meanings; our own names come first."""
    index: dict[str, tuple[Category, ...]] = {}
    own = [(label.subcategory or label.dimension, label) for label in labels]
    other = [(word, _label(name)) for name, words in CATEGORY_WORDS.items() for word in words]
    for word, label in own + other:
        key = _clean(word)
        index[key] = (*index.get(key, ()), label)
    return index


_OWN_LABELS = _own_labels()
_MEANINGS = _index(_OWN_LABELS)
_OWN_WORDS = [_clean(label.subcategory or label.dimension) for label in _OWN_LABELS]
_NON_TRANSLATION_WORD = _clean(NON_TRANSLATION)
_DIMENSIONS = {_clean(d): d for d in (*TYPOLOGY, "locale convention")} | {
    _clean(word): dimension for dimension, words in DIMENSION_WORDS.items() for word in words
}
_KNOWN_TO_US = frozenset((*TYPOLOGY, *ALSO_UNDERSTOOD))
_NO_ERROR = frozenset(_clean(word) for word in NO_ERROR_WORDS)
_SEVERITIES = {
    _clean(word): Severity(name) for name, words in SEVERITY_WORDS.items() for word in words
} | {severity.value: severity for severity in Severity}
_SEVERITY_NAMES = [severity.value for severity in Severity]


def parse_severity(raw: object) -> SeverityLabel:
    """(severity, the words said unless they are ours, flags).

    An unknown severity is minor and flagged "unknown_severity"; it never weighs nothing.
    """
    if isinstance(raw, str):
        return _severity(raw[:_MAX_READ])
    return Severity.MINOR, _shown(raw), (UNKNOWN_SEVERITY,)


def names_severity(word: str) -> bool:
    """Whether the word is a severity, as in `{"Major": […], "Minor": […]}`."""
    return UNKNOWN_SEVERITY not in parse_severity(word)[2]


@lru_cache(maxsize=4096)
def _severity(text: str) -> SeverityLabel:
    said = text.strip()
    parts = _parts(said)
    if len(parts) == 1 and parts[0] in _SEVERITY_NAMES:
        return Severity(parts[0]), None, ()
    # "major (5)" and "severity: major" name one; "minor/major" names two and says nothing.
    named = {_SEVERITIES.get(part) or _SEVERITIES.get(_AFFIX.sub("", part)) for part in parts}
    named.discard(None)
    if not named and len(parts) == 1:
        close = _closest(parts[0], _SEVERITY_NAMES, _CLOSE)
        named = {Severity(close)} if close else set()
    severity = named.pop() if len(named) == 1 else None
    if severity is None:
        return Severity.MINOR, said[:_MAX_RAW] or None, (UNKNOWN_SEVERITY,)
    return severity, said[:_MAX_RAW], ()


def parse_category(
    raw: object, home: str | None = None, own: OwnLabels = ()
) -> CategoryLabel | None:
    """(category, the words said unless they are ours, flags); None: the label says "no error".

    home: the asking dimension, which settles labels that give a subcategory alone; own: labels
    of the asking prompt pack, which come before ours. An unknown label becomes "other", within
    its dimension where one is known, and is flagged "unknown_category".
    """
    if isinstance(raw, list) and all(isinstance(part, str) for part in raw):
        raw = "/".join(raw)
    home = home.strip().lower() if home else None
    if isinstance(raw, str):
        return _category(raw[:_MAX_READ], home, own)
    return _unknown(None, home), _shown(raw), (UNKNOWN_CATEGORY,)


@lru_cache(maxsize=4096)
def _category(text: str, home: str | None, own: OwnLabels) -> CategoryLabel | None:
    said = text.strip()[:_MAX_RAW] or None
    parts = _parts(text)
    if parts and (parts[-1] in _NO_ERROR or " ".join(parts) in _NO_ERROR):
        return None
    named = dict(own)
    dimension, rest = _split_dimension(parts, [name for name in (home, *named) if name])
    category = _of_pack(dimension, rest, home, named)
    if category is None:
        category = _resolve(dimension, rest, home)
    if category is None and dimension in named and dimension not in _KNOWN_TO_US and rest:
        # A dimension of the user's own prompt pack: its subcategories are not ours to judge.
        category = Category(dimension, rest[0].lower())
    if category is None:
        return _unknown(dimension, home), said, (UNKNOWN_CATEGORY,)
    return category, None if _same_words(parts, category) else said, ()


def _split_dimension(
    parts: tuple[str, ...], own: Sequence[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The dimension that the label names, if any, and its other parts. own: names that count
    as dimensions beside ours."""
    known = _DIMENSIONS | {_clean(name): name for name in own} if own else _DIMENSIONS
    for position, part in enumerate(parts):
        if part in known:
            return known[part], parts[position + 1 :] or parts[:position]
    if len(parts) == 1 and parts[0] not in _MEANINGS:
        for word, dimension in known.items():  # "accuracy mistranslation", "准确性误译"
            rest = parts[0].removeprefix(word)
            if rest != parts[0] and (rest.startswith(" ") or not word.isascii()):
                return dimension, (rest.strip(),)
    if parts and parts[0] not in _MEANINGS:
        close = _closest(parts[0], [*TYPOLOGY, "locale convention", *own], _CLOSE)
        if close:
            return close, parts[1:]
    return None, parts


def _of_pack(
    dimension: str | None, rest: tuple[str, ...], home: str | None, own: Mapping[str, Iterable[str]]
) -> Category | None:
    """The meaning of a label by the pack's own list; the named dimension decides, else the
    asking one, else the first that has such a subcategory."""
    asked = [dimension] if dimension else [home, *own]
    for name in dict.fromkeys(name for name in asked if name is not None and name in own):
        subcategories = {_clean(each): each for each in own[name]}
        for phrase in rest:
            # Our own words are told from misspelt ones of the pack by the dimension alone.
            near = None if name in _KNOWN_TO_US else _closest(phrase, subcategories, _CLOSE)
            found = subcategories.get(phrase) or (near and dimension and subcategories[near])
            if found:
                return Category(name, found)
    return None


def _resolve(dimension: str | None, rest: tuple[str, ...], home: str | None) -> Category | None:
    if not rest:
        return Category(dimension) if dimension else None
    if dimension and _exact(rest[0], None) == Category(OTHER):
        return Category(dimension, OTHER)
    asked = dimension or home
    for find in (_exact, _near):
        for phrase in rest:
            category = find(phrase, asked)
            if category is not None:
                return category
    if dimension and dimension == home and dimension not in _KNOWN_TO_US:
        # A dimension of the user's own prompt pack: its subcategories are not ours to judge.
        return Category(dimension, rest[0].lower())
    return None


def _exact(phrase: str, asked: str | None) -> Category | None:
    """The meaning of a known word; the asked dimension chooses among several."""
    forms = [phrase, _AFFIX.sub("", phrase)]
    if asked == "locale convention":
        forms.insert(0, f"{phrase} format")
    for form in forms:
        meanings = _MEANINGS.get(form)
        if meanings:
            inside = [meaning for meaning in meanings if meaning.dimension == asked]
            return (inside or meanings)[0]
    return None


def _near(phrase: str, asked: str | None) -> Category | None:
    """The meaning of a misspelt word of ours."""
    close = _closest(phrase, [_NON_TRANSLATION_WORD], _VERY_CLOSE)
    if close is None and not phrase.startswith(_NEGATION):
        words = [word for word in _OWN_WORDS if word != _NON_TRANSLATION_WORD]
        close = _closest(_AFFIX.sub("", phrase), words, _CLOSE)
    return _exact(close, asked) if close else None


def _closest(word: str, words: Iterable[str], cutoff: float) -> str | None:
    found = difflib.get_close_matches(word, list(words), n=1, cutoff=cutoff)
    return found[0] if found else None


def _unknown(dimension: str | None, home: str | None) -> Category:
    """Where an error with an unknown label is filed: within its dimension, if there is one."""
    place = dimension or home
    return Category(place, OTHER) if place and place != OTHER else Category(OTHER)


def _same_words(parts: tuple[str, ...], category: Category) -> bool:
    """Whether the label was ours but for case, separators, or a dimension left unsaid."""
    said = " ".join(parts)
    ours = (str(category), category.subcategory or category.dimension)
    return said in [_clean(name).replace("/", " ") for name in ours]


def _shown(raw: object) -> str | None:
    return None if raw is None else str(raw)[:_MAX_RAW]
