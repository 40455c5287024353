"""The texts and errors of the segments that a comparison points at, fetched from the runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mmad_metric.comparison.systems import Compared
from mmad_metric.repeats import RatedRow, rated_rows


def fetch_rows(compared: Compared, indices: Collection[int]) -> Mapping[tuple[int, int], RatedRow]:
    """(place among the systems, index) -> the row, for the systems that come from runs."""
    places = {
        (system.source, system.stored_name): place for place, system in enumerate(compared.systems)
    }
    found: dict[tuple[int, int], RatedRow] = {}
    for source, run in enumerate(compared.runs if indices else ()):
        if run is None:
            continue
        wanted = (each for each in run.ratings() if each.segment.index in indices)
        for row in rated_rows(wanted):
            place = places.get((source, row.segment.system))
            if place is not None:
                found[place, row.segment.index] = row
    return found
