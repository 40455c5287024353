"""Stage 2 as transcripts: who speaks, who sees what, when it ends, what it costs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from mmad_metric.chat import ChatRequest
from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.rating import DimensionOutcome
from mmad_metric.stages.context import StageContext
from mmad_metric.stages.debate import debate
from mmad_metric.stages.positions import (
    counter_position,
    is_disputed,
    same_annotations,
)
from mmad_metric.templates import Prompts
from mmad_metric.testing import ScriptedChat, annotation, reply_text, scripted_method

TEXTS = ("The red house.", "Das rote Maus.")
MISTRANSLATION = Category("accuracy", "mistranslation")
MAJOR = Annotation("Maus", MISTRANSLATION, Severity.MAJOR)
MINOR = Annotation("Maus", MISTRANSLATION, Severity.MINOR)
GRAMMAR = Annotation("Das", Category("fluency", "grammar"), Severity.MINOR)
NON_TRANSLATION = Annotation("all", Category("non-translation"), Severity.MAJOR)

Script = Callable[[ChatRequest], str]


def stands(severity: str) -> str:
    item = annotation("Maus", "accuracy/mistranslation", severity)
    return json.dumps({"argument": f"It is {severity}.", "annotations": [item]})


def run_debate(
    script: Script, opening: tuple[Annotation, ...] = (MAJOR,), **options: Any
) -> tuple[DimensionOutcome, ScriptedChat]:
    chat = ScriptedChat(script)
    method = scripted_method(chat, **options)
    assert isinstance(method.prompts, Prompts)
    context = StageContext(TEXTS, method.prompts, method.config, chat)
    dimension = method.prompts.pack.dimensions[0]
    return asyncio.run(debate(context, dimension, opening)), chat


def stubborn(request: ChatRequest) -> str:
    """Neither side moves; the check says no."""
    if request.role == "consensus":
        return '{"consistent": "no"}'
    return stands("major" if request.role == "pro" else "minor")


@pytest.mark.parametrize("turns", ["sequential", "simultaneous"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_a_debate_that_never_agrees_costs_3r_minus_2_calls_and_pro_stands(rounds, turns):
    outcome, chat = run_debate(stubborn, rounds=rounds, turns=turns)
    assert len(chat.requests) == 3 * rounds - 2
    assert [each.severity for each in outcome.outcome] == [Severity.MAJOR]
    assert len(outcome.rounds) == rounds
    assert outcome.rounds[-1].con is None
    assert not outcome.agreed


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_full_debate_costs_3r_calls_and_the_same_outcome(rounds: int):
    outcome, chat = run_debate(stubborn, rounds=rounds, full_debate=True)
    assert len(chat.requests) == 3 * rounds
    assert outcome.outcome == run_debate(stubborn, rounds=rounds)[0].outcome
    assert outcome.rounds[-1].consistent is False


def test_the_order_in_a_sequential_debate():
    _, chat = run_debate(stubborn, rounds=2)
    assert chat.roles() == ["pro", "con", "consensus", "pro"]


def test_in_a_sequential_round_con_sees_pros_new_turn_and_in_a_simultaneous_one_it_does_not():
    def script(request: ChatRequest) -> str:
        if request.role == "consensus":
            return '{"consistent": "no"}'
        if request.role == "pro":
            return json.dumps({"argument": "a fresh thought", "annotations": []})
        return stands("minor")

    for turns, seen in (("sequential", True), ("simultaneous", False)):
        _, chat = run_debate(script, rounds=2, turns=turns)
        con = next(request for request in chat.requests if request.role == "con")
        assert ("a fresh thought" in con.messages[-1].content) is seen


def test_pro_that_gives_way_ends_the_debate_without_a_check():
    outcome, chat = run_debate(lambda request: stands("minor"))
    assert chat.roles() == ["pro", "con"]
    assert [each.severity for each in outcome.outcome] == [Severity.MINOR]
    assert outcome.agreed


def test_con_that_gives_way_leaves_the_first_result_standing():
    outcome, chat = run_debate(lambda request: stands("major"))
    assert chat.roles() == ["pro", "con"]
    assert [each.severity for each in outcome.outcome] == [Severity.MAJOR]


def test_a_check_that_says_yes_ends_the_debate_with_pros_annotations():
    def script(request: ChatRequest) -> str:
        return '{"consistent": "yes"}' if request.role == "consensus" else stubborn(request)

    outcome, chat = run_debate(script)
    assert chat.roles() == ["pro", "con", "consensus"]
    assert [each.severity for each in outcome.outcome] == [Severity.MAJOR]
    assert outcome.agreed


@pytest.mark.parametrize("answer", ['{"consistent": "perhaps"}', '{"consistent": ""}'])
def test_an_unclear_check_counts_as_no(answer: str):
    def script(request: ChatRequest) -> str:
        return answer if request.role == "consensus" else stubborn(request)

    _, chat = run_debate(script, rounds=2)
    assert chat.roles() == ["pro", "con", "consensus", "pro"]


def test_every_chat_alternates_and_begins_with_the_own_opening():
    _, chat = run_debate(stubborn, rounds=3)
    for request in chat.requests:
        roles = [message.role for message in request.messages]
        assert roles[0] == "system"
        assert roles[1:] == ["user", "assistant"] * (len(roles[1:]) // 2) + ["user"]
    last_pro = [request for request in chat.requests if request.role == "pro"][-1]
    opening = json.loads(last_pro.messages[2].content)
    assert opening["annotations"][0]["severity"] == "major"
    assert opening["argument"]


def test_con_opens_with_the_same_words_made_minor():
    spans = (Annotation("major problem", MISTRANSLATION, Severity.MAJOR), MINOR)
    counter = counter_position(spans)
    assert [each.span for each in counter] == ["major problem", "Maus"]
    assert {each.severity for each in counter} == {Severity.MINOR}


def test_con_opposes_non_translation_with_no_such_label():
    assert counter_position([NON_TRANSLATION]) == ()


@pytest.mark.parametrize(
    ("opening", "major", "any_error"),
    [
        ((), False, False),
        ((MINOR,), False, True),
        ((MINOR, MAJOR), True, True),
        ((NON_TRANSLATION,), True, True),
        ((Annotation("x", MISTRANSLATION, Severity.CRITICAL),), True, True),
    ],
)
def test_what_can_be_disputed(opening, major: bool, any_error: bool):
    assert is_disputed(opening, "major") is major
    assert is_disputed(opening, "any") is any_error


def test_an_undisputed_dimension_keeps_its_result_and_costs_nothing():
    outcome, chat = run_debate(stubborn, (MINOR,))
    assert outcome.outcome == (MINOR,)
    assert not outcome.disputed
    assert chat.requests == []


@pytest.mark.parametrize("options", [{"strategy": "none"}, {"skip_stages": [2]}])
def test_without_stage_2_nothing_is_debated(options: dict[str, object]):
    outcome, chat = run_debate(stubborn, (MAJOR,), **options)
    assert (outcome.outcome, chat.requests) == ((MAJOR,), [])


def test_sets_are_equal_whatever_the_order_case_and_blanks_but_not_the_severity():
    assert same_annotations([MAJOR, GRAMMAR], [GRAMMAR, MAJOR])
    assert same_annotations([Annotation("  maus ", MISTRANSLATION, Severity.MAJOR)], [MAJOR])
    assert not same_annotations([MAJOR], [MINOR])
    assert not same_annotations([MAJOR, MAJOR], [MAJOR])
    assert not same_annotations([MAJOR], [])


def test_reply_texts_of_the_test_double_are_readable():
    outcome, _ = run_debate(lambda request: reply_text(request.schema.name))
    assert outcome.outcome == ()
