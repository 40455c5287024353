"""A score is a number of its scale; errors stand beside those scores alone that they make."""

from __future__ import annotations

import math

import pytest

from mmad_metric.rating import ErrorCounts, Segment, SegmentRating, Status
from mmad_metric.scales import Scale
from tests.metaeval.made_runs import error

SEGMENT = Segment("Good morning.", "Guten Morgen.")


@pytest.mark.parametrize("number", [0.0, 0.1, 62.5, 100.0])
def test_a_direct_score_is_from_0_to_100(number: float):
    rated = SegmentRating(SEGMENT, Status.SCORED, score=number, scale=Scale.DIRECT)
    assert rated.score == number


@pytest.mark.parametrize("number", [-0.1, 100.1, math.nan, math.inf, -math.inf])
def test_nothing_else_is(number: float):
    with pytest.raises(ValueError, match="a finite number from 0 to 100"):
        SegmentRating(SEGMENT, Status.SCORED, score=number, scale=Scale.DIRECT)


def test_a_direct_score_has_no_errors_beside_it():
    found = (error("Guten", 0),)
    with pytest.raises(ValueError, match="errors beside a score"):
        SegmentRating(SEGMENT, Status.SCORED, 80.0, found, scale=Scale.DIRECT)


def test_counts_are_not_negative():
    with pytest.raises(ValueError, match="no counts"):
        ErrorCounts(1, -1)
