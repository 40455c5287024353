"""The three formats of a system's translations: plain lines, TSV, JSONL, as counted rows.

Each `scan_…` reads a file once from end to end, refuses whatever is wrong in it, and gives
back what it holds: counts, and a function that streams the rows again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from mmad_metric.errors import InputError
from mmad_metric.files.json_lines import kind, read_object, well_formed
from mmad_metric.files.lines import TextFile

_TSV_WIDTHS = (2, 3)
_WITH_REFERENCE = 3
# "target" is no alias: in many data sets it is the reference.
TRANSLATION_KEYS = ("translation", "hypothesis", "prediction")


class Row(NamedTuple):
    """What one line of a system's file says. line: its number in the file, from 1."""

    line: int
    translation: str
    source: str | None = None
    reference: str | None = None
    id: str | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class LineCount:
    """Lines of a file, how many of them are blank, and the first blank one's number."""

    total: int = 0
    blank: int = 0
    first_blank: int = 0


@dataclass(frozen=True, slots=True)
class SystemRows:
    """One system's rows in one file.

    name: the name that the file itself gives, if any; own_sources, own_references: whether
    any row brings its own; rows: streams the rows, anew with each call.
    """

    file: TextFile
    count: LineCount
    rows: Callable[[], Iterator[Row]]
    name: str | None = None
    own_sources: bool = False
    own_references: bool = False


def count_lines(texts: Iterable[str]) -> LineCount:
    """Counts while it reads: memory stays flat."""
    total = blank = first = 0
    for total, text in enumerate(texts, 1):
        if not text or text.isspace():
            blank += 1
            first = first or total
    return LineCount(total, blank, first)


def scan_lines(file: TextFile) -> SystemRows:
    """A file of translations, one a line."""

    def rows() -> Iterator[Row]:
        return (Row(number, text) for number, text in enumerate(file.lines(), 1))

    return SystemRows(file, count_lines(file.lines()), rows)


def scan_tsv(file: TextFile) -> SystemRows:
    """A file of source, translation and perhaps reference, tab-separated, never quoted."""
    width = _tsv_width(file)
    rows = partial(_tsv_rows, file, width)
    return SystemRows(
        file,
        count_lines(row.translation for row in rows()),
        rows,
        own_sources=True,
        own_references=width == _WITH_REFERENCE,
    )


def _tsv_width(file: TextFile) -> int:
    """The first line's number of columns, which is then everybody's."""
    for text in file.lines():
        width = text.count("\t") + 1
        if width not in _TSV_WIDTHS:
            raise _wrong_width(file, 1, width, "2 or 3")
        return width
    return _TSV_WIDTHS[0]


def _tsv_rows(file: TextFile, width: int) -> Iterator[Row]:
    for number, text in enumerate(file.lines(), 1):
        cells = text.split("\t")
        if len(cells) != width:
            raise _wrong_width(file, number, len(cells), f"{width}, as line 1 has")
        yield Row(number, cells[1], cells[0], cells[2] if width == _WITH_REFERENCE else None)


def _wrong_width(file: TextFile, line: int, width: int, wanted: str) -> InputError:
    columns = "1 column" if width == 1 else f"{width} columns"
    return InputError(
        f"{file.name}, line {line}: {columns} instead of {wanted} "
        "(source, translation, optional reference; tab-separated, no quoting)"
    )


def scan_jsonl(file: TextFile, *, need_source: bool) -> list[SystemRows]:
    """A file of JSON objects, one a line: its systems in order of first appearance.

    need_source: every row must bring its source.
    """
    owners = array("I")  # per row, the number of its system: four bytes a row
    found: dict[str | None, _Tally] = {}
    for row, system in _json_rows(file, need_source=need_source):
        if found and (system is None) != (None in found):
            raise InputError(
                f"{file.name}, line {row.line}: every row names its 'system' or none does, "
                "and line 1 differs from this one"
            )
        tally = found.setdefault(system, _Tally(len(found)))
        owners.append(tally.number)
        tally.add(row)
    if len(found) <= 1:
        owners = array("I")
    if not found:
        found[None] = _Tally(0)
    return [
        SystemRows(
            file,
            LineCount(tally.total, tally.blank, tally.first_blank),
            partial(_owned_rows, file, owners, tally.number, need_source=need_source),
            system,
            tally.own_sources,
            tally.own_references,
        )
        for system, tally in found.items()
    ]


class _Tally:
    """What the first reading learns about one system of a JSONL file."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.total = self.blank = self.first_blank = 0
        self.own_sources = self.own_references = False

    def add(self, row: Row) -> None:
        self.total += 1
        if not row.translation or row.translation.isspace():
            self.blank += 1
            self.first_blank = self.first_blank or row.line
        self.own_sources |= row.source is not None
        self.own_references |= row.reference is not None


def _owned_rows(
    file: TextFile, owners: array[int], number: int, *, need_source: bool
) -> Iterator[Row]:
    """One system's rows. Rows of other systems are passed over unread: no row is held and
    none is parsed twice for nothing. Without `owners` all rows are this system's."""
    for line, text in enumerate(file.lines(), 1):
        if not owners or (line <= len(owners) and owners[line - 1] == number):
            yield _json_row(file, line, text, need_source=need_source)[0]


def _json_rows(file: TextFile, *, need_source: bool) -> Iterator[tuple[Row, str | None]]:
    for line, text in enumerate(file.lines(), 1):
        yield _json_row(file, line, text, need_source=need_source)


def _json_row(file: TextFile, line: int, text: str, *, need_source: bool) -> tuple[Row, str | None]:
    """The row and the system that it names."""
    try:
        value = read_object(text)
        source = _text(value, "source")
        if source is None and need_source:
            raise InputError(
                "'source' is null, a string is expected"
                if "source" in value
                else "no 'source', and no file of sources is given"
            )
        row = Row(
            line,
            _translation(value),
            source,
            _text(value, "reference"),
            _label(value, "id"),
            _label(value, "doc"),
        )
        return row, _label(value, "system")
    except InputError as error:
        raise InputError(f"{file.name}, line {line}: {error}") from None


def _translation(value: dict[str, Any]) -> str:
    given = {key: text for key in TRANSLATION_KEYS if (text := _text(value, key)) is not None}
    if len(set(given.values())) > 1:
        raise InputError(f"{' and '.join(map(repr, given))} differ; give one of them")
    for text in given.values():
        return text
    for key in TRANSLATION_KEYS:
        if key in value:
            raise InputError(f"{key!r} is null, a string is expected")
    hint = " ('target' is not read, it may be a reference)" if "target" in value else ""
    raise InputError(f"no 'translation' (or 'hypothesis', 'prediction'){hint}")


def _text(value: dict[str, Any], key: str) -> str | None:
    """The text under the key, None when there is none. A lone surrogate is not text that could
    be sent or written anywhere: it becomes U+FFFD, one for one."""
    text = value.get(key)
    if text is None:
        return None
    if not isinstance(text, str):
        raise InputError(f"{key!r} is {kind(text)}, a string is expected")
    return well_formed(text)


def _label(value: dict[str, Any], key: str) -> str | None:
    """A name: a string, or a whole number, as ids often are."""
    label = value.get(key)
    if isinstance(label, int) and not isinstance(label, bool):
        return str(label)
    return _text(value, key)
