"""PERM-BOTH: is one metric really better than another, or would chance have it so?

Deutsch, Dror and Roth 2021 (arXiv 2104.00054), as the WMT metrics tasks use it: both metrics'
scores are standardised, then exchanged at random between the two, each cell by itself: the
scores of systems for measures of systems, of segments for measures of segments. The p-value is
one-sided, (1 + m) / (1 + n) where m of n exchanges give a difference at least as large.

All segment measures of a language pair see the same exchanges, so that the differences of meta
scores are those of whole exchanged score sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmad_metric.metaeval.arrays import Bools, Floats
from mmad_metric.metaeval.exchanged_ties import acc_t_exchanged
from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.measures import (
    SEG_ACC_T,
    SEG_PEARSON,
    SYS_ACCURACY,
    SYS_PEARSON,
    Measure,
    value_of,
)
from mmad_metric.metaeval.meta_score import LanguagePairScores
from mmad_metric.metaeval.system_level import agreements_under
from mmad_metric.metaeval.ties import acc_t

ALL, META = "all", "meta"
_BLOCK_ROWS = 50


@dataclass(frozen=True, slots=True)
class Comparison:
    """difference: of the first metric's value and the second's, in the measure's own points, on
    what both scored; p_value: how readily chance gives at least this to the first."""

    first: str
    second: str
    difference: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Common:
    """What two metrics are compared on. systems: that both have a system score for; cells: rated
    translations that both scored. Of all language pairs together: the sums."""

    systems: int
    cells: int

    def __add__(self, other: Common) -> Common:
        return Common(self.systems + other.systems, self.cells + other.cells)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A measure of two metrics: as seen (position 0) and after each exchange, as fractions."""

    first: Floats
    second: Floats
    below_first: Floats
    below_second: Floats

    def difference(self) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = self.first / self.below_first - self.second / self.below_second
        return found


def compare(
    pairs: Sequence[LanguagePairScores],
    names: tuple[str, str],
    measures: Sequence[Measure],
    *,
    n: int = 1000,
    seed: int = 12345,
) -> dict[str, dict[str, Comparison]]:
    """By language pair or "all", then by measure or "meta". names: the first metric, which is
    tested for being better, and the second; both must have scores for all the pairs. Compared
    are the cells that both scored."""
    drawn = {
        pair.lp: {
            measure.name: _draw(measure, pair, names, _Exchanges(n, seed, pair.lp))
            for measure in measures
        }
        for pair in pairs
    }
    differences = {
        lp: {name: each.difference() for name, each in by_measure.items()}
        for lp, by_measure in drawn.items()
    }
    whole: dict[str, Floats] = {}
    for measure in measures:
        if measure.pooled:
            whole[measure.name] = _pooled([each[measure.name] for each in drawn.values()])
        else:
            whole[measure.name] = np.mean(
                [by_measure[measure.name] for by_measure in differences.values()], axis=0
            )
    differences[ALL] = whole
    scale = {measure.name: 0.5 if measure.signed else 1.0 for measure in measures}
    for by_measure in differences.values():
        by_measure[META] = np.mean(
            [values * scale[name] for name, values in by_measure.items()], axis=0
        )
    return {
        lp: {name: _comparison(names, values) for name, values in by_measure.items()}
        for lp, by_measure in differences.items()
    }


def common(pairs: Sequence[LanguagePairScores], names: tuple[str, str]) -> dict[str, Common]:
    """By language pair or "all"."""
    found = {}
    for pair in pairs:
        one, other = (pair.metrics[name] for name in names)
        found[pair.lp] = Common(
            int(_present(pair.gold.system, one.system, other.system).sum()),
            int(_present(pair.gold.segment, one.segment, other.segment).sum()),
        )
    return {**found, ALL: sum(found.values(), Common(0, 0))}


def _comparison(names: tuple[str, str], differences: Floats) -> Comparison:
    seen, null = float(differences[0]), differences[1:]
    null = null[~np.isnan(null)]
    if np.isnan(seen) or not null.size:
        return Comparison(*names, seen, np.nan)
    # Sums in another order differ in the last bits: an equal difference is at least as large.
    reached = int(np.count_nonzero(null >= seen - 1e-12))
    return Comparison(*names, seen, (1 + reached) / (1 + null.size))


def _pooled(parts: Sequence[_Drawn]) -> Floats:
    sums = [
        np.sum([getattr(part, name) for part in parts], axis=0)
        for name in ("first", "second", "below_first", "below_second")
    ]
    return _Drawn(*sums).difference()


