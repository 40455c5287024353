"""Pairwise accuracy and soft pairwise accuracy by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmad_metric.metaeval.system_level import (
    Agreement,
    pairwise_agreement,
    soft_pairwise_accuracy,
)
from tests.metaeval import brute


def test_a_pair_agrees_when_both_signs_are_equal_ties_included():
    gold = np.array([3.0, 2.0, 2.0, 1.0])
    metric = np.array([30.0, 20.0, 20.0, 25.0])
    # Wrong: the two pairs of 20 and 25. The tied pair is tied on both sides.
    assert pairwise_agreement(gold, metric) == Agreement(4, 6)


def test_a_tie_on_one_side_alone_does_not_agree():
    assert pairwise_agreement(np.array([1.0, 1.0]), np.array([1.0, 2.0])).agreeing == 0


def test_a_missing_system_is_not_compared():
    assert pairwise_agreement(np.array([1.0, 2, 3]), np.array([1.0, np.nan, 3])) == Agreement(1, 1)


def test_pooling_adds_pairs_not_accuracies():
    # 98 of 105 and 64 of 66, as M-MAD has them on zh-en and en-de.
    assert round((Agreement(98, 105) + Agreement(64, 66)).accuracy, 3) == 0.947


def test_spa_of_two_items_by_hand():
    # Of the 4 sign patterns, people: difference 2, reached by ++ alone: p = 1/4. Metric: items
    # differ by 2 and -1, sum 1, reached by ++ (1) and +- (3): p = 1/2. SPA = 1 - 1/4.
    gold = np.array([[1.0, 1.0], [0.0, 0.0]])
    metric = np.array([[2.0, 0.0], [0.0, 1.0]])
    assert soft_pairwise_accuracy(gold, metric) == pytest.approx(0.75)


def test_spa_of_a_metric_that_is_people_is_one():
    scores = np.random.default_rng(0).normal(size=(5, 200))
    assert soft_pairwise_accuracy(scores, scores) == 1.0
    assert soft_pairwise_accuracy(scores, 3 * scores - 7) == 1.0


def test_spa_of_an_opposed_metric_is_near_zero_where_people_are_sure():
    gold = np.arange(4.0)[:, None] + np.random.default_rng(0).normal(0, 0.1, (4, 100))
    assert soft_pairwise_accuracy(gold, -gold) < 0.01


def test_spa_leaves_out_items_that_are_not_complete():
    gold = np.array([[1.0, 1.0, 9.0], [0.0, 0.0, np.nan]])
    metric = np.array([[2.0, 0.0, 5.0], [0.0, 1.0, 5.0]])
    assert soft_pairwise_accuracy(gold, metric) == pytest.approx(0.75)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_spa_is_what_every_pattern_of_signs_gives(data):
    systems, items = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 6))
    cells = st.one_of(st.sampled_from([0.0, -0.5, -1.0, -5.0, 3.0]), st.none())
    sides = data.draw(
        st.lists(
            st.lists(st.lists(cells, min_size=items, max_size=items), min_size=systems,
                     max_size=systems),
            min_size=2, max_size=2,
        )
    )  # fmt: skip
    found = soft_pairwise_accuracy(*(np.array(side, dtype=float) for side in sides))
    expected = brute.spa(*sides)
    assert np.isnan(found) if expected is None else found == pytest.approx(expected)
