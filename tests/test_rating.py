"""A rating that contradicts itself, or has an impossible score, cannot exist."""

from __future__ import annotations

import math

import pytest

from mmad_metric.errors import Reason
from mmad_metric.rating import Segment, SegmentRating, Status

SEGMENT = Segment("Good morning.", "Guten Morgen.")


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 0.1, 5.0])
def test_a_score_is_finite_and_never_above_zero(score: float):
    with pytest.raises(ValueError, match="a score is a finite number of at most 0"):
        SegmentRating(SEGMENT, Status.SCORED, score=score)


@pytest.mark.parametrize("score", [0.0, -0.1, -25.0, -1e6])
def test_any_penalty_is_a_score(score: float):
    assert SegmentRating(SEGMENT, Status.SCORED, score=score).score == score


def test_status_score_and_reason_go_together():
    with pytest.raises(ValueError, match="scored segment with score None"):
        SegmentRating(SEGMENT, Status.SCORED)
    with pytest.raises(ValueError, match="unscored segment with score -1"):
        SegmentRating(SEGMENT, Status.UNSCORED, score=-1.0, reason=Reason.TIMEOUT)
    with pytest.raises(ValueError, match="has a reason"):
        SegmentRating(SEGMENT, Status.UNSCORED)
    with pytest.raises(ValueError, match="has a reason"):
        SegmentRating(SEGMENT, Status.SCORED, score=0.0, reason=Reason.TIMEOUT)
