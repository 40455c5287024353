"""What bounds a run: calls in flight, money, and when to give up. One gate for all models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from mmad_metric.calls.prices import Price, worst_case
from mmad_metric.chat import ChatModel, ChatRequest, Reply, Usage
from mmad_metric.errors import Reason, RunStopped, SegmentFailure

# So many calls in a row that the server did not answer, each after its own retries, end a run.
GIVE_UP_AFTER = 10
# A server that has never answered gets fewer chances.
GIVE_UP_AT_START = 3
_NO_ANSWER = (Reason.CONNECTION, Reason.TIMEOUT, Reason.SERVER_ERROR, Reason.RATE_LIMITED)


@dataclass
class Gate:
    """Shared by all models of a run. Create it inside the running event loop.

    concurrency: calls in flight at most; max_cost: US dollars, None for no bound. `spent` and
    `usage` count what this run paid, cache hits not included.
    """

    concurrency: int
    max_cost: Decimal | None = None
    usage: Usage = field(default_factory=Usage)
    spent: Decimal = Decimal(0)
    _reserved: Decimal = Decimal(0)
    _unanswered: int = 0
    _answered: bool = False
    _stopped: RunStopped | None = None

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.concurrency)
        self._settled = asyncio.Condition()

    def check(self) -> None:
        """Raises RunStopped once the run has been stopped."""
        if self._stopped is not None:
            raise RunStopped(str(self._stopped))

    def stop(self, reason: RunStopped) -> None:
        """No further call leaves through this gate."""
        self._stopped = self._stopped or reason

    async def reserve(self, worst: Decimal) -> None:
        """Wait until the worst case of one more call fits the budget; stop if it never will."""
        if self.max_cost is None:
            return
        async with self._settled:
            while self.spent + self._reserved + worst > self.max_cost:
                if not self._reserved:
                    self.stop(
                        RunStopped(
                            f"the next call could take the cost past the ${self.max_cost} of "
                            f"--max-cost (${self.spent:.4f} spent)"
                        )
                    )
                self.check()
                await self._settled.wait()
            self._reserved += worst

    async def settle(self, worst: Decimal, cost: Decimal) -> None:
        """Replace a reservation by what the call did cost."""
        self.spent += cost
        if self.max_cost is None:
            return
        async with self._settled:
            self._reserved -= worst
            self._settled.notify_all()

    def answered(self) -> None:
        """The server gave some answer, so it is alive."""
        self._answered = True
        self._unanswered = 0

    def unanswered(self, failure: SegmentFailure) -> None:
        """Count a call without an answer; stop the run when there are too many in a row."""
        self._unanswered += 1
        allowed = GIVE_UP_AFTER if self._answered else GIVE_UP_AT_START
        if self._unanswered >= allowed:
            self.stop(
                RunStopped(
                    f"{self._unanswered} calls in a row had no answer ({failure.detail or failure})"
                )
            )

    @property
    def slots(self) -> asyncio.Semaphore:
        return self._slots


@dataclass(frozen=True, slots=True)
class LimitedChat:
    """Wraps a model so that each of its calls passes the gate.

    price: finds the price list that its calls are counted by, when the first one is made.
    """

    inner: ChatModel
    gate: Gate
    max_tokens: int
    price: Callable[[], Price | None] = lambda: None

    async def complete(self, request: ChatRequest) -> Reply:
        gate = self.gate
        async with gate.slots:
            gate.check()
            worst = self._worst_cost(request)
            await gate.reserve(worst)
            usage = Usage()
            try:
                reply = await self.inner.complete(request)
                usage = reply.usage
                gate.answered()
            except SegmentFailure as failure:
                usage = failure.usage or Usage()
                if failure.reason in _NO_ANSWER:
                    gate.unanswered(failure)
                else:
                    gate.answered()
                raise
            except RunStopped as stopped:
                gate.stop(stopped)
                raise
            finally:
                gate.usage += usage
                price = self.price()
                await gate.settle(worst, price.cost(usage) if price else Decimal(0))
            return reply

    def _worst_cost(self, request: ChatRequest) -> Decimal:
        price = None if self.gate.max_cost is None else self.price()
        if price is None:
            return Decimal(0)
        return price.cost(worst_case(request, self.max_tokens))
