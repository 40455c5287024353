"""The final judge's merging rule as code: one span keeps one error, repeats count once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mmad_metric.mqm import TYPOLOGY, MQMError

# Between equally severe errors the dimension that the typology names first wins.
_DIMENSIONS = tuple(TYPOLOGY)


def merge(
    errors: Sequence[MQMError], dimensions: Sequence[str] = _DIMENSIONS
) -> tuple[MQMError, ...]:
    """Keep one error a span, in the order given.

    One span is the same side and offsets. Its most severe error stays; ties go to the earlier
    of `dimensions` (default: the typology's), then to the earlier error. Overlapping and nested
    spans are different spans. Unplaced errors have no span: only their exact repeats (words,
    category, severity, side) go. Any non-translation excludes all other errors and is kept once.
    """
    whole = [error for error in errors if error.category.is_non_translation]
    if whole:
        return (min(whole, key=lambda error: _precedence(error, dimensions)),)
    kept: dict[Hashable, int] = {}
    for index, error in enumerate(errors):
        best = kept.setdefault(_place_of(error), index)
        if _precedence(error, dimensions) < _precedence(errors[best], dimensions):
            kept[_place_of(error)] = index
    return tuple(errors[index] for index in sorted(kept.values()))


def _place_of(error: MQMError) -> Hashable:
    if error.start is None:
        return error.text, error.category, error.severity, error.side
    return error.side, error.start, error.end


def _precedence(error: MQMError, dimensions: Sequence[str]) -> tuple[int, int]:
    """Smaller wins: severity first, then the dimension."""
    dimension = error.category.dimension
    rank = dimensions.index(dimension) if dimension in dimensions else len(dimensions)
    return -error.severity.rank, rank
