"""One call to a real HTTP server: what comes back, what fails how, and what never shows."""

from __future__ import annotations

import ast
import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.chat import ChatRequest, Message, Usage
from mmad_metric.errors import Reason, RunStopped, SegmentFailure
from mmad_metric.servers import client
from mmad_metric.servers.openai_chat import OpenAIChat
from tests import loopback_replies as replies
from tests.asking import EMPTY, a_request, an_endpoint, ask, ask_all, ask_at_once
from tests.loopback import LoopbackServer, Scripted


def failure(
    answer: replies.Answer | replies.Script, **settings: Any
) -> tuple[SegmentFailure, LoopbackServer]:
    with LoopbackServer(answer) as server, pytest.raises(SegmentFailure) as caught:
        ask(server, **settings)
    return caught.value, server


def stop(answer: replies.Answer | replies.Script, **settings: Any) -> tuple[str, LoopbackServer]:
    with LoopbackServer(answer) as server, pytest.raises(RunStopped) as caught:
        ask(server, **settings)
    return str(caught.value), server


def test_a_reply_carries_text_model_usage_and_level() -> None:
    usage = {
        "prompt_tokens": 1500,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1024},
    }
    with LoopbackServer(Scripted(EMPTY, usage=usage, model="judge-1-2026")) as server:
        reply = ask(server)
    assert (reply.text, reply.model, reply.finish_reason) == (EMPTY, "judge-1-2026", "stop")
    assert reply.usage == Usage(1, 1500, 1024, 7)
    assert (reply.level, reply.adapted) == ("json_schema", ())


def test_a_request_sends_the_minimum() -> None:
    """E6, E7: standard fields only."""
    with LoopbackServer(EMPTY) as server:
        ask(server, a_request(room=2))
        ask(server, temperature=None, level="text", extra_body={"seed": 7})
    first, second = (call.body for call in server.calls)
    assert set(first) == {"model", "messages", "temperature", "max_tokens", "response_format"}
    assert (first["temperature"], first["max_tokens"]) == (0.0, 2048)
    assert server.calls[0].schema == "dimension_annotations"
    assert first["response_format"]["json_schema"]["strict"] is True
    assert set(second) == {"model", "messages", "max_tokens", "seed"}


def test_lone_surrogates_and_odd_characters_reach_the_server() -> None:
    with LoopbackServer(EMPTY) as server:
        ask(server, a_request("a\ud83db \ud83d\ude00 \u2028 {0} \x00 %s 😀"))
    assert server.calls[0].prompt == "a\ufffdb 😀 \u2028 {0} \x00 %s 😀"


