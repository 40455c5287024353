"""Files that belong together line by line: counted, and refused where their counts differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mmad_metric.errors import InputError
from mmad_metric.files.lines import TextFile
from mmad_metric.files.tables import LineCount, SystemRows, count_lines


@dataclass(frozen=True, slots=True)
class LineFile:
    """A file of sources, references or document ids, counted."""

    file: TextFile
    count: LineCount


def counted(file: TextFile) -> LineFile:
    return LineFile(file, count_lines(file.lines()))


def check_counts(
    sources: LineFile | None, rows: Sequence[SystemRows], beside: Sequence[LineFile]
) -> None:
    """Every file against the sources, or without them against the first system."""
    first: SystemRows | LineFile = sources or rows[0]
    others: list[SystemRows | LineFile] = [*rows, *beside]
    for other in others:
        if other.count.total != first.count.total:
            raise InputError(
                f"the files are not parallel: {_counts(first)}, {_counts(other)}"
                f"{_blank_hint(first)}{_blank_hint(other)}"
            )


def _counts(part: SystemRows | LineFile) -> str:
    name = getattr(part, "name", None)
    total = part.count.total
    if name:
        return f"{part.file.name} has {total} {'row' if total == 1 else 'rows'} of system {name!r}"
    return f"{part.file.name} has {total} {'line' if total == 1 else 'lines'}"


def _blank_hint(part: SystemRows | LineFile) -> str:
    if not part.count.blank:
        return ""
    if part.count.blank == 1:
        return f"; line {part.count.first_blank} of {part.file.name} is blank"
    return (
        f"; {part.count.blank} lines of {part.file.name} are blank, "
        f"the first is line {part.count.first_blank}"
    )
