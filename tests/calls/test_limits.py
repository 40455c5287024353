"""No more calls in flight, no more money, no more hope than the limits allow."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from mmad_metric.calls.limits import GIVE_UP_AFTER, GIVE_UP_AT_START, Gate, LimitedChat
from mmad_metric.calls.prices import find_price
from mmad_metric.chat import ChatRequest, Reply, Usage
from mmad_metric.errors import Reason, RunStopped, SegmentFailure
from tests.schemas import ask


class Slow:
    """Counts calls and how many are in flight; answers or fails as told."""

    def __init__(self, answer: Exception | None = None, usage: Usage = Usage(1)) -> None:
        self.answer = answer
        self.usage = usage
        self.calls = self.now = self.most = 0

    async def complete(self, request: ChatRequest) -> Reply:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if self.answer is not None:
            raise self.answer
        return Reply("ok", usage=self.usage)


def run_many(inner: Slow, count: int, **limits: object) -> tuple[Gate, list[object]]:
    async def main() -> tuple[Gate, list[object]]:
        gate = Gate(int(str(limits.get("concurrency", 4))), limits.get("max_cost"))  # type: ignore[arg-type]
        price = find_price("gpt-4o-mini", None)
        chat = LimitedChat(inner, gate, 1000, lambda: price)
        results = await asyncio.gather(
            *(chat.complete(ask("x" * 4000 + str(n))) for n in range(count)),
            return_exceptions=True,
        )
        return gate, list(results)

    return asyncio.run(main())


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_never_more_in_flight_than_allowed_and_never_idle(concurrency: int):
    inner = Slow()
    run_many(inner, 50, concurrency=concurrency)
    assert inner.most == concurrency


def test_the_account_counts_every_call_failed_ones_too():
    gate, _ = run_many(Slow(usage=Usage(1, 100, 20, 10)), 5)
    assert gate.usage == Usage(5, 500, 100, 50)
    failing = Slow(SegmentFailure(Reason.CUT_SHORT, "", Usage(1, 100, 0, 9)))
    gate, _ = run_many(failing, 5)
    assert gate.usage == Usage(5, 500, 0, 45)


def test_the_bound_on_cost_is_never_passed_and_is_used():
    # gpt-4o-mini: $0.15 and $0.60 a million tokens: 1,000 + 1,000 tokens cost $0.00075.
    inner = Slow(usage=Usage(1, 1000, 0, 1000))
    gate, results = run_many(inner, 50, max_cost=Decimal("0.01"))
    assert gate.spent <= Decimal("0.01")
    assert inner.calls == 13
    assert sum(isinstance(each, RunStopped) for each in results) == 37


def test_a_call_waits_for_reservations_to_settle_rather_than_stop():
    # Each call could cost $0.00083 and costs $0.00006: one after the other all ten fit.
    inner = Slow(usage=Usage(1, 100, 0, 75))
    _, results = run_many(inner, 10, max_cost=Decimal("0.0015"))
    assert all(isinstance(each, Reply) for each in results)


def test_a_refused_run_stops_all_further_calls():
    inner = Slow(RunStopped("no such model"))
    _, results = run_many(inner, 50, concurrency=1)
    assert inner.calls == 1
    assert all(isinstance(each, RunStopped) for each in results)


def test_a_server_that_never_answers_ends_the_run_after_a_few_calls():
    inner = Slow(SegmentFailure(Reason.CONNECTION, "refused"))
    _, results = run_many(inner, 50, concurrency=1)
    assert inner.calls == GIVE_UP_AT_START
    assert isinstance(results[-1], RunStopped)
    assert "refused" in str(results[-1])


def test_a_server_that_dies_ends_the_run_and_one_that_falters_does_not():
    async def main(pattern: str) -> list[object]:
        inner = Slow()
        chat = LimitedChat(inner, Gate(1), 100)
        results: list[object] = []
        for mark in pattern:
            inner.answer = None if mark == "+" else SegmentFailure(Reason.SERVER_ERROR, "500")
            try:
                results.append(await chat.complete(ask()))
            except (SegmentFailure, RunStopped) as error:
                results.append(error)
        return results

    dead = asyncio.run(main("+" + "-" * (GIVE_UP_AFTER + 1)))
    assert isinstance(dead[-1], RunStopped)
    faltering = asyncio.run(main(("-" * (GIVE_UP_AT_START - 1) + "+") * 30))
    assert not any(isinstance(each, RunStopped) for each in faltering)


def test_an_answer_that_cannot_be_used_is_still_a_sign_of_life():
    inner = Slow(SegmentFailure(Reason.REFUSAL, "no"))
    _, results = run_many(inner, 40, concurrency=1)
    assert all(isinstance(each, SegmentFailure) for each in results)
