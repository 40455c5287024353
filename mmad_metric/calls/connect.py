"""From settings to a model: which servers play which roles, with cache and limits around."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from mmad_metric.addresses import shown_url
from mmad_metric.calls.cache import CachedChat, ReplyStore, cache_folder, identity_of
from mmad_metric.calls.limits import Gate, LimitedChat
from mmad_metric.calls.prices import Price, find_price
from mmad_metric.calls.reasking import ReaskingChat
from mmad_metric.chat import ChatModel, ChatRequest, Reply, Usage
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, SegmentFailure
from mmad_metric.local.chat import LocalChat, LocalServer
from mmad_metric.local.model import LocalModel, parse_local
from mmad_metric.results import Cost
from mmad_metric.servers.openai_chat import Endpoint, OpenAIChat

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
LOCAL_TIMEOUT = 900.0  # seconds for a reply of the embedded model, on a busy machine too


@dataclass
class Connection:
    """The model of a run and its account. `hits` counts replies that needed no call."""

    gate: Gate
    store: ReplyStore
    api_key: str | None = field(default=None, repr=False)
    by_role: dict[str, ChatModel] = field(default_factory=dict)
    identities: list[str] = field(default_factory=list)  # of the servers, as in cache keys
    hits: int = 0
    paid: dict[str, Usage] = field(default_factory=dict)  # by this run, by role

    async def complete(self, request: ChatRequest) -> Reply:
        return await self.by_role[request.role].complete(request)

    def count_hit(self, replies: int = 1) -> None:
        self.hits += replies


def resolve(config: MMADConfig, role: str) -> tuple[str, str | None]:
    """(model, base URL) of a role, $OPENAI_BASE_URL counted. Raises ConfigError."""
    model, base_url = config.model_for(role)
    if parse_local(model) is not None:
        if base_url is not None:
            raise ConfigError(f"model {model!r} serves itself: base_url does not apply to it")
        return model, None
    return model, base_url or os.environ.get("OPENAI_BASE_URL") or None


def role_prices(config: MMADConfig) -> Mapping[str, Price | None]:
    """The price list of each role's model, None where it is not known."""
    return {role: find_price(*resolve(config, role)) for role in config.roles()}


def role_costs(config: MMADConfig) -> Cost:
    """What a role's usage costs; the embedded model's is free."""

    def cost(role: str, usage: Usage) -> Decimal | None:
        model, base_url = resolve(config, role)
        if parse_local(model) is not None:
            return Decimal(0)
        # No price list has this machine, and loading them takes a while.
        if base_url is not None and urlsplit(base_url).hostname in _THIS_MACHINE:
            return None
        price = find_price(model, base_url)
        return None if price is None else price.cost(usage)

    return cost


@dataclass(frozen=True, slots=True)
class _PaidChat:
    """Wraps a model to count by role what was paid, failed calls included."""

    inner: ChatModel
    paid: dict[str, Usage]

    async def complete(self, request: ChatRequest) -> Reply:
        usage = Usage()
        try:
            reply = await self.inner.complete(request)
            usage = reply.usage
            return reply
        except SegmentFailure as failure:
            usage = failure.usage or Usage()
            raise
        finally:
            self.paid[request.role] = self.paid.get(request.role, Usage()) + usage


@dataclass
class Pool:
    """What all settings of a run share: its gate, its cache, and the servers opened so far."""

    gate: Gate
    store: ReplyStore
    stack: AsyncExitStack = field(repr=False)
    models: dict[str, ChatModel] = field(default_factory=dict)  # by identity, limits around them
    local: dict[LocalModel, LocalServer] = field(default_factory=dict)


@asynccontextmanager
async def open_pool(config: MMADConfig) -> AsyncIterator[Pool]:
    """Gate and cache as a config has them; whatever is opened in the pool closes at the end."""
    max_cost = None if config.max_cost is None else Decimal(str(config.max_cost))
    async with AsyncExitStack() as stack:
        store = ReplyStore(cache_folder(config.cache) if config.use_cache else None)
        stack.callback(store.close)
        yield Pool(Gate(config.concurrency, max_cost), store, stack)


