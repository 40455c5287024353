"""Puts beside each segment what the settings ask for: context, required terms, a reference."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from mmad_metric.config import MMADConfig
from mmad_metric.errors import InputError
from mmad_metric.glossary import Glossary
from mmad_metric.material import Material
from mmad_metric.pipeline import NO_TRANSLATION_SENTINEL
from mmad_metric.rating import Segment

# Rows of each document, by (system, document).
Sizes = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Beside:
    """What a look at all rows tells before any of them is rated.

    sizes: of documents; without_reference: rows that will be rated without one.
    """

    sizes: Sizes | None = None
    without_reference: int = 0

    def notices(self, glossary: Glossary | None = None) -> Iterator[str]:
        """What people should know before it begins, in lines."""
        if glossary is not None:
            count = len(glossary.terms)
            yield f"glossary {glossary.name}: {count} term{'' if count == 1 else 's'}"
        if self.without_reference:
            rows = (
                "1 row has"
                if self.without_reference == 1
                else f"{self.without_reference} rows have"
            )
            yield f"{rows} no reference, and will be rated without"


def look_beside(segments: Iterable[Segment], config: MMADConfig) -> Beside:
    """Look whether everything is there that shall be shown; reads on only where it must.

    A row without a reference is rated without one, unless all are. Raises InputError that says
    what is missing.
    """
    if not (config.context or config.use_reference):
        return Beside()
    sizes: Counter[tuple[str, str]] = Counter()
    rows = without = 0
    for segment in segments:
        rows += 1
        if config.context:
            sizes[segment.system, document_of(segment)] += 1
        without += not _reference(segment)
    if config.use_reference and rows and without == rows:
        raise InputError(
            "use_reference: there is no reference to show; give reference files, a test set, or "
            "references in the table"
        )
    return Beside(sizes if config.context else None, without if config.use_reference else 0)


def document_of(segment: Segment) -> str:
    """The document that the segment is of. Raises InputError where nobody says."""
    if segment.doc is None or not segment.doc.strip():
        system = f" of {segment.system}" if segment.system else ""
        raise InputError(
            f"context: row {segment.index + 1}{system} has no document, so that it is not known "
            "what precedes it; give --doc-ids FILE, a 'doc' in each line of JSONL, or docs=[…]"
        )
    return segment.doc


def with_material(
    segments: Iterable[Segment],
    config: MMADConfig,
    glossary: Glossary | None = None,
    sizes: Sizes | None = None,
) -> Iterator[Segment]:
    """The segments, in order, with their material. They come as they are where none is asked for.

    What precedes a segment are the earlier rows of its document and system in the order of the
    input. sizes: of documents, each of which is forgotten after its last row; without them the
    last rows of every document are held. Raises InputError for a row without a document.
    """
    if not config.shows():
        yield from segments
        return
    documents = _Documents(config.context, sizes)
    for segment in segments:
        material = Material(
            documents.before(segment) if config.context else (),
            glossary.occurring(segment.source) if glossary else (),
            _reference(segment) if config.use_reference else None,
        )
        yield replace(segment, material=material)


class _Documents:
    """The last rows of documents that are not finished."""

    def __init__(self, length: int, sizes: Sizes | None) -> None:
        self._length = length
        self._left = None if sizes is None else Counter(sizes)
        self._open: dict[tuple[str, str], deque[tuple[str, str]]] = {}

    def before(self, segment: Segment) -> tuple[tuple[str, str], ...]:
        """What precedes the segment, which from now on precedes the next one."""
        key = (segment.system, document_of(segment))
        rows = self._open.setdefault(key, deque(maxlen=self._length))
        before = tuple(rows)
        rows.append((segment.source, _shown(segment.translation)))
        if self._left is not None:
            self._left[key] -= 1
            if not self._left[key]:
                del self._open[key], self._left[key]
        return before


def _shown(translation: str) -> str:
    missing = translation.strip() in ("", NO_TRANSLATION_SENTINEL)
    return "" if missing else translation


def _reference(segment: Segment) -> str | None:
    reference = segment.reference
    return reference if reference and reference.strip() else None
