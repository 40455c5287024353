"""MMAD's intervals and paired tests: sacreBLEU's options on scores of segments."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from mmad_metric.cli.columns import Cell
from mmad_metric.errors import ConfigError
from mmad_metric.repeats import RowScore, row_mean

if TYPE_CHECKING:
    from mmad_metric.stats import Interval

Scores = Sequence[RowScore]
DEFAULT_SEED = 12345
DEFAULT_TRIALS = {"bs": 1000, "ar": 10_000}


@dataclass(frozen=True, slots=True)
class Seed:
    """SACREBLEU_SEED. text: as signatures show it; value: a new one each time for `none`."""

    text: str
    value: int

    @classmethod
    def from_environment(cls) -> Seed:
        """Raises ConfigError for what is neither a whole number of at least 0 nor none."""
        text = os.environ.get("SACREBLEU_SEED", str(DEFAULT_SEED)).lower()
        if text == "none":
            return cls(text, secrets.randbits(32))
        try:
            value = int(text)
        except ValueError:
            value = -1
        if value < 0:
            raise ConfigError(
                f"SACREBLEU_SEED={text}: expected a whole number of at least 0, or none"
            )
        return cls(str(value), value)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A test that was asked for. method: bs or ar; trials: resamples or trials."""

    method: Literal["bs", "ar"]
    trials: int

    @classmethod
    def asked(cls, options: argparse.Namespace) -> PairedTest | None:
        """The test that the options ask for, if any. No trials mean sacreBLEU's default."""
        method: Literal["bs", "ar"]
        if options.paired_bs:
            method, trials = "bs", options.paired_bs_n
        elif options.paired_ar:
            method, trials = "ar", options.paired_ar_n
        else:
            return None
        return cls(method, trials if trials > 0 else DEFAULT_TRIALS[method])


def is_enough(n: int) -> bool:
    """Whether n resamples, or n scored segments, make an interval."""
    from mmad_metric.stats import LEAST

    return n >= LEAST


def interval(scores: Scores, n: int, seed: Seed) -> tuple[float, float] | None:
    """Centre and half width of the 95% interval; None where there is none: of fewer than two
    scored segments, or from fewer than two resamples."""
    from mmad_metric.stats import confidence

    return _centred(confidence(scores, n, seed.value)) if is_enough(n) else None


def _centred(found: Interval) -> tuple[float, float] | None:
    """SacreBLEU gives an interval as the resampled mean and half the distance of its ends."""
    return (found.mean, found.half_width) if found.known else None


def compare_systems(
    systems: Sequence[tuple[Cell, Scores]], test: PairedTest, seed: Seed
) -> list[Cell]:
    """The systems' cells with intervals and p-values; the first system is the baseline. As in
    sacreBLEU, only a bootstrap gives intervals: each of the mean that it stands beside, over the
    system's own scored segments. Compared are the segments that both systems have scores for."""
    from mmad_metric.stats import paired_tests

    middles = [interval(scores, test.trials, seed) if test.method == "bs" else None
               for _, scores in systems]  # fmt: skip
    theirs = systems[0][1]
    cells = [_with_interval(systems[0][0], middles[0])]
    for (cell, mine), middle in zip(systems[1:], middles[1:], strict=True):
        pairs = zip(map(row_mean, theirs), map(row_mean, mine), strict=True)
        if all(None in pair for pair in pairs):
            tested = replace(cell, more={"n_common": 0, "difference": None})
        else:
            [found] = paired_tests([theirs, mine], [(0, 1)], test.method, test.trials, seed.value)
            more = {"n_common": found.n_common, "difference": found.difference}
            tested = replace(cell, p_value=found.p_value, more=more)
        cells.append(_with_interval(tested, middle))
    return cells


def _with_interval(cell: Cell, middle: tuple[float, float] | None) -> Cell:
    return cell if middle is None else replace(cell, mean=middle[0], half=middle[1])