@asynccontextmanager
async def connect(
    config: MMADConfig, dimensions: Collection[str] = (), *, api_key: str | None = None
) -> AsyncIterator[Connection]:
    """Open what the settings name, and close it at the end; see `join`."""
    _check_prices(config, dimensions)
    async with open_pool(config) as pool:
        yield await join(pool, config, dimensions, api_key=api_key)


async def join(
    pool: Pool, config: MMADConfig, dimensions: Collection[str] = (), *, api_key: str | None = None
) -> Connection:
    """Open in a pool what the settings name, with an account of their own.

    dimensions: the prompt pack's; api_key: for the server that the settings name, in place of
    the environment's; a role with a server of its own does not get it.

    Raises ConfigError before any call when a key, a price or a local model is missing.
    """
    _check_prices(config, dimensions)
    connection = Connection(pool.gate, pool.store, api_key)
    opened: dict[tuple[str, str | None], ChatModel] = {}
    for role in config.roles(dimensions):
        target = resolve(config, role)
        if target not in opened:
            opened[target] = await _open(config, target, connection, pool)
        connection.by_role[role] = opened[target]
    return connection


def _check_prices(config: MMADConfig, dimensions: Collection[str]) -> None:
    if config.max_cost is None:
        return
    for role in config.roles(dimensions):
        model, base_url = resolve(config, role)
        if parse_local(model) is None and find_price(model, base_url) is None:
            raise ConfigError(
                f"max_cost: no price is known for model {model!r} at "
                f"{shown_url(base_url) if base_url else 'OpenAI'}, so no bound can be kept"
            )


def call_parameters(config: MMADConfig, model: str) -> dict[str, Any]:
    """What every call to a model carries besides its messages and schema."""
    return {
        "model": model,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "structured": config.structured,
        "fold_system": config.fold_system,
        "extra_body": config.extra_body,
    }


async def _open(
    config: MMADConfig, target: tuple[str, str | None], connection: Connection, pool: Pool
) -> ChatModel:
    model, base_url = target
    local = parse_local(model)
    server = (local.identity if local else base_url or "").rstrip("/")
    identity = identity_of({"server": server, **call_parameters(config, model)})
    if identity not in pool.models:
        pool.models[identity] = LimitedChat(
            await _bottom(config, target, connection, pool),
            pool.gate,
            config.max_tokens,
            lambda: None if local else find_price(model, base_url),
        )
    connection.identities.append(identity)
    asking = ReaskingChat(_PaidChat(pool.models[identity], connection.paid), config.reasks)
    return CachedChat(asking, connection.store, identity, connection.count_hit)


async def _bottom(
    config: MMADConfig, target: tuple[str, str | None], connection: Connection, pool: Pool
) -> ChatModel:
    """The server's client, and the server itself where it is ours."""
    model, base_url = target
    local = parse_local(model)
    if local is None:
        endpoint = _endpoint(config, model, base_url)
        if base_url == (config.base_url or os.environ.get("OPENAI_BASE_URL") or None):
            endpoint = replace(endpoint, api_key=connection.api_key)
        return await pool.stack.enter_async_context(OpenAIChat(endpoint))
    if local not in pool.local:
        server = LocalServer(local, concurrency=config.concurrency)
        pool.local[local] = pool.stack.enter_context(server)
    endpoint = _local_endpoint(config, pool.local[local])
    chat = await pool.stack.enter_async_context(OpenAIChat(endpoint))
    return LocalChat(chat, pool.local[local])


def _local_endpoint(config: MMADConfig, server: LocalServer) -> Endpoint:
    """Our own server: as slow as the machine is, and never worth asking twice."""
    patient = replace(_endpoint(config, "local", server.base_url), max_retries=0)
    return replace(patient, timeout=max(config.timeout, LOCAL_TIMEOUT), api_key="local")


def _endpoint(config: MMADConfig, model: str, base_url: str | None) -> Endpoint:
    return Endpoint(
        model=model,
        base_url=base_url,
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        timeout=config.timeout,
        max_retries=config.max_retries,
        level=config.structured,
        fold_system=config.fold_system,
        extra_body=None if config.extra_body is None else json.loads(config.extra_body),
        concurrency=config.concurrency,
    )
