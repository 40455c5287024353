"""From what a baseline found to its score. Pure arithmetic.

All scores here are minus a penalty: 0 is perfect, lower is worse.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmad_metric.errors import ConfigError
from mmad_metric.method_space import EAPROMPT
from mmad_metric.mqm import NON_TRANSLATION, Annotation, MQMError, Severity
from mmad_metric.rating import ErrorCounts
from mmad_metric.scoring import WeightScheme

# Kocmi & Federmann (2023): more errors than this do not make a segment worse.
MOST_COUNTED = 5


def heaviest_score(errors: Iterable[MQMError], scheme: WeightScheme) -> float:
    """GEMBA-MQM's: the five errors that weigh most, whatever their order; then the scheme's cap.

    Under the scheme `gemba` these are the most severe: critical, then major, then minor.
    """
    heaviest = sorted(errors, key=scheme.weight, reverse=True)[:MOST_COUNTED]
    return scheme.segment_score(heaviest)


def counts_score(counts: ErrorCounts, scheme: WeightScheme) -> float:
    """EAPrompt's: numbers of errors times the weights of their severities; then the cap."""
    penalty = counts.major * scheme.major + counts.minor * scheme.minor
    if scheme.cap is not None:
        penalty = min(penalty, scheme.cap)
    return -float(penalty) if penalty else 0.0


def listed_counts(listed: Iterable[Annotation]) -> ErrorCounts:
    """How many of the listed errors are major (or worse), and how many are minor."""
    severities = [each.severity for each in listed]
    return ErrorCounts(
        sum(severity.is_severe for severity in severities), severities.count(Severity.MINOR)
    )


def check_scheme(method: str, scheme: WeightScheme) -> None:
    """Refuse rules that the method cannot follow. Raises ConfigError.

    Counts tell severities and nothing else. A rule that gives non-translation the weight of a
    major error changes nothing: as one it is listed and counted.
    """
    if method != EAPROMPT:
        return
    for rule in scheme.rules:
        if rule.label != NON_TRANSLATION or rule.weight != scheme.major:
            raise ConfigError(
                f"weights {scheme.name!r}: method {method} scores the numbers of major and minor "
                f"errors, whose categories are not counted: the rule for {rule.label!r} cannot be "
                "followed"
            )
