"""What a run will take, told before the first call: calls, tokens, money.

The bounds on calls are exact for a run without a cache in which every reply is readable; each
re-asked reply adds a call. Tokens are estimated from the texts (see `prices.estimate_tokens`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from mmad_metric.call_counts import n_annotators
from mmad_metric.calls.prices import Price, estimate_prompt
from mmad_metric.chat import Message, Usage
from mmad_metric.config import MMADConfig
from mmad_metric.deciding_prompts import (
    Dispute,
    Moment,
    interrogator_system,
    interrogator_user,
    verdict,
)
from mmad_metric.method_space import SKIP_JUDGE, SKIP_PARTITION, annotator_of
from mmad_metric.mqm import Annotation
from mmad_metric.pack_parts import ALL_DIMENSIONS
from mmad_metric.pipeline import without_call
from mmad_metric.rating import Position, Segment
from mmad_metric.session import Plan
from mmad_metric.templates import Prompts, Side

# Lengths of replies, in tokens, for the low and the typical case.
_EMPTY_REPLY = 8
_TYPICAL_REPLY = {
    "annotate": 60, "pro": 160, "con": 160, "consensus": 10, "dimension-judge": 160,
    "interrogator": 60, "judge": 160,
}  # fmt: skip
Call = tuple[str, int, int]  # role, tokens of the prompt, tokens of the reply


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
    """Walk the segments that are to be rated, with their material, once, without a call."""
    cases = _cases(plan)
    estimator = _Estimator(plan.prompts, plan.config)
    rows, seen = 0, set()
    for segment in segments:
        rows += 1
        pair = hash((segment.source, segment.translation, segment.material))
        if pair in seen or without_call(segment, plan.scheme) is not None:
            continue
        seen.add(pair)
        for case in cases:
            estimator.segment(case, segment)
    for case in cases:
        case.repeat(plan.config.repeats)
    return Forecast(rows, len(seen), cases, plan.config.repeats)


def _cases(plan: Plan) -> tuple[Case, ...]:
    config = plan.config
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


class _Estimator:
    """Prompt lengths in tokens. The part that repeats is measured once."""

    def __init__(self, prompts: Prompts, config: MMADConfig) -> None:
        self._prompts = prompts
        self._config = config
        self._prefixes: dict[str, int] = {}
        coupled = SKIP_PARTITION in config.skip_stages
        self._dimensions = (ALL_DIMENSIONS,) if coupled else prompts.pack.dimensions

    def segment(self, case: Case, segment: Segment) -> None:
        """Add what one segment takes in a case."""
        texts = (segment.source, segment.translation)
        self._prompts = self._prompts.beside(segment.material)
        for dimension in self._dimensions:
            messages = self._prompts.annotate(dimension, texts)
            known = self._prefixes.get(dimension.name)
            if known is None:
                known = self._prefixes[dimension.name] = estimate_prompt(messages[:-1])
            reply = self._reply(case, "annotate") if case.found else _EMPTY_REPLY
            role = annotator_of(self._config, dimension.name)
            case.add(role, known + estimate_prompt(messages[-1:]), reply)
        if case.disputed:
            debate = self._debate(case, texts)
            for _ in range(case.disputed):
                for role, prompt, reply in debate:
                    case.add(role, prompt, reply)
        if case.found and SKIP_JUDGE not in self._config.skip_stages:
            self._judge(case, texts)

    def _reply(self, case: Case, role: str) -> int:
        return self._config.max_tokens if case.name == "most" else _TYPICAL_REPLY[role]

    def _debate(self, case: Case, texts: tuple[str, str]) -> list[Call]:
        lengths = self._lengths(case, texts)
        strategy = self._config.strategy
        if strategy == "deliberation":
            return _deliberation(lengths, case.rounds)
        if strategy == "interactive-review":
            return _interactive_review(lengths, case.rounds)
        if strategy == "consultancy-review":
            return _consultancy_review(lengths, case.rounds)
        full = self._config.full_debate or case.rounds < self._config.rounds
        return _consensus(lengths, case.rounds, full=full)

    def _lengths(self, case: Case, texts: tuple[str, str]) -> _Lengths:
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
        return _Lengths(
            sides=sides,
            frame=estimate_prompt((prompts.debate_turn(opening, 1, 2),)),
            check=estimate_prompt(check),
            asking=estimate_prompt(asking),
            verdict=estimate_prompt(verdict_prompt),
            replies={role: self._reply(case, role) for role in _TYPICAL_REPLY},
        )

    def _judge(self, case: Case, texts: tuple[str, str]) -> None:
        outcomes: list[tuple[Any, tuple[Annotation, ...]]] = [
            (dimension, ()) for dimension in self._dimensions
        ]
        messages: tuple[Message, ...] = self._prompts.judge(texts, outcomes)
        shown = self._reply(case, "annotate") * (case.disputed or 1)
        case.add("judge", estimate_prompt(messages) + shown, self._reply(case, "judge"))


@dataclass(frozen=True, slots=True)
class _Lengths:
    """Tokens of the prompts of a debate. sides: a debater's chat up to its opening; frame: of
    a message that brings it something; check, asking, verdict: of those who end the debate;
    replies: by role."""

    sides: Mapping[str, int]
    frame: int
    check: int
    asking: int
    verdict: int
    replies: Mapping[str, int]


def _consensus(lengths: _Lengths, rounds: int, *, full: bool) -> list[Call]:
    """full: the last of the rounds is a whole one."""
    reply, calls = lengths.replies["pro"], []
    for number in range(1, rounds + 1):
        # Each earlier round left the other's turn and the own answer in the chat.
        history = (2 * number - 1) * reply + number * lengths.frame
        calls.append(("pro", lengths.sides["pro"] + history, reply))
        if number == rounds and not full:
            break
        calls.append(("con", lengths.sides["con"] + history, reply))
        check = lengths.check + 2 * reply
        calls.append(("consensus", check, lengths.replies["consensus"]))
    return calls


def _exchanges(lengths: _Lengths, rounds: int, between: int) -> list[Call]:
    """The debaters' turns; between: what a round adds to a chat beside the turns."""
    reply = lengths.replies["pro"]
    return [
        (side, start + (2 * number - 1) * reply + number * lengths.frame + number * between, reply)
        for number in range(1, rounds + 1)
        for side, start in lengths.sides.items()
    ]


