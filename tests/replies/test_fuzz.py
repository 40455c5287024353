"""Replies under random damage and of great size: read as meant, or unreadable in good time."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mmad_metric.chat import UnreadableReply
from mmad_metric.mqm import NON_TRANSLATION, TYPOLOGY, WHOLE_SEGMENT, Annotation, Category, Severity
from mmad_metric.replies.shapes import (
    CONSENSUS_CHECK,
    FINAL_JUDGEMENT,
    Judgement,
    debate_turn,
    dimension_annotations,
)

SEGMENT = ("The house is red.", "Das Haus ist rot.")
SCHEMAS = (dimension_annotations("style"), debate_turn("fluency"), FINAL_JUDGEMENT, CONSENSUS_CHECK)
CATEGORIES = [Category(name, sub) for name, subs in TYPOLOGY.items() for sub in subs]

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
plain = st.text(st.sampled_from("abcäß漢 .!?-0"), max_size=12)


MARKS = '{}[],:"'


def lists(spans):
    one = st.builds(
        Annotation,
        spans,
        st.sampled_from(CATEGORIES),
        st.sampled_from([Severity.MINOR, Severity.MAJOR]),
        st.booleans(),
    )
    whole = st.just((Annotation(WHOLE_SEGMENT, Category(NON_TRANSLATION), Severity.MAJOR),))
    return st.one_of(st.lists(one, max_size=4).map(tuple), whole)


def written(value, **style):
    said = [each.to_reply() for each in value.annotations]
    return json.dumps({"analysis": value.analysis, "annotations": said}, **style)


def read(reply):
    """The value, or None where the reply is unreadable."""
    try:
        return FINAL_JUDGEMENT.read(reply, SEGMENT)
    except UnreadableReply:
        return None


def attempt(schema, reply):
    """Any other exception than the one that is promised fails the test."""
    try:
        schema.read(reply, SEGMENT)
    except UnreadableReply as error:
        str(error).encode()


SCRAPS = [
    *"{}[],:\"'“”„\\/`#\n 0-.e",
    *('"annotations"', '"annotations": [', '{"annotations": []}', "{'annotations': [", "```json\n"),
    *('"error_span": "', '"severity": "minor"}', '"consistent": "yes"', "NaN", "null", "None"),
    *("<think>", "</think>", "\\u", "\\ud83d", "\ud83d", "//", "/*", "yes", "no", "[{", '{"0": {'),
]


@settings(deadline=None, max_examples=600)
@given(st.lists(st.sampled_from(SCRAPS), max_size=40).map("".join), text)
def test_any_text_is_a_value_or_unreadable(scraps, more):
    for schema in SCHEMAS:
        for reply in (scraps, more, scraps + more):
            attempt(schema, reply)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["annotations", "error_span", "category", "severity", "Major", "0", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=400)
@given(json_values)
def test_any_json_is_a_value_or_unreadable(value):
    for reply in (json.dumps(value), f"So: {json.dumps(value)}.", repr(value)):
        for schema in SCHEMAS:
            attempt(schema, reply)


def test_any_depth_is_a_value_or_unreadable():
    for depth in range(700, 1100, 5):  # somewhere in between Python's own limit is met
        label = "[" * depth + "]" * depth
        item = f'{{"error_span": "a", "category": {label}, "severity": {{"x": {label}}}}}'
        for schema in SCHEMAS:
            attempt(schema, f'{{"annotations": [{item}]}}')


WRAPPINGS = [
    "{}",
    "\ufeff{}\n",
    "```json\n{}\n```",
    "```\n{}\n```\nSee [1] and {{this}}.",
    "The answer is:\n\n{}",
    'It\'s 5" wide {{sic}}: {} "Done"',
    '<think>{{"annotations": []}} or "not"?</think>{}',
    'Perhaps {{"annotations": []}}.</think>\n\n```json\n{}\n```',
    'Draft {{"annotations": []}}. Final: {}',
    "1. [a] 2. [b] {}\n[]",
]


@settings(deadline=None, max_examples=300)
@given(
    st.builds(Judgement, text, lists(text)),
    st.sampled_from(WRAPPINGS),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_a_valid_value_survives_any_wrapping(value, wrapping, ascii_only, indent):
    reply = wrapping.format(written(value, ensure_ascii=ascii_only, indent=indent))
    assert read(reply) == value


@settings(deadline=None, max_examples=300)
@given(st.builds(Judgement, text, lists(text)))
def test_a_python_literal_is_read_like_json(value):
    said = {
        "analysis": value.analysis,
        "annotations": [each.to_reply() for each in value.annotations],
    }
    assert read(repr(said)) == value
    assert read(f"Answer: {said!r} as asked") == value


@settings(deadline=None, max_examples=400)
@given(st.builds(Judgement, plain, lists(plain)), st.data())
def test_one_lost_or_doubled_mark_never_changes_what_is_read(value, data):
    reply = written(value, ensure_ascii=False)
    place = data.draw(st.sampled_from([at for at, mark in enumerate(reply) if mark in MARKS]))
    damages = [reply[:place] + reply[place + 1 :]]
    if reply[place] != '"':  # a doubled one reads as a quotation mark at the edge of a span
        damages.append(reply[:place] + reply[place] + reply[place:])
    for damaged in damages:
        found = read(damaged)
        assert found is None or found.annotations == value.annotations, damaged


@settings(deadline=None, max_examples=300)
@given(st.builds(Judgement, text, lists(text)), st.data())
def test_a_reply_that_was_cut_loses_no_error_in_silence(value, data):
    assume(value.annotations)
    reply = written(value)
    cut = reply[: data.draw(st.integers(0, len(reply) - 1))]
    for damaged in (cut, f"Sure.\n```json\n{cut}", f'<think>{{"annotations": []}}</think>{cut}'):
        found = read(damaged)
        assert found is None or found.annotations == value.annotations


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from(['"', "ja", " ", ",", ", ", "{", "}", "[", "]", ":", "\\", "'"])).map(
        "".join
    )
)
def test_unescaped_words_are_read_exactly_or_not_at_all(quoted):
    reply = '{"annotations": [{"error_span": "' + quoted + '", "category": "style/awkward"}]}'
    assume(not re.search(r"\}\s*,?\s*\]", quoted))  # words that end the reply end it for anybody
    try:
        whole = json.loads(reply)["annotations"][0]["error_span"]
    except (ValueError, KeyError, IndexError):
        whole = re.sub(r"\\([\\\"'])", r"\1", quoted)
    found = read(reply)
    assert found is None or [each.span for each in found.annotations] == [whole]


def test_every_schema_refuses_what_is_no_answer():
    for schema in SCHEMAS:
        with pytest.raises(UnreadableReply):
            schema.read("I cannot tell.", SEGMENT)


HUGE = {
    "open braces": "{" * 200_000,
    "open brackets": "[" * 200_000,
    "quotation marks": '"' * 200_000,
    "open objects": '{"a":' * 40_000,
    "open keys": '{"' * 100_000,
    "open lists of objects": '[{"' * 60_000,
    "small broken objects": '{"name"} ' * 44_000,
    "broken answers": '{"annotations": x} ' * 10_000,
    "open answers": '{"annotations": "' * 12_000,
    "quotation marks in a span": '{"annotations": [{"error_span": "' + '" , ' * 50_000,
    "keys without values": '{"annotations": [{"error_span": ' + '"x":' * 80_000 + "}]}",
    "open braces in an answer": '{"annotations": ' + "{" * 18_000,
    "lines": '\n{"a' * 50_000,
    "backslashes": '{"annotations": ["' + "\\" * 200_000,
    "blanks": "{" + " " * 100_000 + "{" + " " * 100_000,
    "thinking": "<think>" * 28_000,
    "end of thinking": "</think>" * 25_000,
    "a fence": "```" + " " * 100_000 + "`" * 100_000,
    "fences": "``` " * 50_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_reply_is_refused_and_not_chewed_on_for_ever(name):
    """How long it takes is measured in benchmarks/bench_text.py."""
    for schema in (dimension_annotations("style"), CONSENSUS_CHECK):
        with pytest.raises(UnreadableReply):
            schema.read(f"So {HUGE[name]}", SEGMENT)