@pytest.mark.parametrize(
    ("answer", "reason", "calls"),
    [
        (replies.only_reasoning(), Reason.EMPTY_REPLY, 1),
        (replies.only_reasoning(finish="length"), Reason.CUT_SHORT, 1),
        (replies.whitespace(), Reason.EMPTY_REPLY, 1),
        (Scripted("", finish_reason="stop"), Reason.EMPTY_REPLY, 1),
        (replies.cut_short(), Reason.CUT_SHORT, 1),
        (replies.refusing(), Reason.REFUSAL, 1),
        (replies.filtered_reply("half"), Reason.CONTENT_FILTER, 1),
        (replies.malformed(), Reason.SERVER_ERROR, 3),
        (replies.no_choices(), Reason.SERVER_ERROR, 3),
        (replies.html_page(), Reason.SERVER_ERROR, 3),
    ],
)
def test_an_unusable_reply_is_a_reason_with_its_usage(
    answer: Scripted, reason: Reason, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E2, E3, E8: reasoning is never the answer, few calls, the cost is kept."""
    monkeypatch.setattr("mmad_metric.servers.openai_chat.BROKEN_BODY_WAITS", (0.01, 0.01))
    found, server = failure(answer)
    assert (found.reason, server.call_count) == (reason, calls)
    assert found.usage is not None
    assert found.usage.calls == calls
    assert found.detail


def test_a_broken_body_is_asked_for_again() -> None:
    with LoopbackServer(replies.in_turn([replies.malformed(), EMPTY])) as server:
        reply = ask(server)
    assert (reply.text, reply.usage.calls) == (EMPTY, 2)


@pytest.mark.parametrize(
    ("answer", "reason", "calls"),
    [
        (replies.content_filtered(), Reason.CONTENT_FILTER, 1),
        (replies.context_too_long(), Reason.CONTEXT_LENGTH, 1),
        (replies.rate_limited(), Reason.RATE_LIMITED, 3),
        (replies.server_error(), Reason.SERVER_ERROR, 3),
        (replies.server_error(503), Reason.SERVER_ERROR, 3),
        (replies.html_page(502), Reason.SERVER_ERROR, 3),
        (replies.error(400, "Invalid value", param="messages[1].content"), Reason.BAD_REQUEST, 1),
    ],
)
def test_an_error_is_a_reason_and_retried_only_if_that_helps(
    answer: Scripted, reason: Reason, calls: int
) -> None:
    """E4, E15: max_retries=2 means three calls at most."""
    found, server = failure(answer)
    assert (found.reason, server.call_count) == (reason, calls)
    assert found.usage is None


def test_a_content_filter_spares_the_other_segments() -> None:
    """E4: one of three is filtered."""

    def script(call: replies.ReceivedCall) -> replies.Answer:
        return replies.content_filtered() if "bad" in call.prompt else EMPTY

    with LoopbackServer(script) as server:
        found = ask_at_once(server, [a_request(text) for text in ("good", "bad", "fine")])
    assert [isinstance(one, SegmentFailure) for one in found] == [False, True, False]
    assert server.call_count == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (replies.unauthorized(), "does not accept the API key"),
        (replies.forbidden(), "does not accept the API key"),
        (replies.quota_exhausted(), "quota or balance"),
        (
            replies.raw_error(402, {"error": {"message": "Insufficient Balance"}}),
            "quota or balance",
        ),
        (replies.raw_error(429, {"error": {"type": "insufficient_quota"}}), "quota or balance"),
        (replies.error(400, "Model Not Exist", param="model"), "no model 'judge-1'"),
    ],
)
def test_what_no_call_can_cure_stops_the_run_at_the_first(answer: Scripted, words: str) -> None:
    """E15: one call, however many retries are allowed."""
    said, server = stop(answer, max_retries=6)
    assert words in said
    assert server.call_count == 1


def test_retry_after_is_honoured_by_one_layer() -> None:
    """E15."""
    script = replies.in_turn([replies.rate_limited(300), replies.rate_limited(300), EMPTY])
    with LoopbackServer(script) as server:
        started = time.monotonic()
        assert ask(server).text == EMPTY
        waited = time.monotonic() - started
    assert server.call_count == 3
    assert 0.6 <= waited < 5


def test_nothing_listening_is_no_connection() -> None:
    """E15: a dead server is told from a slow one, with the address."""
    with pytest.raises(SegmentFailure) as caught:
        ask("http://127.0.0.1:9/v1", max_retries=0)
    assert caught.value.reason is Reason.CONNECTION
    assert "no connection to http://127.0.0.1:9/v1: " in caught.value.detail


@pytest.mark.parametrize("where", ["before", "mid"])
def test_a_dropped_connection_is_retried_then_a_reason(where: Any) -> None:
    script = replies.in_turn([replies.dropped(where), EMPTY])
    with LoopbackServer(script) as server:
        assert ask(server).text == EMPTY
    found, server = failure(replies.dropped(where), max_retries=0)
    assert (found.reason, server.call_count) == (Reason.CONNECTION, 1)


def test_a_silent_server_is_a_timeout() -> None:
    found, server = failure(Scripted(EMPTY, delay=5), timeout=0.2, max_retries=1)
    assert (found.reason, server.call_count) == (Reason.TIMEOUT, 2)
    assert "within 0.2 s" in found.detail


def test_broken_http_is_no_connection() -> None:
    async def run() -> None:
        async def garble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"NONSENSE\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(garble, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with OpenAIChat(an_endpoint(f"http://127.0.0.1:{port}/v1", max_retries=0)) as chat:
            with pytest.raises(SegmentFailure) as caught:
                await chat.complete(a_request())
        assert caught.value.reason is Reason.CONNECTION
        server.close()

    asyncio.run(run())


def test_never_more_in_flight_than_asked_for() -> None:
    """E12: 300 calls, 16 connections, no pool timeout though all wait longer than `timeout`."""
    with LoopbackServer(EMPTY, latency=0.05) as server:
        found = ask_at_once(server, [a_request()] * 300, concurrency=16, timeout=0.5)
    assert not [one for one in found if isinstance(one, BaseException)]
    assert server.max_in_flight <= 16
    assert server.connections <= 16


def test_works_in_one_event_loop_after_the_other(capfd: pytest.CaptureFixture[str]) -> None:
    """E13: the same object, closed in between, and without a word on stderr."""

    async def once(chat: OpenAIChat) -> None:
        async with chat:
            assert (await chat.complete(a_request())).text == EMPTY

    with LoopbackServer(EMPTY) as server:
        chat = OpenAIChat(an_endpoint(server))
        asyncio.run(once(chat))
        asyncio.run(once(chat))
    assert capfd.readouterr() == ("", "")


def test_roles_must_alternate() -> None:
    """E10."""
    schema = a_request().schema
    with LoopbackServer(EMPTY) as server:
        for roles in (
            ["user", "user"],
            ["system"],
            ["system", "system", "user"],
            ["assistant"],
            ["user", "assistant"],
            [],
            ["user", "system", "user"],
        ):
            messages = tuple(Message(role, "x") for role in roles)  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="messages"):
                ask(server, ChatRequest("pro", messages, schema, ("a", "b")))
    assert server.call_count == 0


def test_warns_once_when_the_server_reads_less_than_was_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """E9."""
    usage = {"prompt_tokens": 1024, "completion_tokens": 3}
    with LoopbackServer(Scripted(EMPTY, usage=usage)) as server:
        ask_all(server, [a_request("Wort " * 4000)] * 3)
    assert [
        record.levelname for record in caplog.records if "cutting prompts" in record.message
    ] == ["WARNING"]


def test_imports_neither_http_library_itself() -> None:
    """E16: which one the client builds on has changed before."""
    tree = ast.parse(Path(client.__file__).read_text("utf-8"))
    names = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.startswith(("httpx", "aiohttp"))]


def test_works_without_aiohttp(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's other transport, with the same meanings of errors."""

    def missing(**options: Any) -> None:
        raise RuntimeError("the aiohttp extra is not installed")

    monkeypatch.setattr("openai.DefaultAioHttpClient", missing)
    with LoopbackServer(replies.in_turn([replies.quota_exhausted(), EMPTY])) as server:
        with pytest.raises(RunStopped):
            ask(server)
        assert ask(server).text == EMPTY
    for answer, reason in (
        (replies.dropped("mid"), Reason.CONNECTION),
        (replies.dropped(), Reason.CONNECTION),
        (Scripted(EMPTY, delay=5), Reason.TIMEOUT),
    ):
        found, _ = failure(answer, max_retries=0, timeout=0.3)
        assert found.reason is reason
