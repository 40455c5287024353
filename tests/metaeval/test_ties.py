"""acc-t against trying every threshold on every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmad_metric.metaeval.ties import TiedPairs, acc_t
from tests.metaeval import brute

# Whole and half points: their differences are exact, ties are frequent.
CELLS = st.one_of(st.none(), st.sampled_from([0.0, -0.5, -1.0, -2.5, -5.0, 3.0]))
WHOLE_CELLS = st.sampled_from([0.0, -0.5, -1.0, -2.5, -5.0, 3.0])


@st.composite
def matrices(draw, cells=CELLS):
    systems, items = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    rows = st.lists(st.lists(cells, min_size=items, max_size=items), min_size=systems,
                    max_size=systems)  # fmt: skip
    return draw(rows), draw(rows)


def arrays(sides):
    return [np.array(side, dtype=float) for side in sides]


@settings(deadline=None, max_examples=300)
@given(matrices())
def test_acc_t_is_what_trying_every_threshold_finds(sides):
    expected = brute.acc_t(*sides)
    found = acc_t(*arrays(sides))
    if expected is None:
        assert np.isnan(found.accuracy)
    else:
        assert (found.accuracy, found.threshold) == pytest.approx(expected)


@settings(deadline=None, max_examples=200)
@given(st.one_of(matrices(), matrices(WHOLE_CELLS)), st.data())
def test_a_weighted_sample_has_the_acc_t_of_the_sample_written_out(sides, data):
    gold, metric = arrays(sides)
    items = gold.shape[1]
    weights = np.array(
        data.draw(
            st.lists(
                st.lists(st.integers(0, 3), min_size=items, max_size=items), min_size=1, max_size=4
            )
        )
    )
    found = TiedPairs.of(gold, metric).under(weights)
    for row, value in zip(weights, found, strict=True):
        drawn = np.repeat(np.arange(items), row)
        expected = acc_t(gold[:, drawn], metric[:, drawn]).accuracy
        assert value == pytest.approx(expected, nan_ok=True)


def test_the_threshold_is_worth_its_gain_by_hand():
    # One item, people tie a and b; the metric parts them by 1, and c from both by 9 and 10.
    gold = np.array([[0.0], [0.0], [-5.0]])
    metric = np.array([[0.0], [-1.0], [-10.0]])
    found = acc_t(gold, metric)
    assert (found.accuracy, found.threshold, found.pairs) == (1.0, 1.0, 3)


def test_one_threshold_serves_all_items():
    # Item 0 wants ties up to 2, item 1 wants none: 1.5 of 2 at best.
    gold = np.array([[0.0, 0.0], [0.0, -1.0]])
    metric = np.array([[0.0, 0.0], [-2.0, -1.0]])
    assert acc_t(gold, metric).accuracy == 0.5


def test_items_weigh_the_same_however_many_pairs_they_have():
    gold = np.array([[0.0, 0.0], [-1.0, -1.0], [-2.0, np.nan]])
    metric = np.array([[0.0, -1.0], [-1.0, 0.0], [-2.0, 0.0]])
    # Item 0: 3 of 3 right; item 1: its one pair is wrong.
    assert acc_t(gold, metric).accuracy == 0.5


def test_nothing_to_compare_has_no_accuracy():
    empty = np.full((3, 2), np.nan)
    assert np.isnan(acc_t(empty, empty).accuracy)
    assert np.isnan(TiedPairs.of(empty, empty).under(np.ones((2, 2), int))).all()
