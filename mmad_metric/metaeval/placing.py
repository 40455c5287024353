"""Where rows of other files stand in a test set: told by their texts, never guessed.

A byte-order mark at the start of a text counts in the offsets of people, and is no part of what
others hold: texts that differ in nothing else are equal here, their offsets a character apart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mmad_metric.mqm import MQMError, Side

BOM = "\ufeff"


def plain(text: str) -> str:
    """The text without a byte-order mark at its start."""
    return text.removeprefix(BOM)


def shift(given: str, wanted: str, *, edges: bool = False) -> int | None:
    """What to add to offsets into the given text for offsets into the wanted one; None where the
    texts are not the same. edges: white space around them makes no difference either."""
    if given == wanted:
        return 0
    bare = [plain(text) for text in (given, wanted)]
    if edges:
        bare = [text.lstrip() for text in bare]
    if (bare[0].rstrip() != bare[1].rstrip()) if edges else (bare[0] != bare[1]):
        return None
    return (len(wanted) - len(bare[1])) - (len(given) - len(bare[0]))


def moved(error: MQMError, source: int, translation: int) -> MQMError:
    """The error with its offsets moved by that many characters of the side that it lies in."""
    by = source if error.side is Side.SOURCE else translation
    if not by or error.start is None or error.end is None:
        return error
    # A span that took in the mark, which the other text does not have, begins after it.
    start, end = max(error.start + by, 0), max(error.end + by, 0)
    return replace(error, start=start, end=end, text=error.text[len(error.text) - (end - start) :])


@dataclass(frozen=True, slots=True)
class RowTexts:
    """What a row says of itself. index: its number in its own file, from 0; doc: its own."""

    index: int
    source: str
    translation: str
    doc: str | None = None


class SegmentFinder:
    """Finds rows among the segments of a test set.

    sources: of each segment; documents: likewise, () if unknown.
    """

    def __init__(self, sources: Sequence[str], documents: Sequence[str] = ()) -> None:
        self.sources = sources
        self._documents = documents
        self._rows: dict[str, list[int]] = {}
        for row, source in enumerate(sources):
            self._rows.setdefault(plain(source), []).append(row)

    def candidates(self, row: RowTexts, output: Sequence[str] | None) -> list[int]:
        """Segments that have the row's source and, where the system's output is known, its
        translation; of several, those of the row's document, if it names one that is there."""
        found = self._rows.get(plain(row.source), [])
        if output is not None:
            found = [each for each in found if shift(row.translation, output[each]) is not None]
        if row.doc is not None and self._documents and len(found) > 1:
            here = [each for each in found if self._documents[each] == row.doc]
            found = here or found
        return found

    def with_source(self, source: str) -> list[int]:
        """Segments with the source, whatever their translation."""
        return self._rows.get(plain(source), [])


def settle(candidates: Mapping[int, Sequence[int]]) -> dict[int, int | None]:
    """The segment of each row, by the row's index; None where several remain possible.

    candidates: of each row, ascending, never empty. Rows that all may stand at their own index do
    so. Else a segment is known where no other is left: rows stand in the order of the test set if
    they can, and no two are one segment.
    """
    rows = sorted(candidates)
    if all(row in candidates[row] for row in rows):
        return {row: row for row in rows}
    ordered = _ordered([candidates[row] for row in rows])
    left = dict(zip(rows, ordered or (list(candidates[row]) for row in rows), strict=True))
    _take_out_the_taken(left)
    return {row: each[0] if len(each) == 1 else None for row, each in left.items()}


def _ordered(candidates: Sequence[Sequence[int]]) -> list[list[int]] | None:
    """The candidates that some strictly ascending choice of one a row takes; None without any."""
    first = _earliest(candidates)
    # The latest choice is the earliest one of the numbers with their signs turned, from the end.
    turned = [[-each for each in reversed(row)] for row in reversed(candidates)]
    last = _earliest(turned)
    if first is None or last is None:
        return None
    ends = [-each for each in reversed(last)]
    return [
        list(row[bisect_left(row, low) : bisect_right(row, high)])
        for row, low, high in zip(candidates, first, ends, strict=True)
    ]


def _earliest(candidates: Sequence[Sequence[int]]) -> list[int] | None:
    found: list[int] = []
    for row in candidates:
        place = bisect_right(row, found[-1]) if found else 0
        if place == len(row):
            return None
        found.append(row[place])
    return found


def _take_out_the_taken(left: dict[int, list[int]]) -> None:
    """Takes a segment that is a row's only one from all others, as long as that changes any."""
    waiting = [row for row, each in left.items() if len(each) == 1]
    holders: dict[int, list[int]] = {}
    for row, each in left.items():
        for segment in each:
            holders.setdefault(segment, []).append(row)
    while waiting:
        row = waiting.pop()
        segment = left[row][0]
        for other in holders[segment]:
            if other != row and len(left[other]) > 1 and segment in left[other]:
                left[other].remove(segment)
                if len(left[other]) == 1:
                    waiting.append(other)
