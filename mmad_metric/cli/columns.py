"""What several systems got from several metrics, as cells: values before any layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """One system's score by one metric; None where there is none.

    mean, half: centre and half width of the 95% interval; p_value: against the baseline;
    beside: what stands beside the score in a table; more: what the JSON of a paired test says
    besides.
    """

    score: float | None
    mean: float | None = None
    half: float | None = None
    p_value: float | None = None
    beside: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As sacreBLEU writes the result of a paired test: unrounded."""
        return {
            "score": self.score,
            "p_value": self.p_value,
            "mean": self.mean,
            "ci": self.half,
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class Column:
    """A metric's cells, in the order of the systems. width: decimals; beside: further columns
    of a table, each with a text a system."""

    name: str
    cells: tuple[Cell, ...]
    signature: str
    width: int
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
