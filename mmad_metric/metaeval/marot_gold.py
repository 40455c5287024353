"""WMT's MQM TSV as the human side: `--gold FILE.tsv` in place of score and rating files, gzipped
or not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.files.score_files import Score
from mmad_metric.labels import UNKNOWN_CATEGORY, UNKNOWN_SEVERITY
from mmad_metric.metaeval.human_spans import HumanSpans, read_human_spans
from mmad_metric.metaeval.layout import EvalSet, read_eval_set, read_folder
from mmad_metric.metaeval.marot import (
    OTHER_TEXT,
    SEVERAL,
    TAGS_IN_TEXT,
    UNCLOSED,
    Annotated,
    against_texts,
    read_marot,
    scores,
)
from mmad_metric.metaeval.ratings import RatedErrors
from mmad_metric.scoring import SCHEMES

_ENDINGS = (".tsv", ".tsv.gz")
# What is told of a row, by its flag.
_TOLD = {
    OTHER_TEXT: "annotate another text than the system's; their spans have no place",
    UNKNOWN_SEVERITY: "have an unknown severity; their errors count as minor",
    UNKNOWN_CATEGORY: "have an unknown category; their errors keep their severity's weight",
    UNCLOSED: "open a span and do not close it; it has no place",
    SEVERAL: "mark several spans; the first is taken",
    TAGS_IN_TEXT: "have tags of which the text does not tell the marks; their spans have no place",
}


def is_tsv(gold: str) -> bool:
    """Whether a gold's name is the path of a TSV."""
    return gold.lower().endswith(_ENDINGS)


def eval_set(folder: str, lp: str, gold: str, reference: str | None = None) -> EvalSet:
    """The human side under the gold's name in the folder, or of a TSV whose path `gold` is.

    reference: the standard one, by name; None: the usual one. Of a TSV, segment scores are the
    means over raters of minus the penalty (weights `wmt`), and system scores the means of these.
    Raises InputError.
    """
    if not is_tsv(gold):
        return read_eval_set(folder, lp, gold, reference)
    data = read_folder(folder, lp, reference)
    sources, _ = data.texts()
    found: dict[str, list[Score]] = {}
    rows = list(_rows(data, gold))
    for (system, segment), score in scores(rows, SCHEMES["wmt"]).items():
        found.setdefault(system, [None] * len(sources))[segment - 1] = score
    if not found:
        raise InputError(f"{readable(gold)}: no annotations in it")
    return replace(data, gold_segment=found, notes=tuple(_notes(gold, rows)))


def _notes(gold: str, rows: Sequence[Annotated]) -> Iterator[str]:
    """How many rows are odd in each way, and which is the first."""
    for flag, what in _TOLD.items():
        odd = [row for row in rows if flag in (*row.flags, *(row.error.flags if row.error else ()))]
        if not odd:
            continue
        said = f"{readable(gold)}: {len(odd)} of {len(rows)} rows {what} (first: line {odd[0].line}"
        error = odd[0].error
        raw = {UNKNOWN_SEVERITY: "raw_severity", UNKNOWN_CATEGORY: "raw_category"}.get(flag)
        yield said + (f", {getattr(error, raw)!r})" if raw and error else ")")


def human_spans(data: EvalSet, gold: str) -> HumanSpans:
    """Everyone's spans, of rating files or of a TSV. Raises InputError."""
    if not is_tsv(gold):
        return read_human_spans(data, gold)
    sources, outputs = data.texts()
    ratings: dict[str, dict[str, list[RatedErrors | None]]] = {}
    for row in _rows(data, gold):
        by_system = ratings.setdefault(row.rater, {})
        segments = by_system.setdefault(row.system, [None] * len(sources))
        known = segments[row.segment - 1] or ()
        segments[row.segment - 1] = known if row.error is None else (*known, row.error)
    lengths = {system: [len(text) for text in texts] for system, texts in outputs.items()}
    return HumanSpans(ratings, lengths)


def _rows(data: EvalSet, path: str) -> Iterator[Annotated]:
    """The rows with their places in the texts of the folder."""
    if not os.path.exists(path):
        raise InputError(f"{readable(path)}: no such file of annotations")
    sources, outputs = data.texts()
    for row in read_marot(path):
        where = f"{readable(path)}, line {row.line}"
        if not 1 <= row.segment <= len(sources):
            raise InputError(f"{where}: segment {row.segment} of {len(sources)}")
        texts: Sequence[str] = outputs.get(row.system, ())
        if row.segment > len(texts):
            raise InputError(
                f"{where}: system {row.system!r} has no translation of segment {row.segment} in "
                f"{readable(data.folder)}"
            )
        try:
            yield against_texts(row, sources[row.segment - 1], texts[row.segment - 1])
        except InputError as error:
            raise InputError(
                f"{where}: segment {row.segment} of sources/{data.lp}.txt: {error}"
            ) from None
