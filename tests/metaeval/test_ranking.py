"""Clusters of metrics that tests cannot tell apart."""

from __future__ import annotations

from mmad_metric.metaeval.ranking import clusters


def p_from(significant):
    return lambda better, worse: 0.01 if (better, worse) in significant else 0.4


def test_a_cluster_ends_where_all_of_it_is_better():
    apart = {("a", "c"), ("b", "c"), ("a", "d"), ("b", "d")}
    assert clusters("abcd", p_from(apart)) == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_one_that_is_not_told_apart_from_a_single_member_stays_in_the_cluster():
    assert clusters("abc", p_from({("a", "b"), ("a", "c")})) == {"a": 1, "b": 2, "c": 2}
    assert clusters("abc", p_from({("a", "c")})) == {"a": 1, "b": 1, "c": 1}


def test_an_undefined_p_value_tells_nothing_apart():
    assert clusters("ab", lambda *_: float("nan")) == {"a": 1, "b": 1}


def test_no_metric_has_no_rank():
    assert clusters([], p_from(set())) == {}


def test_the_nearest_is_asked_first_so_that_few_tests_are_made():
    asked = []

    def p_value(better, worse):
        asked.append((better, worse))
        return 0.5

    clusters("abcd", p_value)
    assert asked == [("a", "b"), ("b", "c"), ("c", "d")]
