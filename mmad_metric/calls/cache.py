"""Replies kept on disk, so that a rerun repeats no paid call and equal requests are made once.

Only replies that could be read are kept: a failure is asked for again by the next run. The key
covers everything that can change a reply: server, model, parameters, schema, messages.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from mmad_metric.chat import ChatModel, ChatRequest, Reply, UnreadableReply, Usage
from mmad_metric.errors import InputError

_TABLES = (
    """CREATE TABLE IF NOT EXISTS replies (
        key BLOB PRIMARY KEY, text TEXT NOT NULL, about TEXT NOT NULL
    )""",
    "CREATE TABLE IF NOT EXISTS ratings (key BLOB PRIMARY KEY, line TEXT NOT NULL)",
)
_OPEN_ATTEMPTS = 50  # two processes that open a new database at once: one of them is refused


def cache_folder(folder: str | None) -> Path:
    """The folder given, else $MMAD_CACHE, else the user's cache folder."""
    chosen = folder or os.environ.get("MMAD_CACHE")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("mmad-metric"))


class ReplyStore:
    """A key-value store of replies in SQLite; every put is durable against a kill.

    folder None: a private store that vanishes at the end. Several processes may share a folder.
    """

    def __init__(self, folder: Path | None) -> None:
        self._database = _open(folder)

    def get(self, key: bytes) -> Reply | None:
        row = self._database.execute(
            "SELECT text, about FROM replies WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        about = json.loads(row[1])
        return Reply(
            text=row[0],
            model=about[0],
            usage=Usage(*about[1]),
            level=about[2],
            adapted=tuple(about[3]),
        )

    def put(self, key: bytes, reply: Reply) -> None:
        usage = reply.usage
        counts = (
            usage.calls,
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.completion_tokens,
        )
        about = json.dumps([reply.model, counts, reply.level, reply.adapted])
        text = reply.text.encode("utf-8", "replace").decode("utf-8")
        self._database.execute(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, text, about)
        )

    def get_rating(self, key: bytes) -> str | None:
        """A finished rating as it was put, None when there is none."""
        row = self._database.execute("SELECT line FROM ratings WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put_rating(self, key: bytes, line: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO ratings VALUES (?, ?)", (key, line))

    def close(self) -> None:
        self._database.close()


def _open(folder: Path | None) -> sqlite3.Connection:
    if folder is None:
        return _connect("", private=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the cache folder cannot be made ({error.strerror})") from None
    path = folder / "replies.sqlite"
    for attempt in range(_OPEN_ATTEMPTS):
        try:
            return _connect(str(path), private=False)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == _OPEN_ATTEMPTS - 1:
                raise InputError(f"{path}: the cache cannot be opened ({error})") from None
            time.sleep(0.02 * (attempt + 1))
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path}: not a reply cache ({error})") from None
    raise AssertionError("unreachable")


def _connect(path: str, *, private: bool) -> sqlite3.Connection:
    # Every statement is its own transaction: one reply, one row.
    database = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
    try:
        if not private:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            # The log is merged, with waits for the disk, every 80 MB rather than every 4.
            database.execute("PRAGMA wal_autocheckpoint = 20000")
        for table in _TABLES:
            database.execute(table)
    except BaseException:
        database.close()
        raise
    return database


@dataclass
class CachedChat:
    """Wraps a model: a kept reply is given without a call, equal requests in flight share one.

    identity: names the server, the model and the parameters that every call carries.
    """

    inner: ChatModel
    store: ReplyStore
    identity: str
    on_hit: Callable[[], None] = lambda: None
    _in_flight: dict[bytes, asyncio.Future[Reply]] = field(default_factory=dict)
    _schemas: dict[str, bytes] = field(default_factory=dict)

    async def complete(self, request: ChatRequest) -> Reply:
        key = self._key(request)
        kept = _read(self.store.get(key), request)
        if kept is not None:
            self.on_hit()
            return kept
        under_way = self._in_flight.get(key)
        if under_way is not None:
            self.on_hit()
            return await asyncio.shield(under_way)
        return await self._call(key, request)

    async def _call(self, key: bytes, request: ChatRequest) -> Reply:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = future
        try:
            reply = await self.inner.complete(request)
            self.store.put(key, reply)
        except BaseException as error:
            if isinstance(error, Exception):
                future.set_exception(error)
                future.exception()  # seen: nobody else may be waiting
            else:
                future.cancel()
            raise
        else:
            future.set_result(reply)
            return reply
        finally:
            del self._in_flight[key]

    def _key(self, request: ChatRequest) -> bytes:
        parts = [self.identity.encode(), self._schema_bytes(request)]
        for message in request.messages:
            parts.append(message.role.encode())
            parts.append(message.content.encode("utf-8", "surrogatepass"))
        if request.repeat > 1:  # a first rating finds what runs without repeats have paid for
            parts.append(str(request.repeat).encode())
        # Lengths first, so that no two lists of parts give the same bytes.
        lengths = array("Q", map(len, parts)).tobytes()
        return hashlib.blake2b(lengths + b"".join(parts), digest_size=24).digest()

    def _schema_bytes(self, request: ChatRequest) -> bytes:
        name = request.schema.name
        known = self._schemas.get(name)
        if known is None:
            known = json.dumps([name, request.schema.json_schema], sort_keys=True).encode()
            self._schemas[name] = known
        return known


def _read(reply: Reply | None, request: ChatRequest) -> Reply | None:
    """A kept reply, read. One of an older version may be one that today's reader refuses."""
    if reply is None:
        return None
    try:
        return reply.read(request)
    except UnreadableReply:
        return None


def identity_of(parts: dict[str, Any]) -> str:
    """A canonical text of the parameters that go into every key."""
    return json.dumps(parts, sort_keys=True, ensure_ascii=False)
