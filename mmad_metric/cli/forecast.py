"""`--dry-run`: what a run would take, printed before a cent is spent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mmad_metric.beside import with_material
from mmad_metric.call_counts import call_bounds
from mmad_metric.calls.connect import role_prices
from mmad_metric.files.inputs import Inputs, sample_rows
from mmad_metric.forecast import Forecast, forecast
from mmad_metric.rating import Segment
from mmad_metric.session import Plan


def print_forecast(plan: Plan, inputs: Inputs, *, as_json: bool) -> None:
    """Bounds on calls, token estimates and cost, as text or JSON on stdout."""
    result = forecast(plan, sampled(plan, inputs))
    values = result.to_dict(role_prices(plan.config))
    values["calls_per_segment"] = call_bounds(plan.config, len(plan.prompts.pack.dimensions))
    if as_json:
        print(json.dumps(values, indent=1))
    else:
        print(_text(plan, result, values))


def sampled(plan: Plan, inputs: Inputs) -> Iterator[Segment]:
    """The segments that are to be rated."""
    size = plan.config.sample
    segments = with_material(inputs.segments(), plan.config, plan.glossary)
    if size is None:
        return segments
    rows = frozenset(sample_rows(inputs.n_rows, size, plan.config.seed))
    return (segment for segment in segments if segment.index in rows)


def _text(plan: Plan, result: Forecast, values: dict[str, Any]) -> str:
    low, high = values["calls_per_segment"]
    calls = f"{low} to {high} calls" if low < high else f"{low} call{'s' * (low > 1)}"
    times = f", each rated {result.repeats} times" if result.repeats > 1 else ""
    lines = [
        f"{result.rows} segments, {result.distinct} different ones that need calls{times}",
        f"{calls} {'a rating' if times else 'each'} with {plan.config.model}",
        f"{'case':<10} {'calls':>9} {'prompt tokens':>14} {'reply tokens':>13} {'US dollars':>11}",
    ]
    for name, case in values["cases"].items():
        cost = case["cost_usd"]
        shown = "unknown" if cost is None else f"{cost:.4f}"
        lines.append(
            f"{name:<10} {case['calls']:>9} {case['prompt_tokens']:>14} "
            f"{case['completion_tokens']:>13} {shown:>11}  {case['description']}"
        )
    lines.append(
        "Calls are exact bounds (re-asked replies and the cache aside); tokens are estimated from "
        "the texts, in the last row with every reply at --max-tokens; prompt caching by the "
        "server can only lower the cost."
    )
    return "\n".join(lines)
