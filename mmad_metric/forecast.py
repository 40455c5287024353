"""What a run will take, told before the first call: calls, tokens, money.

The bounds on calls are exact for a run without a cache in which every reply is readable; each
re-asked reply adds a call. Tokens are estimated from the texts (see `prices.estimate_tokens`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from mmad_metric.baselines.prompts import BaselinePrompts
from mmad_metric.call_counts import n_annotators
from mmad_metric.calls.connect import call_parameters, resolve
from mmad_metric.calls.prices import Price, estimate_prompt
from mmad_metric.chat import Message, Usage
from mmad_metric.config import MMADConfig
from mmad_metric.debate_lengths import (
    Call,
    Lengths,
    consensus,
    consultancy_review,
    deliberation,
    interactive_review,
)
from mmad_metric.deciding_prompts import (
    Dispute,
    Moment,
    interrogator_system,
    interrogator_user,
    verdict,
)
from mmad_metric.method_space import SKIP_JUDGE, SKIP_PARTITION, annotator_of
from mmad_metric.mqm import Annotation
from mmad_metric.pack_parts import ALL_DIMENSIONS, Dimension
from mmad_metric.pipeline import without_call
from mmad_metric.rating import Position, Segment
from mmad_metric.session import Plan
from mmad_metric.templates import Prompts, Side

# Lengths of replies, in tokens, for the low and the typical case.
_EMPTY_REPLY = 8
_TYPICAL_REPLY = {
    "annotate": 60, "pro": 160, "con": 160, "consensus": 10, "dimension-judge": 160,
    "interrogator": 60, "judge": 160, "count": 12, "score": 8,
}  # fmt: skip
# How often a request of stage 1 is paid for already, by a hash of server, parameters and prompt.
Paid = dict[int, int]


def _used(call: Call, times: int) -> Usage:
    _, prompt_tokens, completion_tokens = call
    return Usage(times, times * prompt_tokens, 0, times * completion_tokens)


@dataclass
class Case:
    """One course that every segment may take, and what it uses, by role. shared: what it would
    use besides, had no other setting paid for it."""

    name: str
    description: str
    disputed: int  # dimensions debated in every segment
    rounds: int  # rounds that each debate takes; 0: none
    found: bool  # whether any error is found, so that the judge is asked
    usage: dict[str, Usage] = field(default_factory=dict)
    shared: Usage = Usage()

    @property
    def total(self) -> Usage:
        return sum(self.usage.values(), Usage())

    @property
    def alone(self) -> Usage:
        """What it uses where nothing is shared."""
        return self.total + self.shared

    def add(self, call: Call, times: int = 1) -> None:
        """A call that is made so many times."""
        role = call[0]
        self.usage[role] = self.usage.get(role, Usage()) + _used(call, times)

    def share(self, call: Call, times: int) -> None:
        """A call that has been paid for so many times."""
        self.shared += _used(call, times)


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


def forecast(plan: Plan, segments: Iterable[Segment], paid: Paid | None = None) -> Forecast:
    """Walk the segments that are to be rated, with their material, once, without a call.

    paid: what settings that share a cache with this one ask for in stage 1; their replies are not
    counted again, and this one's requests are added.
    """
    cases = _cases(plan)
    estimator = _estimator(plan, {} if paid is None else paid)
    rows, seen = 0, set()
    for segment in segments:
        rows += 1
        pair = hash((segment.source, segment.translation, segment.material))
        if pair in seen or without_call(segment, plan.scheme) is not None:
            continue
        seen.add(pair)
        estimator.segment(cases, segment)
    return Forecast(rows, len(seen), cases, plan.config.repeats)


def _estimator(plan: Plan, paid: Paid) -> _Estimator | _BaselineEstimator:
    if isinstance(plan.prompts, BaselinePrompts):
        return _BaselineEstimator(plan.prompts, plan.config, paid)
    return _Estimator(plan.prompts, plan.config, paid)


def _pay(paid: Paid, config: MMADConfig, role: str, messages: tuple[Message, ...]) -> int:
    """How often a request has been paid for, of as often as it is made; from now on it is."""
    target = resolve(config, role)
    carried = tuple(call_parameters(config, target[0]).items())
    request = hash((target, carried, messages))
    before = paid.get(request, 0)
    paid[request] = max(before, config.repeats)
    return min(before, config.repeats)


def _cases(plan: Plan) -> tuple[Case, ...]:
    config = plan.config
    if isinstance(plan.prompts, BaselinePrompts) and plan.scheme is None:
        return tuple(Case(name, "one number", 0, 0, found=True) for name in ("fewest", "most"))
    fewest = Case("fewest", "no error anywhere", 0, 0, found=False)
    if not config.debates():
        return fewest, Case("most", "errors everywhere", 0, 0, found=True)
    agrees = config.strategy == "consensus"
    return (
        fewest,
        Case("typical", "one debate in every segment" + ", agreed in its first round" * agrees,
             1, 1 if agrees else config.rounds, found=True),
        Case("most", "every dimension debated in every segment" + ", never agreed" * agrees,
             n_annotators(config, len(plan.prompts.pack.dimensions)), config.rounds, found=True),
    )  # fmt: skip


class _BaselineEstimator:
    """The same calls in every case; what differs is how much the replies hold."""

    def __init__(self, prompts: BaselinePrompts, config: MMADConfig, paid: Paid) -> None:
        self._prompts = prompts
        self._config = config
        self._paid = paid

    def segment(self, cases: Iterable[Case], segment: Segment) -> None:
        """Add what one segment takes in each case. Each call's prompt holds the replies before
        it: where those are known, so is what follows."""
        times, said = self._config.repeats, dict.fromkeys([case.name for case in cases], 0)
        for role, messages in self._prompts.calls((segment.source, segment.translation)):
            prompt = sum(map(_message_tokens, messages))
            known = _pay(self._paid, self._config, role, messages)
            for case in cases:
                reply = _reply(case, role, self._config)
                call = (role, prompt + said[case.name], reply)
                case.add(call, times - known)
                case.share(call, known)
                said[case.name] += reply


@lru_cache(maxsize=64)
def _message_tokens(message: Message) -> int:
    """Instruction and demonstrations come again with every segment."""
    return estimate_prompt((message,))


def _reply(case: Case, role: str, config: MMADConfig) -> int:
    """Tokens of a reply."""
    if case.name == "most":
        return config.max_tokens
    return _TYPICAL_REPLY[role] if case.found else _EMPTY_REPLY


class _Estimator:
    """Prompt lengths in tokens. The part that repeats is measured once."""

    def __init__(self, prompts: Prompts, config: MMADConfig, paid: Paid) -> None:
        self._prompts = prompts
        self._config = config
        self._paid = paid
        self._prefixes: dict[str, int] = {}
        coupled = SKIP_PARTITION in config.skip_stages
        self._dimensions = (ALL_DIMENSIONS,) if coupled else prompts.pack.dimensions

    def segment(self, cases: Iterable[Case], segment: Segment) -> None:
        """Add what one segment takes in each case."""
        times, texts = self._config.repeats, (segment.source, segment.translation)
        self._prompts = self._prompts.beside(segment.material)
        openings = [self._opening(dimension, texts) for dimension in self._dimensions]
        for case in cases:
            for role, prompt, known in openings:
                call = (role, prompt, _reply(case, "annotate", self._config))
                case.add(call, times - known)
                case.share(call, known)
            if case.disputed:
                for call in self._debate(case, texts):
                    case.add(call, times * case.disputed)
            if case.found and SKIP_JUDGE not in self._config.skip_stages:
                case.add(self._judge(case, texts), times)

    def _opening(self, dimension: Dimension, texts: tuple[str, str]) -> tuple[str, int, int]:
        """An annotator's role, the tokens of its prompt, and how many of its calls are paid
        for."""
        messages = self._prompts.annotate(dimension, texts)
        prefix = self._prefixes.get(dimension.name)
        if prefix is None:
            prefix = self._prefixes[dimension.name] = estimate_prompt(messages[:-1])
        role = annotator_of(self._config, dimension.name)
        known = _pay(self._paid, self._config, role, messages)
        return role, prefix + estimate_prompt(messages[-1:]), known

    def _debate(self, case: Case, texts: tuple[str, str]) -> list[Call]:
        lengths = self._lengths(case, texts)
        strategy = self._config.strategy
        if strategy == "deliberation":
            return deliberation(lengths, case.rounds)
        if strategy == "interactive-review":
            return interactive_review(lengths, case.rounds)
        if strategy == "consultancy-review":
            return consultancy_review(lengths, case.rounds)
        full = self._config.full_debate or case.rounds < self._config.rounds
        return consensus(lengths, case.rounds, full=full)

    def _lengths(self, case: Case, texts: tuple[str, str]) -> Lengths:
        """What each prompt takes without what was said before it."""
        prompts, config = self._prompts, self._config
        dimension, opening = self._dimensions[0], Position("", ())
        dispute = Dispute(dimension, texts, (), config.topic, config.strategy)
        check: tuple[Message, ...] = ()
        asking: tuple[Message, ...] = ()
        verdict_prompt: tuple[Message, ...] = ()
        if config.strategy == "consensus":
            check = prompts.consensus(dimension, texts, opening, opening, config.topic)
        else:
            first = Moment(1, config.rounds, first=True)
            asking = (
                interrogator_system(prompts, dispute, "pro"),
                interrogator_user(prompts, dispute, first, "pro"),
            )
            verdict_prompt = verdict(prompts, dispute, (), (opening, opening))
        sides = {
            role: estimate_prompt(
                prompts.debate_start(
                    dimension,
                    Side(role, config.dispute, config.topic, config.strategy),
                    texts,
                    opening,
                )
            )
            for role in ("pro", "con")
        }
        return Lengths(
            sides=sides,
            frame=estimate_prompt((prompts.debate_turn(opening, 1, 2),)),
            check=estimate_prompt(check),
            asking=estimate_prompt(asking),
            verdict=estimate_prompt(verdict_prompt),
            replies={role: _reply(case, role, self._config) for role in _TYPICAL_REPLY},
        )

    def _judge(self, case: Case, texts: tuple[str, str]) -> Call:
        outcomes: list[tuple[Any, tuple[Annotation, ...]]] = [
            (dimension, ()) for dimension in self._dimensions
        ]
        messages: tuple[Message, ...] = self._prompts.judge(texts, outcomes)
        shown = _reply(case, "annotate", self._config) * (case.disputed or 1)
        prompt = estimate_prompt(messages) + shown
        return "judge", prompt, _reply(case, "judge", self._config)
