"""What a segment's score is: which numbers it may be, and which end of them is the good one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import Enum

from mmad_metric.errors import InputError


class Scale(str, Enum):
    """A scale by its text in signatures. System scores are means on the same scale.

    PENALTY: minus a sum of error weights; 0 is perfect, lower is worse, without a lower bound.
    DIRECT: a direct assessment; 0 is the worst, 100 perfect. No errors stand behind it.
    """

    PENALTY = "mean<=0,higher-better"
    DIRECT = "mean0-100,higher-better"

    @property
    def has_errors(self) -> bool:
        """Whether scores are made of errors, so that a lack of them means something."""
        return self is Scale.PENALTY

    @property
    def bounds(self) -> str:
        """For a column of a table: `<=0`, `0-100`."""
        return self.value.removeprefix("mean").partition(",")[0]

    @property
    def range(self) -> str:
        """For messages, after "number": which numbers scores are."""
        return "of at most 0" if self is Scale.PENALTY else "from 0 to 100"

    @property
    def reading(self) -> str:
        """For people: what a score says."""
        return (
            "0 is perfect, lower is worse" if self is Scale.PENALTY else "0 to 100, 100 is perfect"
        )

    def holds(self, score: float) -> bool:
        """Whether a number can be a score on this scale."""
        if self is Scale.PENALTY:
            return math.isfinite(score) and score <= 0
        return 0 <= score <= 100  # noqa: PLR2004 - the ends of the scale


def refuse_other_scales(runs: Iterable[tuple[str, Scale]]) -> None:
    """Raises InputError for runs, each with its file, of which some are on another scale than the
    first: no number of one says anything beside a number of the other."""
    first: tuple[str, Scale] | None = None
    for file, scale in runs:
        first = first or (file, scale)
        if scale is not first[1]:
            raise InputError(
                f"{first[0]} and {file}: scores are numbers {first[1].range} in one and "
                f"{scale.range} in the other; such runs meet in `mmad meta-eval` alone"
            )
