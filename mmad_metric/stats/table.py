"""Scores of systems as arrays, rows and repeats apart, with what is missing marked as missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmad_metric.errors import InputError

Array: TypeAlias = NDArray[np.float64]
# A segment's score, or the scores of its repeats; None where unscored.
Score: TypeAlias = "float | Sequence[float | None] | None"
LARGEST = 1e100  # size of a score: sums of what is larger may pass what a float holds


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval of a mean, in the scores' own unit.

    mean: the mean over the resamples, which is near the mean of the scores, not equal to it;
    low, high: the resampled means with 1/40 of all below and above. All three are NaN where
    there is none (`known` is then False): of fewer than two scored segments, which tell nothing
    of others, or from fewer than two resamples.
    """

    mean: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        return not math.isnan(self.mean)

    @property
    def half_width(self) -> float:
        """What sacreBLEU prints after the ±, its `confidence_var` and `ci`."""
        return 0.5 * (self.high - self.low)


UNKNOWN = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Columns:
    """Values to be averaged over rows, a column for each mean.

    values: (rows, columns), 0 where `scored` is False; spread: (rows, repeats, columns), what a
    repeat adds to its row's value, None where nothing was repeated.
    """

    values: Array
    scored: NDArray[np.bool_]
    spread: Array | None

    @classmethod
    def of(cls, systems: Sequence[Sequence[Score]]) -> Columns:
        """A column for each system. Raises InputError for systems of unequal length and for
        scores that are not finite numbers."""
        lengths = {len(scores) for scores in systems}
        if len(lengths) > 1:
            raise InputError(
                "the systems have different numbers of segments: "
                + ", ".join(str(len(scores)) for scores in systems)
            )
        if any(_is_repeated(score) for scores in systems for score in scores):
            return cls._of_repeats(systems)
        cells = np.empty((max(lengths, default=0), len(systems)))
        for number, scores in enumerate(systems):
            cells[:, number] = [_number(score, row) for row, score in enumerate(scores)]
        scored = ~np.isnan(cells)
        return cls(np.where(scored, cells, 0.0), scored, None)

    @classmethod
    def _of_repeats(cls, systems: Sequence[Sequence[Score]]) -> Columns:
        """A row's value is the mean of its scored repeats.

        The spread of a row with r scored ones out of k is stretched by k/r: drawing k out of k
        cells, the empty ones without effect, then varies as drawing r out of r does.
        """
        most = max(len(_listed(score)) for scores in systems for score in scores)
        cells = np.full((len(systems[0]), most, len(systems)), np.nan)
        for number, scores in enumerate(systems):
            for row, score in enumerate(scores):
                for repeat, value in enumerate(_listed(score)):
                    cells[row, repeat, number] = _number(value, row)
        known = ~np.isnan(cells)
        counts = known.sum(axis=1)
        filled = np.where(known, cells, 0.0)
        values = filled.sum(axis=1) / np.maximum(counts, 1)
        stretch = most / np.maximum(counts, 1)
        spread = np.where(known, filled - values[:, None, :], 0.0) * stretch[:, None, :]
        return cls(values, counts > 0, spread)

    def rows(self, chosen: Any) -> Columns:
        spread = None if self.spread is None else self.spread[chosen]
        return Columns(self.values[chosen], self.scored[chosen], spread)

    def differences(self, pairs: Sequence[tuple[int, int]]) -> Columns:
        """A column for each (baseline, system): system minus baseline where both are scored."""
        first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        both = self.scored[:, first] & self.scored[:, second]
        values = np.where(both, self.values[:, second] - self.values[:, first], 0.0)
        spread = None
        if self.spread is not None:
            spread = self.spread[:, :, second] - self.spread[:, :, first]
            spread = np.where(both[:, None, :], spread, 0.0)
        return Columns(values, both, spread)

    @property
    def means(self) -> Array:
        """The mean of each column over its scored rows, NaN where there are none."""
        return quotients(self.values.sum(axis=0), self.scored.sum(axis=0))


def quotients(sums: Array, counts: NDArray[Any]) -> Array:
    """Each sum by its count, NaN where a count is 0."""
    result = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=result, where=counts != 0)
    return result


def _is_repeated(score: Score) -> bool:
    return score is not None and not isinstance(score, (int, float, str, np.generic))


def _listed(score: Score) -> Sequence[float | None]:
    return score if _is_repeated(score) else (score,)  # type: ignore[return-value]


def _number(score: Any, row: int) -> float:
    """NaN stands for no score inside these rooms, so that none may come in from outside."""
    if score is None:
        return math.nan
    try:
        number = float(score)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(score, (bool, str)) or not -LARGEST <= number <= LARGEST:
        raise InputError(
            f"segment {row + 1}: {score!r} is no score; expected None or a number "
            f"from {-LARGEST:g} to {LARGEST:g}"
        )
    return number
