"""What a run will take, told before the first call: calls, tokens, money.

The bounds on calls are exact for a run without a cache in which every reply is readable; each
re-asked reply adds a call. Tokens are estimated from the texts (see `prices.estimate_tokens`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from mmad_metric.calls.prices import Price, estimate_prompt
from mmad_metric.chat import Message, Usage
from mmad_metric.config import MMADConfig
from mmad_metric.mqm import Annotation
from mmad_metric.pipeline import without_call
from mmad_metric.rating import Position, Segment
from mmad_metric.session import Plan
from mmad_metric.stages.judge import SKIP_JUDGE
from mmad_metric.templates import Prompts, Side

# Lengths of replies, in tokens, for the low and the typical case.
_EMPTY_REPLY = 8
_TYPICAL_REPLY = {"annotate": 60, "pro": 160, "con": 160, "consensus": 10, "judge": 160}


@dataclass
class Case:
    """One course that every segment may take, and what it uses, by role."""

    name: str
    description: str
    disputed: int  # dimensions debated in every segment
    rounds: int  # rounds that each debate takes; 0: none
    found: bool  # whether any error is found, so that the judge is asked
    usage: dict[str, Usage] = field(default_factory=dict)

    @property
    def total(self) -> Usage:
        return sum(self.usage.values(), Usage())

    def add(self, role: str, prompt_tokens: int, completion_tokens: int) -> None:
        one = Usage(1, prompt_tokens, 0, completion_tokens)
        self.usage[role] = self.usage.get(role, Usage()) + one

    def repeat(self, times: int) -> None:
        """What all this takes when every segment is rated so many times."""
        self.usage = {role: sum([usage] * times, Usage()) for role, usage in self.usage.items()}


@dataclass(frozen=True, slots=True)
class Forecast:
    """rows: to be rated; distinct: different pairs among them that need calls at all; repeats:
    how often each is rated, which the cases count."""

    rows: int
    distinct: int
    cases: tuple[Case, ...]
    repeats: int = 1

    def cost(self, case: Case, prices: Mapping[str, Price | None]) -> Decimal | None:
        """US dollars, None where a role's price is not known."""
        total = Decimal(0)
        for role, usage in case.usage.items():
            price = prices[role]
            if price is None:
                return None
            total += price.cost(usage)
        return total

    def to_dict(self, prices: Mapping[str, Price | None]) -> dict[str, Any]:
        cases = {}
        for case in self.cases:
            cost = self.cost(case, prices)
            cases[case.name] = {
                "description": case.description,
                "calls": case.total.calls,
                "prompt_tokens": case.total.prompt_tokens,
                "completion_tokens": case.total.completion_tokens,
                "cost_usd": None if cost is None else float(round(cost, 4)),
            }
        values: dict[str, Any] = {"segments": self.rows, "distinct_segments": self.distinct}
        if self.repeats > 1:
            values["repeats"] = self.repeats
        return {**values, "cases": cases}


def forecast(plan: Plan, segments: Iterable[Segment]) -> Forecast:
    """Walk the segments that are to be rated once, without a call."""
    cases = _cases(plan)
    estimator = _Estimator(plan.prompts, plan.config)
    rows, seen = 0, set()
    for segment in segments:
        rows += 1
        pair = hash((segment.source, segment.translation))
        if pair in seen or without_call(segment, plan.scheme) is not None:
            continue
        seen.add(pair)
        for case in cases:
            estimator.segment(case, (segment.source, segment.translation))
    for case in cases:
        case.repeat(plan.config.repeats)
    return Forecast(rows, len(seen), cases, plan.config.repeats)


def call_bounds(config: MMADConfig, dimensions: int) -> tuple[int, int]:
    """(fewest, most) calls of a segment that needs any: D + D(3R - 2) + 1 at most, D being the
    number of dimensions; 3R for 3R - 2 with `full_debate`."""
    debate = 0
    if config.debates():
        debate = 3 * config.rounds - (0 if config.full_debate else 2)
    judge = 0 if SKIP_JUDGE in config.skip_stages else 1
    return dimensions, dimensions + dimensions * debate + judge


def _cases(plan: Plan) -> tuple[Case, ...]:
    config, dimensions = plan.config, len(plan.prompts.pack.dimensions)
    if not config.debates():
        return (
            Case("fewest", "no error anywhere", 0, 0, found=False),
            Case("most", "errors everywhere", 0, 0, found=True),
        )
    return (
        Case("fewest", "no error anywhere", 0, 0, found=False),
        Case("typical", "one debate in every segment, agreed in its first round",
             1, 1, found=True),
        Case("most", "every dimension debated in every segment, never agreed",
             dimensions, config.rounds, found=True),
    )  # fmt: skip


class _Estimator:
    """Prompt lengths in tokens. The part that repeats is measured once."""

    def __init__(self, prompts: Prompts, config: MMADConfig) -> None:
        self._prompts = prompts
        self._config = config
        self._prefixes: dict[str, int] = {}

    def segment(self, case: Case, texts: tuple[str, str]) -> None:
        """Add what one segment takes in a case."""
        for dimension in self._prompts.pack.dimensions:
            messages = self._prompts.annotate(dimension, texts)
            known = self._prefixes.get(dimension.name)
            if known is None:
                known = self._prefixes[dimension.name] = estimate_prompt(messages[:-1])
            reply = _TYPICAL_REPLY["annotate"] if case.found else _EMPTY_REPLY
            if case.name == "most":
                reply = self._config.max_tokens
            case.add("annotate", known + estimate_prompt(messages[-1:]), reply)
        for _ in range(case.disputed):
            self._debate(case, texts)
        if case.found and SKIP_JUDGE not in self._config.skip_stages:
            self._judge(case, texts)

    def _reply(self, case: Case, role: str) -> int:
        return self._config.max_tokens if case.name == "most" else _TYPICAL_REPLY[role]

    def _debate(self, case: Case, texts: tuple[str, str]) -> None:
        dimension = self._prompts.pack.dimensions[0]
        opening = Position("", ())
        start = {
            role: estimate_prompt(self._prompts.debate_start(dimension, Side(role), texts, opening))
            for role in ("pro", "con")
        }
        frame = estimate_prompt((self._prompts.debate_turn(opening, 1, 2),))
        check = estimate_prompt(self._prompts.consensus(dimension, texts, opening, opening))
        reply = self._reply(case, "pro")
        full = self._config.full_debate
        for number in range(1, case.rounds + 1):
            # Each earlier round left the other's turn and the own answer in the chat.
            history = (2 * number - 1) * reply + number * frame
            case.add("pro", start["pro"] + history, reply)
            if number == self._config.rounds and not full:
                break
            case.add("con", start["con"] + history, reply)
            case.add("consensus", check + 2 * reply, self._reply(case, "consensus"))

    def _judge(self, case: Case, texts: tuple[str, str]) -> None:
        outcomes: list[tuple[Any, tuple[Annotation, ...]]] = [
            (dimension, ()) for dimension in self._prompts.pack.dimensions
        ]
        messages: tuple[Message, ...] = self._prompts.judge(texts, outcomes)
        shown = self._reply(case, "annotate") * (case.disputed or 1)
        case.add("judge", estimate_prompt(messages) + shown, self._reply(case, "judge"))
