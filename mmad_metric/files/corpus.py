"""Files made of files: a test set's texts from several, the columns of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mmad_metric.errors import InputError
from mmad_metric.files.lines import MadeFile, TextFile
from mmad_metric.files.tables import SystemRows, scan_lines


@dataclass(frozen=True, slots=True)
class Corpus:
    """A test set on disk, or several, one after the other.

    name: as people know it; sources: paths of files of lines, in order; references: the same
    for each reference; docs: paths of files of document ids, as many as sources, or none; kept:
    whether a row is wanted, for all rows, None where all are.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...] = ()
    kept: tuple[bool, ...] | None = None
    docs: tuple[str, ...] = ()

    def source_file(self) -> TextFile:
        """All sources as one file. Raises InputError."""
        return _joined(self.sources, f"the sources of {self.name}")

    def reference_files(self) -> list[TextFile]:
        """Each reference as one file. Raises InputError."""
        return [
            _joined(files, f"reference {number} of {self.name}")
            for number, files in enumerate(self.references, 1)
        ]

    def doc_file(self) -> TextFile | None:
        """The documents of all rows as one file, None where nobody tells them. Raises
        InputError."""
        return _joined(self.docs, f"the document ids of {self.name}") if self.docs else None


def _joined(paths: Sequence[str], name: str) -> TextFile:
    return MadeFile(name, (line for path in paths for line in TextFile(path).lines()))


def reference_columns(file: TextFile, n: int) -> list[TextFile]:
    """A file of `n` tab-separated references a line, as n files. Raises InputError."""
    return [
        MadeFile(f"{file.name}, column {column + 1}", _column(file, n, column), file)
        for column in range(n)
    ]


def _column(file: TextFile, n: int, column: int) -> Iterator[str]:
    for number, line in enumerate(file.lines(), 1):
        cells = line.split("\t", n - 1)
        if len(cells) != n:
            raise InputError(
                f"{file.name}, line {number}: {len(cells)} tab-separated references, "
                f"{n} are expected (-nr)"
            )
        yield cells[column]


def system_columns(file: TextFile, *, baseline: bool) -> list[SystemRows]:
    """Systems from a stream with a system's translations in each of its tab-separated columns.

    They are called System 1 and so on; baseline: the first is called Baseline, and the count
    starts after it, as sacreBLEU has it. Raises InputError for a line of another width.
    """
    width = _width(file)
    names = [f"System {number}" for number in range(1, width + 1)]
    if baseline:
        names = ["Baseline", *names[:-1]]
    columns = (
        MadeFile(f"{file.name}, column {column + 1}", _cells(file, width, column), file)
        for column in range(width)
    )
    return [
        replace(scan_lines(column), name=name) for column, name in zip(columns, names, strict=True)
    ]


def _width(file: TextFile) -> int:
    """Columns of the first line; tabs that only end it do not count."""
    for line in file.lines():
        return line.rstrip().count("\t") + 1
    return 1


def _cells(file: TextFile, width: int, column: int) -> Iterator[str]:
    for number, line in enumerate(file.lines(), 1):
        cells = line.split("\t")
        if len(cells) < width or any(cell.strip() for cell in cells[width:]):
            raise InputError(
                f"{file.name}, line {number}: {len(cells)} tab-separated columns instead of "
                f"{width}, as line 1 has (a column is a system; tabs that end a line do not count)"
            )
        yield cells[column]
