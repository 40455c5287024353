"""A signature names whatever moves a number, and can be parsed back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.config import MMADConfig
from mmad_metric.signature import Observed, format_signature, parse_signature, signature_fields


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
