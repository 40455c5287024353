"""Errors that count by how they came to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mmad_metric.errors import ConfigError, Reason
from mmad_metric.filtering import ErrorFilter
from mmad_metric.mqm import Category, MQMError, Placement, Provenance, Severity, Side
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.scoring import SCHEMES

RAISED = ("annotate.accuracy",)


def error(
    support: int = 1,
    asked: int = 1,
    *,
    disputed: bool = False,
    raised_by: tuple[str, ...] = RAISED,
    severity: Severity = Severity.MAJOR,
) -> MQMError:
    how = Provenance(raised_by, disputed, 0, (), "kept", support, asked)
    return replace(unasked(severity), provenance=how)


def unasked(severity: Severity = Severity.MAJOR) -> MQMError:
    return MQMError("x", Category("accuracy"), severity, Side.TRANSLATION, 0, 1, Placement.EXACT)


@pytest.mark.parametrize(
    ("support", "asked", "least", "kept"),
    [
        pytest.param(3, 5, 0.6, True, id="3-of-5-are-0.6"),
        pytest.param(7, 10, 0.7, True, id="7-of-10-are-0.7"),
        pytest.param(2, 3, 0.67, False, id="2-of-3-are-less-than-0.67"),
        pytest.param(0, 4, 0.0, True, id="no-support-is-at-least-0"),
        pytest.param(0, 4, 0.01, False, id="no-support-is-less-than-anything-else"),
        pytest.param(4, 4, 1.0, True, id="all-are-1"),
        pytest.param(3, 4, 1.0, False, id="not-all-are-less-than-1"),
        pytest.param(0, 0, 1.0, True, id="nobody-asked"),
    ],
)
def test_support_is_a_share_of_those_who_were_asked(
    support: int, asked: int, least: float, *, kept: bool
) -> None:
    assert ErrorFilter(min_support=least).keeps(error(support, asked)) is kept


def test_disputed_errors_can_be_asked_for_or_left_out() -> None:
    both = (error(disputed=True), error(disputed=False))
    assert ErrorFilter(disputed=True).kept(both) == both[:1]
    assert ErrorFilter(disputed=False).kept(both) == both[1:]
    assert ErrorFilter().kept(both) == both


def test_who_raised_an_error_is_told_by_agent_or_by_role() -> None:
    own, pro, judge = (
        error(raised_by=(name,)) for name in ("annotate.style", "pro.style", "judge")
    )
    everyone = (own, pro, judge)
    assert ErrorFilter(raised_by=("annotate.style",)).kept(everyone) == (own,)
    assert ErrorFilter(raised_by=("annotate.fluency",)).kept(everyone) == ()
    assert ErrorFilter(raised_by=("annotate", "judge")).kept(everyone) == (own, judge)
    assert ErrorFilter(raised_by=("pro",)).kept([error(raised_by=("annotate.x", "pro.y"))])


def test_conditions_hold_together() -> None:
    wanted = ErrorFilter(min_support=0.5, disputed=True)
    assert wanted.keeps(error(1, 2, disputed=True))
    assert not wanted.keeps(error(1, 3, disputed=True))
    assert not wanted.keeps(error(1, 2, disputed=False))


def test_an_error_that_nobody_was_asked_about_is_kept_by_every_filter() -> None:
    strict = ErrorFilter(min_support=1.0, disputed=True, raised_by=("nobody",))
    assert strict.keeps(unasked())


def test_only_a_filter_without_conditions_keeps_all() -> None:
    assert ErrorFilter().keeps_all
    assert not ErrorFilter(min_support=0.0).keeps_all
    assert not ErrorFilter(disputed=False).keeps_all
    assert not ErrorFilter(raised_by=("pro",)).keeps_all


@pytest.mark.parametrize("share", [-0.1, 1.1, 50.0, float("nan")], ids=str)
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        ErrorFilter(min_support=share)


def test_a_score_is_computed_anew_from_the_errors_kept() -> None:
    errors = (error(1, 4), error(3, 4), error(4, 4, severity=Severity.MINOR))
    rating = SegmentRating(Segment("s", "x"), Status.SCORED, -11.0, errors)
    half = ErrorFilter(min_support=0.5).rating(rating, SCHEMES["mmad"])
    assert (half.score, half.errors) == (-6.0, errors[1:])
    none = ErrorFilter(disputed=True).rating(rating, SCHEMES["mmad"])
    assert (none.score, none.errors) == (0.0, ())


def test_a_rating_that_loses_no_error_keeps_its_score_whatever_it_comes_from() -> None:
    rating = SegmentRating(Segment("s", "x"), Status.SCORED, -30.0, (error(),))
    assert ErrorFilter(min_support=1.0).rating(rating, SCHEMES["mmad"]) is rating


def test_an_unscored_segment_stays_unscored() -> None:
    rating = SegmentRating(Segment("s", "x"), Status.UNSCORED, reason=Reason("refusal"))
    assert ErrorFilter(min_support=1.0).rating(rating, SCHEMES["mmad"]) is rating
