"""Picking on one part and reporting on the other."""

from __future__ import annotations

import numpy as np
import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval.matrices import MetricScores
from mmad_metric.metaeval.measures import META_SETS, find_measures
from mmad_metric.metaeval.meta_score import LanguagePairScores
from mmad_metric.metaeval.selection import Selection, Splitting, select
from tests.metaeval.tiny import metric_of, noisy_pair

WMT23 = find_measures(META_SETS["wmt23"])


def test_what_is_reported_by_hand():
    # Two splits; b is picked in the first (0.9 > 0.8), a in the second.
    found = Selection(
        ("a", "b"),
        tuned=np.array([[0.8, 0.9], [0.7, 0.6]]),
        held_out=np.array([[0.8, 0.6], [0.7, 0.7]]),
        picked=np.array([1, 0]),
    )
    assert found.tuned_score == pytest.approx(0.8)
    assert found.held_out_score == pytest.approx(0.65)
    assert found.optimism == pytest.approx(0.15)
    assert found.optimism_deviation == pytest.approx(0.15)  # 0.3 and 0
    assert found.size_effect == pytest.approx((0 + 0.3 + 0 - 0.1) / 4)
    assert found.regret == pytest.approx(0.1)  # 0.2 and 0
    assert found.wins == {"a": 1, "b": 1}


@pytest.mark.parametrize("unit", ["items", "documents", "systems"])
def test_a_clearly_better_configuration_always_wins(unit: str):
    pair = noisy_pair({"good": 0.3, "bad": 30.0}, systems=8)
    found = select([pair], ["bad", "good"], WMT23, Splitting(2, unit, seeds=5))
    assert found.wins == {"good": 10, "bad": 0}
    assert found.regret == 0.0


def test_configurations_that_differ_by_chance_alone_look_better_where_they_were_picked():
    pair = noisy_pair({f"c{place}": 6.0 for place in range(8)}, items=60)
    found = select([pair], sorted(pair.metrics), WMT23, Splitting(2, "items", seeds=15))
    assert found.optimism > 0.01
    assert found.size_effect == pytest.approx(0.0)  # two halves of one size
    assert len([count for count in found.wins.values() if count]) > 2


@pytest.mark.parametrize("unit", ["items", "documents", "systems"])
def test_each_unit_is_held_out_once_a_deal(unit: str):
    from mmad_metric.metaeval.selection import _deal

    pair = noisy_pair({"a": 1.0}, systems=9, items=40)
    dealt = _deal(pair.gold, Splitting(3, unit, seeds=4))
    units = {"items": 40, "documents": 10, "systems": 9}[unit]
    assert dealt.shape == (4, units)
    for deal in dealt:
        assert np.ptp(np.bincount(deal, minlength=3)) <= 1


def test_two_language_pairs_are_dealt_together():
    pairs = [noisy_pair({"a": 1.0, "b": 3.0}, lp=lp, systems=n) for lp, n in
             (("en-de", 6), ("zh-en", 7))]  # fmt: skip
    for unit in ("items", "systems"):
        found = select(pairs, ["a", "b"], WMT23, Splitting(2, unit, seeds=2))
        assert found.tuned.shape == found.held_out.shape == (4, 2)


@pytest.mark.parametrize(
    ("names", "how", "words"),
    [
        (["a"], Splitting(), "at least two configurations"),
        (["a", "a"], Splitting(), "at least two configurations"),
        (["a", "zz"], Splitting(), "'zz' has no scores for en-de"),
        (["a", "b"], Splitting(3, "systems"), "6 systems"),
        (["a", "b"], Splitting(50, "items"), "40 items with gold"),
        (["a", "b"], Splitting(11, "documents"), "--folds 11: en-de has 10 documents"),
        (["a", "b"], Splitting(1, "items"), "two folds at least"),
    ],
    ids=["one", "one twice", "unknown", "few systems", "few items", "few documents", "one fold"],
)
def test_what_cannot_be_selected_from_is_refused(names, how, words: str):
    pair = noisy_pair({"a": 1.0, "b": 1.0})
    with pytest.raises(ConfigError, match=words):
        select([pair], names, WMT23, how)


def test_of_equally_good_configurations_the_one_named_first_is_picked_and_ties_are_counted():
    pair = noisy_pair({"a": 1.0, "z": 9.0})
    pair = LanguagePairScores(pair.gold, {**pair.metrics, "b": pair.metrics["a"]})
    how = Splitting(2, "items", seeds=3)
    alone = select([pair], ["a", "z"], WMT23, how)
    for names in (["b", "a", "z"], ["a", "b", "z"]):
        found = select([pair], names, WMT23, how)
        assert found.wins[names[0]] == found.n_tied == 6
        assert found.optimism == pytest.approx(alone.optimism)


def test_a_configuration_that_is_not_defined_somewhere_is_named_with_the_place():
    pair = noisy_pair({"a": 1.0, "b": 1.0}, items=12)
    half = pair.metrics["b"].segment.copy()
    half[:, 2:] = np.nan
    pair = LanguagePairScores(pair.gold, {**pair.metrics, "b": metric_of(half, "b")})
    with pytest.raises(ConfigError, match=r"in split . of 8 a measure is not defined for 'b' on"):
        select([pair], ["a", "b"], WMT23, Splitting(2, "items", seeds=4))
    none = LanguagePairScores(
        pair.gold, {**pair.metrics, "b": MetricScores("b", half * np.nan, half[:, 0] * np.nan)}
    )
    with pytest.raises(ConfigError, match="'b' has no meta score, for on all of the data sys_acc"):
        select([none], ["a", "b"], WMT23, Splitting(2, "items"))
