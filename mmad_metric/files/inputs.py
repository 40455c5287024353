"""The user's input files as one stream of segments, checked before anything is rated."""

from __future__ import annotations

import hashlib
import heapq
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.corpus import reference_columns, system_columns
from mmad_metric.files.documents import DocIds
from mmad_metric.files.input_spec import InputSpec, check_spec
from mmad_metric.files.lines import STDIN, TextFile, readable
from mmad_metric.files.parallel import LineFile, check_counts, counted
from mmad_metric.files.system_names import system_names
from mmad_metric.files.tables import (
    Row,
    SystemRows,
    scan_jsonl,
    scan_lines,
    scan_tsv,
)
from mmad_metric.rating import Segment


@dataclass(frozen=True, slots=True)
class System:
    """A system under evaluation.

    n_segments: its rows, those left out of a subset not counted; file: the path that its
    translations come from; label: its name where it was given one, else the path.
    """

    name: str
    n_segments: int
    file: str
    label: str


class Inputs:
    """Checked input: systems with counts, and their segments, as often as needed.

    systems: in the order given; all have the same number of rows, `n_rows`, with the same
    sources; total: segments of all systems together. Where only a subset of a test set is
    wanted, these count its rows; n_whole counts all, row_numbers says which of them are wanted.
    """

    def __init__(
        self,
        spec: InputSpec,
        rows: Sequence[SystemRows],
        sources: LineFile | None,
        references: Sequence[LineFile],
        doc_ids: LineFile | None,
    ) -> None:
        names = system_names(rows, spec.names)
        self._kept = spec.corpus.kept if spec.corpus else None
        self.n_whole = rows[0].count.total
        self.row_numbers: Sequence[int] = (
            range(self.n_whole)
            if self._kept is None
            else [row for row, wanted in enumerate(self._kept) if wanted]
        )
        self.n_rows = len(self.row_numbers)
        self.systems = tuple(
            System(name, self.n_rows, system.file.name, _label(name, system, spec))
            for name, system in zip(names, rows, strict=True)
        )
        self.total = self.n_rows * len(rows)
        self._rows = dict(zip(names, rows, strict=True))
        self._files = (sources, tuple(references), doc_ids)

    @property
    def marked_files(self) -> list[str]:
        """Names of the files of translations or references, a line each, that begin with a BOM."""
        files = [rows.file for rows in self._rows.values() if not rows.own_sources]
        files += [each.file for each in self._files[1]]
        return list(dict.fromkeys(name for file in files if (name := file.marked)))

    def segments(self) -> Iterator[Segment]:
        """All segments, system by system, rows in file order; nothing is held in memory.

        A segment's reference is its own or else the first of those given. Raises InputError
        when a file is no longer what was checked.
        """
        for system in self.systems:
            for index, (row, source, references) in enumerate(self._joined(system.name)):
                if source is None:  # the file changed since it was checked
                    raise InputError(f"{system.file}, line {row.line}: no source")
                yield Segment(
                    source=source,
                    translation=row.translation,
                    system=system.name,
                    index=index,
                    id=row.id,
                    doc=row.doc,
                    reference=references[0] if references else None,
                )

    def references(self, system: str, *, whole: bool = False) -> Iterator[tuple[str, ...]]:
        """All references of each of the system's rows, in order; () where there are none.
        whole: rows left out of a subset too."""
        return (references for _, _, references in self._joined(system, whole=whole))

    def translations(self, system: str, *, whole: bool = False) -> Iterator[str]:
        """The system's translations, in order. whole: rows left out of a subset too."""
        return (row.translation for row, _, _ in self._joined(system, whole=whole))

    def _joined(
        self, system: str, *, whole: bool = False
    ) -> Iterator[tuple[Row, str | None, tuple[str, ...]]]:
        """The system's rows with their sources and references, from wherever they come."""
        rows = self._rows[system]
        total = rows.count.total
        sources: Iterator[str | None] = repeat(None)
        doc_ids: Iterator[str | None] = repeat(None)
        references: Iterator[tuple[str, ...]] = repeat(())
        source_file, reference_files, doc_file = self._files
        if source_file:
            sources = source_file.file.lines()
        if doc_file:
            doc_ids = doc_file.file.lines()
        if reference_files:
            files = (reference.file.lines() for reference in reference_files)
            references = zip(*files)  # noqa: B905 - the count is checked below
        seen = 0
        for row, source, doc, given in zip(rows.rows(), sources, doc_ids, references):  # noqa: B905
            seen += 1
            if seen > total:
                break
            if whole or self._kept is None or self._kept[seen - 1]:
                documented = row._replace(doc=_doc(rows, row, doc))
                yield documented, _source(rows, row, source), _references(rows, row, given)
        if seen != total:
            raise InputError(
                f"{rows.file.name}, or a file read beside it, changed while it was being read: "
                f"{total} rows were counted at first"
            )


