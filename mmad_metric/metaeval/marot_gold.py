"""WMT's MQM TSV as the human side: `--gold FILE.tsv` in place of score and rating files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import readable
from mmad_metric.files.score_files import Score
from mmad_metric.metaeval.human_spans import HumanSpans, read_human_spans
from mmad_metric.metaeval.layout import EvalSet, read_eval_set, read_folder
from mmad_metric.metaeval.marot import OTHER_TEXT, Annotated, against_output, read_marot, scores
from mmad_metric.metaeval.ratings import RatedErrors
from mmad_metric.scoring import SCHEMES

TSV = ".tsv"


def eval_set(folder: str, lp: str, gold: str) -> EvalSet:
    """The human side under the gold's name in the folder, or of a TSV whose path `gold` is.

    Of a TSV, segment scores are the means over raters of minus the penalty (weights `wmt`), and
    system scores the means of these. Raises InputError.
    """
    if not gold.endswith(TSV):
        return read_eval_set(folder, lp, gold)
    data = read_folder(folder, lp)
    sources, _ = data.texts()
    found: dict[str, list[Score]] = {}
    rows = list(_rows(data, gold))
    for (system, segment), score in scores(rows, SCHEMES["wmt"]).items():
        found.setdefault(system, [None] * len(sources))[segment - 1] = score
    elsewhere = sum(OTHER_TEXT in row.flags for row in rows)
    note = (
        f"{readable(gold)}: {elsewhere} of {len(rows)} rows annotate another text than the "
        "system's; their spans have no place"
    )
    notes = (note,) if elsewhere else ()
    return replace(data, gold_segment=found, notes=notes)


def human_spans(data: EvalSet, gold: str) -> HumanSpans:
    """Everyone's spans, of rating files or of a TSV. Raises InputError."""
    if not gold.endswith(TSV):
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
        if _plain(row.source) != _plain(sources[row.segment - 1]):
            raise InputError(
                f"{where}: its source is not that of segment {row.segment} in "
                f"sources/{data.lp}.txt: {quoted(row.source)}"
            )
        yield against_output(row, texts[row.segment - 1])


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").strip()
