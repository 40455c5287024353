"""Systems out of run files and score files, refused where they do not belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import RunFile, read_run
from mmad_metric.files.score_files import is_score_file, read_equal_scores
from mmad_metric.files.system_names import is_usable, name_of_file
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import RatedRow, RowScore, rated_rows
from mmad_metric.scales import refuse_other_scales
from mmad_metric.signature import FROM_REPLIES, parse_signature

Labels = tuple[tuple[str, str], ...]  # dimension and severity of each error


@dataclass(frozen=True, slots=True)
class System:
    """A system to be compared.

    source: which of the files it is from; stored_name: its name in there; rows: a score, or
    repeats' scores, for each segment; asked: which of them were to be rated; labels: its errors
    by segment, all repeats together, None where there are only scores.
    """

    name: str
    file: str
    source: int
    stored_name: str
    rows: tuple[RowScore, ...]
    asked: tuple[bool, ...]
    labels: tuple[Labels, ...] | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Systems on the same segments. runs, signatures: of the files by their place, None for mere
    scores; notices: what the user should know."""

    systems: tuple[System, ...]
    runs: tuple[RunFile | None, ...]
    signatures: tuple[Mapping[str, str] | None, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's systems, and what must agree between files."""

    file: str
    run: RunFile | None
    systems: list[System]
    signature: Mapping[str, str] | None
    texts: list[str] | None  # the sources, in order
    notices: tuple[str, ...] = ()

    @property
    def is_silent(self) -> bool:
        """Whether nothing in a run has a score: what only replies tell is not known then."""
        rows = (row for system in self.systems for row in system.rows)
        scores = (each for row in rows for each in (row if isinstance(row, tuple) else (row,)))
        return self.run is not None and all(score is None for score in scores)


def read_systems(
    paths: Sequence[str], names: Sequence[str] | None, gold: str | None, *, force: bool
) -> Compared:
    """All systems of all files, in order.

    paths: run files, or `.seg.score` files; names: one for each system, else the files' own, with
    the file in front where several hold a system of that name;
    gold: a `.seg.score` file: segments without a score in it count as unscored, systems that are
    not in it are left out; force: compare in spite of different settings, and unfinished runs.

    Raises InputError for files that cannot be read, different scales, different sources, different
    numbers of segments, a name that two systems share, and without force different signatures.
    """
    sources = [_read(path, number, force=force) for number, path in enumerate(paths)]
    refuse_other_scales(
        (source.file, source.run.scale) for source in sources if source.run is not None
    )
    differences = _differences(sources)
    if differences and not force:
        raise InputError(f"{differences[0]}; --force compares them all the same")
    missing = [text for source in sources for text in source.notices]
    notices = [f"--force: {text}" for text in [*differences, *missing]]
    _refuse_other_texts(sources)
    systems = [system for source in sources for system in source.systems]
    systems = _named(systems, names)
    _refuse_lengths(systems)
    if gold is not None:
        systems, left_out = _masked(systems, gold)
        notices += left_out
    runs = tuple(source.run for source in sources)
    signatures = tuple(source.signature for source in sources)
    return Compared(tuple(systems), runs, signatures, tuple(notices))


def _read(path: str, number: int, *, force: bool) -> _Source:
    if is_score_file(path):
        scores = read_equal_scores(path)
        systems = [
            System(name, readable(path), number, name, rows, (True,) * len(rows), None)
            for name, rows in scores.items()
        ]
        return _Source(readable(path), None, systems, None, None)
    run = read_run(path, allow_torn=force)
    if not run.complete and not force:
        raise InputError(f"{readable(path)}: this run did not finish; --force takes what is there")
    return _of_run(run, number)


def _of_run(run: RunFile, number: int) -> _Source:
    file = readable(run.path)
    systems: list[System] = []
    texts: list[str] | None = None
    for rows in _by_system(run):
        sources = [row.segment.source for row in rows]
        if texts is None:
            texts = sources
        elif sources != (texts if run.complete else texts[: len(sources)]):
            raise InputError(
                f"{file}: system {rows[0].segment.system!r} has other sources than the first one"
            )
        system = _system(rows, file, number)
        systems.append(system if run.scale.has_errors else replace(system, labels=None))
    systems, missing = (systems, []) if run.complete else _filled_up(systems, run)
    stored = (run.summary or run.header).get("signature")
    try:
        signature = parse_signature(str(stored))
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    return _Source(file, run, systems, signature, texts, tuple(missing))


def _filled_up(systems: Sequence[System], run: RunFile) -> tuple[list[System], list[str]]:
    """The systems of a run that did not finish, as long as they were to become: what is not there
    was not rated; and what is missing, in a line each."""
    file, filled, missing = readable(run.path), [], []
    planned = _planned(run.header)
    for system in systems:
        have = len(system.rows)
        gap = max(planned.pop(system.stored_name, have) - have, 0)
        if gap:
            missing.append(f"{file}: {have} of {have + gap} segments of {system.name!r} are there")
        labels = None if system.labels is None else (*system.labels, *[()] * gap)
        rows, asked = (*system.rows, *[None] * gap), (*system.asked, *[False] * gap)
        filled.append(replace(system, rows=rows, asked=asked, labels=labels))
    missing += [f"{file}: nothing of {name!r} is there; it is left out" for name in planned]
    return filled, missing


def _planned(header: Mapping[str, Any]) -> dict[str, int]:
    """How many segments each system of a run was to have."""
    listed = header.get("systems")
    return {
        each["name"]: each["n_segments"]
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict)
        and isinstance(each.get("name"), str)
        and isinstance(each.get("n_segments"), int)
    }


