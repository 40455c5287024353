"""How `mmad sweep` prints: what each setting gives and takes, and what was really paid."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from mmad_metric.calls.connect import role_prices
from mmad_metric.chat import Usage
from mmad_metric.cli.tables import Row, latex_table, text_table
from mmad_metric.forecast import Forecast
from mmad_metric.layouts import number
from mmad_metric.recording import Recording
from mmad_metric.results import SystemTotals, usage_dict
from mmad_metric.scales import Scale
from mmad_metric.session import Plan
from mmad_metric.sweep.folder import Paid
from mmad_metric.sweep.running import SettingRun, Sweep

_TOKENS = ("Prompt", "Cached", "Completion")
_UNKNOWN = "-"
_BOUNDS = ("fewest", "most")


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What is printed: the settings that are finished. width: decimals of scores."""

    sweep: Sweep
    width: int

    @property
    def paid(self) -> list[tuple[str, Paid | None]]:
        """By setting; None where nobody has noted it down."""
        account = self.sweep.account
        return [(run.name, account.paid(run.name, kept.header())) for run, kept in self.sweep.done]


def sweep_json(report: SweepReport) -> str:
    """An object; `settings` has those that are finished, in the grid's order."""
    sweep = report.sweep
    known = dict(report.paid)
    values = {
        "n_settings": len(sweep.runs),
        "n_finished": len(sweep.done),
        "settings": [_setting_dict(run, kept, known[run.name]) for run, kept in sweep.done],
        "alone": _alone(kept for _, kept in sweep.done),
        "paid": _paid_dict(_sum_paid(known.values())),
    }
    return json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False)


def _setting_dict(run: SettingRun, kept: Recording, paid: Paid | None) -> dict[str, Any]:
    return {
        "setting": run.name,
        "run": run.path,
        "signature": kept.summary()["signature"],
        "systems": [each.to_dict() for each in kept.systems],
        "usage": _alone([kept]),
        "paid": _paid_dict(paid),
        "resumed": run.resumed,
    }


def _alone(kept: Iterable[Recording]) -> dict[str, Any]:
    """What settings take when each is first paid for: calls, tokens, cost."""
    totals = dict.fromkeys(Usage().to_dict(), 0)
    cost: float | None = 0.0
    for recording in kept:
        for system in recording.systems:
            used = usage_dict(system.usage, system.cost)
            for name in totals:
                totals[name] += used[name]
            cost = _plus(cost, used["cost_usd"])
    return {**totals, "cost_usd": cost}


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else round(one + other, 6)


def _sum_paid(paid: Iterable[Paid | None]) -> Paid | None:
    """Over all settings; None where one of them is not known."""
    total = Paid()
    for each in paid:
        if each is None:
            return None
        total += each
    return total


def _paid_dict(paid: Paid | None) -> dict[str, Any] | None:
    if paid is None:
        return None
    values = asdict(paid)
    cost = values["cost_usd"]
    rounded = None if cost is None else round(cost, 6)
    return {**values, "seconds": round(values["seconds"], 3), "cost_usd": rounded}


# -- text and LaTeX


def sweep_text(report: SweepReport) -> str:
    """Two tables and what they come to."""
    parts = ["Each setting, as if it were alone:", text_table(*_result_table(report)), ""]
    parts += ["What was paid:", text_table(*_paid_table(report)), "", _savings(report)]
    return "\n".join(parts)


def sweep_latex(report: SweepReport) -> str:
    """The tables of the text, and their sum as a comment."""
    tables = [latex_table(*_result_table(report)), latex_table(*_paid_table(report))]
    return "\n\n".join([*tables, f"% {_savings(report)}"])


FORMATS: Mapping[str, Callable[[SweepReport], str]] = {
    "json": sweep_json,
    "text": sweep_text,
    "latex": sweep_latex,
}


def _result_table(report: SweepReport) -> tuple[Row, Sequence[Row]]:
    systems = [(run.name, system) for run, kept in report.sweep.done for system in kept.systems]
    # The scale stands there where a score is not the penalty that it is elsewhere.
    scaled = any(system.scale is not Scale.PENALTY for _, system in systems)
    rows = [[name, *_system_cells(system, report.width, scaled=scaled)] for name, system in systems]
    scale = ["Scale"] if scaled else []
    return ["Setting", "System", "Score", *scale, "Scored", "Calls", *_TOKENS, "US dollars"], rows


