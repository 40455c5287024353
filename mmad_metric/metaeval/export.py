"""Run files written out for other tools: scores, ratings, Marot's TSV, spans as JSON Lines.

A run may rate several systems; the lines of a system stand together, in the order of its rows.
A row that the run does not score (unscored, not sampled, missing) is None, never 0.
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
    system_score_lines,
    unique_fields,
)
from mmad_metric.metaeval.marot import COLUMNS, Annotated, marot_lines
from mmad_metric.metaeval.ratings import rating_line
from mmad_metric.mqm import MQMError
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.scoring import WeightScheme, mean, scheme_from_table

KINDS = ("scores", "ratings", "marot", "spans")
MAROT_ENDING = ".mqm.tsv"
SPANS_ENDING = ".spans.jsonl"

Rows = dict[str, list[SegmentRating | None]]


@dataclass(frozen=True, eq=False)
class Exported:
    """A finished run to write out. rows: by system, one a row of the run; name: of the metric;
    scheme: None where its scores are not made of errors."""

    name: str
    lp: str
    scheme: WeightScheme | None
    rows: Rows

    @classmethod
    def of(cls, run: RunFile, name: str, lp: str) -> Exported:
        """Raises InputError for a run that did not get to its end, a row that stands there
        twice, and systems whose names become equal as single words."""
        where = readable(run.path)
        if not run.complete:
            raise InputError(f"{where}: the run did not get to its end; run its command again")
        found: dict[str, dict[int, SegmentRating]] = {}
        for rating in run.ratings():
            rows = found.setdefault(rating.segment.system, {})
            if rating.segment.index in rows:
                raise InputError(
                    f"{where}: system {rating.segment.system!r}, row {rating.segment.index + 1} "
                    "stands there twice"
                )
            rows[rating.segment.index] = rating
        unique_fields(found)
        filled: Rows = {
            system: [rows.get(index) for index in range(max(rows) + 1)]
            for system, rows in found.items()
        }
        return cls(name, lp, _scheme(run), filled)


def export(run: Exported, kinds: Iterable[str], folder: str, *, mtme: bool = False) -> list[str]:
    """Writes the files of these kinds (`KINDS`); returns their paths.

    mtme: scores under mt-metrics-eval's names, `metric-scores/LP/NAME-src.seg.score`, and not
    `NAME_LP.seg.score`. A file appears whole or not at all. Raises InputError for a text that a
    format cannot hold, and for errors of a run that has none by its method; RunStopped where the
    disk fails.
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


def _scheme(run: RunFile) -> WeightScheme | None:
    if not run.scale.has_errors:
        return None
    config = run.header.get("config")
    table = config.get("weight_table") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(table, dict):
        raise InputError(f"{readable(run.path)}, line 1: the header has no weight table")
    return scheme_from_table(str(config.get("weights")), table)


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
    return {
        RATING_ENDING: (
            rating_line(system, None if each is None else _errors(each), run.scheme)
            for system, each in _each_row(run)
        )
    }


def _marot(run: Exported) -> dict[str, Iterable[str | bytes]]:
    return {MAROT_ENDING: _marot_rows(run)}


def _marot_rows(run: Exported) -> Iterator[str]:
    names = unique_fields(run.rows)
    yield "\t".join(COLUMNS) + "\n"
    for system, each in _each_row(run):
        errors = None if each is None else _errors(each)
        if each is None or errors is None:
            continue  # a segment that nobody rated has no row there
        segment = each.segment
        place = (names[system], segment.doc or "", segment.index + 1, run.name)
        for error in errors or (None,):
            yield marot_lines(Annotated(0, *place, segment.source, segment.translation, error))


def _spans(run: Exported) -> dict[str, Iterable[str | bytes]]:
    return {SPANS_ENDING: map(_span_line, (each for _, each in _each_row(run) if each))}


def _span_line(rating: SegmentRating) -> bytes:
    segment, errors = rating.segment, _errors(rating)
    line = {
        "system": segment.system,
        "index": segment.index,
        "id": segment.id,
        "doc": segment.doc,
        "source": segment.source,
        "translation": segment.translation,
        "score": rating.score,
        "reason": rating.reason.value if rating.reason else None,
        "spans": None if errors is None else [error.to_dict() for error in errors],
    }
    return object_line({key: value for key, value in line.items()
                        if value is not None or key in ("score", "spans")})  # fmt: skip


def _each_row(run: Exported) -> Iterator[tuple[str, SegmentRating | None]]:
    for system, rows in run.rows.items():
        for each in rows:
            yield system, each


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
