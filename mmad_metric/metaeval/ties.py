"""acc-t: pairwise accuracy with ties, the metric's tie threshold chosen to serve it best.

Deutsch, Foster and Freitag 2023 (arXiv 2305.14324): within an item, each pair of systems is
right when the metric orders it as people do, or ties it where they tie it. A metric ties what
differs by at most t; of all t >= 0 the one with the highest mean accuracy over the items is
taken, one t for all items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmad_metric.metaeval.arrays import Bools, Floats, Ints

_BLOCK_CELLS = 1 << 22  # of intermediate arrays: 16 to 32 MB


@dataclass(frozen=True, slots=True)
class TieAccuracy:
    """accuracy: 0 to 1, NaN where no item has a pair; threshold: the smallest of the best, in
    the metric's own points; pairs: how many were compared."""

    accuracy: float
    threshold: float
    pairs: int


@dataclass(frozen=True, eq=False)
class PairOrder:
    """How people order the pairs of systems, pairs by items; missing: any score is NaN."""

    above: Bools
    below: Bools
    tied: Bools
    absent: Bools
    missing: bool

    @classmethod
    def of(cls, gold: Floats) -> PairOrder:
        """gold: systems by items, NaN where missing."""
        difference = pair_differences(gold)
        absent = np.isnan(difference)
        return cls(difference > 0, difference < 0, difference == 0, absent, bool(absent.any()))

    def shared_by(self, difference: Floats) -> Bools:
        """The pairs that a metric orders as people do; NaN orders nothing."""
        shared = self.above & (difference > 0)
        shared |= self.below & (difference < 0)
        return shared


def acc_t(gold: Floats | PairOrder, metric: Floats) -> TieAccuracy:
    """gold, metric: systems by items, NaN where missing; a pair without both scores on both sides
    is not compared, an item without pairs is not counted. The order of many metrics' gold can be
    made once."""
    order = gold if isinstance(gold, PairOrder) else PairOrder.of(gold)
    difference = pair_differences(metric)
    if order.missing or not difference.size or np.isnan(difference).any():
        return TiedPairs.of(order, metric).best()
    # Every item has all pairs: two sorted lists say what a threshold gains and what it loses.
    size = np.abs(difference)
    gained, lost = (np.sort(size[which]) for which in (order.tied, order.shared_by(difference)))
    balance = np.searchsorted(gained, gained, "right") - np.searchsorted(lost, gained, "right")
    best = int(np.argmax(balance)) if gained.size else 0
    gain = max(0, int(balance[best])) if gained.size else 0
    threshold = float(gained[best]) if gain else 0.0
    return TieAccuracy((lost.size + gain) / size.size, threshold, size.size)


@dataclass(frozen=True, eq=False)
class TiedPairs:
    """The pairs that a threshold can turn, in ascending order of the metric's difference.

    differences: at least 0; gains: +1, right as soon as it is tied (people tie it), or -1,
    right until then (ordered as people order it); items: whose pair it is; right: per item, the
    pairs ordered as by people; pairs: per item, all pairs compared.
    """

    differences: Floats
    gains: Ints
    items: Ints
    right: Ints
    pairs: Ints

    @classmethod
    def of(cls, gold: Floats | PairOrder, metric: Floats) -> TiedPairs:
        order = gold if isinstance(gold, PairOrder) else PairOrder.of(gold)
        difference = pair_differences(metric)
        compared = ~(order.absent | np.isnan(difference))
        tied, ordered = compared & order.tied, order.shared_by(difference)
        turned = np.flatnonzero(tied | ordered)
        size = np.abs(difference.ravel()[turned])
        rising = np.argsort(size)
        turned = turned[rising]
        return cls(
            size[rising],
            np.where(tied.ravel()[turned], 1, -1),
            turned % metric.shape[1],
            ordered.sum(axis=0),
            compared.sum(axis=0),
        )

    def best(self) -> TieAccuracy:
        counted = self.pairs > 0
        if not counted.any():
            return TieAccuracy(np.nan, np.nan, 0)
        share = np.divide(1.0, self.pairs, out=np.zeros(self.pairs.shape), where=counted)
        n_pairs = int(self.pairs.sum())
        if self.even:
            curve, base, whole = np.cumsum(self.gains), float(self.right.sum()), float(n_pairs)
        else:
            curve = np.cumsum(self.gains * share[self.items])
            base, whole = float(self.right @ share), float(counted.sum())
        # The curve counts at the last of equal differences: a threshold ties all of them.
        ends = np.flatnonzero(self.ends)
        if not ends.size or curve[ends].max() < 0:
            return TieAccuracy(base / whole, 0.0, n_pairs)
        at = int(ends[np.argmax(curve[ends])])
        gain, threshold = float(curve[at]), float(self.differences[at])
        return TieAccuracy((base + gain) / whole, threshold if gain > 0 else 0.0, n_pairs)

    @property
    def even(self) -> bool:
        """Whether all items that have pairs have equally many, so that counts suffice."""
        some = self.pairs[self.pairs > 0]
        return bool(some.size) and bool((some == some[0]).all())

    @property
    def ends(self) -> Bools:
        """Where the next difference is larger."""
        return np.append(self.differences[1:] != self.differences[:-1], True)[
            : self.differences.size
        ]

    def under(self, weights: Ints) -> Floats:
        """acc-t of many samples of the items, the threshold chosen anew in each.

        weights: samples by items, how often each item was drawn.
        """
        counted = self.pairs > 0
        if not counted.any():
            return np.full(len(weights), np.nan)
        per_item: NDArray[Any]
        whole = weights[:, counted].sum(axis=1)
        if self.even:
            per_item = weights.astype(np.int32)
            whole = whole * self.pairs[counted][0]
        else:
            per_item = weights * np.where(counted, 1 / np.maximum(self.pairs, 1), 0.0)
        base = per_item @ self.right
        gain = self._best_gain(np.concatenate([per_item, -per_item], axis=1))
        with np.errstate(invalid="ignore"):
            return np.where(whole > 0, (base + gain) / whole, np.nan)

    def _best_gain(self, signed: NDArray[Any]) -> Floats:
        """signed: samples by items, twice: what tying one of the item's pairs adds, or takes."""
        index = (self.items + np.where(self.gains < 0, signed.shape[1] // 2, 0)).astype(np.intp)
        best = np.zeros(len(signed))
        if not index.size:
            return best
        ends = np.flatnonzero(self.ends)
        rows = max(1, _BLOCK_CELLS // index.size)
        for start in range(0, len(signed), rows):
            curve = np.take(signed[start : start + rows], index, axis=1)
            np.cumsum(curve, axis=1, dtype=curve.dtype, out=curve)
            if ends.size < index.size:
                curve = np.take(curve, ends, axis=1)
            best[start : start + rows] = np.maximum(curve.max(axis=1), 0)
        return best


def pair_differences(scores: Floats) -> Floats:
    """Differences of all pairs of systems, pairs by items; pairs in the order (0, 1), (0, 2), …"""
    first, second = np.triu_indices(len(scores), 1)
    return scores[first] - scores[second]
