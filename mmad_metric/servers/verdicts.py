"""A server's trouble as the package's own error: the one place where they are translated."""

from __future__ import annotations

from dataclasses import dataclass

from mmad_metric.addresses import Address, scrub
from mmad_metric.chat import Usage
from mmad_metric.errors import MMADError, Reason, RunStopped, SegmentFailure
from mmad_metric.servers.completions import Completion, shortcoming
from mmad_metric.servers.dialect import TEMPERATURE, TOKENS
from mmad_metric.servers.endpoint import Endpoint
from mmad_metric.servers.refusals import Kind, Trouble

REASONS = {
    Kind.FILTERED: Reason.CONTENT_FILTER,
    Kind.TOO_LONG: Reason.CONTEXT_LENGTH,
    Kind.BUSY: Reason.RATE_LIMITED,
    Kind.BROKEN: Reason.SERVER_ERROR,
    Kind.TIMEOUT: Reason.TIMEOUT,
    Kind.CONNECTION: Reason.CONNECTION,
}


@dataclass(frozen=True, repr=False)
class Verdicts:
    """Puts troubles with one endpoint into words. key: None when there is none.

    No message holds the key or a secret of the address.
    """

    endpoint: Endpoint
    address: Address
    key: str | None

    def _scrub(self, text: str) -> str:
        keys = () if self.key is None else (self.key,)
        return scrub(text, (*self.address.secrets, *keys))

    def on_completion(self, completion: Completion, usage: Usage) -> SegmentFailure | None:
        """The failure that a completion is; None when it is a usable reply."""
        found = shortcoming(completion)
        if found is None:
            return None
        return SegmentFailure(found[0], self._scrub(found[1]), usage)

    def on_trouble(self, trouble: Trouble, usage: Usage, *, room: int = 1) -> MMADError:
        """RunStopped when no call can succeed, else SegmentFailure. room: the request's."""
        said = self._scrub(trouble.text)
        because = f": {said}" if said else ""
        spent = usage if usage.calls else None
        if trouble.kind is Kind.VALUE and trouble.part == TOKENS and room > 1:
            return SegmentFailure(Reason.CUT_SHORT, f"no more room for a reply{because}", spent)
        stop = self._stop_sentence(trouble)
        if stop:
            return RunStopped(f"{stop}{because}")
        where = self.address.url
        if trouble.kind is Kind.TIMEOUT:
            detail = f"no answer from {where} within {self.endpoint.timeout:g} s"
        elif trouble.kind is Kind.CONNECTION:
            detail = f"no connection to {where}{because}"
        else:
            detail = said or f"{trouble.kind.value} (HTTP status {trouble.status})"
        return SegmentFailure(REASONS.get(trouble.kind, Reason.BAD_REQUEST), detail, spent)

    def _stop_sentence(self, trouble: Trouble) -> str:
        """What to tell the user when no call can succeed; "" when others may."""
        endpoint, url, tried = self.endpoint, self.address.url, self.address.tried
        if trouble.kind is Kind.NO_ENTRY:
            what = "a call without a key: set OPENAI_API_KEY" if self.key is None else "the API key"
            return f"{url} does not accept {what} (HTTP status {trouble.status})"
        if trouble.kind is Kind.NOT_FOUND:
            hint = (
                ""
                if "/v1" in tried or self.address.api_version
                else (" (most servers want a base URL that ends in /v1)")
            )
            return (
                f"no model {endpoint.model!r} at {tried} (HTTP status {trouble.status}); "
                f"check the base URL and the model's name{hint}"
            )
        if trouble.kind is Kind.OUT_OF_MONEY:
            return f"the quota or balance at {url} is used up"
        if trouble.kind is Kind.VALUE:
            value = endpoint.temperature if trouble.part == TEMPERATURE else endpoint.max_tokens
            return f"the server refuses {trouble.part} {value}"
        if trouble.kind is Kind.EXTRA:
            return f"the server refuses {trouble.part!r} of extra_body"
        return ""
