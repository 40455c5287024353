"""Decoded JSON to annotations: tolerant of how a model lays a list out, strict about its loss.

A list that cannot be recognised is unreadable, never empty. Within a list every object counts:
what it does not say, or says in unknown words, is flagged, and its siblings stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from mmad_metric.chat import UnreadableReply
from mmad_metric.labels import OwnLabels, names_severity, parse_category, parse_severity
from mmad_metric.mqm import NON_TRANSLATION, WHOLE_SEGMENT, Annotation, Category, Severity
from mmad_metric.normalise import sound
from mmad_metric.replies.scan import decode

LIST_KEYS = ("annotations", "errors", "error_annotations", "annotation")
_SPAN_KEYS = ("error_span", "span", "error", "text", "error_text", "errorspan", "quote")
_CATEGORY_KEYS = ("category", "type", "error_type", "error_category", "label")
_SEVERITY_KEYS = ("severity", "error_severity", "level")
_SOURCE_KEYS = ("is_source_error", "is_source", "source_error", "issourceerror")
_DIMENSION_KEYS = ("dimension", "main_category")
_SUBCATEGORY_KEYS = ("subcategory", "sub_category", "subtype", "sub_type")
_PLAIN_ITEM = frozenset((_SPAN_KEYS[0], _CATEGORY_KEYS[0], _SEVERITY_KEYS[0], _SOURCE_KEYS[0]))
ITEM_KEYS = frozenset(_SPAN_KEYS).union(
    _CATEGORY_KEYS, _SEVERITY_KEYS, _SOURCE_KEYS, _DIMENSION_KEYS, _SUBCATEGORY_KEYS
)
# Remarks that models like to add; they are known to mean nothing to us.
REMARK_KEYS = frozenset(("explanation", "reason", "rationale", "comment", "note", "correction"))
REMARK_KEYS |= {"suggestion", "description", "justification", "id", "start", "end", "score"}
REMARK_KEYS |= {"confidence"}

MISSING = object()
_YES = frozenset(("true", "yes", "1", "y"))
_NO = frozenset(("false", "no", "0", "n", ""))
_MAX_LABEL = 200  # characters of a label that are read
MAX_QUOTATION = 20_000  # of a quotation: longer than any segment, it goes into later prompts
_MAX_DIGITS = 9  # of an item's number
_MAX_STRINGS = 2  # JSON inside a JSON string, and once more

Labels = tuple[Category, str | None, Severity, str | None, tuple[str, ...]]
# The asking dimension, None for none, and the pack's own labels: how labels are read.
Asking = tuple[str | None, OwnLabels]
Item = tuple[object, object]  # what stands in the list, the severity of its group or MISSING


def lookup(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    """What stands under the first of the names, however they are spelt; else MISSING."""
    for name in names:
        if name in value:
            return value[name]
    spelt = {_plain(key): key for key in value}
    for name in names:
        if name in spelt:
            return value[spelt[name]]
    return MISSING


def _plain(key: str) -> str:
    return key.strip().casefold().replace(" ", "_").replace("-", "_")


def is_item(value: object) -> bool:
    """Whether it looks like one annotation: a span, or a label with its severity."""
    if not isinstance(value, dict):
        return False
    keys = {_plain(key) for key in value}
    labelled = not keys.isdisjoint(_CATEGORY_KEYS) and not keys.isdisjoint(_SEVERITY_KEYS)
    return labelled or not keys.isdisjoint(_SPAN_KEYS[:2])


def is_numbered(value: Mapping[str, Any]) -> bool:
    """`{"0": {…}, "1": {…}}`."""
    return bool(value) and all(
        key.isdecimal() and len(key) <= _MAX_DIGITS and isinstance(item, dict)
        for key, item in value.items()
    )


def is_grouped(value: Mapping[str, Any]) -> bool:
    """`{"Major": […], "Minor": […]}`."""
    return bool(value) and all(names_severity(key) for key in value)


def unpacked(value: object) -> object:
    """The value inside JSON that was written into a JSON string."""
    if not isinstance(value, str):
        return value
    for _ in range(_MAX_STRINGS):
        try:
            value = decode(value.strip())
        except ValueError:
            break
        if not isinstance(value, str):
            break
    return value


def read_annotations(value: object, asking: Asking) -> tuple[Annotation, ...]:
    """The annotations of a list, numbered dict or dict by severity. Raises UnreadableReply.

    Items labelled "no error" are none. Non-translation excludes everything else. A bare string
    among objects is an error without labels; a list of nothing but strings, and any item that
    is neither object nor string, shows that this is not the list that was asked for.
    """
    items = _items(unpacked(value))
    annotations, objects = [], 0
    for item, group in items:
        objects += isinstance(item, dict)
        annotation = _annotation(item, group, asking)
        if annotation is not None:
            annotations.append(annotation)
    if items and not objects:
        raise UnreadableReply("the list of annotations holds no object")
    whole = [each for each in annotations if each.category.dimension == NON_TRANSLATION]
    return (max(whole, key=lambda each: each.severity.rank),) if whole else tuple(annotations)


def _items(value: object) -> list[Item]:
    if isinstance(value, dict) and is_grouped(value):
        return [(item, name) for name, group in value.items() for item in _listed(group)]
    return [(item, MISSING) for item in _listed(value)]


def _listed(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and is_numbered(value):
        return [value[key] for key in sorted(value, key=int)]
    if isinstance(value, dict) and is_item(value):
        return [value]
    raise UnreadableReply("the annotations are no list")


def _annotation(item: object, group: object, asking: Asking) -> Annotation | None:
    """One annotation; None if its category says that there is no error."""
    if isinstance(item, str):
        item = {"error_span": item}
    if not isinstance(item, dict):
        raise UnreadableReply("an annotation is no object")
    if item.keys() == _PLAIN_ITEM:
        quoted, said = item["error_span"], (item["category"], item["severity"])
        in_source = item["is_source_error"]
    else:
        quoted, in_source = lookup(item, _SPAN_KEYS), lookup(item, _SOURCE_KEYS)
        severity_said = lookup(item, _SEVERITY_KEYS)
        said = (_category_said(item), group if severity_said is MISSING else severity_said)
    labels = _labels(_label(said[0]), _label(said[1]), asking)
    if labels is None:
        return None
    category, raw_category, severity, raw_severity, flags = labels
    span, span_flags = _span(quoted)
    in_source, source_flags = _truth(in_source)
    if category.dimension == NON_TRANSLATION:
        span, span_flags, in_source = WHOLE_SEGMENT, (), False
    flags += span_flags + source_flags
    return Annotation(span, category, severity, in_source, raw_category, raw_severity, flags)


def _labels(category_said: object, severity_said: object, asking: Asking) -> Labels | None:
    if isinstance(category_said, str) and isinstance(severity_said, str):
        return _known_labels(category_said[:_MAX_LABEL], severity_said[:_MAX_LABEL], asking)
    return _read_labels(category_said, severity_said, asking)


def _read_labels(category_said: object, severity_said: object, asking: Asking) -> Labels | None:
    parsed = parse_category(category_said, *asking)
    if parsed is None:
        return None
    severity, raw_severity, flags = parse_severity(severity_said)
    return parsed[0], parsed[1], severity, raw_severity, parsed[2] + flags


# A run says the same few labels over and over; bounded, as the words are a model's.
_known_labels = lru_cache(maxsize=4096)(_read_labels)


def _label(said: object) -> object:
    """A label as `labels.py` takes it: a missing one is None, a list is one label in parts."""
    if isinstance(said, str):
        return sound(said)
    if isinstance(said, list):
        return sound("/".join(part for part in said if isinstance(part, str))) or None
    return None if said is MISSING else said


def _category_said(item: dict[str, Any]) -> object:
    """The label, put together where a model gave its dimension and subcategory apart."""
    keys = (_DIMENSION_KEYS, _CATEGORY_KEYS, _SUBCATEGORY_KEYS)
    labels = [_label(lookup(item, names)) for names in keys]
    parts = [label for label in labels if isinstance(label, str) and label.strip()]
    return "/".join(parts) if parts else labels[1]


def _span(said: object) -> tuple[str, tuple[str, ...]]:
    """The quoted words, cut where no segment is as long."""
    words, flags = _whole_span(said)
    if len(words) > MAX_QUOTATION:
        return words[:MAX_QUOTATION], (*flags, "cut_quotation")
    return words, flags


def _whole_span(said: object) -> tuple[str, tuple[str, ...]]:
    """The quoted words as they are, blanks included; parts are joined by an ellipsis."""
    if isinstance(said, str):
        words = sound(said)
        return words, () if words is said else ("lone_surrogate",)
    if said is MISSING or said is None:
        return "", ("missing_span",)
    if isinstance(said, list) and said and all(isinstance(part, str) for part in said):
        return sound(" \u2026 ".join(said)), ("span_in_parts",)
    if isinstance(said, (int, float)) and not isinstance(said, bool):
        return str(said), ("span_not_text",)
    return "", ("span_not_text",)


def _truth(said: object) -> tuple[bool, tuple[str, ...]]:
    if isinstance(said, bool):
        return said, ()
    if said is MISSING or said is None:
        return False, ()
    word = str(said).strip().casefold()
    known = word in _YES or word in _NO
    return word in _YES, () if known else ("unknown_is_source_error",)
