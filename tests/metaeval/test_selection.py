"""Picking on one part and reporting on the other."""

from __future__ import annotations

import numpy as np
import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval.measures import META_SETS, find_measures
from mmad_metric.metaeval.selection import Selection, Splitting, select
from tests.metaeval.tiny import noisy_pair

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
        (["a", "b"], Splitting(50, "items"), "40 items"),
        (["a", "b"], Splitting(1, "items"), "two folds at least"),
    ],
    ids=["one", "one twice", "unknown", "few systems", "few items", "one fold"],
)
def test_what_cannot_be_selected_from_is_refused(names, how, words: str):
    pair = noisy_pair({"a": 1.0, "b": 1.0})
    with pytest.raises(ConfigError, match=words):
        select([pair], names, WMT23, how)
