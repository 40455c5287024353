"""The bridge works wherever a synchronous caller may stand."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator

import pytest

from mmad_metric.blocking import iterate_blocking, run_blocking


async def answer() -> int:
    await asyncio.sleep(0)
    return 42


async def fail() -> int:
    raise LookupError("inside")


def test_twice_in_a_process():
    assert [run_blocking(answer), run_blocking(answer)] == [42, 42]


def test_inside_a_running_loop_as_in_a_notebook():
    async def cell() -> int:
        return run_blocking(answer)

    assert asyncio.run(cell()) == 42


def test_in_threads():
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(run_blocking(answer))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [42] * 4


def test_a_failure_is_raised_in_the_caller_with_and_without_a_loop():
    async def cell() -> int:
        return run_blocking(fail)

    with pytest.raises(LookupError, match="inside"):
        run_blocking(fail)
    with pytest.raises(LookupError, match="inside"):
        asyncio.run(cell())


def test_an_interrupt_inside_a_running_loop_cancels_the_work_and_waits_for_its_end(
    monkeypatch: pytest.MonkeyPatch,
):
    ended: list[str] = []
    begun = threading.Event()

    async def long() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleanly")

    join = threading.Thread.join
    calls: list[int] = []

    def interrupted_once(self: threading.Thread, timeout: float | None = None) -> None:
        calls.append(1)
        if len(calls) == 1:
            assert begun.wait(10)
            raise KeyboardInterrupt
        join(self, timeout)

    async def cell() -> None:
        monkeypatch.setattr(threading.Thread, "join", interrupted_once)
        run_blocking(long)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(cell())
    monkeypatch.undo()
    assert ended == ["cleanly"]


class Counting:
    """Numbers from a loop that goes on working between them; tells when it has ended."""

    def __init__(self) -> None:
        self.ended = False
        self.ticks = 0

    async def numbers(self) -> AsyncGenerator[int]:
        ticking = asyncio.ensure_future(self._tick())
        try:
            for number in range(3):
                await asyncio.sleep(0)
                yield number
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            self.ended = True

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.001)
            self.ticks += 1


def test_values_come_one_by_one_with_and_without_a_running_loop():
    async def cell() -> list[int]:
        return list(iterate_blocking(Counting().numbers))

    assert list(iterate_blocking(Counting().numbers)) == [0, 1, 2]
    assert asyncio.run(cell()) == [0, 1, 2]


def test_work_goes_on_while_the_caller_is_busy_with_a_value():
    counting = Counting()
    values = iterate_blocking(counting.numbers)
    next(values)
    before = counting.ticks
    for _ in range(1000):
        if counting.ticks > before + 3:
            break
        threading.Event().wait(0.005)
    assert counting.ticks > before + 3
    assert list(values) == [1, 2]


def test_closing_early_waits_for_a_clean_end_and_leaves_no_thread():
    counting, threads = Counting(), threading.active_count()
    values = iterate_blocking(counting.numbers)
    assert next(values) == 0
    values.close()  # type: ignore[attr-defined]
    assert counting.ended
    assert threading.active_count() == threads


def test_a_failure_between_values_is_raised_in_its_place():
    async def numbers() -> AsyncGenerator[int]:
        yield 1
        raise LookupError("inside")

    values, threads = iterate_blocking(numbers), threading.active_count()
    assert next(values) == 1
    with pytest.raises(LookupError, match="inside"):
        next(values)
    assert threading.active_count() == threads


def test_an_interrupt_while_waiting_for_a_value_ends_the_work(monkeypatch: pytest.MonkeyPatch):
    ended: list[str] = []
    under_way = threading.Event()

    async def numbers() -> AsyncGenerator[int]:
        try:
            under_way.set()
            await asyncio.sleep(60)
            yield 1
        finally:
            ended.append("cleanly")

    original = asyncio.run_coroutine_threadsafe
    calls: list[int] = []

    class Interrupted:
        def result(self) -> None:
            under_way.wait()
            raise KeyboardInterrupt

    def first_interrupted(work, loop):
        future = original(work, loop)
        calls.append(1)
        return Interrupted() if len(calls) == 1 else future

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", first_interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(iterate_blocking(numbers))
    assert ended == ["cleanly"]


HELD = """
from mmad_metric.blocking import iterate_blocking

async def numbers():
    for number in range(3):
        yield number

held = iterate_blocking(numbers)
print(next(held))
"""


def test_an_iterator_that_is_still_held_at_the_end_does_not_keep_the_interpreter():
    done = subprocess.run(
        [sys.executable, "-c", HELD], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
