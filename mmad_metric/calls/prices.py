"""What calls cost: token prices from genai-prices, and a forecast of tokens from text.

The price lists load when the first price is asked for: a replay from the cache asks for none.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from mmad_metric.addresses import resolve
from mmad_metric.chat import ChatRequest, Message, Usage


@dataclass(frozen=True, slots=True)
class Price:
    """The price list of one model at one provider, in US dollars."""

    model: str
    provider: str | None
    api_url: str | None

    def cost(self, usage: Usage) -> Decimal:
        """US dollars for these tokens, at least 0; cached prompt tokens at their own price."""
        from genai_prices import Usage as Counted
        from genai_prices import calc_price

        counted = Counted(
            input_tokens=usage.prompt_tokens,
            cache_read_tokens=usage.cached_tokens,
            output_tokens=usage.completion_tokens,
        )
        at_server = (
            {"provider_api_url": self.api_url}
            if self.provider is None
            else {"provider_id": self.provider}
        )
        total: Decimal = calc_price(counted, model_ref=self.model, **at_server).total_price
        return total


@lru_cache(maxsize=64)
def find_price(model: str, base_url: str | None) -> Price | None:
    """The price list that applies to a model at a server, None when it is not known.

    Without a base URL the server is OpenAI's. A server that genai-prices does not know has no
    known price, whatever its model is called, and one on this machine never has.
    """
    if base_url is not None and resolve(base_url, model).is_loopback:
        return None
    price = Price(model, "openai", None) if base_url is None else Price(model, None, base_url)
    try:
        price.cost(Usage(calls=1, prompt_tokens=1, completion_tokens=1))
    except LookupError:
        return None
    return price


def estimate_tokens(text: str) -> int:
    """A rough token count of a text, for forecasts and budgets.

    Counted as UTF-8 bytes / 4 for ASCII and / 2.5 for the rest: common vocabularies spend about
    one token on four English letters, and on one to one and a half CJK or two Cyrillic ones.
    """
    total = len(text.encode("utf-8", "replace"))
    ascii_bytes = total if text.isascii() else sum(map(str.isascii, text))
    other_bytes = total - ascii_bytes
    return max(1, round(ascii_bytes / 4 + other_bytes / 2.5)) if text else 0


def estimate_prompt(messages: tuple[Message, ...]) -> int:
    """A rough token count of a prompt, a few tokens of framing a message included."""
    return sum(estimate_tokens(message.content) + 4 for message in messages)


def worst_case(request: ChatRequest, max_tokens: int) -> Usage:
    """The most that a single call can use, as far as can be told before it is made.

    A token is at least one byte, but prompts never come near that: a margin of a half over the
    estimate is used.
    """
    return Usage(
        calls=1,
        prompt_tokens=estimate_prompt(request.messages) * 3 // 2,
        completion_tokens=max_tokens * request.room,
    )
