"""Which model is asked where and how: the settings of one endpoint, checked, without any I/O."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mmad_metric.addresses import shown_url
from mmad_metric.errors import ConfigError

LEVELS = ("json_schema", "json_object", "text")
# Fields of a request that are ours alone: with another value the reply could not be read.
OUR_FIELDS = ("messages", "model", "response_format", "stream", "n")


@dataclass(frozen=True, repr=False)
class Endpoint:
    """One model on one server.

    base_url: None means $OPENAI_BASE_URL, else OpenAI; temperature: None leaves it to the
    server; max_tokens: for a request with room 1; timeout: seconds without a byte from the
    server; level: structured-output level to start with; fold_system: put the system message
    into the first user message; extra_body: further fields of every request; concurrency:
    connections at most; api_key: None means $OPENAI_API_KEY, which a base URL of one's own can
    do without. Raises ConfigError for a value out of range.
    """

    model: str
    base_url: str | None = None
    temperature: float | None = 0.0
    max_tokens: int = 1024
    timeout: float = 120.0
    max_retries: int = 6
    level: str = "json_schema"
    fold_system: bool = False
    extra_body: Mapping[str, Any] | None = field(default=None, hash=False)
    concurrency: int = 16
    api_key: str | None = None
    default_query: Mapping[str, str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ConfigError("model: a model name is needed")
        if self.level not in LEVELS:
            raise ConfigError(f"level: {self.level!r} is none of {', '.join(LEVELS)}")
        _check_number("max_tokens", self.max_tokens, 1)
        _check_number("max_retries", self.max_retries, 0)
        _check_number("concurrency", self.concurrency, 1)
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise ConfigError(f"timeout: {self.timeout!r} is not a positive number of seconds")
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise ConfigError(f"temperature: {self.temperature!r} is below 0 or no number")
        _check_extra_body(self.extra_body or {})

    def __repr__(self) -> str:
        # Neither the key nor what a URL may hide; the rest would only make it long.
        where = shown_url(self.base_url) if self.base_url else None
        return f"Endpoint(model={self.model!r}, base_url={where!r})"


def _check_number(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"{name}: {value!r} is below {least}")


def _check_extra_body(extra: Mapping[str, Any]) -> None:
    for name in OUR_FIELDS:
        if name in extra:
            raise ConfigError(f"extra_body: {name!r} is set by the metric itself")
    try:
        json.dumps(dict(extra), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"extra_body: not JSON: {error}") from error
