"""How differently two sets of scores are distributed, whatever they are scores of."""

from __future__ import annotations

import numpy as np

from mmad_metric.metaeval.arrays import Floats


def earth_mover(one: Floats, other: Floats) -> float:
    """Wasserstein's distance: how far the scores must move on average, in points, to turn one
    distribution into the other. At least 0; NaN where either side is empty. NaN cells are left
    out of their side."""
    x, y = _sorted(one), _sorted(other)
    if not x.size or not y.size:
        return np.nan
    both = np.sort(np.concatenate([x, y]))
    apart = np.abs(_shares(x, both[:-1]) - _shares(y, both[:-1]))
    return float(apart @ np.diff(both))


def kolmogorov_smirnov(one: Floats, other: Floats) -> float:
    """The largest difference of the two cumulative shares, 0 to 1; NaN where a side is empty."""
    x, y = _sorted(one), _sorted(other)
    if not x.size or not y.size:
        return np.nan
    both = np.concatenate([x, y])
    return float(np.abs(_shares(x, both) - _shares(y, both)).max())


def _sorted(scores: Floats) -> Floats:
    # Published gold carries -25.200000000000003 where the sum is -25.2: one and the same score.
    return np.sort(scores[~np.isnan(scores)].round(9), axis=None)


def _shares(ordered: Floats, points: Floats) -> Floats:
    """The share of scores up to each point."""
    found: Floats = np.searchsorted(ordered, points, side="right") / ordered.size
    return found
