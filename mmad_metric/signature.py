"""The signature: everything that moves a number, in sacreBLEU's `key:value|key:value` form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from mmad_metric.addresses import shown_url
from mmad_metric.config import DEFAULT_REASKS, MMADConfig
from mmad_metric.errors import quoted
from mmad_metric.method_space import METHOD_FACTS, MMAD, NO_WEIGHTS, is_baseline
from mmad_metric.version import __version__

METRIC = "MMAD"
# bs, ar, seed and version are sacreBLEU's own keys with its abbreviations; no other key takes one
# that sacreBLEU uses for something else (#, t, l, o, S).
_SHORT = {
    "lp": "lp", "model": "m", "served": "ms", "roles": "ro", "method": "me", "prompts": "p",
    "demos": "d",
    "strategy": "st", "topic": "to", "dispute": "di", "rounds": "r", "turns": "tu", "skip": "sk",
    "weights": "w", "temp": "te", "max_tokens": "mt", "structured": "so", "adapted": "ad",
    "fold_system": "fs", "extra_body": "eb", "reasks": "ra", "sample": "sa", "sample_seed": "ss",
    "repeats": "re", "context": "cx", "glossary": "gl", "reference": "rf",
    "scale": "sc", "bs": "bs", "ar": "ar", "seed": "rs", "version": "v",
}  # fmt: skip
_LONG = {short: long for long, short in _SHORT.items()}


# Keys that `Observed` fills; where no reply was read, nothing is known of them.
FROM_REPLIES = ("served", "structured", "adapted")


@dataclass(frozen=True, slots=True)
class Observed:
    """What only the replies tell: models served, structured-output levels, adapted parameters."""

    models: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    adapted: tuple[str, ...] = ()

    @classmethod
    def of(cls, models: Iterable[str], levels: Iterable[str], adapted: Iterable[str]) -> Observed:
        return cls(tuple(sorted(models)), tuple(sorted(levels)), tuple(sorted(adapted)))


def signature_fields(
    config: MMADConfig, pack: str, demos: str, observed: Observed
) -> dict[str, str]:
    """The signature's keys and values, in order. pack: name, version and hash of the pack;
    demos: the pair whose demonstrations were used."""
    method = config.method
    values = {
        "lp": str(config.lp),
        "model": config.model,
        "served": "+".join(observed.models),
        "roles": ",".join(f"{role}={_public_model(model)}" for role, model in config.role_models),
        "method": "" if method == MMAD else method,
        "prompts": pack,
        "demos": demos,
        "context": "" if not config.context else str(config.context),
        "glossary": config.glossary or "",
        "reference": "yes" if config.use_reference else "",
    }
    if not is_baseline(config):
        values["strategy"] = config.strategy if config.debates() else "none"
    if config.debates():
        values |= {
            "topic": config.topic,
            "dispute": "" if config.dispute == "major" else config.dispute,
            "rounds": str(config.rounds),
            "turns": config.turns,
        }
    values |= {
        "skip": ",".join(map(str, config.skip_stages)),
        "weights": "" if config.weights == NO_WEIGHTS else config.weights,
        "temp": "default" if config.temperature is None else f"{config.temperature:g}",
        "max_tokens": str(config.max_tokens),
        "structured": "+".join(observed.levels) or config.structured,
        "adapted": ",".join(observed.adapted),
        "fold_system": "yes" if config.fold_system else "",
        "extra_body": config.extra_body or "",
        "reasks": "" if config.reasks == DEFAULT_REASKS else str(config.reasks),
        "sample": "" if config.sample is None else str(config.sample),
        "sample_seed": "" if config.sample is None else str(config.seed),
        "repeats": "" if config.repeats == 1 else str(config.repeats),
        "scale": METHOD_FACTS[method].scale.value,
        "version": __version__,
    }
    return {key: value for key, value in values.items() if value}


def _public_model(value: str) -> str:
    model, at, base_url = value.partition("@")
    return f"{model}{at}{shown_url(base_url)}" if at else model


def resampled(fields: Mapping[str, str], *, seed: str, **trials: int) -> dict[str, str]:
    """The fields with how an interval or a test was made, under sacreBLEU's keys.

    seed: SACREBLEU_SEED as given, "12345" by default; trials: bs (bootstrap resamples) or ar
    (trials of approximate randomisation). The version stays last.
    """
    result = {key: value for key, value in fields.items() if key != "version"}
    result |= {key: str(value) for key, value in trials.items()} | {"seed": seed}
    return result | {key: fields[key] for key in ("version",) if key in fields}


def format_signature(fields: Mapping[str, str], *, short: bool = False) -> str:
    """`key:value|…`; in values `%`, `|`, `:` and spaces are percent-escaped, so that it can be
    parsed, and found again in `NAME|signature = score`."""
    return "|".join(
        f"{short_key(key) if short else key}:{_escape(value)}" for key, value in fields.items()
    )


def short_key(key: str) -> str:
    """A key's short form, itself where it has none."""
    return _SHORT.get(key, key)


def parse_signature(text: str) -> dict[str, str]:
    """The inverse of `format_signature`, long or short; the metric's name may stand in front, as
    in printed lines. Raises ValueError on anything else, a key that stands twice included."""
    fields: dict[str, str] = {}
    for part in text.removeprefix(f"{METRIC}|").split("|"):
        key, separator, value = part.partition(":")
        if not separator:
            raise ValueError(f"not a signature: {quoted(part)} has no colon")
        key = _LONG.get(key, key)
        if key in fields:
            raise ValueError(f"not a signature: {quoted(key)} stands in it twice")
        fields[key] = unquote(value)
    return fields


def _escape(value: str) -> str:
    """A served model's name comes from a server: what is not printable is escaped as well."""
    return "".join(
        quote(character, safe="", errors="replace")
        if character in "%|: " or not character.isprintable()
        else character
        for character in value
    )