def _system_cells(system: SystemTotals, width: int, *, scaled: bool) -> list[str]:
    used = usage_dict(system.usage, system.cost)
    return [
        system.name,
        number(system.score, width),
        *([system.scale.bounds] if scaled else []),
        f"{system.n_scored}/{system.n_rated}",
        str(used["calls"]),
        *(str(used[f"{name.lower()}_tokens"]) for name in _TOKENS),
        _dollars(used["cost_usd"]),
    ]


def _paid_table(report: SweepReport) -> tuple[Row, Sequence[Row]]:
    rows = [[name, *_paid_cells(paid)] for name, paid in report.paid]
    return ["Setting", "Calls", "From cache", *_TOKENS, "US dollars", "Seconds"], rows


def _paid_cells(paid: Paid | None) -> list[str]:
    if paid is None:
        return [_UNKNOWN] * 7
    tokens = (paid.prompt_tokens, paid.cached_tokens, paid.completion_tokens)
    return [
        str(paid.calls),
        str(paid.from_cache),
        *map(str, tokens),
        _dollars(paid.cost_usd),
        f"{paid.seconds:.1f}",
    ]


def _dollars(cost: float | None) -> str:
    return _UNKNOWN if cost is None else f"{cost:.4f}"


def _savings(report: SweepReport) -> str:
    alone = _alone(kept for _, kept in report.sweep.done)["calls"]
    paid = _sum_paid(paid for _, paid in report.paid)
    finished = f"{len(report.sweep.done)} of {len(report.sweep.runs)} settings are finished"
    if paid is None:
        return f"{finished}; each alone: {alone} calls in all; what was paid is not all known"
    saved = f", {1 - paid.calls / alone:.1%} fewer" if paid.calls < alone else ""
    return f"{finished}; each alone: {alone} calls in all; paid: {paid.calls}{saved}"


# -- before any call


def forecast_values(forecasts: Sequence[tuple[str, Plan, Forecast]]) -> dict[str, Any]:
    """Bounds of each setting alone and of the whole sweep, stage 1 counted once."""
    calls = dict.fromkeys(_BOUNDS, 0)
    costs: dict[str, Decimal | None] = dict.fromkeys(_BOUNDS, Decimal(0))
    settings = []
    for name, plan, found in forecasts:
        prices = role_prices(plan.config)
        cases = {case.name: case for case in found.cases}
        for bound in _BOUNDS:
            calls[bound] += cases[bound].total.calls
            cost, known = found.cost(cases[bound], prices), costs[bound]
            costs[bound] = None if cost is None or known is None else known + cost
        alone = {bound: cases[bound].alone.calls for bound in _BOUNDS}
        settings.append({"setting": name, "segments": found.rows, "calls": alone})
    return {
        "n_settings": len(settings),
        "settings": settings,
        "calls": calls,
        "cost_usd": {
            bound: None if cost is None else float(round(cost, 4)) for bound, cost in costs.items()
        },
    }


def forecast_text(values: Mapping[str, Any]) -> str:
    """The same as a table."""
    rows = [
        [each["setting"], str(each["segments"]), *(str(each["calls"][b]) for b in _BOUNDS)]
        for each in values["settings"]
    ]
    calls, costs = values["calls"], values["cost_usd"]
    cost = "unknown"
    if None not in costs.values():
        cost = " to ".join(f"${costs[bound]:.4f}" for bound in _BOUNDS)
    table = text_table(["Setting alone", "Segments", "Fewest calls", "Most calls"], rows)
    return (
        f"{table}\n"
        f"All {values['n_settings']} settings together, stage 1 paid for once: "
        f"{calls['fewest']} to {calls['most']} calls, cost {cost}\n"
        "Calls are bounds, re-asked replies and what the cache holds already aside; the cost is "
        "estimated from the texts, at most with every reply at --max-tokens."
    )
