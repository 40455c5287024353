"""Which final errors count, by how they came to be: one rule for exports and reports. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.method_space import MMAD
from mmad_metric.mqm import MQMError
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.scoring import WeightScheme


@dataclass(frozen=True, slots=True)
class ErrorFilter:
    """What an error's provenance must be for it to count; the conditions hold together.

    min_support: the least share, 0 to 1, of the agents asked whose last word keeps the error;
    disputed: True: only errors that pro and con opened with different views of, False: only
    the others; raised_by: only errors that one of these raised first, each an agent's name
    ("annotate.accuracy") or a role's ("annotate", "judge"), () for anyone. An error without
    provenance is kept whatever the conditions: nobody was asked about it, or the file is of an
    earlier version. Raises ConfigError for a share that is none.
    """

    min_support: float | None = None
    disputed: bool | None = None
    raised_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.min_support is not None and not 0 <= self.min_support <= 1:
            raise ConfigError(
                f"min_support is a share of the agents asked, from 0 to 1, not {self.min_support}"
            )

    @property
    def keeps_all(self) -> bool:
        """Whether no condition is set."""
        return self.min_support is None and self.disputed is None and not self.raised_by

    def check_method(self, method: str, where: str) -> None:
        """Refuse conditions that say nothing about the errors of a run. where: it stands.

        Raises InputError for a method other than M-MAD: one agent finds all of its errors, and
        with most of them a score is not the sum that is left.
        """
        if not self.keeps_all and not has_histories(method):
            raise InputError(
                f"{where}: with method {method} one agent says all, so there is nothing to choose "
                "errors by"
            )

    def keeps(self, error: MQMError) -> bool:
        """Whether the error counts."""
        how = error.provenance
        if how is None:
            return True
        # The quotient is rounded as a number in decimals is: 3 of 5 are at least 0.6.
        share = how.support / how.asked if how.asked else 1.0
        if self.min_support is not None and share < self.min_support:
            return False
        if self.disputed is not None and how.disputed is not self.disputed:
            return False
        return not self.raised_by or any(_is_named(each, self.raised_by) for each in how.raised_by)

    def kept(self, errors: Iterable[MQMError]) -> tuple[MQMError, ...]:
        """The errors that count, in their order."""
        return tuple(error for error in errors if self.keeps(error))

    def rating(self, rating: SegmentRating, scheme: WeightScheme) -> SegmentRating:
        """The rating with the errors that count, its score computed anew from them. Where none is
        dropped, and where there is no score, it is the same rating."""
        kept = self.kept(rating.errors)
        if rating.status is not Status.SCORED or len(kept) == len(rating.errors):
            return rating
        return replace(rating, errors=kept, score=scheme.segment_score(kept))


def has_histories(method: str) -> bool:
    """Whether errors of a method differ in who raised, disputed and kept them."""
    return method == MMAD


def _is_named(agent: str, names: Iterable[str]) -> bool:
    return any(name in (agent, agent.partition(".")[0]) for name in names)
