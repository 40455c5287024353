"""A run's rows as segments of a test set, with the test set's texts and offsets into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import RunFile
from mmad_metric.files.score_files import system_field
from mmad_metric.metaeval.layout import EvalSet
from mmad_metric.metaeval.placing import RowTexts, SegmentFinder, moved, settle, shift
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.repeats import RatedRow, rated_rows

RunRows = dict[str, dict[int, RatedRow]]  # by system, then by row


@dataclass(frozen=True, eq=False)
class PlacedRun:
    """rows: by system of the test set, then by row of it, from 0; rows that were not sampled are
    none. notes: what people should be told of rows and systems that found no place."""

    rows: RunRows
    notes: tuple[str, ...]


def run_rows(run: RunFile) -> RunRows:
    """The rows as the run has them, repeats put together. Raises InputError for a run that did
    not finish, one without any row, and a row that stands there twice."""
    where = readable(run.path)
    if not run.complete:
        raise InputError(
            f"{where}: this run did not finish; the same command that began it takes it to its end"
        )
    found: RunRows = {}
    for row in rated_rows(map(_slim, run.ratings())):
        segment = row.segment
        rows = found.setdefault(segment.system, {})
        if segment.index in rows:
            raise InputError(
                f"{where}: system {segment.system!r}, row {segment.index + 1} stands there twice"
            )
        rows[segment.index] = row
    if not found:
        raise InputError(f"{where}: this run has no segments")
    return found


def place_run(run: RunFile, data: EvalSet) -> PlacedRun:
    """Each row finds its segment by source, translation and order (`placing.settle`); rows that
    fit several are left out and told about.

    Raises InputError as `run_rows` does, and for a run without any system of the test set, a row
    whose texts are not in it, two rows of one segment, and where no row finds its place.
    """
    known = {system_field(name): name for name in data.systems()}
    ours: RunRows = {}
    strangers = []
    for system, rows in run_rows(run).items():
        name = known.get(system_field(system)) if known else system
        if name is None:
            strangers.append(system)
        elif name in ours:
            raise InputError(
                f"{readable(run.path)}: two of its systems are {name!r} of the test set, one of "
                f"them is called {system!r}"
            )
        else:
            ours[name] = rows
    if not ours:
        raise InputError(
            f"{readable(run.path)}: none of its systems ({_listed(strangers)}) is one of "
            f"{data.lp}'s ({_listed(known)}); rate files of those names, or use --name"
        )
    sources = data.sources()
    outputs = {system: data.output(system) for system in ours}
    if sources is None:
        segments = {system: _by_number(rows, data, run) for system, rows in ours.items()}
    else:
        _check_lengths(data, len(sources), outputs)
        segments = _found(run, ours, SegmentFinder(sources, data.documents), outputs)
    placed: RunRows = {}
    for system, rows in ours.items():
        own = placed.setdefault(system, {})
        for index, row in rows.items():
            segment = segments[system][index]
            if segment is None or row.status is Status.NOT_SAMPLED:
                continue
            if segment in own:
                raise InputError(
                    f"{readable(run.path)}: {system!r} rates segment {segment + 1} of the test "
                    "set twice"
                )
            own[segment] = _moved(row, segment, data.documents, (sources, outputs[system]))
    return PlacedRun(placed, tuple(_notes(run, ours, segments, strangers)))


def _check_lengths(
    data: EvalSet, n_sources: int, outputs: Mapping[str, Sequence[str] | None]
) -> None:
    lengths = {
        f"system-outputs/{data.lp}/{system}.txt": len(texts)
        for system, texts in outputs.items()
        if texts is not None
    }
    if data.documents:
        lengths[f"documents/{data.lp}.docs"] = len(data.documents)
    if data.gold_segment:
        lengths["the human scores"] = data.n_segments
    for name, length in lengths.items():
        if length != n_sources:
            raise InputError(
                f"{readable(data.folder)}: {length} lines of {name}, but {n_sources} of "
                f"sources/{data.lp}.txt"
            )


def _slim(rating: SegmentRating) -> SegmentRating:
    """Without the debate, which is most of a rating and of no use here."""
    return replace(rating, outcomes=(), analysis="", usage={})


def _by_number(rows: Mapping[int, RatedRow], data: EvalSet, run: RunFile) -> dict[int, int | None]:
    for index, row in rows.items():
        if index >= data.n_segments:
            raise _misplaced(run, row.segment, f"the test set has {data.n_segments} segments")
    return {index: index for index in rows}


def _found(
    run: RunFile,
    systems: RunRows,
    finder: SegmentFinder,
    outputs: Mapping[str, Sequence[str] | None],
) -> dict[str, dict[int, int | None]]:
    """The segment of each row, by system. What one system's translation leaves open another's
    may settle: with the same sources in all rows, they are rows of the same segments."""
    candidates: dict[str, dict[int, list[int]]] = {}
    alike: dict[tuple[tuple[int, str], ...], list[str]] = {}
    for system, rows in systems.items():
        candidates[system] = {
            index: _candidates(run, row.segment, finder, outputs[system])
            for index, row in rows.items()
        }
        key = tuple((index, row.segment.source) for index, row in rows.items())
        alike.setdefault(key, []).append(system)
    found = {}
    for group in alike.values():
        joint = {
            index: sorted(set(first).intersection(*(candidates[each][index] for each in group)))
            for index, first in candidates[group[0]].items()
        }
        for system in group:
            found[system] = settle(joint if all(joint.values()) else candidates[system])
    return found


def _candidates(
    run: RunFile, segment: Segment, finder: SegmentFinder, output: Sequence[str] | None
) -> list[int]:
    texts = RowTexts(segment.index, segment.source, segment.translation, segment.doc)
    if found := finder.candidates(texts, output):
        return found
    there = finder.with_source(segment.source)
    if not there or output is None:
        raise _misplaced(
            run, segment, f"its source is not in the test set: {quoted(segment.source)}"
        )
    expected = output[segment.index if segment.index in there else there[0]]
    raise _misplaced(
        run,
        segment,
        f"its translation is not the test set's: {quoted(segment.translation)}, "
        f"{quoted(expected)} is expected",
    )


def _misplaced(run: RunFile, segment: Segment, why: str) -> InputError:
    return InputError(
        f"{readable(run.path)}: system {segment.system!r}, row {segment.index + 1}: {why}"
    )


def _moved(
    row: RatedRow,
    index: int,
    documents: Sequence[str],
    texts: tuple[Sequence[str] | None, Sequence[str] | None],
) -> RatedRow:
    """The row as one of the test set. texts: sources, and the system's translations."""
    first = row.segment
    source, translation = (
        given if side is None else side[index]
        for given, side in zip((first.source, first.translation), texts, strict=True)
    )
    by = [shift(*pair) or 0 for pair in ((first.source, source), (first.translation, translation))]
    doc = first.doc if first.doc is not None or not documents else documents[index]
    return RatedRow(
        tuple(
            replace(
                rating,
                segment=replace(
                    rating.segment, index=index, source=source, translation=translation, doc=doc
                ),
                errors=tuple(moved(error, *by) for error in rating.errors),
            )
            for rating in row.ratings
        )
    )


def _notes(
    run: RunFile,
    systems: RunRows,
    segments: Mapping[str, Mapping[int, int | None]],
    strangers: Sequence[str],
) -> list[str]:
    """Raises InputError where no row at all has a place."""
    where = readable(run.path)
    notes = []
    if strangers:
        notes.append(f"{where}: {_listed(strangers)}: no system of the test set; left out")
    lost = [
        systems[system][index].segment
        for system, rows in segments.items()
        for index, segment in rows.items()
        if segment is None
    ]
    if lost:
        total = sum(map(len, systems.values()))
        first = lost[0]
        said = (
            f"{where}: {len(lost)} of {total} rows could be several segments of the test set, of "
            f"equal texts, and the order of rows does not tell which; the first is row "
            f"{first.index + 1} of {first.system!r}: {quoted(first.source)}"
        )
        if len(lost) == total:
            raise InputError(said)
        notes.append(f"{said}; left without a score")
    return notes


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"
