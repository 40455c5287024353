"""The method's choices: M-MAD's strategies, topics, stages and roles, or one of the baselines; and
which of them go together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mmad_metric.errors import ConfigError, NotApplicable
from mmad_metric.scales import Scale

ROLES = (
    *("annotate", "pro", "con", "consensus", "dimension-judge", "interrogator", "judge"),
    *("count", "score"),
)
STRATEGIES = ("consensus", "deliberation", "interactive-review", "consultancy-review", "none")
TOPICS = ("severity", "category", "free")
TURNS = ("sequential", "simultaneous")
DISPUTES = ("major", "any")
SKIPPABLE_STAGES = (1, 2, 3)
SKIP_PARTITION, SKIP_DEBATE, SKIP_JUDGE = SKIPPABLE_STAGES
MAX_ROUNDS = 10

MMAD, GEMBA_MQM, EAPROMPT, GEMBA_DA = METHODS = ("mmad", "gemba-mqm", "eaprompt", "gemba-da")
NO_WEIGHTS = "none"  # what stands for a weight scheme where a method has no errors to weigh


@dataclass(frozen=True, slots=True)
class MethodFacts:
    """What a method settles. weights: its default scheme; roles: who is asked, one call each, in
    this order (empty for M-MAD, whose settings decide)."""

    weights: str
    roles: tuple[str, ...] = ()
    scale: Scale = Scale.PENALTY


METHOD_FACTS: Mapping[str, MethodFacts] = {
    MMAD: MethodFacts("mmad"),
    GEMBA_MQM: MethodFacts("gemba", ("annotate",)),
    EAPROMPT: MethodFacts("mmad", ("annotate", "count")),
    GEMBA_DA: MethodFacts(NO_WEIGHTS, ("score",), Scale.DIRECT),
}
# Settings that only M-MAD's stages have.
OF_MMAD = ("strategy", "topic", "dispute", "rounds", "turns", "full_debate", "skip_stages")

# Settings of what is shown beside a segment.
_BESIDE = ("context", "glossary", "use_reference")

# Who ends a debate, by strategy; beside them speak pro and con.
_DECIDERS = {
    "consensus": "consensus",
    "deliberation": "dimension-judge",
    "interactive-review": "interrogator",
    "consultancy-review": "interrogator",
}
# One annotator's role, when it has a model of its own, is this with the dimension's name.
_SINGLE = "annotate."
_OF_DEBATE = ("rounds", "topic", "dispute", "turns", "full_debate")


class Choices(Protocol):
    """The settings that are looked at here, as `MMADConfig` has them."""

    @property
    def method(self) -> str: ...
    @property
    def weights(self) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def topic(self) -> str: ...
    @property
    def dispute(self) -> str: ...
    @property
    def turns(self) -> str: ...
    @property
    def full_debate(self) -> bool: ...
    @property
    def skip_stages(self) -> tuple[int, ...]: ...
    @property
    def role_models(self) -> tuple[tuple[str, str], ...]: ...


def debates(choices: Choices) -> bool:
    """Whether stage 2 happens at all."""
    if is_baseline(choices):
        return False
    return choices.strategy != "none" and SKIP_DEBATE not in choices.skip_stages


def is_baseline(choices: Choices) -> bool:
    """Whether the method is another one than M-MAD, without its stages."""
    return choices.method != MMAD


def annotator_of(choices: Choices, dimension: str) -> str:
    """The role of a dimension's annotator: `annotate`, unless it has a model of its own."""
    own = _SINGLE + dimension
    return own if any(role == own for role, _ in choices.role_models) else "annotate"


def played_roles(choices: Choices, dimensions: Collection[str] = ()) -> tuple[str, ...]:
    """The roles that speak, in the order in which they first do. dimensions: the pack's, where
    they are known: when each has an annotator of its own, nobody plays plain `annotate`."""
    if is_baseline(choices):
        return METHOD_FACTS[choices.method].roles
    single = tuple(role for role, _ in choices.role_models if role.startswith(_SINGLE))
    covered = bool(dimensions) and all(_SINGLE + name in single for name in dimensions)
    debate = ("pro", "con", _DECIDERS[choices.strategy]) if debates(choices) else ()
    judge = () if SKIP_JUDGE in choices.skip_stages else ("judge",)
    return (*(() if covered else ("annotate",)), *single, *debate, *judge)


