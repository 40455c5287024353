"""Every setting of a rating, in one frozen value that checks itself.

The field's metadata is the single source of its help text and of its place in the signature:
`key` names it there; a field without `key` cannot move a number (how fast, where stored).
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from mmad_metric.addresses import shown_url
from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair
from mmad_metric.method_space import (
    DISPUTES,
    MAX_ROUNDS,
    ROLES,
    SKIP_PARTITION,
    SKIPPABLE_STAGES,
    STRATEGIES,
    TOPICS,
    TURNS,
    check_choices,
    debates,
    no_debate,
    played_roles,
    role_name,
)

LEVELS = ("json_schema", "json_object", "text")
MAX_REPEATS = 100
DEFAULT_REASKS = 2


def setting(default: Any, text: str, *, key: str | None = None, choices: Any = None) -> Any:
    """A field with what its faces need: help text, signature key, allowed values."""
    return field(default=default, metadata={"help": text, "key": key, "choices": choices})


@dataclass(frozen=True, kw_only=True, slots=True)
class MMADConfig:
    """Settings of a rating. Every field is checked; a bad one raises ConfigError.

    `lp` is required; `MMADConfig.of(lp="en-de", rounds=2)` reads plain values, as the command
    line and `evaluate` give them.
    """

    lp: LanguagePair = field(metadata={"help": "language pair, such as en-de", "key": "lp"})
    model: str = setting(
        "gpt-4o-mini", "model name, or local, local:PATH.gguf, local:hf:REPO/FILE.gguf", key="model"
    )
    base_url: str | None = setting(
        None, "address of an OpenAI-compatible server (default: $OPENAI_BASE_URL, else OpenAI)"
    )
    role_models: tuple[tuple[str, str], ...] = setting(
        (),
        "another model for one role: ROLE=MODEL or ROLE=MODEL@BASE_URL; roles are "
        + ", ".join(ROLES)
        + ", and annotate.DIMENSION for one annotator",
        key="roles",
    )
    prompts: str = setting("mmad", "prompt pack: a shipped name or a folder", key="prompts")
    strategy: str = setting(
        "consensus",
        "how a debate ends: when both agree, by a judge, by one who questions both sides "
        "together or each alone; none: no debate",
        key="strategy",
        choices=STRATEGIES,
    )
    topic: str = setting(
        "severity",
        "what is debated: the errors' severity, their category, or all about them (free)",
        key="topic",
        choices=TOPICS,
    )
    dispute: str = setting(
        "major",
        "which findings are debated on severity: those with a major error, or any",
        key="dispute",
        choices=DISPUTES,
    )
    rounds: int = setting(3, f"rounds of debate at most, 1 to {MAX_ROUNDS}", key="rounds")
    turns: str = setting(
        "sequential",
        "whether con sees pro's new turn in the same round",
        key="turns",
        choices=TURNS,
    )
    full_debate: bool = setting(
        False, "make the closing turn and check too, which cannot change a score, for the record"
    )
    skip_stages: tuple[int, ...] = setting(
        (),
        "leave out stage 1 (one annotator for all dimensions), 2 (no debate) or 3 (no judge)",
        key="skip",
        choices=SKIPPABLE_STAGES,
    )
    weights: str = setting(
        "mmad", "weight scheme: mmad, wmt, gemba, a JSON file or its content", key="weights"
    )
    temperature: float | None = setting(
        0.0, "sampling temperature; 'default' leaves it to the server", key="temp"
    )
    max_tokens: int = setting(1024, "tokens a reply may take", key="max_tokens")
    structured: str = setting(
        "json_schema", "structured-output level to start with", key="structured", choices=LEVELS
    )
    fold_system: bool = setting(
        False, "put the system prompt into the first user message", key="fold_system"
    )
    extra_body: str | None = setting(None, "JSON object added to every request", key="extra_body")
    sample: int | None = setting(
        None, "rate only N segments, the same for every system", key="sample"
    )
    seed: int = setting(12345, "seed of the sample", key="seed")
    repeats: int = setting(
        1, "rate every segment K times independently; its score is the mean", key="repeats"
    )
    concurrency: int = setting(16, "calls in flight at most")
    timeout: float = setting(120.0, "seconds to wait for a reply")
    max_retries: int = setting(6, "retries of a failed call")
    reasks: int = setting(
        DEFAULT_REASKS, "times that an unreadable reply is asked for again", key="reasks"
    )
    max_cost: float | None = setting(None, "stop before spending more than this many US dollars")
    cache: str | None = setting(
        None, "folder of the reply cache (default: the user's cache folder, or $MMAD_CACHE)"
    )
    use_cache: bool = setting(True, "keep replies, so that a rerun repeats no paid call")

    def __post_init__(self) -> None:
        _check_choices(self)
        _check_numbers(self)
        _check_models(self)
        if self.extra_body is not None:
            _check_extra_body(self.extra_body)
        check_choices(self, {name: item.default for name, item in option_fields().items()})

    @classmethod
    def of(cls, lp: str | LanguagePair | None = None, **options: Any) -> MMADConfig:
        """A config from plain values. None means the default.

        lp may be given as `src_lang` and `tgt_lang` instead. Raises ConfigError for an unknown
        option (naming the nearest), a wrong type or a value out of range.
        """
        check_names(options)
        source, target = options.pop("src_lang", None), options.pop("tgt_lang", None)
        given = {name: value for name, value in options.items() if value is not None}
        if options.get("temperature", 0) == "default":
            given["temperature"] = None
        if given.get("strategy") == "none" and "rounds" in given:
            raise no_debate("rounds", "strategy none")
        return cls(lp=_language_pair(lp, source, target), **_plain_values(given))

    def model_for(self, role: str) -> tuple[str, str | None]:
        """(model, base_url) that plays a role."""
        for name, value in self.role_models:
            if name == role:
                model, _, base_url = value.partition("@")
                return model, base_url or self.base_url
        return self.model, self.base_url

    def debates(self) -> bool:
        """Whether stage 2 happens at all."""
        return debates(self)

    def roles(self, dimensions: Collection[str] = ()) -> tuple[str, ...]:
        """The roles that speak; dimensions: the prompt pack's, where they are known."""
        return played_roles(self, dimensions)

    def uses_variants(self) -> bool:
        """Whether prompts are needed beside those of the default strategy and topic."""
        plain = (self.strategy, self.topic) == ("consensus", "severity")
        return SKIP_PARTITION in self.skip_stages or (self.debates() and not plain)

    def to_dict(self) -> dict[str, Any]:
        """Plain values of all fields that can move a number, for run files."""
        result: dict[str, Any] = {}
        for item in fields(self):
            if item.metadata.get("key") or item.name in ("base_url", "full_debate"):
                value = getattr(self, item.name)
                result[item.name] = str(value) if item.name == "lp" else value
        result["role_models"] = dict(self.role_models)
        result["skip_stages"] = list(self.skip_stages)
        if self.base_url is not None:
            result["base_url"] = shown_url(self.base_url)
        return result


