"""Several people on the same segments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mmad_metric.errors import InputError
from mmad_metric.metaeval.human_spans import HumanSpans, read_human_spans
from mmad_metric.metaeval.layout import read_eval_set
from mmad_metric.metaeval.raters import rater_ceiling, shared_segments
from mmad_metric.metaeval.resampling import Resampling
from tests.metaeval.made_runs import error

BAD, POOR = (error("ab", 0, severity="major"),), (error("bc", 1),)
LENGTHS = {"A": [4, 4, 4], "B": [4, 4, 4]}


def people(*ratings: tuple[Any, Any]):
    return HumanSpans(
        {f"r{place}": {"A": one, "B": other} for place, (one, other) in enumerate(ratings, 1)},
        LENGTHS,
    )


def test_only_what_all_rated_for_all_systems_is_shared():
    human = people(([BAD, (), None], [(), (), ()]), ([POOR, (), ()], [(), None, ()]))
    shared = shared_segments("en-de", human)
    assert (shared.rows, shared.systems, shared.n_segments) == ((0,), ("A", "B"), 2)
    assert shared.scores["r1"].tolist() == [[-5], [0]]


def test_agreement_of_two_by_hand():
    human = people(([BAD, (), ()], [(), (), ()]), ([POOR, (), ()], [(), (), ()]))
    found = rater_ceiling(shared_segments("en-de", human), Resampling(n=20))
    # Scores -5 and -1 on one segment, 0 elsewhere: r = 1, all pairs ordered alike.
    assert found["seg_pearson"].value == pytest.approx(1.0)
    assert found["seg_acc_t"].value == 1.0
    # "ab" major and "bc" minor share one character of two each.
    assert found["span_f1"].value == pytest.approx(1 / 2)
    assert found["span_f1_severity"].value == pytest.approx(1 / 4)
    assert found["exact_f1"].value == 0.0
    assert found["severity_agreement"].value == 0.0


def test_one_rater_alone_or_nothing_shared_is_refused():
    with pytest.raises(InputError, match="1 rater with a rating file"):
        shared_segments("en-de", people(([()] * 3, [()] * 3)))
    nothing = people(([(), None, None], [None] * 3), ([None, (), ()], [()] * 3))
    with pytest.raises(InputError, match="no segment was rated by all 2 raters"):
        shared_segments("en-de", nothing)


def test_eight_raters_share_288_segments_and_agree_far_from_fully(wmt23: Path):
    data = read_eval_set(str(wmt23), "zh-en")
    shared = shared_segments("zh-en", read_human_spans(data))
    assert (shared.n_segments, len(shared.rows), len(shared.systems)) == (288, 18, 16)
    assert len(shared.raters) == 8
    found = rater_ceiling(shared, Resampling(n=100))
    for ceiling in found.values():
        assert ceiling.low <= ceiling.value <= ceiling.high
        assert ceiling.interval.low < ceiling.value < ceiling.interval.high
        assert ceiling.high < 0.9
    # The gold of these segments is the mean over the raters.
    for column, row in enumerate(shared.rows):
        for place, system in enumerate(shared.systems):
            mean = sum(shared.scores[rater][place, column] for rater in shared.raters) / 8
            assert mean == pytest.approx(data.gold_segment[system][row])
