"""Settings as people and programs give them (text, lists, mappings) into what the config holds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair
from mmad_metric.method_space import SKIPPABLE_STAGES, role_name


def language_pair(
    lp: str | LanguagePair | None, source: str | None, target: str | None
) -> LanguagePair:
    if lp is not None and (source is not None or target is not None):
        raise ConfigError("give lp, or src_lang and tgt_lang, not both")
    if isinstance(lp, LanguagePair):
        return lp
    if lp is not None:
        if not isinstance(lp, str):
            raise ConfigError(f"lp: expected text such as en-de, not {lp!r}")
        return LanguagePair.parse(lp)
    if source and target:
        return LanguagePair.of(source, target)
    raise ConfigError("a language pair is needed: lp='en-de', or src_lang and tgt_lang")


def plain_values(given: dict[str, Any]) -> dict[str, Any]:
    """Paths into text; lists, mappings and single values into the tuples that the config holds."""
    for name in ("prompts", "glossary", "weights", "cache"):
        if isinstance(given.get(name), os.PathLike):
            given[name] = os.fspath(given[name])
    roles = given.get("role_models")
    if isinstance(roles, Mapping):
        given["role_models"] = tuple(sorted((role_name(k), str(v)) for k, v in roles.items()))
    elif roles is not None:
        listed = _listed("role_models", roles)
        given["role_models"] = tuple(sorted(_role_model(item) for item in listed))
    stages = given.get("skip_stages")
    if stages is not None:
        chosen = [stages] if isinstance(stages, int) else _listed("skip_stages", stages)
        # Not a set: what is no stage at all may not be hashable, and is refused by name later.
        given["skip_stages"] = tuple(each for each in SKIPPABLE_STAGES if each in chosen) + tuple(
            each for each in chosen if each not in SKIPPABLE_STAGES
        )
    for name in ("extra_body", "weights"):
        if isinstance(given.get(name), Mapping):
            try:
                given[name] = json.dumps(dict(given[name]), sort_keys=True, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise ConfigError(f"{name}: cannot be written as JSON ({error})") from None
    return given


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ConfigError(f"{name}: expected a list, not {values!r}")
    return list(values)


def _role_model(item: Any) -> tuple[str, str]:
    if isinstance(item, str):
        role, separator, model = item.partition("=")
        if separator and model:
            return role_name(role), model.strip()
        raise ConfigError(f"role model {item!r}: expected ROLE=MODEL or ROLE=MODEL@BASE_URL")
    if isinstance(item, (tuple, list)) and len(item) == 2:  # noqa: PLR2004 - a pair
        return role_name(item[0]), str(item[1])
    raise ConfigError(f"role model {item!r}: expected ROLE=MODEL or ROLE=MODEL@BASE_URL")
