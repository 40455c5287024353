"""Numbers in replies: however they are written they are read as one thing, or as nothing at all."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.chat import UnreadableReply
from mmad_metric.rating import ErrorCounts
from mmad_metric.replies.numbers import DIRECT_ASSESSMENT, ERROR_COUNTS

TEXTS = ("Ten houses.", "Zehn Häuser.")


def score(text: str, texts: tuple[str, str] = TEXTS) -> float:
    value: float = DIRECT_ASSESSMENT.read(text, texts)
    assert type(value) is float
    return value


def counts(text: str) -> tuple[int, int]:
    value: ErrorCounts = ERROR_COUNTS.read(text, TEXTS)
    return value.major, value.minor


WRITTEN = [
    '{{"score": {0}}}',
    '{{"score": "{0}"}}',
    '{{"score": "{0}/100"}}',
    '{{"Score": {0}, "explanation": "2 words are odd"}}',
    '{{"analysis": "7 words", "score": {0}}}',
    "{{'score': {0}}}",
    '```json\n{{"score": {0}}}\n```',
    'My grade, after 3 readings: {{"score": {0}}}',
    "{0}",
    "{0}.",
    " {0}\n",
    "{0}/100",
    "{0} / 100",
    "{0} out of 100",
    "{0} out of a possible 100.",
    "{0}%",
    "{0} points",
    "Score: {0}",
    "Score: {0}/100",
    "**Score:** {0}",
    "Score (0-100): {0}",
    "Score on the scale from 0 to 100: {0}",
    "Score: {0}\n\nTwo of 7 words are odd.",
    "The year 2024 is right.\nScore: {0}",
    "Score: {0}\nScore: {0}",
    "I would give it {0}.",
    "['{0}']",
    "[{0}]",
    "评分：{0}",
    "{0}分",
    "<think>40, or perhaps 60?</think>{0}",
    '<think>{{"score": 3}}</think>\n{{"score": {0}}}',
]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("number", ["0", "7", "85", "100", "62.5"])
def test_a_score_is_the_same_however_it_is_written(written: str, number: str):
    assert score(written.format(number)) == float(number)


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "great", "no score", "{}", "[]", "null", "true", '{"score": null}',
        '{"score": true}', '{"score": []}', '{"score": [80, 90]}', '{"score": {"value": 3}}',
        '{"score": NaN}', '{"score": Infinity}', '{"score": 1e999}', '{"quality": 80}',
        "101", "-5", '{"score": 100.5}', '{"score": -1}', "Score: 850", "9" * 400, "9" * 5000,
        '{"score": ' + "9" * 5000 + "}", "80 or 90", "80-90", "Score: 80-90", "8.5/10", "4/5",
        "Score: 80. Fluency: 90", "1,000", "Score: 8\nScore: 9", "Scored 5 words wrong, so 70",
        "<think>85", "<think>85</think>", '{"score": 8', 'Here it is: {"score": 8',
        '{"score": __import__("os").getpid()}', "eighty",
    ],
    ids=lambda text: text[:30] + f" {len(text)}",
)  # fmt: skip
def test_what_has_no_one_reading_as_a_score_is_unreadable(text: str):
    with pytest.raises(UnreadableReply):
        score(text)


@given(st.floats(0, 100))
def test_any_number_of_the_scale_survives_json(number: float):
    assert score(json.dumps({"score": number})) == number


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not 0 <= x <= 100))
def test_no_number_off_the_scale_is_a_score(number: float):
    for text in (json.dumps({"score": number}), f"Score: {number!r}"):
        with pytest.raises(UnreadableReply):
            score(text)


@given(st.integers(0, 100), st.integers(0, 100))
def test_two_different_numbers_are_never_one_score(one: int, other: int):
    if one != other:
        with pytest.raises(UnreadableReply):
            score(f"Between {one} and {other}, I think.")


def test_a_score_quoted_from_the_texts_is_not_the_answer():
    texts = ("Rate me.", 'Die Antwort ist {"score": 100}.')
    said = 'It says {"score": 100}, which is no translation.\n{"score": 5}'
    assert score(said, texts) == 5
    with pytest.raises(UnreadableReply):
        score('It says {"score": 100}, which is no translation.', texts)


COUNTED = [
    '{{"major": {0}, "minor": {1}}}',
    '{{"minor": {1}, "major": {0}}}',
    '{{"major": "{0}", "minor": "{1}"}}',
    '{{"major": {0}.0, "minor": {1}}}',
    '{{"Major errors": {0}, "Minor errors": {1}}}',
    '{{"critical": 0, "major": {0}, "minor": {1}}}',
    '{{"major": {0}, "minor": {1}, "explanation": "5 in all"}}',
    "{{'major': {0}, 'minor': {1}}}",
    '```\n{{"major": {0}, "minor": {1}}}\n```',
    "{0}, {1}",
    "[{0}, {1}]",
    "({0}, {1})",
    "{0} {1}",
    "{0}/{1}",
    "Major: {0}\nMinor: {1}",
    "- Major errors: {0}\n- Minor errors: {1}",
    "**Major errors:** {0}\n**Minor errors:** {1}",
    "Minor = {1}; Major = {0}.",
    "{0} major errors and {1} minor errors",
    "There are {0} major and {1} minor ones, so 40 points.",
    "**{0}** major, **{1}** minor",
    "<think>9 major, 9 minor</think>Major: {0}, minor: {1}",
    '<think>{{"major": 9, "minor": 9}}</think>{{"major": {0}, "minor": {1}}}',
]


@pytest.mark.parametrize("written", COUNTED)
@pytest.mark.parametrize(("major", "minor"), [(0, 0), (2, 1), (0, 12), (10, 3)])
def test_counts_are_the_same_however_they_are_written(written: str, major: int, minor: int):
    assert counts(written.format(major, minor)) == (major, minor)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There are two major errors and one minor error.", (2, 1)),
        ("No major errors, three minor errors.", (0, 3)),
        ("Major: none\nMinor: one", (0, 1)),
        ('{"major": "none", "minor": "two"}', (0, 2)),
        ("Major errors: 2 (both mistranslations). Minor errors: 1.", (2, 1)),
    ],
)
def test_small_numbers_may_be_words(text: str, expected: tuple[int, int]):
    assert counts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "no errors", "{}", "[]", "3", "[1]", "[1, 2, 3]", "1, 2, 3", '{"major": 2}',
        '{"minor": 2}', '{"major": null, "minor": 0}', '{"major": true, "minor": 0}',
        '{"major": [1], "minor": 0}', '{"major": -1, "minor": 0}', '{"major": 2.5, "minor": 0}',
        '{"major": 1000, "minor": 0}', '{"critical": 1, "major": 0, "minor": 0}',
        '{"major": NaN, "minor": 0}', '{"major": "many", "minor": 0}', '{"major": 1, "min',
        '{"major": 1, "minor": 1', "Major: 2", "I see one error.", "2-3 major, 1 minor",
        "2 or 3 major errors, 1 minor", "Major errors: 2-3, minor errors: 1",
        "1 major and 2 minor; no, 3 minor", "Major:\n1. Maus\nMinor:\n1. Das", "-1, 2",
        "<think>1, 2", '{"annotations": []}', '{"major": __import__("os").getpid(), "minor": 0}',
    ],
    ids=lambda text: text[:30] + f" {len(text)}",
)  # fmt: skip
def test_what_has_no_one_reading_as_counts_is_unreadable(text: str):
    with pytest.raises(UnreadableReply):
        counts(text)


@given(st.integers(0, 999), st.integers(0, 999))
def test_any_two_counts_survive_json(major: int, minor: int):
    assert counts(json.dumps({"major": major, "minor": minor})) == (major, minor)


@given(st.text(max_size=80))
def test_any_text_is_read_or_unreadable_and_nothing_else(text: str):
    for read in (score, counts):
        with contextlib.suppress(UnreadableReply):
            read(text)


@pytest.mark.parametrize("schema", [DIRECT_ASSESSMENT, ERROR_COUNTS], ids=lambda each: each.name)
def test_the_schema_is_strict(schema):
    fields = schema.json_schema["properties"]
    assert schema.json_schema["required"] == list(fields)
    assert schema.json_schema["additionalProperties"] is False
