"""Repeats: rows of several ratings, the judge's noise, how firm a ranking is. All by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from mmad_metric import ConfigError, MMADConfig, rate
from mmad_metric.errors import Reason
from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.repeats import (
    RatedRow,
    Stability,
    determinism_warning,
    noise,
    ranking_stability,
    rated_rows,
    repeated,
)
from mmad_metric.results import SystemTotals
from mmad_metric.scoring import load_scheme
from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator
from tests.loopback import LoopbackServer
from tests.loopback_replies import ReceivedCall

MAJOR = MQMError(
    "x", Category("accuracy", "omission"), Severity.MAJOR, Side.SOURCE, 0, 1, Placement.EXACT
)


def rating(score: float | None, repeat: int | None, index: int = 0) -> SegmentRating:
    segment = Segment("a", "b", "S", index, repeat=repeat)
    if score is None:
        return SegmentRating(segment, Status.UNSCORED, reason=Reason.REFUSAL, detail="no")
    errors = (MAJOR,) * int(-score // 5)
    return SegmentRating(segment, Status.SCORED, score, errors)


def totals(*ratings: SegmentRating) -> SystemTotals:
    result = SystemTotals("S", load_scheme("mmad"))
    for each in ratings:
        result.add(each)
    return result


def test_a_segment_is_rated_once_as_it_is_or_several_times_numbered_from_one():
    segment = Segment("a", "b")
    assert list(repeated(segment, 1)) == [segment]
    assert [each.repeat for each in repeated(segment, 3)] == [1, 2, 3]


def test_a_row_is_the_mean_of_its_scored_repeats():
    row = RatedRow((rating(-5.0, 1), rating(None, 2), rating(0.0, 3)))
    assert (row.score, row.scores, row.status, row.reason) == (
        -2.5, (-5.0, None, 0.0), Status.SCORED, None,
    )  # fmt: skip
    # Squares of ±2.5 over 2 - 1: the root of 12.5.
    assert row.deviation == pytest.approx(math.sqrt(12.5))
    assert (row.as_rating().score, row.as_rating().errors) == (-2.5, (MAJOR,))


def test_a_row_none_of_whose_repeats_is_scored_is_unscored_for_the_first_reason():
    row = RatedRow((rating(None, 1), rating(None, 2)))
    assert (row.score, row.status, row.reason) == (None, Status.UNSCORED, Reason.REFUSAL)
    assert (row.deviation, row.as_rating().reason) == (None, Reason.REFUSAL)


def test_ratings_are_put_together_by_row_and_rows_without_repeats_stay_alone():
    ratings = [rating(0.0, 1), rating(0.0, 2), rating(0.0, 1, 1), rating(0.0, 2, 1)]
    assert [len(row.ratings) for row in rated_rows(ratings)] == [2, 2]
    assert [len(row.ratings) for row in rated_rows([rating(0.0, None)] * 3)] == [1, 1, 1]
    assert list(rated_rows([])) == []


def test_totals_count_rows_for_the_mean_and_ratings_for_the_errors():
    found = totals(
        rating(-10.0, 1), rating(0.0, 2),
        rating(None, 1, 1), rating(-5.0, 2, 1),
        rating(None, 1, 2), rating(None, 2, 2),
    )  # fmt: skip
    assert found.row_scores == [(-10.0, 0.0), (None, -5.0), (None, None)]
    assert (found.score, found.n_segments, found.n_scored, found.n_unscored) == (-5.0, 3, 2, 1)
    assert (found.n_ratings, found.n_ratings_scored, found.repeats) == (6, 3, 2)
    assert (found.errors["n_major"], dict(found.reasons)) == (3, {"refusal": 1})
    # One row has two scores, -10 and 0: variance 50.
    assert found.noise == pytest.approx(math.sqrt(50))
    assert found.to_dict()["noise_sd"] == found.noise


def test_without_repeats_nothing_of_them_is_told():
    found = totals(rating(-5.0, None), rating(0.0, None, 1))
    assert (found.score, found.n_segments, found.repeats, found.noise) == (-2.5, 2, 1, None)
    assert not {"repeats", "noise_sd"} & found.to_dict().keys()


def test_noise_is_the_root_of_the_mean_variance_within_segments():
    # Variances 2 and 0; the lone score and the single rating have none.
    assert noise([(-2.0, 0.0), (-1.0, -1.0), (None, -3.0), -4.0, None]) == 1.0
    assert noise([-1.0, None, (None, -1.0)]) is None


def test_a_ranking_is_as_firm_as_its_repeats_agree_with_the_mean():
    # Means of A: -1, -3; of B: -2, -2.5; of C: -4, -2. Overall A -2, B -2.25, C -3.
    # First repeat A > B > C as overall; in the second C > B > A: no pair stands.
    a, b, c = [(-1.0, -3.0)], [(-2.0, -2.5)], [(-4.0, -2.0)]
    assert ranking_stability([a, b, c]) == Stability(2, 1, 0.5)
    assert ranking_stability([a, a]) == Stability(2, 2, 1.0)  # ties stand as ties


def test_stability_takes_segments_that_all_have_and_needs_two_systems():
    a = [(-1.0, -1.0), (0.0, None), None]
    b = [(-2.0, -2.0), (-9.0, 0.0), (0.0, 0.0)]
    assert ranking_stability([a, b]) == Stability(2, 2, 1.0)
    assert ranking_stability([a]) is None
    assert ranking_stability([[-1.0], [-2.0]]) is None
    assert ranking_stability([[(None,)], [(0.0,)]]) is None


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({}, None),
        ({"repeats": 3}, "temperature 0"),
        ({"repeats": 3, "temperature": 0.7}, None),
        ({"repeats": 3, "temperature": "default"}, None),
        ({"repeats": 3, "temperature": 0.7, "extra_body": '{"seed": 1}'}, "fixed seed"),
    ],
    ids=["once", "cold", "warm", "server-default", "seeded"],
)
def test_a_warning_tells_when_repeats_say_little(options: dict[str, Any], warned: str | None):
    text = determinism_warning(MMADConfig.of("en-de", **options))
    assert (text is None) if warned is None else (text is not None and warned in text)


@pytest.mark.parametrize("value", [0, 101, 1.5, True, "2"], ids=str)
def test_a_number_of_repeats_out_of_range_is_refused(value: Any):
    with pytest.raises(ConfigError, match="repeats: "):
        MMADConfig.of("en-de", repeats=value)


# -- through the whole of it

SOURCES = ["The red house is old.", "Good morning.", "x"]
TRANSLATIONS = ["Das rote Maus ist alt.", "Guten Morgen.", ""]


class Fickle:
    """Finds the known errors in all but every second rating."""

    def __init__(self) -> None:
        self.annotations: dict[str, int] = {}
        self.inner = Annotator(KNOWN)

    def __call__(self, call: ReceivedCall) -> str:
        question = json.dumps(call.messages)
        if call.schema == "dimension_annotations":
            asked = self.annotations[question] = self.annotations.get(question, 0) + 1
            if asked % 2 == 0:
                return '{"annotations": []}'
        return self.inner(call)


def test_repeats_are_rated_independently_and_averaged():
    options: dict[str, Any] = {"lp": "en-de", "model": "m", "repeats": 2, "temperature": 0.5}
    with LoopbackServer(Fickle()) as server:
        result = rate(SOURCES, TRANSLATIONS, base_url=server.url, concurrency=1, **options)
        calls = server.call_count
        again = rate(SOURCES, TRANSLATIONS, base_url=server.url, concurrency=1, **options)
        assert server.call_count == calls  # all from the cache
    # Row 1 costs -6 or nothing, row 2 nothing, row 3 (an empty translation) always -5.
    assert result.scores == [-3.0, 0.0, -5.0]
    assert result.totals.row_scores == [(-6.0, 0.0), (0.0, 0.0), (-5.0, -5.0)]
    plain = result.to_dict(return_debates=True)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert (plain["repeats"], plain["n_segments"], plain["n_ratings"]) == (2, 3, 6)
    assert plain["score_sds"] == [pytest.approx(math.sqrt(18)), 0.0, 0.0]
    assert plain["noise_sd"] == pytest.approx(math.sqrt(18 / 3))
    assert [(span["text"], span["repeat"]) for span in plain["spans"][0]] == [
        ("Maus", 1), ("Das rote", 1),
    ]  # fmt: skip
    assert [sorted(said) for said in plain["debates"][0]] == [sorted(plain["debates"][0][0])] * 2
    assert parse_signature(result.signature)["repeats"] == "2"
    assert again.to_dict() == result.to_dict()


def test_the_first_repeat_takes_what_a_run_without_repeats_has_paid_for():
    with LoopbackServer(Annotator(KNOWN)) as server:
        options: dict[str, Any] = {
            "lp": "en-de", "base_url": server.url, "model": "m", "temperature": 0.5,
        }  # fmt: skip
        once = rate(SOURCES, TRANSLATIONS, **options)
        paid = server.call_count
        twice = rate(SOURCES, TRANSLATIONS, repeats=2, **options)
        assert server.call_count == 2 * paid
        thrice = rate(SOURCES, TRANSLATIONS, repeats=3, **options)
        assert server.call_count == 3 * paid
    assert once.scores == twice.scores == thrice.scores
    assert twice.totals.usage["annotate"].calls == 2 * once.totals.usage["annotate"].calls
    assert "repeats" not in parse_signature(once.signature)


def test_equal_rows_share_each_repeat_and_are_paid_for_once():
    with LoopbackServer(Annotator(KNOWN)) as server:
        result = rate(
            SOURCES[:1] * 3, TRANSLATIONS[:1] * 3, lp="en-de", base_url=server.url, model="m",
            repeats=2, temperature=0.5,
        )  # fmt: skip
        # A repeat: 4 agents, a debate of 7 calls whose 2 checks are one question, the judge.
        assert server.call_count == 2 * (4 + 6 + 1)
    assert result.scores == [-6.0] * 3
    assert [each.segment.repeat for each in result.ratings] == [1, 2] * 3


def test_at_temperature_0_repeats_come_with_a_warning():
    with pytest.warns(UserWarning, match="temperature 0"):
        rate([], [], lp="en-de", base_url="http://127.0.0.1:9/v1", repeats=2)
