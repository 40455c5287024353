"""What calls cost: token prices from genai-prices, and a forecast of tokens from text."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import genai_prices

from mmad_metric.chat import ChatRequest, Message, Usage


@dataclass(frozen=True, slots=True)
class Price:
    """The price list of one model at one provider, in US dollars."""

    model: str
    provider: str | None
    api_url: str | None

    def cost(self, usage: Usage) -> Decimal:
        """US dollars for these tokens, at least 0; cached prompt tokens at their own price."""
        counted = genai_prices.Usage(
            input_tokens=usage.prompt_tokens,
            cache_read_tokens=usage.cached_tokens,
            output_tokens=usage.completion_tokens,
        )
        return _look_up(self, counted)


def _look_up(price: Price, usage: genai_prices.Usage) -> Decimal:
    if price.provider is not None:
        return genai_prices.calc_price(
            usage, model_ref=price.model, provider_id=price.provider
        ).total_price
    return genai_prices.calc_price(
        usage, model_ref=price.model, provider_api_url=price.api_url
    ).total_price


def find_price(model: str, base_url: str | None) -> Price | None:
    """The price list that applies to a model at a server, None when it is not known.

    Without a base URL the server is OpenAI's. A server that genai-prices does not know has no
    known price, whatever its model is called.
    """
    price = Price(model, "openai", None) if base_url is None else Price(model, None, base_url)
    try:
        _look_up(price, genai_prices.Usage(input_tokens=1, output_tokens=1))
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
