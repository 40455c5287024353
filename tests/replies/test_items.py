"""Annotation items: whatever an item says is kept, and what it leaves unclear is flagged."""

from __future__ import annotations

import json

import pytest

from mmad_metric.chat import UnreadableReply
from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.rating import Position
from mmad_metric.replies.items import MAX_QUOTATION
from mmad_metric.replies.shapes import debate_turn, dimension_annotations

SEGMENT = ("The house is red.", "Das Haus ist rot.")
MISTRANSLATION = Category("accuracy", "mistranslation")
MINOR, MAJOR = Severity.MINOR, Severity.MAJOR

ONE = '{"error_span": "Haus", "category": "accuracy/mistranslation", "severity": "major"}'
TWO = '{"error_span": "rot", "category": "accuracy/addition", "severity": "minor"}'
BOTH = (
    Annotation("Haus", MISTRANSLATION, MAJOR),
    Annotation("rot", Category("accuracy", "addition"), MINOR),
)


def read(text):
    return dimension_annotations("accuracy").read(text, SEGMENT)


def item(**fields):
    """The one annotation of a reply whose item has these fields besides the usual ones."""
    usual = {"error_span": "Haus", "category": "accuracy/mistranslation", "severity": "major"}
    whole = {key: value for key, value in (usual | fields).items() if value is not ...}
    (annotation,) = read(json.dumps({"annotations": [whole]}))
    return annotation


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Annotation("Haus", MISTRANSLATION, MAJOR)),
        ({"severity": "Major "}, Annotation("Haus", MISTRANSLATION, MAJOR)),  # B6
        ({"severity": "CRITICAL"}, Annotation("Haus", MISTRANSLATION, Severity.CRITICAL)),
        (
            {"severity": "info"},
            Annotation(
                "Haus", MISTRANSLATION, MINOR, raw_severity="info", flags=("unknown_severity",)
            ),
        ),
        (
            {"severity": ...},
            Annotation("Haus", MISTRANSLATION, MINOR, flags=("unknown_severity",)),
        ),
        (
            {"category": ...},
            Annotation("Haus", Category("accuracy", "other"), MAJOR, flags=("unknown_category",)),
        ),
        (
            {"category": "Accuracy - Mistranslaton"},  # B7
            Annotation("Haus", MISTRANSLATION, MAJOR, raw_category="Accuracy - Mistranslaton"),
        ),
        (
            {"category": "准确性/误译", "severity": "主要"},  # C18
            Annotation(
                "Haus", MISTRANSLATION, MAJOR, raw_category="准确性/误译", raw_severity="主要"
            ),
        ),
        ({"category": "accuracy", "subcategory": "omission"}, Category("accuracy", "omission")),
        ({"dimension": "style", "category": "awkward"}, Category("style", "awkward")),
        ({"category": ["fluency", "grammar"]}, Category("fluency", "grammar")),
        ({"category": "omission"}, Category("accuracy", "omission")),
        # B10, B11: the span's words never decide.
        ({"error_span": "non-translation"}, MISTRANSLATION),
        ({"error_span": "no error"}, MISTRANSLATION),
        ({"error_span": "all"}, MISTRANSLATION),
        # B5: the label weighs, with or without its exclamation mark.
        ({"category": "Non-translation!", "error_span": "x"}, Category("non-translation")),
    ],
)
def test_an_item_is_kept_with_what_it_says(fields, expected):
    annotation = item(**fields)
    if isinstance(expected, Category):
        assert (annotation.category, annotation.flags) == (expected, ())
        assert annotation.raw_category is None
    else:
        assert annotation == expected


