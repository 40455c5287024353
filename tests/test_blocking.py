"""The bridge works wherever a synchronous caller may stand."""

from __future__ import annotations

import asyncio
import threading

import pytest

from mmad_metric.blocking import run_blocking


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
