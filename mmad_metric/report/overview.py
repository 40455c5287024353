"""What stands above the segments: systems, notes, settings; nothing secret among them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.addresses import without_secrets
from mmad_metric.baselines.scores import MOST_COUNTED
from mmad_metric.chat import Usage
from mmad_metric.errors import ConfigError
from mmad_metric.filtering import ErrorFilter
from mmad_metric.local.model import SHIPPED_NOTICE, parse_local
from mmad_metric.method_space import EAPROMPT, GEMBA_MQM, MMAD
from mmad_metric.mqm import Severity
from mmad_metric.report.runs import ReportRun, ReportSystem
from mmad_metric.report.survey import Choice, Selection, Survey
from mmad_metric.results import SystemTotals
from mmad_metric.scales import Scale

_SECRET = re.compile(r"key|token$|secret|password|authorization|credential|cookie", re.IGNORECASE)
_NOT_SECRET = ("max_tokens",)
_OF_METHODS = {
    GEMBA_MQM: f"With {GEMBA_MQM} the {MOST_COUNTED} errors of a segment that weigh most make its "
    "score, however many are listed.",
    EAPROMPT: f"With {EAPROMPT} a segment's score is made of the numbers of errors that the agent "
    "counted, not of those that it listed; the table tells the latter.",
}


@dataclass(frozen=True, slots=True)
class SystemLine:
    """A row of the systems' table. given: the score with all errors, as the run has it; cost: in
    US dollars, None where it is not known; roles: usage and cost by agent role."""

    system: ReportSystem
    totals: SystemTotals
    given: float | None
    usage: Usage
    cost: float | None
    roles: Sequence[tuple[str, Usage, float | None]]


def system_lines(found: Survey) -> list[SystemLine]:
    """The systems in order."""
    return [_line(*pair) for pair in zip(found.systems, found.totals, strict=True)]


def _line(system: ReportSystem, totals: SystemTotals) -> SystemLine:
    told = system.told.get("usage")
    told = told if isinstance(told, dict) else {}
    by_role = told.get("by_role")
    by_role = by_role if isinstance(by_role, dict) else {}
    roles = [(role, totals.usage[role], _cost(by_role.get(role))) for role in sorted(totals.usage)]
    whole = sum(totals.usage.values(), Usage())
    return SystemLine(system, totals, _number(system.told.get("score")), whole, _cost(told), roles)


def _cost(told: object) -> float | None:
    return _number(told.get("cost_usd")) if isinstance(told, dict) else None


def _number(value: object) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if known else None  # type: ignore[arg-type]


def dimensions(found: Survey) -> list[str]:
    """Every dimension that has an error in some system, in alphabetical order."""
    return sorted(set().union(*(each.by_dimension for each in found.totals)))


def severities(found: Survey) -> list[str]:
    """Severities to count: major and minor, and the others where they occur; the worst first."""
    counts = [each for totals in found.totals for each in totals.by_dimension.values()]
    return [
        each.value
        for each in sorted(Severity, key=lambda each: -each.rank)
        if each in (Severity.MAJOR, Severity.MINOR) or any(one[f"n_{each.value}"] for one in counts)
    ]


def notes(found: Survey, selection: Selection, choice: Choice) -> list[str]:
    """What a reader must know before the figures, in whole sentences."""
    listed = []
    if any(_uses_toy(run) for run in found.runs):
        listed.append(f"{SHIPPED_NOTICE}.")
    if len(selection.keys) < len(found.rows):
        listed.append(
            f"{len(selection.keys)} of {len(found.rows)} rated segments are on this page: "
            f"{selection.how}. The tables count all of them."
        )
    if not choice.errors.keeps_all:
        listed.append(
            f"Only errors with {condition(choice.errors)} count here: {found.dropped} others are "
            "left out, and scores are computed anew from those that remain."
        )
    unscored, rated = (sum(getattr(each, name) for each in found.totals)
                       for name in ("n_unscored", "n_rated"))  # fmt: skip
    if unscored:
        end = "best" if scale_of(found).has_errors else "worst"
        listed.append(
            f"{unscored} of {rated} ratings have no score. They are in no mean; 0 would be the "
            f"{end} score there is."
        )
    if not rated:
        listed.append("There are no rated segments.")
    differing = differences(found.runs)
    if differing:
        listed.append(
            f"The runs differ in their settings ({', '.join(differing)}): their scores may not be "
            "comparable."
        )
    apart = len(found.rows) - len({index for index, _ in found.rows})
    if apart:
        listed.append(
            "The systems do not have the same sources everywhere: segments that differ in theirs "
            "stand apart."
        )
    return listed


def scale_of(found: Survey) -> Scale:
    """What all scores of the page are."""
    return found.runs[0].file.scale


def heading(runs: Sequence[ReportRun]) -> str:
    """What the page is about, in a few words."""
    methods = list(dict.fromkeys(run.method for run in runs))
    if methods == [MMAD]:
        return "M-MAD · translation quality by debate"
    named = " and ".join("M-MAD" if method == MMAD else method for method in methods)
    return f"Translation quality by {named}"


def score_hint(runs: Sequence[ReportRun]) -> str:
    """How a score of these runs is read, in whole sentences."""
    schemes = [run.scheme for run in runs if run.scheme is not None]
    if not schemes:
        return (
            "A score is the mean of the scored segments' direct scores: 100 is perfect, 0 the "
            "worst. No errors stand behind it."
        )
    bound = "" if any(scheme.cap is not None for scheme in schemes) else ", there is no lower bound"
    methods = {run.method for run in runs}
    penalties = (
        f"A score is minus the mean MQM penalty of the scored segments: {Scale.PENALTY.reading}"
        f"{bound}. Critical errors count among the major ones."
    )
    own = [text for method, text in _OF_METHODS.items() if method in methods]
    return " ".join([penalties, *own])


def condition(errors: ErrorFilter) -> str:
    """The filter in words."""
    parts = []
    if errors.min_support is not None:
        parts.append(f"a support of at least {errors.min_support:g}")
    if errors.disputed is not None:
        parts.append("a dispute about them" if errors.disputed else "no dispute about them")
    if errors.raised_by:
        parts.append(f"an origin at {' or '.join(errors.raised_by)}")
    return " and ".join(parts)


def _uses_toy(run: ReportRun) -> bool:
    roles = run.config.get("role_models")
    names = [run.config.get("model"), *(roles.values() if isinstance(roles, dict) else ())]
    for name in names:
        try:
            local = parse_local(name.partition("@")[0]) if isinstance(name, str) else None
        except ConfigError:
            continue
        if local is not None and local.is_shipped:
            return True
    return False


def differences(runs: Sequence[ReportRun]) -> list[str]:
    """Settings in which the runs differ, by name."""
    keys = dict.fromkeys(key for run in runs for key in run.config)
    return [
        key for key in keys if any(run.config.get(key) != runs[0].config.get(key) for run in runs)
    ]


def settings(run: ReportRun) -> list[tuple[str, str]]:
    """A run's settings and versions as (name, value), without those that are not set."""
    versions = run.file.header.get("versions")
    named = dict(run.config) | {
        f"version of {name}": value
        for name, value in (versions.items() if isinstance(versions, dict) else ())
    }
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in public(named).items()
        if value not in (None, "", [], {})
    ]


def public(value: Any) -> Any:
    """JSON values as they may be shown: no keys, no credentials in addresses."""
    if isinstance(value, Mapping):
        return dict(_public_items(value))
    if isinstance(value, list):
        return [public(each) for each in value]
    if isinstance(value, str):
        return without_secrets(value)
    return value


def _public_items(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if _SECRET.search(name) and name not in _NOT_SECRET:
            yield name, "…"
        elif name == "extra_body" and isinstance(value, str):
            yield name, _public_json(value)
        else:
            yield name, public(value)


def _public_json(text: str) -> Any:
    try:
        return public(json.loads(text))
    except ValueError:
        return without_secrets(text)
