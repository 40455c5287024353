"""What one run learns about a server that refuses parts of a request."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mmad_metric.chat import Reply
from mmad_metric.errors import Reason, RunStopped, SegmentFailure
from mmad_metric.servers.openai_chat import OpenAIChat
from tests import loopback_replies as replies
from tests.asking import EMPTY, a_request, an_endpoint, ask, ask_all, ask_at_once
from tests.loopback import LoopbackServer
from tests.loopback_replies import error, picky, raw_error


def answer(call: replies.ReceivedCall) -> str:
    return EMPTY


@pytest.mark.parametrize(
    ("parts", "level", "adapted"),
    [
        (("temperature",), "json_schema", ("no-temperature",)),
        (("max_tokens",), "json_schema", ("max-completion-tokens",)),
        (("temperature", "max_tokens"), "json_schema", ("max-completion-tokens", "no-temperature")),
        (("max_tokens", "max_completion_tokens"), "json_schema", ("no-token-limit",)),
        (("json_schema",), "json_object", ()),
        (("json_schema", "json_object"), "text", ()),
        (("response_format",), "text", ()),
        (("system",), "json_schema", ("folded-system",)),
        (
            ("json_schema", "temperature", "max_tokens", "system"),
            "json_object",
            ("folded-system", "max-completion-tokens", "no-temperature"),
        ),
    ],
)
def test_a_refused_part_is_left_out_from_then_on(
    parts: tuple[str, ...], level: str, adapted: tuple[str, ...]
) -> None:
    """E5, E8, E10: learnt at the first call, in force for the second, shown in the reply."""
    with LoopbackServer(picky(answer, *parts)) as server:
        first, second = ask_all(server, [a_request(), a_request()])
    assert first.text == second.text == EMPTY
    assert (second.level, second.adapted) == (level, adapted)
    assert not [part for part in parts if replies.has(server.calls[-1], part)]
    refusals = server.call_count - 2
    assert refusals <= len(parts) + 1
    assert second.usage.calls == 1


def test_folding_keeps_the_system_text() -> None:
    with LoopbackServer(picky(answer, "system")) as server:
        ask(server, a_request("Rate it.", system="You rate."))
        ask(server, a_request("Rate it.", system="You rate."), fold_system=True)
    for call in server.calls[1:]:
        assert call.messages == [{"role": "user", "content": "You rate.\n\nRate it."}]


def test_the_first_name_of_the_token_limit_fits_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compatible servers know max_tokens; OpenAI's own newer models do not."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000")
    with LoopbackServer(answer) as server:
        monkeypatch.setattr("mmad_metric.addresses.OPENAI_URL", server.url)
        ask(server)
        ask("", base_url=None, api_key=None)
    assert ["max_tokens" in call.body for call in server.calls] == [True, False]
    assert server.calls[1].body["max_completion_tokens"] == 1024


@pytest.mark.parametrize(
    "parts",
    [
        ("temperature",),
        ("max_tokens",),
        ("json_schema", "temperature", "system"),
    ],
)
def test_calls_at_once_are_each_refused_at_most_once_for_a_part(parts: tuple[str, ...]) -> None:
    """E5: no failure, and nothing refused once the last of the first calls is through."""
    with LoopbackServer(picky(answer, *parts), latency=0.05) as server:
        found = ask_at_once(server, [a_request()] * 40, gate=8)
    assert all(isinstance(one, Reply) for one in found)
    refused = [call for call in server.calls if any(replies.has(call, part) for part in parts)]
    assert len(refused) <= 8 * len(parts)


@pytest.mark.parametrize(
    "parts",
    [
        ("json_schema",),
        ("json_schema", "json_object"),
        ("temperature",),
        ("max_tokens",),
        ("system",),
        ("response_format", "temperature", "system"),
    ],
)
def test_an_unspecific_refusal_is_probed_once_a_run(parts: tuple[str, ...]) -> None:
    """The first call finds out what the server minds while the others wait for it."""
    with LoopbackServer(picky(answer, *parts, vague=True), latency=0.02) as server:
        found = ask_at_once(server, [a_request()] * 12, gate=4)
    assert all(isinstance(one, Reply) for one in found)
    assert server.call_count <= 12 + 4 + 6


def test_an_unspecific_refusal_that_nothing_cures_is_the_segments_own() -> None:
    """Probed once; the other segments cost one call each."""
    bad = raw_error(400, {"error": {"message": "Bad Request"}})

    def script(call: replies.ReceivedCall) -> replies.Answer:
        return bad if "odd" in call.prompt else EMPTY

    requests = [a_request(f"odd {number}") for number in range(4)] + [a_request("fine")]
    with LoopbackServer(script) as server:
        found = ask_at_once(server, requests)
    assert [one.reason for one in found if isinstance(one, SegmentFailure)] == [
        Reason.BAD_REQUEST
    ] * 4
    assert isinstance(found[-1], Reply)
    assert found[-1].level == "json_schema"
    assert server.call_count <= 5 + 6


def test_what_was_understood_before_is_not_probed() -> None:
    async def run(server: LoopbackServer) -> None:
        async with OpenAIChat(an_endpoint(server)) as chat:
            await chat.complete(a_request())
            with pytest.raises(SegmentFailure):
                await chat.complete(a_request("odd"))

    script = replies.in_turn([EMPTY, error(400, "Bad Request")])
    with LoopbackServer(script) as server:
        asyncio.run(run(server))
    assert server.call_count == 2


@pytest.mark.parametrize(
    "refusal",
    [
        replies.content_filtered(),
        replies.context_too_long(),
        error(400, "The prompt was flagged as potentially violating our usage policy; temperature"),
        raw_error(
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context "
                    "size (temperature, max_tokens)",
                    "type": "exceed_context_size_error",
                }
            },
        ),
    ],
)
def test_filter_and_length_never_change_the_dialect(refusal: replies.Scripted) -> None:
    """E4: their texts mention parameters, and mean none."""

    def script(call: replies.ReceivedCall) -> replies.Answer:
        return refusal if "bad" in call.prompt else EMPTY

    with LoopbackServer(script) as server:
        found = ask_at_once(server, [a_request("bad"), a_request("good")])
    assert isinstance(found[0], SegmentFailure)
    assert isinstance(found[1], Reply)
    assert (found[1].level, found[1].adapted) == ("json_schema", ())
    assert server.call_count == 2


@pytest.mark.parametrize(
    ("settings", "refusal", "words"),
    [
        (
            {"extra_body": {"top_k": 5}},
            error(400, "Unrecognized request argument supplied: top_k"),
            "refuses 'top_k' of extra_body",
        ),
        (
            {"extra_body": {"temperature": 7}},
            replies.REFUSALS["temperature"],
            "refuses 'temperature' of extra_body",
        ),
        (
            {"max_tokens": 9999},
            error(
                400,
                "max_tokens is too large: 9999. This model supports at most 4096 completion tokens",
                param="max_tokens",
            ),
            "refuses max_tokens 9999",
        ),
        (
            {"temperature": 3.0},
            error(
                400,
                "Invalid 'temperature': decimal above maximum value. Expected a value <= 2",
                param="temperature",
                code="decimal_above_max_value",
            ),
            "refuses temperature 3.0",
        ),
    ],
)
def test_what_the_user_asked_for_is_not_dropped_in_silence(
    settings: dict[str, Any], refusal: replies.Scripted, words: str
) -> None:
    """E6."""
    with LoopbackServer(refusal) as server, pytest.raises(RunStopped, match=words):
        ask(server, **settings)
    assert server.call_count == 1


def test_no_more_room_is_a_cut_reply_and_no_lesson() -> None:
    """A reply asked for with more room than the server allows: the usual room still works."""

    def script(call: replies.ReceivedCall) -> replies.Answer:
        large = call.body["max_tokens"] > 1024
        return error(400, "max_tokens is too large: 2048", param="max_tokens") if large else EMPTY

    with LoopbackServer(script) as server:
        large, usual = ask_at_once(server, [a_request(room=2), a_request()])
    assert isinstance(large, SegmentFailure)
    assert large.reason is Reason.CUT_SHORT
    assert isinstance(usual, Reply)
    assert usual.adapted == ()


@pytest.mark.parametrize("status", [500, 501])
def test_a_server_error_that_names_a_part_is_a_refusal(status: int) -> None:
    """Not retried for half a minute first."""

    def script(call: replies.ReceivedCall) -> replies.Answer:
        if call.level == "json_schema":
            return error(status, "response_format json_schema is not implemented")
        return EMPTY

    with LoopbackServer(script) as server:
        reply = ask(server, max_retries=6)
    assert (reply.level, server.call_count) == ("json_object", 2)


def test_a_server_at_odds_with_itself_ends_as_a_bad_request() -> None:
    """It refuses whatever is sent, naming what is no longer in it."""
    refusal = error(400, "temperature is not supported", param="temperature")
    with LoopbackServer(refusal) as server, pytest.raises(SegmentFailure) as caught:
        ask(server)
    assert caught.value.reason is Reason.BAD_REQUEST
    assert server.call_count == 2
