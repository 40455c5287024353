"""Statistics of scores: intervals, paired tests and clusters; the only rooms that load numpy."""

from __future__ import annotations

from mmad_metric.stats.clusters import Standing, standings
from mmad_metric.stats.significance import (
    LEAST,
    Comparison,
    Method,
    PairTest,
    confidence,
    confidences,
    paired,
    paired_tests,
)
from mmad_metric.stats.table import Interval, Score

__all__ = [
    "LEAST",
    "Comparison",
    "Interval",
    "Method",
    "PairTest",
    "Score",
    "Standing",
    "confidence",
    "confidences",
    "paired",
    "paired_tests",
    "standings",
]