def option_fields() -> Mapping[str, Field[Any]]:
    """The fields of the config by name, for the faces that offer them."""
    return {item.name: item for item in fields(MMADConfig)}


def _default(name: str) -> Any:
    value = option_fields()[name].default
    return None if value is MISSING else value


def check_names(options: Iterable[str], others: Iterable[str] = ()) -> None:
    """Refuse names that are no settings, with the nearest that is one; others: further names
    that a caller takes. Raises ConfigError."""
    known = [*option_fields(), "src_lang", "tgt_lang"]
    for name in options:
        if name not in known:
            raise ConfigError(f"unknown option {name!r}{nearest(name, [*known, *others])}")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: which known one was meant, if that is likely.

    A name meant is spelt much alike, or begins so; a far-fetched guess would only mislead.
    """
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    if not close and len(name) >= 4:  # noqa: PLR2004 - shorter ones begin too much
        close = [each for each in names if each.startswith(name)]
    return f"; did you mean {close[0]!r}?" if close else ""


def _language_pair(
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


def _plain_values(given: dict[str, Any]) -> dict[str, Any]:
    """Lists, mappings and single values into the tuples that the config holds."""
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


def _check_choices(config: MMADConfig) -> None:
    for item in fields(config):
        choices = item.metadata.get("choices")
        if choices is None:
            continue
        value = getattr(config, item.name)
        for one in value if isinstance(value, tuple) else (value,):
            if one not in choices:
                listed = ", ".join(map(str, choices))
                raise ConfigError(f"{item.name}: {one!r} is not one of {listed}")


def _check_numbers(config: MMADConfig) -> None:
    bounds: dict[str, tuple[float, float, bool]] = {
        "rounds": (1, MAX_ROUNDS, True),
        "temperature": (0, 2, False),
        "max_tokens": (16, 1_000_000, True),
        "sample": (1, 10**9, True),
        "seed": (0, 2**63 - 1, True),
        "repeats": (1, MAX_REPEATS, True),
        "concurrency": (1, 10_000, True),
        "timeout": (0.1, 86_400, False),
        "max_retries": (0, 100, True),
        "reasks": (0, 10, True),
        "max_cost": (0, 10**9, False),
    }
    for name, (low, high, whole) in bounds.items():
        value = getattr(config, name)
        if value is None and _default(name) is None:
            continue
        if value is None and name == "temperature":
            continue
        kind = "a whole number" if whole else "a number"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            raise ConfigError(f"{name}: expected {kind}, not {value!r}")
        if not (math.isfinite(value) and low <= value <= high):
            raise ConfigError(f"{name}: {value!r} is not {kind} from {low:g} to {high:g}")
    for name in ("full_debate", "fold_system", "use_cache"):
        if not isinstance(getattr(config, name), bool):
            raise ConfigError(f"{name}: expected true or false, not {getattr(config, name)!r}")


def _check_models(config: MMADConfig) -> None:
    for name in ("model", "prompts", "weights", "base_url", "cache", "extra_body"):
        value = getattr(config, name)
        if value is None and _default(name) is None:
            continue
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f"{name}: expected text, not {value!r}")
    if config.base_url is not None and not config.base_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"base_url: expected an address starting with http:// or https://, "
            f"not {shown_url(config.base_url)!r}"
        )


def _check_extra_body(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"extra_body: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise ConfigError("extra_body: expected a JSON object")
    for key in ("messages", "model", "response_format"):
        if key in value:
            raise ConfigError(f"extra_body: {key} is set by the metric itself")
