"""What a comparison finds, by hand."""

from __future__ import annotations

import pytest

from mmad_metric.comparison.outcome import Outcome, Procedure, compare
from mmad_metric.comparison.systems import Labels, System
from mmad_metric.repeats import RowScore

AR = Procedure("ar", 999, 1, 0.05)


def system(name: str, *rows: RowScore, labels: tuple[Labels, ...] | None = None) -> System:
    return System(name, f"{name}.jsonl", 0, name, rows, (True,) * len(rows), labels)


def compared(*systems: System, top: int = 3) -> Outcome:
    return compare(systems, AR, top)


def test_means_are_over_the_segments_that_all_have_and_coverage_is_told():
    outcome = compared(system("A", -1.0, -2.0, None, -30.0), system("B", -2.0, -4.0, -9.0, None))
    a, b = outcome.systems
    assert (outcome.n_segments, outcome.n_common) == (4, 2)
    assert (a.score, b.score) == (-1.5, -3.0)
    assert (a.own_score, b.own_score) == (-11.0, -5.0)
    assert (a.n_scored, a.n_asked) == (3, 4)


def test_with_nothing_in_common_each_mean_is_the_systems_own():
    outcome = compared(system("A", -1.0, None), system("B", None, -2.0), system("C", None, None))
    assert outcome.n_common == 0
    assert [each.score for each in outcome.systems] == [-1.0, -2.0, None]
    assert [pair.test.p_value for pair in outcome.pairs] == [1.0, 1.0, 1.0]
    assert not outcome.systems[2].interval.known
    assert outcome.clusters == [["A", "B", "C"]]
    assert outcome.differences == ()


def test_wins_losses_and_ties_are_the_later_systems_and_rounding_is_a_tie():
    tenth = (-0.1, -0.1, -0.1)
    outcome = compared(system("A", -1.0, -1.0, -1.0, -0.1), system("B", 0.0, -5.0, -1.0, tenth))
    (pair,) = outcome.pairs
    assert (pair.wins, pair.losses, pair.ties) == (1, 1, 2)


def test_pairs_are_all_pairs_and_p_values_of_systems_are_against_the_first():
    rows = [float(-(n % 5)) for n in range(30)]
    worse = [score - 3 for score in rows]
    outcome = compared(system("A", *rows), system("B", *worse), system("C", *rows))
    assert [(pair.baseline, pair.system) for pair in outcome.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert [each.p_value for each in outcome.systems] == [None, 0.001, 1.0]
    assert outcome.clusters == [["A", "C"], ["B"]]
    assert [(each.standing.first, each.standing.last) for each in outcome.systems] == [
        (1, 2), (3, 3), (1, 2),
    ]  # fmt: skip


def test_the_widest_gaps_come_first_and_equal_segments_never():
    outcome = compared(
        system("A", 0.0, -1.0, -5.0, None), system("B", 0.0, -3.0, 0.0, -9.0),
        system("C", 0.0, -2.0, -1.0, -9.0),
    )  # fmt: skip
    found = [(each.index, each.size, each.best, each.worst) for each in outcome.differences]
    assert found == [(2, 5.0, 1, 0), (1, 2.0, 0, 1)]


@pytest.mark.parametrize("top", [0, 1, 9])
def test_no_more_segments_are_named_than_asked_for(top: int):
    outcome = compared(system("A", 0.0, 0.0), system("B", -1.0, -2.0), top=top)
    assert len(outcome.differences) == min(top, 2)


def test_errors_are_counted_on_the_common_segments_alone():
    major, minor = ("accuracy", "major"), ("accuracy", "minor")
    outcome = compared(
        system("A", -5.0, -6.0, labels=((major,), (major, minor))), system("B", None, 0.0)
    )
    assert outcome.systems[0].errors == {"accuracy": {"major": 1, "minor": 1}}
    assert outcome.systems[1].errors is None


def test_repeats_give_noise_and_stability():
    outcome = compared(system("A", (-1.0, -3.0)), system("B", (-2.0, -2.5)))
    assert [each.score for each in outcome.systems] == [-2.0, -2.25]
    assert outcome.systems[0].noise == pytest.approx(2**0.5)
    assert outcome.stability is not None
    assert (outcome.stability.repeats, outcome.stability.same_ranking) == (2, 1)


def test_one_system_has_an_interval_and_no_pairs():
    outcome = compared(system("A", -1.0, -1.0))
    assert (outcome.pairs, outcome.clusters) == ((), [["A"]])
    assert outcome.systems[0].interval.half_width == 0.0
