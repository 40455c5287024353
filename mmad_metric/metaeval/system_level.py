"""Agreement on systems: pairwise accuracy and soft pairwise accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmad_metric.metaeval.arrays import Bools, Floats
from mmad_metric.metaeval.ties import pair_differences

PERMUTATIONS = 1000
SEED = 12345
_EXACT_UP_TO = 10  # segments whose 2^n sign patterns are all tried


@dataclass(frozen=True, slots=True)
class Agreement:
    """Pairs of systems on which metric and people agree, of all pairs compared."""

    agreeing: int
    pairs: int

    @property
    def accuracy(self) -> float:
        return self.agreeing / self.pairs if self.pairs else np.nan

    def __add__(self, other: Agreement) -> Agreement:
        """Pooled: pairs of two language pairs counted together."""
        return Agreement(self.agreeing + other.agreeing, self.pairs + other.pairs)


def pairwise_agreement(gold: Floats, metric: Floats) -> Agreement:
    """A pair of systems agrees when the signs of both differences are equal, a tie being a sign
    of its own (Kocmi et al. 2021). gold, metric: a score a system; NaN ones are not compared."""
    signs, compared = _agreeing_signs(gold[:, None], metric[:, None])
    return Agreement(int(signs.sum()), int(compared.sum()))


def agreements_under(gold: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Agreeing and compared pairs of many samples. gold, metric: systems by samples."""
    signs, compared = _agreeing_signs(gold, metric)
    return signs.sum(axis=0).astype(float), compared.sum(axis=0).astype(float)


def _agreeing_signs(gold: Floats, metric: Floats) -> tuple[Bools, Bools]:
    one, other = pair_differences(gold), pair_differences(metric)
    compared = ~(np.isnan(one) | np.isnan(other))
    return compared & (np.sign(one) == np.sign(other)), compared


def soft_pairwise_accuracy(
    gold: Floats, metric: Floats, *, permutations: int = PERMUTATIONS, seed: int = SEED
) -> float:
    """SPA, 0 to 1: one minus the mean difference, over the pairs of systems, between the p-value
    that people give for "the first is better" and the one that the metric gives (Thompson,
    Mathur, Deutsch and Khayrallah 2024, arXiv 2409.09598; WMT24's system-level measure).

    gold, metric: systems by items; items without all scores on both sides are left out. The
    p-values are one-sided, of a paired permutation test over the items, the same permutations
    for all pairs and both sides; of ten items or fewer all permutations are tried.
    """
    complete = ~(np.isnan(gold).any(axis=0) | np.isnan(metric).any(axis=0))
    if len(gold) < 2 or not complete.any():  # noqa: PLR2004 - a pair
        return np.nan
    signs = _signs(int(complete.sum()), permutations, seed)
    one, other = (better_p_values(side[:, complete], signs) for side in (gold, metric))
    return float(1 - np.abs(one - other).mean())


def better_p_values(scores: Floats, signs: Floats) -> Floats:
    """For each pair of systems, how often a random exchange of their segments gives at least the
    difference seen. scores: systems by items; signs: permutations by items, -1 or 1."""
    null = pair_differences(scores @ signs.T)
    seen = pair_differences(scores.sum(axis=1, keepdims=True))
    # Sums in another order differ in the last bits: equal ones must count as equal.
    slack = 1e-9 * np.abs(scores).sum(axis=1).max()
    p_values: Floats = (null >= seen - slack).mean(axis=1)
    return p_values


def _signs(items: int, permutations: int, seed: int) -> Floats:
    if items <= _EXACT_UP_TO:
        bits = np.arange(1 << items)[:, None] >> np.arange(items) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (permutations, items))
    signs: Floats = bits * np.float64(2) - 1
    return signs
