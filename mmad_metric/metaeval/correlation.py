"""Correlations of two score vectors or matrices: Pearson, Spearman and Kendall with its kin.

All take gold first and ignore cells where either side is missing (NaN). All are NaN where they
are not defined: fewer than two cells, or one side constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mmad_metric.metaeval.arrays import Floats, Ints

Grouping = Literal["none", "item", "system"]
Correlation = Callable[[Floats, Floats], float]


def pearson(gold: Floats, metric: Floats) -> float:
    """Pearson's r over all cells, -1 to 1."""
    x, y = both_present(gold, metric)
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:  # noqa: PLR2004 - two cells
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    # Not x @ y: for vectors of this length BLAS would start threads that cost more than they do.
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def spearman(gold: Floats, metric: Floats) -> float:
    """Spearman's rho: Pearson's r of the ranks, equal scores sharing their mean rank."""
    x, y = both_present(gold, metric)
    return pearson(ranks(x), ranks(y)) if x.size else np.nan


def ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing the mean of theirs. values: a vector without NaN."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


@dataclass(frozen=True, slots=True)
class PairCounts:
    """What happens to the pairs of cells; the five add up to n(n-1)/2.

    concordant, discordant: ordered alike, or the other way round; gold_ties, metric_ties: tied
    on that side alone; both_tied. cells: n; gold_values, metric_values: distinct values.
    """

    concordant: int
    discordant: int
    gold_ties: int
    metric_ties: int
    both_tied: int
    cells: int
    gold_values: int
    metric_values: int

    @property
    def pairs(self) -> int:
        return self.cells * (self.cells - 1) // 2


def pair_counts(gold: Floats, metric: Floats) -> PairCounts:
    """Counts over all pairs of cells in O(n log² n): Knight's way, by counting exchanges in a
    merge sort (J. Am. Stat. Assoc. 61, 1966)."""
    x, y = both_present(gold, metric)
    n = x.size
    order = np.lexsort((y, x))
    x_rank = np.unique(x, return_inverse=True)[1][order]
    y_rank = np.unique(y, return_inverse=True)[1][order]
    x_tied, y_tied = _tied_pairs(x_rank), _tied_pairs(y_rank)
    both = _tied_pairs(np.unique(x_rank * (n + 1) + y_rank, return_inverse=True)[1])
    # Cells tied in x stand in the order of y, so that none of their pairs counts as exchanged.
    discordant = _inversions(y_rank)
    total = n * (n - 1) // 2
    concordant = total - discordant - x_tied - y_tied + both
    values = [int(each.max(initial=-1)) + 1 for each in (x_rank, y_rank)]
    return PairCounts(concordant, discordant, x_tied - both, y_tied - both, both, n, *values)


def kendall_b(gold: Floats, metric: Floats) -> float:
    """Kendall's tau-b (1945): (C - D) / sqrt((pairs - gold ties)(pairs - metric ties))."""
    counts = pair_counts(gold, metric)
    untied = [
        counts.pairs - ties - counts.both_tied for ties in (counts.gold_ties, counts.metric_ties)
    ]
    if 0 in untied:
        return np.nan
    # Two roots: the product of two counts of pairs may pass 2^63.
    excess = counts.concordant - counts.discordant
    return float(excess / np.sqrt(untied[0]) / np.sqrt(untied[1]))


def kendall_c(gold: Floats, metric: Floats) -> float:
    """Stuart's tau-c (1953): 2(C - D) / (n² (m - 1)/m), m the smaller number of distinct values."""
    counts = pair_counts(gold, metric)
    m = min(counts.gold_values, counts.metric_values)
    if m < 2:  # noqa: PLR2004 - one value is a constant
        return np.nan
    return float(2 * (counts.concordant - counts.discordant) / (counts.cells**2 * (m - 1) / m))


def kendall_a(gold: Floats, metric: Floats) -> float:
    """Kendall's tau-a (1938): (C - D) / pairs."""
    counts = pair_counts(gold, metric)
    return _share(counts.concordant - counts.discordant, counts.pairs)


def kendall_10(gold: Floats, metric: Floats) -> float:
    """WMT10's: pairs that people tie are left out, ties of the metric count as wrong:
    (C - D - T) / (C + D + T) (formulas: arXiv 2305.14324, table 1)."""
    counts = pair_counts(gold, metric)
    wrong = counts.discordant + counts.metric_ties
    return _share(counts.concordant - wrong, counts.concordant + wrong)


def kendall_13(gold: Floats, metric: Floats) -> float:
    """WMT13's: pairs tied on either side are left out: (C - D) / (C + D)."""
    counts = pair_counts(gold, metric)
    both = counts.concordant + counts.discordant
    return _share(counts.concordant - counts.discordant, both)


def kendall_14(gold: Floats, metric: Floats) -> float:
    """WMT14's: ties of the metric count half-wrong: (C - D) / (C + D + T)."""
    counts = pair_counts(gold, metric)
    asked = counts.concordant + counts.discordant + counts.metric_ties
    return _share(counts.concordant - counts.discordant, asked)


def accuracy_eq(gold: Floats, metric: Floats) -> float:
    """Pairwise accuracy where a tie is right if both sides tie, 0 to 1; no threshold
    (acc_eq of arXiv 2305.14324)."""
    counts = pair_counts(gold, metric)
    return _share(counts.concordant + counts.both_tied, counts.pairs)


def by_group(measure: Correlation, gold: Floats, metric: Floats, group: Grouping) -> Floats:
    """The measure of each group: of all cells together, of each item's cells, of each system's."""
    if group == "none":
        return np.array([measure(gold.ravel(), metric.ravel())])
    rows = (gold.T, metric.T) if group == "item" else (gold, metric)
    return np.array([measure(x, y) for x, y in zip(*rows, strict=True)])


def grouped(measure: Correlation, gold: Floats, metric: Floats, group: Grouping) -> float:
    """The mean over the groups where the measure is defined; NaN where it is nowhere."""
    values = by_group(measure, gold, metric, group)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else np.nan


def both_present(gold: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """The cells that both sides have, as vectors."""
    present = ~(np.isnan(gold) | np.isnan(metric))
    return gold[present], metric[present]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else np.nan


def _tied_pairs(ranked: Ints) -> int:
    counts = np.bincount(ranked)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(values: Ints) -> int:
    """Pairs i < j with values[i] > values[j]: a merge sort from the bottom, each level's blocks
    sorted at once."""
    n = values.size
    width = 1 << max(n - 1, 0).bit_length()
    padded = np.full(width, np.iinfo(np.int64).max)
    padded[:n] = values
    total = 0
    half = 1
    while half < width:
        blocks = padded.reshape(-1, 2 * half)
        order = np.argsort(blocks, axis=1, kind="stable")
        from_right = order >= half
        # Left cells that stand before a right one in the merged order did not exchange with it.
        left_before = np.cumsum(~from_right, axis=1)
        total += int((half - left_before)[from_right].sum())
        padded = np.take_along_axis(blocks, order, axis=1).ravel()
        half *= 2
    return total
