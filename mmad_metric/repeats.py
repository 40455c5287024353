"""Segments rated several times over: their rows, the judge's noise, how firm a ranking is."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TypeAlias

from mmad_metric.config import MMADConfig
from mmad_metric.errors import Reason
from mmad_metric.mqm import MQMError
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.scoring import mean

# A segment's score or, where it was rated several times, its repeats' scores.
RowScore: TypeAlias = "float | tuple[float | None, ...] | None"


def repeated(segment: Segment, times: int) -> Iterator[Segment]:
    """The segment as it is to be rated: once for each repeat, numbered from 1; as it is where
    there is just one."""
    if times == 1:
        yield segment
        return
    for number in range(1, times + 1):
        yield replace(segment, repeat=number)


def determinism_warning(config: MMADConfig) -> str | None:
    """Why the repeats of a run may say little about the judge, None where nothing speaks so."""
    if config.repeats == 1:
        return None
    if config.temperature == 0:
        return (
            "repeats at temperature 0 measure only how far the server is from deterministic; "
            "set a temperature to see the judge's own noise"
        )
    if config.extra_body is not None and "seed" in json.loads(config.extra_body):
        return "repeats with a fixed seed in extra_body may all get the same replies"
    return None


@dataclass(frozen=True, slots=True)
class RatedRow:
    """A row of a system with all its ratings, at least one, in the order of their repeats."""

    ratings: tuple[SegmentRating, ...]

    @property
    def segment(self) -> Segment:
        return self.ratings[0].segment

    @property
    def is_repeated(self) -> bool:
        return self.segment.repeat is not None

    @property
    def known(self) -> list[float]:
        """The scores of the scored ratings."""
        return [rating.score for rating in self.ratings if rating.score is not None]

    @property
    def score(self) -> float | None:
        """The mean over the scored ratings; None when there are none."""
        return mean(self.known) if len(self.ratings) > 1 else self.ratings[0].score

    @property
    def scores(self) -> RowScore:
        """The score, or those of the repeats; what the statistics take."""
        if not self.is_repeated:
            return self.ratings[0].score
        return tuple(rating.score for rating in self.ratings)

    @property
    def deviation(self) -> float | None:
        """Standard deviation between the repeats, in points; None for fewer than two scores."""
        return statistics.stdev(self.known) if len(self.known) > 1 else None

    @property
    def status(self) -> Status:
        """A row is scored when one of its ratings is."""
        return Status.SCORED if self.known else self.ratings[0].status

    @property
    def reason(self) -> Reason | None:
        return None if self.known else self.ratings[0].reason

    @property
    def errors(self) -> tuple[MQMError, ...]:
        """The errors of all ratings."""
        return tuple(error for rating in self.ratings for error in rating.errors)

    def as_rating(self) -> SegmentRating:
        """The row as one rating: mean score, all errors. For printing: the errors of several
        repeats do not add up to the mean."""
        if not self.is_repeated:
            return self.ratings[0]
        first = self.ratings[0]
        return SegmentRating(
            replace(first.segment, repeat=None),
            self.status,
            score=self.score,
            errors=self.errors,
            reason=self.reason,
            detail="" if self.known else first.detail,
            scale=first.scale,
        )


def rated_rows(ratings: Iterable[SegmentRating]) -> Iterator[RatedRow]:
    """Ratings in the order of a run, put together by row."""
    row: list[SegmentRating] = []
    for rating in ratings:
        if row and not continues(row[-1].segment, rating.segment):
            yield RatedRow(tuple(row))
            row = []
        row.append(rating)
    if row:
        yield RatedRow(tuple(row))


def continues(last: Segment, segment: Segment) -> bool:
    """Whether a segment is a further repeat of the last one's row."""
    both = last.repeat is not None and segment.repeat is not None
    same = (last.system, last.index) == (segment.system, segment.index)
    return both and same and last.repeat != segment.repeat


def row_mean(row: RowScore) -> float | None:
    """A row's score: the mean over the repeats that have one; None where none has."""
    if isinstance(row, tuple):
        return mean([score for score in row if score is not None])
    return row


def noise(rows: Iterable[RowScore]) -> float | None:
    """The judge's noise in points: the root of the mean variance between the repeats of a
    segment, over the segments with at least two scores. None when there are none."""
    variances = []
    for row in rows:
        if isinstance(row, tuple):
            known = [score for score in row if score is not None]
            if len(known) > 1:
                variances.append(statistics.variance(known))
    return statistics.fmean(variances) ** 0.5 if variances else None


@dataclass(frozen=True, slots=True)
class Stability:
    """How firm a ranking is from repeat to repeat.

    repeats: those in which every system has a score; same_ranking: how many of them rank all
    systems as their mean does; pairs_kept: share, 0 to 1, of all pairs of systems in all
    repeats that stand as in the mean.
    """

    repeats: int
    same_ranking: int
    pairs_kept: float

    def to_dict(self) -> dict[str, int | float]:
        return asdict(self)


def ranking_stability(systems: Sequence[Sequence[RowScore]]) -> Stability | None:
    """From the rows of two or more systems, each repeat on the segments that all of them have a
    score for in it. None where there are fewer systems or no repeats."""
    width = max((len(row) for rows in systems for row in rows if isinstance(row, tuple)), default=0)
    by_repeat = [means for number in range(width) if (means := _means(systems, number))]
    if len(systems) < 2 or not by_repeat:  # noqa: PLR2004 - a pair
        return None
    overall = [statistics.fmean(column) for column in zip(*by_repeat, strict=True)]
    kept = [
        [
            _sign(means[a] - means[b]) == _sign(overall[a] - overall[b])
            for a, b in combinations(range(len(systems)), 2)
        ]
        for means in by_repeat
    ]
    return Stability(
        len(by_repeat),
        sum(all(row) for row in kept),
        statistics.fmean(value for row in kept for value in row),
    )


def _means(systems: Sequence[Sequence[RowScore]], number: int) -> list[float]:
    """Each system's mean in one repeat; empty where no segment has all scores."""
    common = [
        scores
        for rows in zip(*systems, strict=True)
        if None not in (scores := [_one(row, number) for row in rows])
    ]
    return [statistics.fmean(column) for column in zip(*common, strict=True)]


def _one(row: RowScore, number: int) -> float | None:
    if isinstance(row, tuple):
        return row[number] if number < len(row) else None
    return row


def _sign(number: float) -> int:
    """-1, 0 or 1; means of tenths differ in their last digits where they are equal."""
    return 0 if abs(number) < 1e-9 else (1 if number > 0 else -1)  # noqa: PLR2004 - rounding
