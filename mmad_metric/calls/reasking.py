"""Asks again, a small fixed number of times, when a reply cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mmad_metric.chat import ChatModel, ChatRequest, Message, Reply, UnreadableReply, Usage
from mmad_metric.errors import Reason, SegmentFailure

REMINDER = (
    "That message could not be read. Answer once more with nothing but the one JSON object "
    "asked for."
)
_ASK_AGAIN = (Reason.EMPTY_REPLY, Reason.CUT_SHORT)


@dataclass(frozen=True, slots=True)
class ReaskingChat:
    """Wraps a model: at most 1 + `reasks` calls a request.

    An unreadable reply is shown to the model with a reminder; an empty one is asked for anew; a
    cut one with twice the room. The reply's usage is that of all the calls it took.
    """

    inner: ChatModel
    reasks: int

    async def complete(self, request: ChatRequest) -> Reply:
        spent = Usage()
        ask = request
        failure = SegmentFailure(Reason.UNREADABLE_REPLY)
        for _ in range(1 + self.reasks):
            try:
                reply = await self.inner.complete(ask)
                spent += reply.usage
                reply = reply.read(request)
            except SegmentFailure as caught:
                spent += caught.usage or Usage()
                failure = caught
                if caught.reason not in _ASK_AGAIN:
                    break
                if caught.reason is Reason.CUT_SHORT:
                    ask = replace(ask, room=ask.room * 2)
            except UnreadableReply as unreadable:
                failure = SegmentFailure(Reason.UNREADABLE_REPLY, str(unreadable))
                ask = _reminded(request, reply, ask.room)
            else:
                return replace(reply, usage=spent)
        raise SegmentFailure(failure.reason, failure.detail, spent)


def _reminded(request: ChatRequest, reply: Reply, room: int) -> ChatRequest:
    said = Message("assistant", reply.text)
    return replace(
        request, messages=(*request.messages, said, Message("user", REMINDER)), room=room
    )
