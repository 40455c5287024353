"""Distances of distributions against scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from mmad_metric.metaeval.distributions import earth_mover, kolmogorov_smirnov

SCORES = st.lists(st.floats(-30, 0).map(lambda x: round(x, 1)), min_size=1, max_size=30)


@settings(deadline=None)
@given(SCORES, SCORES)
def test_both_distances_are_scipys(one, other):
    x, y = np.array(one), np.array(other)
    assert earth_mover(x, y) == pytest.approx(scipy.stats.wasserstein_distance(x, y))
    with warnings.catch_warnings():  # about its p-value for small samples
        warnings.simplefilter("ignore")
        expected = scipy.stats.ks_2samp(x, y, method="asymp").statistic
    assert kolmogorov_smirnov(x, y) == pytest.approx(expected)


def test_a_shift_is_as_far_as_it_shifts():
    x = np.array([-5.0, -1.0, 0.0, np.nan])
    assert earth_mover(x, x - 2) == pytest.approx(2.0)
    assert earth_mover(x, x) == kolmogorov_smirnov(x, x) == 0.0


def test_an_empty_side_has_no_distance():
    nothing = np.array([np.nan])
    assert np.isnan(earth_mover(nothing, np.zeros(2)))
    assert np.isnan(kolmogorov_smirnov(np.zeros(2), nothing))
