"""What a run adds up to: counts, means and usage of each system, never a made-up score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from mmad_metric.chat import Usage
from mmad_metric.mqm import MQMError
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import RatedRow, RowScore, continues, noise
from mmad_metric.scales import Scale
from mmad_metric.scoring import WeightScheme, count_errors
from mmad_metric.signature import Observed

ERROR_COUNTS = ("n_major", "n_minor", "n_non_translation")  # what is told of errors everywhere
# US dollars that a role's usage cost; None where the price of its model is not known.
Cost = Callable[[str, Usage], "Decimal | None"]


@dataclass
class SystemTotals:
    """Running totals of one system; memory grows with its distinct segments by a few bytes.

    n_segments, n_scored and reasons count rows, which may have several ratings; n_ratings,
    n_ratings_scored, errors and usage count ratings. row: the last row so far; row_scores: every
    row's score, or those of its repeats. cost: tells what a role's usage cost; without it the
    usage has no costs.
    """

    name: str
    scheme: WeightScheme | None
    n_segments: int = 0
    n_scored: int = 0
    n_not_sampled: int = 0
    n_ratings: int = 0
    n_ratings_scored: int = 0
    repeats: int = 1
    row: RatedRow | None = None
    row_scores: list[RowScore] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)  # the first detail of each reason
    errors: Counter[str] = field(default_factory=Counter)
    by_dimension: dict[str, Counter[str]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    levels: set[str] = field(default_factory=set)
    adapted: set[str] = field(default_factory=set)
    cost: Cost | None = None
    _sum: Decimal = Decimal(0)
    _penalties: dict[str, Decimal] = field(default_factory=dict)
    _seen: set[int] = field(default_factory=set)

    def add(self, rating: SegmentRating) -> None:
        """Count one more rating: of a new row, or the next repeat of the last one."""
        if self.row is not None and continues(self.row.segment, rating.segment):
            self._count_row(self.row, -1)
            self.row = RatedRow((*self.row.ratings, rating))
            self.row_scores.pop()
            self.repeats = max(self.repeats, len(self.row.ratings))
        else:
            self.row = RatedRow((rating,))
        self._count_row(self.row, 1)
        self.row_scores.append(self.row.scores)
        if rating.status is not Status.NOT_SAMPLED:
            self._add_rating(rating)

    def _count_row(self, row: RatedRow, times: int) -> None:
        """Count a row as it stands, or with -1 take it back."""
        self.n_segments += times
        score, reason = row.score, row.reason
        if row.status is Status.NOT_SAMPLED:
            self.n_not_sampled += times
        elif score is not None:
            self.n_scored += times
            self._sum += times * Decimal(repr(score))
        elif reason is not None:
            self.reasons[reason.value] += times
            if not self.reasons[reason.value]:
                del self.reasons[reason.value]

    def _add_rating(self, rating: SegmentRating) -> None:
        self.n_ratings += 1
        self._add_usage(rating)
        if rating.reason is not None and rating.detail:
            self.examples.setdefault(rating.reason.value, rating.detail)
        if rating.score is None:
            return
        self.n_ratings_scored += 1
        if self.scheme is not None:
            self.errors.update(count_errors(rating.errors))
            for error in rating.errors:
                self._add_error(error, self.scheme)

    def _add_error(self, error: MQMError, scheme: WeightScheme) -> None:
        dimension = error.category.dimension
        counts = self.by_dimension.setdefault(dimension, Counter())
        counts[f"n_{error.severity.value}"] += 1
        before = self._penalties.get(dimension, Decimal(0))
        self._penalties[dimension] = before + scheme.weight(error)

    def _add_usage(self, rating: SegmentRating) -> None:
        """A row that repeats an earlier pair was not paid for again."""
        segment = rating.segment
        pair = hash((segment.source, segment.translation, segment.repeat, segment.material))
        if pair not in self._seen:
            self._seen.add(pair)
            for role, usage in rating.usage.items():
                self.usage[role] = self.usage.get(role, Usage()) + usage
        self.models.update(rating.models)
        self.levels.update(rating.levels)
        self.adapted.update(rating.adapted)

    @property
    def score(self) -> float | None:
        """The mean over the scored segments, None when there are none."""
        return float(self._sum / self.n_scored) + 0.0 if self.n_scored else None

    @property
    def scale(self) -> Scale:
        """What the scores are."""
        return Scale.DIRECT if self.scheme is None else Scale.PENALTY

    @property
    def n_unscored(self) -> int:
        return sum(self.reasons.values())

    @property
    def n_rated(self) -> int:
        """Rows that were to be rated: all but those left out of the sample."""
        return self.n_segments - self.n_not_sampled

    @property
    def noise(self) -> float | None:
        """Standard deviation between the repeats of a segment, in points; None where segments
        were rated once."""
        return noise(self.row_scores)

    def repeated(self) -> dict[str, Any]:
        """What is told besides where segments were rated several times; empty elsewhere."""
        if self.repeats == 1:
            return {}
        return {
            "repeats": self.repeats,
            "n_ratings": self.n_ratings,
            "n_ratings_scored": self.n_ratings_scored,
            "noise_sd": self.noise,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as in results and in a run file's summary."""
        return {
            "system": self.name,
            "score": self.score,
            "n_segments": self.n_segments,
            "n_scored": self.n_scored,
            "n_unscored": self.n_unscored,
            "n_not_sampled": self.n_not_sampled,
            **self.repeated(),
            "reasons": dict(sorted(self.reasons.items())),
            **self.error_counts(),
            "usage": usage_dict(self.usage, self.cost),
        }

    def error_counts(self) -> dict[str, Any]:
        """Numbers of errors and what they weigh by dimension; on a scale without errors none of
        it, but the scale."""
        if not self.scale.has_errors:
            return {"scale": self.scale.value}
        return {
            **{name: self.errors[name] for name in ERROR_COUNTS},
            "by_dimension": self.dimensions(),
        }

    def dimensions(self) -> dict[str, dict[str, int | float]]:
        """Errors by severity and penalty points by dimension, e.g. accuracy."""
        return {
            name: {
                **{f"n_{each}": counts[f"n_{each}"] for each in ("major", "minor")},
                **{key: counts[key] for key in ("n_critical", "n_neutral") if counts[key]},
                "penalty": float(self._penalties[name]),
            }
            for name, counts in sorted(self.by_dimension.items())
        }


def usage_dict(usage: Mapping[str, Usage], cost: Cost | None = None) -> dict[str, Any]:
    """Totals, and the same by role, with `cost_usd` where costs are told (None: not known)."""
    total = sum(usage.values(), Usage()).to_dict()
    roles = {role: usage[role].to_dict() for role in sorted(usage)}
    if cost is None:
        return {**total, "by_role": roles}
    costs = {role: cost(role, usage[role]) for role in sorted(usage)}
    known = [each for each in costs.values() if each is not None]
    whole = sum(known, Decimal(0)) if len(known) == len(costs) else None
    priced = {
        role: {**counted, "cost_usd": _dollars(costs[role])} for role, counted in roles.items()
    }
    return {**total, "cost_usd": _dollars(whole), "by_role": priced}


def _dollars(cost: Decimal | None) -> float | None:
    return None if cost is None else float(round(cost, 6))


def observed(totals: list[SystemTotals]) -> Observed:
    """What the replies of all systems told about models and servers."""
    return Observed.of(
        set().union(*(each.models for each in totals)),
        set().union(*(each.levels for each in totals)),
        set().union(*(each.adapted for each in totals)),
    )
