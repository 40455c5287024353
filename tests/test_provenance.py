"""How an error came to be, worked out by hand for each course that a segment can take."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from mmad_metric.chat import ChatRequest
from mmad_metric.cli.output import Style, span_lines
from mmad_metric.errors import InputError
from mmad_metric.files.run_lines import parse_segment_line, segment_line
from mmad_metric.mqm import Annotation, Category, MQMError, Provenance, Severity
from mmad_metric.pipeline import rate_segment
from mmad_metric.provenance import trace
from mmad_metric.rating import (
    DebateRound,
    DimensionOutcome,
    Position,
    Segment,
    SegmentRating,
    Status,
)
from mmad_metric.spans import place
from mmad_metric.stages.positions import counter_position
from mmad_metric.testing import annotation, scripted_method

TEXTS = ("The red house is old.", "Das rote Maus ist alt.")
MISTRANSLATION = Category("accuracy", "mistranslation")
MAJOR = Annotation("Maus", MISTRANSLATION, Severity.MAJOR)
MINOR = Annotation("Maus", MISTRANSLATION, Severity.MINOR)
ADDITION = Annotation("Maus", Category("accuracy", "addition"), Severity.MAJOR)
OMISSION = Annotation("Maus", Category("accuracy", "omission"), Severity.MAJOR)
AWKWARD = Annotation("Maus", Category("style", "awkward"), Severity.MINOR)
ELSEWHERE = Annotation("alt", MISTRANSLATION, Severity.MINOR)
ABSENT = Annotation("Hund", MISTRANSLATION, Severity.MINOR)


def stand(*annotations: Annotation) -> Position:
    return Position("So.", annotations)


def a_round(pro: Annotation, con: Annotation | None) -> DebateRound:
    return DebateRound(stand(pro), None if con is None else stand(con), None)


def outcome(
    opening: tuple[Annotation, ...],
    *rounds: DebateRound,
    result: tuple[Annotation, ...] | None = None,
    dimension: str = "accuracy",
    topic: str = "severity",
    verdict: str | None = None,
) -> DimensionOutcome:
    if result is None:
        result = rounds[-1].pro.annotations if rounds else opening
    counter = counter_position(opening, topic) if rounds else None
    return DimensionOutcome(dimension, opening, result, counter, rounds, verdict)


def traced(final: Annotation, *outcomes: DimensionOutcome, judged: bool = True) -> Provenance:
    (error,) = place([final], *TEXTS)
    (result,) = trace([error], outcomes, TEXTS, judged=judged)
    assert result.provenance is not None
    assert replace(result, provenance=None) == error
    return result.provenance


def test_an_undisputed_error_is_kept_by_its_annotator_and_the_judge():
    known = traced(MINOR, outcome((MINOR,)), outcome((), dimension="fluency"))
    assert known == Provenance(("annotate.accuracy",), False, 0, (), "kept", 2, 2)


def test_an_error_that_con_comes_round_to_is_kept_by_all_four():
    known = traced(MAJOR, outcome((MAJOR,), a_round(MAJOR, MINOR), a_round(MAJOR, MAJOR)))
    assert known == Provenance(("annotate.accuracy",), True, 2, ("con.accuracy",), "kept", 4, 4)


def test_an_error_that_pro_gives_way_on_is_not_what_its_annotator_said():
    known = traced(MINOR, outcome((MAJOR,), a_round(MINOR, MINOR)))
    assert known == Provenance(("annotate.accuracy",), True, 1, ("pro.accuracy",), "kept", 3, 4)


def test_a_side_that_made_no_call_was_not_asked():
    known = traced(MAJOR, outcome((MAJOR,), a_round(MAJOR, None)))
    assert known == Provenance(("annotate.accuracy",), True, 1, (), "kept", 3, 3)


def test_a_con_that_holds_out_does_not_keep_what_stands_against_it():
    known = traced(MAJOR, outcome((MAJOR,), a_round(MAJOR, MINOR), a_round(MAJOR, None)))
    assert known == Provenance(("annotate.accuracy",), True, 2, (), "kept", 3, 4)


def test_an_error_beside_the_disputed_one_is_not_disputed_itself():
    both = DebateRound(stand(MAJOR, ELSEWHERE), stand(MINOR, ELSEWHERE), None)
    known = traced(ELSEWHERE, outcome((MAJOR, ELSEWHERE), both))
    assert (known.disputed, known.yielded, known.support, known.asked) == (False, (), 4, 4)


def test_a_judge_that_weighs_otherwise_has_changed_the_error():
    known = traced(MINOR, outcome((MAJOR,)))
    assert known == Provenance(("annotate.accuracy",), False, 0, (), "changed", 1, 2)


def test_what_nobody_else_has_marked_the_judge_has_added_against_its_dimensions_annotator():
    known = traced(MINOR, outcome((ELSEWHERE,)), outcome((AWKWARD,), dimension="style"))
    assert known.judge == "changed"  # the style agent has marked the place
    known = traced(MINOR, outcome((ELSEWHERE,)), outcome((), dimension="style"))
    assert known == Provenance(("judge",), False, 0, (), "added", 1, 2)


def test_two_dimensions_that_mark_a_place_have_both_raised_it():
    known = traced(MAJOR, outcome((MAJOR,)), outcome((AWKWARD,), dimension="style"))
    assert known == Provenance(("annotate.accuracy", "annotate.style"), False, 0, (), "kept", 2, 3)


def test_what_comes_up_in_the_debate_was_raised_by_who_named_it_first():
    found = DebateRound(stand(MAJOR), stand(MINOR, ELSEWHERE), None)
    debated = outcome((MAJOR,), found, result=(MINOR, ELSEWHERE), verdict="B is right.")
    known = traced(ELSEWHERE, debated)
    # con, the verdict and the judge have it; annotator and pro do not.
    assert known == Provenance(("con.accuracy",), False, 1, (), "kept", 3, 5)


def test_a_verdict_counts_as_an_agents_word():
    debated = outcome((MAJOR,), a_round(MAJOR, MINOR), result=(MINOR,), verdict="B is right.")
    known = traced(MINOR, debated)
    assert known == Provenance(("annotate.accuracy",), True, 1, (), "kept", 3, 5)


def test_without_a_judge_nobody_keeps_changes_or_adds():
    assert traced(MINOR, outcome((MINOR,)), judged=False) == Provenance(
        ("annotate.accuracy",), False, 0, (), None, 1, 1
    )


def test_answering_a_contested_label_with_another_is_no_yielding():
    debated = outcome((ADDITION,), a_round(ADDITION, OMISSION), topic="category")
    known = traced(ADDITION, debated)
    assert (known.disputed, known.yielded, known.support, known.asked) == (True, (), 3, 4)
    both = outcome((ADDITION,), a_round(OMISSION, OMISSION), topic="category")
    assert traced(OMISSION, both).yielded == ("pro.accuracy",)


def test_in_a_consultation_only_who_was_questioned_was_asked():
    asked = DebateRound(stand(MAJOR), stand(MAJOR), None, questions=("", "Why?"))
    debated = outcome((MAJOR,), asked, result=(MAJOR,), verdict="A is right.")
    # annotator, con, verdict, judge: pro was asked nothing.
    assert traced(MAJOR, debated) == Provenance(
        ("annotate.accuracy",), True, 1, ("con.accuracy",), "kept", 4, 4
    )


def test_an_answer_to_the_interrogator_is_a_later_word_than_the_turn():
    turn = DebateRound(
        stand(MAJOR), stand(MINOR), None, ("Why?", "Why?"), (stand(MAJOR), stand(MAJOR))
    )
    debated = outcome((MAJOR,), turn, result=(MAJOR,), verdict="A is right.")
    assert traced(MAJOR, debated).yielded == ("con.accuracy",)


def test_words_that_are_not_in_the_text_are_followed_by_their_words():
    known = traced(ABSENT, outcome((ABSENT,)))
    assert known == Provenance(("annotate.accuracy",), False, 0, (), "kept", 2, 2)


def test_a_judge_that_quotes_a_longer_stretch_is_followed_within_the_dimension():
    longer = replace(MAJOR, span="rote Maus")
    assert traced(longer, outcome((MAJOR,))).raised_by == ("annotate.accuracy",)
    assert traced(longer, outcome((AWKWARD,), dimension="style")).raised_by == ("judge",)


def rated() -> SegmentRating:
    def script(request: ChatRequest) -> str:
        item = annotation("Maus", "accuracy/mistranslation")
        if request.role == "annotate" and "accuracy errors" not in request.messages[-1].content:
            return '{"annotations": []}'
        return json.dumps({"argument": "", "analysis": "", "annotations": [item]})

    return asyncio.run(rate_segment(Segment(*TEXTS), scripted_method(script)))


def test_a_rating_carries_it_into_the_run_file_and_back_and_into_the_spans_shown():
    rating = rated()
    (error,) = rating.errors
    assert error.provenance == Provenance(
        ("annotate.accuracy",), True, 1, ("con.accuracy",), "kept", 4, 4
    )
    assert parse_segment_line(json.loads(json.dumps(segment_line(rating)))) == rating
    shown = span_lines(rating, Style(2))
    assert "[4/4 agents; disputed, 1 round, con.accuracy yielded; judge kept]" in shown


def test_a_line_of_an_older_file_has_none_and_reads_as_before():
    line = segment_line(rated())
    for error in line["errors"]:
        del error["provenance"]
    rating = parse_segment_line(line)
    assert rating.errors[0].provenance is None
    assert "agents" not in span_lines(rating, Style(2))


@pytest.mark.parametrize(
    ("key", "value"),
    [("support", 9), ("support", "4"), ("judge", "dropped"), ("raised_by", "judge"),
     ("disputed", 1), ("rounds", None)],
    ids=str,
)  # fmt: skip
def test_a_damaged_provenance_is_no_segment_line(key: str, value: object):
    line = segment_line(rated())
    line["errors"][0]["provenance"][key] = value
    with pytest.raises(InputError, match="not a segment line"):
        parse_segment_line(line)


def test_a_row_that_no_agent_saw_has_no_provenance():
    segment = Segment("A", "")
    rating = asyncio.run(rate_segment(segment, scripted_method(lambda request: "")))
    assert rating.status is Status.SCORED
    assert [each.provenance for each in rating.errors] == [None]
    assert all(isinstance(each, MQMError) for each in rating.errors)
