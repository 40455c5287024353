"""The loopback server itself."""

from __future__ import annotations

import json
import subprocess
import sys
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import LoopbackServer, Scripted
from tests.loopback_replies import in_turn, picky

ROOT = Path(__file__).parent.parent


def talk(url: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """(status, parsed body) of one request."""
    connection = HTTPConnection(url.removeprefix("http://").removesuffix("/v1"), timeout=10)
    try:
        connection.request(method, path, json.dumps(body))
        response = connection.getresponse()
        return response.status, json.load(response)
    finally:
        connection.close()


def post(server: LoopbackServer, **fields: Any) -> tuple[int, str]:
    """(status, reply text) of one chat call."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Haus"}], **fields}
    status, answer = talk(server.url, "POST", "/v1/chat/completions", body)
    return status, "" if "error" in answer else answer["choices"][0]["message"]["content"]


def test_answers_by_script_and_records_calls() -> None:
    with LoopbackServer(lambda call: call.prompt + "!") as server:
        assert post(server) == (200, "Haus!")
    assert [call.path for call in server.calls] == ["/v1/chat/completions"]
    assert server.stats()["calls"] == server.connections == server.max_in_flight == 1
    assert server.usage["prompt_tokens"] > 0


def test_answers_in_turn_and_refuses_parts() -> None:
    with LoopbackServer(picky(in_turn(["a", "b", "c"]), "temperature")) as server:
        assert post(server, temperature=0) == (400, "")
        assert [post(server)[1] for _ in range(3)] == ["b", "c", "c"]


def test_a_failing_script_fails_the_test() -> None:
    def script(call: object) -> str:
        raise AssertionError("the script's own assertion")

    with pytest.raises(AssertionError, match="own assertion"), LoopbackServer(script) as server:
        assert post(server) == (500, "")


def test_a_dropped_connection_is_no_answer() -> None:
    with LoopbackServer(Scripted("{}", drop="before")) as server:
        with pytest.raises((RemoteDisconnected, ConnectionResetError)):
            post(server)
        assert server.call_count == 1


def test_runs_as_a_process_and_tells_its_counts() -> None:
    command = [sys.executable, "-m", "tests.loopback", "--content", "hello"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            body = {"model": "m", "messages": []}
            _, answer = talk(url, "POST", "/v1/chat/completions", body)
            assert answer["choices"][0]["message"]["content"] == "hello"
            assert talk(url, "GET", "/stats")[1]["calls"] == 1
        finally:
            process.kill()
