"""`method=` in every face: Python, evaluate, sacreBLEU, training, data sets, meta-evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from sacrebleu.significance import PairedTest

from mmad_metric import rate, rate_dataset
from mmad_metric.cli import main
from mmad_metric.errors import ConfigError
from mmad_metric.integrations import trainer_metrics
from mmad_metric.mmad import Mmad
from mmad_metric.sacrebleu_metric import MMAD
from mmad_metric.scales import Scale
from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator, by_words
from tests.cli.conftest import BAD, GOOD, SOURCES
from tests.integrations.words import WordTokenizer, ids
from tests.loopback import LoopbackServer
from tests.metaeval.tiny import write_folder

SCORES = {"gemba-mqm": [-6, 0, -1], "eaprompt": [-6, 0, -1], "gemba-da": [94, 100, 99]}
METHODS = tuple(SCORES)
MEANS = {method: pytest.approx(sum(scores) / 3) for method, scores in SCORES.items()}
OF_ERRORS = {"n_major", "n_minor", "n_non_translation", "by_dimension"}


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


def settings(server: LoopbackServer, method: str) -> dict[str, Any]:
    return {"lp": "en-de", "model": "m", "base_url": server.url, "method": method}


@pytest.mark.parametrize("method", METHODS)
def test_rate(server: LoopbackServer, method: str):
    result = rate(SOURCES, BAD, **settings(server, method))
    assert result.scores == SCORES[method]
    assert result.score == MEANS[method]
    plain = result.to_dict(return_debates=True)
    json.dumps(plain, allow_nan=False)
    if method == "gemba-da":
        assert plain["scale"] == Scale.DIRECT.value
        assert not OF_ERRORS & set(plain)
        assert plain["debates"] == [{}, {}, {}]
    else:
        assert set(plain) >= OF_ERRORS
        assert "scale" not in plain
        assert plain["debates"][0]["coupled"]["opening"][0]["error_span"] == "Maus"


@pytest.mark.parametrize("method", METHODS)
def test_evaluate_takes_the_method_as_an_option_and_as_a_preset(
    server: LoopbackServer, method: str
):
    options = settings(server, method)
    named = Mmad(**options).compute(predictions=BAD, sources=SOURCES)
    del options["method"]
    preset = Mmad(method, **options).compute(predictions=BAD, sources=SOURCES)
    given = Mmad(**options).compute(predictions=BAD, sources=SOURCES, method=method)
    assert named == preset == given
    assert (named["scores"], named["score"]) == (SCORES[method], MEANS[method])
    assert parse_signature(named["signature"])["method"] == method
    assert [len(spans) for spans in named["spans"]] == ([0] * 3 if method == "gemba-da" else
                                                        [2, 0, 1])  # fmt: skip


def test_what_does_not_fit_a_method_is_refused_at_load():
    for wrong in ({"rounds": 2}, {"weights": "mmad"}, {"prompts": "brief"}):
        with pytest.raises(ConfigError, match=f"{next(iter(wrong))}|method gemba-da"):
            Mmad("gemba-da", **wrong)


@pytest.mark.parametrize("method", METHODS)
def test_sacrebleu_resamples_and_compares(server: LoopbackServer, method: str):
    metric = MMAD(SOURCES, **settings(server, method))
    score = metric.corpus_score(BAD, None, n_bootstrap=50)
    assert score.score == MEANS[method]
    assert score.interval is not None
    low, high = min(SCORES[method]), max(SCORES[method])
    assert low <= score.interval[0] <= high
    assert metric.get_signature().fields()["method"] == method
    calls = server.call_count
    systems: list[tuple[str, Sequence[str]]] = [("good", GOOD), ("bad", BAD), ("copy", GOOD)]
    _, found = PairedTest(systems, {"MMAD": metric}, None, test_type="bs", n_samples=100)()
    different, same = (getattr(each, "p_value", None) for each in found["MMAD"][1:])
    assert different is not None
    assert same == 1
    # For GOOD, one row of which BAD has too.
    assert server.call_count == calls + 2 * (2 if method == "eaprompt" else 1)


def test_a_training_loop_gets_floats_on_the_methods_scale(server: LoopbackServer):
    class Evaluation:
        predictions = (ids("das Maus ist rot"),)
        label_ids = None
        inputs = None

    options = settings(server, "gemba-da")
    metrics = trainer_metrics(WordTokenizer(), sources=["the house is red"], **options)
    figures = metrics(Evaluation())
    assert figures == {
        "mmad_score": 95.0,  # one major error
        "mmad_n_segments": 1.0,
        "mmad_n_scored": 1.0,
        "mmad_n_unscored": 0.0,
        "mmad_n_not_sampled": 0.0,
    }


@pytest.mark.parametrize("method", METHODS)
def test_a_data_set_gets_scores_and_spans(server: LoopbackServer, method: str):
    pairs = Dataset.from_dict({"source": SOURCES, "translation": BAD})
    rated = rate_dataset(pairs, **settings(server, method))
    assert rated.dataset["mmad_score"][:] == SCORES[method]
    assert rated.score == MEANS[method]
    if method == "gemba-da":
        assert rated.dataset["mmad_spans"][:] == [[], [], []]
        assert rated.to_dict()["scale"] == Scale.DIRECT.value


def test_correlations_take_runs_on_different_scales_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Against gold that falls from A over B to C, scores that do so too, on either scale."""
    data = write_folder(tmp_path / "data")
    worse = by_words({"beta": ("style/awkward", "minor"), "gamma": ("style/awkward", "major")})
    runs = []
    with LoopbackServer(Annotator(worse)) as server:
        for method in ("gemba-mqm", "gemba-da"):
            run = tmp_path / f"{method}.jsonl"
            systems = [str(data / "system-outputs" / "en-de" / f"{name}.txt") for name in "ABC"]
            status = main(["-s", str(data / "sources" / "en-de.txt"), "-i", *systems, "-l", "en-de",
                           "--base-url", server.url, "--model", "m", "--method", method,
                           "-o", str(run), "-q"])  # fmt: skip
            assert status == 0
            runs.append(str(run))
    capsys.readouterr()
    asked = ["meta-eval", "--data", str(data), "--lp", "en-de", "--runs", *runs]
    assert main(asked) == 0
    metrics = {each["metric"]: each for each in json.loads(capsys.readouterr().out)["metrics"]}
    assert metrics["gemba-da"]["meta"] == metrics["gemba-mqm"]["meta"]
    assert main([*asked[:-2], runs[1], "--spans"]) == 1
    assert "scores without errors" in capsys.readouterr().err
