"""One visit to the Space's app: what was typed is checked and rated, and comes back as HTML."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from mmad_metric.calls.connect import role_costs
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, InputError, MMADError
from mmad_metric.files.inputs import Inputs, open_inputs
from mmad_metric.hub.page import Shown, failure, page
from mmad_metric.local.model import parse_local
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.results import SystemTotals, observed
from mmad_metric.scoring import SCHEMES
from mmad_metric.servers.openai_chat import NO_KEY
from mmad_metric.session import Plan, open_session

PACKS = ("mmad", "brief")
WEIGHTS = tuple(SCHEMES)
MOST_ROWS = 200
MOST_ROUNDS = 3
# A visitor waits, and shares the machine with others.
CONCURRENCY = 8
MAX_RETRIES = 2
UPDATE_EVERY = 0.3  # seconds between two states of the page
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a visitor asks for.

    sources, translations: pasted text, one segment a line; source_file, translation_file: paths
    of uploads, which go before the text; key: the visitor's own, used for this visit alone;
    rows: segments to rate at most.
    """

    sources: str = ""
    translations: str = ""
    source_file: str | None = None
    translation_file: str | None = None
    lp: str = ""
    model: str = ""
    base_url: str = ""
    key: str = field(default="", repr=False)
    rounds: int = MOST_ROUNDS
    prompts: str = PACKS[0]
    weights: str = WEIGHTS[0]
    rows: int = MOST_ROWS


@dataclass(frozen=True, slots=True)
class _Rows:
    """The segments of a visit. n_rows: of one system; names: of the systems."""

    segments: Iterable[Segment]
    n_rows: int
    names: tuple[str, ...]


async def visit(wanted: Wanted) -> AsyncGenerator[str]:
    """States of the page as HTML, the last one whole; what goes wrong is told in it.

    Nothing is kept: no reply, no text, no key. A visitor's base URL never gets the key of the
    app's own environment, which is for the app's own server alone.
    """
    try:
        rows = await asyncio.to_thread(_rows, wanted)
        plan = Plan.of(_config(wanted, rows))
        if wanted.base_url.strip():
            await asyncio.to_thread(_check_address, wanted.base_url.strip())
    except MMADError as error:
        yield failure(_shown(error, wanted))
        return
    async with aclosing(_rated(plan, rows, wanted)) as states:
        async for state in states:
            yield page(state)


async def _rated(plan: Plan, rows: _Rows, wanted: Wanted) -> AsyncGenerator[Shown]:
    cost = role_costs(plan.config)
    totals = {name: SystemTotals(name, plan.scheme, cost=cost) for name in rows.names}
    ratings: list[SegmentRating] = []
    sampled = plan.config.sample or rows.n_rows
    total = min(sampled, rows.n_rows) * len(rows.names)
    yield Shown((), (), total)
    told = time.monotonic()
    ended = ""
    try:
        async with (
            open_session(plan, api_key=_key(wanted)) as session,
            aclosing(session.rate(rows.segments, rows.n_rows)) as rated,
        ):
            async for rating in rated:
                totals[rating.segment.system].add(rating)
                if rating.status is not Status.NOT_SAMPLED:
                    ratings.append(rating)
                if time.monotonic() - told > UPDATE_EVERY:
                    yield Shown(tuple(totals.values()), ratings, total)
                    told = time.monotonic()
    except MMADError as error:
        ended = _shown(error, wanted)
    listed = tuple(totals.values())
    signature = plan.signature(observed(list(listed))) if ratings else ""
    yield Shown(listed, ratings, total, signature, ended)


