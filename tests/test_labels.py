"""Labels: every name that the field uses maps, and what does not map is neither lost nor light."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmad_metric.label_words import CATEGORY_WORDS, DIMENSION_WORDS, SEVERITY_WORDS
from mmad_metric.labels import names_severity, parse_category, parse_severity
from mmad_metric.mqm import TYPOLOGY, Category, Severity

TABLE = (Path(__file__).parent / "cases" / "labels.tsv").read_text(encoding="utf-8")
ROWS = [line.split("\t") for line in TABLE.split("\n") if line and not line.startswith("#")]
OWN = [
    *(f"{name}/{sub}" for name, subs in TYPOLOGY.items() for sub in subs),
    *("non-translation", "other", "source issue"),
]


@pytest.mark.parametrize(("label", "home", "category", "kept", "unknown"), ROWS)
def test_a_category_label_means_what_the_table_says(label, home, category, kept, unknown):
    parsed = parse_category(label, None if home == "-" else home)
    if category == "-":
        assert parsed is None
        return
    assert parsed is not None
    assert str(parsed[0]) == category
    assert parsed[1] == (label.strip() if kept == "yes" else None)
    assert parsed[2] == (("unknown_category",) if unknown == "yes" else ())


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("home", [None, *TYPOLOGY])
def test_our_own_labels_mean_themselves_whoever_asks(name, home):
    for said in (name, name.upper(), f"  {name.title()} ", f"{name}!"):
        parsed = parse_category(said, home)
        assert parsed is not None
        assert (str(parsed[0]), parsed[1:]) == (name, (None, ()))


@pytest.mark.parametrize("name", CATEGORY_WORDS)
def test_every_listed_word_is_understood_under_its_dimension(name):
    dimension = name.partition("/")[0]
    for word in CATEGORY_WORDS[name]:
        parsed = parse_category(word, dimension)
        assert parsed is not None
        assert (str(parsed[0]), parsed[2]) == (name, ()), word


@pytest.mark.parametrize("name", DIMENSION_WORDS)
def test_every_listed_word_for_a_dimension_is_understood(name):
    for word in DIMENSION_WORDS[name]:
        parsed = parse_category(f"{word}/other", None)
        assert parsed is not None
        assert str(parsed[0]) == f"{name}/other", word


@pytest.mark.parametrize(
    ("said", "severity", "raw", "unknown"),
    [
        ("minor", "minor", None, False),
        ("Major ", "major", None, False),
        ("CRITICAL", "critical", None, False),
        ("neutral", "neutral", None, False),
        ("ｍａｊｏｒ", "major", None, False),
        ("Major!", "major", None, False),
        ("majro", "minor", "majro", True),
        ("majorr", "major", "majorr", False),
        ("severe", "major", "severe", False),
        ("serious error", "major", "serious error", False),
        ("trivial", "minor", "trivial", False),
        ("no-error", "neutral", "no-error", False),
        ("major (5)", "major", "major (5)", False),
        ("Severity: critical", "critical", "Severity: critical", False),
        ("主要", "major", "主要", False),
        ("严重", "major", "严重", False),
        ("次要", "minor", "次要", False),
        ("致命", "critical", "致命", False),
        ("軽微", "minor", "軽微", False),
        ("Hauptfehler", "major", "Hauptfehler", False),
        ("geringfügig", "minor", "geringfügig", False),
        ("grave", "major", "grave", False),
        ("незначительная", "minor", "незначительная", False),
        # Two severities are no decision, and neither is a scale of somebody else's.
        ("minor/major", "minor", "minor/major", True),
        ("info", "minor", "info", True),
        ("medium", "minor", "medium", True),
        ("none", "minor", "none", True),
        ("", "minor", None, True),
        (None, "minor", None, True),
        (5, "minor", "5", True),
        (["major"], "minor", "['major']", True),
    ],
)
def test_a_severity_is_read_or_minor_and_flagged(said, severity, raw, unknown):
    flags = ("unknown_severity",) if unknown else ()
    assert parse_severity(said) == (Severity(severity), raw, flags)


def test_critical_never_becomes_lighter_than_major():
    for word in ("critical", *SEVERITY_WORDS["critical"]):
        assert parse_severity(word)[0] is Severity.CRITICAL


def test_only_severities_name_a_group_of_errors():
    assert names_severity("Major")
    assert names_severity("minor errors")
    assert not names_severity("annotations")
    assert not names_severity("0")


@pytest.mark.parametrize("said", [None, 5, True, {}, {"a": 1}, [], [1], 1.5, "", " ", "!", "／"])
def test_a_category_that_is_no_text_is_an_unknown_one(said):
    parsed = parse_category(said, "fluency")
    assert parsed is not None
    assert parsed[0] == Category("fluency", "other")
    assert parsed[2] == ("unknown_category",)


def test_a_list_of_parts_is_one_label():
    assert parse_category(["accuracy", "omission"], None) == (
        Category("accuracy", "omission"),
        None,
        (),
    )


def test_a_long_label_is_kept_to_a_hundred_characters():
    parsed = parse_category("x" * 100_000, None)
    assert parsed is not None
    assert parsed[1] == "x" * 100
    assert parse_severity("y" * 100_000)[1] == "y" * 100


@settings(deadline=None, max_examples=300)
@given(st.text(), st.one_of(st.none(), st.sampled_from(list(TYPOLOGY)), st.text(max_size=5)))
def test_any_text_is_a_label_and_an_unknown_one_is_flagged_and_kept(said, home):
    if home is not None and "/" in home:
        home = "style"
    severity, raw, flags = parse_severity(said)
    assert severity is not Severity.NEUTRAL or not flags
    assert not flags or raw == (said[:200].strip()[:100] or None)
    parsed = parse_category(said, home)
    if parsed is not None and parsed[2]:
        assert parsed[1] == (said[:200].strip()[:100] or None)
        assert "other" in (parsed[0].dimension, parsed[0].subcategory)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(OWN), st.integers(0, 40), st.sampled_from("xqz"))
def test_one_wrong_letter_in_a_long_label_does_not_make_it_another(name, position, letter):
    subcategory = name.rpartition("/")[2]
    if len(subcategory) < 8:
        return
    position %= len(subcategory)
    misspelt = subcategory[:position] + letter + subcategory[position + 1 :]
    parsed = parse_category(misspelt, name.partition("/")[0])
    assert parsed is not None
    assert str(parsed[0]) == name or parsed[2] == ("unknown_category",)
