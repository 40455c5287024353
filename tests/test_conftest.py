"""The guards of conftest.py hold."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
CONFTEST = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")

# 192.0.2.1 belongs to nobody (it is set aside for documentation); .invalid names never resolve.
SWALLOWERS = """
import asyncio, contextlib, socket
import pytest

ATTEMPTS = {
    "connect": lambda: socket.socket().connect(("192.0.2.1", 443)),
    "connect_ex": lambda: socket.socket().connect_ex(("192.0.2.1", 443)),
    "look_up": lambda: socket.getaddrinfo("example.invalid", 443),
    "asyncio": lambda: asyncio.run(asyncio.open_connection("192.0.2.1", 443)),
}

@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_swallows(attempt):
    with contextlib.suppress(BaseException):
        ATTEMPTS[attempt]()
"""


def test_a_connection_beyond_this_machine_fails_even_a_test_that_swallows_the_error(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parent.parent))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(SWALLOWERS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=4, errors=4)
    refused = [line for line in result.outlines if "the test tried to reach" in line]
    assert any("192.0.2.1:443" in line for line in refused)
    assert any("example.invalid" in line for line in refused)


def test_loopback_connections_work_with_and_without_asyncio() -> None:
    async def shake_hands(port: int) -> None:
        _, writer = await asyncio.open_connection("localhost", port, family=socket.AF_INET)
        writer.close()
        await writer.wait_closed()

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            asyncio.run(shake_hands(port))


def test_no_key_and_no_cache_of_the_user_is_seen(tmp_path: Path) -> None:
    assert "OPENAI_API_KEY" not in os.environ
    assert "OPENAI_BASE_URL" not in os.environ
    assert Path(os.environ["MMAD_CACHE"]).parent == tmp_path.parent
    assert os.environ["HF_HUB_OFFLINE"] == "1"
