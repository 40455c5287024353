"""Human MQM ratings of WMT23 in mt-metrics-eval's layout, for the gold experiments and tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmad_metric.files.score_files import read_segment_scores
from mmad_metric.metaeval.layout import read_eval_set
from mmad_metric.metaeval.ratings import read_ratings
from mmad_metric.mqm import MQMError, Side


@dataclass(frozen=True)
class GoldSegment:
    """A rated segment. items: the human errors in the reply shape; errors: the same with the
    human offsets; score: the published gold, or None where it has no score."""

    system: str
    index: int
    source: str
    translation: str
    items: tuple[dict[str, Any], ...]
    errors: tuple[MQMError, ...]
    score: float | None


def gold_scores(folder: Path, lp: str) -> dict[tuple[str, int], float]:
    """Published segment scores by (system, row); rows without one are left out."""
    found = read_segment_scores(str(folder / "human-scores" / f"{lp}.mqm.seg.score"))
    return {
        (system, row): score
        for system, scores in found.items()
        for row, score in enumerate(scores)
        if score is not None
    }


def read_gold(folder: Path, lp: str, ratings: str) -> Iterator[GoldSegment]:
    """The rated segments of one rating file, e.g. "en-de.mqm.merged.seg.rating"."""
    data = read_eval_set(str(folder), lp)
    sources, outputs = data.texts()
    found = read_ratings(str(folder / "human-scores" / ratings), (sources, outputs))
    for system, rows in found.items():
        scores = data.gold_segment.get(system)
        for row, errors in enumerate(rows):
            if errors is None:
                continue
            items = tuple(_item(error) for error in errors)
            score = None if scores is None else scores[row]
            yield GoldSegment(system, row, sources[row], outputs[system][row], items, errors, score)


def _item(error: MQMError) -> dict[str, Any]:
    assert "unknown_category" not in error.flags, error
    return {
        "error_span": "all" if error.category.is_non_translation else error.text,
        "category": str(error.category),
        "severity": error.severity.value,
        "is_source_error": error.side is Side.SOURCE,
    }
