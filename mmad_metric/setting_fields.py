"""A setting as a dataclass field that carries its own description, and the checks that follow
from it."""

from __future__ import annotations

import json
import math
from dataclasses import Field, dataclass, field, fields
from typing import Any

from mmad_metric.addresses import shown_url
from mmad_metric.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that a setting may be, both ends included."""

    low: float
    high: float
    whole: bool = True

    def __str__(self) -> str:
        return f"{'a whole number' if self.whole else 'a number'} from {self.low} to {self.high}"

    @property
    def kind(self) -> str:
        return "a whole number" if self.whole else "a number"


def setting(
    default: Any,
    text: str,
    *,
    key: str | None = None,
    choices: Any = None,
    within: Range | None = None,
) -> Any:
    """A field with what its faces need: help text, signature key, allowed values."""
    metadata = {"help": text, "key": key, "choices": choices, "within": within}
    return field(default=default, metadata=metadata)


def check_fields(values: Any) -> None:
    """Check every field of a dataclass made of settings by its metadata and its annotation. Raises
    ConfigError that names the field and what was expected."""
    for item in fields(values):
        value = getattr(values, item.name)
        if value is not None or "None" not in str(item.type):
            _check(item, value)


def _check(item: Field[Any], value: Any) -> None:
    name, metadata = item.name, item.metadata
    if metadata.get("choices") is not None:
        _check_choice(name, value, metadata["choices"])
    elif metadata.get("within") is not None:
        _check_number(name, value, metadata["within"])
    elif isinstance(item.default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"{name}: expected true or false, not {value!r}")
    elif str(item.type).removesuffix(" | None") == "str":
        _check_text(name, value)


def _check_choice(name: str, value: Any, choices: Any) -> None:
    for one in value if isinstance(value, tuple) else (value,):
        if one not in choices:
            listed = ", ".join(map(str, choices))
            raise ConfigError(f"{name}: {one!r} is not one of {listed}")


def _check_number(name: str, value: Any, within: Range) -> None:
    wanted = int if within.whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise ConfigError(f"{name}: expected {within.kind}, not {value!r}")
    if not (math.isfinite(value) and within.low <= value <= within.high):
        raise ConfigError(f"{name}: {value!r} is not {within}")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{name}: expected text, not {value!r}")


def check_address(name: str, address: str) -> None:
    """Raises ConfigError unless it is an http address; what it holds of passwords is not shown."""
    if not address.startswith(("http://", "https://")):
        raise ConfigError(
            f"{name}: expected an address starting with http:// or https://, "
            f"not {shown_url(address)!r}"
        )


def check_extra_body(text: str) -> None:
    """Raises ConfigError unless it is a JSON object that leaves the metric's own part alone."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"extra_body: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise ConfigError("extra_body: expected a JSON object")
    for key in ("messages", "model", "response_format"):
        if key in value:
            raise ConfigError(f"extra_body: {key} is set by the metric itself")
