from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.config import option_fields
from mmad_metric.errors import ConfigError, InputError, RunStopped
from mmad_metric.mmad import Mmad
from tests.annotator import NOTHING
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, refusing, unauthorized

SOURCES = ["The house is red.", "Good morning.", "It is late."]
PREDICTIONS = ["Das Haus ist rot.", "Guten Morgen.", "Es ist spät."]


def one_error(call: ReceivedCall) -> Answer:
    """Every agent, and the judge, finds the same minor error where the text has the word."""
    text = "\n".join(str(message["content"]) for message in call.messages[-1:])
    found = {
        "error_span": "Haus",
        "category": "accuracy/mistranslation",
        "severity": "minor",
        "is_source_error": False,
    }
    reply: dict[str, Any] = {"annotations": [found] if "Haus" in text else []}
    if call.schema == "final_judgement":
        reply = {"analysis": "It stands.", **reply}
    return json.dumps(reply)


@pytest.fixture
def metric(server: LoopbackServer) -> Mmad:
    return Mmad(lp="en-de", model="loopback", base_url=server.url)


# -- what comes out


def test_the_result_has_the_documented_keys_and_an_error_its_place() -> None:
    with LoopbackServer(one_error) as server:
        metric = Mmad(lp="en-de", model="loopback", base_url=server.url)
        result = metric.compute(predictions=PREDICTIONS, sources=SOURCES)
    assert set(result) == {
        "score",
        "scores",
        "spans",
        "statuses",
        "reasons",
        "n_segments",
        "n_scored",
        "n_unscored",
        "n_not_sampled",
        "n_major",
        "n_minor",
        "n_non_translation",
        "by_dimension",
        "usage",
        "signature",
    }
    # One minor error, found by four agents and counted once, in one of three segments: -1/3.
    assert result["scores"] == [-1.0, 0.0, 0.0]
    assert result["score"] == pytest.approx(-1 / 3)
    assert [len(spans) for spans in result["spans"]] == [1, 0, 0]
    span = result["spans"][0][0]
    assert {name: span[name] for name in ("text", "start", "end", "side", "severity")} == {
        "text": "Haus",
        "start": 4,
        "end": 8,
        "side": "translation",
        "severity": "minor",
    }
    assert (result["n_segments"], result["n_scored"], result["n_minor"]) == (3, 3, 1)
    assert "debates" not in result
    json.dumps(result, allow_nan=False)  # evaluate.save writes it so


def test_an_unscored_segment_is_none_with_a_reason_and_not_in_the_mean() -> None:
    def script(call: ReceivedCall) -> Answer:
        return refusing() if "Guten Morgen" in call.prompt else one_error(call)

    with LoopbackServer(script) as server:
        metric = Mmad(lp="en-de", model="loopback", base_url=server.url)
        result = metric.compute(predictions=PREDICTIONS, sources=SOURCES)
    assert result["scores"] == [-1.0, None, 0.0]
    assert result["score"] == -0.5
    assert result["reasons"] == [None, "refusal", None]
    assert (result["n_segments"], result["n_scored"], result["n_unscored"]) == (3, 2, 1)


def test_debates_come_with_the_result_when_asked_for(server: LoopbackServer) -> None:
    options: dict[str, Any] = {"lp": "en-de", "base_url": server.url}
    texts: dict[str, Any] = {"predictions": PREDICTIONS[:1], "sources": SOURCES[:1]}
    at_compute = Mmad(**options).compute(**texts, return_debates=True)
    at_load = Mmad(**options, return_debates=True)
    assert list(at_compute["debates"][0]) == ["accuracy", "fluency", "terminology", "style"]
    assert at_load.compute(**texts)["debates"] == at_compute["debates"]
    assert "debates" not in at_load.compute(**texts, return_debates=False)


def test_the_card_says_what_goes_in_and_comes_out(metric: Mmad) -> None:
    for name in [*option_fields(), "return_debates", "src_lang", "tgt_lang", "config_name"]:
        assert name in metric.inputs_description
    for name in metric.compute(predictions=["Ja."], sources=["Yes."]):
        assert name in metric.inputs_description
    for method in (metric.compute, metric.add, metric.add_batch):
        assert metric.inputs_description in str(method.__doc__)
    assert "2412.20127" in metric.citation
    assert metric.citation.count("{") == metric.citation.count("}")
    assert set(metric.features) == {"predictions", "sources", "references"}


# -- adding