def open_inputs(
    sources: str | None,
    systems: Sequence[str],
    *,
    references: Sequence[str] = (),
    names: Sequence[str] | None = None,
    tsv: bool = False,
) -> Inputs:
    """Opens, counts and checks every line of every file; nothing is left to fail later.

    sources: a file with one source a line, or None where the systems' files bring their own;
    systems: files of plain lines; `.tsv` (all but JSONL with `tsv`): source, translation and
    perhaps reference; `.jsonl`: objects with "translation", "source" and perhaps "id",
    "system", "doc", "reference". Any may be gzipped. "-" is standard input, and TSV when
    there are no sources; references: files with one reference a line; names: one a system.

    Raises InputError for anything that cannot be read or does not belong together.
    """
    return open_spec(
        InputSpec(
            None if sources is None else os.fspath(sources),
            tuple(os.fspath(path) for path in systems),
            tuple(os.fspath(path) for path in references),
            None if names is None else tuple(names),
            tsv,
        )
    )


def open_spec(spec: InputSpec) -> Inputs:
    """`open_inputs` with all that a spec can say."""
    check_spec(spec)
    source_file, reference_files = _given_files(spec)
    if spec.systems is None:
        rows = system_columns(TextFile(STDIN, spec.encoding), baseline=spec.baseline)
    else:
        rows = [system for path in spec.systems for system in _scan(path, spec)]
    doc_ids = _given_doc_ids(spec)
    check_counts(source_file, rows, [*reference_files, *([doc_ids] if doc_ids else [])])
    _check_kept(spec, rows[0])
    inputs = Inputs(spec, rows, source_file, reference_files, doc_ids)
    _check_texts(inputs, rows)
    return inputs


def _given_files(spec: InputSpec) -> tuple[LineFile | None, list[LineFile]]:
    """The file of sources, if any, and those of references."""
    if spec.corpus is not None:
        references = spec.corpus.reference_files()
        return counted(spec.corpus.source_file()), [counted(each) for each in references]
    sources = None if spec.sources is None else counted(TextFile(spec.sources, spec.encoding))
    files = [TextFile(path, spec.encoding) for path in spec.references]
    if spec.num_refs != 1:
        files = reference_columns(files[0], spec.num_refs)
    return sources, [counted(file) for file in files]


def _given_doc_ids(spec: InputSpec) -> LineFile | None:
    if spec.doc_ids is not None:
        return counted(DocIds(spec.doc_ids, spec.encoding))
    file = spec.corpus.doc_file() if spec.corpus else None
    return None if file is None else counted(file)


def _check_kept(spec: InputSpec, rows: SystemRows) -> None:
    """A subset is about the test set's rows, and has some."""
    if spec.corpus is None or spec.corpus.kept is None:
        return
    if len(spec.corpus.kept) != rows.count.total:
        raise InputError(
            f"{spec.corpus.name} has {rows.count.total} lines, but its documents "
            f"{len(spec.corpus.kept)}: the cached test set is not whole"
        )
    if not any(spec.corpus.kept):
        raise InputError(f"{spec.corpus.name}: no sentence is in the subset asked for")


