"""What the other questions are answered with, as plain values for JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mmad_metric.metaeval.arrays import or_none
from mmad_metric.metaeval.permutation import Comparison
from mmad_metric.metaeval.raters import Ceiling, SharedSegments
from mmad_metric.metaeval.selection import Selection, Splitting
from mmad_metric.metaeval.tables import aligned

Comparisons = Mapping[tuple[str, str], Mapping[str, Mapping[str, Comparison]]]


def significance_values(comparisons: Comparisons, width: int) -> list[dict[str, Any]]:
    """A comparison of two metrics an entry: difference and p-value by language pair and measure."""
    return [
        {
            "first": first,
            "second": second,
            "by_lp": {
                lp: {
                    name: {
                        "difference": _rounded(each.difference, width + 1),
                        "p": _rounded(each.p_value, 4),
                    }
                    for name, each in by_measure.items()
                }
                for lp, by_measure in by_lp.items()
            },
        }
        for (first, second), by_lp in comparisons.items()
    ]


def significance_text(comparisons: Comparisons, width: int) -> str:
    """A line a comparison and language pair."""
    rows = [["first > second", "pairs", *_measures(comparisons)]]
    for (first, second), by_lp in comparisons.items():
        for lp, by_measure in by_lp.items():
            cells = [
                "-"
                if math.isnan(each.difference)
                else f"{each.difference:+.{width}f} (p {each.p_value:.3f})"
                for each in by_measure.values()
            ]
            rows.append([f"{first} > {second}", lp, *cells])
    return aligned(rows)


def _measures(comparisons: Comparisons) -> list[str]:
    for by_lp in comparisons.values():
        for by_measure in by_lp.values():
            return list(by_measure)
    return []


def selection_values(
    found: Selection, how: Splitting, whole: Mapping[str, float], width: int
) -> dict[str, Any]:
    """whole: each configuration's meta score on all of the data."""
    splits = len(found.picked)
    means = dict(zip(found.names, found.held_out.mean(axis=0), strict=True))
    return {
        "split": how.unit,
        "folds": how.folds,
        "seeds": how.seeds,
        "n_splits": splits,
        "tuned": _rounded(found.tuned_score, width),
        "held_out": _rounded(found.held_out_score, width),
        "optimism": _rounded(found.optimism, width + 1),
        "optimism_sd": _rounded(found.optimism_deviation, width + 1),
        "size_effect": _rounded(found.size_effect, width + 1),
        "regret": _rounded(found.regret, width + 1),
        "configurations": [
            {
                "name": name,
                "picked": count,
                "share": _rounded(count / splits, width),
                "held_out": _rounded(float(means[name]), width),
                "whole": _rounded(whole[name], width),
            }
            for name, count in found.wins.items()
        ],
    }


def selection_text(values: Mapping[str, Any], width: int) -> str:
    """What `selection_values` says, for people."""
    number, fine = _numbers(width), _numbers(width + 1)
    rows = [["configuration", "picked", "share", "held out", "all data"]]
    rows += [
        [
            each["name"],
            str(each["picked"]),
            *(number(each[key]) for key in ("share", "held_out", "whole")),
        ]
        for each in values["configurations"]
    ]
    head = (
        f"{values['n_splits']} splits: {values['seeds']} deals of the {values['split']} into "
        f"{values['folds']} folds, each held out once"
    )
    lines = [
        f"tuned    {number(values['tuned'])}  mean meta score of the picks on their own part",
        f"held out {number(values['held_out'])}  the same picks on the other part",
        f"optimism {fine(values['optimism'])}  tuned - held out; standard deviation over splits "
        + fine(values["optimism_sd"])
        + f"; of a configuration taken blindly {fine(values['size_effect'])}",
        f"regret   {fine(values['regret'])}  how far the picks fall behind the best there",
    ]
    return "\n".join([head, *lines, "", aligned(rows)])


def ceiling_values(
    shared: SharedSegments, found: Mapping[str, Mapping[str, Ceiling]], width: int
) -> dict[str, Any]:
    """found: "raters", and each metric beside them, by measure."""
    return {
        "lp": shared.lp,
        "n_segments": shared.n_segments,
        "n_sources": len(shared.rows),
        "n_raters": len(shared.raters),
        "agreement": {
            who: {
                name: {
                    "mean": _rounded(each.value, width),
                    "lowest": _rounded(each.low, width),
                    "highest": _rounded(each.high, width),
                    "confidence": [
                        _rounded(end, width) for end in (each.interval.low, each.interval.high)
                    ],
                }
                for name, each in by_measure.items()
            }
            for who, by_measure in found.items()
        },
    }


def ceiling_text(values: Mapping[str, Any], width: int) -> str:
    """What `ceiling_values` says, for people."""
    number = _numbers(width)
    pairs = values["n_raters"] * (values["n_raters"] - 1) // 2
    head = (
        f"{values['lp']}: {values['n_segments']} segments of {values['n_sources']} sources that "
        f"all {values['n_raters']} raters rated ({pairs} pairs of raters)"
    )
    rows = [["who", "measure", "mean", "95%", "lowest", "highest"]]
    for who, by_measure in values["agreement"].items():
        for name, each in by_measure.items():
            low, high = each["confidence"]
            interval = f"[{number(low)}, {number(high)}]"
            ends = [number(each[key]) for key in ("lowest", "highest")]
            rows.append([who, name, number(each["mean"]), interval, *ends])
    return "\n".join([head, "", aligned(rows)])


def span_text(reports: Sequence[Mapping[str, Any]], width: int) -> str:
    """What `human_spans.span_report` found, a block a metric and language pair."""
    number = _numbers(width)
    blocks = []
    for report in reports:
        rows = [["", "precision", "recall", "F1"]]
        for kind in ("characters", "characters_severity", "exact", "exact_severity"):
            for mean, values in report[kind].items():
                label = f"{kind.replace('_', ' with ')}, {mean}"
                rows.append([label, *map(number, values.values())])
        for name, values in report["by_dimension"].items():
            rows.append([f"characters, micro, {name}", *map(number, values.values())])
        distances = report["score_distribution"]
        blocks.append(
            f"{report['metric']}, {report['lp']}: spans beside those of people "
            f"({report['n_compared']} comparisons, {report['n_unplaced']} errors without a place)\n"
            f"{aligned(rows)}\n"
            f"same severity where both mark a character: {number(report['severity_agreement'])}\n"
            f"scores: earth mover's distance {number(distances['earth_mover'])} points, "
            f"Kolmogorov-Smirnov {number(distances['kolmogorov_smirnov'])}"
        )
    return "\n\n".join(blocks)


def rounded_report(report: Any, width: int) -> Any:
    """The same plain values, every float rounded."""
    if isinstance(report, Mapping):
        return {key: rounded_report(value, width) for key, value in report.items()}
    if isinstance(report, list):
        return [rounded_report(each, width) for each in report]
    return round(report, width) + 0.0 if isinstance(report, float) else report


def _numbers(width: int) -> Callable[[float | None], str]:
    def number(value: float | None) -> str:
        return "-" if value is None else f"{value + 0.0:.{width}f}"

    return number


def _rounded(value: float, width: int) -> float | None:
    known = or_none(value)
    return None if known is None else round(known, width) + 0.0
