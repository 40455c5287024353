"""Errors keep what they carry wherever they are taken."""

from __future__ import annotations

import copy
import pickle

import pytest

from mmad_metric.chat import Usage
from mmad_metric.errors import MOST_QUOTED, MMADError, Reason, SegmentFailure, quoted


def pickled(value: object) -> object:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("take", [pickled, copy.copy])
@pytest.mark.parametrize(
    "failure",
    [
        SegmentFailure(Reason.TIMEOUT),
        SegmentFailure(Reason.REFUSAL, "will not: really"),
        SegmentFailure(Reason.CUT_SHORT, "at 16 tokens", Usage(2, 7, 1, 3)),
    ],
    ids=["bare", "detail", "usage"],
)
def test_a_failure_survives_the_way_to_another_process(failure, take):
    back = take(failure)
    assert type(back) is SegmentFailure
    assert isinstance(back, MMADError)
    assert (back.reason, back.detail, back.usage) == (
        failure.reason,
        failure.detail,
        failure.usage,
    )
    assert str(back) == str(failure)


def test_what_is_quoted_is_short_and_in_one_line():
    assert quoted("a\tb\n") == r"'a\tb\n'"
    assert quoted("x" * MOST_QUOTED) == f"'{'x' * MOST_QUOTED}'"
    assert quoted("x" * 10_000) == f"'{'x' * MOST_QUOTED}…'"
