"""A ChatModel over an OpenAI-compatible server: its dialect is learnt, its answers are read."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import final

from mmad_metric import addresses
from mmad_metric.chat import ChatRequest, Reply, Usage
from mmad_metric.errors import ConfigError
from mmad_metric.servers.client import Line
from mmad_metric.servers.completions import Completion, PromptWatch, read_completion
from mmad_metric.servers.dialect import (
    SYSTEM,
    Dialect,
    check_messages,
    first_dialect,
    probes,
    request_bytes,
    without,
)
from mmad_metric.servers.endpoint import Endpoint
from mmad_metric.servers.refusals import Kind, Problem, Trouble, understand
from mmad_metric.servers.verdicts import Verdicts

__all__ = ["Endpoint", "OpenAIChat"]

log = logging.getLogger(__name__)

# The client does not retry a 200 whose body is broken: these are the waits before we do.
BROKEN_BODY_WAITS = (0.5, 1.0)
# More than there are parts that a server can refuse; a server that still objects is at odds
# with itself.
MOST_ADAPTATIONS = 10
NO_KEY = "none-needed"


@final
class OpenAIChat:
    """Asks one model on one server.

    What the server refuses of a request (a structured-output level, a parameter, the system
    role) is learnt once and left out from then on; `Reply.level` and `Reply.adapted` tell what
    was in force. Retries are the client's own. Opens its connections at the first call and may
    be used again after `aclose`, in another event loop too. Raises ConfigError when OpenAI's
    own server is meant and there is no key.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        base_url = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._endpoint = endpoint
        self._address = addresses.resolve(
            base_url,
            endpoint.model,
            default_query=endpoint.default_query,
            azure_version=os.environ.get("OPENAI_API_VERSION"),
        )
        self._key = _find_key(endpoint, self._address, own_server=base_url is not None)
        known_key = None if self._key == NO_KEY else self._key
        self._verdicts = Verdicts(endpoint, self._address, known_key)
        self._first = first_dialect(endpoint, own_server=base_url is not None)
        self._spoken = self._first
        self._understood: set[tuple[str, Dialect]] = set()
        self._probed = False
        self._watch = PromptWatch()
        self._line: Line | None = None
        if self._address.query:
            addresses.hide_queries_in_logs()

    def __repr__(self) -> str:
        return f"OpenAIChat({self._endpoint!r})"

    async def __aenter__(self) -> OpenAIChat:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    async def complete(self, request: ChatRequest) -> Reply:
        """The model's reply.

        Raises SegmentFailure, RunStopped, and ValueError when the messages' roles are not
        [system,] user, assistant, user, …
        """
        check_messages(request.messages)
        spent = Usage()
        for _ in range(MOST_ADAPTATIONS):
            sent = self._spoken
            answer, usage = await self._exchange(request, sent)
            spent += usage
            if isinstance(answer, Trouble) and answer.kind is Kind.VAGUE:
                answer, usage, sent = await self._probe(request, sent, answer)
                spent += usage
            if isinstance(answer, Completion):
                return self._reply(request, sent, answer, spent)
            trouble = answer
            if not self._learn(request, sent, trouble):
                break
        raise self._verdicts.on_trouble(trouble, spent, room=request.room)

    def _reply(
        self, request: ChatRequest, sent: Dialect, answer: Completion, usage: Usage
    ) -> Reply:
        self._understood.add((request.schema.name, sent))
        letters = sum(len(message.content) for message in request.messages)
        self._watch.see(letters, answer.usage.prompt_tokens)
        failure = self._verdicts.on_completion(answer, usage)
        if failure is not None:
            raise failure
        return Reply(
            text=answer.text,
            model=answer.model,
            finish_reason=answer.finish_reason,
            usage=usage,
            level=sent.level,
            adapted=sent.adapted(self._first),
        )

    def _learn(self, request: ChatRequest, sent: Dialect, trouble: Trouble) -> bool:
        """Whether the request is worth sending again, in what is now the server's dialect."""
        if trouble.kind is Kind.VAGUE:
            # Only handed on by a probe when another call has learnt something meanwhile.
            return self._spoken != sent
        if trouble.kind is not Kind.PART or (trouble.part == SYSTEM and not _has_system(request)):
            return False
        changed = without(self._spoken, sent, trouble.part)
        if changed is None:
            return False
        self._adopt(changed)
        return True

    def _adopt(self, changed: Dialect) -> None:
        if changed == self._spoken:
            return
        self._spoken = changed
        log.info(
            "%s: going on with %s output, adapted: %s",
            self._address.url,
            changed.level,
            ", ".join(changed.adapted(self._first)) or "nothing else",
        )
        if not changed.token_names:
            log.warning("%s takes no token limit: replies may be long", self._address.url)

    async def _probe(
        self, request: ChatRequest, sent: Dialect, refusal: Trouble
    ) -> tuple[Completion | Trouble, Usage, Dialect]:
        """After a refusal that names nothing: what does the server understand?

        Tried once a run, by one call while others wait, and not at all when the same kind of
        request was understood before: then it is this one's content.
        """
        line = self._open_line()
        usage = Usage()
        async with line.probing:
            known = (request.schema.name, sent) in self._understood
            if known or self._probed or self._spoken != sent:
                return refusal, usage, sent
            for candidate in probes(sent, has_system=_has_system(request)):
                answer, spent = await self._exchange(request, candidate)
                usage += spent
                if isinstance(answer, Completion):
                    self._probed = True
                    self._adopt(candidate)
                    return answer, usage, candidate
                if answer.kind not in (Kind.VAGUE, Kind.PART, Kind.BAD):
                    return answer, usage, candidate
            self._probed = True
        return refusal, usage, sent

    async def _exchange(
        self, request: ChatRequest, dialect: Dialect
    ) -> tuple[Completion | Trouble, Usage]:
        """One request in one dialect, asked again when the reply's body is broken."""
        content = request_bytes(self._endpoint, dialect, request)
        extras = tuple(self._endpoint.extra_body or ())
        usage = Usage()
        for wait in (*BROKEN_BODY_WAITS, None):
            received = await self._open_line().post(content)
            if isinstance(received, Trouble):
                return received, usage
            answer = received if isinstance(received, Problem) else read_completion(received)
            if isinstance(received, bytes):
                usage += answer.usage if isinstance(answer, Completion) else Usage(calls=1)
            if isinstance(answer, Completion):
                return answer, usage
            trouble = understand(answer, extras)
            if isinstance(received, Problem) or trouble.kind not in (Kind.BROKEN, Kind.BUSY):
                break
            if wait is not None:
                await asyncio.sleep(wait)
        return trouble, usage

    def _open_line(self) -> Line:
        loop = asyncio.get_running_loop()
        if self._line is None or self._line.loop is not loop:
            self._line = Line(self._endpoint, self._address, self._key, loop)
        return self._line


def _has_system(request: ChatRequest) -> bool:
    return request.messages[0].role == "system"


def _find_key(endpoint: Endpoint, address: addresses.Address, *, own_server: bool) -> str:
    names = ["OPENAI_API_KEY"]
    if address.api_version is not None:
        names = ["AZURE_OPENAI_API_KEY", *names]
    key = endpoint.api_key or next(filter(None, map(os.environ.get, names)), None)
    if key is None and not own_server:
        raise ConfigError("no API key: set OPENAI_API_KEY, or give the base URL of your own server")
    # What is pasted often ends in a line break.
    key = (key or "").strip() or NO_KEY
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("the API key holds characters that no HTTP header may hold")
    return key
