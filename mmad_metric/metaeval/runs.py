"""Our run files as scores and spans of a test set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import RunFile, read_run
from mmad_metric.files.score_files import Score
from mmad_metric.files.system_names import name_of_file
from mmad_metric.metaeval.layout import EvalSet
from mmad_metric.metaeval.placed_runs import place_run
from mmad_metric.mqm import MQMError
from mmad_metric.rating import Status
from mmad_metric.repeats import RatedRow
from mmad_metric.scales import Scale

_EDGES = "_. -"  # a class of a pattern: the hyphen last


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run file, and the name of its metric; None: after the file."""

    path: str
    name: str | None = None

    @classmethod
    def parse(cls, text: str) -> NamedRun:
        """`NAME=PATH`, or a path."""
        name, sign, path = text.partition("=")
        return cls(path, name) if sign and name and "/" not in name else cls(text)


@dataclass(frozen=True, slots=True)
class Rated:
    """What a run says of one segment. score: None where it is unscored, the mean where it was
    rated several times; readings: the errors of each scored rating."""

    score: Score
    readings: tuple[tuple[MQMError, ...], ...]

    @classmethod
    def of(cls, row: RatedRow) -> Rated:
        scored = [each for each in row.ratings if each.status is Status.SCORED]
        return cls(row.score, tuple(each.errors for each in scored))

    @property
    def errors(self) -> tuple[MQMError, ...]:
        """The errors of all ratings."""
        return tuple(error for reading in self.readings for error in reading)


@dataclass(frozen=True, eq=False)
class RunRatings:
    """A run placed in a test set. ratings: by system, then by row of the test set; scale: what its
    scores are, of which correlations need to know nothing; notes: what people should be told about
    it."""

    metric: str
    lp: str
    ratings: Mapping[str, Mapping[int, Rated]]
    scale: Scale = Scale.PENALTY
    notes: tuple[str, ...] = ()

    def scores(self, n_segments: int) -> dict[str, list[Score]]:
        """Scores by system, one a segment of the test set, None where the run has none."""
        return {
            system: [rows[row].score if row in rows else None for row in range(n_segments)]
            for system, rows in self.ratings.items()
        }


def run_pair(run: RunFile) -> str:
    """The language pair of a run. Raises InputError where its header names none."""
    config = run.header.get("config")
    lp = config.get("lp") if isinstance(config, dict) else None
    if not isinstance(lp, str):
        raise InputError(f"{readable(run.path)}, line 1: the header names no language pair")
    return lp


def metric_name(named: NamedRun, lp: str) -> str:
    """The name given, else the file's without the language pair: `mmad_en-de.jsonl` is mmad."""
    if named.name:
        return named.name
    stem = name_of_file(named.path)
    pattern = rf"(^|[{_EDGES}]){re.escape(lp)}(?:[{_EDGES}]|$)"
    bare = re.sub(pattern, r"\1", stem).strip(_EDGES)
    return bare or "mmad"


def read_runs(runs: Iterable[NamedRun], sets: Mapping[str, EvalSet]) -> list[RunRatings]:
    """The runs placed in the test sets, by language pair; runs of one name and pair that rate
    different systems become one.

    Raises InputError for a pair without a test set, a system that is rated twice, runs of one name
    on different scales, and as `place_run` does.
    """
    found: dict[tuple[str, str], dict[str, Mapping[int, Rated]]] = {}
    notes: dict[tuple[str, str], list[str]] = {}
    scales: dict[str, Scale] = {}
    for named in runs:
        run = read_run(named.path)
        lp = run_pair(run)
        if lp not in sets:
            raise InputError(f"{readable(named.path)}: a run of {lp}, asked for: {', '.join(sets)}")
        key = metric_name(named, lp), lp
        systems = found.setdefault(key, {})
        if scales.setdefault(key[0], run.scale) is not run.scale:
            raise InputError(
                f"{readable(named.path)}: its scores are numbers {run.scale.range}, those of other "
                f"runs called {key[0]!r} are not; tell them apart by NAME=PATH"
            )
        placed = place_run(run, sets[lp])
        notes.setdefault(key, []).extend(placed.notes)
        for system, rows in placed.rows.items():
            if system in systems:
                raise InputError(
                    f"{readable(named.path)}: {key[0]!r} rates {system!r} twice; tell the runs "
                    "apart by NAME=PATH"
                )
            systems[system] = {row: Rated.of(each) for row, each in rows.items()}
    return [
        RunRatings(*key, systems, scales[key[0]], tuple(notes[key]))
        for key, systems in found.items()
    ]
