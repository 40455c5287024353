"""The human side of span agreement: everyone's ratings, and runs compared with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.metaeval.arrays import or_none, to_array
from mmad_metric.metaeval.distributions import earth_mover, kolmogorov_smirnov
from mmad_metric.metaeval.layout import EvalSet, rating_files
from mmad_metric.metaeval.ratings import RatedErrors, read_ratings
from mmad_metric.metaeval.runs import RunRatings
from mmad_metric.metaeval.span_agreement import (
    CLASSES,
    Agreement,
    Compared,
    Overlaps,
    character_overlaps,
    exact_overlaps,
    of_dimension,
    severity_agreement,
    severity_confusion,
)
from mmad_metric.mqm import Side

Ratings = Mapping[str, Mapping[str, Sequence[RatedErrors | None]]]  # by rater, by system


@dataclass(frozen=True, eq=False)
class HumanSpans:
    """ratings: by rater, then by system, one a segment; lengths: of the translations, in code
    points, by system."""

    ratings: Ratings
    lengths: Mapping[str, Sequence[int]]

    def of_segment(self, system: str, row: int) -> list[RatedErrors]:
        """What each rater who rated the segment marked."""
        found = []
        for by_system in self.ratings.values():
            rows = by_system.get(system, ())
            errors = rows[row] if row < len(rows) else None
            if errors is not None:
                found.append(errors)
        return found


def read_human_spans(data: EvalSet, gold: str = "mqm") -> HumanSpans:
    """Raises InputError where the folder has no rating files, sources or translations."""
    files = rating_files(data.folder, data.lp, gold)
    if not files:
        raise InputError(
            f"{readable(data.folder)}: no human-scores/{data.lp}.{gold}.*.seg.rating, so nothing "
            "to compare spans with"
        )
    texts = data.texts()
    lengths = {system: [len(text) for text in rows] for system, rows in texts[1].items()}
    return HumanSpans({rater: read_ratings(path, texts) for rater, path in files.items()}, lengths)


def compared_segments(run: RunRatings, human: HumanSpans, systems: Sequence[str]) -> list[Compared]:
    """Every scored segment of the run that people rated, once a rater and rating of the run."""
    found = []
    for system in systems:
        for row, rated in run.ratings.get(system, {}).items():
            raters = human.of_segment(system, row)
            found += [
                Compared(
                    human.lengths[system][row],
                    errors,
                    reading,
                    1 / (len(raters) * len(rated.readings)),
                )
                for errors in raters
                for reading in rated.readings
            ]
    return found


def span_report(
    run: RunRatings, human: HumanSpans, data: EvalSet, systems: Sequence[str]
) -> dict[str, Any]:
    """A run's spans beside people's, as plain values; see docs/meta-evaluation.md for the keys."""
    segments = compared_segments(run, human, systems)
    dimensions = sorted(
        {
            error.category.dimension
            for each in segments
            for error in (*each.human, *each.metric)
            if error.side is Side.TRANSLATION
        }
    )
    confusion = severity_confusion(segments)
    return {
        "metric": run.metric,
        "lp": run.lp,
        "n_compared": len(segments),
        "characters": _both_means(character_overlaps(segments, severity=False)),
        "characters_severity": _both_means(character_overlaps(segments, severity=True)),
        "exact": _both_means(exact_overlaps(segments, severity=False)),
        "exact_severity": _both_means(exact_overlaps(segments, severity=True)),
        "by_dimension": {
            name: _values(character_overlaps(of_dimension(segments, name), severity=False).micro())
            for name in dimensions
        },
        "severity_confusion": {
            human_class: dict(zip(CLASSES, map(float, row), strict=True))
            for human_class, row in zip(CLASSES, confusion, strict=True)
        },
        "severity_agreement": or_none(severity_agreement(confusion)),
        "score_distribution": _distribution(run, data, systems),
        "n_unplaced": sum(error.start is None for each in segments for error in each.metric),
    }


def _both_means(overlaps: Overlaps) -> dict[str, dict[str, float | None]]:
    return {"micro": _values(overlaps.micro()), "macro": _values(overlaps.macro())}


def _values(agreement: Agreement) -> dict[str, float | None]:
    return {name: or_none(getattr(agreement, name)) for name in ("precision", "recall", "f1")}


def _distribution(
    run: RunRatings, data: EvalSet, systems: Sequence[str]
) -> dict[str, float | None]:
    """Distances of the scores of the segments that both sides scored; None without any."""
    scores = run.scores(data.n_segments)
    kept = [system for system in systems if system in scores]
    if not kept:
        return {"earth_mover": None, "kolmogorov_smirnov": None}
    human, metric = (
        np.concatenate([to_array(side[system]) for system in kept])
        for side in (data.gold_segment, scores)
    )
    both = ~(np.isnan(human) | np.isnan(metric))
    return {
        "earth_mover": or_none(earth_mover(human[both], metric[both])),
        "kolmogorov_smirnov": or_none(kolmogorov_smirnov(human[both], metric[both])),
    }
