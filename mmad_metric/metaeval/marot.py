"""MQM annotations as TSV, as WMT publishes them and the viewer Marot reads: an error a row.

The erroneous words stand between `<v>` and `</v>` in the target, or in the source. No quoting:
a quote is a character like any other. The columns are told by the header, never by their number:
files with and without a document's segment number are about, and a header that does not fit its
rows must not shift them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mmad_metric.errors import InputError
from mmad_metric.files.lines import TextFile
from mmad_metric.labels import parse_category, parse_severity
from mmad_metric.mqm import MQMError, Placement, Side
from mmad_metric.scoring import WeightScheme, mean

COLUMNS = ("system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category",
           "severity")  # fmt: skip
UNCLOSED = "unclosed_span"
SEVERAL = "several_spans"
OTHER_TEXT = "other_text"  # the annotated text is not the system's
# Other spellings of the columns, by ours.
_ALIASES = {
    "docSegId": ("doc_id", "doc_seg_id", "docsegid"),
    "globalSegId": ("seg_id", "segid", "global_seg_id", "globalsegid"),
}
_REQUIRED = ("system", "globalSegId", "rater", "source", "target", "category", "severity")
_TAG = re.compile(r"</?v>")
_ATTENTION = "hotw"  # rows that test the raters, planted errors: nobody's translation errors


@dataclass(frozen=True, slots=True)
class Annotated:
    """One row. error: None where the rater found none; source, target: without the tags;
    segment: the global number, from 1 in WMT's files; flags: what is odd about the row."""

    line: int
    system: str
    doc: str
    segment: int
    rater: str
    source: str
    target: str
    error: MQMError | None
    flags: tuple[str, ...] = ()


def read_marot(path: str) -> Iterator[Annotated]:
    """The rows, streamed; rows that test the raters' attention are left out.

    Raises InputError with file and line for a missing column, a row that does not have as many
    fields as the header, and a segment that is no number.
    """
    file = TextFile(path)
    lines = enumerate(file.lines(), 1)
    header = next(lines, (1, ""))[1].split("\t")
    places = _places(header, file.name)
    for number, line in lines:
        fields = line.split("\t")
        if len(fields) != len(header):
            raise InputError(
                f"{file.name}, line {number}: {len(fields)} fields, the header names {len(header)}"
            )
        row = {name: fields[place] for name, place in places.items()}
        if row["severity"].strip().casefold().startswith(_ATTENTION):
            continue
        try:
            yield _annotated(number, row)
        except InputError as error:
            raise InputError(f"{file.name}, line {number}: {error}") from None


def _places(header: Sequence[str], file: str) -> dict[str, int]:
    known = {name.strip().casefold(): place for place, name in enumerate(header)}
    places = {}
    for column in COLUMNS:
        for spelling in (column.casefold(), *_ALIASES.get(column, ())):
            if spelling in known:
                places[column] = known[spelling]
                break
    missing = [column for column in _REQUIRED if column not in places]
    if missing:
        raise InputError(
            f"{file}, line 1: a header with the columns {', '.join(COLUMNS)} is expected; "
            f"{', '.join(missing)} missing in {header!r}"
        )
    return places


def _annotated(number: int, row: Mapping[str, str]) -> Annotated:
    try:
        segment = int(row["globalSegId"])
    except ValueError:
        raise InputError(f"the segment is {row['globalSegId']!r}, not a number") from None
    source, in_source, source_flags = _untagged(row["source"])
    target, in_target, target_flags = _untagged(row["target"])
    flags = (*source_flags, *target_flags)
    error = _error(row, (source, in_source), (target, in_target))
    return Annotated(
        number, row["system"], row.get("doc", ""), segment, row["rater"], source, target, error,
        flags,
    )  # fmt: skip


