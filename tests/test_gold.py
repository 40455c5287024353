"""Human ratings of WMT23 give the gold scores: scored straight, and through all stages."""

from __future__ import annotations

import contextlib
import io
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.gold import LP, RATINGS, TOLERANCE, compare, rate_gold
from benchmarks.wmt_gold import gold_scores, read_gold
from mmad_metric.scoring import SCHEMES, mean

pytestmark = pytest.mark.slow

WMT = SCHEMES["wmt"]
SLICE_ROWS = 23  # of each of 13 systems: 299 segments


@pytest.mark.wmt23
def test_all_of_en_de_scored_straight_from_its_ratings_is_gold(wmt23: Path):
    gold = list(read_gold(wmt23, LP, RATINGS))
    differing = [
        each
        for each in gold
        if each.score is None or abs(WMT.segment_score(each.errors) - each.score) > TOLERANCE
    ]
    assert (len(gold), differing) == (5980, [])


@pytest.mark.wmt23
def test_all_of_zh_en_scored_straight_as_means_over_raters_is_gold(wmt23: Path):
    penalties: dict[tuple[str, int], list[float]] = defaultdict(list)
    for rater in range(1, 9):
        for each in read_gold(wmt23, "zh-en", f"zh-en.mqm.rater{rater}.seg.rating"):
            penalties[each.system, each.index].append(WMT.segment_score(each.errors))
    published = gold_scores(wmt23, "zh-en")
    rated = {key: scores for key, scores in penalties.items() if key in published}
    assert len(rated) == 18829
    assert sum(len(scores) == 8 for scores in rated.values()) == 288
    for key, scores in rated.items():
        assert abs((mean(scores) or 0.0) - published[key]) < TOLERANCE, key
    assert Decimal("0.1") in {rule.weight for rule in WMT.rules}


@pytest.mark.wmt23
def test_a_slice_through_all_three_stages_is_gold_but_for_merged_spans(wmt23: Path, tmp_path: Path):
    gold = list(read_gold(wmt23, LP, RATINGS))
    rows = set(sorted({each.index for each in gold})[:SLICE_ROWS])
    gold = [each for each in gold if each.index in rows]
    with contextlib.redirect_stdout(io.StringIO()):
        compared = compare(gold, rate_gold(gold, tmp_path))
    assert len(compared) == 13 * SLICE_ROWS
    kinds = {kind for _, _, kind in compared}
    assert not any(kind.startswith("unscored") for kind in kinds)
    agreeing = sum(kind == "agrees" for _, _, kind in compared)
    assert agreeing >= 0.97 * len(compared)
    for each, rating, kind in compared:
        for error in rating.errors:
            if error.start is not None:
                side = each.source if error.side.value == "source" else each.translation
                assert side[error.start : error.end] == error.text
        if kind != "agrees":
            assert rating.score is not None
            assert each.score is not None
            assert rating.score > each.score, "merging can only lose errors"
