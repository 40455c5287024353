"""A tiny reply schema for tests of the layers around a model."""

from __future__ import annotations

from mmad_metric.chat import ChatRequest, Message, ReplySchema, UnreadableReply


def read_word(text: str, texts: tuple[str, str]) -> str:
    if not text.startswith("ok"):
        raise UnreadableReply(f"not ok: {text[:20]}")
    return text


WORD = ReplySchema("word", {"type": "object"}, read_word)


def ask(content: str = "hello", role: str = "annotate", schema: ReplySchema = WORD) -> ChatRequest:
    return ChatRequest(role, (Message("user", content),), schema, ("src", "tgt"))
