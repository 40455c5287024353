"""JSON, one object a line, read and written so that any strict parser agrees with us."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from mmad_metric.errors import InputError, quoted

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_object(text: str) -> dict[str, Any]:
    """The object that the line holds.

    Raises InputError (without file and line, which the caller knows) on anything else: broken
    JSON, NaN or Infinity, a key given twice, a value that is not an object.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"column {error.pos + 1}"
        blank = " (the line is blank)" if not text.strip() else ""
        raise InputError(f"not JSON: {error.msg} at {where}{blank}") from None
    except ValueError as error:
        raise InputError(f"not strict JSON: {error}") from None
    except RecursionError:
        raise InputError("not usable JSON: nested too deeply") from None
    if not isinstance(value, dict):
        raise InputError(f"one JSON object a line is expected, this is {kind(value)}")
    return value


def object_line(value: Mapping[str, Any]) -> bytes:
    """The object as one line of UTF-8 with its LF.

    Raises ValueError on NaN and infinities. Lone surrogates, which no UTF-8 file can hold,
    become U+FFFD one for one, so that offsets stay true.
    """
    text = _ENCODER.encode(value) + "\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return well_formed(text).encode("utf-8")


def well_formed(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD; the length does not change."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def kind(value: object) -> str:
    """What a JSON value is, in JSON's own words, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    for python, name in ((str, "a string"), (list, "an array"), (dict, "an object")):
        if isinstance(value, python):
            return name
    return type(value).__name__


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {quoted(twice)} stands twice in one object")
    return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
)