def test_added_segments_come_first_and_in_order() -> None:
    with LoopbackServer(one_error) as server:
        metric = Mmad(lp="en-de", base_url=server.url)
        metric.add(prediction="Ein Haus.", source="A house.")
        metric.add_batch(predictions=["Ja."], sources=["Yes."])
        metric.add(predictions="Mein Haus.", sources="My house.")  # as evaluate itself names them
        assert len(metric) == 3
        result = metric.compute(predictions=["Nein."], sources=["No."])
        assert result["scores"] == [-1.0, 0.0, -1.0, 0.0]
        assert len(metric) == 0
        again = metric.compute(predictions=["Nein."], sources=["No."])
    assert again["scores"] == [0.0]


def test_a_reference_of_one_segment_may_be_a_string_or_a_list(metric: Mmad) -> None:
    metric.add(prediction="a", source="b", reference="c")
    metric.add(prediction="a", source="b", reference=["c", "d"])
    with pytest.warns(UserWarning, match="references are not used"):
        assert metric.compute()["n_segments"] == 2


def test_added_segments_outlive_a_mistake_in_an_option_or_input(
    metric: Mmad, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric.add_batch(predictions=PREDICTIONS, sources=SOURCES)
    mistakes: list[dict[str, Any]] = [
        {"round": 2},
        {"rounds": 0},
        {"weights": "nonsense"},
        {"prompts": "nonsense"},
        {"predictions": "Ja.", "sources": ["Yes."]},
    ]
    for mistake in mistakes:
        with pytest.raises((InputError, ConfigError)):
            metric.compute(**mistake)
        assert len(metric) == 3
    assert metric.compute()["n_segments"] == 3


def test_segments_of_a_stopped_run_do_not_mix_with_the_next() -> None:
    broken = True

    def script(call: ReceivedCall) -> Answer:
        return unauthorized() if broken else NOTHING

    with LoopbackServer(script) as server:
        metric = Mmad(lp="en-de", base_url=server.url)
        metric.add_batch(predictions=PREDICTIONS, sources=SOURCES)
        with pytest.raises(RunStopped):
            metric.compute()
        assert len(metric) == 0
        broken = False
        assert metric.compute(predictions=["Ja."], sources=["Yes."])["n_segments"] == 1


def test_replies_of_a_stopped_run_are_not_paid_again() -> None:
    broken = True
    answered: list[list[str]] = [[], []]

    def script(call: ReceivedCall) -> Answer:
        if broken and "Es ist" in call.prompt:
            return unauthorized()
        answered[0 if broken else 1].append(call.prompt)
        return NOTHING

    with LoopbackServer(script) as server:
        metric = Mmad(lp="en-de", base_url=server.url, concurrency=1)
        with pytest.raises(RunStopped):
            metric.compute(predictions=PREDICTIONS, sources=SOURCES)
        broken = False
        result = metric.compute(predictions=PREDICTIONS, sources=SOURCES)
    assert result["n_scored"] == 3
    assert answered[0]
    assert not set(answered[0]) & set(answered[1])


# -- options


def test_options_of_compute_are_stronger_than_those_of_load(server: LoopbackServer) -> None:
    metric = Mmad(lp="en-de", model="first", base_url=server.url, weights="wmt", use_cache=False)
    texts = {"predictions": ["Ja."], "sources": ["Yes."]}
    result = metric.compute(**texts, model="second", weights=None)
    assert "weights:wmt" in result["signature"].split("|")  # None says nothing
    metric.compute(**texts)
    models = [call.body["model"] for call in server.calls]
    assert models == ["second"] * 4 + ["first"] * 4


@pytest.mark.parametrize(
    ("loaded", "given", "pair"),
    [
        ({"lp": "en-de"}, {}, "en-de"),
        ({}, {"lp": "en-de"}, "en-de"),
        ({"lp": "en-de"}, {"lp": "zh-en"}, "zh-en"),
        ({"src_lang": "en"}, {"tgt_lang": "de"}, "en-de"),
        ({"lp": "en-de"}, {"src_lang": "zh", "tgt_lang": "en"}, "zh-en"),
        ({"src_lang": "zh", "tgt_lang": "en"}, {"lp": "en-de"}, "en-de"),
        ({"src_lang": "zh", "tgt_lang": "de"}, {"tgt_lang": "en"}, "zh-en"),
    ],
)
def test_the_languages_may_come_at_load_or_compute(
    loaded: dict[str, str], given: dict[str, str], pair: str, server: LoopbackServer
) -> None:
    metric = Mmad(base_url=server.url, **loaded)
    result = metric.compute(predictions=["Ja."], sources=["Yes."], **given)
    assert f"lp:{pair}" in result["signature"].split("|")


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"round": 2}, "unknown option 'round'; did you mean 'rounds'"),
    ({"modle": "x"}, "did you mean 'model'"),
    ({"base_ulr": "x"}, "did you mean 'base_url'"),
    ({"return_debate": True}, "did you mean 'return_debates'"),
    ({"scr_lang": "en"}, "did you mean 'src_lang'"),
    ({"xyzzy": 1}, "unknown option 'xyzzy'$"),
    ({"bogus": 1}, "unknown option 'bogus'$"),
    ({"weights": "nonsense"}, "weights 'nonsense': no such scheme"),
    ({"weights": {"major": 5}}, "weights: expected an object with at least major and minor"),
    ({"prompts": "nonsense"}, "nonsense"),
    ({"rounds": 99}, "rounds: 99 is not a whole number from 1 to 10"),
    ({"rounds": "3"}, "rounds: expected a whole number, not '3'"),
    ({"return_debates": "yes"}, "return_debates: expected true or false, not 'yes'"),
    ({"lp": "en-xx"}, "unknown language code 'xx'"),
    ({"lp": "en-de", "tgt_lang": "fr"}, "give lp, or src_lang and tgt_lang, not both"),
    ({"seed": -1}, "seed: -1 is not a whole number"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_a_bad_option_is_refused_at_load_and_at_compute_before_any_call(
    options: dict[str, Any], message: str, server: LoopbackServer
) -> None:
    with pytest.raises(ConfigError, match=message):
        Mmad(base_url=server.url, **options)
    metric = Mmad(base_url=server.url, lp="en-de")
    with pytest.raises(ConfigError, match=message):
        metric.compute(predictions=["Ja."], sources=["Yes."], **options)
    assert server.call_count == 0


@pytest.mark.parametrize(
    ("method", "name", "nearest"),
    [
        ("compute", "prediction", "predictions"),
        ("compute", "source", "sources"),
        ("compute", "refrences", "references"),
        ("add_batch", "source", "sources"),
        ("add", "sorce", "source"),
        ("__init__", "experimentid", "experiment_id"),
        ("__init__", "cachedir", "cache_dir"),
    ],
)
def test_a_misspelt_input_is_an_error_that_names_the_nearest(
    method: str, name: str, nearest: str, metric: Mmad
) -> None:
    with pytest.raises(ConfigError, match=f"'{name}'; did you mean '{nearest}'"):
        getattr(metric, method)(**{name: ["a"]})


def test_a_missing_language_pair_is_said_before_any_call(server: LoopbackServer) -> None:
    metric = Mmad(base_url=server.url)
    with pytest.raises(ConfigError, match="a language pair is needed"):
        metric.compute(predictions=["Ja."], sources=["Yes."])
    assert server.call_count == 0


def test_config_name_is_short_for_the_model_whatever_its_letters(server: LoopbackServer) -> None:
    metric = Mmad("org/../Model:7b", lp="en-de", base_url=server.url)
    assert metric.config_name == "org/../Model:7b"
    metric.compute(predictions=["Ja."], sources=["Yes."])
    assert {call.body["model"] for call in server.calls} == {"org/../Model:7b"}
    with pytest.raises(ConfigError, match="'one' and 'two' are two"):
        Mmad("one", model="two")
    assert Mmad("same", model="same").config_name == "same"


def test_settings_of_evaluate_itself_keep_their_meaning(tmp_path: Path) -> None:
    metric = Mmad(
        keep_in_memory=True,
        cache_dir=str(tmp_path),
        experiment_id="mine",
        hash="abc",
        max_concurrent_cache_files=3,
        seed=2**40 + 7,
        timeout=5,
    )
    assert (metric.keep_in_memory, metric.experiment_id, metric._hash) == (True, "mine", "abc")
    assert Path(metric.data_dir).parent == tmp_path / "mmad"
    assert (metric.max_concurrent_cache_files, metric.timeout) == (3, 5)
    assert metric.seed == 7  # the sample's seed; numpy takes 32 bits of it
    with pytest.raises(ValueError, match="num_process"):
        Mmad(num_process=2, process_id=2)


def test_the_seed_of_load_is_the_seed_of_the_sample(server: LoopbackServer) -> None:
    texts = {"predictions": [f"Satz {n}." for n in range(20)], "sources": ["Sentence."] * 20}
    statuses = [
        Mmad(lp="en-de", base_url=server.url, sample=3, seed=seed).compute(**texts)["statuses"]
        for seed in (1, 1, 2)
    ]
    assert statuses[0] == statuses[1] != statuses[2]
    assert statuses[0].count("not_sampled") == 17
