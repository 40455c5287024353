"""Reply schemas: strict, simple enough for any server, and at one with the reader."""

from __future__ import annotations

import json

import jsonschema
import pytest

from mmad_metric.chat import UnreadableReply
from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.replies.shapes import (
    CONSENSUS_CHECK,
    FINAL_JUDGEMENT,
    INTERROGATION,
    coupled_annotations,
    debate_turn,
    dimension_annotations,
    dimension_verdict,
)

SCHEMAS = {
    "dimension_annotations": dimension_annotations("accuracy"),
    "debate_turn": debate_turn("accuracy"),
    "final_judgement": FINAL_JUDGEMENT,
    "consensus_check": CONSENSUS_CHECK,
    "coupled_annotations": coupled_annotations(),
    "dimension_verdict": dimension_verdict("accuracy"),
    "interrogation": INTERROGATION,
}
FIELDS = {
    "dimension_annotations": ["annotations"],
    "debate_turn": ["argument", "annotations"],
    "final_judgement": ["analysis", "annotations"],
    "consensus_check": ["consistent"],
    "coupled_annotations": ["annotations"],
    "dimension_verdict": ["analysis", "annotations"],
    "interrogation": ["questions"],
}


def objects(part):
    if isinstance(part, dict):
        if part.get("type") == "object":
            yield part
        for inner in part.values():
            yield from objects(inner)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_strict_in_every_object(name):
    schema = SCHEMAS[name].json_schema
    assert SCHEMAS[name].name == name
    assert list(schema["properties"]) == FIELDS[name]
    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
        assert not {"title", "description"} & {key for key in part if key != "properties"}
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_needs_no_references(name):
    assert "$" not in json.dumps(SCHEMAS[name].json_schema)


def test_an_annotation_has_the_four_fields_of_the_design():
    item = SCHEMAS["dimension_annotations"].json_schema["properties"]["annotations"]["items"]
    assert item["properties"] == {
        "error_span": {"type": "string"},
        "category": {"type": "string"},
        "severity": {"type": "string", "enum": ["minor", "major"]},
        "is_source_error": {"type": "boolean"},
    }
    assert list(item["properties"]) == list(
        Annotation("", Category("other"), Severity.MINOR).to_reply()
    )


def test_a_consensus_check_is_yes_or_no():
    schema = CONSENSUS_CHECK.json_schema
    assert schema["properties"]["consistent"] == {"type": "string", "enum": ["yes", "no"]}


def test_what_agents_tell_each_other_fits_the_schema_and_reads_back():
    said = Annotation("Haus", Category("accuracy", "omission"), Severity.MAJOR, True)
    reply = {"argument": "Because.", "annotations": [said.to_reply()]}
    jsonschema.validate(reply, SCHEMAS["debate_turn"].json_schema)
    assert debate_turn("fluency").read(json.dumps(reply), ("", "")).annotations == (said,)


def test_a_dimension_has_one_schema_object():
    assert dimension_annotations("style") is dimension_annotations("style")
    assert debate_turn("style") is debate_turn("style")


def test_the_asking_dimension_settles_a_bare_subcategory():
    reply = '{"annotations": [{"error_span": "a", "category": "inconsistency"}]}'
    for home, label in (
        ("terminology", "terminology/inconsistent use"),
        ("fluency", "fluency/inconsistency"),
    ):
        for schema in (dimension_annotations(home), debate_turn(home)):
            value = schema.read(reply, ("", ""))
            (annotation,) = value if isinstance(value, tuple) else value.annotations
            assert str(annotation.category) == label


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        ('{"questions": "Which words?"}', "Which words?"),
        ('{"questions": ""}', ""),
        ('{"questions": null}', ""),
        ('{"questions": []}', ""),
        ('{"question": "Which words?"}', "Which words?"),
        ('{"questions": ["A: why?", "B: how?"]}', "A: why?\nB: how?"),
        ('```json\n{"questions": " Why? "}\n```', "Why?"),
        ("Which words bear that out?", "Which words bear that out?"),
    ],
)
def test_questions_are_read_however_they_are_put(reply: str, asked: str):
    assert INTERROGATION.read(reply, ("", "")) == asked


@pytest.mark.parametrize(
    "reply", ["", '{"annotations": []}', '{"questions": 3}', "[1]", "{", "No."]
)
def test_what_asks_nothing_that_can_be_told_is_unreadable(reply: str):
    with pytest.raises(UnreadableReply):
        INTERROGATION.read(reply, ("", ""))


def test_a_verdict_reads_bare_subcategories_by_its_dimension_and_a_coupled_agent_by_none():
    reply = '{"analysis": "So.", "annotations": [{"error_span": "a", "category": "inconsistency"}]}'
    verdict = dimension_verdict("terminology").read(reply, ("", ""))
    assert verdict.analysis == "So."
    assert str(verdict.annotations[0].category) == "terminology/inconsistent use"
    coupled = coupled_annotations().read(reply, ("", ""))
    assert str(coupled[0].category) == "fluency/inconsistency"
