"""Every setting of a rating, in one frozen value that checks itself.

The field's metadata is the single source of its help text and of its place in the signature:
`key` names it there; a field without `key` cannot move a number (how fast, where stored).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from mmad_metric.addresses import shown_url
from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair
from mmad_metric.material import CONTEXT, REFERENCE, TERMINOLOGY
from mmad_metric.method_space import (
    DISPUTES,
    MAX_ROUNDS,
    METHOD_FACTS,
    METHODS,
    MMAD,
    NO_WEIGHTS,
    OF_MMAD,
    ROLES,
    SKIP_PARTITION,
    SKIPPABLE_STAGES,
    STRATEGIES,
    TOPICS,
    TURNS,
    check_choices,
    debates,
    is_baseline,
    no_debate,
    no_stages,
    played_roles,
)
from mmad_metric.names import nearest
from mmad_metric.plain_values import language_pair, plain_values
from mmad_metric.setting_fields import Range, check_address, check_extra_body, check_fields, setting

LEVELS = ("json_schema", "json_object", "text")
MAX_REPEATS = 100
MAX_CONTEXT = 100
DEFAULT_REASKS = 2


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
    method: str = setting(
        MMAD,
        "M-MAD, or a baseline: one annotation of everything, annotating and counting, or one "
        "direct score from 0 to 100",
        key="method",
        choices=METHODS,
    )
    prompts: str = setting(
        None, "prompt pack: a shipped name or a folder (default: the method's own)", key="prompts"
    )
    context: int = setting(
        0,
        "show N preceding segments of the same document with their translations",
        key="context",
        within=Range(0, MAX_CONTEXT),
    )
    glossary: str | None = setting(
        None,
        "show required terms that occur in the source, from a file: source term, tab, target "
        "term[, tab, note]",
        key="glossary",
    )
    use_reference: bool = setting(
        False, "show the first reference as one possible translation", key="reference"
    )
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
    rounds: int = setting(
        3,
        f"rounds of debate at most, 1 to {MAX_ROUNDS}",
        key="rounds",
        within=Range(1, MAX_ROUNDS),
    )
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
        None,
        "weight scheme: mmad, wmt, gemba, a JSON file or its content (default: the method's: "
        + ", ".join(f"{name} {facts.weights}" for name, facts in METHOD_FACTS.items())
        + ")",
        key="weights",
    )
    temperature: float | None = setting(
        0.0,
        "sampling temperature; 'default' leaves it to the server",
        key="temp",
        within=Range(0, 2, whole=False),
    )
    max_tokens: int = setting(
        1024, "tokens a reply may take", key="max_tokens", within=Range(16, 1_000_000)
    )
    structured: str = setting(
        "json_schema", "structured-output level to start with", key="structured", choices=LEVELS
    )
    fold_system: bool = setting(
        False, "put the system prompt into the first user message", key="fold_system"
    )
    extra_body: str | None = setting(None, "JSON object added to every request", key="extra_body")
    sample: int | None = setting(
        None,
        "rate only N segments, the same for every system",
        key="sample",
        within=Range(1, 10**9),
    )
    seed: int = setting(12345, "seed of the sample", key="seed", within=Range(0, 2**63 - 1))
    repeats: int = setting(
        1,
        "rate every segment K times independently; its score is the mean",
        key="repeats",
        within=Range(1, MAX_REPEATS),
    )
    concurrency: int = setting(16, "calls in flight at most", within=Range(1, 10_000))
    timeout: float = setting(
        120.0, "seconds to wait for a reply", within=Range(0.1, 86_400, whole=False)
    )
    max_retries: int = setting(6, "retries of a failed call", within=Range(0, 100))
    reasks: int = setting(
        DEFAULT_REASKS,
        "times that an unreadable reply is asked for again",
        key="reasks",
        within=Range(0, 10),
    )
    max_cost: float | None = setting(
        None,
        "stop before spending more than this many US dollars",
        within=Range(0, 10**9, whole=False),
    )
    cache: str | None = setting(
        None, "folder of the reply cache (default: the user's cache folder, or $MMAD_CACHE)"
    )
    use_cache: bool = setting(True, "keep replies, so that a rerun repeats no paid call")

    def __post_init__(self) -> None:
        # Not given: the method's own. A field is None no longer than until here.
        if self.method in METHODS:
            own_weights = METHOD_FACTS[self.method].weights
            for name, own in (("prompts", self.method), ("weights", own_weights)):
                if getattr(self, name) is None:
                    object.__setattr__(self, name, own)
        check_fields(self)
        if self.base_url is not None:
            check_address("base_url", self.base_url)
        if self.extra_body is not None:
            check_extra_body(self.extra_body)
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
        if given.get("method", MMAD) in METHODS[1:]:
            for name in OF_MMAD:
                if given.get(name):  # the default too: whoever gives it expects something of it
                    raise no_stages(name, given["method"])
        return cls(lp=language_pair(lp, source, target), **plain_values(given))

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
        if is_baseline(self):
            return False
        plain = (self.strategy, self.topic) == ("consensus", "severity")
        return SKIP_PARTITION in self.skip_stages or (self.debates() and not plain)

    def shows(self) -> tuple[str, ...]:
        """The kinds of material that agents may be shown beside a segment."""
        asked = {
            CONTEXT: self.context > 0,
            TERMINOLOGY: self.glossary is not None,
            REFERENCE: self.use_reference,
        }
        return tuple(kind for kind, wanted in asked.items() if wanted)

    def to_dict(self) -> dict[str, Any]:
        """Plain values of all fields that can move a number, for run files. What a method does not
        have is not in it; what is shown beside segments only where something is."""
        result: dict[str, Any] = {}
        idle: tuple[str, ...] = OF_MMAD if is_baseline(self) else ()
        if self.weights == NO_WEIGHTS:
            idle += ("weights",)
        for item in fields(self):
            if item.name in idle:
                continue
            if item.metadata.get("key") or item.name in ("base_url", "full_debate"):
                value = getattr(self, item.name)
                result[item.name] = str(value) if item.name == "lp" else value
        for name in ("context", "glossary", "use_reference"):
            if not result[name]:
                del result[name]
        result["role_models"] = dict(self.role_models)
        if "skip_stages" in result:
            result["skip_stages"] = list(self.skip_stages)
        if self.base_url is not None:
            result["base_url"] = shown_url(self.base_url)
        return result


def option_fields() -> Mapping[str, Field[Any]]:
    """The fields of the config by name, for the faces that offer them."""
    return {item.name: item for item in fields(MMADConfig)}


def check_names(options: Iterable[str], others: Iterable[str] = ()) -> None:
    """Refuse names that are no settings, with the nearest that is one; others: further names
    that a caller takes. Raises ConfigError."""
    known = [*option_fields(), "src_lang", "tgt_lang"]
    for name in options:
        if name not in known:
            raise ConfigError(f"unknown option {name!r}{nearest(name, [*known, *others])}")
