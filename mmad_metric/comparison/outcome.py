"""What a comparison finds: means, paired tests, clusters, errors, the segments that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from mmad_metric.comparison.systems import System
from mmad_metric.repeats import RowScore, Stability, noise, ranking_stability
from mmad_metric.scoring import mean
from mmad_metric.stats import (
    Interval,
    Method,
    PairTest,
    Standing,
    confidences,
    paired_tests,
    standings,
)

SAME = 1e-9  # points; means of repeats that are equal may differ by their rounding


@dataclass(frozen=True, slots=True)
class Procedure:
    """method: bs or ar; n: resamples or trials; alpha: significant below this."""

    method: Method
    n: int
    seed: int
    alpha: float


@dataclass(frozen=True, slots=True)
class SystemOutcome:
    """A system's numbers.

    score, interval: over the segments that all systems have a score for (over its own where
    there are none such), n of them; own_score: over its own n_scored of n_asked segments;
    p_value: against the first system, None for that one; errors: by dimension and severity, on
    the same segments as `score`, all repeats together.
    """

    name: str
    file: str
    n_asked: int
    n_scored: int
    own_score: float | None
    n: int
    score: float | None
    interval: Interval
    p_value: float | None
    standing: Standing
    noise: float | None
    errors: Mapping[str, Mapping[str, int]] | None


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Two systems on the segments that both have a score for. wins: where the system's score is
    higher than the baseline's."""

    baseline: int
    system: int
    test: PairTest
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A segment on which systems differ. index: from 0; scores: of all systems, None where
    unscored; best, worst: places of the systems with the highest and the lowest score."""

    index: int
    scores: tuple[float | None, ...]
    best: int
    worst: int

    @property
    def size(self) -> float:
        high, low = self.scores[self.best], self.scores[self.worst]
        return 0.0 if high is None or low is None else high - low


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole comparison; n_common: segments that all systems have a score for."""

    settings: Procedure
    n_segments: int
    n_common: int
    systems: tuple[SystemOutcome, ...]
    pairs: tuple[PairOutcome, ...]
    stability: Stability | None
    differences: tuple[Difference, ...]

    @property
    def clusters(self) -> list[list[str]]:
        """Names by cluster, the best first."""
        groups: dict[int, list[SystemOutcome]] = {}
        for system in self.systems:
            groups.setdefault(system.standing.cluster, []).append(system)
        return [
            [each.name for each in sorted(groups[key], key=_worst_last)] for key in sorted(groups)
        ]


def compare(systems: Sequence[System], settings: Procedure, top: int) -> Outcome:
    """Compare every pair of systems; top: how many differing segments to name at most."""
    flat = [tuple(row_score(row) for row in system.rows) for system in systems]
    common = [None not in scores for scores in zip(*flat, strict=True)]
    basis = [_basis(scores, common) for scores in flat]
    pairs = _pairs([system.rows for system in systems], flat, settings)
    places = _standings(flat, basis, pairs, settings.alpha)
    against_first = {pair.system: pair.test.p_value for pair in pairs if pair.baseline == 0}
    intervals = confidences(
        [_only(system.rows, rows) for system, rows in zip(systems, basis, strict=True)],
        settings.n,
        settings.seed,
    )
    outcomes = [
        SystemOutcome(
            system.name,
            system.file,
            sum(system.asked),
            sum(score is not None for score in flat[number]),
            _mean(flat[number]),
            sum(basis[number]),
            _mean(_only(flat[number], basis[number])),
            intervals[number],
            against_first.get(number),
            places[number],
            noise(system.rows),
            _errors(system, basis[number]),
        )
        for number, system in enumerate(systems)
    ]
    return Outcome(
        settings,
        len(common),
        sum(common),
        tuple(outcomes),
        tuple(pairs),
        ranking_stability([system.rows for system in systems]),
        _differences(flat, top),
    )


def row_score(row: RowScore) -> float | None:
    """A segment's score: the mean of its scored repeats."""
    if not isinstance(row, tuple):
        return row
    return mean([score for score in row if score is not None])


def _basis(scores: Sequence[float | None], common: Sequence[bool]) -> list[bool]:
    """The segments that a system's mean is taken over."""
    return list(common) if any(common) else [score is not None for score in scores]


def _only(rows: Sequence[RowScore], chosen: Sequence[bool]) -> list[RowScore]:
    return [row if is_chosen else None for row, is_chosen in zip(rows, chosen, strict=True)]


def _mean(scores: Sequence[RowScore]) -> float | None:
    return mean([score for score in scores if isinstance(score, (int, float))])


def _pairs(
    rows: Sequence[Sequence[RowScore]],
    flat: Sequence[Sequence[float | None]],
    settings: Procedure,
) -> list[PairOutcome]:
    places = list(combinations(range(len(rows)), 2))
    tests = paired_tests(rows, places, settings.method, settings.n, settings.seed)
    outcomes = []
    for (baseline, system), test in zip(places, tests, strict=True):
        differences = [
            other - one
            for one, other in zip(flat[baseline], flat[system], strict=True)
            if one is not None and other is not None
        ]
        wins = sum(difference > SAME for difference in differences)
        losses = sum(difference < -SAME for difference in differences)
        ties = len(differences) - wins - losses
        outcomes.append(PairOutcome(baseline, system, test, wins, losses, ties))
    return outcomes


def _standings(
    flat: Sequence[Sequence[float | None]],
    basis: Sequence[Sequence[bool]],
    pairs: Sequence[PairOutcome],
    alpha: float,
) -> dict[int, Standing]:
    scores = [_mean(_only(*each)) for each in zip(flat, basis, strict=True)]
    better = {}
    for pair in pairs:
        if pair.test.p_value < alpha:
            ahead = pair.test.difference > 0
            better[pair.system, pair.baseline] = ahead
            better[pair.baseline, pair.system] = not ahead
    ordered = standings([float("-inf") if each is None else each for each in scores], better)
    return {each.system: each for each in ordered}


def _errors(system: System, chosen: Sequence[bool]) -> Mapping[str, Mapping[str, int]] | None:
    if system.labels is None:
        return None
    counts: dict[str, Counter[str]] = {}
    for labels, is_chosen in zip(system.labels, chosen, strict=True):
        for dimension, severity in labels if is_chosen else ():
            counts.setdefault(dimension, Counter())[severity] += 1
    return {dimension: dict(counts[dimension]) for dimension in sorted(counts)}


def _differences(flat: Sequence[Sequence[float | None]], top: int) -> tuple[Difference, ...]:
    """The segments with the widest gap between the best and the worst system, widest first."""
    found = []
    for index, scores in enumerate(zip(*flat, strict=True)):
        known = [(score, place) for place, score in enumerate(scores) if score is not None]
        if len(known) > 1:
            best = max(known, key=lambda each: each[0])
            worst = min(known, key=lambda each: each[0])
            if best[0] - worst[0] > SAME:
                found.append(Difference(index, scores, best[1], worst[1]))
    found.sort(key=lambda each: (-each.size, each.index))
    return tuple(found[:top])


def _worst_last(system: SystemOutcome) -> float:
    return float("inf") if system.score is None else -system.score
