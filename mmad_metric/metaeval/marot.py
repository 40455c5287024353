"""MQM annotations as TSV, as WMT publishes them and the viewer Marot reads: an error a row.

The erroneous words stand between `<v>` and `</v>` in the target, or in the source. No quoting:
a quote is a character like any other. The columns are told by the header, never by their number:
files with and without a document's segment number are about, and a header that does not fit its
rows must not shift them. The format has no way to write a `<v>` that is part of a text: which tags
are marks is told by the text itself, where that is known (`against_texts`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import TextFile
from mmad_metric.labels import parse_category, parse_severity
from mmad_metric.metaeval.placing import shift
from mmad_metric.mqm import MQMError, Placement, Side
from mmad_metric.scoring import WeightScheme, mean

COLUMNS = ("system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category",
           "severity")  # fmt: skip
UNCLOSED = "unclosed_span"
SEVERAL = "several_spans"
TAGS_IN_TEXT = "tags_in_text"  # which tags are marks cannot be told
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
class Marked:
    """A text whose marks were read. text: without them; span: the marked stretch, code points,
    half-open, None where nothing is marked or the marks make no sense; flags: what is odd."""

    text: str
    span: tuple[int, int] | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotated:
    """One row. error: None where the rater found none; source, target: without the tags;
    segment: the global number, from 1 in WMT's files; flags: what is odd about the row; raw: source
    and target as they stand there."""

    line: int
    system: str
    doc: str
    segment: int
    rater: str
    source: str
    target: str
    error: MQMError | None
    flags: tuple[str, ...] = ()
    raw: tuple[str, str] = ("", "")


def read_marot(path: str) -> Iterator[Annotated]:
    """The rows, streamed. Left out are rows that test the raters' attention, and those without
    rater, category and severity, which tell about a segment and rate nothing.

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
        if not any(row[name].strip() for name in ("rater", "category", "severity")):
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
    raw = row["source"], row["target"]
    source, target = map(marked, raw)
    error = _label(row)
    return Annotated(
        number,
        row["system"],
        row.get("doc", ""),
        segment,
        row["rater"],
        source.text,
        target.text,
        None if error is None else _at(error, source, target),
        (*source.flags, *target.flags),
        raw,
    )


def _label(row: Mapping[str, str]) -> MQMError | None:
    """What the row says about its error, without a place; None where it says that there is none."""
    category = parse_category(row["category"])
    said = row["severity"].strip().casefold().replace("-", " ").replace("_", " ")
    if category is None or said == "no error":
        return None
    severity = parse_severity(row["severity"])
    return MQMError(
        "",
        category[0],
        severity[0],
        Side.TRANSLATION,
        None,
        None,
        Placement.UNPLACED,
        raw_category=category[1],
        raw_severity=severity[1],
        flags=(*category[2], *severity[2]),
    )


def _at(error: MQMError, source: Marked, target: Marked) -> MQMError:
    """The error where it is marked: in the target, else in the source, else nowhere."""
    in_source = target.span is None and source.span is not None
    side, text = (Side.SOURCE, source) if in_source else (Side.TRANSLATION, target)
    if text.span is None:
        return replace(
            error, text="", side=side, start=None, end=None, placement=Placement.UNPLACED
        )
    start, end = text.span
    return replace(
        error,
        text=text.text[start:end],
        side=side,
        start=start,
        end=end,
        placement=Placement.EXACT,
    )


def marked(raw: str) -> Marked:
    """The text of a field alone, its first marked stretch, and what is odd about the marks.

    A stretch that is opened and never closed has no end: it is flagged and has no place. So does
    one that is opened twice: one of the tags is text, or belongs to another error.
    """
    parts: list[str] = []
    length = end = 0
    opened: int | None = None
    nested = False
    spans: list[tuple[int, int]] = []
    for tag in _TAG.finditer(raw):
        parts.append(raw[end : tag.start()])
        length += len(parts[-1])
        end = tag.end()
        if tag.group() == "<v>":
            nested |= opened is not None
            opened = length if opened is None else opened
        elif opened is not None:
            spans.append((opened, length))
            opened = None
    flags = (UNCLOSED,) if opened is not None else ()
    if nested:
        flags, spans = (*flags, TAGS_IN_TEXT), []
    elif len(spans) > 1:
        flags = (*flags, SEVERAL)
    return Marked("".join([*parts, raw[end:]]), spans[0] if spans else None, flags)


def marked_in(raw: str, text: str, *, edges: bool = False) -> Marked | None:
    """The same where the text that is annotated is known; None where the field has another one.
    edges: white space around the texts makes no difference.

    Tags of the text itself are no marks: a mark is a pair of tags without which the field is the
    text. Where several pairs would do, the place is not known, and that is flagged.
    """
    if not _TAG.search(text):
        found = marked(raw)
        by = shift(found.text, text, edges=edges)
        return None if by is None else Marked(text, _within(found.span, by, text), found.flags)
    tags = list(_TAG.finditer(raw))
    spans = set()
    for first, opening in enumerate(tags):
        for closing in tags[first + 1 :]:
            if (opening.group(), closing.group()) != ("<v>", "</v>"):
                continue
            inside = raw[opening.end() : closing.start()]
            bare = raw[: opening.start()] + inside + raw[closing.end() :]
            by = shift(bare, text, edges=edges)
            if by is not None:
                spans.add(_within((opening.start(), opening.start() + len(inside)), by, text))
    if len(spans) == 1:
        return Marked(text, spans.pop())
    if spans:
        return Marked(text, flags=(TAGS_IN_TEXT,))
    return None if shift(raw, text, edges=edges) is None else Marked(text)


def _within(span: tuple[int, int] | None, by: int, text: str) -> tuple[int, int] | None:
    """The span moved, and cut where it leaves the text."""
    if span is None:
        return None
    start, end = (min(max(each + by, 0), len(text)) for each in span)
    return start, end


def against_texts(row: Annotated, source: str, output: str) -> Annotated:
    """The row as it stands to the test set's source and the system's own translation: offsets are
    those into them. Where people annotated another translation (an edit of it, say), the error
    keeps its words but not its place, and the row is flagged.

    Raises InputError for another source.
    """
    in_source = marked_in(row.raw[0], source, edges=True)
    if in_source is None:
        raise InputError(f"its source is another one: {quoted(row.source)}")
    in_target = marked_in(row.raw[1], output)
    flags = (*in_source.flags, *(in_target or marked(row.raw[1])).flags)
    error = row.error
    if in_target is None:
        flags = (*flags, OTHER_TEXT)
    if error is not None and in_target is not None:
        error = _at(error, in_source, in_target)
    elif error is not None and error.side is Side.SOURCE:
        error = _at(error, in_source, Marked(row.target))
    elif error is not None:
        error = replace(error, start=None, end=None, placement=Placement.UNPLACED)
    target = row.target if in_target is None else output
    return replace(row, source=source, target=target, error=error, flags=flags)


def has_tags(text: str) -> bool:
    """Whether a text holds what the format takes for a mark."""
    return _TAG.search(text) is not None


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
