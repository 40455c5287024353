"""Many segments: bounded, in input order, streamed. Holds no more than a window of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator

from mmad_metric.pipeline import Method, rate_segment
from mmad_metric.rating import Segment, SegmentRating

# Segments under way per call in flight: enough that a slow head does not idle the others (the
# results come in input order), few enough that memory stays flat.
WINDOW_PER_CALL = 4
SMALLEST_WINDOW = 32


async def rate_segments(
    segments: Iterable[Segment],
    method: Method,
    known: Callable[[Segment], SegmentRating | None] = lambda _: None,
) -> AsyncGenerator[SegmentRating]:
    """Ratings in input order, one for every segment, as they get ready.

    `segments` is read lazily; what `known` gives a rating for is not rated. Closing the iterator
    early, an exception or a cancellation ends all work under way. Raises RunStopped when the run
    cannot go on; whatever came before it in input order has been yielded, whatever was paid is
    in the cache.
    """
    window = max(SMALLEST_WINDOW, WINDOW_PER_CALL * method.config.concurrency)
    source: Iterator[Segment] = iter(segments)
    under_way: deque[asyncio.Task[SegmentRating] | SegmentRating] = deque()
    try:
        while True:
            for segment in source:
                under_way.append(
                    known(segment) or asyncio.ensure_future(rate_segment(segment, method))
                )
                if len(under_way) >= window:
                    break
            if not under_way:
                return
            head = under_way[0]
            rating = await head if isinstance(head, asyncio.Task) else head
            under_way.popleft()
            yield rating
    finally:
        await _end(task for task in under_way if isinstance(task, asyncio.Task))


async def _end(tasks: Iterable[asyncio.Task[SegmentRating]]) -> None:
    left = list(tasks)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
