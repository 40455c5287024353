"""Our own OpenAI-compatible server on 127.0.0.1: real HTTP, scripted replies, counted calls.

In a test: `with LoopbackServer(lambda call: "{}") as server: … server.url … server.calls`.
As a process: `python -m tests.loopback --latency 0.2`, which prints its URL on the first line;
`GET /stats` tells its counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import resource
import threading
import time
from collections.abc import Callable
from typing import Any, final

from aiohttp import web

from tests.loopback_replies import (
    JSON,
    Answer,
    ReceivedCall,
    Script,
    Scripted,
    completion_bytes,
    counted_usage,
)

__all__ = ["LoopbackServer", "ReceivedCall", "Script", "Scripted"]

# As many clients may knock at once as the kernel keeps waiting (its own limit is often 4,096).
BACKLOG = 4096
STOP_WAIT = 0.2


@final
class LoopbackServer:
    """A server in a thread of its own.

    script: a function from ReceivedCall to str (the reply's content) or Scripted, or one such
    answer for all calls. latency: seconds before every answer. record: keep the calls in
    `calls` (a benchmark does without).

    url: base URL with /v1; call_count, in_flight, max_in_flight, connections, usage: counts so
    far. An exception in the script is answered with a 500 and raised again when the server's
    `with` block ends well, so that assertions in scripts count.
    """

    def __init__(
        self, script: Script | Answer, *, latency: float = 0.0, record: bool = True, port: int = 0
    ) -> None:
        self._script = script
        self._latency = latency
        self._record = record
        self._port = port
        self._lock = threading.Lock()
        self._calls: list[ReceivedCall] = []
        self._prebuilt: bytes | None = None
        self.call_count = self.in_flight = self.max_in_flight = self.connections = 0
        self._first_call = self._last_answer = 0.0
        self.usage = {"prompt_tokens": 0, "completion_tokens": 0}
        self.script_errors: list[BaseException] = []
        self._started = threading.Event()
        self._start_error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    # -- for the test's thread

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def calls(self) -> list[ReceivedCall]:
        """The calls so far, in order of arrival."""
        with self._lock:
            return list(self._calls)

    def stats(self) -> dict[str, Any]:
        return {
            "calls": self.call_count,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "connections": self.connections,
            "seconds": self._last_answer - self._first_call,  # from the first call to the last
            **self.usage,
        }

    def __enter__(self) -> LoopbackServer:
        self._thread = threading.Thread(target=self._run_thread, name="loopback", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._start_error is not None:
            raise self._start_error
        return self

    def __exit__(self, *raised: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join()
        if raised[1] is None and self.script_errors:
            raise self.script_errors[0]

    # -- in the server's thread

    def _run_thread(self) -> None:
        try:
            asyncio.run(self.serve(lambda: None))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self._start_error = error
        finally:
            self._started.set()

    async def serve(self, on_ready: Callable[[], None]) -> None:
        """Serves until stopped or cancelled."""
        raise_file_limit()
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        protocols = web.Server(self._handle, access_log=None)

        def connected() -> asyncio.Protocol:
            self.connections += 1
            return protocols()

        listener = await self._loop.create_server(
            connected, "127.0.0.1", self._port, backlog=BACKLOG
        )
        self._port = listener.sockets[0].getsockname()[1]
        self._started.set()
        on_ready()
        try:
            await self._stop.wait()
        finally:
            listener.close()
            await protocols.shutdown(STOP_WAIT)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            return self._look(request.path)
        raw = await request.content.read()
        self.call_count += 1
        call = ReceivedCall(
            self.call_count, request.path, request.query_string, request.headers, raw
        )
        if self._record:
            with self._lock:
                self._calls.append(call)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self._first_call = self._first_call or time.monotonic()
        try:
            return await self._answer(request, call)
        finally:
            self.in_flight -= 1
            self._last_answer = time.monotonic()

    def _look(self, path: str) -> web.StreamResponse:
        if path == "/stats":
            return web.json_response(self.stats())
        if path.endswith("/models"):
            return web.json_response({"object": "list", "data": [{"id": "loopback"}]})
        return web.json_response({"detail": "Not Found"}, status=404)

    async def _answer(self, request: web.BaseRequest, call: ReceivedCall) -> web.StreamResponse:
        arrived = time.monotonic()
        answer = self._scripted(call)
        body = answer.body
        if body is None and answer.drop != "before":
            body = self._completion(answer, call)
        # Latency counts from the arrival: making up the answer is part of it.
        wait = self._latency + answer.delay - (time.monotonic() - arrived)
        if self._latency + answer.delay:
            await asyncio.sleep(max(wait, 0))
        if body is None:
            return hang_up(request)
        if answer.drop == "mid":
            return await break_off(request, body)
        return web.Response(
            status=answer.status,
            body=body,
            headers=answer.headers,
            content_type=answer.content_type,
        )

    def _scripted(self, call: ReceivedCall) -> Scripted:
        try:
            answer = self._script(call) if callable(self._script) else self._script
        except Exception as error:  # noqa: BLE001 - raised again in the test's thread
            self.script_errors.append(error)
            return Scripted(
                status=500,
                body=b'{"error": {"message": "the script failed"}}',
                headers={"x-should-retry": "false"},
            )
        return Scripted(content=answer) if isinstance(answer, str) else answer

    def _completion(self, answer: Scripted, call: ReceivedCall) -> bytes:
        usage = counted_usage(answer, len(call.raw))
        for name in self.usage:
            self.usage[name] += usage[name]
        if self._prebuilt is not None:
            return self._prebuilt
        built = completion_bytes(answer, str(call.body.get("model", "")), len(call.raw))
        if not callable(self._script):
            # One answer for all calls: built once, so that a benchmark measures the client.
            self._prebuilt = built
        return built


def hang_up(request: web.BaseRequest) -> web.StreamResponse:
    """Closes the connection without a word."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def break_off(request: web.BaseRequest, body: bytes) -> web.StreamResponse:
    """Promises the whole body, sends half of it and closes the connection."""
    response = web.StreamResponse(headers={"Content-Type": JSON})
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


def raise_file_limit() -> None:
    """A thousand connections need more open files than the usual soft limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def load_script(name: str) -> Script:
    """The script that `module:function` names."""
    module, _, function = name.partition(":")
    script: Script = getattr(importlib.import_module(module), function)
    return script


def main() -> None:
    parser = argparse.ArgumentParser(description="OpenAI-compatible loopback server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--content", default='{"annotations": []}', help="reply to every call")
    parser.add_argument("--script", help="module:function that answers instead")
    options = parser.parse_args()
    script = load_script(options.script) if options.script else options.content
    server = LoopbackServer(script, latency=options.latency, record=False, port=options.port)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server.serve(lambda: print(server.url, flush=True)))


if __name__ == "__main__":
    main()
