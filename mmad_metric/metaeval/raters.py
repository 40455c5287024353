"""Two people on the same translations: how far they agree is the ceiling for a metric.

Taken are the segments that every rater rated. Intervals resample the sources, with all systems'
translations of each: translations of one source are no independent cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mmad_metric.errors import InputError
from mmad_metric.metaeval.arrays import Floats, Ints
from mmad_metric.metaeval.human_spans import HumanSpans
from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.measures import SEG_ACC_T, SEG_PEARSON, Measure, find_measures
from mmad_metric.metaeval.meta_score import LanguagePairScores
from mmad_metric.metaeval.resampling import Interval, Resampling, draw, under_weights
from mmad_metric.metaeval.span_agreement import (
    Compared,
    character_overlaps,
    exact_overlaps,
    severities,
)
from mmad_metric.scoring import SCHEMES

SCORE_MEASURES = (SEG_PEARSON, SEG_ACC_T)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A measure over pairs of raters, or of a metric and each rater.

    value: mean over the pairs; low, high: of the single pairs; interval: of the mean.
    """

    value: float
    low: float
    high: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class SharedSegments:
    """What all raters rated, as a matrix. rows: of the sources in the test set."""

    lp: str
    raters: tuple[str, ...]
    systems: tuple[str, ...]
    rows: tuple[int, ...]
    scores: Mapping[str, Floats]  # by rater, systems by sources
    human: HumanSpans

    @property
    def n_segments(self) -> int:
        return len(self.systems) * len(self.rows)

    def gold(self, rater: str) -> Gold:
        """One rater's scores as the gold."""
        segment = self.scores[rater]
        items = np.array(self.rows, dtype=np.int64)
        return Gold(self.lp, self.systems, items, segment, segment.mean(axis=1), None)

    def metric(self, rater: str) -> MetricScores:
        """One rater's scores as a metric's."""
        segment = self.scores[rater]
        return MetricScores(rater, segment, segment.mean(axis=1))


def shared_segments(lp: str, human: HumanSpans) -> SharedSegments:
    """The sources that every rater rated for every system that any of them rated there.

    Scores are minus the penalty under the scheme `wmt`, which gives the published gold. Raises
    InputError where there are fewer than two raters or no such source.
    """
    raters = tuple(human.ratings)
    if len(raters) < 2:  # noqa: PLR2004 - agreement
        raise InputError(f"{lp}: {len(raters)} rater with a rating file of his own, two are needed")
    by_row: dict[int, set[str]] = {}
    for system in next(iter(human.ratings.values())):
        for row in range(len(human.lengths.get(system, ()))):
            if len(human.of_segment(system, row)) == len(raters):
                by_row.setdefault(row, set()).add(system)
    systems = sorted(set().union(*by_row.values())) if by_row else []
    rows = sorted(row for row, rated in by_row.items() if len(rated) == len(systems))
    if not rows:
        raise InputError(f"{lp}: no segment was rated by all {len(raters)} raters")
    scheme = SCHEMES["wmt"]
    scores = {
        rater: np.array(
            [[scheme.segment_score(by_system[system][row] or ()) for row in rows]
             for system in systems]
        )
        for rater, by_system in human.ratings.items()
    }  # fmt: skip
    return SharedSegments(lp, raters, tuple(systems), tuple(rows), scores, human)


def rater_ceiling(shared: SharedSegments, how: Resampling) -> dict[str, Ceiling]:
    """Agreement over all pairs of raters, by measure. acc-t, which has a side with a threshold,
    is the mean of both directions."""
    weights = _weights(shared, how)
    pairs = list(combinations(shared.raters, 2))
    found = {}
    for measure in find_measures(SCORE_MEASURES):
        samples = [
            (_scored(measure, shared, one, other, weights)
             + _scored(measure, shared, other, one, weights)) / 2
            for one, other in pairs
        ]  # fmt: skip
        found[measure.name] = _ceiling(samples)
    errors = {rater: _errors(shared, rater) for rater in shared.raters}
    for name, agreement in _SPANS.items():
        found[name] = _ceiling(
            [agreement(_compared(errors[one], errors[other]), weights)
             for one, other in pairs]
        )  # fmt: skip
    return found


