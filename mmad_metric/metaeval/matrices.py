"""Scores as matrices, systems by items, under the conventions of the shared task.

An item is a segment of the test set that has a gold score for at least one system kept. Left
out are the systems that the shared task leaves out (`left_out`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mmad_metric.errors import InputError
from mmad_metric.files.score_files import Score, read_segment_scores, read_system_scores
from mmad_metric.metaeval.arrays import Floats, Ints, to_array
from mmad_metric.metaeval.layout import EvalSet
from mmad_metric.metaeval.metric_files import ScoreFiles
from mmad_metric.metaeval.references import OUTLIERS
from mmad_metric.metaeval.ties import PairOrder

MIN_SYSTEMS = 2


@dataclass(frozen=True, eq=False)
class Gold:
    """Human scores of one language pair, higher is better.

    segment: systems by items, NaN where nobody rated; system: one a system; items: the row of
    each item in the test set; documents: of each item, numbered from 0, None if unknown; left_out:
    systems that people rated and that are none here.
    """

    lp: str
    systems: tuple[str, ...]
    items: Ints
    segment: Floats
    system: Floats
    documents: Ints | None
    left_out: tuple[str, ...] = ()

    @cached_property
    def order(self) -> PairOrder:
        """How people order the pairs of systems: the same for every metric."""
        return PairOrder.of(self.segment)

    def only(self, systems: Sequence[int]) -> Gold:
        """The same with some of the systems, by position."""
        chosen = list(systems)
        return Gold(
            self.lp,
            tuple(self.systems[each] for each in chosen),
            self.items,
            self.segment[chosen],
            self.system[chosen],
            self.documents,
            self.left_out,
        )


@dataclass(frozen=True, eq=False)
class MetricScores:
    """A metric's scores for the systems and items of a `Gold`.

    segment: systems by items, NaN where unscored; system: one a system, as the metric's own
    system file gives it, else the mean over the segments.
    """

    name: str
    segment: Floats
    system: Floats

    @property
    def n_scored(self) -> int:
        """Cells with a score."""
        return int(np.count_nonzero(~np.isnan(self.segment)))

    def only(self, systems: Sequence[int]) -> MetricScores:
        """The same with some of the systems, by position."""
        chosen = list(systems)
        return MetricScores(self.name, self.segment[chosen], self.system[chosen])


def left_out(data: EvalSet) -> frozenset[str]:
    """The outlier systems of WMT23, and the standard reference, which metrics may have seen.

    Other references of the pair are scored as systems.
    """
    return frozenset(OUTLIERS if data.standard is None else (*OUTLIERS, data.standard))


def gold_matrix(data: EvalSet, excluded: Collection[str] | None = None) -> Gold:
    """excluded: names of systems to leave out; None: the shared task's (`left_out`).

    A system without any gold score of a segment is no system here. Where the gold system file has
    no score for one, or there is no such file, the mean over its rated segments is its score.
    Raises InputError where fewer than two are left.
    """
    excluded = left_out(data) if excluded is None else excluded
    rows = {
        name: to_array(data.gold_segment[name])
        for name in dict.fromkeys((*data.gold_system, *data.gold_segment))
        if name in data.gold_segment and name not in excluded
    }
    rows = {name: row for name, row in rows.items() if not np.isnan(row).all()}
    if len(rows) < MIN_SYSTEMS:
        raise InputError(
            f"{data.lp}: {len(rows)} systems with gold scores are left, two are needed "
            f"(left out: {', '.join(sorted(excluded)) or 'none'})"
        )
    matrix = np.stack(list(rows.values()))
    items = np.flatnonzero(~np.isnan(matrix).all(axis=0))
    segment = matrix[:, items]
    given = to_array([data.gold_system.get(name) for name in rows])
    system = np.where(np.isnan(given), np.nanmean(segment, axis=1), given)
    documents = _document_numbers(data, items)
    left = tuple(sorted(name for name in data.gold_segment if name in excluded))
    return Gold(data.lp, tuple(rows), items, segment, system, documents, left)


def metric_matrix(files: ScoreFiles, gold: Gold, n_segments: int) -> MetricScores:
    """A metric's score files beside the gold. Raises InputError for a wrong number of scores."""
    segments = read_segment_scores(files.segment) if files.segment else {}
    systems = read_system_scores(files.system) if files.system else {}
    for name in gold.systems:
        if name in segments and len(segments[name]) != n_segments:
            raise InputError(
                f"{files.segment}: {len(segments[name])} scores for {name!r}, "
                f"{n_segments} are expected"
            )
    known = segments.keys() | systems.keys()
    if not known & set(gold.systems):
        raise InputError(
            f"{files.segment or files.system}: none of the systems {', '.join(gold.systems)}"
        )
    return scores_matrix(files.metric, segments, systems, gold)


def scores_matrix(
    name: str,
    segments: Mapping[str, Sequence[Score]],
    systems: Mapping[str, Score],
    gold: Gold,
) -> MetricScores:
    """Scores by system as a matrix. segments: one score a segment of the test set.

    A system without a score of its own gets the mean over its scored segments, of all of the
    test set, rated by people or not, as its own system file would have it.
    """
    length = max((len(row) for row in segments.values()), default=int(gold.items.max()) + 1)
    missing = np.full(length, np.nan)
    whole = np.stack(
        [to_array(segments[each]) if each in segments else missing for each in gold.systems]
    )
    given = to_array([systems.get(each) for each in gold.systems])
    if np.isnan(given).any() and segments:
        given = np.where(np.isnan(given), _means(whole), given)
    return MetricScores(name, whole[:, gold.items], given)


def _means(whole: Floats) -> Floats:
    """Means over the scored segments; NaN for a system without any."""
    scored = ~np.isnan(whole)
    sums = np.where(scored, whole, 0).sum(axis=1)
    counts = scored.sum(axis=1)
    means: Floats = np.full(len(whole), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _document_numbers(data: EvalSet, items: Ints) -> Ints | None:
    if not data.documents:
        return None
    numbers: dict[tuple[str, str], int] = {}
    # A document is told by its domain and name; two domains may use one name.
    keys = [(data.domains[row], data.documents[row]) for row in items]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
