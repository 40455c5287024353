"""Intervals and paired tests: by hand, against sacreBLEU's own code, against scipy."""

from __future__ import annotations

import math
from dataclasses import astuple
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.base import Score
from sacrebleu.significance import (
    _bootstrap_resample,
    _paired_ar_test,
    _paired_bs_test,
    estimate_ci,
)
from scipy import stats as scipy_stats

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.stats import (
    Interval,
    Method,
    confidence,
    confidences,
    paired,
    paired_tests,
    resampling,
    significance,
)

# Row by row: system minus baseline is 1, 2, 3.
LOW, HIGH = [-3.0, -3.0, -3.0], [-2.0, -1.0, 0.0]
METHODS: tuple[Method, ...] = ("bs", "ar")
SOME = [-float(n % 7) for n in range(40)]


def drawn(seed: int, size: int = 60) -> list[float | None]:
    """Scores like a judge's: tenths, many zeros."""
    rng = np.random.default_rng(seed)
    return [-round(float(value), 1) for value in rng.gamma(0.6, 3, size)]


# -- by hand


@pytest.mark.parametrize("method", ["bs", "ar"])
def test_equal_vectors_have_p_1_exactly(method: Any):
    tested = paired(SOME, list(SOME), method, 500, 7)
    assert (tested.p_value, tested.difference, tested.n_common) == (1.0, 0.0, 40)
    assert tested.baseline == tested.system


def test_ar_of_three_differences_nears_the_count_of_all_eight_sign_patterns():
    # |±1 ±2 ±3| reaches 6 in 2 patterns of 8: p = 1/4.
    exact = sum(abs(a + 2 * b + 3 * c) >= 6 for a, b, c in product((1, -1), repeat=3)) / 8
    tested = paired(LOW, HIGH, "ar", 40_000, 3)
    assert (exact, tested.difference) == (0.25, 2.0)
    assert abs(tested.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / 40_000)


def test_a_p_value_is_never_below_one_in_n_plus_one():
    better = [score + 1 for score in SOME]
    for method in METHODS:
        assert paired(SOME, better, method, 99, 1).p_value == 1 / 100


def test_swapping_the_systems_turns_the_difference_and_keeps_p():
    for method in METHODS:
        one = paired(drawn(1), drawn(2), method, 999, 5)
        other = paired(drawn(2), drawn(1), method, 999, 5)
        assert one.p_value == other.p_value
        assert one.difference == pytest.approx(-other.difference)
        assert (one.baseline, one.system) == (other.system, other.baseline)


def test_only_the_segments_that_both_have_a_score_for_are_compared():
    baseline = [None, -3.0, -3.0, -3.0, -100.0, None]
    system = [-50.0, -2.0, -1.0, 0.0, None, None]
    for method in METHODS:
        with_gaps = paired(baseline, system, method, 300, 2)
        assert with_gaps == paired(LOW, HIGH, method, 300, 2)
        assert with_gaps.n_common == 3


@pytest.mark.parametrize("method", ["bs", "ar"])
@pytest.mark.parametrize(
    ("baseline", "system", "n_common"),
    [([], [], 0), ([None, -1.0], [-1.0, None], 0), ([-1.0, None], [-9.0, -1.0], 1)],
    ids=["empty", "nothing-common", "one-common"],
)
def test_fewer_than_two_common_segments_tell_nothing_apart(
    method: Any, baseline: list[Any], system: list[Any], n_common: int
):
    tested = paired(baseline, system, method, 50, 1)
    assert (tested.n_common, tested.p_value) == (n_common, 1.0)
    assert tested.baseline.known == tested.system.known == (n_common > 1)
    assert math.isnan(tested.difference) == (n_common == 0)


