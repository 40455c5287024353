"""Who spoke in what order, under each way to debate."""

from __future__ import annotations

from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.rating import DebateRound, DimensionOutcome, Position
from mmad_metric.report.debates import Round, rounds_of

MAJOR = Annotation("x", Category("accuracy", "omission"), Severity.MAJOR)
MINOR = Annotation("x", Category("accuracy", "omission"), Severity.MINOR)
HARD, SOFT = Position("hard", (MAJOR,)), Position("soft", (MINOR,))


def said(*rounds: DebateRound) -> list[list[str]]:
    """Each turn as speaker>to: words, with = where the errors are as before."""
    outcome = DimensionOutcome("accuracy", (MAJOR,), (MAJOR,), (MINOR,), rounds)
    return [list(map(turn, _turns(each))) for each in rounds_of(outcome)]


def _turns(each: Round):
    return each.turns


def turn(each) -> str:
    to = f">{each.to}" if each.to else ""
    return f"{each.speaker}{to}: {each.words}{'=' if each.unchanged else ''}"


def test_sides_speak_in_turn_and_a_changed_stand_is_told_from_a_kept_one():
    assert said(
        DebateRound(HARD, SOFT, consistent=False), DebateRound(SOFT, SOFT, consistent=True)
    ) == [["pro: hard=", "con: soft="], ["pro: soft", "con: soft="]]


def test_a_side_whose_turn_was_not_needed_is_silent():
    assert said(DebateRound(SOFT, None, consistent=True)) == [["pro: soft"]]


def test_questions_come_after_the_turns_before_their_answers():
    asked = DebateRound(HARD, SOFT, None, ("why?", "how?"), (SOFT, SOFT))
    assert said(asked) == [
        ["pro: hard=", "con: soft=", "interrogator>pro: why?", "pro: soft",
         "interrogator>con: how?", "con: soft="]
    ]  # fmt: skip


def test_where_the_turns_are_the_answers_the_questions_come_first_and_the_unasked_are_silent():
    asked = DebateRound(HARD, SOFT, None, ("", "how?"))
    assert said(asked) == [["interrogator>con: how?", "con: soft="]]


def test_without_a_debate_there_are_no_rounds():
    assert rounds_of(DimensionOutcome("style", (MINOR,), (MINOR,))) == []