def _error(
    row: Mapping[str, str],
    source: tuple[str, tuple[int, int] | None],
    target: tuple[str, tuple[int, int] | None],
) -> MQMError | None:
    category = parse_category(row["category"])
    said = row["severity"].strip().casefold().replace("-", " ").replace("_", " ")
    if category is None or said == "no error":
        return None
    severity = parse_severity(row["severity"])
    # Marked in the target, else in the source; an error marked nowhere is kept without place.
    side, (text, span) = (
        (Side.SOURCE, source) if target[1] is None and source[1] else (Side.TRANSLATION, target)
    )
    words = text[span[0] : span[1]] if span else ""
    return MQMError(
        words,
        category[0],
        severity[0],
        side,
        span[0] if span else None,
        span[1] if span else None,
        Placement.EXACT if span else Placement.UNPLACED,
        raw_category=category[1],
        raw_severity=severity[1],
        flags=(*category[2], *severity[2]),
    )


def _untagged(text: str) -> tuple[str, tuple[int, int] | None, tuple[str, ...]]:
    """The text without tags, its first marked stretch, and what is odd about the marks.

    A stretch that is opened and never closed has no end: it is flagged and has no place.
    """
    parts: list[str] = []
    length = end = 0
    opened: int | None = None
    spans: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        parts.append(text[end : tag.start()])
        length += len(parts[-1])
        end = tag.end()
        if tag.group() == "<v>":
            opened = length if opened is None else opened
        elif opened is not None:
            spans.append((opened, length))
            opened = None
    flags = (UNCLOSED,) if opened is not None else ()
    if len(spans) > 1:
        flags = (*flags, SEVERAL)
    return "".join([*parts, text[end:]]), spans[0] if spans else None, flags


def against_output(row: Annotated, output: str) -> Annotated:
    """The row as it stands to the system's own text: where people annotated another one (an edit
    of it, say), the error keeps its words but not its place, and the row is flagged."""
    if row.target == output:
        return row
    error = row.error
    if error is not None and error.side is Side.TRANSLATION and error.start is not None:
        error = MQMError(
            error.text, error.category, error.severity, error.side, None, None,
            Placement.UNPLACED, None, error.raw_category, error.raw_severity, error.flags,
        )  # fmt: skip
    return Annotated(
        row.line, row.system, row.doc, row.segment, row.rater, row.source, row.target, error,
        (*row.flags, OTHER_TEXT),
    )  # fmt: skip


def scores(rows: Iterable[Annotated], scheme: WeightScheme) -> dict[tuple[str, int], float]:
    """Scores by system and segment: of each rater minus the penalty, then the mean over raters."""
    errors: dict[tuple[str, int], dict[str, list[MQMError]]] = defaultdict(dict)
    for row in rows:
        by_rater = errors[row.system, row.segment].setdefault(row.rater, [])
        if row.error is not None:
            by_rater.append(row.error)
    return {
        key: mean([scheme.segment_score(found) for found in by_rater.values()]) or 0.0
        for key, by_rater in errors.items()
    }


def marot_lines(row: Annotated) -> str:
    """A row to write, with its LF. Raises InputError for a text that a TSV cannot hold."""
    source, target = row.source, row.target
    error = row.error
    if error is not None and error.start is not None and error.end is not None:
        if error.side is Side.SOURCE:
            source = _tagged(source, error.start, error.end)
        else:
            target = _tagged(target, error.start, error.end)
    category, severity = ("No-error", "no-error") if error is None else (
        str(error.category), error.severity.value)  # fmt: skip
    fields = (row.system, row.doc, str(row.segment), str(row.segment), row.rater, source, target,
              category, severity)  # fmt: skip
    for name, text in zip(COLUMNS, fields, strict=True):
        if any(sign in text for sign in "\t\n\r"):
            raise InputError(
                f"system {row.system!r}, segment {row.segment}: the {name} holds a tab or line "
                "break, which a TSV cannot; export spans instead"
            )
    return "\t".join(fields) + "\n"


def _tagged(text: str, start: int, end: int) -> str:
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
