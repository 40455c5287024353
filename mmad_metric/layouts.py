"""How sacreBLEU lays out one score, as a line of text and as a JSON object, for scores of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mmad_metric.results import SystemTotals
from mmad_metric.signature import METRIC, format_signature

NAME = METRIC
DEFAULT_WIDTH = 2  # decimals


def number(score: float | None, width: int) -> str:
    """A score for people; "None" where there is none, as mt-metrics-eval writes it."""
    return "None" if score is None else f"{score + 0.0:.{width}f}"


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A system score as it is shown.

    width: decimals; verbose: what follows the score; mean, half: centre and half width of the
    95% interval, in points, None where none was asked for or nothing is scored.
    """

    name: str
    score: float | None
    width: int
    verbose: str = ""
    mean: float | None = None
    half: float | None = None

    @property
    def confidence(self) -> str:
        """`μ = mean ± half width`, "" without an interval."""
        if self.mean is None or self.half is None:
            return ""
        return f"μ = {number(self.mean, self.width)} ± {number(self.half, self.width)}"

    def bare(self) -> str:
        """The score, and its interval if there is one, whatever its sign."""
        score = number(self.score, self.width)
        return f"{score} ({self.confidence})" if self.confidence else score

    def line(self, signature: str = "") -> str:
        """`NAME|signature = score (μ = mean ± half) verbose`."""
        name = f"{self.name}|{signature}" if signature else self.name
        return f"{name} = {self.bare()} {self.verbose}".rstrip()

    def to_dict(
        self, signature: Mapping[str, str], details: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """SacreBLEU's keys in its order; details come before the keys of the signature."""
        result: dict[str, Any] = {
            "name": self.name,
            "score": self._rounded(self.score),
            "signature": format_signature(signature),
        }
        if self.confidence:
            result["confidence_mean"] = self._rounded(self.mean)
            result["confidence_var"] = self._rounded(self.half)
            result["confidence"] = self.confidence
        if self.verbose:
            result["verbose_score"] = self.verbose
        return {**result, **(details or {}), **signature}

    def _rounded(self, value: float | None) -> float | None:
        return None if value is None else float(number(value, self.width))


def coverage(totals: SystemTotals) -> str:
    """How many rows a mean stands on, e.g. "57/60 scored (3 unreadable_reply)"."""
    text = f"{totals.n_scored}/{totals.n_rated} scored"
    if totals.reasons:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(totals.reasons.items()))
        text += f" ({listed})"
    if totals.n_not_sampled:
        text += f", {totals.n_not_sampled} not sampled"
    return text


def verbose_score(totals: SystemTotals) -> str:
    """Coverage and error counts in one line; what scores are, where they have no errors."""
    if not totals.scale.has_errors:
        return f"{coverage(totals)}{_repeats(totals)}, direct scores {totals.scale.range}"
    errors = totals.errors
    return (
        f"{coverage(totals)}{_repeats(totals)}, {errors['n_major']} major, "
        f"{errors['n_minor']} minor, {errors['n_non_translation']} non-translation"
    )


def _repeats(totals: SystemTotals) -> str:
    """How often segments were rated, and how far the judge agrees with itself."""
    if totals.repeats == 1:
        return ""
    noise = "" if totals.noise is None else f", noise sd {totals.noise:.2f}"
    ratings = f"{totals.n_ratings_scored}/{totals.n_ratings} ratings"
    counted = "; in all repeats" if totals.scale.has_errors else ""
    return f", {totals.repeats} repeats ({ratings} scored{noise}){counted}"


def shown_score(
    totals: SystemTotals, width: int, interval: tuple[float, float] | None = None
) -> ShownScore:
    """MMAD's score of one system. interval: centre and half width, if one was asked for."""
    mean, half = interval or (None, None)
    return ShownScore(NAME, totals.score, width, verbose_score(totals), mean, half)