def role_name(name: Any) -> str:
    """A role's name as it is written here; `dimension_judge` is understood."""
    role = str(name).strip()
    return "dimension-judge" if role == "dimension_judge" else role


def no_debate(name: str, cause: str) -> NotApplicable:
    """A setting of the debate where there is none."""
    return NotApplicable(name, f"{cause} has no debate, so {name} cannot be set")


def no_stages(name: str, method: str) -> NotApplicable:
    """A setting of M-MAD's stages with a method that has none of them."""
    return NotApplicable(
        name, f"method {method} has neither M-MAD's stages nor a debate, so {name} cannot be set"
    )


def check_choices(choices: Choices, defaults: Mapping[str, Any]) -> None:
    """Refuse what does not go together (ConfigError), and what would change nothing
    (NotApplicable)."""
    if is_baseline(choices):
        _check_baseline(choices, defaults)
    elif not debates(choices):
        off = choices.strategy == "none"
        for name in _OF_DEBATE if off else (*_OF_DEBATE, "strategy"):
            if getattr(choices, name) != defaults[name]:
                raise no_debate(name, "strategy none" if off else "a method without stage 2")
    if choices.topic != "severity" and choices.dispute != "major":
        raise NotApplicable(
            "dispute", f"with topic {choices.topic} any error is debated, so there is no choice"
        )
    if choices.strategy == "consultancy-review" and choices.turns != "sequential":
        raise NotApplicable("turns", "with strategy consultancy-review no side hears the other")
    if choices.strategy != "consensus" and choices.full_debate:
        raise NotApplicable(
            "full_debate", f"with strategy {choices.strategy} every turn is made in any case"
        )
    _check_roles(choices)


def _check_baseline(choices: Choices, defaults: Mapping[str, Any]) -> None:
    method = choices.method
    for name in OF_MMAD:
        if getattr(choices, name) != defaults[name]:
            raise no_stages(name, method)
    for name in _BESIDE:
        if getattr(choices, name) != defaults[name]:
            raise NotApplicable(name, f"method {method} shows its agent the segment alone")
    if METHOD_FACTS[method].weights == NO_WEIGHTS != choices.weights:
        raise NotApplicable(
            "weights", f"method {method} gives a score and no errors, so there is nothing to weigh"
        )


def _check_roles(choices: Choices) -> None:
    given, played = [role for role, _ in choices.role_models], played_roles(choices)
    for role in given:
        single = role.startswith(_SINGLE) and role != _SINGLE
        if role not in ROLES and not single:
            raise ConfigError(
                f"role_models: unknown role {role!r}; roles are {', '.join(ROLES)}, "
                f"{_SINGLE}DIMENSION"
            )
        if given.count(role) > 1:
            raise ConfigError(f"role_models: role {role!r} is given twice")
        if single and (is_baseline(choices) or SKIP_PARTITION in choices.skip_stages):
            why = f"with method {choices.method}" if is_baseline(choices) else "without stage 1"
            raise ConfigError(f"role_models: {role!r}: {why} one agent annotates all dimensions")
        if role not in played:
            raise ConfigError(
                f"role_models: with these settings nobody plays {role!r}; the roles are "
                f"{', '.join(played)}"
            )


def check_dimensions(choices: Choices, dimensions: Collection[str]) -> None:
    """Refuse an annotator of a dimension that the prompt pack does not have."""
    for role, _ in choices.role_models:
        name = role.removeprefix(_SINGLE)
        if role != name and name not in dimensions:
            raise ConfigError(
                f"role_models: {role!r}: the prompt pack has no dimension {name!r}; its "
                f"dimensions are {', '.join(dimensions)}"
            )
