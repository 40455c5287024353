"""MMAD behind sacreBLEU's interface: scores, intervals, tests, each system rated once."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from sacrebleu import BLEU
from sacrebleu.metrics import METRICS
from sacrebleu.significance import PairedTest

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.sacrebleu_metric import MMAD, register_in_sacrebleu
from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator, is_about
from tests.cli.conftest import BAD, GOOD, SOURCES
from tests.loopback import LoopbackServer

# By hand: BAD has -6, 0, -1 and GOOD 0, 0, 0. Twelve calls rate GOOD, twenty BAD.


def metric(server: LoopbackServer, **options: Any) -> MMAD:
    return MMAD(SOURCES, lp="en-de", model="m:1", base_url=server.url, **options)


def test_a_corpus_score_is_the_mean_with_its_ratings(server: LoopbackServer):
    score = metric(server).corpus_score(BAD, None)
    assert score.score == pytest.approx(-7 / 3)
    assert isinstance(score.score, float)
    assert score.result is not None
    assert score.result.scores == [-6, 0, -1]
    assert str(score) == "MMAD = -2.33 3/3 scored, 1 major, 2 minor, 0 non-translation"


def test_a_bootstrap_rates_nothing_again_and_prints_a_negative_mean(server: LoopbackServer):
    mmad = metric(server, use_cache=False)
    plain = mmad.corpus_score(BAD, [GOOD])
    assert (plain.interval, "bs" in mmad.get_signature().fields()) == (None, False)
    score = mmad.corpus_score(BAD, None, n_bootstrap=200)
    assert server.call_count == 20
    assert score.interval is not None
    assert -6 < score.interval[0] < 0 < score.interval[1] <= 3
    signature = mmad.get_signature().format()
    assert parse_signature(signature)["model"] == "m:1"
    assert signature.split("|")[-3:-1] == ["bs:200", "seed:12345"]
    values = json.loads(score.format(2, signature=signature, is_json=True))
    assert (values["score"], values["model"], values["bs"]) == (-2.33, "m:1", "200")
    assert values["confidence"] == f"μ = {score.interval[0]:.2f} ± {score.interval[1]:.2f}"
    assert f"({values['confidence']})" in score.format(2, signature=signature)


def systems() -> list[tuple[str, Sequence[str]]]:
    return [("base", GOOD), ("bad", BAD)]


@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_identical_systems_have_p_1(server: LoopbackServer, kind: str):
    pair: list[tuple[str, Sequence[str]]] = [("base", BAD), ("copy", list(BAD))]
    _, results = PairedTest(pair, {"MMAD": metric(server)}, None, kind, n_samples=100)()
    assert vars(results["MMAD"][1])["p_value"] == 1


def test_as_large_differences_count_in_a_randomisation(server: LoopbackServer):
    # The differences are -6, 0, -1: the signs of the 6 and the 1 agree in half of the trials,
    # which then differ by as much as was observed, and by less in the others.
    _, results = PairedTest(systems(), {"MMAD": metric(server)}, None, "ar", n_samples=2000)()
    assert vars(results["MMAD"][1])["p_value"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_sacrebleus_paired_test_rates_each_system_once(server: LoopbackServer, kind: str):
    mmad = metric(server, use_cache=False)
    test = PairedTest(systems(), {"MMAD": mmad}, None, kind, n_samples=200)
    signatures, results = test()
    assert server.call_count == 12 + 20
    base, bad = map(vars, results["MMAD"])
    assert base["score"] == 0
    assert bad["score"] == pytest.approx(-7 / 3)
    assert 0 < bad["p_value"] <= 1
    json.dumps([base, bad], allow_nan=False)
    fields = parse_signature(signatures["MMAD"].format())
    assert (fields[kind], fields["seed"]) == ("200", "12345")
    short = parse_signature(signatures["MMAD"].format(short=True))
    assert short == fields


def test_it_stands_beside_bleu_in_one_test(server: LoopbackServer):
    metrics = {"BLEU": BLEU(references=[GOOD]), "MMAD": metric(server)}
    _, results = PairedTest(systems(), metrics, None, "bs", n_samples=50)()
    assert list(results) == ["System", "BLEU", "MMAD"]


def test_a_test_in_several_processes_gives_the_same(server: LoopbackServer):
    three = [*systems(), ("more", BAD[:2] + GOOD[2:])]
    found = [
        PairedTest(three, {"MMAD": metric(server)}, None, "bs", 50, n_jobs=jobs)()[1]["MMAD"]
        for jobs in (1, 2)
    ]
    assert str(found[0]) == str(found[1])


def test_what_is_rated_is_not_rated_again_in_another_process(server: LoopbackServer):
    mmad = metric(server, use_cache=False)
    for _, texts in systems():
        mmad.corpus_score(texts)
    calls = server.call_count
    PairedTest(systems(), {"MMAD": mmad}, None, "bs", 50, n_jobs=2)()
    assert server.call_count == calls


def test_an_unscored_segment_counts_nothing():
    good = Annotator(KNOWN)

    def script(call):
        return "No." if is_about(call, "Das rote Maus") else good(call)

    with LoopbackServer(script) as server:
        score = metric(server).corpus_score(BAD, None, n_bootstrap=100)
    assert score.score == -0.5
    assert score.interval is not None
    assert -1 <= score.interval[0] <= 0
    assert "2/3 scored" in str(score)


def test_one_scored_segment_has_no_interval():
    good = Annotator(KNOWN)

    def script(call):
        return good(call) if is_about(call, "Das rote Maus") else "No."

    with LoopbackServer(script) as server:
        score = metric(server).corpus_score(BAD, None, n_bootstrap=50)
    assert (score.score, score.interval) == (-6, None)
    assert "±" not in str(score)
    assert "confidence" not in score.format(is_json=True)


def test_where_nothing_is_scored_the_score_is_nan_and_null_in_json():
    with LoopbackServer("prose") as server:
        score = metric(server).corpus_score(BAD, None, n_bootstrap=20)
    assert math.isnan(score.score)
    assert json.loads(score.format(is_json=True), parse_constant=pytest.fail)["score"] is None
    assert score.format(score_only=True) == "None"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"references": "ein Satz"}, "references: expected a list of lists"),
        ({"references": ["ein Satz"]}, r"references\[0\]: expected a list"),
        ({"references": [GOOD, [None]]}, r"references\[1\]\[0\]: expected a string"),
        ({"n_bootstrap": "x"}, "n_bootstrap: expected a number"),
    ],
    ids=["text", "list of texts", "None among texts", "no number of samples"],
)
def test_what_is_no_list_of_texts_is_refused_before_any_call(server: LoopbackServer, given, named):
    with pytest.raises(InputError, match=named):
        metric(server).corpus_score(GOOD, **given)
    assert not server.calls


@pytest.mark.parametrize("references", [None, [], ["ein Satz"]], ids=str)
def test_a_sentence_needs_its_source_and_no_reference(server: LoopbackServer, references):
    mmad = metric(server)
    assert mmad.sentence_score(BAD[0], references, source=SOURCES[0]).score == -6
    single = MMAD(SOURCES[:1], lp="en-de", base_url=server.url, model="m:1")
    assert single.sentence_score(BAD[0], references).score == -6
    with pytest.raises(InputError, match="source"):
        mmad.sentence_score(BAD[0], references)


@pytest.mark.parametrize(
    ("hypotheses", "message"),
    [(BAD[:2], "3 sources but 2 translations"), ([*BAD[:2], None], r"hypotheses\[2\]"),
     ("text", "list of strings")],
    ids=["too few", "none", "one string"],
)  # fmt: skip
def test_bad_hypotheses_are_refused_before_any_call(
    server: LoopbackServer, hypotheses, message: str
):
    with pytest.raises(InputError, match=message):
        metric(server).corpus_score(hypotheses, None)
    assert server.call_count == 0


def test_what_is_missing_is_named():
    with pytest.raises(ConfigError, match="lp"):
        MMAD(SOURCES)
    with pytest.raises(InputError, match="sources"):
        MMAD(lp="en-de").corpus_score(BAD)


def test_it_enters_sacrebleus_table_on_request(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    assert "MMAD" not in METRICS
    monkeypatch.setitem(METRICS, "MMAD", None)  # taken out again at the end
    register_in_sacrebleu(sources=SOURCES, lp="en-de", model="m", base_url=server.url)
    table: Any = METRICS
    assert table["MMAD"](references=[GOOD]).corpus_score(GOOD, None).score == 0
    register_in_sacrebleu()
    assert table["MMAD"] is MMAD
