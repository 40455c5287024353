"""One look through the runs: each system's totals, and which rows the report will show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.inputs import sample_rows
from mmad_metric.files.lines import readable
from mmad_metric.filtering import ErrorFilter
from mmad_metric.rating import Status
from mmad_metric.repeats import RatedRow
from mmad_metric.report.runs import ReportRun, ReportSystem, systems_of
from mmad_metric.results import SystemTotals

# A thousand ratings with their debates are some five megabytes, which a browser opens and filters
# at once; 20,000 take it half a minute (docs/benchmarks.md).
MOST_RATINGS = 1000

# A row of the inputs: its index and its source. Runs that differ in one of them do not meet.
RowKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the runs is shown.

    systems: by label or stored name, () for all; errors: which errors count; first, worst,
    sample: so many rows, the first, those with the lowest score of any system, or drawn with
    `seed`; every: all rows. Without any of these the first rows up to `MOST_RATINGS` ratings.
    """

    systems: tuple[str, ...] = ()
    errors: ErrorFilter = ErrorFilter()  # noqa: RUF009 - a frozen value
    first: int | None = None
    worst: int | None = None
    sample: int | None = None
    seed: int = 0
    every: bool = False

    def __post_init__(self) -> None:
        for name in ("first", "worst", "sample"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"--{name}: {value} is not a whole number of at least 1")


@dataclass(frozen=True, slots=True)
class RatedBy:
    """That a row has a rating: of which system, by its place; the score; in how many repeats."""

    place: int
    score: float | None
    repeats: int


@dataclass
class Survey:
    """What the runs hold. systems and totals go together; rows: the ratings of every row that was
    to be rated, in the order of the runs; dropped: errors that the choice leaves out of account.
    """

    runs: Sequence[ReportRun]
    systems: Sequence[ReportSystem]
    totals: Sequence[SystemTotals]
    rows: dict[RowKey, list[RatedBy]] = field(default_factory=dict)
    dropped: int = 0

    @property
    def n_ratings(self) -> int:
        """A row of two systems with three repeats each has six."""
        return sum(map(_readings, self.rows.values()))


def survey(runs: Sequence[ReportRun], choice: Choice) -> Survey:
    """Reads the runs once, keeping no text but the sources. Raises InputError naming file and
    line for what is no segment's line, and for errors to choose from where a run's method leaves
    no choice; ConfigError for systems that are not there."""
    for run in runs:
        choice.errors.check_method(run.method, readable(run.file.path))
    systems = _chosen(systems_of(runs), choice.systems)
    totals = [SystemTotals(each.label, each.run.scheme) for each in systems]
    found = Survey(runs, systems, totals)
    for run in runs:
        for place, row in rows_of(run, systems, choice.errors):
            for given, kept in zip(row.given.ratings, row.kept.ratings, strict=True):
                totals[place].add(kept)
                found.dropped += len(given.errors) - len(kept.errors)
            if row.kept.status is not Status.NOT_SAMPLED:
                segment = row.kept.segment
                rated = RatedBy(place, row.kept.score, len(row.kept.ratings))
                found.rows.setdefault((segment.index, segment.source), []).append(rated)
    return found


@dataclass(frozen=True, slots=True)
class FilteredRow:
    """A row as it was rated, and with the errors that count, scored anew."""

    given: RatedRow
    kept: RatedRow


def rows_of(
    run: ReportRun, systems: Sequence[ReportSystem], errors: ErrorFilter
) -> Iterator[tuple[int, FilteredRow]]:
    """(place among the systems, row) of those that are of this run, in file order."""
    places = {each.name: place for place, each in enumerate(systems) if each.run is run}
    known = {each.name for each in systems_of([run])}
    for row in run.rows():
        name = row.segment.system
        if name not in known:
            raise InputError(
                f"{readable(run.file.path)}: segments of system {name!r}, which the header does "
                "not list"
            )
        if name in places:
            kept = row
            if run.scheme is not None and not errors.keeps_all:
                ratings = (errors.rating(each, run.scheme) for each in row.ratings)
                kept = replace(row, ratings=tuple(ratings))
            yield places[name], FilteredRow(row, kept)


def _chosen(systems: Sequence[ReportSystem], names: Sequence[str]) -> list[ReportSystem]:
    if not names:
        return list(systems)
    for name in names:
        if not any(name in (each.label, each.name) for each in systems):
            listed = ", ".join(each.label for each in systems)
            raise ConfigError(f"--system {name!r}: there is none of this name; there are {listed}")
    return [each for each in systems if each.label in names or each.name in names]


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows to show, in order; how: in words; cut: whether nobody asked for fewer than all."""

    keys: tuple[RowKey, ...]
    how: str
    cut: bool = False


def select(found: Survey, choice: Choice) -> Selection:
    """The rows that the choice names, at most all of them."""
    rows = found.rows
    if choice.worst is not None:
        # Rows without any score come after all that have one.
        order = sorted(rows, key=lambda key: _lowest(rows[key]))
        return Selection(tuple(order[: choice.worst]), "those with the lowest scores")
    if choice.sample is not None:
        keys = tuple(rows)
        drawn = sample_rows(len(keys), choice.sample, choice.seed)
        how = f"a random sample, seed {choice.seed}"
        return Selection(tuple(keys[at] for at in drawn), how)
    if choice.first is not None:
        return Selection(tuple(rows)[: choice.first], "the first of the run")
    if choice.every or found.n_ratings <= MOST_RATINGS:
        return Selection(tuple(rows), "all")
    fitting = sum(each <= MOST_RATINGS for each in accumulate(map(_readings, rows.values())))
    # One row at least, however many systems and repeats it has.
    return Selection(tuple(rows)[: fitting or 1], f"the first {MOST_RATINGS} ratings", cut=True)


def _readings(ratings: Sequence[RatedBy]) -> int:
    return sum(each.repeats for each in ratings)


def _lowest(ratings: Sequence[RatedBy]) -> float:
    return min((each.score for each in ratings if each.score is not None), default=math.inf)
