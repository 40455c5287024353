"""Run files written out for other tools: scores, ratings, Marot's TSV, spans as JSON Lines.

A run may rate several systems; the lines of a system stand together, in the order of its rows, or
of the test set's segments where that is given. What the run does not score (unscored, not sampled,
missing) is None, never 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from mmad_metric.errors import InputError, RunStopped
from mmad_metric.files.json_lines import object_line
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import RunFile
from mmad_metric.files.score_files import (
    RATING_ENDING,
    SEGMENT_ENDING,
    SYSTEM_ENDING,
    segment_score_lines,
    system_field,
    system_score_lines,
    unique_fields,
)
from mmad_metric.filtering import ErrorFilter
from mmad_metric.metaeval.layout import EvalSet
from mmad_metric.metaeval.marot import COLUMNS, Annotated, has_tags, marot_lines
from mmad_metric.metaeval.placed_runs import PlacedRun, RunRows, place_run, run_rows
from mmad_metric.metaeval.ratings import rating_line
from mmad_metric.mqm import MQMError
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import RatedRow
from mmad_metric.scoring import WeightScheme, mean

KINDS = ("scores", "ratings", "marot", "spans")
MAROT_ENDING = ".mqm.tsv"
SPANS_ENDING = ".spans.jsonl"

Rows = dict[str, list[RatedRow | None]]


@dataclass(frozen=True, eq=False)
class Exported:
    """A finished run to write out. rows: by system, one a row of the run or a segment of the test
    set; name: of the metric; scheme: None where its scores are not made of errors; notes: what
    people should be told about it."""

    name: str
    lp: str
    scheme: WeightScheme | None
    rows: Rows
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        run: RunFile,
        name: str,
        lp: str,
        data: EvalSet | None = None,
        errors: ErrorFilter | None = None,
    ) -> Exported:
        """data: the test set whose segments the rows are to stand for; None: the rows are numbered
        as in the run. errors: only those that it keeps, scores computed anew from them.

        Raises InputError for a run that did not get to its end or has no rows, a row that stands
        there twice, systems whose names become equal as single words, errors to choose from by how
        they came to be where one agent found them all, and as `place_run` does.
        """
        placed = PlacedRun(run_rows(run), ()) if data is None else place_run(run, data)
        found, notes = placed.rows, placed.notes
        unique_fields(found)
        scheme, where = run.weight_scheme(), readable(run.path)
        if errors is not None:
            errors.check_method(run.method, where)
        if errors is not None and scheme is not None and not errors.keeps_all:
            note = f"{where}: {_kept(found, errors)}"
            found, notes = _filtered(found, errors, scheme), (*notes, note)
        filled: Rows = {
            system: [
                rows.get(index)
                for index in range(max(rows, default=-1) + 1 if data is None else data.n_segments)
            ]
            for system, rows in found.items()
        }
        return cls(name, lp, scheme, filled, notes)

    def tagged(self) -> int:
        """How many texts hold a `<v>` or `</v>` of their own, which Marot's format cannot tell
        from a mark."""
        return sum(
            has_tags(text)
            for _, row in _each_row(self)
            if row is not None
            for text in (row.segment.source, row.segment.translation)
        )


def _kept(rows: RunRows, errors: ErrorFilter) -> str:
    every = [
        error for by_index in rows.values() for row in by_index.values() for error in row.errors
    ]
    unknown = sum(error.provenance is None for error in every)
    said = f"{len(errors.kept(every))} of {len(every)} errors kept"
    return f"{said}, {unknown} of them without provenance" if unknown else said


def _filtered(rows: RunRows, errors: ErrorFilter, scheme: WeightScheme) -> RunRows:
    return {
        system: {
            index: RatedRow(tuple(errors.rating(each, scheme) for each in row.ratings))
            for index, row in by_index.items()
        }
        for system, by_index in rows.items()
    }


def export(run: Exported, kinds: Iterable[str], folder: str, *, mtme: bool = False) -> list[str]:
    """Writes the files of these kinds (`KINDS`); returns their paths.

    mtme: scores under mt-metrics-eval's names, `metric-scores/LP/NAME-src.seg.score`, and not
    `NAME_LP.seg.score`. With repeats, each is a rater: it has a file of ratings of its own
    (`.repeatK.seg.rating`), its own name in the TSV (`NAME-repeatK`), its own line of spans; scores
    are means over the repeats that have one. A file appears whole or not at all. Raises InputError
    for a text that a format cannot hold, and for errors of a run that has none by its method;
    RunStopped where the disk fails.
    """
    kinds, paths = list(kinds), []
    if run.scheme is None and kinds != ["scores"]:
        raise InputError(
            f"{run.name}: this run gives scores without errors: only `scores` can be written"
        )
    for kind in kinds:
        for ending, lines in _WRITERS[kind](run).items():
            if mtme and kind == "scores":
                path = os.path.join(folder, "metric-scores", run.lp, f"{run.name}-src{ending}")
            else:
                path = os.path.join(folder, f"{run.name}_{run.lp}{ending}")
            _write(path, lines)
            paths.append(path)
    return paths


def _scores(run: Exported) -> dict[str, Iterable[str | bytes]]:
    segments = {
        system: [None if each is None else each.score for each in rows]
        for system, rows in run.rows.items()
    }
    means = {
        system: mean([score for score in scores if score is not None])
        for system, scores in segments.items()
    }
    return {
        SEGMENT_ENDING: segment_score_lines(segments),
        SYSTEM_ENDING: system_score_lines(means),
    }


def _ratings(run: Exported) -> dict[str, Iterable[str | bytes]]:
    repeats = max((len(row.ratings) for _, row in _each_row(run) if row), default=1)
    if repeats == 1:
        return {RATING_ENDING: _rating_lines(run, 0)}
    return {
        f".repeat{number + 1}{RATING_ENDING}": _rating_lines(run, number)
        for number in range(repeats)
    }


def _rating_lines(run: Exported, number: int) -> Iterator[str]:
    for system, row in _each_row(run):
        there = row is not None and number < len(row.ratings)
        errors = _errors(row.ratings[number]) if row is not None and there else None
        yield rating_line(system, errors, run.scheme)


def _marot(run: Exported) -> dict[str, Iterable[str | bytes]]:
    return {MAROT_ENDING: _marot_rows(run)}


def _marot_rows(run: Exported) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for system, rating in _each_rating(run):
        errors = _errors(rating)
        if errors is None:
            continue  # a segment that nobody rated has no row there
        segment = rating.segment
        rater = run.name if segment.repeat is None else f"{run.name}-repeat{segment.repeat}"
        place = (system_field(system), segment.doc or "", segment.index + 1, rater)
        for error in errors or (None,):
            yield marot_lines(Annotated(0, *place, segment.source, segment.translation, error))


def _spans(run: Exported) -> dict[str, Iterable[str | bytes]]:
    return {SPANS_ENDING: (_span_line(system, each) for system, each in _each_rating(run))}


def _span_line(system: str, rating: SegmentRating) -> bytes:
    segment, errors = rating.segment, _errors(rating)
    line = {
        "system": system_field(system),
        "index": segment.index,
        "repeat": segment.repeat,
        "id": segment.id,
        "doc": segment.doc,
        "source": segment.source,
        "translation": segment.translation,
        "score": rating.score,
        "reason": rating.reason.value if rating.reason else None,
        "counts": rating.counts.to_dict() if rating.counts else None,
        "spans": None if errors is None else [error.to_dict() for error in errors],
    }
    return object_line({key: value for key, value in line.items()
                        if value is not None or key in ("score", "spans")})  # fmt: skip


def _each_row(run: Exported) -> Iterator[tuple[str, RatedRow | None]]:
    for system, rows in run.rows.items():
        for each in rows:
            yield system, each


def _each_rating(run: Exported) -> Iterator[tuple[str, SegmentRating]]:
    for system, row in _each_row(run):
        for rating in row.ratings if row is not None else ():
            yield system, rating


def _errors(rating: SegmentRating) -> tuple[MQMError, ...] | None:
    """None for a row that was not rated, whose lack of errors says nothing."""
    return rating.errors if rating.status is Status.SCORED else None


_WRITERS: Mapping[str, Callable[[Exported], dict[str, Iterable[str | bytes]]]] = {
    "scores": _scores,
    "ratings": _ratings,
    "marot": _marot,
    "spans": _spans,
}


def _write(path: str, lines: Iterable[str | bytes]) -> None:
    part = f"{path}.part"
    try:
        os.makedirs(PurePath(path).parent, exist_ok=True)
        with open(part, "wb") as out:
            out.writelines(
                line if isinstance(line, bytes) else line.encode("utf-8") for line in lines
            )
        os.replace(part, path)
    except OSError as error:
        reason = error.strerror or error
        raise RunStopped(f"{readable(path)}: cannot be written: {reason}") from error
    except InputError:
        os.unlink(part)
        raise
