"""A simulation: what each strategy does to severities that an annotator has inflated.

Run it with `python -m benchmarks.bench_strategies [--segments N] [--rounds R]`.

No model takes part. A simulated annotator reports the human errors of WMT23 en-de, but calls a
minor error major in a known share of cases. In the debate con says what the human rater said,
and pro comes round to it with a known probability in each of its turns. Whoever decides in the
end, where somebody does, follows the human rater with a known probability, else pro. So the
share of inflated errors that a strategy leaves standing can be told beforehand:

    none                1
    consensus           (1 - y)^R           R turns of pro, its last word counts
    deliberation        (1 - y)^R (1 - d)   and then somebody decides
    interactive-review  (1 - y)^2R (1 - d)  R turns and R answers
    consultancy-review  (1 - y)^R (1 - d)   R answers

The table compares this with what the whole method gives, through all three stages. It says that
the strategies do what they are meant to do, and nothing about how models debate.
Needs MMAD_WMT23_DIR (default ../shared/wmt23).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.gold import LP, RATINGS, data_folder
from benchmarks.wmt_gold import GoldSegment, read_gold
from mmad_metric.chat import ChatRequest
from mmad_metric.config import MMADConfig
from mmad_metric.method_space import STRATEGIES
from mmad_metric.pipeline import Method, rate_segment
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.session import Plan
from mmad_metric.testing import ScriptedChat
from tests.annotator import DIMENSIONS, Item, home_of

# An inflated error weighs 5 instead of 1.
INFLATION_COST = 4
Texts = tuple[str, str]


@dataclass(frozen=True)
class Manners:
    """How the simulated agents behave: probabilities.

    inflates: that a minor error is called major; yields: that pro comes round in a turn;
    discerns: that whoever decides follows the human rater.
    """

    inflates: float = 0.3
    yields: float = 0.3
    discerns: float = 0.5
    seed: int = 1


@dataclass(frozen=True)
class Effect:
    """What a strategy did. survived, expected: inflated errors left standing; error: standard
    error of `expected`; score: mean segment score; calls: of all segments."""

    strategy: str
    inflated: int
    survived: int
    expected: float
    error: float
    score: float
    expected_score: float
    calls: int

    @property
    def deviation(self) -> float:
        """How many standard errors the outcome is from what was expected."""
        if self.error == 0:
            return 0.0 if self.survived == self.expected else math.inf
        return (self.survived - self.expected) / self.error


def surviving_share(strategy: str, rounds: int, manners: Manners) -> float:
    """The probability that an inflated severity stands in the end."""
    stubborn = 1 - manners.yields
    undiscerning = 1 - manners.discerns
    return {
        "none": 1.0,
        "consensus": stubborn**rounds,
        "deliberation": stubborn**rounds * undiscerning,
        "interactive-review": stubborn ** (2 * rounds) * undiscerning,
        "consultancy-review": stubborn**rounds * undiscerning,
    }[strategy]


def usable(gold: Iterable[GoldSegment]) -> Iterator[GoldSegment]:
    """Segments whose errors cannot be taken for one another: each quotes words that occur once,
    none is non-translation or of a severity beside minor and major; each pair once."""
    seen: set[Texts] = set()
    for each in gold:
        pair = (each.source, each.translation)
        if pair not in seen and _distinct(each.items, pair):
            seen.add(pair)
            yield each


def _distinct(items: Sequence[Item], pair: Texts) -> bool:
    spans = [(item["is_source_error"], item["error_span"].casefold()) for item in items]
    if len(set(spans)) < len(spans):
        return False
    return all(
        item["severity"] in ("minor", "major")
        and item["error_span"].strip() == item["error_span"]
        and pair[0 if in_source else 1].casefold().count(words) == 1
        for item, (in_source, words) in zip(items, spans, strict=True)
    )


class Simulation:
    """Plays all agents. truth: the human errors of each pair."""

    def __init__(self, truth: Mapping[Texts, Sequence[Item]], manners: Manners, run: str) -> None:
        self.truth = truth
        self.manners = manners
        self.run = run

    def __call__(self, request: ChatRequest) -> str:
        role, texts = request.role, request.texts
        if role == "consensus":
            return '{"consistent": "no"}'
        if request.schema.name == "interrogation":
            return '{"questions": "Which words bear that out?"}'
        if role == "judge":
            return _reply(_blocks(request.messages[-1].content, r"\w+_annotations"))
        if request.schema.name == "dimension_verdict":
            return self._decide(request)
        home = home_asked("\n".join(message.content for message in request.messages[1:]))
        if role == "annotate":
            return _reply(self.first_result(texts, home))
        if role == "con":
            return _reply(self._true(texts, home))
        return self._pro(request, home)

    def first_result(self, texts: Texts, home: str) -> list[Item]:
        """What the annotator of a dimension reports: the truth with inflated severities."""
        return [
            {**item, "severity": "major"} if self.is_inflated(texts, item) else item
            for item in self._true(texts, home)
        ]

    def is_inflated(self, texts: Texts, item: Item) -> bool:
        """The same for every strategy, so that they meet the same annotator."""
        chance = self._chance("annotate", texts, item["error_span"])
        return item["severity"] == "minor" and chance < self.manners.inflates

    def _true(self, texts: Texts, home: str) -> list[Item]:
        return [item for item in self.truth[texts] if home_of(item["category"]) == home]

    def _pro(self, request: ChatRequest, home: str) -> str:
        """Holds what it held last, or comes round to the truth; then it stays there."""
        said = [message.content for message in request.messages if message.role == "assistant"]
        chance = self._chance(self.run, request.texts, home, str(len(said)))
        if chance < self.manners.yields:
            return _reply(self._true(request.texts, home))
        return _reply(json.loads(said[-1])["annotations"])

    def _decide(self, request: ChatRequest) -> str:
        last = request.messages[-1].content
        asked = "\n".join(message.content for message in request.messages)
        home = _first_home(asked, self.truth[request.texts])
        if self._chance(self.run, request.texts, home, "decide") < self.manners.discerns:
            return _reply(self._true(request.texts, home))
        return _reply(_blocks(last, "annotations_A"))

    def _chance(self, *names: str | Texts) -> float:
        """Uniform in [0, 1), independent for different names."""
        key = json.dumps([self.manners.seed, *names]).encode()
        return int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "big") / 256**7


def home_asked(asked: str) -> str:
    found: list[str] = re.findall(r"(?:the|The) (\w+) errors", asked)
    return next(name for name in reversed(found) if name in DIMENSIONS)


def _first_home(asked: str, truth: Sequence[Item]) -> str:
    """The dimension under dispute, by the words of the first annotation."""
    first = _blocks(asked, "first_annotations")[0]["error_span"]
    return next(home_of(item["category"]) for item in truth if item["error_span"] == first)


def _blocks(text: str, name: str) -> list[Item]:
    """The annotations between tags of a name, all together."""
    found = re.findall(rf"<({name}(?:-\d+)?)>\n(.*?)\n</\1>", text, re.DOTALL)
    return [item for _, listed in found for item in json.loads(listed)]


def _reply(items: Sequence[Item]) -> str:
    said: dict[str, Any] = {"argument": "So it is.", "analysis": "So it is."}
    return json.dumps({**said, "annotations": list(items)})


def simulate(gold: Sequence[GoldSegment], strategy: str, rounds: int, manners: Manners) -> Effect:
    """One strategy over segments, all three stages, beside what arithmetic expects."""
    truth = {(each.source, each.translation): each.items for each in gold}
    agents = Simulation(truth, manners, f"{strategy} {rounds}")
    options: dict[str, Any] = {} if strategy == "none" else {"rounds": rounds}
    plan = Plan.of(MMADConfig.of(LP, strategy=strategy, **options))
    method = Method(plan.config, plan.prompts, plan.scheme, ScriptedChat(agents))
    ratings = asyncio.run(_rate_all(gold, method))
    inflated = [_inflated_by_debate(agents, each) for each in gold]
    share = surviving_share(strategy, rounds, manners)
    clusters = [count for counts in inflated for count in counts]
    expected = share * sum(clusters)
    # A debate's inflated errors stand or fall together.
    variance = share * (1 - share) * sum(count**2 for count in clusters)
    true_sum = sum(-_penalty(each.items) for each in gold)
    score_sum = sum(rating.score or 0.0 for rating in ratings)
    survived = (true_sum - score_sum) / INFLATION_COST
    if survived != round(survived):
        raise ValueError("the scores differ by something else than inflated severities")
    return Effect(
        strategy, sum(clusters), round(survived), expected, math.sqrt(variance),
        score_sum / len(gold), (true_sum - INFLATION_COST * expected) / len(gold),
        sum(rating.total_usage.calls for rating in ratings),
    )  # fmt: skip


def _inflated_by_debate(agents: Simulation, gold: GoldSegment) -> list[int]:
    texts = (gold.source, gold.translation)
    counts = dict.fromkeys(DIMENSIONS, 0)
    for item in gold.items:
        counts[home_of(item["category"])] += agents.is_inflated(texts, item)
    return [count for count in counts.values() if count]


def _penalty(items: Sequence[Item]) -> int:
    return sum(5 if item["severity"] == "major" else 1 for item in items)


async def _rate_all(gold: Sequence[GoldSegment], method: Method) -> list[SegmentRating]:
    segments = [Segment(each.source, each.translation) for each in gold]
    ratings = [await rate_segment(segment, method) for segment in segments]
    unscored = [rating for rating in ratings if rating.score is None]
    if unscored:
        raise ValueError(f"{len(unscored)} unscored, such as: {unscored[0].detail}")
    return ratings


def read_segments(folder: Path, count: int) -> list[GoldSegment]:
    """The first usable segments, taken evenly from the systems' rows."""
    gold = sorted(read_gold(folder, LP, RATINGS), key=lambda each: (each.index, each.system))
    return list(islice(usable(gold), count))