def _by_system(run: RunFile) -> Iterator[list[RatedRow]]:
    """The rows of one system after the other, without what was said in their debates."""
    seen: set[str] = set()
    current: list[RatedRow] = []
    for row in rated_rows(_lean(run)):
        name = row.segment.system
        if current and current[-1].segment.system != name:
            yield current
            current = []
        if not current and name in seen:
            raise InputError(f"{readable(run.path)}: system {name!r} stands in two places")
        seen.add(name)
        if row.segment.index != len(current):
            raise InputError(
                f"{readable(run.path)}: system {name!r} has row {row.segment.index} where row "
                f"{len(current)} is expected"
            )
        current.append(row)
    if current:
        yield current


def _lean(run: RunFile) -> Iterator[SegmentRating]:
    return (replace(rating, outcomes=(), analysis="") for rating in run.ratings())


def _system(rows: Sequence[RatedRow], file: str, number: int) -> System:
    name = rows[0].segment.system
    labels = tuple(
        tuple((error.category.dimension, error.severity.value) for error in row.errors)
        for row in rows
    )
    asked = tuple(row.status is not Status.NOT_SAMPLED for row in rows)
    return System(name, file, number, name, tuple(row.scores for row in rows), asked, labels)


def _differences(sources: Sequence[_Source]) -> list[str]:
    """What keeps the files' numbers from being comparable, in a line each."""
    first = sources[0]
    found = []
    for other in sources[1:]:
        if (first.signature is None) != (other.signature is None):
            found.append(f"{first.file} and {other.file}: a run and scores of unknown settings")
        elif first.signature is not None and other.signature is not None:
            keys = [
                *first.signature,
                *(key for key in other.signature if key not in first.signature),
            ]
            if first.is_silent or other.is_silent:
                keys = [key for key in keys if key not in FROM_REPLIES]
            differing = [
                f"{key} ({first.signature.get(key, 'none')} / {other.signature.get(key, 'none')})"
                for key in keys
                if first.signature.get(key) != other.signature.get(key)
            ]
            if differing:
                found.append(
                    f"{first.file} and {other.file} differ in their settings: "
                    + ", ".join(differing)
                )
    return found


def _refuse_other_texts(sources: Sequence[_Source]) -> None:
    """A paired comparison of different segments means nothing, so that force does not help."""
    known = [(source.file, source.texts) for source in sources if source.texts is not None]
    for file, texts in known[1:]:
        first_file, first_texts = known[0]
        for number, (one, other) in enumerate(zip(first_texts, texts, strict=False), 1):
            if one != other:
                raise InputError(
                    f"{first_file} and {file}: their sources differ, first in segment {number}; "
                    "only runs over the same segments can be compared"
                )


def _named(systems: Sequence[System], names: Sequence[str] | None) -> list[System]:
    if names is not None:
        if len(names) != len(systems):
            raise InputError(f"--name: names given: {len(names)}, systems: {len(systems)}")
        for name in names:
            if not is_usable(name):
                raise InputError(f"--name: {quoted(name)} is no name for a system")
        systems = [
            replace(system, name=readable(name))
            for system, name in zip(systems, names, strict=True)
        ]
    else:
        systems = _told_apart(systems)
    owners: dict[str, str] = {}
    for system in systems:
        if system.name in owners:
            raise InputError(
                f"two systems are called {system.name!r} ({owners[system.name]}, {system.file}); "
                "give each its own name with --name"
            )
        owners[system.name] = system.file
    if not systems:
        raise InputError("there is no system in these files")
    return list(systems)


def _told_apart(systems: Sequence[System]) -> list[System]:
    """Systems of one name in several files, such as runs of one system under several settings,
    get the file's name in front."""
    files = {(system.name, system.source) for system in systems}
    often = Counter(name for name, _ in files)
    return [
        replace(system, name=f"{name_of_file(system.file)}/{system.name}")
        if often[system.name] > 1
        else system
        for system in systems
    ]


def _refuse_lengths(systems: Sequence[System]) -> None:
    first = systems[0]
    for other in systems[1:]:
        if len(other.rows) != len(first.rows):
            raise InputError(
                f"{first.name!r} ({first.file}) has {len(first.rows)} segments, {other.name!r} "
                f"({other.file}) has {len(other.rows)}: only runs over the same segments can be "
                "compared"
            )


def _masked(systems: Sequence[System], path: str) -> tuple[list[System], list[str]]:
    """Only what has a gold score counts."""
    gold = read_equal_scores(path)
    kept, notices = [], []
    for system in systems:
        known = gold.get(system.stored_name)
        if known is None:
            notices.append(f"{system.name} has no gold score in {readable(path)}: it is left out")
            continue
        if len(known) != len(system.rows):
            raise InputError(
                f"{readable(path)}: {len(known)} gold scores of {system.stored_name!r}, but "
                f"{len(system.rows)} segments in {system.file}"
            )
        rows = tuple(
            None if score is None else row for row, score in zip(system.rows, known, strict=True)
        )
        asked = tuple(
            each and score is not None for each, score in zip(system.asked, known, strict=True)
        )
        kept.append(replace(system, rows=rows, asked=asked))
    if not kept:
        raise InputError(f"{readable(path)}: none of the systems has gold scores in it")
    return kept, notices
