"""Every strategy, topic and number of rounds: who speaks, who has heard what, who decides, and
how many calls that takes over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.call_counts import call_bounds, debate_calls
from mmad_metric.chat import ChatModel, ChatRequest
from mmad_metric.config import MMADConfig
from mmad_metric.errors import Reason, SegmentFailure
from mmad_metric.languages import LanguagePair
from mmad_metric.method_space import STRATEGIES, TOPICS
from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.packs import load_pack
from mmad_metric.pipeline import Method, rate_segment
from mmad_metric.rating import DimensionOutcome, Segment, SegmentRating, Status
from mmad_metric.scoring import SCHEMES
from mmad_metric.servers.openai_chat import OpenAIChat
from mmad_metric.stages.context import StageContext
from mmad_metric.stages.debate import debate
from mmad_metric.stages.positions import counter_position
from mmad_metric.templates import Prompts
from mmad_metric.testing import ScriptedChat, annotation
from tests.annotator import Annotator, by_words
from tests.asking import an_endpoint
from tests.loopback import LoopbackServer

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TEXTS = ("The red house.", "Das rote Maus.")
MAJOR = Annotation("Maus", Category("accuracy", "mistranslation"), Severity.MAJOR)
ITEM = annotation("Maus", "accuracy/mistranslation")
DEBATING = [name for name in STRATEGIES if name != "none"]


@lru_cache(maxsize=4)
def prompts_of(pack: str) -> Prompts:
    """Loaded once: what a debate says is another test's affair than how a pack is read."""
    return Prompts(load_pack(pack), LanguagePair.parse("en-de"))


def method_over(chat: ChatModel, **options: Any) -> Method:
    return Method(MMADConfig.of("en-de", **options), prompts_of("mmad"), SCHEMES["mmad"], chat)


# -- transcripts: a debate as a picture


class Company:
    """Agents whose every utterance is a token: P1 for pro's first, C1 for con's, Q1 for a
    question, Q-P1 for one to pro alone, D for a decision."""

    def __init__(self, *, questions: int = 10) -> None:
        self.questions = questions
        self.spoken: dict[str, int] = {}

    def __call__(self, request: ChatRequest) -> str:
        schema = request.schema.name
        if schema == "consensus_check":
            return '{"consistent": "no"}'
        if schema == "interrogation":
            return self._ask(request)
        if schema == "dimension_verdict":
            return json.dumps({"analysis": "[D]", "annotations": [{**ITEM, "severity": "minor"}]})
        severity = "major" if request.role == "pro" else "minor"
        token = self._next("P" if request.role == "pro" else "C")
        return json.dumps({"argument": token, "annotations": [{**ITEM, "severity": severity}]})

    def _ask(self, request: ChatRequest) -> str:
        system = request.messages[0].content
        whom = "Q"
        if "you question A" in system:
            whom = "Q-P"
        elif "you question B" in system:
            whom = "Q-C"
        asks = self.spoken.get(whom, 0) < self.questions
        return json.dumps({"questions": self._next(whom) if asks else ""})

    def _next(self, who: str) -> str:
        self.spoken[who] = self.spoken.get(who, 0) + 1
        return f"[{who}{self.spoken[who]}]"


def picture(
    opening: tuple[Annotation, ...] = (MAJOR,), *, questions: int = 10, **options: Any
) -> tuple[str, DimensionOutcome, ScriptedChat]:
    """The debate as text: a line a call, with what stands in its prompt, in order."""
    company = Company(questions=questions)
    chat = ScriptedChat(company)
    config, prompts = MMADConfig.of("en-de", **options), prompts_of(options.get("prompts", "mmad"))
    context = StageContext(TEXTS, prompts, config, chat)
    outcome = asyncio.run(debate(context, prompts.pack.dimensions[0], opening))
    openings = prompts.pack.openings_on(config.topic)
    tokens = {openings["pro"]: "P0", openings["con"]: "C0"}
    lines = [f"{'who':<16} {'schema':<18} has before it, in order"]
    for request in chat.requests:
        heard = " ".join(_heard(request, tokens))
        lines.append(f"{request.role:<16} {request.schema.name:<18} {heard}")
    stands = ", ".join(f"{each.span} {each.severity.value}" for each in outcome.outcome)
    verdict = "the sides" if outcome.verdict is None else "a decider"
    lines.append(f"outcome by {verdict}: {stands}")
    return "\n".join(lines) + "\n", outcome, chat


def _heard(request: ChatRequest, openings: dict[str, str]) -> Iterator[str]:
    """Utterances in the prompt, own ones in brackets."""
    for message in request.messages[1:]:
        text = message.content
        for words, token in openings.items():
            text = text.replace(words, f"[{token}]")
        for part in text.split("[")[1:]:
            token, closed, _ = part.partition("]")
            if closed and token[:1] in "PCQD" and len(token) <= 5 and token[-1:].isdigit():
                yield f"({token})" if message.role == "assistant" else token


