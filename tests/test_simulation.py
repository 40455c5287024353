"""The simulated annotator of `benchmarks/bench_strategies.py`: strategies do what arithmetic says.

No model takes part: this is about who decides, not about who debates well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from benchmarks.bench_strategies import Manners, read_segments, simulate, surviving_share
from benchmarks.wmt_gold import GoldSegment
from mmad_metric.method_space import STRATEGIES

SEGMENTS = 40
DEBATING = [name for name in STRATEGIES if name != "none"]


@lru_cache(maxsize=1)
def segments(folder: Path) -> Sequence[GoldSegment]:
    return read_segments(folder, SEGMENTS)


@pytest.mark.parametrize(
    ("strategy", "rounds", "share"),
    [
        ("none", 1, 1.0),
        ("consensus", 1, 0.7),
        ("consensus", 2, 0.49),
        ("deliberation", 2, 0.245),
        ("interactive-review", 1, 0.245),
        ("consultancy-review", 1, 0.35),
    ],
)
def test_the_share_that_survives_is_what_the_rule_of_the_strategy_says(
    strategy: str, rounds: int, share: float
):
    manners = Manners(yields=0.3, discerns=0.5)
    assert math.isclose(surviving_share(strategy, rounds, manners), share)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_effect_is_within_three_standard_errors(wmt23: Path, strategy: str):
    effect = simulate(segments(wmt23), strategy, 2, Manners(inflates=0.5))
    assert effect.inflated > 10
    assert abs(effect.deviation) <= 3


@pytest.mark.parametrize("strategy", DEBATING)
def test_a_pro_that_always_yields_leaves_nothing_and_one_that_never_does_everything(
    wmt23: Path, strategy: str
):
    gold = segments(wmt23)[:15]
    yielding = simulate(gold, strategy, 1, Manners(inflates=0.5, yields=1.0, discerns=0.0))
    assert (yielding.survived, yielding.expected) == (0, 0)
    holding = simulate(gold, strategy, 1, Manners(inflates=0.5, yields=0.0, discerns=0.0))
    assert holding.survived == holding.inflated == holding.expected > 0


def test_without_inflation_every_strategy_gives_the_human_score(wmt23: Path):
    gold = segments(wmt23)[:15]
    scores = {simulate(gold, strategy, 1, Manners(inflates=0.0)).score for strategy in STRATEGIES}
    assert len(scores) == 1
