"""The one bridge from synchronous callers to the async core."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

Value = TypeVar("Value")


def run_blocking(work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Run `work()` to its end and return its value.

    Works with or without a running event loop in this thread (Jupyter), from any thread, any
    number of times. A KeyboardInterrupt cancels the work, waits for its clean end and is raised.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _run_in_thread(work)


def _run_in_thread(work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    outcome: list[Value] = []
    failure: list[BaseException] = []
    cancel: list[Callable[[], object]] = []
    started = threading.Event()

    async def main() -> None:
        task = asyncio.ensure_future(work())
        loop = asyncio.get_running_loop()
        cancel.append(lambda: loop.call_soon_threadsafe(task.cancel))
        started.set()
        outcome.append(await task)

    def target() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failure.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=target, name="mmad-metric")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        started.wait()
        for each in cancel:
            each()
        thread.join()
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def iterate_blocking(make: Callable[[], AsyncGenerator[Value]]) -> Iterator[Value]:
    """The values of `make()`, fetched one at a time as they are asked for.

    The work lives in a thread of its own: what is under way goes on while the caller is busy with
    a value, and a running loop in the caller's thread does no harm. Closing the iterator early, or
    a KeyboardInterrupt, cancels the work and waits for its clean end.
    """
    loop = asyncio.new_event_loop()
    # A daemon: an iterator that somebody still holds must not keep the interpreter alive.
    thread = threading.Thread(target=loop.run_forever, name="mmad-metric", daemon=True)
    thread.start()
    values = make()
    steps: list[asyncio.Task[Any]] = []
    ended = object()

    async def step() -> Any:
        steps[:] = [asyncio.ensure_future(anext(values, ended))]
        return await steps[0]

    async def end() -> None:
        for task in steps:
            task.cancel()
        await asyncio.gather(*steps, return_exceptions=True)
        await values.aclose()
        await loop.shutdown_default_executor()

    try:
        while (value := asyncio.run_coroutine_threadsafe(step(), loop).result()) is not ended:
            yield value
    finally:
        if not sys.is_finalizing():  # then the thread is gone, and nobody would answer
            asyncio.run_coroutine_threadsafe(end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