PICTURES: dict[str, dict[str, Any]] = {
    "consensus": {"strategy": "consensus"},
    "consensus-simultaneous": {"strategy": "consensus", "turns": "simultaneous"},
    "consensus-full": {"strategy": "consensus", "full_debate": True},
    "deliberation": {"strategy": "deliberation"},
    "deliberation-simultaneous": {"strategy": "deliberation", "turns": "simultaneous"},
    "interactive-review": {"strategy": "interactive-review"},
    "interactive-review-asking-once": {"strategy": "interactive-review", "questions": 1},
    "consultancy-review": {"strategy": "consultancy-review"},
    "consultancy-review-asking-nothing": {"strategy": "consultancy-review", "questions": 0},
}


@pytest.mark.parametrize("name", PICTURES)
def test_who_speaks_and_who_has_heard_what(name: str):
    drawn, _, _ = picture(rounds=2, **PICTURES[name])
    path = GOLDEN / f"{name}.txt"
    assert drawn == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("strategy", DEBATING)
def test_every_chat_alternates_after_one_system_message(strategy: str):
    _, _, chat = picture(rounds=3, strategy=strategy)
    for request in chat.requests:
        roles = [message.role for message in request.messages]
        assert roles[0] == "system"
        assert roles[1:] == ["user", "assistant"] * (len(roles[1:]) // 2) + ["user"]


def test_in_a_consultation_no_side_hears_the_other():
    _, _, chat = picture(rounds=3, strategy="consultancy-review", topic="free")
    for request in chat.requests:
        said = " ".join(message.content for message in request.messages)
        if request.role == "pro":
            assert "[C" not in said
            assert "[Q-C" not in said
        if request.role == "con":
            assert "[P" not in said
            assert "[Q-P" not in said


@pytest.mark.parametrize("strategy", ["deliberation", "interactive-review", "consultancy-review"])
def test_whoever_decides_has_the_last_word(strategy: str):
    _, outcome, _ = picture(rounds=1, strategy=strategy)
    assert [each.severity for each in outcome.outcome] == [Severity.MINOR]
    assert outcome.verdict == "[D]"


@pytest.mark.parametrize("turns", ["sequential", "simultaneous"])
@pytest.mark.parametrize("rounds", [1, 3, 10])
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("strategy", DEBATING)
def test_a_debate_reaches_its_formula_on_any_topic(strategy, topic, rounds, turns):
    if (strategy, turns) == ("consultancy-review", "simultaneous"):
        turns = "sequential"
    options = {"strategy": strategy, "topic": topic, "rounds": rounds, "turns": turns}
    _, outcome, chat = picture(**options)
    most = {
        "consensus": 3 * rounds - 2,
        "deliberation": 2 * rounds + 1,
        "interactive-review": 5 * rounds + 1,
        "consultancy-review": 4 * rounds + 1,
    }[strategy]
    assert len(chat.requests) == most == debate_calls(MMADConfig.of("en-de", **options))[1]
    assert len(outcome.rounds) == rounds


@pytest.mark.parametrize(
    ("strategy", "fewest"), [("interactive-review", 7), ("consultancy-review", 3)]
)
def test_an_interrogator_that_asks_nothing_costs_no_answers(strategy: str, fewest: int):
    _, outcome, chat = picture(rounds=2, strategy=strategy, questions=0)
    options = {"strategy": strategy, "rounds": 2}
    assert len(chat.requests) == fewest == debate_calls(MMADConfig.of("en-de", **options))[0]
    assert outcome.verdict == "[D]"


# -- topics: what is disputed, and with what


MINOR = Annotation("Das", Category("accuracy", "omission"), Severity.MINOR)
NON_TRANSLATION = Annotation("all", Category("non-translation"), Severity.MAJOR)


@pytest.mark.parametrize("topic", ["category", "free"])
def test_on_the_other_topics_any_error_is_disputed(topic: str):
    assert picture((MINOR,), topic=topic)[1].disputed
    assert not picture((MINOR,), topic="severity")[1].disputed
    assert not picture((), topic=topic)[1].disputed


def test_on_categories_con_keeps_spans_and_severities_and_contests_every_label():
    counter = counter_position((MAJOR, MINOR), "category")
    assert [each.to_reply() for each in counter] == [
        annotation("Maus", "contested", "major"),
        annotation("Das", "contested", "minor"),
    ]


def test_free_con_opens_with_no_errors():
    assert counter_position((MAJOR, MINOR), "free") == ()


@pytest.mark.parametrize("topic", TOPICS)
def test_con_never_opens_with_non_translation(topic: str):
    assert counter_position((NON_TRANSLATION,), topic) == ()


@pytest.mark.parametrize("strategy", DEBATING)
@pytest.mark.parametrize("pack", ["mmad", "brief"])
def test_a_debate_on_categories_argues_nothing_but_categories(pack: str, strategy: str):
    """The guidance of a dimension aside, which says for any topic what weighs how much."""
    _, _, chat = picture(rounds=2, strategy=strategy, topic="category", prompts=pack)
    guidance = prompts_of(pack).guidance["accuracy"]
    for request in chat.requests:
        words = "\n".join(message.content for message in request.messages)
        words = words.replace(guidance, "").lower()
        for phrase in ("how severe", "choose minor", "made minor", "milder", "harm", "damage"):
            assert phrase not in words, (request.role, phrase)
        assert "categor" in words


# -- whole segments, over HTTP


SEGMENT = Segment("The red house is old.", "Das rote Maus ist alt.")
EVERYWHERE = by_words(
    {
        "Maus": ("accuracy/mistranslation", "major"),
        "rote": ("fluency/grammar", "major"),
        "alt": ("terminology/inconsistent use", "major"),
        "ist": ("style/awkward", "major"),
    }
)


def rate_over_http(server: LoopbackServer, **options: Any) -> tuple[SegmentRating, int]:
    """The rating of the segment, and the calls that the server has counted for it."""

    async def run() -> SegmentRating:
        async with OpenAIChat(an_endpoint(server)) as chat:
            return await rate_segment(SEGMENT, method_over(chat, **options))

    before = server.call_count
    return asyncio.run(run()), server.call_count - before


@pytest.fixture(scope="module")
def everywhere() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(EVERYWHERE), record=False) as server:
        yield server


