"""An embedded llama.cpp server as the endpoint: started and stopped here, asked like any other.

It runs in a child process. In ours, stopping it could hang for ever (before its loop runs, and
while a request is open), and a fault in native code would take the user's program along.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from typing import IO

from mmad_metric.chat import ChatModel, ChatRequest, Reply
from mmad_metric.errors import ConfigError
from mmad_metric.local.model import LocalModel
from mmad_metric.local.span_schema import LABELS, ROOMY, TIGHT, Bounds, constrain

# More slots give no more replies a minute on two cores, and each holds the keys and values of
# its own context: 23 KB a token with the shipped model, ten times that with larger ones.
MOST_SLOTS = 2
# What the shipped model was trained on. A debate of three rounds over a long text fits.
CONTEXT = 8_192
# A reply is read from memory: beyond a few threads they only wait for each other.
MOST_THREADS = 8
# Prompts kept beside those in the slots, in MiB: enough for the prefixes of ten agents.
PROMPT_CACHE = 512

_READY = "listening: "
# An own "" in the path would put the current folder, where anything may lie, before the rest.
_CHILD = (
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from mmad_metric.local.chat import serve; serve(sys.argv[1])"
)
_SHOWN_LOG = 300


class LocalServer:
    """llama.cpp's HTTP server in a child process, on a free port of 127.0.0.1.

    A context manager: runs from `start` to `close`; several may run at once, and none outlives
    this process. concurrency: calls that will be made side by side; context: tokens that a
    prompt and its reply may have together.
    """

    def __init__(
        self, model: LocalModel, *, concurrency: int = MOST_SLOTS, context: int = CONTEXT
    ) -> None:
        self.model = model
        self.slots = max(1, min(concurrency, MOST_SLOTS))
        self.context = context
        self._child: subprocess.Popen[str] | None = None
        self._address = ""

    def __enter__(self) -> LocalServer:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def base_url(self) -> str:
        """Where an OpenAI client reaches it, while it runs."""
        if self._child is None:
            raise RuntimeError("the embedded server is not running")
        return f"{self._address}/v1"

    def start(self) -> None:
        """Load the model and listen. Raises ConfigError when one of them cannot be."""
        if self._child is not None:
            return
        if importlib.util.find_spec("xllamacpp") is None:
            raise ConfigError('local models need llama.cpp: pip install "mmad-metric[local]"')
        settings = {
            "path": str(self.model.path()),
            "slots": self.slots,
            "context": self.context,
            "threads": _threads(),
        }
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            self._child = child = _spawn(json.dumps(settings), log)
            try:
                self._address = self._wait_until_ready(child, log)
            except BaseException:  # Ctrl-C too
                self.close()
                raise

    def close(self) -> None:
        """Stop the server, whatever it is doing. Harmless when it does not run."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()  # it holds nothing that wants saving
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()

    def _wait_until_ready(self, child: subprocess.Popen[str], log: IO[str]) -> str:
        """The address, once the model is loaded."""
        for line in child.stdout or ():
            if line.startswith(_READY):
                return line.removeprefix(_READY).strip()
        status = child.wait()
        raise ConfigError(
            f"model {self.model.spec}: llama.cpp cannot serve it (exit status {status}). Is the "
            f"file whole, of a kind it knows, and smaller than the free memory? {_reason(log)}"
        )


def _reason(log: IO[str]) -> str:
    """The first error that llama.cpp logged, else the last line: the rest only follows from it."""
    log.seek(0)
    lines = [line.strip() for line in log if line.strip()]
    errors = [line.partition(" E ")[2] for line in lines if " E " in line]
    return (errors[:1] or lines[-1:] or ["It says nothing."])[0][:_SHOWN_LOG]


def _spawn(settings: str, log: IO[str]) -> subprocess.Popen[str]:
    surroundings = {
        # Otherwise its threads spin while they wait for each other, and with anything else on
        # the machine replies take many times as long.
        "OMP_WAIT_POLICY": "passive",
        **os.environ,
        # The child finds what we find, in the same order. "" is the current folder.
        "PYTHONPATH": os.pathsep.join(folder or os.getcwd() for folder in sys.path),
        "PYTHONUTF8": "1",
    }
    return subprocess.Popen(  # noqa: S603 - this very Python, no shell
        [sys.executable, "-c", _CHILD, settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=surroundings,
        encoding="utf-8",
    )


def serve(settings: str) -> None:
    """What the child process does: load, listen, say where, and end when its input ends.

    Its input is a pipe whose other end our process holds, so it ends when we do, however.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our process to act on
    import xllamacpp

    wanted = json.loads(settings)
    chosen = xllamacpp.CommonParams()
    chosen.model.path = wanted["path"]
    chosen.model_alias = {"local"}
    chosen.n_parallel = wanted["slots"]
    chosen.n_ctx = wanted["slots"] * wanted["context"]
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = wanted["threads"]
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = 0
    chosen.cache_prompt = True
    chosen.cache_ram_mib = PROMPT_CACHE
    chosen.slot_prompt_similarity = 0.1
    chosen.verbosity = 1  # errors
    chosen.endpoint_slots = False  # would show prompts to whoever shares the machine
    chosen.ui = False
    try:
        server = xllamacpp.Server(chosen)
    except RuntimeError:
        os._exit(1)  # the library has logged why
    print(f"{_READY}{server.listening_address}", flush=True)  # noqa: T201 - to our process
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on
    sys.stdin.read()
    os._exit(0)


def _threads() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MOST_THREADS)
    return min(os.cpu_count() or 1, MOST_THREADS)


class LocalChat:
    """Wraps the chat with an embedded server: narrows each reply's shape to its segment.

    server: the one that `inner` talks to, stopped by `aclose`; without it `inner` is taken to
    talk to the shipped model, and the server to be somebody else's.
    """

    def __init__(self, inner: ChatModel, server: LocalServer | None = None) -> None:
        self._inner = inner
        self._server = server
        self._is_toy = server is None or server.model.is_shipped
        # A request that waits for a slot at the server would use up its time limit there.
        self._slots = asyncio.Semaphore(server.slots if server else MOST_SLOTS)

    async def __aenter__(self) -> LocalChat:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections, then stop the server."""
        try:
            if hasattr(self._inner, "aclose"):
                await self._inner.aclose()
        finally:
            if self._server is not None:
                self._server.close()

    async def complete(self, request: ChatRequest) -> Reply:
        narrow = constrain(request.schema.json_schema, request.texts, self._bounds(request))
        schema = replace(request.schema, json_schema=narrow)
        async with self._slots:
            return await self._inner.complete(replace(request, schema=schema))

    def _bounds(self, request: ChatRequest) -> Bounds:
        if not self._is_toy:
            return ROOMY
        return replace(TIGHT, labels=request.labels or LABELS)
