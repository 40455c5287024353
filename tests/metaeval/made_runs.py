"""Run files of made-up ratings."""

from __future__ import annotations

from pathlib import Path

from mmad_metric.errors import Reason
from mmad_metric.files.run_file import RunWriter
from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.scoring import SCHEMES, scheme_table


def error(text, start, *, severity="minor", category="fluency/grammar", side=Side.TRANSLATION):
    dimension, _, subcategory = category.partition("/")
    placed = start is not None
    return MQMError(
        text,
        Category(dimension, subcategory or None),
        Severity(severity),
        side,
        start,
        start + len(text) if placed else None,
        Placement.EXACT if placed else Placement.UNPLACED,
    )


def rated(system, index, source, translation, errors=(), *, weights="wmt", doc=None):
    """A scored segment; errors None: unscored."""
    segment = Segment(source, translation, system, index, doc=doc)
    if errors is None:
        return SegmentRating(segment, Status.UNSCORED, reason=Reason.REFUSAL)
    score = SCHEMES[weights].segment_score(errors)
    return SegmentRating(segment, Status.SCORED, score, tuple(errors))


def write_run(path: Path, ratings, *, lp="en-de", weights="wmt", finished=True):
    table = scheme_table(SCHEMES[weights])
    with RunWriter(path) as writer:
        writer.write_header({"config": {"lp": lp, "weights": weights, "weight_table": table}})
        for each in ratings:
            writer.write_rating(each)
        if finished:
            writer.write_summary({})
        writer.commit()
    return path