def _deliberation(lengths: _Lengths, rounds: int) -> list[Call]:
    read = lengths.verdict + 2 * (rounds + 1) * lengths.replies["pro"]
    judge = ("dimension-judge", read, lengths.replies["dimension-judge"])
    return [*_exchanges(lengths, rounds, 0), judge]


def _interactive_review(lengths: _Lengths, rounds: int) -> list[Call]:
    reply, asked = lengths.replies["pro"], lengths.replies["interrogator"]
    frame = lengths.frame
    calls = _exchanges(lengths, rounds, frame + asked + reply)
    for number in range(1, rounds + 1):
        heard = lengths.asking + number * (2 * reply + frame)
        heard += (number - 1) * (2 * reply + asked)
        calls.append(("interrogator", heard, asked))
        for side, start in lengths.sides.items():
            said = 2 * number * (reply + frame) + number * (asked + reply)
            calls.append((side, start + said, reply))
    whole = lengths.asking + rounds * (4 * reply + asked + frame)
    return [*calls, ("interrogator", whole, lengths.replies["dimension-judge"])]


def _consultancy_review(lengths: _Lengths, rounds: int) -> list[Call]:
    reply, asked = lengths.replies["pro"], lengths.replies["interrogator"]
    calls: list[Call] = []
    for number in range(1, rounds + 1):
        history = number * (asked + lengths.frame) + (number - 1) * reply
        for _ in lengths.sides:
            said = lengths.asking + number * (reply + lengths.frame) + (number - 1) * asked
            calls.append(("interrogator", said, asked))
        calls += [(side, start + history, reply) for side, start in lengths.sides.items()]
    read = lengths.verdict + 2 * rounds * (reply + asked) + 2 * reply
    return [*calls, ("interrogator", read, lengths.replies["dimension-judge"])]
