"""Base URLs as people paste them, and texts that must not hold a key."""

from __future__ import annotations

import pytest

from mmad_metric.addresses import resolve, scrub, shown_url
from mmad_metric.errors import ConfigError
from mmad_metric.servers.endpoint import Endpoint


@pytest.mark.parametrize(
    ("given", "url", "query"),
    [
        (None, "https://api.openai.com/v1", {}),
        ("http://h:1/v1", "http://h:1/v1", {}),
        (" http://h:1//v1// ", "http://h:1/v1", {}),
        ("http://h:1/v1/chat/completions", "http://h:1/v1", {}),
        ("http://h:1", "http://h:1", {}),
        ("http://u:p%40w@h:1/v1?a=1&b=", "http://h:1/v1", {"a": "1", "b": ""}),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", {}),
        (
            "https://r.openai.azure.com/?api-version=7",
            "https://r.openai.azure.com/openai/deployments/my%2Fm",
            {"api-version": "7"},
        ),
        (
            "https://r.openai.azure.com/openai/deployments/d?api-version=7",
            "https://r.openai.azure.com/openai/deployments/d",
            {"api-version": "7"},
        ),
        ("https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1", {}),
        (
            "https://r.services.ai.azure.com/models?api-version=7",
            "https://r.services.ai.azure.com/models",
            {"api-version": "7"},
        ),
    ],
)
def test_a_base_url_is_made_usable(given: str | None, url: str, query: dict[str, str]) -> None:
    address = resolve(given, "my/m")
    assert (address.url, address.query) == (url, query)


@pytest.mark.parametrize(
    "given",
    [
        "localhost:8000/v1",
        "ftp://h/v1",
        "http://",
        "/v1",
        "https://r.openai.azure.com/openai",
    ],
)
def test_what_is_no_usable_url_is_said_at_once(given: str) -> None:
    """E11: Azure's URL without an API version among them."""
    with pytest.raises(ConfigError, match="base_url"):
        resolve(given, "m")


def test_an_azure_version_may_come_from_the_environment() -> None:
    assert resolve("https://r.openai.azure.com", "m", azure_version="8").api_version == "8"


def test_what_is_shown_of_a_url_holds_no_secret() -> None:
    address = resolve(
        "http://me:hunter22@h/v1?token=hush-hush&api-version=7",
        "m",
        default_query={"sig": "s3cret!"},
    )
    assert address.tried == "http://h/v1/chat/completions?token=…&api-version=7&sig=…"
    assert address.headers == {"Authorization": "Basic bWU6aHVudGVyMjI="}
    said = scrub("me:hunter22 hush-hush s3cret! s3cret%21", address.secrets)
    assert said == "… … … …"
    assert shown_url("http://me:hunter22@h/v1?token=x#y") == "http://h/v1"
    assert "hunter22" not in repr(address) + shown_url("me:hunter22@h/v1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Incorrect API key: sk-proj-abcd****wxyz.", "Incorrect API key: …"),
        ("Authorization: Bearer abc.def", "Authorization: …"),
        ("token hf_abcdefghijklmnopqrst", "token …"),
        ("see http://u:p@h/x?key=1 and\n https://h/y", "see http://h/x and https://h/y"),
        ("the ask-me-anything model", "the ask-me-anything model"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_a_servers_words_are_scrubbed(text: str, said: str) -> None:
    assert scrub(text) == said


@pytest.mark.parametrize(
    "bad",
    [
        {"model": " "},
        {"level": "xml"},
        {"max_tokens": 0},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"max_retries": -1},
        {"concurrency": 0},
        {"temperature": -1.0},
        {"temperature": float("nan")},
        {"extra_body": {"messages": []}},
        {"extra_body": {"stream": True}},
        {"extra_body": {"x": {1, 2}}},
        {"extra_body": {"x": float("nan")}},
    ],
)
def test_an_endpoint_out_of_range_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Endpoint(**{"model": "m", **bad})  # type: ignore[arg-type]
