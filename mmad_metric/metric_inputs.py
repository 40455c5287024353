"""What users of `evaluate` hand over, read into rows or refused with the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from mmad_metric.api import as_texts
from mmad_metric.errors import InputError, described

Row = tuple[str, str, list[str]]  # prediction, source, references


def read_rows(predictions: Any, sources: Any, references: Any) -> list[Row]:
    """Rows from lists, tuples, arrays, columns and the like, one text a segment.

    references: None, or for each segment None, a string or a list of strings.
    Raises InputError that names the index and shows the expected shape.
    """
    if predictions is None:
        raise InputError("predictions are missing: expected a list of strings, one a segment")
    if sources is None:
        raise InputError("sources are missing: expected one source for each prediction")
    translations, originals = _texts("predictions", predictions), _texts("sources", sources)
    if len(translations) != len(originals):
        raise InputError(
            f"{len(translations)} predictions but {len(originals)} sources: expected one source "
            "for each prediction"
        )
    listed = _references(references, len(translations))
    return list(zip(translations, originals, listed, strict=True))


def check_text(name: str, value: Any) -> None:
    """Refuse what is no string. Raises InputError."""
    try:
        as_texts(name, [value])
    except InputError as error:
        raise InputError(str(error).replace("[0]", "", 1)) from None


def columns(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """The rows as the keyword arguments of evaluate's methods."""
    result: dict[str, list[Any]] = {"predictions": [], "sources": [], "references": []}
    for row in rows:
        for column, value in zip(result.values(), row, strict=True):
            column.append(value)
    return result


def check_encodable(rows: Iterable[Row]) -> None:
    """Refuse lone surrogates: the files between processes hold UTF-8, which has no place for
    them. Raises InputError."""
    for name, column in columns(rows).items():
        for index, texts in enumerate(column):
            try:
                "".join(texts).encode()
            except UnicodeEncodeError as error:
                raise InputError(f"{name}[{index}]: not valid Unicode text ({error})") from None


def _references(references: Any, count: int) -> list[list[str]]:
    if references is None:
        return [[] for _ in range(count)]
    rows = list(_flat("references", references))
    if len(rows) != count:
        raise InputError(
            f"{count} predictions but {len(rows)} references: expected a string or a list of "
            "strings for each prediction, or no references at all"
        )
    return [_reference(f"references[{index}]", row) for index, row in enumerate(rows)]


def _reference(name: str, value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else _texts(name, value)


def _texts(name: str, values: Any) -> list[str]:
    try:
        return as_texts(name, _flat(name, values))
    except InputError as error:
        raise InputError(f"{error} (expected shape: {name}=['…', '…'])") from None


def _flat(name: str, values: Any) -> Iterable[Any]:
    """The values themselves unless iterating over them would not give one item a segment.

    A mapping or a table would give its names, and a set has no order.
    """
    others = (str, bytes, Mapping, AbstractSet)
    flat = isinstance(values, Iterable) and not isinstance(values, others)
    if not flat or getattr(values, "ndim", 1) != 1:
        raise InputError(f"{name}: expected a list of strings, not {described(values)}")
    listed: Iterable[Any] = values
    return listed