def _label(name: str, system: SystemRows, spec: InputSpec) -> str:
    """What tables call a system: as sacreBLEU does, the path as given, unless it has a name."""
    if spec.names is not None or system.name is not None or system.file.path == STDIN:
        return name
    return readable(system.file.path)


def _scan(path: str, spec: InputSpec) -> list[SystemRows]:
    kind = spec.table(path)
    untold = path == STDIN and not spec.has_sources and (spec.need_sources or not spec.references)
    if kind is None and (spec.tsv or (untold and not spec.lines)):
        kind = "tsv"
    file = TextFile(path, spec.encoding)
    if kind == "jsonl":
        return scan_jsonl(file, need_source=spec.need_sources and not spec.has_sources)
    if kind == "tsv":
        return [scan_tsv(file)]
    if spec.need_sources and not spec.has_sources:
        raise InputError(
            f"{file.name}: holds translations only; give the sources as well (-s, or a test set, "
            "-t), or a TSV or JSONL file with both"
        )
    return [scan_lines(file)]


def _check_texts(inputs: Inputs, rows: Sequence[SystemRows]) -> None:
    """What is given twice must agree; and systems that bring their own sources are compared row
    by row later on, so that their rows must be about the same sources."""
    sources, references, doc_ids = inputs._files  # noqa: SLF001 - same module
    for system, own in zip(inputs.systems, rows, strict=True):
        if (sources and own.own_sources) or (references and own.own_references) or doc_ids:
            for _ in inputs._joined(system.name, whole=True):  # noqa: SLF001
                pass
    if sources is None:
        for other in rows[1:]:
            for mine, theirs in zip(rows[0].rows(), other.rows(), strict=True):
                if mine.source != theirs.source:
                    raise InputError(
                        "the systems are not parallel, their sources differ: "
                        f"{rows[0].file.name}, line {mine.line}, and "
                        f"{other.file.name}, line {theirs.line}"
                    )


def _source(system: SystemRows, row: Row, given: str | None) -> str | None:
    """The row's source: the one from the file of sources and the row's own must agree."""
    if given is not None and row.source is not None and given != row.source:
        raise InputError(
            f"{system.file.name}, line {row.line}: its source is not the one in the file of sources"
        )
    return row.source if given is None else given


def _doc(system: SystemRows, row: Row, given: str | None) -> str | None:
    """The row's document: the one from the file of ids and the row's own must agree."""
    if given is not None and row.doc is not None and given != row.doc:
        raise InputError(
            f"{system.file.name}, line {row.line}: its document is {row.doc!r}, but {given!r} in "
            "the file of document ids"
        )
    return row.doc if given is None else given


def _references(system: SystemRows, row: Row, given: tuple[str, ...]) -> tuple[str, ...]:
    if row.reference is None:
        return given
    if given and row.reference not in given:
        raise InputError(
            f"{system.file.name}, line {row.line}: its reference is not among those in the "
            "files of references"
        )
    return given or (row.reference,)


def sample_rows(n_rows: int, n: int, seed: int) -> tuple[int, ...]:
    """`n` of the row indices 0..n_rows-1, ascending; all of them when there are no more.

    The choice depends on the numbers given alone: the same on every machine and Python, for
    every system; a larger `n` only adds rows. Raises ConfigError for n < 1.
    """
    if n < 1:
        raise ConfigError(f"a sample of {n} segments: at least 1 is needed")
    if n >= n_rows:
        return tuple(range(n_rows))

    def rank(row: int) -> bytes:
        return hashlib.sha256(f"{seed}:{row}".encode()).digest()

    return tuple(sorted(heapq.nsmallest(n, range(n_rows), key=rank)))
