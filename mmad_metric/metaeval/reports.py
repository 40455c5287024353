"""What the other questions are answered with, as plain values for JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.metaeval import latex
from mmad_metric.metaeval.arrays import or_none
from mmad_metric.metaeval.permutation import ALL, Common, Comparison
from mmad_metric.metaeval.raters import Ceiling, SharedSegments
from mmad_metric.metaeval.selection import Selection, Splitting
from mmad_metric.metaeval.tables import aligned


@dataclass(frozen=True, eq=False)
class Significance:
    """Comparisons of two metrics, the first one the better by the meta score.

    compared: by metrics, language pair or "all", and measure or "meta"; common: what they were
    compared on, by metrics and language pair or "all"; untested: metrics without a meta score.
    """

    compared: Mapping[tuple[str, str], Mapping[str, Mapping[str, Comparison]]]
    common: Mapping[tuple[str, str], Mapping[str, Common]]
    untested: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """The measures, and "meta"."""
        for by_lp in self.compared.values():
            for by_measure in by_lp.values():
                return list(by_measure)
        return []


def significance_values(tests: Significance, width: int) -> list[dict[str, Any]]:
    """A comparison of two metrics an entry: difference and p-value by language pair and measure,
    and on how many systems and translations."""
    return [
        {
            "first": both[0],
            "second": both[1],
            "common": {
                lp: {"n_systems": each.systems, "n_cells": each.cells}
                for lp, each in tests.common[both].items()
            },
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
        for both, by_lp in tests.compared.items()
    ]


def significance_text(tests: Significance, width: int) -> str:
    """A line a comparison and language pair, and one a metric that was not tested."""
    heads, *body = _significance_rows(tests, width)
    lines = [aligned([heads, *body])] if body else ["no two metrics to compare"]
    return "\n".join([*lines, *_untested(tests)])


def significance_latex(tests: Significance, width: int) -> str:
    """The same as a tabular."""
    heads, *body = _significance_rows(tests, width)
    columns = "ll" + "r" * (len(heads) - 2)
    return latex.tabular(columns, [heads], body, comments=_untested(tests))


def _significance_rows(tests: Significance, width: int) -> list[list[str]]:
    rows = [["first > second", "pairs", "systems", "translations", *tests.columns]]
    for both, by_lp in tests.compared.items():
        for lp, by_measure in by_lp.items():
            if lp == ALL and len(by_lp) == 2:  # noqa: PLR2004 - it says what the one pair says
                continue
            common = tests.common[both][lp]
            cells = [
                "-"
                if math.isnan(each.p_value)
                else f"{round(each.difference, width) + 0.0:+.{width}f} (p {each.p_value:.3f})"
                for each in by_measure.values()
            ]
            rows.append([" > ".join(both), lp, str(common.systems), str(common.cells), *cells])
    return rows


def _untested(tests: Significance) -> list[str]:
    return [f"{name}: not tested, it has no meta score" for name in tests.untested]


def selection_values(found: Selection, how: Splitting, width: int) -> dict[str, Any]:
    """The figures of the picks, then the configurations, the most picked first."""
    whole = {each.metric: each for each in found.whole}
    splits = len(found.picked)
    means = dict(zip(found.names, found.held_out.mean(axis=0), strict=True))
    return {
        "split": how.unit,
        "folds": how.folds,
        "seeds": how.seeds,
        "n_splits": splits,
        "n_tied": found.n_tied,
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
                "whole": _rounded(whole[name].meta, width),
                "n_scored": sum(each.n_scored for each in whole[name].by_lp.values()),
                "n_cells": sum(each.n_cells for each in whole[name].by_lp.values()),
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
    if values["n_tied"]:
        lines.append(
            f"In {values['n_tied']} splits several are equally good on the part that is picked "
            "from: the one named first is taken."
        )
    return "\n".join([head, *lines, "", aligned(rows)])


def ceiling_values(
    shared: SharedSegments,
    found: Mapping[str, Mapping[str, Ceiling]],
    scored: Mapping[str, int],
    width: int,
) -> dict[str, Any]:
    """found: "raters", and each metric beside them, by measure; scored: of the segments, by
    metric."""
    return {
        "lp": shared.lp,
        "n_segments": shared.n_segments,
        "n_sources": len(shared.rows),
        "n_raters": len(shared.raters),
        "n_scored": dict(scored),
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
    notes = [
        f"{name}: {scored} of {values['n_segments']} segments have a score"
        for name, scored in values["n_scored"].items()
        if scored < values["n_segments"]
    ]
    return "\n".join([head, "", aligned(rows), *(["", *notes] if notes else [])])


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
