"""Rating files of mt-metrics-eval (`.seg.rating`): a system, a tab, and its errors as JSON or None.

A third field may name the rater. Offsets are code points into the translation, or into the
source where `is_source_error` is true, half-open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mmad_metric.errors import InputError
from mmad_metric.files.json_lines import kind, read_object
from mmad_metric.files.lines import TextFile
from mmad_metric.files.score_files import system_field
from mmad_metric.labels import parse_category, parse_severity
from mmad_metric.mqm import MQMError, Placement, Side
from mmad_metric.scoring import WeightScheme

CLIPPED = "clipped_span"  # the file's offsets leave the text
BROKEN = "broken_span"  # they are reversed or negative

RatedErrors = tuple[MQMError, ...]
Texts = tuple[Sequence[str], Mapping[str, Sequence[str]]]  # sources; translations by system

_WIDTHS = (2, 3)


def read_ratings(path: str, texts: Texts) -> dict[str, list[RatedErrors | None]]:
    """Errors by system, one entry a segment; None where the segment was not rated.

    texts: the sources, and the translations of every system that has ratings. Raises InputError
    naming file, line and error for what is not a rating or has no text.
    """
    file = TextFile(path)
    found: dict[str, list[RatedErrors | None]] = {}
    for number, line in enumerate(file.lines(), 1):
        fields = line.split("\t")
        if len(fields) not in _WIDTHS:
            raise InputError(
                f"{file.name}, line {number}: a system, a tab and a rating are expected, found "
                f"{len(fields)} fields"
            )
        rows = found.setdefault(fields[0], [])
        if fields[1] == "None":
            rows.append(None)
            continue
        try:
            errors = _items(read_object(fields[1]))
            pair = _texts_of(texts, fields[0], len(rows)) if errors else ("", "")
            rows.append(tuple(_each_error(errors, pair)))
        except InputError as error:
            raise InputError(f"{file.name}, line {number}: {error}") from None
    return found


def rating_line(
    system: str, errors: Iterable[MQMError] | None, scheme: WeightScheme | None = None
) -> str:
    """A line of a rating file. errors: None for a segment without rating; scheme: adds each
    error's penalty. An error without a place is written as an empty span at 0 and says so."""
    if errors is None:
        return f"{system_field(system)}\tNone\n"
    items = [_item(error, scheme) for error in errors]
    return f"{system_field(system)}\t{json.dumps({'errors': items})}\n"


def _item(error: MQMError, scheme: WeightScheme | None) -> dict[str, Any]:
    item: dict[str, Any] = {
        "start": error.start or 0,
        "end": error.end or 0,
        "category": str(error.category),
        "severity": error.severity.value,
        "score": None if scheme is None else float(scheme.weight(error)),
        "is_source_error": error.side is Side.SOURCE,
    }
    if error.placement is not Placement.EXACT:
        item["placement"] = error.placement.value
    if error.start is None:
        item["text"] = error.text
    return item


def _items(rating: dict[str, Any]) -> list[dict[str, Any]]:
    items = rating.get("errors")
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise InputError(f"'errors' is {kind(items)}, a list of objects is expected")
    return items


def _each_error(items: list[dict[str, Any]], pair: tuple[str, str]) -> Iterator[MQMError]:
    for place, item in enumerate(items):
        try:
            error = parse_error(item, pair)
        except InputError as wrong:
            raise InputError(f"errors[{place}]: {wrong}") from None
        if error is not None:
            yield error


def parse_error(item: Mapping[str, Any], pair: tuple[str, str]) -> MQMError | None:
    """One error of a rating; None where its label says "no error". pair: source, translation.

    Offsets past the text's end are clipped, reversed or negative ones give up the place; both
    are flagged. Raises InputError for offsets that are no whole numbers.
    """
    category = parse_category(item.get("category"))
    if category is None:
        return None
    severity = parse_severity(item.get("severity"))
    side = Side.SOURCE if item.get("is_source_error") else Side.TRANSLATION
    start, end = (_offset(item, key) for key in ("start", "end"))
    text = pair[0 if side is Side.SOURCE else 1]
    flags = (*category[2], *severity[2])
    placement = _placement(item)
    if not 0 <= start <= end:
        placement, flags = Placement.UNPLACED, (*flags, BROKEN)
    elif end > len(text):
        flags = (*flags, CLIPPED)
    placed = placement is not Placement.UNPLACED
    words = text[start:end] if placed else str(item.get("text") or "")
    begin = min(start, len(text))
    return MQMError(
        words,
        category[0],
        severity[0],
        side,
        begin if placed else None,
        begin + len(words) if placed else None,
        placement,
        raw_category=category[1],
        raw_severity=severity[1],
        flags=flags,
    )


def _placement(item: Mapping[str, Any]) -> Placement:
    try:
        return Placement(item.get("placement", Placement.EXACT))
    except ValueError:
        raise InputError(f"'placement' is {item['placement']!r}") from None


def _offset(item: Mapping[str, Any], key: str) -> int:
    value = item.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{key!r} is {kind(value)}, a whole number is expected")
    return value


def _texts_of(texts: Texts, system: str, row: int) -> tuple[str, str]:
    sources, translations = texts
    if system not in translations:
        raise InputError(f"no translations of system {system!r} to place its errors in")
    if row >= len(sources) or row >= len(translations[system]):
        raise InputError(f"segment {row + 1} of system {system!r}, which has fewer translations")
    return sources[row], translations[system][row]
