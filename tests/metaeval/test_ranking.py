"""Ranks of metrics that tests cannot tell apart."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.metaeval.ranking import clusters


def p_from(significant):
    return lambda better, worse: 0.01 if (better, worse) in significant else 0.4


def test_a_rank_ends_where_any_of_it_is_better():
    assert clusters("abcd", p_from({("a", "c")})) == {"a": 1, "b": 1, "c": 2, "d": 2}
    assert clusters("abc", p_from({("a", "b"), ("b", "c")})) == {"a": 1, "b": 2, "c": 3}


def test_a_metric_of_a_rank_that_has_ended_is_asked_no_more():
    # a is better than d too, but d stands beside c, which is not.
    assert clusters("abcd", p_from({("a", "c"), ("a", "d")})) == {"a": 1, "b": 1, "c": 2, "d": 2}


@given(st.sets(st.sampled_from(list(combinations("abcdef", 2)))))
def test_nobody_is_significantly_better_than_another_of_the_same_rank(significant):
    ranks = clusters("abcdef", p_from(significant))
    assert sorted(ranks.values()) == list(ranks.values())
    assert all(ranks[better] != ranks[worse] for better, worse in significant)


def test_an_undefined_p_value_tells_nothing_apart():
    assert clusters("ab", lambda *_: float("nan")) == {"a": 1, "b": 1}


def test_no_metric_has_no_rank():
    assert clusters([], p_from(set())) == {}


def test_the_best_is_asked_first_so_that_few_tests_are_made():
    asked = []

    def p_value(better, worse):
        asked.append((better, worse))
        return 0.01 if better == "a" else 0.5

    clusters("abc", p_value)
    assert asked == [("a", "b"), ("b", "c")]
