"""The table: every measure of every metric, per language pair and over all, and the meta score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.measures import Measure, value_of
from mmad_metric.metaeval.system_level import Agreement, pairwise_agreement


@dataclass(frozen=True, eq=False)
class LanguagePairScores:
    """One language pair: its gold, and the metrics that have scores for it, by name."""

    gold: Gold
    metrics: Mapping[str, MetricScores]

    @property
    def lp(self) -> str:
        return self.gold.lp


@dataclass(frozen=True, slots=True)
class PairResult:
    """A metric on one language pair. values: by measure, in the measure's own range; meta: mean
    of the mapped values; n_scored of n_cells: cells with gold that the metric scored."""

    values: Mapping[str, float]
    meta: float
    n_scored: int
    n_cells: int


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A metric over all language pairs: accuracy pooled, other measures averaged over the pairs;
    all NaN where the metric has no scores for one of them."""

    metric: str
    values: Mapping[str, float]
    meta: float
    by_lp: Mapping[str, PairResult]


def evaluate(
    pairs: Sequence[LanguagePairScores], measures: Sequence[Measure]
) -> list[MetricResult]:
    """The best meta score first; metrics without one last, by name."""
    names = sorted({name for pair in pairs for name in pair.metrics})
    results = [_metric_result(name, pairs, measures) for name in names]
    return sorted(results, key=lambda each: (np.isnan(each.meta), -each.meta, each.metric))


def meta_of(values: Mapping[str, float], measures: Sequence[Measure]) -> float:
    """Equal weights, each signed measure r as (r+1)/2; NaN where one is not defined."""
    return float(np.mean([measure.mapped(values[measure.name]) for measure in measures]))


def _metric_result(
    name: str, pairs: Sequence[LanguagePairScores], measures: Sequence[Measure]
) -> MetricResult:
    by_lp = {
        pair.lp: _pair_result(pair.gold, pair.metrics[name], measures)
        for pair in pairs
        if name in pair.metrics
    }
    values = {}
    for measure in measures:
        if len(by_lp) < len(pairs):
            values[measure.name] = np.nan
        elif measure.pooled:
            values[measure.name] = _pooled(name, pairs)
        else:
            values[measure.name] = float(
                np.mean([result.values[measure.name] for result in by_lp.values()])
            )
    return MetricResult(name, values, meta_of(values, measures), by_lp)


def _pooled(name: str, pairs: Sequence[LanguagePairScores]) -> float:
    counted = [pairwise_agreement(each.gold.system, each.metrics[name].system) for each in pairs]
    return sum(counted, Agreement(0, 0)).accuracy


def _pair_result(gold: Gold, metric: MetricScores, measures: Sequence[Measure]) -> PairResult:
    values = {measure.name: value_of(measure, gold, metric) for measure in measures}
    rated = ~np.isnan(gold.segment)
    scored = int(np.count_nonzero(rated & ~np.isnan(metric.segment)))
    return PairResult(values, meta_of(values, measures), scored, int(rated.sum()))
