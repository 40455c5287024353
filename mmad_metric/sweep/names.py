"""What settings are called: after what varies between them, fit for the name of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mmad_metric.addresses import shown_url
from mmad_metric.config import option_fields
from mmad_metric.signature import short_key

LONGEST_PART = 40
LONGEST_NAME = 120
_NAME = re.compile(r"\w[\w.+-]*")
# Their values speak for themselves: `gpt-4o-mini`, not `model-gpt-4o-mini`.
_SELF_SPEAKING = ("model",)


def is_name(text: Any) -> bool:
    """Whether a name given by the user can be that of a file, on any system."""
    return isinstance(text, str) and bool(_NAME.fullmatch(text)) and len(text) <= LONGEST_NAME


def shown(key: str, value: Any, number: int | None = None) -> str:
    """A setting's value for messages, without secrets; a table by its number, where it has
    one."""
    if key == "base_url":
        return shown_url(str(value))
    if isinstance(value, dict) or (isinstance(value, list) and not _is_plain(value)):
        return "…" if number is None else f"(value {number})"
    return str(value)


def name_after(varied: Mapping[str, tuple[Any, int]]) -> str:
    """A name such as `consensus-r3`. varied: each setting's value, and which of its values this
    is, from 1; that number stands for values too long for a name."""
    return "-".join(_part(key, value, number) for key, (value, number) in varied.items())


def _part(key: str, value: Any, number: int) -> str:
    bare = key.replace("_", "-")
    if isinstance(value, bool):
        return bare if value else f"no-{bare}"
    if isinstance(value, (int, float)):
        return f"{short_key(_key(key))}{_fit(str(value))}"
    if isinstance(value, list) and _is_plain(value):
        return f"{_key(key)}{'+'.join(map(str, value))}" if value else f"no-{bare}"
    text = _fit(shown(key, value)) if isinstance(value, str) else ""
    if not text or len(text) > LONGEST_PART:
        return f"{bare}{number}"
    speaks = key in _SELF_SPEAKING or option_fields()[key].metadata.get("choices")
    return text if speaks else f"{bare}-{text}"


def _is_plain(values: list[Any]) -> bool:
    """Whether these are numbers, such as stages; texts may hold addresses with passwords."""
    return all(isinstance(each, int) for each in values)


def _key(name: str) -> str:
    """As the signature calls a setting, whose short form of rounds is r."""
    return option_fields()[name].metadata.get("key") or name.replace("_", "-")


def _fit(text: str) -> str:
    """The text with every run of other signs as one hyphen: `org/model:7b` is `org-model-7b`."""
    return re.sub(r"[^\w.+]+", "-", text).strip("-.")
