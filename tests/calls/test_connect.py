"""A pool opens each server once, however many settings share it, and closes all of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mmad_metric.calls import connect as room
from mmad_metric.calls.connect import join, open_pool
from mmad_metric.config import MMADConfig
from mmad_metric.local.model import LocalModel

URL = "http://127.0.0.1:9/v1"  # nobody is called


class Server:
    """In the embedded server's place. log: what happened to all of them."""

    log: list[str]

    def __init__(self, model: LocalModel, *, concurrency: int) -> None:
        self.model, self.base_url, self.slots = model, URL, concurrency

    def __enter__(self) -> Server:
        self.log.append("starts")
        return self

    def __exit__(self, *_: object) -> None:
        self.log.append("ends")


def opened(*options: dict[str, Any]) -> tuple[int, int]:
    """How many models a pool holds for these settings, and different ones among the answering
    chats' servers."""

    async def run() -> tuple[int, int]:
        configs = [MMADConfig.of("en-de", **each) for each in options]
        async with open_pool(configs[0]) as pool:
            connections = [await join(pool, config) for config in configs]
            assert len({id(each.gate) for each in connections}) == 1
            assert len({id(each.paid) for each in connections}) == len(configs)
            return len(pool.models), len({each for c in connections for each in c.identities})

    return asyncio.run(run())


def test_settings_that_send_alike_share_a_model_and_others_do_not():
    base = {"base_url": URL, "model": "m"}
    assert opened(base, {**base, "rounds": 1}, {**base, "strategy": "none"}) == (1, 1)
    assert opened(base, {**base, "temperature": 0.5}, {**base, "model": "n"}) == (3, 3)
    assert opened(base, {**base, "role_models": {"judge": "n"}}) == (2, 2)


def test_one_embedded_server_serves_all_settings_and_ends_with_the_pool(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(Server, "log", [], raising=False)
    monkeypatch.setattr(room, "LocalServer", Server)
    monkeypatch.setattr(LocalModel, "identity", "local:made-up")
    assert opened({"model": "local"}, {"model": "local", "rounds": 1}) == (1, 1)
    assert Server.log == ["starts", "ends"]
    Server.log.clear()
    # Another temperature is another model in cache keys, and the same weights in memory.
    assert opened({"model": "local"}, {"model": "local", "temperature": 0.5}) == (2, 2)
    assert Server.log == ["starts", "ends"]
