"""Over what a result speaks: systems and segments with gold, and how much of them was scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmad_metric.metaeval.matrices import Gold
from mmad_metric.metaeval.meta_score import MetricResult


@dataclass(frozen=True, slots=True)
class Coverage:
    """The human side of one language pair. systems: kept; rated: segments of the test set with
    gold for any of these; segments: of the test set; cells: translations with gold; left_out:
    systems with gold that are none here."""

    lp: str
    systems: int
    rated: int
    segments: int
    cells: int
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, gold: Gold, n_segments: int) -> Coverage:
        """n_segments: of the test set."""
        cells = int(np.count_nonzero(~np.isnan(gold.segment)))
        n_systems, n_rated = len(gold.systems), gold.items.size
        return cls(gold.lp, n_systems, n_rated, n_segments, cells, gold.left_out)

    def line(self) -> str:
        """For people."""
        without = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return (
            f"{self.lp}: {self.systems} systems, {self.rated} of {self.segments} segments with gold"
            f"{without}"
        )

    def values(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "n_systems": self.systems,
            "n_rated": self.rated,
            "n_segments": self.segments,
            "n_cells": self.cells,
            "left_out": list(self.left_out),
        }


def partial_notes(results: Sequence[MetricResult]) -> list[str]:
    """What a reader must know: metrics that scored only a part."""
    return [
        f"{result.metric}, {lp}: {pair.n_scored} of {pair.n_cells} rated translations have a "
        "score; its pairs without one are not compared"
        for result in results
        for lp, pair in result.by_lp.items()
        if pair.n_scored < pair.n_cells
    ]
