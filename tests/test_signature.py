"""A signature names whatever moves a number, and can be parsed back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.config import MMADConfig
from mmad_metric.signature import (
    _SHORT,
    Observed,
    format_signature,
    parse_signature,
    resampled,
    signature_fields,
)


def fields_of(observed: Observed = Observed(), **options: Any) -> dict[str, str]:
    return signature_fields(MMADConfig.of("en-de", **options), "mmad.1@abc", "en-de", observed)


@given(st.dictionaries(st.sampled_from(["lp", "model", "rounds", "weights", "own"]), st.text()))
def test_any_values_survive_formatting_and_parsing(fields: dict[str, str]):
    if fields:
        assert parse_signature(format_signature(fields)) == fields
        assert parse_signature(format_signature(fields, short=True)) == fields


def test_a_model_name_with_colon_and_bar_is_escaped():
    text = format_signature(fields_of(model="qwen2.5:7b|x"))
    assert "model:qwen2.5%3A7b%7Cx|" in text
    assert parse_signature(text)["model"] == "qwen2.5:7b|x"


MOVES: dict[str, Any] = {
    "model": "other", "role_models": ["judge=gpt-5"], "dispute": "any",
    "rounds": 2, "turns": "simultaneous", "skip_stages": [3], "strategy": "none",
    "weights": "wmt", "temperature": 0.7, "max_tokens": 99, "structured": "text",
    "fold_system": True, "extra_body": {"seed": 1}, "sample": 5,
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_a_setting_that_moves_a_number_shows(name: str):
    assert fields_of(**{name: MOVES[name]}) != fields_of()


@pytest.mark.parametrize(
    "options", [{"concurrency": 3}, {"timeout": 9.0}, {"max_cost": 1.0}, {"cache": "x"}]
)
def test_a_setting_that_moves_none_does_not(options: dict[str, Any]):
    assert fields_of(**options) == fields_of()


def test_what_the_server_did_shows():
    seen = Observed.of({"gpt-4o-mini-2024"}, {"text", "json_object"}, {"no-temperature"})
    fields = fields_of(seen)
    assert fields["served"] == "gpt-4o-mini-2024"
    assert fields["structured"] == "json_object+text"
    assert fields["adapted"] == "no-temperature"


def test_a_role_models_address_shows_without_its_secrets():
    fields = fields_of(role_models=["judge=m@http://user:secret@host/v1?key=secret"])
    assert "secret" not in str(fields)


def test_direction_and_aggregation_are_stated():
    assert "higher-better" in fields_of()["scale"]
    assert "mean" in fields_of()["scale"]


def test_short_keys_are_unlike_each_other_and_unlike_sacrebleus():
    """So that either form can be parsed; #, t, l, o, S are nrefs, test, lang, origlang, subset."""
    assert len(set(_SHORT.values())) == len(_SHORT)
    for key, short in _SHORT.items():
        assert short not in {"#", "t", "l", "o", "S"}
        assert short == key or short not in _SHORT
    assert (_SHORT["bs"], _SHORT["ar"], _SHORT["seed"], _SHORT["version"]) == (
        "bs",
        "ar",
        "rs",
        "v",
    )


def test_sacrebleus_own_signatures_are_parsed():
    long = "nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
    short = "#:1|bs:1000|rs:12345|c:mixed|e:no|tok:13a|s:exp|v:2.6.0"
    assert parse_signature(long)["smooth"] == parse_signature(short)["s"] == "exp"
    assert parse_signature(long)["seed"] == parse_signature(short)["seed"] == "12345"
    assert format_signature(parse_signature(long)) == long


def test_how_an_interval_was_drawn_stands_before_the_version_and_apart_from_the_sample():
    fields = resampled(fields_of(sample=5, seed=3), seed="none", ar=100)
    assert list(fields)[-3:] == ["ar", "seed", "version"]
    assert (fields["sample"], fields["sample_seed"]) == ("5", "3")
    assert (fields["ar"], fields["seed"]) == ("100", "none")


def test_no_space_is_left_so_that_the_score_can_be_found_after_it():
    text = format_signature(fields_of(model="a = 5", extra_body={"top_p": 0.5}))
    assert " " not in text
    assert parse_signature(text)["model"] == "a = 5"


def test_a_printed_line_is_parsed_with_the_metrics_name_in_front():
    assert parse_signature("MMAD|lp:en-de|version:1") == {"lp": "en-de", "version": "1"}


def test_a_key_that_stands_twice_is_no_signature():
    with pytest.raises(ValueError, match="'lp' stands in it twice"):
        parse_signature("lp:en-de|lp:zh-en")


def test_how_often_unreadable_replies_are_asked_for_again_shows_where_it_is_not_the_usual():
    assert fields_of(reasks=0)["reasks"] == "0"
    assert "reasks" not in fields_of()