def main() -> None:
    """Print the table; exit 1 where a strategy is not where arithmetic expects it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--segments", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    manners = Manners()
    gold = read_segments(data_folder(), options.segments)
    true_score = sum(-_penalty(each.items) for each in gold) / len(gold)
    print(f"simulation: {len(gold)} segments of {LP}, R = {options.rounds}, inflates "
          f"{manners.inflates:g}, yields {manners.yields:g}, discerns {manners.discerns:g}; "
          f"human mean {true_score:.3f}")  # fmt: skip
    print(f"{'strategy':<19} {'calls':>6} {'mean':>7} {'expected':>9} {'left standing':>14} "
          f"{'expected':>15} {'deviation':>10}")  # fmt: skip
    begun, off = time.perf_counter(), 0
    for strategy in STRATEGIES:
        found = simulate(gold, strategy, options.rounds, manners)
        off += abs(found.deviation) > 3
        print(f"{strategy:<19} {found.calls:>6} {found.score:>7.3f} {found.expected_score:>9.3f} "
              f"{found.survived:>6} of {found.inflated:>4} {found.expected:>8.1f} ± "
              f"{found.error:<4.1f} {found.deviation:>+10.2f}")  # fmt: skip
    print(f"{time.perf_counter() - begun:.0f} s")
    if off:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
