"""`compute_metrics`: what it rates, what it gives, and what it does when nothing can be rated."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mmad_metric.errors import ConfigError, InputError, MMADError, PackError, RunStopped
from mmad_metric.integrations import TrainerMetrics, trainer_metrics
from tests.annotator import Annotator, by_words, is_about
from tests.integrations.words import WordTokenizer, ids
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, server_error, unauthorized

SOURCE = "the house is red"
RIGHT, WRONG = "das Haus ist rot", "das Maus ist rot"
MAUS = Annotator(by_words({"Maus": ("fluency/spelling", "minor")}))


@dataclass(frozen=True)
class Evaluation:
    """What a Trainer hands over: an EvalPrediction in all that counts."""

    predictions: Any
    label_ids: Any = None
    inputs: Any = None


def evaluation(*translations: str, with_inputs: bool = True) -> Evaluation:
    rows = [ids(text) for text in translations]
    return Evaluation(rows, inputs=[ids(SOURCE)] * len(rows) if with_inputs else None)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(MAUS) as running:
        yield running


def metrics_of(server: LoopbackServer, **options: Any) -> TrainerMetrics:
    settings: dict[str, Any] = {"lp": "en-de", "base_url": server.url, "max_retries": 0, **options}
    return trainer_metrics(WordTokenizer(), **settings)


# -- what it gives


def test_an_evaluation_gives_floats_only_that_can_be_logged(server: LoopbackServer) -> None:
    metrics = metrics_of(server)
    figures = metrics(evaluation(RIGHT, WRONG, WRONG, RIGHT))
    assert figures == {
        "mmad_score": -0.5,  # two minor errors in four segments
        "mmad_n_segments": 4.0,
        "mmad_n_scored": 4.0,
        "mmad_n_unscored": 0.0,
        "mmad_n_not_sampled": 0.0,
        "mmad_n_major": 0.0,
        "mmad_n_minor": 2.0,
        "mmad_n_non_translation": 0.0,
    }
    assert {type(value) for value in figures.values()} == {float}
    assert metrics.result is not None
    assert metrics.result.scores == [0.0, -1.0, -1.0, 0.0]


def test_sources_come_from_the_inputs_or_from_the_caller(server: LoopbackServer) -> None:
    given = metrics_of(server, sources=("One source.", "Another."))
    for metrics, sources in ((metrics_of(server), [SOURCE] * 2),
                             (given, ["One source.", "Another."])):  # fmt: skip
        metrics(evaluation(RIGHT, WRONG))
        assert metrics.result is not None
        assert [each.segment.source for each in metrics.result.ratings] == sources


def test_labels_with_padding_and_without_any_are_both_well(server: LoopbackServer) -> None:
    rows = np.array([[*ids(RIGHT), -100]])
    assert metrics_of(server)(Evaluation(rows, rows, rows))["mmad_score"] == 0.0


def test_a_sample_is_the_same_segments_each_epoch(server: LoopbackServer) -> None:
    metrics = metrics_of(server, sample=2)
    chosen = []
    for translation in (RIGHT, WRONG):
        figures = metrics(evaluation(*[translation] * 6))
        assert (figures["mmad_n_scored"], figures["mmad_n_not_sampled"]) == (2.0, 4.0)
        assert metrics.result is not None
        chosen.append([score is not None for score in metrics.result.scores])
    assert chosen[0] == chosen[1]
    assert figures["mmad_score"] == -1.0


def test_an_epoch_like_the_one_before_costs_nothing(server: LoopbackServer) -> None:
    metrics = metrics_of(server)
    first = metrics(evaluation(RIGHT, WRONG))
    paid = server.call_count
    assert metrics(evaluation(RIGHT, WRONG)) == first
    assert server.call_count == paid > 0


def test_batches_are_rated_together_at_the_last_one(server: LoopbackServer) -> None:
    metrics = metrics_of(server)
    assert metrics(evaluation(WRONG, RIGHT), compute_result=False) == {}
    assert server.call_count == 0
    for _ in range(2):  # the second evaluation begins anew
        figures = metrics(evaluation(RIGHT), compute_result=True)
        assert figures["mmad_score"] == -1.0 / figures["mmad_n_segments"]
        metrics(evaluation(WRONG), compute_result=False)


# -- what is checked, and when


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param({"round": 2}, "did you mean 'rounds'", id="unknown option"),
        pytest.param({"lp": "english"}, "english", id="language pair"),
        pytest.param({"lp": None}, "a language pair is needed", id="no language pair"),
        pytest.param({"on_failure": "ignore"}, "'ignore' is not one of nan, raise", id="failure"),
        pytest.param({"min_scored": 1.5}, "min_scored: expected a number from 0 to 1", id="share"),
        pytest.param({"min_scored": True}, "min_scored", id="share of no kind"),
        pytest.param({"n_segments": 0}, "n_segments: expected a whole number", id="none"),
        pytest.param({"n_segments": "4"}, "n_segments", id="text for a count"),
        pytest.param({"n_segments": 3, "sources": ["a"]}, "there are 1 sources", id="two counts"),
        pytest.param({"sources": "abc"}, "sources: expected a list", id="one text"),
        pytest.param({"sources": ["a", None]}, "sources[1]", id="no text"),
        pytest.param({"prompts": "no_such_pack"}, "no_such_pack", id="prompt pack"),
        pytest.param({"weights": "no_such_scheme"}, "no_such_scheme", id="weights"),
        pytest.param({"max_cost": 1.0, "model": "unheard-of"}, "no price is known", id="price"),
        pytest.param({"model": "local:/no/such.gguf", "base_url": None}, "such.gguf", id="local"),
    ],
)
def test_bad_settings_are_refused_before_training(
    server: LoopbackServer, options: dict[str, Any], named: str
) -> None:
    with pytest.raises((ConfigError, InputError, PackError)) as caught:
        metrics_of(server, **options)
    assert named in str(caught.value)


def test_a_missing_key_and_a_wrong_tokenizer_are_told_before_training() -> None:
    with pytest.raises(MMADError, match="OPENAI_API_KEY"):
        trainer_metrics(WordTokenizer(), lp="en-de")
    with pytest.raises(ConfigError, match="tokenizer: expected one of transformers"):
        trainer_metrics("t5-small", lp="en-de", base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("options", "given", "named"),
    [
        pytest.param({}, evaluation(RIGHT, with_inputs=False), "include_for_metrics", id="none"),
        pytest.param({}, Evaluation([ids(RIGHT)] * 2, inputs=[ids(SOURCE)]),
                     "2 predictions but 1 inputs", id="too few inputs"),
        pytest.param({"sources": ["a", "b"]}, evaluation(RIGHT),
                     "1 predictions but 2 sources", id="too many sources"),
        pytest.param({"sources": ["a"]}, evaluation(RIGHT, RIGHT),
                     "2 predictions but 1 sources", id="too few sources"),
        pytest.param({"n_segments": 2}, evaluation(RIGHT),
                     "1 predictions but 2 n_segments", id="another set"),
        pytest.param({}, Evaluation(None), "predictions: expected arrays", id="no predictions"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("on_failure", ["nan", "raise"])
def test_texts_that_do_not_belong_together_are_a_mistake_and_no_failure(
    server: LoopbackServer, options: dict[str, Any], given: Evaluation, named: str, on_failure: str
) -> None:
    metrics = metrics_of(server, on_failure=on_failure, **options)
    with pytest.raises(InputError, match=named):
        metrics(given)
    assert server.call_count == 0


# -- when it cannot be rated


def test_a_refused_run_is_nan_and_said_each_time(caplog: pytest.LogCaptureFixture) -> None:
    with LoopbackServer(unauthorized()) as server:
        metrics = metrics_of(server)
        with caplog.at_level(logging.WARNING, "mmad_metric"):
            figures = [metrics(evaluation(RIGHT, WRONG)) for _ in range(2)]
    assert metrics.result is None
    assert [math.isnan(each["mmad_score"]) for each in figures] == [True, True]
    assert (figures[0]["mmad_n_segments"], figures[0]["mmad_n_scored"]) == (2.0, 0.0)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert "training goes on: RunStopped: " in told[0]
    # A Trainer keeps its state as JSON and reads it again.
    assert math.isnan(json.loads(json.dumps(figures[0]))["mmad_score"])


def test_a_refused_run_ends_training_where_that_was_asked_for() -> None:
    with LoopbackServer(unauthorized()) as server:
        metrics = metrics_of(server, on_failure="raise")
        with pytest.raises(RunStopped, match="401"):
            metrics(evaluation(RIGHT))


def test_the_names_of_the_figures_are_the_same_whatever_happens(server: LoopbackServer) -> None:
    well = metrics_of(server)(evaluation(RIGHT))
    with LoopbackServer(unauthorized()) as refusing:
        assert metrics_of(refusing)(evaluation(RIGHT)).keys() == well.keys()


def half_down(call: ReceivedCall) -> Answer:
    """Answers for the right translation alone."""
    return server_error() if is_about(call, "Maus") else MAUS(call)


@pytest.mark.parametrize(
    ("translations", "min_scored", "score"),
    [
        pytest.param([RIGHT, WRONG], 0.5, 0.0, id="just enough"),
        pytest.param([RIGHT, WRONG], 0.51, math.nan, id="too few"),
        pytest.param([RIGHT, WRONG], 0, 0.0, id="any is enough"),
        pytest.param([WRONG, WRONG], 0, math.nan, id="none"),
    ],
)
def test_a_mean_over_too_few_segments_is_no_score(
    translations: list[str], min_scored: float, score: float, caplog: pytest.LogCaptureFixture
) -> None:
    with LoopbackServer(half_down) as server:
        figures = metrics_of(server, min_scored=min_scored)(evaluation(*translations))
        assert figures["mmad_score"] == pytest.approx(score, nan_ok=True)
        assert figures["mmad_n_scored"] == translations.count(RIGHT)
        assert figures["mmad_n_unscored"] == translations.count(WRONG)
        if math.isnan(score):
            scored = translations.count(RIGHT)
            assert f"{scored} of 2 segments were scored: " in caplog.text
            assert "server_error" in caplog.text
            strict = metrics_of(server, min_scored=min_scored, on_failure="raise")
            with pytest.raises(RunStopped, match=f"{scored} of 2 segments were scored"):
                strict(evaluation(*translations))


def test_whatever_breaks_inside_a_rating_does_not_end_training(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = metrics_of(server)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mmad_metric.integrations.trainer.rate", full)
    assert math.isnan(metrics(evaluation(RIGHT))["mmad_score"])
    assert "No space left" in caplog.text
