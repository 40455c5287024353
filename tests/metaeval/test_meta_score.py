"""Meta scores of two tiny language pairs, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval.measures import MEASURES, META_SETS, find_measures, value_of
from mmad_metric.metaeval.meta_score import LanguagePairScores, evaluate
from tests.metaeval.tiny import gold_of, metric_of

# en-de, systems by items. Means: gold 0, -2; metric 0, -1: agrees, r = 1.
# acc-t: item 0 right, item 1 right (0 > -1): 1. Cells: gold 0 0 -1 -3, metric 0 0 -1 -1.
EN_DE = LanguagePairScores(gold_of([[0, 0], [-1, -3]]), {"M": metric_of([[0, 0], [-1, -1]])})
# zh-en. Means: gold 0, -1, -2; metric -2, -1, 0: no pair agrees, r = -1. acc-t: all three pairs
# of the one item wrong, and no tie helps: 0. Cells as systems: r = -1.
ZH_EN = LanguagePairScores(
    gold_of([[0], [-1], [-2]], lp="zh-en"), {"M": metric_of([[-2], [-1], [0]])}
)
# Deviations of gold from -1: 1 1 0 -2, of the metric from -1/2: .5 .5 -.5 -.5; r = 2 / sqrt(6 * 1).
EN_DE_SEGMENT = 2 / np.sqrt(6)


def test_wmt23_averages_four_scenarios_accuracy_pooled():
    found = evaluate([EN_DE, ZH_EN], find_measures(META_SETS["wmt23"]))[0]
    assert found.values == pytest.approx(
        {
            "sys_accuracy": 1 / 4,  # 1 of 1 and 0 of 3 pairs
            "sys_pearson": 0.0,
            "seg_acc_t": 0.5,
            "seg_pearson": (EN_DE_SEGMENT - 1) / 2,
        }
    )
    segment = ((EN_DE_SEGMENT + 1) / 2 + 0) / 2
    assert found.meta == pytest.approx((1 / 4 + 1 / 2 + 1 / 2 + segment) / 4)
    assert found.by_lp["en-de"].meta == pytest.approx((1 + 1 + 1 + (EN_DE_SEGMENT + 1) / 2) / 4)
    assert found.by_lp["zh-en"].meta == pytest.approx(0.0)


def test_wmt24_averages_soft_accuracy_and_acc_t_over_the_pairs():
    # en-de, two items, four sign patterns. Gold differences 1 and 3: the sum 4 is reached by ++
    # alone, p = 1/4. Metric: 1 and 1, also 1/4. SPA = 1.
    # zh-en, one item, two patterns: people are sure at 1/2 of every pair, the metric's
    # differences are negative: both patterns reach them, p = 1. SPA = 1/2.
    found = evaluate([EN_DE, ZH_EN], find_measures(META_SETS["wmt24"]))[0]
    assert found.values == pytest.approx({"sys_spa": 3 / 4, "seg_acc_t": 1 / 2})
    assert found.meta == pytest.approx((3 / 4 + 1 / 2) / 2)


def test_a_metric_that_lacks_a_pair_has_no_meta_score_and_stands_last():
    half = LanguagePairScores(EN_DE.gold, {**EN_DE.metrics, "A": EN_DE.metrics["M"]})
    found = evaluate([half, ZH_EN], find_measures(META_SETS["wmt23"]))
    assert [each.metric for each in found] == ["M", "A"]
    assert np.isnan(found[1].meta)
    assert set(found[1].by_lp) == {"en-de"}


def test_cells_without_a_score_are_counted():
    partly = metric_of([[0, np.nan], [-1, -1]])
    found = evaluate(
        [LanguagePairScores(EN_DE.gold, {"M": partly})], find_measures(("seg_pearson",))
    )
    assert (found[0].by_lp["en-de"].n_scored, found[0].by_lp["en-de"].n_cells) == (3, 4)


def test_a_constant_metric_has_no_correlation_and_no_meta_score():
    constant = LanguagePairScores(EN_DE.gold, {"M": metric_of([[1, 1], [1, 1]])})
    found = evaluate([constant], find_measures(META_SETS["wmt23"]))[0]
    assert np.isnan(found.values["sys_pearson"])
    assert np.isnan(found.meta)
    assert found.values["sys_accuracy"] == 0.0  # ties where people see a difference


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_best_for_people_themselves(name: str):
    rng = np.random.default_rng(3)
    gold = gold_of(np.arange(5)[:, None] + rng.normal(size=(5, 30)))
    measure = MEASURES[name]
    assert value_of(measure, gold, metric_of(gold.segment)) == pytest.approx(1.0)
    opposed = value_of(measure, gold, metric_of(-gold.segment))
    assert opposed == pytest.approx(-1.0 if measure.signed else 0.0, abs=0.2)


def test_an_unknown_measure_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"measure 'r2' is not one of sys_accuracy"):
        find_measures(("r2",))