def beside_raters(
    shared: SharedSegments, pair: LanguagePairScores, names: Sequence[str], how: Resampling
) -> dict[str, dict[str, Ceiling]]:
    """Metrics against each rater alone, on the same segments. pair: with all the systems that
    the raters rated; a metric without scores for one of these is NaN there."""
    weights = _weights(shared, how)
    found = {}
    for name in names:
        cells = _cells(shared, pair, name)
        metric = MetricScores(name, cells, np.full(len(shared.systems), np.nan))
        found[name] = {
            measure.name: _ceiling(
                [
                    _first_is_whole(measure, shared.gold(rater), metric, weights)
                    for rater in shared.raters
                ]
            )
            for measure in find_measures(SCORE_MEASURES)
        }
    return found


def scored_segments(
    shared: SharedSegments, pair: LanguagePairScores, names: Sequence[str]
) -> dict[str, int]:
    """How many of the shared segments each metric scored."""
    return {name: int(np.count_nonzero(~np.isnan(_cells(shared, pair, name)))) for name in names}


def _cells(shared: SharedSegments, pair: LanguagePairScores, name: str) -> Floats:
    """A metric's scores of the shared segments, systems by sources."""
    if name not in pair.metrics:
        raise InputError(f"{name!r} has no scores for {pair.lp}")
    systems = np.array([pair.gold.systems.index(each) for each in shared.systems])
    columns = np.searchsorted(pair.gold.items, shared.rows)
    cells: Floats = pair.metrics[name].segment[systems][:, columns]
    return cells


def _weights(shared: SharedSegments, how: Resampling) -> Ints:
    """Samples by sources; the first is the data as it is."""
    whole = np.ones((1, len(shared.rows)), dtype=np.int64)
    return np.concatenate([whole, draw(shared.gold(shared.raters[0]), how)])


def _scored(
    measure: Measure, shared: SharedSegments, one: str, other: str, weights: Ints
) -> Floats:
    return _first_is_whole(measure, shared.gold(one), shared.metric(other), weights)


def _first_is_whole(measure: Measure, gold: Gold, metric: MetricScores, weights: Ints) -> Floats:
    return under_weights(measure, gold, metric, weights)[0]


def _ceiling(samples: Sequence[Floats]) -> Ceiling:
    """samples: one row a pair, the value of the data first, then of each sample."""
    table = np.stack(samples)
    seen = table[:, 0]
    return Ceiling(
        float(seen.mean()),
        float(seen.min()),
        float(seen.max()),
        Interval.of(table[:, 1:].mean(axis=0)),
    )


def _errors(shared: SharedSegments, rater: str) -> list[Compared]:
    """The rater's errors, all sources of a system after another."""
    by_system = shared.human.ratings[rater]
    return [
        Compared(shared.human.lengths[system][row], by_system[system][row] or (), ())
        for system in shared.systems
        for row in shared.rows
    ]


def _compared(one: Sequence[Compared], other: Sequence[Compared]) -> list[Compared]:
    return [Compared(a.length, a.human, b.human) for a, b in zip(one, other, strict=True)]


def _tiled(weights: Ints, n_segments: int) -> Ints:
    """Weights of sources as weights of segments."""
    return np.tile(weights, (1, n_segments // weights.shape[1]))


def _span_f1(segments: list[Compared], weights: Ints) -> Floats:
    overlaps = character_overlaps(segments, severity=False)
    return overlaps.f1_under(_tiled(weights, len(segments)))


def _span_f1_severity(segments: list[Compared], weights: Ints) -> Floats:
    overlaps = character_overlaps(segments, severity=True)
    return overlaps.f1_under(_tiled(weights, len(segments)))


def _exact_f1(segments: list[Compared], weights: Ints) -> Floats:
    return exact_overlaps(segments, severity=False).f1_under(_tiled(weights, len(segments)))


def _severity_agreement(segments: list[Compared], weights: Ints) -> Floats:
    """Of the characters that both marked, the share with the same severity, in each sample."""
    both, same = [], []
    for each in segments:
        one, other = (severities(side, each.length) for side in (each.human, each.metric))
        marked = (one > 0) & (other > 0)
        both.append(float(marked.sum()))
        same.append(float((marked & (one == other)).sum()))
    tiled = _tiled(weights, len(segments))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (tiled @ np.array(same)) / (tiled @ np.array(both))
    return found


_SPANS: dict[str, Callable[[list[Compared], Ints], Floats]] = {
    "span_f1": _span_f1,
    "span_f1_severity": _span_f1_severity,
    "exact_f1": _exact_f1,
    "severity_agreement": _severity_agreement,
}
