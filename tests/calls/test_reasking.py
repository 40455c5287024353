"""Unreadable replies are asked for again, never more often than set."""

from __future__ import annotations

import asyncio

import pytest

from mmad_metric.calls.reasking import REMINDER, ReaskingChat
from mmad_metric.chat import ChatRequest, Reply, Usage
from mmad_metric.errors import Reason, SegmentFailure
from tests.schemas import ask


class Listed:
    """Gives listed answers one after the other; the last one for ever."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Reply:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, str)
        return Reply(answer, usage=Usage(1, 10, 0, 1))


def failure(reason: Reason) -> SegmentFailure:
    return SegmentFailure(reason, "detail", Usage(1, 10, 0, 1))


def test_a_readable_reply_is_taken_at_once():
    inner = Listed("ok")
    assert asyncio.run(ReaskingChat(inner, 2).complete(ask())).usage.calls == 1


def test_an_unreadable_reply_is_shown_with_a_reminder_and_its_cost_is_counted():
    inner = Listed("junk", "ok")
    reply = asyncio.run(ReaskingChat(inner, 2).complete(ask()))
    assert reply.text == "ok"
    assert reply.usage == Usage(2, 20, 0, 2)
    roles = [(message.role, message.content) for message in inner.requests[1].messages]
    assert roles == [("user", "hello"), ("assistant", "junk"), ("user", REMINDER)]


def test_only_the_last_unreadable_reply_is_shown():
    inner = Listed("junk 1", "junk 2", "ok")
    asyncio.run(ReaskingChat(inner, 2).complete(ask()))
    assert [len(request.messages) for request in inner.requests] == [1, 3, 3]


@pytest.mark.parametrize("reasks", [0, 1, 3])
def test_calls_are_bounded_when_no_reply_can_ever_be_read(reasks: int):
    inner = Listed("junk")
    with pytest.raises(SegmentFailure) as caught:
        asyncio.run(ReaskingChat(inner, reasks).complete(ask()))
    assert caught.value.reason is Reason.UNREADABLE_REPLY
    assert len(inner.requests) == 1 + reasks
    assert caught.value.usage == Usage(1 + reasks, 10 * (1 + reasks), 0, 1 + reasks)


def test_a_reply_that_never_ends_gets_more_room_a_fixed_number_of_times():
    inner = Listed(failure(Reason.CUT_SHORT))
    with pytest.raises(SegmentFailure) as caught:
        asyncio.run(ReaskingChat(inner, 2).complete(ask()))
    assert caught.value.reason is Reason.CUT_SHORT
    assert [request.room for request in inner.requests] == [1, 2, 4]


def test_an_empty_reply_is_asked_for_anew():
    inner = Listed(failure(Reason.EMPTY_REPLY), "ok")
    assert asyncio.run(ReaskingChat(inner, 1).complete(ask())).text == "ok"
    assert len(inner.requests[1].messages) == 1


@pytest.mark.parametrize(
    "reason",
    [Reason.REFUSAL, Reason.CONTENT_FILTER, Reason.CONTEXT_LENGTH, Reason.TIMEOUT],
)
def test_what_asking_again_cannot_mend_is_not_asked_again(reason: Reason):
    inner = Listed(failure(reason))
    with pytest.raises(SegmentFailure) as caught:
        asyncio.run(ReaskingChat(inner, 2).complete(ask()))
    assert caught.value.reason is reason
    assert len(inner.requests) == 1
