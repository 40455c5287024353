"""PERM-BOTH: the fast ways against exchanges written out, and what a p-value promises."""

from __future__ import annotations

import numpy as np
import pytest

from mmad_metric.metaeval.exchanged_ties import acc_t_exchanged
from mmad_metric.metaeval.measures import META_SETS, find_measures
from mmad_metric.metaeval.permutation import _FAST, _by_cells, _Exchanges, compare
from mmad_metric.metaeval.ties import acc_t
from tests.metaeval.tiny import noisy_pair

WMT23 = find_measures(META_SETS["wmt23"])


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "with None"])
@pytest.mark.parametrize("measure", WMT23, ids=lambda measure: measure.name)
def test_all_exchanges_at_once_are_each_exchange_by_itself(measure, missing: float):
    pair = noisy_pair({"one": 1.0, "other": 3.0}, items=15, missing=missing)
    sides = (pair.gold, pair.metrics["one"], pair.metrics["other"])
    how = _Exchanges(30, 7, "en-de")
    fast = _FAST[measure.name](*sides, how).difference()
    slow = _by_cells(measure, *sides, how).difference()
    assert fast == pytest.approx(slow)


@pytest.mark.parametrize("missing", [0.0, 0.3], ids=["complete", "with None"])
def test_binned_acc_t_is_acc_t_of_the_exchanged_scores(missing: float):
    pair = noisy_pair({"one": 1.0, "other": 3.0}, items=10, missing=missing)
    gold = pair.gold.segment
    one, other = (pair.metrics[name].segment.copy() for name in ("one", "other"))
    gone = np.isnan(one) | np.isnan(other)
    one[gone] = other[gone] = np.nan
    gold = np.where(gone, np.nan, gold)
    masks = np.random.default_rng(0).random((20, int((~gone).sum()))) < 0.5
    found = acc_t_exchanged(gold, one, other, masks)
    for place, mask in enumerate(masks):
        turned = np.zeros(gone.shape, bool)
        turned[~gone] = mask
        for side, scores in enumerate((np.where(turned, other, one), np.where(turned, one, other))):
            assert found[side][place] == pytest.approx(acc_t(gold, scores).accuracy)


def test_a_far_better_metric_gets_the_smallest_p_that_so_many_exchanges_can_give():
    pair = noisy_pair({"good": 0.2, "bad": 30.0})
    found = compare([pair], ("good", "bad"), WMT23, n=99)
    assert found["all"]["seg_pearson"].p_value == 1 / 100
    assert found["all"]["seg_pearson"].difference > 0.5
    assert found["all"]["meta"].p_value == 1 / 100
    assert compare([pair], ("bad", "good"), WMT23, n=99)["all"]["meta"].p_value == 1.0


def test_a_metric_is_never_better_than_itself():
    pair = noisy_pair({"M": 2.0})
    found = compare([pair], ("M", "M"), WMT23, n=50)["all"]
    assert all((each.difference, each.p_value) == (0.0, 1.0) for each in found.values())


def test_equally_good_metrics_are_seldom_told_apart():
    # A test at 5% errs in one case of twenty: of 60 more than 9 is unlikely (p < 0.003).
    told_apart = 0
    for seed in range(60):
        pair = noisy_pair({"one": 2.0, "other": 2.0}, seed=seed, items=25)
        found = compare([pair], ("one", "other"), WMT23[3:], n=99)
        told_apart += found["all"]["seg_pearson"].p_value <= 0.05
    assert told_apart <= 9


def test_differences_are_those_of_the_table_and_pairs_are_pooled():
    pairs = [noisy_pair({"a": 1.0, "b": 3.0}, lp=lp, systems=n) for lp, n in
             (("en-de", 6), ("zh-en", 4))]  # fmt: skip
    found = compare(pairs, ("a", "b"), WMT23, n=10)
    from mmad_metric.metaeval.meta_score import evaluate

    table = {each.metric: each for each in evaluate(pairs, WMT23)}
    assert found["all"]["meta"].difference == pytest.approx(table["a"].meta - table["b"].meta)
    accuracy = table["a"].values["sys_accuracy"] - table["b"].values["sys_accuracy"]
    assert found["all"]["sys_accuracy"].difference == pytest.approx(accuracy)


def test_scale_and_offset_of_a_metric_do_not_matter():
    pair = noisy_pair({"one": 1.0, "other": 2.0}, items=20)
    other = pair.metrics["other"]
    moved = type(other)("other", 100 * other.segment - 7, 100 * other.system - 7)
    changed = type(pair)(pair.gold, {**pair.metrics, "other": moved})
    found = [compare([each], ("one", "other"), WMT23, n=40)["all"] for each in (pair, changed)]
    for name, each in found[0].items():
        assert found[1][name].p_value == each.p_value
