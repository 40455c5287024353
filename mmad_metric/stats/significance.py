"""Intervals and paired tests of mean scores, on the segments that both systems have a score for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from mmad_metric.errors import ConfigError
from mmad_metric.stats.resampling import ROUNDING, bootstrap_means, sign_flips
from mmad_metric.stats.table import UNKNOWN, Array, Columns, Interval, Score

Method: TypeAlias = Literal["bs", "ar"]
MOST_KEPT = 1 << 24  # resampled differences in memory at once, 128 MB
LEAST = 2  # segments that tell something of others; resamples whose ends are two


@dataclass(frozen=True, slots=True)
class PairTest:
    """A paired test. difference: mean of system minus baseline over the n_common segments that
    both have a score for, NaN where there are none; p_value: from 1/(n+1) to 1."""

    n_common: int
    difference: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired test with the 95% intervals of both means over the common segments.

    n_common: segments that both have a score for; difference: mean of system minus baseline
    over them, above 0 where the system is better; p_value: from 1/(n+1) to 1, 1 where there is
    nothing to tell apart: equal scores, or fewer than two common segments.
    """

    n_common: int
    difference: float
    p_value: float
    baseline: Interval
    system: Interval


def confidence(scores: Sequence[Score], n: int, seed: int) -> Interval:
    """The 95% bootstrap interval of a system's mean over its scored segments.

    scores: one a segment, None where unscored; n: resamples, at least 1. The percentile
    interval as sacreBLEU defines it, with its random numbers: for scores without gap, `mean` and
    `half_width` are what it prints for the same seed. A segment given as a sequence holds the
    scores of its repeats: these are then drawn again too, within each drawn segment. There is
    no interval, where sacreBLEU prints ± 0, of fewer than two scored segments.
    Raises InputError for a score that is no finite number, ConfigError for n or seed.
    """
    return confidences([scores], n, seed)[0]


def confidences(systems: Sequence[Sequence[Score]], n: int, seed: int) -> list[Interval]:
    """The interval of every system, from the same resamples where the same rows are scored.

    Systems that differ in what is scored are resampled each on its own scored segments.
    """
    _check(n, seed)
    columns = Columns.of(systems)
    groups: dict[bytes, list[int]] = {}
    for number in range(len(systems)):
        groups.setdefault(columns.scored[:, number].tobytes(), []).append(number)
    intervals = [UNKNOWN] * len(systems)
    for members in groups.values():
        rows = columns.rows(columns.scored[:, members[0]])
        spread = None if rows.spread is None else rows.spread[:, :, members]
        chosen = Columns(rows.values[:, members], rows.scored[:, members], spread)
        means = bootstrap_means(chosen, n, seed)
        for place, number in enumerate(members):
            intervals[number] = _interval(means[:, place], len(rows.values))
    return intervals


def paired(
    baseline: Sequence[Score], system: Sequence[Score], method: Method, n: int, seed: int
) -> Comparison:
    """Whether two systems differ on the segments that both have a score for.

    method "ar": approximate randomization, two-sided; "bs": paired bootstrap, the statistic of
    Moses and sacreBLEU. n: trials or resamples, for the intervals too; a p-value is
    (hits + 1) / (n + 1) as in sacreBLEU, where a resample that reaches the true difference is a
    hit (sacreBLEU counts those that pass it, so that equal systems come out as different).
    Segments may hold repeats, see `confidence`. Raises InputError for systems of unequal length,
    ConfigError for another method, n or seed.
    """
    _check(n, seed, method)
    columns = Columns.of([baseline, system])
    common = columns.rows(columns.scored.all(axis=1))
    tested = _test(common.differences([(0, 1)]), method, n, seed)[0]
    means = bootstrap_means(common, n, seed)
    return Comparison(
        tested.n_common,
        tested.difference,
        tested.p_value,
        _interval(means[:, 0], tested.n_common),
        _interval(means[:, 1], tested.n_common),
    )


def paired_tests(
    systems: Sequence[Sequence[Score]],
    pairs: Sequence[tuple[int, int]],
    method: Method,
    n: int,
    seed: int,
) -> list[PairTest]:
    """The paired test of every (baseline, system), given as places in `systems`.

    Each pair is compared on its own common segments; all pairs share the resamples of the rows
    that any pair has in common.
    """
    _check(n, seed, method)
    columns = Columns.of(systems)
    used = np.zeros(len(columns.scored), dtype=np.bool_)
    for first, second in pairs:
        used |= columns.scored[:, first] & columns.scored[:, second]
    rows = columns.rows(used)
    results: list[PairTest] = []
    for block in _blocks(pairs, n):
        results += _test(rows.differences(block), method, n, seed)
    return results


def _blocks(pairs: Sequence[tuple[int, int]], n: int) -> Iterator[Sequence[tuple[int, int]]]:
    size = max(1, MOST_KEPT // n)
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _test(differences: Columns, method: Method, n: int, seed: int) -> list[PairTest]:
    n_common = differences.scored.sum(axis=0)
    means = differences.means
    if method == "ar":
        hits = sign_flips(differences, n, seed)
        p_values = (hits + 1) / (n + 1)
    else:
        p_values = _bootstrap_p_values(differences, bootstrap_means(differences, n, seed))
    return [
        # One segment tells nothing about others, and resampling it always gives itself.
        PairTest(int(count), float(mean) + 0.0, float(p) if count >= LEAST else 1.0)
        for count, mean, p in zip(n_common, means, p_values, strict=True)
    ]


def _bootstrap_p_values(differences: Columns, resampled: Array) -> Array:
    """How often the resampled absolute difference, less its own mean, reaches the true one."""
    p_values = np.ones(resampled.shape[1])
    size = np.abs(differences.values).sum(axis=0) / np.maximum(differences.scored.sum(axis=0), 1)
    for number, mean in enumerate(differences.means):
        absolute = np.abs(resampled[:, number])
        absolute = absolute[~np.isnan(absolute)]  # a resample without a common segment is silent
        if len(absolute):
            reached = absolute - absolute.mean() >= abs(mean) - ROUNDING * size[number]
            p_values[number] = (reached.sum() + 1) / (len(absolute) + 1)
    return p_values


def _interval(means: Array, n_segments: int) -> Interval:
    """As sacreBLEU has it: the sorted means, 1/40 of them (rounded down) cut off each end."""
    if min(len(means), n_segments) < LEAST or np.isnan(means).any():
        return UNKNOWN
    ordered = np.sort(means)
    cut = len(ordered) // 40
    low, high = ordered[cut], ordered[len(ordered) - cut - 1]
    return Interval(float(means.mean()) + 0.0, float(low) + 0.0, float(high) + 0.0)


def _check(n: Any, seed: Any, method: Any = "bs") -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ConfigError(f"resamples: expected a whole number of at least 1, not {n!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ConfigError(f"seed: expected a whole number of at least 0, not {seed!r}")
    if method not in ("bs", "ar"):
        raise ConfigError(f"method: expected 'bs' or 'ar', not {method!r}")