@pytest.fixture(scope="module")
def nowhere() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(lambda *_: ()), record=False) as server:
        yield server


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("strategy", DEBATING)
def test_a_segment_with_errors_everywhere_takes_the_calls_of_the_formula(
    everywhere: LoopbackServer, strategy: str, topic: str, rounds: int
):
    options = {"strategy": strategy, "topic": topic, "rounds": rounds}
    rating, calls = rate_over_http(everywhere, **options)
    debate_most = {
        "consensus": 3 * rounds - 2,
        "deliberation": 2 * rounds + 1,
        "interactive-review": 5 * rounds + 1,
        "consultancy-review": 4 * rounds + 1,
    }[strategy]
    assert calls == 4 + 4 * debate_most + 1
    assert call_bounds(MMADConfig.of("en-de", **options), 4) == (4, calls)
    assert rating.total_usage.calls == calls
    assert rating.score == -20.0


@pytest.mark.parametrize("stages", [(), (1,), (3,), (1, 3)], ids=str)
@pytest.mark.parametrize("strategy", [*STRATEGIES])
def test_leaving_out_stages_takes_the_calls_of_the_formula(
    everywhere: LoopbackServer, strategy: str, stages: tuple[int, ...]
):
    options: dict[str, Any] = {"strategy": strategy, "skip_stages": list(stages)}
    rating, calls = rate_over_http(everywhere, **options)
    agents = 1 if 1 in stages else 4
    most = {"none": 0, "consensus": 7, "deliberation": 7, "interactive-review": 16,
            "consultancy-review": 13}[strategy]  # fmt: skip
    assert calls == agents + agents * most + (0 if 3 in stages else 1)
    assert call_bounds(MMADConfig.of("en-de", **options), 4) == (agents, calls)
    assert [outcome.dimension for outcome in rating.outcomes] == (
        ["coupled"] if agents == 1 else ["accuracy", "fluency", "terminology", "style"]
    )
    assert rating.score == -20.0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_where_no_error_is_found_nobody_debates_and_nobody_judges(
    nowhere: LoopbackServer, strategy: str
):
    rating, calls = rate_over_http(nowhere, strategy=strategy)
    assert (rating.score, calls) == (0.0, 4)
    rating, calls = rate_over_http(nowhere, strategy=strategy, skip_stages=[1])
    assert (rating.score, calls) == (0.0, 1)


def test_without_stage_1_labels_are_read_as_they_are_said():
    script = Annotator(EVERYWHERE)

    def answer(request: ChatRequest) -> str:
        return script.answer(request.schema.name, [each.content for each in request.messages])

    chat = ScriptedChat(answer)
    rating = asyncio.run(rate_segment(SEGMENT, method_over(chat, skip_stages=[1])))
    assert [str(error.category) for error in rating.errors] == [
        "accuracy/mistranslation", "fluency/grammar", "terminology/inconsistent use",
        "style/awkward",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "role"),
    [("deliberation", "dimension-judge"), ("interactive-review", "interrogator"),
     ("consultancy-review", "interrogator")],
)  # fmt: skip
def test_a_decider_that_fails_leaves_the_segment_unscored(strategy: str, role: str):
    script = Annotator(EVERYWHERE)

    def answer(request: ChatRequest) -> str | Exception:
        if request.role == role:
            return SegmentFailure(Reason.REFUSAL, "will not")
        return script.answer(request.schema.name, [each.content for each in request.messages])

    chat = ScriptedChat(answer)
    rating = asyncio.run(rate_segment(SEGMENT, method_over(chat, strategy=strategy)))
    assert (rating.status, rating.reason) == (Status.UNSCORED, Reason.REFUSAL)