@dataclass(frozen=True, slots=True)
class _Exchanges:
    n: int
    seed: int
    lp: str

    def masks(self, cells: int, level: str) -> Bools:
        """Exchanges by cells, the same for every measure of one level."""
        rng = np.random.default_rng([self.seed, *self.lp.encode(), *level.encode()])
        bits = np.unpackbits(
            rng.integers(0, 256, (self.n, (cells + 7) // 8), dtype=np.uint8), axis=1, count=cells
        )
        return bits.view(np.bool_)


def _draw(
    measure: Measure, pair: LanguagePairScores, names: tuple[str, str], how: _Exchanges
) -> _Drawn:
    gold = pair.gold
    one, other = (pair.metrics[name] for name in names)
    fast = _FAST.get(measure.name)
    if fast is not None:
        return fast(gold, one, other, how)
    return _by_cells(measure, gold, one, other, how)


def _standard(values: Floats, present: Bools) -> Floats:
    """Mean 0 and deviation 1 over the cells present, NaN elsewhere."""
    kept = values[present]
    deviation = kept.std() if kept.size else 0.0
    scaled = np.full(values.shape, np.nan)
    scaled[present] = (kept - kept.mean()) / deviation if deviation else 0.0
    return scaled


def _system_sides(
    gold: Gold, one: MetricScores, other: MetricScores, how: _Exchanges
) -> tuple[Floats, Floats, Floats]:
    """Gold by systems, and both metrics' system scores by systems and exchanges, as seen first."""
    present = _present(gold.system, one.system, other.system)
    a, b = (_standard(each.system, present)[present][:, None] for each in (one, other))
    mask = how.masks(len(a), "system").T
    first, second = np.where(mask, b, a), np.where(mask, a, b)
    return gold.system[present], np.hstack([a, first]), np.hstack([b, second])


def _system_accuracy(gold: Gold, one: MetricScores, other: MetricScores, how: _Exchanges) -> _Drawn:
    people, first, second = _system_sides(gold, one, other, how)
    counts = [
        agreements_under(np.broadcast_to(people[:, None], each.shape), each)
        for each in (first, second)
    ]
    return _Drawn(counts[0][0], counts[1][0], counts[0][1], counts[1][1])


def _system_pearson(gold: Gold, one: MetricScores, other: MetricScores, how: _Exchanges) -> _Drawn:
    people, first, second = _system_sides(gold, one, other, how)
    return _plain(*(_column_pearson(people, each) for each in (first, second)))


def _column_pearson(people: Floats, scores: Floats) -> Floats:
    if not people.size:
        return np.full(scores.shape[1], np.nan)
    x, y = people - people.mean(), scores - scores.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = x @ y / np.sqrt((x @ x) * (y * y).sum(axis=0))
    return found


def _present(gold: Floats, one: Floats, other: Floats) -> Bools:
    """Where all three have a score."""
    present: Bools = ~(np.isnan(gold) | np.isnan(one) | np.isnan(other))
    return present


def _segment_pearson(gold: Gold, one: MetricScores, other: MetricScores, how: _Exchanges) -> _Drawn:
    """What an exchange adds to one metric's moments it takes from the other's: three sums each."""
    present = _present(gold.segment, one.segment, other.segment)
    x = gold.segment[present]
    x = x - x.mean() if x.size else x
    a, b = (_standard(each.segment, present)[present] for each in (one, other))
    moments = [np.stack([each, each * each, each * x], axis=1) for each in (a, b)]
    turned = moments[1] - moments[0]
    mask = how.masks(x.size, "segment")
    moved = np.zeros((how.n + 1, 3))
    for start in range(0, how.n, _BLOCK_ROWS):
        block = mask[start : start + _BLOCK_ROWS]
        moved[1 + start : 1 + start + len(block)] = block.astype(np.float64) @ turned
    sums = [each.sum(axis=0) for each in moments]
    first, second = sums[0] + moved, sums[1] - moved
    return _plain(*(_moment_pearson(each, x) for each in (first, second)))


def _moment_pearson(moments: Floats, x: Floats) -> Floats:
    sy, syy, sxy = moments.T
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = sxy / np.sqrt((x @ x) * (syy - sy * sy / max(x.size, 1)))
    return found


def _segment_acc_t(gold: Gold, one: MetricScores, other: MetricScores, how: _Exchanges) -> _Drawn:
    present = _present(gold.segment, one.segment, other.segment)
    people = np.where(present, gold.segment, np.nan)
    seen = [acc_t(people, each.segment).accuracy for each in (one, other)]
    a, b = (_standard(each.segment, present) for each in (one, other))
    null = acc_t_exchanged(people, a, b, how.masks(int(present.sum()), "segment"))
    return _plain(*(np.append(value, rest) for value, rest in zip(seen, null, strict=True)))


def _by_cells(
    measure: Measure, gold: Gold, one: MetricScores, other: MetricScores, how: _Exchanges
) -> _Drawn:
    """Any other measure, one exchange after the other, at the level that its name says."""
    if measure.name.startswith("sys_") and measure.name != "sys_spa":
        people, first, second = _system_sides(gold, one, other, how)
        empty = np.empty((people.size, 0))
        one_gold = Gold(gold.lp, gold.systems, gold.items, empty, people, None)
        sides = [
            [value_of(measure, one_gold, MetricScores("", empty, row)) for row in each.T]
            for each in (first, second)
        ]
        return _plain(*map(np.array, sides))
    present = _present(gold.segment, one.segment, other.segment)
    a, b = (_standard(each.segment, present) for each in (one, other))
    masks = np.vstack(
        [np.zeros((1, int(present.sum())), bool), how.masks(int(present.sum()), "segment")]
    )
    values: list[list[float]] = [[], []]
    for mask in masks:
        turned = np.zeros(present.shape, bool)
        turned[present] = mask
        for side, (kept, given) in zip(values, ((a, b), (b, a)), strict=True):
            scores = MetricScores("", np.where(turned, given, kept), one.system)
            side.append(value_of(measure, gold, scores))
    return _plain(*map(np.array, values))


def _plain(first: Floats, second: Floats) -> _Drawn:
    return _Drawn(first, second, np.ones(len(first)), np.ones(len(second)))


_FAST: Mapping[str, Callable[[Gold, MetricScores, MetricScores, _Exchanges], _Drawn]] = {
    SYS_ACCURACY: _system_accuracy,
    SYS_PEARSON: _system_pearson,
    SEG_PEARSON: _segment_pearson,
    SEG_ACC_T: _segment_acc_t,
}
