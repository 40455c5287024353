"""A kept rating is the rating, for these texts and settings and for nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mmad_metric import memory
from mmad_metric.calls.cache import ReplyStore
from mmad_metric.chat import Usage
from mmad_metric.errors import Reason
from mmad_metric.memory import RatingMemory, memory_identity
from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.rating import (
    DebateRound,
    DimensionOutcome,
    Position,
    Segment,
    SegmentRating,
    Status,
)
from mmad_metric.spans import place

FOUND = (Annotation("Maus", Category("accuracy", "mistranslation"), Severity.MAJOR),)
SEGMENT = Segment("The red house.", "Das rote Maus \ud83d.", "sys", 7, "id-7", "doc", "ref")
RATING = SegmentRating(
    SEGMENT,
    Status.SCORED,
    -5.0,
    place(FOUND, SEGMENT.source, SEGMENT.translation),
    outcomes=(
        DimensionOutcome(
            "accuracy", FOUND, FOUND, (), (DebateRound(Position("a", FOUND), None, None),)
        ),
    ),
    analysis="Wrong word.",
    usage={"annotate": Usage(4, 100, 0, 10)},
    models=("m",),
    levels=("json_schema",),
)
PARTS: dict[str, Any] = {"model": "m", "weights": "mmad", "servers": {"judge": ("m", None)}}


@pytest.fixture
def store(tmp_path: Path) -> ReplyStore:
    return ReplyStore(tmp_path)


def test_what_was_kept_comes_back_whole_for_any_row_with_these_texts(store: ReplyStore):
    kept = RatingMemory(store, memory_identity(PARTS))
    assert kept.recall(SEGMENT) is None
    kept.keep(RATING)
    assert kept.recall(SEGMENT) == RATING
    elsewhere = replace(SEGMENT, system="other", index=0, id=None)
    assert kept.recall(elsewhere) == replace(RATING, segment=elsewhere)


@pytest.mark.parametrize(
    "other",
    [replace(SEGMENT, source="The red house"), replace(SEGMENT, translation="Das rote Maus"),
     Segment(SEGMENT.source + SEGMENT.translation, "")],
)  # fmt: skip
def test_other_texts_are_other_ratings(store: ReplyStore, other: Segment):
    kept = RatingMemory(store, memory_identity(PARTS))
    kept.keep(RATING)
    assert kept.recall(other) is None


@pytest.mark.parametrize(
    "change", [{"model": "n"}, {"weights": "wmt"}, {"servers": {"judge": ("m", "http://x")}}]
)
def test_another_setting_is_another_rating(store: ReplyStore, change: dict[str, Any]):
    RatingMemory(store, memory_identity(PARTS)).keep(RATING)
    assert RatingMemory(store, memory_identity(PARTS | change)).recall(SEGMENT) is None


def test_other_code_is_another_rating(store: ReplyStore, monkeypatch: pytest.MonkeyPatch):
    RatingMemory(store, memory_identity(PARTS)).keep(RATING)
    monkeypatch.setattr(memory, "_code_stamp", lambda: "changed")
    assert RatingMemory(store, memory_identity(PARTS)).recall(SEGMENT) is None


def test_a_failed_rating_and_one_without_calls_are_not_kept(store: ReplyStore):
    kept = RatingMemory(store, memory_identity(PARTS))
    kept.keep(SegmentRating(SEGMENT, Status.UNSCORED, reason=Reason.REFUSAL))
    kept.keep(replace(RATING, usage={}))
    assert kept.recall(SEGMENT) is None
