"""Do two sets of error spans agree: by character, by exact span, in their severities.

Compared are placed errors in the translation; neutral ones and those of the source mark nothing
here. A character's severity is that of the worst error on it, critical counting as major.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mmad_metric.metaeval.arrays import Floats, Ints
from mmad_metric.mqm import MQMError, Severity, Side

CLASSES = ("none", "minor", "major")
WRONG_SEVERITY_CREDIT = 0.5  # WMT's quality-estimation task: right place, wrong severity

Errors = Sequence[MQMError]


@dataclass(frozen=True, slots=True)
class Compared:
    """One segment: its translation's length in code points, the human errors, the metric's.

    weight: 1 / number of raters where several rated the segment, each compared by itself.
    """

    length: int
    human: Errors
    metric: Errors
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """precision: of what the metric marks; recall: of what people marked; f1: 2PR/(P+R)."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Per segment, in characters or spans: credit for what both marked, what people marked, what
    the metric marked. All agreement scores are computed from these."""

    credit: Floats
    human: Floats
    metric: Floats
    weights: Floats

    def micro(self, samples: Ints | Floats | None = None) -> Agreement:
        """Over all characters or spans of the corpus together; nan without any mark to judge by."""
        weights = self.weights if samples is None else self.weights * samples
        return _agreement(
            *(float(weights @ each) for each in (self.credit, self.human, self.metric))
        )

    def macro(self) -> Agreement:
        """The mean over the segments. A segment that neither marks agrees fully; one that only
        one side marks has an F1 of 0, and no precision, or recall, of its own."""
        per_segment = [
            _agreement(*row) if row[1] or row[2] else Agreement(1.0, 1.0, 1.0)
            for row in zip(self.credit, self.human, self.metric, strict=True)
        ]
        columns = [
            np.array([getattr(each, name) for each in per_segment])
            for name in ("precision", "recall", "f1")
        ]
        return Agreement(*(_mean(column, self.weights) for column in columns))

    def f1_under(self, samples: Ints) -> Floats:
        """Micro F1 of many samples. samples: samples by segments, how often each was drawn."""
        credit, human, metric = (
            samples @ (self.weights * each) for each in (self.credit, self.human, self.metric)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = 2 * credit / (human + metric)
        return found


def character_overlaps(segments: Iterable[Compared], *, severity: bool) -> Overlaps:
    """severity: a character marked by both with another severity earns half, else full credit."""
    rows, weights = [], []
    for each in segments:
        human, metric = (severities(side, each.length) for side in (each.human, each.metric))
        both = (human > 0) & (metric > 0)
        credit = float(both.sum())
        if severity:
            credit -= (1 - WRONG_SEVERITY_CREDIT) * float((both & (human != metric)).sum())
        rows.append((credit, float((human > 0).sum()), float((metric > 0).sum())))
        weights.append(each.weight)
    return _overlaps(rows, weights)


def exact_overlaps(segments: Iterable[Compared], *, severity: bool) -> Overlaps:
    """Spans that are equal in start and end (and severity); equal ones are matched one to one."""
    rows, weights = [], []
    for each in segments:
        human, metric = (
            Counter(_span(error, severity=severity) for error in _marking(side))
            for side in (each.human, each.metric)
        )
        rows.append(((human & metric).total(), human.total(), metric.total()))
        weights.append(each.weight)
    return _overlaps(rows, weights)


def of_dimension(segments: Iterable[Compared], dimension: str) -> list[Compared]:
    """The same segments with the errors of one dimension alone."""

    def kept(errors: Errors) -> list[MQMError]:
        return [error for error in errors if error.category.dimension == dimension]

    return [
        Compared(each.length, kept(each.human), kept(each.metric), each.weight) for each in segments
    ]


def severity_confusion(segments: Iterable[Compared]) -> Floats:
    """Characters by human class (rows) and metric class (columns), in the order of `CLASSES`."""
    table = np.zeros((3, 3))
    for each in segments:
        human, metric = (severities(side, each.length) for side in (each.human, each.metric))
        table += each.weight * np.bincount(3 * human + metric, minlength=9).reshape(3, 3)
    return table


def severity_agreement(confusion: Floats) -> float:
    """Of the characters that both marked, the share with the same severity; NaN without any."""
    both = confusion[1:, 1:]
    return float(np.trace(both) / both.sum()) if both.sum() else np.nan


def severities(errors: Errors, length: int) -> Ints:
    """Class of each character of a translation: 0 none, 1 minor, 2 major or critical."""
    marked = np.zeros(length, dtype=np.int64)
    for error in _marking(errors):
        here = marked[error.start : error.end]
        np.maximum(here, 2 if error.severity.is_severe else 1, out=here)
    return marked


def _marking(errors: Errors) -> list[MQMError]:
    return [
        error
        for error in errors
        if error.side is Side.TRANSLATION
        and error.start is not None
        and error.severity is not Severity.NEUTRAL
    ]


def _span(error: MQMError, *, severity: bool) -> tuple[int | None, int | None, bool | None]:
    return error.start, error.end, error.severity.is_severe if severity else None


def _overlaps(rows: Sequence[tuple[float, float, float]], weights: Sequence[float]) -> Overlaps:
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    credit, human, metric = table.T
    return Overlaps(credit, human, metric, np.array(weights, dtype=np.float64))


def _agreement(credit: float, human: float, metric: float) -> Agreement:
    return Agreement(
        credit / metric if metric else np.nan,
        credit / human if human else np.nan,
        2 * credit / (human + metric) if human + metric else np.nan,
    )


def _mean(values: Floats, weights: Floats) -> float:
    defined = ~np.isnan(values)
    total = weights[defined].sum()
    return float(weights[defined] @ values[defined] / total) if total else np.nan
