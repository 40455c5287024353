"""The one room with a door to paid servers: the official openai client and its connections.

The client, a second's worth of importing, loads with the first connection: a replay from the
cache opens none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mmad_metric import addresses
from mmad_metric.addresses import CHAT_PATH
from mmad_metric.servers.endpoint import Endpoint
from mmad_metric.servers.refusals import Kind, Problem, Trouble, read_problem, understand

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_TIMEOUT = 30.0
# Below the five seconds after which common servers hang up on idle connections themselves.
KEEP_IDLE = 4.0
# What the client tells of itself and of this machine: nobody's business, and a twentieth of its
# time.
TELEMETRY = (
    *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS", "X-Stainless-Arch"),
    *("X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Async"),
)
CALL_TELEMETRY = ("X-Stainless-Retry-Count", "X-Stainless-Read-Timeout")
NEVER_RETRIED = (Kind.OUT_OF_MONEY, Kind.PART, Kind.VALUE, Kind.EXTRA, Kind.FILTERED, Kind.TOO_LONG)


class Line:
    """The connections to a server from one event loop."""

    def __init__(
        self,
        endpoint: Endpoint,
        address: addresses.Address,
        key: str,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        import openai

        self.loop = loop
        self.probing = asyncio.Lock()
        self._extras = tuple(endpoint.extra_body or ())
        self._client = _open_client(endpoint, address, key, self._settle_retry)
        self._status_error = openai.APIStatusError
        self._connection_error = openai.APIConnectionError
        self._options: Any = {"headers": dict.fromkeys(CALL_TELEMETRY, openai.omit)}
        # A whole address costs the client less than a path; Azure's client builds its own.
        azure = address.api_version is not None
        self._target = CHAT_PATH if azure else address.url.rstrip("/") + CHAT_PATH

    async def close(self) -> None:
        if self.loop is asyncio.get_running_loop():
            await self._client.close()

    async def post(self, content: bytes) -> bytes | Problem | Trouble:
        """The body of a 200, or what went wrong after the client's retries.

        A value and no exception: the client's errors hold the request with its key, and must
        not be chained to ours.
        """
        try:
            return await self._client.post(
                self._target, cast_to=bytes, content=content, options=self._options
            )
        except self._status_error as error:
            return _read_response(error.response, error.body)
        except self._connection_error as error:
            return _connection_trouble(error)
        except Exception as error:
            # One transport lets its own errors for broken HTTP through.
            if type(error).__module__.partition(".")[0] not in ("aiohttp", "httpx2", "httpx"):
                raise
            return Trouble(Kind.CONNECTION, f"broken HTTP ({type(error).__name__})")

    async def _settle_retry(self, response: Any) -> None:
        """Tells the client, in the header that it obeys, which errors no retry will cure."""
        if response.status_code == HTTPStatus.NOT_IMPLEMENTED:
            response.headers["x-should-retry"] = "false"
        elif response.status_code in (429, 500):
            await response.aread()
            try:
                payload = response.json()
            except ValueError:
                return
            if understand(_read_response(response, payload), self._extras).kind in NEVER_RETRIED:
                response.headers["x-should-retry"] = "false"


def _read_response(response: Any, payload: object) -> Problem:
    later = "retry-after" in response.headers or "retry-after-ms" in response.headers
    return read_problem(response.status_code, payload, try_later=later)


def _connection_trouble(error: BaseException) -> Trouble:
    """Timeout or no connection? One transport calls both a timeout; their cause tells."""
    causes: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(one, (TimeoutError, asyncio.TimeoutError)) for one in causes):
        return Trouble(Kind.TIMEOUT, "")
    return Trouble(Kind.CONNECTION, str(causes[0]) if causes else "")


def _open_client(
    endpoint: Endpoint,
    address: addresses.Address,
    key: str,
    on_response: Callable[[Any], Awaitable[None]],
) -> AsyncOpenAI:
    import openai

    # The client's default keeps 100 idle connections at most and gives a connection 5 seconds:
    # both too little for a burst of calls.
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(
        max_connections=endpoint.concurrency,
        max_keepalive_connections=endpoint.concurrency,
        keepalive_expiry=KEEP_IDLE,
    )
    settings: dict[str, Any] = {
        "limits": limits,
        "event_hooks": {"response": [on_response]},
        # A proxy of the environment is for the world outside, not for this machine.
        "trust_env": not address.is_loopback,
    }
    try:
        # Needs the extra openai[aiohttp]; a third of the other transport's time per call.
        http = openai.DefaultAioHttpClient(**settings)
    except RuntimeError:
        http = openai.DefaultAsyncHttpxClient(**settings)
    shared: dict[str, Any] = {
        "api_key": key,
        "base_url": address.url,
        "max_retries": endpoint.max_retries,
        "timeout": openai.Timeout(endpoint.timeout, connect=CONNECT_TIMEOUT, pool=None),
        "default_headers": {**dict.fromkeys(TELEMETRY, openai.omit), **address.headers},
        "default_query": address.query,
        "http_client": http,
    }
    if address.api_version is None:
        return openai.AsyncOpenAI(**shared)
    return openai.AsyncAzureOpenAI(api_version=address.api_version, **shared)
