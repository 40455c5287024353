"""PERM-BOTH: the fast ways against exchanges written out, and what a p-value promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

from mmad_metric.metaeval.exchanged_ties import acc_t_exchanged
from mmad_metric.metaeval.matrices import MetricScores
from mmad_metric.metaeval.measures import META_SETS, find_measures
from mmad_metric.metaeval.meta_score import LanguagePairScores, evaluate
from mmad_metric.metaeval.permutation import (
    _FAST,
    Common,
    _by_cells,
    _Exchanges,
    common,
    compare,
)
from mmad_metric.metaeval.ties import acc_t
from tests.metaeval import brute
from tests.metaeval.tiny import gold_of, metric_of, noisy_pair

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


def small_pair(missing=()):
    """Four systems, two items, two metrics; missing: cells of the first one."""
    rng = np.random.default_rng(4)
    gold = np.array([[0, -1], [-1, -4], [-2, -4], [-5, -8]], dtype=float)
    one = gold + rng.normal(0, 1.0, gold.shape)
    other = gold + rng.normal(0, 4.0, gold.shape)
    means = one.mean(axis=1)
    for system, item in missing:
        one[system, item] = np.nan
        means[system] = one[system, 1 - item]
    metrics = {"one": MetricScores("one", one, means), "other": metric_of(other, "other")}
    return LanguagePairScores(gold_of(gold), metrics)


def test_p_values_are_near_those_of_all_exchanges_written_out():
    pair, n = small_pair(), 3000
    gold, one, other = pair.gold, pair.metrics["one"], pair.metrics["other"]
    found = compare([pair], ("one", "other"), WMT23, n=n)["en-de"]

    def accuracy(scores):
        pairs = list(itertools.combinations(range(4), 2))
        agreeing = sum(
            brute.sign(gold.system[a] - gold.system[b]) == brute.sign(scores[a] - scores[b])
            for a, b in pairs
        )
        return agreeing / len(pairs)

    people = gold.segment.ravel()
    values = {
        "sys_accuracy": (one.system, other.system, accuracy),
        "sys_pearson": (one.system, other.system,
                        lambda scores: scipy.stats.pearsonr(gold.system, scores).statistic),
        "seg_pearson": (one.segment.ravel(), other.segment.ravel(),
                        lambda scores: scipy.stats.pearsonr(people, scores).statistic),
        "seg_acc_t": (one.segment.ravel(), other.segment.ravel(),
                      lambda scores: brute.acc_t(gold.segment.tolist(),
                                                 np.reshape(scores, (4, 2)).tolist())[0]),
    }  # fmt: skip
    differences = {}
    for name, (first, second, value) in values.items():
        seen, drawn = brute.exchanges(first.tolist(), second.tolist(), value)
        differences[name] = np.array(drawn) * (0.5 if name.endswith("pearson") else 1)
        exact = np.mean(np.array(drawn) >= seen - 1e-12)
        assert found[name].difference == pytest.approx(seen), name
        # Four standard errors of a share of n.
        assert found[name].p_value == pytest.approx(exact, abs=4 * np.sqrt(0.25 / n)), name
    # Systems and segments are exchanged independently of each other.
    on_systems = differences["sys_accuracy"] + differences["sys_pearson"]
    on_segments = differences["seg_pearson"] + differences["seg_acc_t"]
    metas = (on_systems[:, None] + on_segments) / 4
    exact = np.mean(metas >= metas[0, 0] - 1e-12)
    assert found["meta"].difference == pytest.approx(metas[0, 0])
    assert found["meta"].p_value == pytest.approx(exact, abs=4 * np.sqrt(0.25 / n))


def test_compared_is_what_both_scored_and_counted_is_how_much_that_is():
    pair = small_pair(missing=[(0, 0), (3, 0), (3, 1)])
    one = pair.metrics["one"]
    assert common([pair, pair], ("one", "other"))["en-de"] == Common(3, 5)
    other_lp = LanguagePairScores(gold_of(pair.gold.segment, "zh-en"), pair.metrics)
    assert common([pair, other_lp], ("one", "other"))["all"] == Common(6, 10)
    whole = compare([pair], ("one", "other"), WMT23, n=30)["en-de"]
    # What the first did not score may be anything in the second.
    changed = pair.metrics["other"].segment.copy()
    changed[np.isnan(one.segment)] = 1e6
    system = pair.metrics["other"].system.copy()
    system[3] = -1e6
    changed_pair = LanguagePairScores(
        pair.gold, {"one": one, "other": MetricScores("other", changed, system)}
    )
    assert compare([changed_pair], ("one", "other"), WMT23, n=30)["en-de"] == whole


def test_metrics_without_a_common_cell_have_no_difference_and_no_warning():
    pair = small_pair()
    one, other = (pair.metrics[name].segment.copy() for name in ("one", "other"))
    one[:2] = other[2:] = np.nan
    metrics = {
        name: MetricScores(name, scores, np.where(np.isnan(scores).all(axis=1), np.nan, 1.0))
        for name, scores in (("one", one), ("other", other))
    }
    apart = LanguagePairScores(pair.gold, metrics)
    measures = (*WMT23, *find_measures(("sys_spa", "sys_spearman", "seg_kendall_b_item")))
    found = compare([apart], ("one", "other"), measures, n=5)["all"]
    assert all(np.isnan((each.difference, each.p_value)).all() for each in found.values())
    assert common([apart], ("one", "other"))["all"] == Common(0, 0)
