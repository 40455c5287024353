"""A text cut where its errors begin and end, for whoever marks them in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mmad_metric.mqm import MQMError

Numbered = tuple[int, MQMError]


@dataclass(frozen=True, slots=True)
class Stretch:
    """`text[start:end]`, which the same errors cover from its start to its end.

    ending: numbers of the errors that end with it. Where start and end are equal it stands for
    errors of no length at this place, which are then all that it covers and all that end here.
    """

    start: int
    end: int
    covering: tuple[Numbered, ...]
    ending: tuple[int, ...]

    @property
    def worst(self) -> MQMError | None:
        """The most severe error on it, the first of several; None where there is none."""
        errors = [error for _, error in self.covering]
        return max(errors, key=lambda error: error.severity.rank) if errors else None


def fits(error: MQMError, text: str) -> bool:
    """Whether the error's offsets show its words in this text."""
    return error.start is not None and text[error.start : error.end] == error.text


def stretches(text: str, errors: Iterable[Numbered]) -> Iterator[Stretch]:
    """The whole text from left to right, in as few stretches as the errors allow.

    Errors may overlap, nest and touch; one that is unplaced or does not fit the text covers
    nothing.
    """
    placed = [
        (number, error, error.start, error.end)
        for number, error in errors
        if error.start is not None and error.end is not None and fits(error, text)
    ]
    cuts = sorted({0, len(text), *(at for each in placed for at in each[2:])})
    for start, end in pairwise([cuts[0], *cuts]):
        # The first pair, and each cut after its stretch, is where an error of no length may be.
        if start < end:
            covering = [each for each in placed if each[2] <= start and end <= each[3]]
            ending = [each[0] for each in covering if each[3] == end]
            yield Stretch(start, end, tuple((n, e) for n, e, *_ in covering), tuple(ending))
        points = [each for each in placed if each[2] == each[3] == end]
        if points:
            numbers = tuple(number for number, *_ in points)
            yield Stretch(end, end, tuple((n, e) for n, e, *_ in points), numbers)
