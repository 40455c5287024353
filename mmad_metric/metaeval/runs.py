"""Our run files as scores and spans of a test set: each row finds its segment by its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import RunFile, read_run
from mmad_metric.files.score_files import Score, system_field
from mmad_metric.files.system_names import name_of_file
from mmad_metric.metaeval.layout import EvalSet
from mmad_metric.mqm import MQMError, Side
from mmad_metric.rating import SegmentRating, Status

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
    """What a run says of one segment. score: None where it is unscored."""

    score: Score
    errors: tuple[MQMError, ...]


@dataclass(frozen=True, eq=False)
class RunRatings:
    """A run placed in a test set. ratings: by system, then by row of the test set."""

    metric: str
    lp: str
    ratings: Mapping[str, Mapping[int, Rated]]

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

    Raises InputError for a run that did not finish, a pair without a test set, a system that is
    rated twice, a run without any system of the test set, and a row whose source is not in it.
    """
    found: dict[tuple[str, str], dict[str, Mapping[int, Rated]]] = {}
    for named in runs:
        run = read_run(named.path)
        if not run.complete:
            raise InputError(
                f"{readable(named.path)}: this run did not finish; the same command that began it "
                "takes it to its end"
            )
        lp = run_pair(run)
        if lp not in sets:
            raise InputError(f"{readable(named.path)}: a run of {lp}, asked for: {', '.join(sets)}")
        systems = found.setdefault((metric_name(named, lp), lp), {})
        for system, rows in _placed(run, sets[lp]).items():
            if system in systems:
                raise InputError(
                    f"{readable(named.path)}: {metric_name(named, lp)!r} rates {system!r} twice; "
                    "tell the runs apart by NAME=PATH"
                )
            systems[system] = rows
    return [RunRatings(name, lp, systems) for (name, lp), systems in found.items()]


def _placed(run: RunFile, data: EvalSet) -> dict[str, dict[int, Rated]]:
    known = {system_field(name): name for name in data.gold_segment}
    places = _Places(data)
    placed: dict[str, dict[int, Rated]] = {}
    strangers: dict[str, None] = {}
    outputs: dict[str, list[str] | None] = {}
    for rating in run.ratings():
        system = known.get(system_field(rating.segment.system))
        if system is None:
            strangers[rating.segment.system] = None
            continue
        row, shift = places.row(rating, run.path), 0
        if system not in outputs:
            outputs[system] = data.output(system)
        output = outputs[system]
        if output is not None:
            shift = _shift(rating, output[row], run.path)
        rows = placed.setdefault(system, {})
        if row in rows:
            raise InputError(
                f"{readable(run.path)}: {system!r} rates segment {row + 1} of the test set twice"
            )
        if rating.status is not Status.NOT_SAMPLED:
            rows[row] = Rated(rating.score, tuple(_moved(each, shift) for each in rating.errors))
    if not placed:
        raise InputError(
            f"{readable(run.path)}: none of its systems ({_listed(strangers)}) is one of "
            f"{data.lp}'s ({_listed(known)}); rate files of those names, or use --name"
        )
    return placed


def _shift(rating: SegmentRating, output: str, path: str) -> int:
    """How far offsets of the run are from those of the test set's text: a byte-order mark at the
    start of a file counts in human offsets, and is no part of what a run rates.

    Raises InputError for another text: its score would be held against that of a stranger.
    """
    rated = rating.segment.translation
    if rated == output:
        return 0
    if "\ufeff" + rated == output:
        return 1
    raise InputError(
        f"{readable(path)}: system {rating.segment.system!r}, row {rating.segment.index + 1}: its "
        f"translation is not the test set's: {quoted(rated)}, {quoted(output)} is expected"
    )


def _moved(error: MQMError, shift: int) -> MQMError:
    if not shift or error.side is not Side.TRANSLATION or error.start is None or error.end is None:
        return error
    return replace(error, start=error.start + shift, end=error.end + shift)


class _Places:
    """Where a source stands in the test set."""

    def __init__(self, data: EvalSet) -> None:
        self._sources = data.sources()
        self._n_segments = data.n_segments
        self._rows: dict[str, list[int]] = {}
        for row, source in enumerate(self._sources or ()):
            self._rows.setdefault(_plain(source), []).append(row)

    def row(self, rating: SegmentRating, path: str) -> int:
        """The run's own row where the texts agree, or texts are not known; else the only row
        with this source: a run may rate a part of the test set."""
        index = rating.segment.index
        if self._sources is None and index < self._n_segments:
            return index
        rows = self._rows.get(_plain(rating.segment.source), [])
        if index in rows:
            return index
        if len(rows) == 1:
            return rows[0]
        why = (
            f"stands {len(rows)} times in the test set, and not in this row"
            if rows
            else "is not in the test set"
        )
        raise InputError(
            f"{readable(path)}: system {rating.segment.system!r}, row {index + 1}: its source "
            f"{why}: {quoted(rating.segment.source)}"
        )


def _plain(source: str) -> str:
    return source.removeprefix("\ufeff")


def _listed(names: Iterable[str] | Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
