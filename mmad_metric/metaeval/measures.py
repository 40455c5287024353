"""The measures by name, and how each takes gold and metric scores of one language pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TypeVar

import numpy as np

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval import correlation
from mmad_metric.metaeval.arrays import Floats
from mmad_metric.metaeval.correlation import Grouping, grouped, pearson, spearman
from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.system_level import pairwise_agreement, soft_pairwise_accuracy
from mmad_metric.metaeval.ties import acc_t
from mmad_metric.names import nearest

SYS_ACCURACY = "sys_accuracy"
SYS_PEARSON = "sys_pearson"
SYS_SPA = "sys_spa"
SEG_PEARSON = "seg_pearson"
SEG_ACC_T = "seg_acc_t"

Number = TypeVar("Number", float, Floats)
Value = Callable[[Gold, MetricScores], float]


@dataclass(frozen=True, slots=True)
class Measure:
    """name: as in results; title: for tables; value: NaN where not defined; signed: from -1 to
    1, mapped by (r+1)/2 in a meta score (otherwise from 0 to 1); pooled: pairs of systems are
    counted over the language pairs together instead of averaging over these."""

    name: str
    title: str
    value: Value
    signed: bool = False
    pooled: bool = False

    def mapped(self, value: Number) -> Number:
        """The value as it enters a meta score, 0 to 1."""
        return (value + 1) / 2 if self.signed else value


def _system_accuracy(gold: Gold, metric: MetricScores) -> float:
    return pairwise_agreement(gold.system, metric.system).accuracy


def _system_pearson(gold: Gold, metric: MetricScores) -> float:
    return pearson(gold.system, metric.system)


def _spa(gold: Gold, metric: MetricScores) -> float:
    return soft_pairwise_accuracy(gold.segment, metric.segment)


def _acc_t(gold: Gold, metric: MetricScores) -> float:
    return acc_t(gold.order, metric.segment).accuracy


def _system_spearman(gold: Gold, metric: MetricScores) -> float:
    return spearman(gold.system, metric.system)


def _system_kendall(gold: Gold, metric: MetricScores) -> float:
    return correlation.kendall_b(gold.system, metric.system)


def _segment(
    gold: Gold, metric: MetricScores, *, kind: correlation.Correlation, group: Grouping
) -> float:
    return grouped(kind, gold.segment, metric.segment, group)


_KINDS: dict[str, tuple[str, correlation.Correlation, bool]] = {
    "pearson": ("Pearson", pearson, True),
    "spearman": ("Spearman", spearman, True),
    "kendall_a": ("tau-a", correlation.kendall_a, True),
    "kendall_b": ("tau-b", correlation.kendall_b, True),
    "kendall_c": ("tau-c", correlation.kendall_c, True),
    "kendall_10": ("tau-10", correlation.kendall_10, True),
    "kendall_13": ("tau-13", correlation.kendall_13, True),
    "kendall_14": ("tau-14", correlation.kendall_14, True),
    "acc_eq": ("acc-eq", correlation.accuracy_eq, False),
}
_GROUPS: tuple[Grouping, ...] = ("none", "item", "system")


def _segment_measures() -> list[Measure]:
    """Every correlation under every grouping; `seg_kendall_b` is ungrouped, `seg_kendall_b_item`
    the mean over the items."""
    found = []
    for (name, (title, kind, signed)), group in product(_KINDS.items(), _GROUPS):
        ending, words = ("", "") if group == "none" else (f"_{group}", f" by {group}")
        value = partial(_segment, kind=kind, group=group)
        found.append(Measure(f"seg_{name}{ending}", f"seg {title}{words}", value, signed))
    return found


MEASURES: dict[str, Measure] = {
    each.name: each
    for each in (
        Measure(SYS_ACCURACY, "sys acc", _system_accuracy, pooled=True),
        Measure(SYS_PEARSON, "sys Pearson", _system_pearson, signed=True),
        Measure(SYS_SPA, "SPA", _spa),
        Measure("sys_spearman", "sys Spearman", _system_spearman, signed=True),
        Measure("sys_kendall_b", "sys tau-b", _system_kendall, signed=True),
        Measure(SEG_ACC_T, "acc-t", _acc_t),
        *_segment_measures(),
    )
}

# What a meta score averages, with equal weights.
META_SETS: dict[str, tuple[str, ...]] = {
    # The four scenarios of WMT23 as the paper's table weighs them.
    "wmt23": (SYS_ACCURACY, SYS_PEARSON, SEG_ACC_T, SEG_PEARSON),
    # WMT24: soft pairwise accuracy and acc-t, averaged over the language pairs.
    "wmt24": (SYS_SPA, SEG_ACC_T),
}


def find_measures(names: tuple[str, ...]) -> tuple[Measure, ...]:
    """The measures of these names, each once. Raises ConfigError for an unknown one."""
    for name in names:
        if name not in MEASURES:
            raise ConfigError(
                f"measure {name!r} is not one of {', '.join(MEASURES)}{nearest(name, MEASURES)}"
            )
    return tuple(MEASURES[name] for name in dict.fromkeys(names))


def value_of(measure: Measure, gold: Gold, metric: MetricScores) -> float:
    """The measure; a Python float, NaN where it is not defined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(measure.value(gold, metric))
