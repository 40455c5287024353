"""What a narrowed schema lets through: checked with a JSON schema validator, no model needed."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from mmad_metric.local import span_schema
from mmad_metric.local.span_schema import (
    LABELS,
    MOST_LETTERS,
    MOST_SPANS,
    ROOMY,
    TIGHT,
    Bounds,
    constrain,
    span_choices,
)
from mmad_metric.mqm import TYPOLOGY
from mmad_metric.replies.numbers import DIRECT_ASSESSMENT, ERROR_COUNTS
from mmad_metric.replies.shapes import (
    CONSENSUS_CHECK,
    FINAL_JUDGEMENT,
    INTERROGATION,
    coupled_annotations,
    debate_turn,
    dimension_annotations,
    dimension_verdict,
)
from mmad_metric.testing import annotation

SOURCE = "Don't feed the old dog today."
TRANSLATION = "Füttere die alte Katze nicht."
TEXTS = (SOURCE, TRANSLATION)
ANNOTATIONS = dimension_annotations("accuracy").json_schema
MISTRANSLATION, OMISSION = "accuracy/mistranslation", "accuracy/omission"
TIGHT_PROSE = {
    debate_turn("accuracy").name: "argument",
    FINAL_JUDGEMENT.name: "analysis",
    dimension_verdict("accuracy").name: "analysis",
}


def allows(schema: dict[str, Any], *annotations: dict[str, Any], **prose: str) -> bool:
    reply = {**prose, "annotations": list(annotations)}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(reply))


def words(count: int, seed: int = 1) -> str:
    """Words that hardly ever repeat, of seven letters."""
    random_letters = random.Random(seed)
    return " ".join("".join(random_letters.choices("abcdefgh", k=7)) for _ in range(count))


@pytest.mark.parametrize(
    ("span", "allowed"),
    [
        ("alte Katze", True),
        (TRANSLATION, True),
        ("nicht", True),  # without the full stop that follows it
        ("nicht.", True),
        (".", True),
        ("Katze alte", False),
        ("Kat", False),  # part of a word
        ("alte  Katze", False),
        ("Hund", False),
        ("old dog", False),  # the other text
        ("", False),
        ("all", False),
    ],
)
def test_a_span_is_a_stretch_of_words_of_the_translation(span: str, allowed: bool) -> None:
    schema = constrain(ANNOTATIONS, TEXTS)
    assert allows(schema, annotation(span, MISTRANSLATION)) is allowed
    assert not allows(schema, annotation(span, MISTRANSLATION, is_source_error=True))


def test_an_omission_quotes_the_source_and_says_so() -> None:
    schema = constrain(ANNOTATIONS, TEXTS)
    assert allows(schema, annotation("today", OMISSION, "minor", is_source_error=True))
    assert allows(schema, annotation("Don't feed", OMISSION, is_source_error=True))
    assert not allows(schema, annotation("today", OMISSION))
    assert not allows(schema, annotation("Katze", OMISSION, is_source_error=True))
    assert not allows(schema, annotation("Katze", OMISSION))
    assert not allows(schema, annotation("today", MISTRANSLATION, is_source_error=True))


def test_non_translation_goes_with_the_span_all_and_with_no_other() -> None:
    schema = constrain(ANNOTATIONS, TEXTS, replace(TIGHT, whole=True))
    assert allows(schema, annotation("all", "non-translation"))
    assert not allows(schema, annotation("Katze", "non-translation"))
    assert not allows(schema, annotation("all", "non-translation", is_source_error=True))


@pytest.mark.parametrize("texts", [TEXTS, ("", ""), ("word " * 30_000, "kurz")])
def test_the_toy_cannot_call_a_segment_a_non_translation(texts: tuple[str, str]) -> None:
    schema = constrain(ANNOTATIONS, texts, TIGHT)
    assert allows(schema)
    assert not allows(schema, annotation("all", "non-translation"))


def test_no_error_is_a_possible_answer_and_lists_end() -> None:
    schema = constrain(ANNOTATIONS, TEXTS)
    one = annotation("Katze", MISTRANSLATION)
    assert allows(schema)
    assert allows(schema, *[one] * TIGHT.items)
    assert not allows(schema, *[one] * (TIGHT.items + 1))


def test_labels_are_those_given_or_any() -> None:
    fluency = replace(TIGHT, labels=("fluency/grammar",))
    assert allows(constrain(ANNOTATIONS, TEXTS, fluency), annotation("die", "fluency/grammar"))
    assert not allows(constrain(ANNOTATIONS, TEXTS, fluency), annotation("die", MISTRANSLATION))
    # No label of those given has its words in the source.
    quoted = annotation("today", "fluency/grammar", is_source_error=True)
    assert not allows(constrain(ANNOTATIONS, TEXTS, fluency), quoted)
    own = annotation("today", "locale convention/date", is_source_error=True)
    assert allows(constrain(ANNOTATIONS, TEXTS, ROOMY), own)
    assert not allows(constrain(ANNOTATIONS, TEXTS, ROOMY), annotation("die", "x" * 100))


def test_labels_are_those_of_the_typology() -> None:
    assert len(LABELS) == sum(map(len, TYPOLOGY.values()))
    assert OMISSION in LABELS


def test_questions_end_too_and_may_be_none() -> None:
    schema = constrain(INTERROGATION.json_schema, TEXTS)
    valid = jsonschema.Draft202012Validator(schema).is_valid
    assert valid({"questions": ""})
    assert valid({"questions": "x" * TIGHT.letters})
    assert not valid({"questions": "x" * (TIGHT.letters + 1)})


def test_one_annotator_for_all_quotes_what_is_there_under_any_known_label() -> None:
    schema = constrain(coupled_annotations().json_schema, TEXTS)
    assert schema == constrain(ANNOTATIONS, TEXTS)
    assert allows(schema, annotation("Katze", "style/awkward"), annotation("die", MISTRANSLATION))


@pytest.mark.parametrize(
    "schema",
    [debate_turn("accuracy"), FINAL_JUDGEMENT, dimension_verdict("accuracy")],
    ids=["debate_turn", "final_judgement", "dimension_verdict"],
)
def test_prose_ends(schema: Any) -> None:
    narrow = constrain(schema.json_schema, TEXTS)
    field = TIGHT_PROSE[schema.name]
    assert allows(narrow, annotation("Katze", MISTRANSLATION), **{field: "x" * TIGHT.letters})
    assert not allows(narrow, **{field: "x" * (TIGHT.letters + 1)})
    assert not allows(narrow, annotation("Hund", MISTRANSLATION), **{field: "x"})
    assert list(narrow["properties"]) == list(schema.json_schema["properties"])


def test_a_schema_without_such_fields_stays_as_it_is() -> None:
    assert constrain(CONSENSUS_CHECK.json_schema, TEXTS) == CONSENSUS_CHECK.json_schema


def test_the_schema_given_is_not_changed() -> None:
    for schema in (ANNOTATIONS, debate_turn("accuracy").json_schema):
        before = copy.deepcopy(schema)
        constrain(schema, TEXTS)
        assert schema == before


@pytest.mark.parametrize(("texts", "side"), [(("", "Haus"), False), (("house", ""), True)])
def test_an_empty_text_offers_no_span(texts: tuple[str, str], side: bool) -> None:
    schema = constrain(ANNOTATIONS, texts, ROOMY)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "[]" not in json.dumps(schema)  # an enum of nothing is no schema
    assert allows(schema, annotation("".join(texts), "accuracy", is_source_error=side))
    assert not allows(schema, annotation("", "accuracy", is_source_error=not side))


# What a unit is ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Don't, stop!", ["Don", "'", "t", ",", "stop", "!"]),
        ("3.5%", ["3", ".", "5", "%"]),
        ("wait ... what", ["wait", "...", "what"]),
        ("我爱Python。", ["我", "爱", "Python", "。"]),
        ("カタカナとひら", ["カタカナ", "と", "ひ", "ら"]),
        ("ดีวัน", ["ดี", "วั", "น"]),  # a vowel sign stays with its letter
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("a\u200bb", ["a\u200bb"]),
        ("👩\u200d👧 ok", ["👩\u200d👧", "ok"]),
        ("שלום עולם", ["שלום", "עולם"]),
        (" \n\t ", []),
    ],
)
def test_units_are_words_runs_of_signs_and_letters_of_unspaced_scripts(
    text: str, units: list[str]
) -> None:
    assert [text[start:end] for start, end in span_schema._units(text)] == units


def test_spans_keep_the_blanks_between_their_words() -> None:
    choices = span_choices(("", "one  two\nthree"), 3)
    assert choices is not None
    assert choices[1] == ("one", "one  two", "one  two\nthree", "two", "two\nthree", "three")


@pytest.mark.parametrize("seed", range(20))
def test_spans_occur_in_their_text_and_everything_between_two_blanks_is_one(seed: int) -> None:
    chance = random.Random(seed)
    letters = "ab ä'.,\n我爱\u0301\u200dด"
    texts = tuple("".join(chance.choices(letters, k=chance.randint(0, 24))) for _ in range(2))
    choices = span_choices((texts[0], texts[1]), 3)
    assert choices is not None
    for text, spans in zip(texts, choices, strict=True):
        assert all(span and span in text for span in spans)
        assert len(set(spans)) == len(spans)
        assert set(text.split()) <= set(spans)


# Bounds -----------------------------------------------------------------------------------------


def longest(spans: tuple[str, ...]) -> int:
    return max(len(span.split()) for span in spans)


@pytest.mark.parametrize(("count", "most"), [(10, 10), (30, 16), (100, 6), (300, 3)])
def test_longer_texts_offer_shorter_spans(count: int, most: int) -> None:
    choices = span_choices((words(count), words(count, seed=2)), 3)
    assert choices is not None
    assert longest(choices[0]) == longest(choices[1]) == most
    everything = [*choices[0], *choices[1]]
    assert len(everything) <= MOST_SPANS
    assert sum(map(len, everything)) <= MOST_LETTERS


@pytest.mark.parametrize(
    ("texts", "bounds"),
    [
        ((words(400), words(400)), TIGHT),
        ((words(150), words(150, seed=2)), ROOMY),  # where spans of 8 words must be possible
        ((words(5), "x" * (MOST_LETTERS + 1)), TIGHT),
        ((words(20_000), "kurz"), TIGHT),
    ],
)
def test_a_text_too_long_is_left_free(texts: tuple[str, str], bounds: Bounds) -> None:
    schema = constrain(ANNOTATIONS, texts, bounds)
    assert allows(schema, annotation("in neither text", MISTRANSLATION))
    assert allows(schema, annotation("in neither text", OMISSION, is_source_error=True))
    assert allows(schema, annotation("all", "non-translation")) is bounds.whole
    assert not allows(schema, annotation("y" * 1_000, MISTRANSLATION))
    assert allows(schema, annotation("x", "style/own")) is (bounds is ROOMY)
    assert len(json.dumps(schema)) < 2_000


def test_repeated_words_count_once() -> None:
    choices = span_choices(("again and again " * 500, ""), 3)
    assert choices is not None
    assert longest(choices[0]) == 24


@pytest.mark.parametrize("bounds", [TIGHT, ROOMY], ids=["tight", "roomy"])
def test_numbers_are_whole_and_bounded_so_that_they_end(bounds: Bounds) -> None:
    counts = constrain(ERROR_COUNTS.json_schema, TEXTS, bounds)
    score = constrain(DIRECT_ASSESSMENT.json_schema, TEXTS, bounds)
    for schema, reply, allowed in (
        (counts, {"major": 0, "minor": bounds.items}, True),
        (counts, {"major": bounds.items + 1, "minor": 0}, False),
        (counts, {"major": -1, "minor": 0}, False),
        (score, {"score": 0}, True),
        (score, {"score": 100}, True),
        (score, {"score": 101}, False),
        (score, {"score": 8.25}, False),
    ):
        assert jsonschema.Draft202012Validator(schema).is_valid(reply) is allowed, reply
    assert DIRECT_ASSESSMENT.json_schema["properties"] == {"score": {"type": "number"}}


def test_critical_errors_are_among_the_choices_where_the_agent_may_say_so() -> None:
    schema = constrain(coupled_annotations(critical=True).json_schema, TEXTS, ROOMY)
    assert allows(schema, annotation("Katze", MISTRANSLATION, "critical"))
    assert not allows(constrain(ANNOTATIONS, TEXTS, ROOMY),
                      annotation("Katze", MISTRANSLATION, "critical"))  # fmt: skip