def test_intervals_of_nothing_of_one_and_of_equal_scores():
    assert not confidence([], 10, 1).known
    assert not confidence([None, None], 10, 1).known
    # One segment tells nothing of others, however often it was rated; nor has one resample ends.
    assert not confidence([None, -4.5], 10, 1).known
    assert not confidence([None, (-1.0, -4.0)], 10, 1).known
    assert not confidence([-1.0, -4.5], 1, 1).known
    assert confidence([-1.5] * 9, 100, 1) == Interval(-1.5, -1.5, -1.5)
    assert str(confidence([-0.0, 0.0], 10, 1).mean) == "0.0"


def test_the_interval_of_two_scores_is_all_that_two_draws_can_give():
    # Means of two draws from {0, -2}: 0, -1, -2 with chances 1/4, 1/2, 1/4.
    interval = confidence([0.0, -2.0], 4000, 1)
    assert (interval.low, interval.high, interval.half_width) == (-2.0, 0.0, 1.0)
    assert interval.mean == pytest.approx(-1.0, abs=4 * math.sqrt(0.5 / 4000))


@pytest.mark.parametrize(
    ("scores", "named"),
    [
        ([0.0, math.nan], "segment 2: nan"),
        ([-math.inf], "segment 1: -inf"),
        ([0.0, 1e308], "segment 2: 1e\\+308"),
        (["-1"], "segment 1: '-1'"),
        ([[-1.0, "x"]], "segment 1: 'x'"),
        ([True], "segment 1: True"),
    ],
    ids=["nan", "infinite", "too-large-to-add", "text", "text-in-a-repeat", "boolean"],
)
def test_what_is_no_score_is_refused(scores: list[Any], named: str):
    with pytest.raises(InputError, match=named):
        confidence(scores, 10, 1)


def test_unequal_lengths_and_bad_settings_are_refused():
    with pytest.raises(InputError, match="different numbers of segments: 1, 2"):
        paired([0.0], [0.0, 1.0], "ar", 10, 1)
    for arguments in ((0, 1), (1.5, 1), (10, -1), (True, 1)):
        with pytest.raises(ConfigError, match="expected a whole number"):
            confidence([0.0], *arguments)
    with pytest.raises(ConfigError, match="expected 'bs' or 'ar'"):
        paired([0.0], [0.0], "x", 10, 1)  # type: ignore[arg-type]


# -- memory


def test_the_size_of_the_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    systems = [drawn(seed) for seed in range(4)]
    systems[2][5] = systems[3][6] = None
    pairs = list(combinations(range(4), 2))

    def all_of_it() -> list[float]:
        """As plain numbers: sums of other chunks may differ in the last digit."""
        tests = [
            value
            for method in METHODS
            for test in paired_tests(systems, pairs, method, 500, 9)
            for value in astuple(test)
        ]
        intervals = confidences(systems, 500, 9)
        return tests + [value for each in intervals for value in astuple(each)]

    whole = pytest.approx(all_of_it(), rel=1e-12)
    monkeypatch.setattr(resampling, "CELLS", 60 * 64)
    monkeypatch.setattr(significance, "MOST_KEPT", 1000)
    assert all_of_it() == whole


def test_pairs_tested_together_come_out_as_tested_alone():
    systems = [drawn(seed) for seed in range(3)]
    for method in METHODS:
        together = paired_tests(systems, [(0, 1), (2, 1)], method, 400, 4)
        for (first, second), test in zip([(0, 1), (2, 1)], together, strict=True):
            alone = paired(systems[first], systems[second], method, 400, 4)
            assert test.p_value == alone.p_value
            assert test.difference == pytest.approx(alone.difference)


# -- repeats


def test_repeats_that_agree_change_nothing():
    one, other = drawn(1), drawn(2)
    again = [[score] * 3 for score in one], [[score] * 3 for score in other]
    for method in METHODS:
        plain, repeated = paired(one, other, method, 500, 3), paired(*again, method, 500, 3)
        assert repeated.p_value == plain.p_value
        assert astuple(repeated.system) == pytest.approx(astuple(plain.system), rel=1e-12)


