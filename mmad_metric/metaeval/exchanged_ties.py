"""acc-t of two metrics after each of many exchanges of cells, without sorting anew each time.

Whatever is exchanged, the difference of two systems on an item is one of four: both scores from
the first metric, both from the second, or one from each. All four are put into bins of rising
size once; an exchange then only counts how many of its pairs fall into each bin.

The thresholds tried are the bins' upper edges: every difference that occurs where there are at
most `BINS` of them, else that many quantiles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmad_metric.metaeval.arrays import Bools, Floats, Ints
from mmad_metric.metaeval.ties import pair_differences

BINS = 1 << 14


def acc_t_exchanged(
    gold: Floats, one: Floats, other: Floats, masks: Bools
) -> tuple[Floats, Floats]:
    """acc-t of the first and the second metric after each exchange.

    gold, one, other: systems by items, all NaN in the same cells, the metrics standardised;
    masks: exchanges by cells that are present, in the order of `one[present]`; True exchanges.
    """
    present = ~np.isnan(one)
    values = np.full((2, len(masks)), np.nan)
    pairs = _Pairs.of(gold, one, other)
    if not pairs.compared.size:
        return values[0], values[1]
    first, second = np.triu_indices(len(gold), 1)
    turned = np.zeros(present.shape, dtype=np.int8)
    for place, mask in enumerate(masks):
        turned[present] = mask
        drawn = (2 * turned[first] + turned[second]).ravel()
        if pairs.compared.size < drawn.size:
            drawn = drawn[pairs.compared]
        values[0, place] = pairs.accuracy(drawn)
        values[1, place] = pairs.accuracy(3 - drawn)
    return values[0], values[1]


class _Pairs:
    """Codes of all pairs under the four combinations; see the module."""

    def __init__(self, codes: Ints, compared: Ints, weights: Floats | None, bins: int) -> None:
        self.compared = compared
        self._codes = codes.T.ravel()  # the four of a pair side by side
        self._starts = 4 * np.arange(compared.size)
        self._weights = weights
        self._bins = bins
        self._whole = float(compared.size if weights is None else weights.sum())

    @classmethod
    def of(cls, gold: Floats, one: Floats, other: Floats) -> _Pairs:
        first, second = np.triu_indices(len(gold), 1)
        gold_difference = pair_differences(gold)
        per_item = (~np.isnan(gold_difference)).sum(axis=0)
        compared = np.flatnonzero(~np.isnan(gold_difference))
        people = gold_difference.ravel()[compared]
        differences = np.stack(
            [
                (left[first] - right[second]).ravel()[compared]
                for left in (one, other)
                for right in (one, other)
            ]
        )
        ordered = ((differences > 0) & (people > 0)) | ((differences < 0) & (people < 0))
        # Standardised scores differ in their last bits where the given ones differed equally.
        sizes = np.abs(differences).round(9)
        edges = _edges(sizes)
        bins = np.searchsorted(edges, sizes)
        # Tied by people: gained from its bin on. Ordered as by people: lost from its bin on.
        codes = np.where(ordered, bins + edges.size, 2 * edges.size)
        codes[:, people == 0] = bins[:, people == 0]
        some = per_item[per_item > 0]
        even = bool((some == some[:1]).all())
        weights = None if even else 1 / per_item[compared % gold.shape[1]]
        return cls(codes, compared, weights, edges.size)

    def accuracy(self, combination: NDArray[np.int8]) -> float:
        """combination: for each compared pair, 2 where its first score comes from the second
        metric, plus 1 where its second score does."""
        codes = self._codes[self._starts + combination]
        counts = np.bincount(codes, self._weights, minlength=2 * self._bins + 1)
        gained, lost = counts[: self._bins], counts[self._bins : 2 * self._bins]
        best = max(0.0, float(np.cumsum(gained - lost).max()))
        return (float(lost.sum()) + best) / self._whole


def _edges(sizes: Floats) -> Floats:
    """Upper edges of the bins, the largest size last."""
    values = np.unique(sizes)
    if values.size <= BINS:
        return values
    ranks = np.linspace(0, sizes.size - 1, BINS).round().astype(np.int64)
    edges: Floats = np.unique(np.sort(sizes, axis=None)[ranks])
    return edges
