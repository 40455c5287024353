"""The baselines with the embedded model: narrowed schemas of theirs end, and are read."""

from __future__ import annotations

import pytest

from mmad_metric import rate
from mmad_metric.method_space import METHODS
from mmad_metric.rating import Status
from mmad_metric.scales import Scale
from tests.local.test_chat import missing

pytestmark = [pytest.mark.slow, pytest.mark.local_model]


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_small_segment_is_rated_by_each_method(method: str):
    if missing():
        pytest.skip(missing())
    texts = ("Don't feed the dog.", "Füttere die Katze nicht.")
    result = rate([texts[0]], [texts[1]], lp="en-de", model="local", method=method, max_tokens=256)
    [rating] = result.ratings
    assert rating.status is Status.SCORED, rating.detail
    assert rating.levels == ("json_schema",)
    assert (rating.scale is Scale.DIRECT) is (method == "gemba-da")
    for error in rating.errors:
        text = texts[error.side.value == "translation"]
        assert text[error.start : error.end] == error.text
