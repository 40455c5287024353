"""Bootstrap intervals: the items (or documents) drawn anew, every measure computed again.

Each language pair is resampled by itself, all its metrics on the same samples, so that
differences of metrics have intervals too. A sample is a matter of weights, how often an item
was drawn; most measures are computed for all samples at once.

In a sample a system's score is the mean over its segments, on both sides: a system file says
nothing about a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval.arrays import Floats, Ints
from mmad_metric.metaeval.correlation import pearson
from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.measures import (
    SEG_ACC_T,
    SEG_PEARSON,
    SYS_ACCURACY,
    SYS_PEARSON,
    Measure,
    value_of,
)
from mmad_metric.metaeval.meta_score import LanguagePairScores, meta_of
from mmad_metric.metaeval.system_level import agreements_under
from mmad_metric.metaeval.ties import TiedPairs

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle `level` of the resampled values."""

    low: float
    high: float
    level: float = LEVEL

    @classmethod
    def of(cls, samples: Floats, level: float = LEVEL) -> Interval:
        """Percentile interval; samples where the measure is not defined are left out."""
        defined = samples[~np.isnan(samples)]
        if not defined.size:
            return cls(np.nan, np.nan, level)
        outside = (1 - level) / 2
        low, high = np.quantile(defined, [outside, 1 - outside])
        return cls(float(low), float(high), level)


@dataclass(frozen=True, slots=True)
class Resampling:
    """n: samples; unit: what is drawn, "items" or "documents" (with all their items)."""

    n: int = 1000
    seed: int = 12345
    unit: str = "items"


def draw(gold: Gold, how: Resampling) -> Ints:
    """Samples by items: how often each item was drawn."""
    rng = np.random.default_rng([how.seed, *gold.lp.encode()])
    if how.unit == "items":
        return _counts(rng, how.n, gold.items.size)
    if gold.documents is None:
        raise ConfigError(f"{gold.lp}: documents cannot be drawn, the data has no document file")
    return _counts(rng, how.n, int(gold.documents.max()) + 1)[:, gold.documents]


def _counts(rng: np.random.Generator, n: int, units: int) -> Ints:
    drawn = rng.integers(0, units, (n, units))
    return np.stack([np.bincount(row, minlength=units) for row in drawn])


def under_weights(
    measure: Measure, gold: Gold, metric: MetricScores, weights: Ints
) -> tuple[Floats, Floats]:
    """The measure in each sample, as a fraction: numerators and denominators, so that pooled
    measures can be added up over language pairs. weights: samples by items."""
    fast = _FAST.get(measure.name)
    if fast is not None:
        return fast(gold, metric, weights)
    values = np.array([value_of(measure, *_sample(gold, metric, row)) for row in weights])
    return values, np.ones(len(weights))


def _sample(gold: Gold, metric: MetricScores, weights: Ints) -> tuple[Gold, MetricScores]:
    """One sample written out: an item drawn twice stands there twice."""
    drawn = np.repeat(np.arange(weights.size), weights)
    segments = gold.segment[:, drawn]
    scores = metric.segment[:, drawn]
    means, metric_means = _means_under(gold, metric, weights[None])
    documents = None if gold.documents is None else gold.documents[drawn]
    return (
        Gold(gold.lp, gold.systems, gold.items[drawn], segments, means[:, 0], documents),
        MetricScores(metric.name, scores, metric_means[:, 0]),
    )


def _means_under(gold: Gold, metric: MetricScores, weights: Ints) -> tuple[Floats, Floats]:
    """System means of both sides in each sample, systems by samples, over the cells that both
    have; NaN where a system has none."""
    present = ~(np.isnan(gold.segment) | np.isnan(metric.segment))
    weighted = weights.T.astype(float)
    counts = present @ weighted
    with np.errstate(invalid="ignore"):
        one, other = (
            np.where(present, side, 0.0) @ weighted / counts
            for side in (gold.segment, metric.segment)
        )
    # Sums in another order differ in the last bits; equal means must stay equal.
    return np.round(one, 12), np.round(other, 12)


def _system_accuracy(gold: Gold, metric: MetricScores, weights: Ints) -> tuple[Floats, Floats]:
    return agreements_under(*_means_under(gold, metric, weights))


