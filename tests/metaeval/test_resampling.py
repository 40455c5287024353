"""Bootstrap: the fast ways against samples written out, and what an interval is."""

from __future__ import annotations

import numpy as np
import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval.measures import META_SETS, find_measures, value_of
from mmad_metric.metaeval.meta_score import evaluate
from mmad_metric.metaeval.resampling import (
    Interval,
    Resampling,
    _sample,
    draw,
    intervals,
    resampled,
    under_weights,
)
from tests.metaeval.tiny import gold_of, metric_of, noisy_pair

WMT23 = find_measures(META_SETS["wmt23"])


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "with None"])
@pytest.mark.parametrize("measure", WMT23, ids=lambda measure: measure.name)
def test_all_samples_at_once_are_each_sample_by_itself(measure, missing: float):
    pair = noisy_pair({"M": 1.5}, missing=missing)
    weights = draw(pair.gold, Resampling(n=25))
    metric = pair.metrics["M"]
    above, below = under_weights(measure, pair.gold, metric, weights)
    expected = [value_of(measure, *_sample(pair.gold, metric, row)) for row in weights]
    assert above / below == pytest.approx(expected)


def test_a_sample_draws_as_many_items_as_there_are():
    gold = gold_of(np.zeros((3, 17)))
    weights = draw(gold, Resampling(n=50))
    assert weights.shape == (50, 17)
    assert (weights.sum(axis=1) == 17).all()
    assert (weights.max(axis=1) > 1).any()


def test_documents_are_drawn_whole():
    gold = gold_of(np.zeros((2, 6)), documents=[0, 0, 0, 1, 2, 2])
    weights = draw(gold, Resampling(n=50, unit="documents"))
    assert (weights[:, 0] == weights[:, 1]).all()
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, [0, 3, 4]].sum(axis=1) == 3).all()


def test_documents_without_a_document_file_are_refused():
    with pytest.raises(ConfigError, match="en-de: documents cannot be drawn"):
        draw(gold_of(np.zeros((2, 3))), Resampling(unit="documents"))


def test_the_same_seed_draws_the_same_and_language_pairs_differ():
    gold, other = gold_of(np.zeros((2, 30))), gold_of(np.zeros((2, 30)), lp="zh-en")
    assert (draw(gold, Resampling(9)) == draw(gold, Resampling(9))).all()
    assert (draw(gold, Resampling(9)) != draw(gold, Resampling(9, seed=1))).any()
    assert (draw(gold, Resampling(9)) != draw(other, Resampling(9))).any()


def test_the_middle_95_percent_by_hand():
    samples = np.arange(1001.0)
    for values in (samples, np.append(samples, np.nan)):
        found = Interval.of(values)
        assert (found.low, found.high, found.level) == pytest.approx((25, 975, 0.95))
    assert np.isnan(Interval.of(np.array([np.nan])).low)


def test_a_perfect_metric_is_sure_and_a_noisy_one_is_not():
    pair = noisy_pair({"perfect": 0.0, "noisy": 4.0})
    found = intervals([pair], ["perfect", "noisy"], WMT23, Resampling(n=200))
    perfect = found["perfect"]["en-de"]["seg_pearson"]
    assert (perfect.low, perfect.high) == pytest.approx((1.0, 1.0))
    noisy = found["noisy"]["all"]["meta"]
    assert 0 < noisy.low < noisy.high < 1
    value = next(each.meta for each in evaluate([pair], WMT23) if each.metric == "noisy")
    assert noisy.low < value < noisy.high


def test_two_pairs_are_pooled_in_each_sample_as_in_the_table():
    pairs = [noisy_pair({"M": 2.0}, lp="en-de"), noisy_pair({"M": 2.0}, lp="zh-en", systems=4)]
    whole = {pair.lp: np.ones((1, pair.gold.items.size), dtype=int) for pair in pairs}
    samples = resampled(pairs, "M", WMT23, whole)
    table = evaluate(pairs, WMT23)[0]
    assert samples["all"]["meta"][0] == pytest.approx(table.meta)
    for name, value in table.values.items():
        assert samples["all"][name][0] == pytest.approx(value)
    for pair in pairs:
        assert samples[pair.lp]["meta"][0] == pytest.approx(table.by_lp[pair.lp].meta)


def test_a_measure_without_a_fast_way_is_resampled_too():
    pair = noisy_pair({"M": 1.0}, items=12)
    measures = find_measures(("sys_spa", "seg_kendall_b_item", "seg_spearman"))
    found = intervals([pair], ["M"], measures, Resampling(n=10))["M"]["en-de"]
    assert all(found[each.name].low <= found[each.name].high for each in measures)


def test_a_metric_without_one_of_the_pairs_has_no_interval():
    pairs = [noisy_pair({"M": 1.0, "half": 1.0}), noisy_pair({"M": 1.0}, lp="zh-en")]
    assert set(intervals(pairs, ["M", "half"], WMT23, Resampling(n=5))) == {"M"}


def test_the_coverage_of_an_interval_is_about_what_it_says():
    # Correlation of a metric with known noise: gold and noise of equal deviation, r = sqrt(1/2).
    rng = np.random.default_rng(0)
    covered = 0
    for trial in range(60):
        gold = rng.normal(size=(3, 150))
        pair_gold, metric = gold_of(gold), metric_of(gold + rng.normal(size=gold.shape))
        weights = draw(pair_gold, Resampling(n=200, seed=trial))
        values, _ = under_weights(WMT23[3], pair_gold, metric, weights)
        interval = Interval.of(values)
        covered += interval.low <= np.sqrt(0.5) <= interval.high
    assert WMT23[3].name == "seg_pearson"
    assert 50 <= covered <= 60
