"""The one bridge from synchronous callers to the async core."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
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
