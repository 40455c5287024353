"""Ranks and clusters, by hand."""

from __future__ import annotations

from itertools import combinations

from mmad_metric.stats import Standing, standings


def better_than(*pairs: tuple[int, int]) -> dict[tuple[int, int], bool]:
    return dict.fromkeys(pairs, True)


def test_a_line_is_drawn_only_where_all_above_beat_all_below():
    # 0 beats 2 and 3, 1 beats 3 only: between 1 and 2 no line, since 1 does not beat 2.
    found = standings([-1.0, -2.0, -3.0, -4.0], better_than((0, 2), (0, 3), (1, 3), (2, 3)))
    assert [each.cluster for each in found] == [1, 1, 1, 2]
    assert [(each.first, each.last) for each in found] == [(1, 2), (1, 3), (2, 3), (4, 4)]


def test_systems_come_best_first_whatever_order_they_are_given_in():
    scores = [-3.0, -1.0, -2.0]
    all_differ = better_than(*((a, b) for a in range(3) for b in range(3) if scores[a] > scores[b]))
    assert standings(scores, all_differ) == (
        Standing(1, 1, 1, 1),
        Standing(2, 2, 2, 2),
        Standing(0, 3, 3, 3),
    )


def test_systems_that_nothing_tells_apart_share_all_ranks_and_one_cluster():
    found = standings([-1.0] * 4, dict.fromkeys(combinations(range(4), 2), False))
    assert {(each.first, each.last, each.cluster) for each in found} == {(1, 4, 1)}
    assert [each.system for each in found] == [0, 1, 2, 3]


def test_one_system_and_none():
    assert standings([-1.0], {}) == (Standing(0, 1, 1, 1),)
    assert standings([], {}) == ()