def _config(wanted: Wanted, rows: _Rows) -> MMADConfig:
    """The settings; files of the app's machine cannot be named by them."""
    for name, value, known in (
        ("prompts", wanted.prompts, PACKS),
        ("weights", wanted.weights, WEIGHTS),
    ):
        if value not in known:
            raise ConfigError(f"{name}: {value!r} is not one of {', '.join(known)}")
    if not wanted.model.strip():
        raise ConfigError("model: the name of a model is needed")
    if wanted.model.strip().startswith("local") and parse_local(wanted.model.strip()) is not None:
        raise ConfigError("model: local models run on the command line, not in this app")
    if not 1 <= wanted.rounds <= MOST_ROUNDS:
        raise ConfigError(f"rounds: {wanted.rounds} is not from 1 to {MOST_ROUNDS}")
    return MMADConfig.of(
        wanted.lp.strip() or None,
        model=wanted.model.strip(),
        base_url=wanted.base_url.strip() or None,
        rounds=wanted.rounds,
        prompts=wanted.prompts,
        weights=wanted.weights,
        sample=_sample(wanted.rows, rows),
        concurrency=CONCURRENCY,
        max_retries=MAX_RETRIES,
        use_cache=False,
    )


def _sample(most: int, rows: _Rows) -> int | None:
    """Rows to rate of each system; None for all, which another signature says."""
    if not 1 <= most <= MOST_ROWS:
        raise ConfigError(f"segments: {most} is not from 1 to {MOST_ROWS}")
    systems = len(rows.names)
    if systems > most:
        raise InputError(f"{systems} systems: at most {most} segments are rated")
    return most // systems if most // systems < rows.n_rows else None


def _key(wanted: Wanted) -> str | None:
    """The visitor's key; without one, the environment's, but never for a visitor's server."""
    typed = wanted.key.strip()
    own_keys = map(os.environ.get, ("OPENAI_API_KEY", "OPENAI_BASE_URL"))
    if not typed and not wanted.base_url.strip() and not any(own_keys):
        raise ConfigError("no key: fill in Key, or give Base URL for a server of your own")
    return typed or (NO_KEY if wanted.base_url.strip() else None)


def _check_address(base_url: str) -> None:
    """In a Space, a visitor may not have requests sent to the machine's own network."""
    if "SPACE_ID" not in os.environ:
        return
    host = urlsplit(base_url).hostname or ""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ConfigError(f"base URL: no address is known for {host!r}") from None
    for *_, address in found:
        if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global:
            raise ConfigError(f"base URL: {host} is not on the public internet")


def _rows(wanted: Wanted) -> _Rows:
    if wanted.translation_file is None:
        if wanted.source_file is not None:
            raise InputError("the file of sources needs a file of translations beside it")
        return _pasted(wanted.sources, wanted.translations)
    for path in (wanted.source_file, wanted.translation_file):
        _refuse_gzip(path)
    inputs: Inputs = open_inputs(wanted.source_file, [wanted.translation_file])
    if not inputs.total:
        raise InputError(f"{wanted.translation_file}: holds no segment")
    names = tuple(system.name for system in inputs.systems)
    return _Rows(inputs.segments(), inputs.n_rows, names)


def _refuse_gzip(path: str | None) -> None:
    """A few packed kilobytes may hold gigabytes, which this machine is not to read."""
    if path is None:
        return
    try:
        start = Path(path).read_bytes()[: len(_GZIP_MAGIC)]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if start == _GZIP_MAGIC:
        raise InputError(f"{path}: is packed; unpack it first")


def _pasted(sources: str, translations: str) -> _Rows:
    """One segment a line; blank lines at the end come from pasting."""
    columns = [
        text.replace("\r\n", "\n").rstrip("\n").split("\n") for text in (sources, translations)
    ]
    if not any(line.strip() for line in columns[0]):
        raise InputError("source: paste a text, one segment a line")
    if len(columns[0]) != len(columns[1]):
        raise InputError(
            f"{len(columns[0])} lines of source but {len(columns[1])} of translation: one line of "
            "translation for each line of source is expected"
        )
    pairs = enumerate(zip(columns[0], columns[1], strict=True))
    segments = [Segment(source, translation, index=index) for index, (source, translation) in pairs]
    return _Rows(segments, len(segments), ("",))


def _shown(error: MMADError, wanted: Wanted) -> str:
    """The message without the folders of uploads, and without the key whatever it says."""
    text = str(error)
    for path in (wanted.source_file, wanted.translation_file):
        if path is not None:
            text = text.replace(path, os.path.basename(path))
    key = wanted.key.strip()
    return text.replace(key, "…") if key else text