def _system_pearson(gold: Gold, metric: MetricScores, weights: Ints) -> tuple[Floats, Floats]:
    one, other = _means_under(gold, metric, weights)
    values = np.array([pearson(x, y) for x, y in zip(one.T, other.T, strict=True)])
    return values, np.ones(len(weights))


def _segment_pearson(gold: Gold, metric: MetricScores, weights: Ints) -> tuple[Floats, Floats]:
    """From six sums an item: moments add up under any weights."""
    present = ~(np.isnan(gold.segment) | np.isnan(metric.segment))
    ones = np.ones(len(weights))
    if not present.any():
        return ones * np.nan, ones
    # About the mean, or the squares would drown the differences.
    x = np.where(present, gold.segment - gold.segment[present].mean(), 0.0)
    y = np.where(present, metric.segment - metric.segment[present].mean(), 0.0)
    sums = np.stack([each.sum(axis=0) for each in (present, x, y, x * x, y * y, x * y)], axis=1)
    n, sx, sy, sxx, syy, sxy = (weights.astype(float) @ sums).T
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.sqrt((n * sxx - sx**2) * (n * syy - sy**2))
        return np.where(below > 0, (n * sxy - sx * sy) / below, np.nan), ones


def _acc_t(gold: Gold, metric: MetricScores, weights: Ints) -> tuple[Floats, Floats]:
    values = TiedPairs.of(gold.order, metric.segment).under(weights)
    return values, np.ones(len(weights))


_Fast = Callable[[Gold, MetricScores, Ints], tuple[Floats, Floats]]
_FAST: dict[str, _Fast] = {
    SYS_ACCURACY: _system_accuracy,
    SYS_PEARSON: _system_pearson,
    SEG_PEARSON: _segment_pearson,
    SEG_ACC_T: _acc_t,
}


Samples = Mapping[str, Mapping[str, Floats]]  # by language pair or "all", by measure or "meta"


def resampled(
    pairs: Sequence[LanguagePairScores],
    metric: str,
    measures: Sequence[Measure],
    weights: Mapping[str, Ints],
) -> Samples:
    """A metric's measures and meta scores in each sample. weights: by language pair, all with
    the same number of samples."""
    found: dict[str, dict[str, Floats]] = {pair.lp: {} for pair in pairs}
    over_all: dict[str, Floats] = {}
    for measure in measures:
        parts = [
            under_weights(measure, pair.gold, pair.metrics[metric], weights[pair.lp])
            for pair in pairs
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            for pair, (above, below) in zip(pairs, parts, strict=True):
                found[pair.lp][measure.name] = above / below
            if measure.pooled:
                above, below = (np.sum(side, axis=0) for side in zip(*parts, strict=True))
                over_all[measure.name] = above / below
            else:
                values = [found[pair.lp][measure.name] for pair in pairs]
                over_all[measure.name] = np.mean(values, axis=0)
    for values_by_measure in (*found.values(), over_all):
        values_by_measure["meta"] = _meta_samples(values_by_measure, measures)
    return {**found, "all": over_all}


def _meta_samples(values: Mapping[str, Floats], measures: Sequence[Measure]) -> Floats:
    mapped = [measure.mapped(values[measure.name]) for measure in measures]
    mean: Floats = np.mean(mapped, axis=0)
    return mean


def intervals(
    pairs: Sequence[LanguagePairScores],
    metrics: Sequence[str],
    measures: Sequence[Measure],
    how: Resampling,
) -> dict[str, dict[str, dict[str, Interval]]]:
    """By metric, language pair or "all", and measure or "meta". Metrics that lack a language
    pair have none."""
    weights = {pair.lp: draw(pair.gold, how) for pair in pairs}
    found = {}
    for metric in metrics:
        if any(metric not in pair.metrics for pair in pairs):
            continue
        samples = resampled(pairs, metric, measures, weights)
        found[metric] = {
            lp: {name: Interval.of(values) for name, values in by_measure.items()}
            for lp, by_measure in samples.items()
        }
    return found


__all__ = ["Interval", "Resampling", "draw", "intervals", "meta_of", "resampled", "under_weights"]
