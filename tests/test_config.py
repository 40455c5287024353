"""Settings check themselves, before anything is spent."""

from __future__ import annotations

import dataclasses
import json

import pytest

from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair


def test_defaults_are_the_papers():
    config = MMADConfig.of("en-de")
    assert (config.strategy, config.topic, config.rounds) == ("consensus", "severity", 3)
    assert (config.turns, config.weights, config.temperature) == ("sequential", "mmad", 0.0)


def test_none_means_the_default_and_default_leaves_the_temperature_to_the_server():
    assert MMADConfig.of("en-de", rounds=None) == MMADConfig.of("en-de")
    assert MMADConfig.of("en-de", temperature="default").temperature is None


def test_the_pair_may_come_as_two_languages():
    assert MMADConfig.of(src_lang="he", tgt_lang="en").lp == LanguagePair("he", "en")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"round": 2}, "did you mean 'rounds'"),
        ({"wieghts": "wmt"}, "did you mean 'weights'"),
        ({"src_lang": "en"}, "not both"),
        ({"role_models": 5}, "role_models"),
        ({"role_models": [("a", "b", "c")]}, "ROLE=MODEL"),
        ({"role_models": "judge=x"}, "expected a list"),
        ({"skip_stages": 2.5}, "skip_stages"),
        ({"skip_stages": [[2]]}, "skip_stages"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 11}, "from 1 to 10"),
        ({"rounds": True}, "whole number"),
        ({"rounds": "2"}, "whole number"),
        ({"rounds": 2.0}, "whole number"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": -1}, "temperature"),
        ({"max_cost": float("inf")}, "max_cost"),
        ({"turns": "both"}, "sequential, simultaneous"),
        ({"skip_stages": [4]}, "1, 2, 3"),
        ({"strategy": "none", "rounds": 2}, "rounds"),
        ({"model": ""}, "model"),
        ({"model": 4}, "model"),
        ({"base_url": "localhost:8000"}, "http://"),
        ({"role_models": ["judge"]}, "ROLE=MODEL"),
        ({"role_models": ["umpire=x"]}, "umpire"),
        ({"role_models": ["judge=x", "judge=y"]}, "twice"),
        ({"extra_body": "{"}, "not JSON"),
        ({"extra_body": "[1]"}, "object"),
        ({"extra_body": {"x": {1}}}, "extra_body"),
        ({"extra_body": {"x": float("nan")}}, "extra_body"),
        ({"extra_body": {"messages": []}}, "messages"),
        ({"weights": {"major": float("inf")}}, "weights"),
        ({"weights": {"major": {5}}}, "weights"),
        ({"weights": {5: 1, "a": 2}}, "weights"),
        ({"weights": [5, 1]}, "weights"),
        ({"sample": 0}, "sample"),
        ({"concurrency": 0}, "concurrency"),
        ({"use_cache": "yes"}, "use_cache"),
    ],
)
def test_a_bad_setting_is_refused_by_name(options: dict[str, object], named: str):
    with pytest.raises(ConfigError) as caught:
        MMADConfig.of("en-de", **options)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("round", "rounds"),
        ("max_token", "max_tokens"),
        ("temp", "temperature"),
        ("tgt_language", "tgt_lang"),
        ("modle", "model"),
        ("bogus", None),  # half of its letters are those of rounds
        ("batch_size", None),
        ("verbose", None),
        ("xyz", None),
        ("t", None),
    ],
)
def test_an_unknown_name_is_explained_only_where_one_is_likely_meant(name: str, meant: str | None):
    with pytest.raises(ConfigError) as caught:
        MMADConfig.of("en-de", **{name: 1})
    hint = f"; did you mean {meant!r}?" if meant else ""
    assert str(caught.value) == f"unknown option {name!r}{hint}"


def test_weights_may_be_a_table():
    table = {"major": 10, "minor": 0.5, "rules": [{"label": "style", "weight": 0}]}
    config = MMADConfig.of("en-de", weights=table)
    assert json.loads(config.weights) == table
    assert hash(config) == hash(MMADConfig.of("en-de", weights=dict(reversed(table.items()))))


def test_a_pair_is_needed():
    with pytest.raises(ConfigError, match="language pair"):
        MMADConfig.of()


def test_a_role_may_have_its_own_model_and_server():
    config = MMADConfig.of(
        "en-de", model="m", base_url="http://a", role_models=["judge=j", "pro=p@http://b/v1"]
    )
    assert config.model_for("judge") == ("j", "http://a")
    assert config.model_for("pro") == ("p", "http://b/v1")
    assert config.model_for("con") == ("m", "http://a")


def test_a_config_cannot_be_changed():
    config = MMADConfig.of("en-de")
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.rounds = 2  # type: ignore[misc]


def test_plain_values_hold_no_secret():
    config = MMADConfig.of("en-de", base_url="http://u:topsecret@host/v1")
    assert "topsecret" not in str(config.to_dict())