def test_the_judges_noise_enters_the_interval():
    # Every segment has the mean -1: without noise there is nothing to resample. With the
    # repeats 0 and -2 the mean of two draws has variance 1/2, that of 50 segments 1/100.
    scores = [[0.0, -2.0]] * 50
    interval = confidence(scores, 20_000, 1)
    assert confidence([-1.0] * 50, 2000, 1).half_width == 0.0
    assert interval.half_width == pytest.approx(1.96 * 0.1, rel=0.04)


def test_a_lost_repeat_widens_as_drawing_from_those_left_does():
    # r of k repeats scored: variance of a segment's drawn mean is (sum of squares / r) / r.
    # Repeats 0 and -2: (2/2)/2 = 1/2 whether a third one was lost or never asked for.
    lost = confidence([[0.0, None, -2.0]] * 50, 20_000, 1)
    assert lost.mean == pytest.approx(-1.0, abs=0.005)
    assert lost.half_width == pytest.approx(1.96 * 0.1, rel=0.04)


def test_a_segment_whose_repeats_all_failed_is_unscored():
    scores: list[Any] = [[-1.0, -3.0], [None, None], None, -2.0]
    tested = paired(scores, [-1.0] * 4, "ar", 100, 1)
    assert (tested.n_common, tested.difference) == (2, 1.0)


def test_two_level_bootstrap_is_that_of_a_loop():
    """Independent: one resample at a time, drawing segments, then repeats of each."""
    rng = np.random.default_rng(11)
    table = rng.normal(-3, 2, (30, 1)) + rng.normal(0, 1.5, (30, 4))
    means = []
    for _ in range(4000):
        rows = rng.integers(0, 30, 30)
        means.append(np.mean([table[row][rng.integers(0, 4, 4)].mean() for row in rows]))
    ours = confidence([list(map(float, row)) for row in table], 4000, 1)
    assert [ours.low, ours.high] == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.05)


# -- against sacreBLEU's code


class MeanMetric:
    """As much of a sacreBLEU metric as its resampling calls: a mean of segment scores."""

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
        return [[score, 1.0] for score in hypotheses]

    def _compute_score_from_stats(self, stats: Any) -> Score:
        return Score("MEAN", float(stats[0]) / float(stats[1]))

    def _aggregate_and_compute(self, stats: Any) -> Score:
        return self._compute_score_from_stats(np.array(stats).sum(axis=0))


@pytest.mark.parametrize("seed", [12345, 1])
def test_the_interval_is_sacrebleus(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    scores = drawn(3)
    stats = MeanMetric()._extract_corpus_statistics(scores, None)
    _, resampled = _bootstrap_resample(stats, MeanMetric(), 1000)  # type: ignore[arg-type]
    mean, half_width = estimate_ci(np.array([each.score for each in resampled]))
    ours = confidence(scores, 1000, seed)
    assert ours.mean == pytest.approx(mean, rel=1e-5)
    assert ours.half_width == pytest.approx(half_width, rel=1e-5)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.8])
@pytest.mark.parametrize(("method", "theirs"), [("bs", _paired_bs_test), ("ar", _paired_ar_test)])
def test_p_values_are_sacrebleus_but_for_ties(method: Any, theirs: Any, shift: float):
    baseline = drawn(5)
    # An odd step, so that hardly any resample ties with the true difference.
    system = [score + shift + 0.01234 * n for n, score in enumerate(drawn(6))]  # type: ignore[operator]
    metric, stats = MeanMetric(), MeanMetric()._extract_corpus_statistics(baseline, None)
    info = {"MEAN": (stats, metric._aggregate_and_compute(stats))}
    _, results = theirs(info, "s", system, None, {"MEAN": metric}, 2000, 1000, 12345)
    ours = paired(baseline, system, method, 2000, 12345)
    assert ours.p_value == pytest.approx(results["MEAN"].p_value, abs=2.5 / 2001)
    if method == "bs":
        assert ours.system.mean == pytest.approx(results["MEAN"].mean, rel=1e-5)
        assert ours.system.half_width == pytest.approx(results["MEAN"].ci, rel=1e-5)


