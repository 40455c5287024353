"""Correlations against scipy, against counting every pair, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from mmad_metric.metaeval import correlation
from mmad_metric.metaeval.correlation import by_group, grouped, pair_counts, pearson, spearman
from tests.metaeval.brute import pair_kinds

NAN = float("nan")
# Few values, so that ties are frequent.
VECTORS = st.lists(
    st.tuples(st.integers(-3, 3), st.sampled_from([-2.5, -1.0, 0.0, 0.1, 4.0])),
    min_size=2,
    max_size=40,
)


def sides(pairs):
    x, y = np.array(pairs, dtype=float).T
    return x, y


@settings(deadline=None)
@given(VECTORS)
def test_pairs_are_counted_as_by_looking_at_each(pairs):
    x, y = sides(pairs)
    counts = pair_counts(x, y)
    found = (counts.concordant, counts.discordant, counts.gold_ties, counts.metric_ties,
             counts.both_tied)  # fmt: skip
    assert found == pair_kinds(x, y)
    assert sum(found) == counts.pairs


@settings(deadline=None)
@given(VECTORS)
def test_pearson_spearman_and_tau_b_and_c_are_scipys(pairs):
    x, y = sides(pairs)
    constant = len(set(x)) == 1 or len(set(y)) == 1
    ours = [each(x, y) for each in (pearson, spearman, correlation.kendall_b,
                                    correlation.kendall_c)]  # fmt: skip
    if constant:
        assert np.isnan(ours).all()
        return
    theirs = [
        scipy.stats.pearsonr(x, y).statistic,
        scipy.stats.spearmanr(x, y).statistic,
        scipy.stats.kendalltau(x, y, variant="b").statistic,
        scipy.stats.kendalltau(x, y, variant="c").statistic,
    ]
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_a_long_vector_is_counted_as_scipy_does():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 30, 5000).astype(float)
    y = x + rng.normal(0, 20, 5000)
    expected = scipy.stats.kendalltau(x, y).statistic
    assert correlation.kendall_b(x, y) == pytest.approx(expected)


# Gold 1 2 2 3, metric 1 1 2 0: pairs (0,1) metric tie, (0,2) right, (0,3) wrong, (1,2) gold tie,
# (1,3) wrong, (2,3) wrong: C = 1, D = 3, one tie of each side.
GOLD, METRIC = np.array([1.0, 2, 2, 3]), np.array([1.0, 1, 2, 0])
BY_HAND = {
    "kendall_a": (1 - 3) / 6,
    "kendall_b": (1 - 3) / 5,  # five pairs untied on either side
    "kendall_c": 2 * (1 - 3) / (16 * 2 / 3),  # three distinct values on both sides
    "kendall_10": (1 - 3 - 1) / (1 + 3 + 1),
    "kendall_13": (1 - 3) / (1 + 3),
    "kendall_14": (1 - 3) / (1 + 3 + 1),
    "accuracy_eq": 1 / 6,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_each_variant_of_tau_is_what_its_formula_gives_by_hand(name: str):
    assert getattr(correlation, name)(GOLD, METRIC) == pytest.approx(BY_HAND[name])


def test_missing_cells_are_left_out_and_never_zero():
    gold = np.array([1.0, 2, NAN, 3, 9])
    metric = np.array([2.0, 4, 5, 6, NAN])
    assert pearson(gold, metric) == pytest.approx(1.0)
    assert spearman(gold, metric) == pytest.approx(1.0)
    assert pair_counts(gold, metric).cells == 3


@pytest.mark.parametrize("values", [[], [1.0], [NAN, 2.0]], ids=["none", "one", "one left"])
def test_too_few_cells_have_no_correlation(values):
    vector = np.array(values, dtype=float)
    for measure in (pearson, spearman, correlation.kendall_b, correlation.kendall_a):
        assert np.isnan(measure(vector, vector))


def test_by_item_is_the_mean_over_items_where_it_is_defined():
    gold = np.array([[1.0, 5, 1], [2, 5, 2], [3, 5, 3]])  # systems by items
    metric = np.array([[1.0, 1, 3], [2, 2, 2], [3, 3, 1]])
    # Item 0: +1; item 1: people tie all, not defined; item 2: -1.
    assert np.array_equal(by_group(pearson, gold, metric, "item"), [1, NAN, -1], equal_nan=True)
    assert grouped(pearson, gold, metric, "item") == pytest.approx(0)
    assert by_group(pearson, gold, metric, "system").shape == (3,)
    assert grouped(pearson, gold, metric, "none") == pytest.approx(
        scipy.stats.pearsonr(gold.ravel(), metric.ravel()).statistic
    )
