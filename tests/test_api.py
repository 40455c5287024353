"""The Python face: what it takes, refuses and gives."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import mmad_metric
from mmad_metric import ConfigError, InputError, MMADConfig, MMADResult, rate, rate_async
from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator
from tests.loopback import LoopbackServer

SOURCES = ["The red house is old.", "Good morning.", "x"]
TRANSLATIONS = ["Das rote Maus ist alt.", "Guten Morgen.", ""]


@pytest.fixture(scope="module")
def server():
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


def test_scores_spans_and_counts(server: LoopbackServer):
    result = rate(SOURCES, TRANSLATIONS, lp="en-de", base_url=server.url, model="m")
    assert result.scores == [-6.0, 0.0, -5.0]
    assert result.score == -11 / 3
    plain = result.to_dict(return_debates=True)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    keys = {"score", "scores", "spans", "n_segments", "n_scored", "n_major", "n_minor",
            "n_non_translation", "by_dimension", "usage", "signature", "debates"}  # fmt: skip
    assert keys <= set(plain)
    assert (plain["n_major"], plain["n_minor"], plain["n_segments"]) == (2, 1, 3)
    assert [span["text"] for span in plain["spans"][0]] == ["Maus", "Das rote"]
    assert plain["debates"][0]["accuracy"]["agreed"] is False


def test_weights_given_as_a_table_move_the_score_and_show_in_the_signature(
    server: LoopbackServer, tmp_path: Path
):
    table = {"major": 7, "minor": 0.5}
    (tmp_path / "mine.json").write_text(json.dumps(table))
    results = [
        rate(SOURCES, TRANSLATIONS, lp="en-de", base_url=server.url, model="m", weights=weights)
        for weights in (table, str(tmp_path / "mine.json"), {"major": 5, "minor": 1})
    ]
    # The first segment has a major and a minor error, the last is empty: a major omission.
    assert results[0].scores == results[1].scores == [-7.5, 0.0, -7.0]
    shown = [parse_signature(result.signature)["weights"] for result in results]
    assert shown[0] == shown[1] == "major=7,minor=0.5,critical=7,neutral=0"
    assert shown[2] == "major=5,minor=1,critical=5,neutral=0"  # mmad has a rule more
    with pytest.raises(ConfigError, match="weights: expected an object with at least major"):
        rate(SOURCES, TRANSLATIONS, lp="en-de", base_url=server.url, weights={"major": 5})


def test_ratings_arrive_one_by_one_in_order(server: LoopbackServer):
    seen: list[int] = []
    rate(SOURCES, TRANSLATIONS, lp="en-de", base_url=server.url, model="m",
         on_rating=lambda rating: seen.append(rating.segment.index))  # fmt: skip
    assert seen == [0, 1, 2]


def test_inside_a_running_loop_twice_and_async(server: LoopbackServer):
    options: dict[str, Any] = {"lp": "en-de", "base_url": server.url, "model": "m"}

    async def cell() -> list[MMADResult]:
        blocking = [rate(SOURCES, TRANSLATIONS, **options) for _ in range(2)]
        return [*blocking, await rate_async(SOURCES, TRANSLATIONS, **options)]

    assert {result.score for result in asyncio.run(cell())} == {-11 / 3}


def test_nothing_to_rate_is_no_score():
    result = rate([], [], lp="en-de", base_url="http://127.0.0.1:9/v1")
    assert (result.score, result.scores) == (None, [])


@pytest.mark.parametrize(
    ("sources", "translations", "named"),
    [
        (["a"], ["b", "c"], "1 sources but 2 translations"),
        ("ab", ["a", "b"], "sources: expected a list"),
        (["a"], [None], "translations[0]"),
        (["a", float("nan")], ["a", "b"], "sources[1]"),
        (["a"], [["b"]], "translations[0]"),
        (["a"], [3], "translations[0]"),
        ({"a": "b"}, ["a"], "sources"),
        ({"a"}, ["a"], "sources"),
        (None, ["a"], "sources"),
    ],
)
def test_bad_texts_are_refused_with_their_place_before_any_call(
    server: LoopbackServer, sources: Any, translations: Any, named: str
):
    before = server.call_count
    with pytest.raises(InputError) as caught:
        rate(sources, translations, lp="en-de", base_url=server.url)
    assert named in str(caught.value)
    assert server.call_count == before


def test_a_config_and_options_do_not_mix():
    with pytest.raises(ConfigError, match="not both"):
        rate(["a"], ["b"], config=MMADConfig.of("en-de"), rounds=2)


def test_references_are_said_to_be_unused(server: LoopbackServer):
    with pytest.warns(UserWarning, match="references"):
        rate(["a"], ["b"], lp="en-de", base_url=server.url, model="m", references=[["c"]])


def test_every_public_name_is_there():
    for name in mmad_metric.__all__:
        assert getattr(mmad_metric, name) is not None
    assert dir(mmad_metric) == sorted(mmad_metric.__all__)
    with pytest.raises(AttributeError):
        _ = mmad_metric.nonsense
