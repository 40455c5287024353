"""Statistics on segment scores: intervals and paired tests by resampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mmad_metric.errors import InputError

_CELLS = 2_000_000  # drawn at a time: bounds memory whatever the number of resamples
_TINY = 1e-12  # differences below it are rounding


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval. mean: of the resampled means; low, high: its 2.5% and 97.5% points."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the segments that both have a score for.

    n_common: how many; difference: system minus baseline, in points; p_value: two-sided, above
    0, 1 for identical scores; baseline, system: their intervals.
    """

    n_common: int
    difference: float
    p_value: float
    baseline: Interval
    system: Interval


def confidence(scores: Sequence[float | None], n: int, seed: int) -> Interval:
    """Bootstrap interval of the mean over the scored segments; None is an unscored one.

    Raises InputError where nothing is scored.
    """
    values = np.array([score for score in scores if score is not None], dtype=float)
    if not values.size:
        raise InputError("no segment is scored: there is nothing to resample")
    means = [values[rows].mean(axis=1) for rows in _drawn(values.size, n, seed)]
    return _interval(np.concatenate(means))


def paired(
    baseline: Sequence[float | None],
    system: Sequence[float | None],
    method: Literal["bs", "ar"],
    n: int,
    seed: int,
) -> Comparison:
    """Paired bootstrap ("bs") or approximate randomisation ("ar") on the common segments.

    Both are two-sided and count the observed difference itself: p = (c + 1) / (n + 1), where c
    resamples differ at least as much. Raises InputError where no segment is common.
    """
    if len(baseline) != len(system):
        raise InputError(f"{len(baseline)} segments of the baseline, {len(system)} of the system")
    pairs = [
        (mine, theirs)
        for theirs, mine in zip(baseline, system, strict=True)
        if mine is not None and theirs is not None
    ]
    if not pairs:
        raise InputError("no segment is scored for both systems: there is nothing to compare")
    mine, theirs = np.array(pairs, dtype=float).T
    differences = mine - theirs
    observed = float(differences.mean())
    if method == "bs":
        drawn = np.concatenate(
            [differences[rows].mean(axis=1) for rows in _drawn(len(pairs), n, seed)]
        )
        drawn = drawn - observed
    else:
        drawn = np.concatenate(
            [signs @ differences / len(pairs) for signs in _signs(len(pairs), n, seed)]
        )
    extreme = int(np.sum(np.abs(drawn) >= abs(observed) - _TINY))
    return Comparison(
        len(pairs),
        observed,
        (extreme + 1) / (n + 1),
        confidence(theirs.tolist(), n, seed),
        confidence(mine.tolist(), n, seed),
    )


def _blocks(size: int, n: int) -> Iterator[int]:
    block = max(1, _CELLS // size)
    while n > 0:
        yield min(block, n)
        n -= block


def _drawn(size: int, n: int, seed: int) -> Iterator[Any]:
    random = np.random.default_rng(seed)
    for rows in _blocks(size, n):
        yield random.integers(size, size=(rows, size))


def _signs(size: int, n: int, seed: int) -> Iterator[Any]:
    random = np.random.default_rng(seed)
    for rows in _blocks(size, n):
        yield random.integers(2, size=(rows, size)) * 2 - 1


def _interval(means: Any) -> Interval:
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(means.mean()), float(low), float(high))