@pytest.mark.parametrize(
    ("said", "span", "flags"),
    [
        ("  Haus ", "  Haus ", ()),  # offsets are found later: nothing is stripped
        ("", "", ()),
        (None, "", ("missing_span",)),
        (..., "", ("missing_span",)),
        (5, "5", ("span_not_text",)),
        (True, "", ("span_not_text",)),
        ({"text": "Haus"}, "", ("span_not_text",)),
        (["der Mieter", "kündigen"], "der Mieter … kündigen", ("span_in_parts",)),
        ("\ud83d", "\ufffd", ("lone_surrogate",)),  # C21
        ("a\udc00b", "a\ufffdb", ("lone_surrogate",)),
        ("\ud83d\udc4d", "👍", ()),
    ],
)
def test_an_error_outlives_its_span(said, span, flags):
    annotation = item(error_span=said)
    assert (annotation.span, annotation.flags) == (span, flags)


@pytest.mark.parametrize(
    ("said", "truth", "flags"),
    [
        (True, True, ()),
        (False, False, ()),
        ("true", True, ()),
        ("Yes", True, ()),
        (1, True, ()),
        ("false", False, ()),
        (0, False, ()),
        (None, False, ()),
        (..., False, ()),
        ("perhaps", False, ("unknown_is_source_error",)),
        ([], False, ("unknown_is_source_error",)),
    ],
)
def test_the_side_is_read_leniently(said, truth, flags):
    annotation = item(is_source_error=said)
    assert (annotation.is_source_error, annotation.flags) == (truth, flags)


def test_a_lone_surrogate_goes_no_further_than_the_reader():  # C21
    label = {"error_span": "a", "category": "\ud800", "severity": "\udfff"}
    for each in read(json.dumps({"annotations": [label]})):
        json.dumps([each.to_reply(), each.raw_severity], ensure_ascii=False).encode()
    turn = debate_turn("style").read('{"argument": "\\ud83d", "annotations": []}', SEGMENT)
    assert turn == Position("\ufffd", ())
    with pytest.raises(UnreadableReply) as caught:
        read("\ud83d no JSON")
    str(caught.value).encode()


def test_one_bad_item_never_takes_its_siblings_along():  # B6
    bad = '{"severity": "info"}'
    found = read(f'{{"annotations": [{ONE}, {bad}, {{}}, "rot", {TWO}]}}')
    assert [each.span for each in found] == ["Haus", "", "", "rot", "rot"]
    assert (found[0], found[4]) == BOTH
    assert found[1].flags == ("unknown_category", "unknown_severity", "missing_span")
    assert found[2].flags == found[1].flags
    assert found[3].flags == ("unknown_category", "unknown_severity")


def test_no_error_rows_are_not_errors_and_their_siblings_stay():  # B7
    row = '{"error_span": "ist", "category": "no-error", "severity": "no-error"}'
    assert read(f'{{"annotations": [{row}, {ONE}, {TWO}]}}') == BOTH


def test_non_translation_excludes_everything_else():  # B10
    whole = '{"error_span": "Das", "category": "Non-translation", "severity": "minor"}'
    worse = whole.replace("minor", "major").replace("}", ', "is_source_error": true}')
    alone = Annotation("all", Category("non-translation"), MAJOR)
    assert read(f'{{"annotations": [{ONE}, {whole}, {worse}, {TWO}]}}') == (alone,)


def test_a_group_gives_its_severity_to_items_without_one():
    bare = '{"error_span": "a", "category": "accuracy/omission"}'
    own = '{"error_span": "b", "category": "accuracy/omission", "severity": "minor"}'
    found = read(f'{{"annotations": {{"Major": [{bare}, {own}], "Minor": [{bare}]}}}}')
    assert [(each.span, each.severity) for each in found] == [
        ("a", MAJOR),
        ("b", MINOR),
        ("a", MINOR),
    ]


def test_a_quotation_longer_than_any_segment_is_cut_and_flagged() -> None:
    kept = item(error_span="x" * MAX_QUOTATION)
    cut = item(error_span="x" * 300_000)
    assert kept.span == cut.span == "x" * MAX_QUOTATION
    assert (kept.flags, cut.flags) == ((), ("cut_quotation",))
