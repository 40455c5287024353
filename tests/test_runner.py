"""Many segments: in order, bounded, flat in memory, cleanly ended."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from mmad_metric.chat import ChatRequest, Reply
from mmad_metric.errors import Reason, RunStopped, SegmentFailure
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.runner import rate_segments
from mmad_metric.testing import ScriptedChat, reply_text, scripted_method


def segments(count: int) -> list[Segment]:
    return [Segment(f"Source {n}.", f"Satz {n}.", index=n) for n in range(count)]


class Jittery(ScriptedChat):
    """Answers after a random while."""

    async def complete(self, request: ChatRequest) -> Reply:
        await asyncio.sleep(random.random() / 200)
        return await super().complete(request)


def perfect(request: ChatRequest) -> str:
    return reply_text(request.schema.name)


def collect(chat: ScriptedChat, items: list[Segment], **options: Any) -> list[SegmentRating]:
    async def main() -> list[SegmentRating]:
        method = scripted_method(chat, **options)
        return [rating async for rating in rate_segments(items, method)]

    return asyncio.run(main())


def test_results_come_in_input_order_one_for_each_segment():
    ratings = collect(Jittery(perfect), segments(150))
    assert [rating.segment.index for rating in ratings] == list(range(150))
    assert all(rating.score == 0.0 for rating in ratings)


def test_input_is_read_only_a_window_ahead():
    read: list[int] = []

    def reading() -> Iterator[Segment]:
        for segment in segments(500):
            read.append(segment.index)
            yield segment

    async def main() -> int:
        method = scripted_method(perfect, concurrency=4)
        ahead = 0
        async for rating in rate_segments(reading(), method):
            ahead = max(ahead, len(read) - rating.segment.index)
        return ahead

    assert asyncio.run(main()) <= 33


def test_a_failing_segment_leaves_the_others_alone():
    def script(request: ChatRequest) -> str | Exception:
        if "Satz 3." in request.messages[-1].content:
            return SegmentFailure(Reason.CONTENT_FILTER, "no")
        return perfect(request)

    ratings = collect(ScriptedChat(script), segments(6))
    assert [rating.score for rating in ratings] == [0.0, 0.0, 0.0, None, 0.0, 0.0]
    assert ratings[3].reason is Reason.CONTENT_FILTER


def test_a_stopped_run_yields_what_came_before_and_ends_the_rest():
    def script(request: ChatRequest) -> str | Exception:
        if "Satz 5." in request.messages[-1].content:
            return RunStopped("quota")
        return perfect(request)

    async def main() -> tuple[list[SegmentRating], int]:
        got: list[SegmentRating] = []

        async def all_of_them() -> None:
            async for rating in rate_segments(segments(200), scripted_method(script)):
                got.append(rating)  # noqa: PERF401 - what came before the end is wanted

        with pytest.raises(RunStopped):
            await all_of_them()
        return got, len(asyncio.all_tasks())

    got, tasks = asyncio.run(main())
    assert [rating.segment.index for rating in got] == [0, 1, 2, 3, 4]
    assert tasks == 1


def test_closing_early_ends_all_work():
    async def main() -> int:
        ratings = rate_segments(segments(200), scripted_method(ScriptedChat(perfect, latency=0.01)))
        async for _ in ratings:
            break
        await ratings.aclose()
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


def test_rows_outside_the_sample_are_reported_as_such_without_a_call():
    async def main() -> list[SegmentRating]:
        method = scripted_method(chat)
        chosen = rate_segments(segments(10), method, not_sampled)
        return [rating async for rating in chosen]

    def not_sampled(segment: Segment) -> SegmentRating | None:
        outside = segment.index not in (2, 7)
        return SegmentRating(segment, Status.NOT_SAMPLED) if outside else None

    chat = ScriptedChat(perfect)
    ratings = asyncio.run(main())
    sampled = [rating.segment.index for rating in ratings if rating.status is Status.SCORED]
    assert sampled == [2, 7]
    assert len(ratings) == 10
    assert all(rating.score is None for rating in ratings if rating.segment.index not in (2, 7))
    assert len(chat.requests) == 8
