"""A system's rating of a row as the page shows it: its readings, one a repeat. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mmad_metric.mqm import MQMError, Side
from mmad_metric.rating import DimensionOutcome, SegmentRating, Status
from mmad_metric.repeats import RatedRow
from mmad_metric.report.debates import Round, rounds_of
from mmad_metric.report.survey import FilteredRow
from mmad_metric.report.text import Html, marked
from mmad_metric.stretches import fits


@dataclass(frozen=True, slots=True)
class ShownError:
    """An error under its number; placed: whether it is marked in its text."""

    number: int
    error: MQMError
    placed: bool

    @property
    def support(self) -> float | None:
        """Share of the agents asked that keep it; None where none was asked, or it is unknown."""
        how = self.error.provenance
        return how.support / how.asked if how is not None and how.asked else None


@dataclass(frozen=True, slots=True)
class Debated:
    """What a dimension found, and its rounds."""

    outcome: DimensionOutcome
    rounds: list[Round]


@dataclass(frozen=True, slots=True)
class Reading:
    """One rating. source: the source with its errors marked, None where the row shows it and
    nothing is marked in it; left_out: errors that do not count here."""

    rating: SegmentRating
    errors: tuple[ShownError, ...]
    source: Html | None
    translation: Html
    debates: tuple[Debated, ...]
    left_out: int

    @property
    def n_disputed(self) -> int:
        return sum(each.outcome.disputed for each in self.debates)

    @property
    def silent(self) -> list[str]:
        """Dimensions in which nobody had anything to say."""
        outcomes = [each.outcome for each in self.debates]
        return [
            each.dimension
            for each in outcomes
            if not (each.opening or each.disputed or each.outcome)
        ]

    @property
    def status(self) -> str:
        """scored, unscored or not_sampled; clean for a scored one that could have errors, and has
        none."""
        has_errors = self.rating.scale.has_errors
        is_clean = has_errors and self.rating.status is Status.SCORED and not self.errors
        return "clean" if is_clean else self.rating.status.value


@dataclass(frozen=True, slots=True)
class Card:
    """A system's readings of a row. place: of the system; given: its score where all errors
    count."""

    place: int
    row: RatedRow
    given: float | None
    readings: tuple[Reading, ...]

    @property
    def changed(self) -> bool:
        """Whether errors that do not count moved the score."""
        return self.row.score != self.given


def card_of(place: int, row: FilteredRow, *, alone: bool) -> Card:
    """alone: whether the row has no other reading, so that its source stands here."""
    readings = tuple(
        _reading(kept, len(given.errors) - len(kept.errors), alone=alone)
        for given, kept in zip(row.given.ratings, row.kept.ratings, strict=True)
    )
    return Card(place, row.kept, row.given.score, readings)


def _reading(rating: SegmentRating, left_out: int, *, alone: bool) -> Reading:
    segment = rating.segment
    errors = tuple(_shown_errors(rating))
    sides = {
        side: [(each.number, each.error) for each in errors if each.error.side is side]
        for side in Side
    }
    has_source_errors = any(each.placed and each.error.side is Side.SOURCE for each in errors)
    return Reading(
        rating,
        errors,
        marked(segment.source, sides[Side.SOURCE]) if alone or has_source_errors else None,
        marked(segment.translation, sides[Side.TRANSLATION]),
        tuple(Debated(outcome, rounds_of(outcome)) for outcome in rating.outcomes),
        left_out,
    )


def _shown_errors(rating: SegmentRating) -> Iterator[ShownError]:
    texts = {Side.SOURCE: rating.segment.source, Side.TRANSLATION: rating.segment.translation}
    for number, error in enumerate(rating.errors, 1):
        yield ShownError(number, error, fits(error, texts[error.side]))
