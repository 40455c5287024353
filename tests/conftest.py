"""What every test gets: no network but loopback, no key, no cache of the user's."""

from __future__ import annotations

import ipaddress
import itertools
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.annotator import KNOWN, Annotator
from tests.loopback import LoopbackServer

REPOSITORY = Path(__file__).resolve().parent.parent

# What a developer's shell may hold and a test must not see.
UNWANTED = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "OPENAI_LOG",
    "SACREBLEU_FORMAT",
    "SACREBLEU_SEED",
    *(name for word in ("HTTP", "HTTPS", "ALL") for name in (f"{word}_PROXY", f"{word}_proxy")),
    *(f"{word}_proxy" for word in ("http", "https", "all")),
)
OFFLINE = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
_cache_numbers = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """Hugging Face libraries read these when they are first imported, so before any test."""
    home = tempfile.TemporaryDirectory(prefix="mmad-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    os.environ["HF_HOME"] = home.name
    for name in OFFLINE:
        os.environ[name] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m wmt23` selects what reads real data, whoever wrote the test."""
    for item in items:
        if "wmt23" in getattr(item, "fixturenames", ()):
            item.add_marker("wmt23")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A server whose agents find the errors of `annotator.KNOWN`, where a text has them."""
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


@pytest.fixture(scope="session")
def wmt23() -> Path:
    """The folder of WMT23 data in mt-metrics-eval's layout; without it the test is skipped."""
    named = os.environ.get("MMAD_WMT23_DIR")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "wmt23"
    if not (folder / "sources").is_dir():
        pytest.skip(f"no WMT23 data in {folder} (MMAD_WMT23_DIR names another folder)")
    return folder


@pytest.fixture(autouse=True)
def _clean_surroundings(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in UNWANTED:
        monkeypatch.delenv(name, raising=False)
    cache = tmp_path_factory.getbasetemp() / f"mmad-cache-{next(_cache_numbers)}"
    monkeypatch.setenv("MMAD_CACHE", str(cache))


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A look-up or connection beyond this machine raises, and fails the test even where the
    code under test turned the exception into a value."""
    attempts: list[str] = []

    def refuse(target: str) -> None:
        attempts.append(target)
        raise AssertionError(f"a test may not reach {target}")

    def guarded(original: Any) -> Any:
        def call(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
                refuse(f"{address[0]}:{address[1]}")
            return original(self, address)

        return call

    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *args: Any, **options: Any) -> Any:
        if not is_loopback(host):
            refuse(f"the name {host!r}")
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)
    yield
    assert not attempts, f"the test tried to reach {', '.join(attempts)}"


def is_loopback(host: Any) -> bool:
    """Whether a host, as socket functions take it, is this machine."""
    if host is None or host in ("", b"", "localhost", b"localhost"):
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
