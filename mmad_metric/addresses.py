"""Where a server is: base URLs made usable, and shown without what must stay secret."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from mmad_metric.errors import ConfigError

OPENAI_URL = "https://api.openai.com/v1"
CHAT_PATH = "/chat/completions"
AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
DETAIL_LENGTH = 300
SHORTEST_SECRET = 4
# Not secret, and half of all Azure trouble: shown with its value.
API_VERSION = "api-version"
KEY_LIKE = re.compile(
    r"\b(?:sk|pk|rk|sess)-[\w*.…-]{4,}|\b(?:gsk|hf|xai)[-_][A-Za-z0-9]{16,}|\bBearer\s+\S+",
    re.IGNORECASE,
)
URL_LIKE = re.compile(r"\bhttps?://[^\s\"'<>]+")


@dataclass(frozen=True)
class Address:
    """A base URL in its parts.

    url: without user, query and final slash; query: parameters of every request; headers:
    what the user and password of the URL turn into; api_version: of Azure's own URL shapes,
    else None; secrets: texts that no message may hold.
    """

    url: str
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_version: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    @property
    def tried(self) -> str:
        """The URL of a chat call as it may be shown."""
        names = [
            f"{name}={value if name == API_VERSION else '…'}" for name, value in self.query.items()
        ]
        return self.url + CHAT_PATH + ("?" + "&".join(names) if names else "")


def resolve(
    base_url: str | None,
    model: str,
    *,
    default_query: Mapping[str, str] | None = None,
    azure_version: str | None = None,
) -> Address:
    """The address that a base URL means. None means OpenAI's own.

    Takes what people paste: with or without final slash, with the path of the chat call, with
    a query, with user and password. azure_version: Azure's API version if the URL has none.
    Raises ConfigError when it is no http(s) URL.
    """
    parts = urlsplit((base_url or OPENAI_URL).strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"base_url: {shown_url(base_url or '')!r} is no http:// or https:// URL")
    query = dict(parse_qsl(parts.query, keep_blank_values=True)) | dict(default_query or {})
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/").removesuffix(CHAT_PATH)
    userinfo, _, host = parts.netloc.rpartition("@")
    version = query.get(API_VERSION)
    if version is None and parts.hostname.endswith(AZURE_HOSTS) and not path.endswith("/v1"):
        version = azure_version
        if version is None:
            raise ConfigError(
                "base_url: an Azure URL needs ?api-version=… at its end, or the path /openai/v1"
            )
        query[API_VERSION] = version
    if version is not None and path in ("", "/openai"):
        path = f"/openai/deployments/{quote(model, safe='')}"
    hidden = [value for name, value in query.items() if name != API_VERSION]
    return Address(
        url=urlunsplit((parts.scheme, host, path, "", "")),
        query=query,
        headers=_basic_auth(userinfo),
        api_version=version,
        secrets=_secrets([*hidden, unquote(userinfo), unquote(userinfo.partition(":")[2])]),
    )


def _basic_auth(userinfo: str) -> dict[str, str]:
    # Left in the URL, one transport refuses to send it and the other writes it into its log.
    if not userinfo:
        return {}
    token = base64.b64encode(unquote(userinfo).encode()).decode()
    return {"Authorization": f"Basic {token}"}


def _secrets(values: Iterable[str]) -> tuple[str, ...]:
    # A value of one or two letters would blank out half of every message.
    long_enough = {value for value in values if len(value) >= SHORTEST_SECRET}
    return tuple(sorted(long_enough | {quote(value, safe="") for value in long_enough}))


def shown_url(url: str) -> str:
    """A URL as it may be shown: without user, password and query."""
    parts = urlsplit(url.strip())
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rpartition("@")[2], "", ""))


def without_secrets(text: str) -> str:
    """The text without what looks like a key, its URLs without user, password and query."""
    return KEY_LIKE.sub("…", URL_LIKE.sub(lambda found: shown_url(found.group()), text))


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """A server's words on one line of bounded length, without keys and URLs' secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "…")
    text = " ".join(without_secrets(text).split())
    return text if len(text) <= DETAIL_LENGTH else text[: DETAIL_LENGTH - 1] + "…"


class _HideQueries(logging.Filter):
    """Takes queries out of URLs that are logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                shown_url(str(part)) if URL_LIKE.match(str(part)) else part for part in record.args
            )
        # Older clients log a traceback, with the URL in its last line, at level DEBUG.
        record.exc_info = None
        return True


_hide_queries = _HideQueries()


def hide_queries_in_logs() -> None:
    """Makes the HTTP libraries' log lines, one for each call at level INFO, safe to keep.

    Wanted when a URL's query may hold a key. Harmless when called again.
    """
    for name in ("httpx2", "openai._base_client"):
        logging.getLogger(name).addFilter(_hide_queries)
