"""A language pair names two languages, in any writing that has one reading."""

from __future__ import annotations

import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair


@pytest.mark.parametrize(
    ("text", "source", "target"),
    [
        ("en-de", "English", "German"),
        ("he-en", "Hebrew", "English"),
        ("iw-en", "Hebrew", "English"),
        ("zh-en", "Chinese", "English"),
        ("en-pt_BR", "English", "Portuguese (Brazil)"),
        ("zh_Hant-ja", "Chinese (Traditional)", "Japanese"),
        (" en-cs ", "English", "Czech"),
        ("en_US-en_GB", "English (United States)", "English (United Kingdom)"),
        ("pt-pt_BR", "Portuguese", "Portuguese (Brazil)"),
        ("zh_Hans-zh_Hant", "Chinese (Simplified)", "Chinese (Traditional)"),
    ],
)
def test_a_pair_names_its_languages(text: str, source: str, target: str):
    pair = LanguagePair.parse(text)
    assert (pair.source_name, pair.target_name) == (source, target)


@pytest.mark.parametrize(
    ("text", "named"),
    [("en", "source and a target"), ("xx-de", "'xx'"), ("en-d3", "'d3'"), ("", "target"),
     ("en-pt-BR", "underscore"), ("-de", "''"), ("en-en", "English"), ("he-iw", "Hebrew"),
     ("en_US-en_us", "en_US-en_GB")],
)  # fmt: skip
def test_a_bad_pair_is_refused_naming_the_part(text: str, named: str):
    with pytest.raises(ConfigError) as caught:
        LanguagePair.parse(text)
    assert named in str(caught.value)


@pytest.mark.parametrize("text", ["en-de", "en-pt_BR", "zh_Hant-ja"])
def test_a_pair_survives_its_own_text(text: str):
    assert str(LanguagePair.parse(text)) == text
