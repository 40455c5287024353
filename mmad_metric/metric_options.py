"""What users of `evaluate` set, at load and at compute, checked before any call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mmad_metric.config import MMADConfig, option_fields
from mmad_metric.errors import ConfigError
from mmad_metric.method_space import METHODS, MMAD
from mmad_metric.names import nearest
from mmad_metric.session import Plan

# `evaluate.load("mmad", NAME)`: settings that go together. Any of them may be given anew.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "no-debate": {"strategy": "none"},
    "wmt": {"weights": "wmt"},
    "small-model": {"prompts": "brief", "rounds": 1, "max_tokens": 256},
    **{method: {"method": method} for method in METHODS if method != MMAD},
}
LANGUAGES = ("src_lang", "tgt_lang")
_RETURN_DEBATES = "return_debates"
DOCS = "docs"  # of compute alone: the document of each segment, for `context`


def of_config_name(config_name: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with those that config_name stands for: a preset's, or else the model.

    An option that is given is stronger than a preset. Raises ConfigError for a misspelt preset
    and for two models.
    """
    if config_name is None:
        return dict(options)
    if not isinstance(config_name, str) or not config_name.strip():
        raise ConfigError(f"config_name: expected a preset or a model's name, not {config_name!r}")
    meant = nearest(config_name.lower().replace("_", "-"), PRESETS)
    model = options.get("model")
    if config_name in PRESETS:
        implied = PRESETS[config_name]
    elif meant and model is None:
        raise ConfigError(
            f"unknown preset {config_name!r}{meant} For a model of that name give model="
        )
    elif model not in (None, config_name):
        raise ConfigError(f"config_name is short for model: {config_name!r} and {model!r} are two")
    else:
        implied = {"model": config_name}
    unset = {name: value for name, value in implied.items() if options.get(name) is None}
    return {**options, **unset}


def checked(options: Mapping[str, Any], *, also: Iterable[str]) -> dict[str, Any]:
    """The options that say something: None leaves an option alone, as everywhere.

    Raises ConfigError for a name that is no option, with the nearest, `also` names included.
    """
    known = [*option_fields(), *LANGUAGES, _RETURN_DEBATES]
    refuse([name for name in options if name not in known], [*known, *also])
    given = {name: value for name, value in options.items() if value is not None}
    if "lp" in given and any(name in given for name in LANGUAGES):
        raise ConfigError("give lp, or src_lang and tgt_lang, not both")
    if not isinstance(given.get(_RETURN_DEBATES, False), bool):
        raise ConfigError(
            f"{_RETURN_DEBATES}: expected true or false, not {given[_RETURN_DEBATES]!r}"
        )
    return given


def check_at_load(options: Mapping[str, Any]) -> None:
    """Check options at load, prompt pack and weights included, where the languages may still be
    missing. Raises ConfigError, PackError."""
    values = {name: value for name, value in options.items() if name != _RETURN_DEBATES}
    if "lp" not in values and any(name not in values for name in LANGUAGES):
        values = {name: value for name, value in values.items() if name not in LANGUAGES}
        values["lp"] = "en-de"
    Plan.of(MMADConfig.of(**values))


def settings(loaded: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[MMADConfig, bool]:
    """The options of load and, stronger, of compute together; whether to return debates."""
    kept = dict(loaded)
    if "lp" in given:
        kept = {name: kept[name] for name in kept if name not in LANGUAGES}
    elif any(name in given for name in LANGUAGES):
        kept.pop("lp", None)
    merged = {**kept, **given}
    return_debates = merged.pop(_RETURN_DEBATES, False)
    return MMADConfig.of(**merged), return_debates


def refuse(unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raises ConfigError for the first unknown name, with the nearest known one."""
    for name in unknown:
        raise ConfigError(f"unknown option {name!r}{nearest(name, known)}")


def option_lines() -> str:
    """The options and presets, as the metric's card lists them."""
    lines = [f"    {name}: {item.metadata['help']}" for name, item in option_fields().items()]
    lines += ["    src_lang, tgt_lang: instead of lp", "Presets (config_name):"]
    for name, options in PRESETS.items():
        said = ", ".join(f"{option}={value!r}" for option, value in options.items())
        lines.append(f"    {name}: {said or 'every option as above'}")
    return "\n".join([*lines, ""])
