"""A kept reply is never paid for again; a failure is never kept."""

from __future__ import annotations

import asyncio
import dataclasses
import multiprocessing
from pathlib import Path

import pytest

from mmad_metric.calls.cache import CachedChat, ReplyStore, cache_folder, identity_of
from mmad_metric.chat import ChatRequest, Message, Reply, ReplySchema, Usage
from mmad_metric.errors import InputError, Reason, SegmentFailure
from tests.schemas import ask, read_word


class Counting:
    """Answers "ok N" for the Nth call; fails where told."""

    def __init__(self, failures: int = 0, latency: float = 0.0) -> None:
        self.calls = 0
        self.failures = failures
        self.latency = latency

    async def complete(self, request: ChatRequest) -> Reply:
        self.calls += 1
        await asyncio.sleep(self.latency)
        if self.calls <= self.failures:
            raise SegmentFailure(Reason.SERVER_ERROR, "down", Usage(1, 5, 0, 0))
        usage = Usage(1, 100, 50, 7)
        return Reply(f"ok {self.calls}", "served", "stop", usage, "json_object", ("no-seed",))


def test_an_equal_request_is_answered_from_the_store_in_a_new_process_too(tmp_path: Path):
    inner = Counting()

    def once() -> Reply:
        store = ReplyStore(tmp_path)
        reply = asyncio.run(CachedChat(inner, store, "id").complete(ask()))
        store.close()
        return reply

    assert once() == once()
    assert inner.calls == 1


def test_equal_requests_in_flight_share_one_call(tmp_path: Path):
    inner = Counting(latency=0.01)
    chat = CachedChat(inner, ReplyStore(tmp_path), "id")

    async def many() -> list[Reply]:
        return await asyncio.gather(*(chat.complete(ask()) for _ in range(5)))

    replies = asyncio.run(many())
    assert len({reply.text for reply in replies}) == 1
    assert inner.calls == 1


def test_a_failure_is_not_kept_and_reaches_everyone_who_waits(tmp_path: Path):
    inner = Counting(failures=1, latency=0.01)
    chat = CachedChat(inner, ReplyStore(tmp_path), "id")

    async def two() -> list[object]:
        both = (chat.complete(ask()), chat.complete(ask()))
        return list(await asyncio.gather(*both, return_exceptions=True))

    assert all(isinstance(each, SegmentFailure) for each in asyncio.run(two()))
    assert asyncio.run(chat.complete(ask())).text == "ok 2"


BASE = {"server": "http://a", "model": "m", "temperature": 0.0, "max_tokens": 10}


@pytest.mark.parametrize(
    "change",
    [{"server": "http://b"}, {"model": "n"}, {"temperature": 1.0}, {"max_tokens": 11}],
)
def test_the_key_covers_server_model_and_parameters(tmp_path: Path, change: dict[str, object]):
    inner, store = Counting(), ReplyStore(tmp_path)
    asyncio.run(CachedChat(inner, store, identity_of(BASE)).complete(ask()))
    asyncio.run(CachedChat(inner, store, identity_of(BASE | change)).complete(ask()))
    assert inner.calls == 2


def other_requests() -> list[ChatRequest]:
    base = ask()
    return [
        ask("hellO"),
        dataclasses.replace(base, messages=(Message("system", "hello"),)),
        dataclasses.replace(base, messages=(*base.messages, Message("assistant", ""))),
        dataclasses.replace(base, schema=ReplySchema("other", {}, read_word)),
        dataclasses.replace(base, messages=(Message("user", "hel"), Message("assistant", "lo"))),
    ]


@pytest.mark.parametrize("other", other_requests())
def test_the_key_covers_messages_and_schema(tmp_path: Path, other: ChatRequest):
    inner = Counting()
    chat = CachedChat(inner, ReplyStore(tmp_path), "id")
    asyncio.run(chat.complete(ask()))
    asyncio.run(chat.complete(other))
    assert inner.calls == 2


def test_a_lone_surrogate_can_be_asked_and_kept(tmp_path: Path):
    chat = CachedChat(Counting(), ReplyStore(tmp_path), "id")
    assert asyncio.run(chat.complete(ask("\ud83d"))) == asyncio.run(chat.complete(ask("\ud83d")))


def test_a_kept_reply_that_today_cannot_be_read_is_asked_anew(tmp_path: Path):
    store = ReplyStore(tmp_path)
    inner = Counting()
    chat = CachedChat(inner, store, "id")
    store.put(chat._key(ask()), Reply("junk"))  # as an older version might have
    assert asyncio.run(chat.complete(ask())).text == "ok 1"


def test_a_private_store_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    store = ReplyStore(None)
    store.put(b"k", Reply("ok"))
    assert store.get(b"k") is not None
    store.close()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(InputError, match="file"):
        ReplyStore(blocker / "cache")
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "replies.sqlite").write_text("not a database, but long enough to look at" * 40)
    with pytest.raises(InputError, match="not a reply cache"):
        ReplyStore(bad)


def _open_and_write(folder: str, number: int) -> None:
    store = ReplyStore(Path(folder))
    for index in range(20):
        store.put(f"{number}-{index}".encode(), Reply("ok"))
    store.close()


def test_several_processes_may_open_one_new_folder_at_once(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_open_and_write, args=(str(tmp_path), n)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    store = ReplyStore(tmp_path)
    assert all(store.get(f"{n}-{i}".encode()) for n in range(4) for i in range(20))


def test_the_folder_comes_from_the_option_then_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MMAD_CACHE", "/from/env")
    assert cache_folder("/given") == Path("/given")
    assert cache_folder(None) == Path("/from/env")
    monkeypatch.delenv("MMAD_CACHE")
    assert cache_folder(None).name == "mmad-metric"