# -- the released M-MAD scores of WMT23, against scipy

N = 4000


def read_scores(path: Path) -> dict[str, list[float | None]]:
    scores: dict[str, list[float | None]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, score = line.split("\t")
        scores.setdefault(system, []).append(None if score == "None" else float(score))
    return scores


@pytest.fixture(scope="module", params=["en-de", "zh-en"])
def released(request, wmt23: Path) -> dict[str, list[float | None]]:
    """M-MAD's released scores where there is a gold score; elsewhere they are placeholders."""
    lp = request.param
    scores = read_scores(wmt23 / "mmad-released" / f"M-MAD_{lp}.seg.score")
    gold = read_scores(wmt23 / "human-scores" / f"{lp}.mqm.seg.score")
    return {
        system: [
            score if known is not None else None
            for score, known in zip(scores[system], gold[system], strict=True)
        ]
        for system in sorted(scores.keys() & gold.keys())
        if any(known is not None for known in gold[system])
    }


def test_randomization_of_the_released_scores_agrees_with_scipy(
    released: dict[str, list[float | None]],
):
    names = list(released)
    pairs = list(combinations(range(len(names)), 2))[::13]
    ours = paired_tests(list(released.values()), pairs, "ar", N, 1)
    for (first, second), test in zip(pairs, ours, strict=True):
        both = [
            (one, other)
            for one, other in zip(released[names[first]], released[names[second]], strict=True)
            if one is not None and other is not None
        ]
        baseline, system = np.array(both).T
        assert test.n_common == len(both)
        assert test.difference == pytest.approx((system - baseline).mean())
        exact = scipy_stats.permutation_test(
            (baseline, system), lambda x, y, axis: (y - x).mean(axis=axis), vectorized=True,
            permutation_type="samples", n_resamples=N, batch=500, rng=np.random.default_rng(2),
        ).pvalue  # fmt: skip
        noise = math.sqrt(2 * max(exact * (1 - exact), 1 / N) / N)
        assert abs(test.p_value - exact) < 4.5 * noise, (names[first], names[second])


def test_intervals_of_the_released_scores_agree_with_scipy(
    released: dict[str, list[float | None]],
):
    ours = confidences(list(released.values()), 2000, 1)
    for (name, scores), interval in list(zip(released.items(), ours, strict=True))[::5]:
        known = np.array([score for score in scores if score is not None])
        theirs = scipy_stats.bootstrap(
            (known,), np.mean, n_resamples=2000, method="percentile", batch=500,
            rng=np.random.default_rng(2),
        ).confidence_interval  # fmt: skip
        error = known.std() / math.sqrt(len(known))
        assert interval.low == pytest.approx(theirs.low, abs=0.25 * error), name
        assert interval.high == pytest.approx(theirs.high, abs=0.25 * error), name


# -- how often there is a false alarm


@pytest.mark.parametrize(
    ("method", "low", "high"), [("ar", 0.03, 0.07), ("bs", 0.07, 0.13)], ids=["ar", "bs"]
)
def test_false_alarms_of_1000_pairs_without_difference(method: Any, low: float, high: float):
    """At a level of 0.05 randomization raises one in twenty. sacreBLEU's bootstrap statistic
    sees one tail of the differences, so that it raises about twice as many."""
    rng = np.random.default_rng(21)
    systems: list[Any] = (-np.floor(rng.gamma(0.7, 4, (2000, 80)))).tolist()
    tests = paired_tests(systems, [(n, n + 1) for n in range(0, 2000, 2)], method, 500, 1)
    alarms = sum(test.p_value < 0.05 for test in tests) / len(tests)
    assert low < alarms < high
