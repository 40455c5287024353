"""The table as text, LaTeX and JSON."""

from __future__ import annotations

import json

import numpy as np

from mmad_metric.metaeval.coverage import Coverage
from mmad_metric.metaeval.measures import find_measures
from mmad_metric.metaeval.meta_score import LanguagePairScores, evaluate
from mmad_metric.metaeval.resampling import Interval
from mmad_metric.metaeval.tables import Table, json_values, latex_table, text_table
from tests.metaeval.tiny import gold_of, metric_of

MEASURES = find_measures(("sys_accuracy", "sys_pearson"))


def table(**more):
    pairs = [
        LanguagePairScores(
            gold_of([[0], [-1]], lp), {"M": metric_of([[0], [-1]]), **other}
        )
        for lp, other in (("en-de", {"half": metric_of([[1], [1]])}), ("zh-en", {}))
    ]  # fmt: skip
    coverage = tuple(Coverage.of(pair.gold, 3) for pair in pairs)
    return Table(coverage, MEASURES, evaluate(pairs, MEASURES), **more)


def test_blocks_stand_in_the_order_asked_for_the_whole_first():
    first, second, empty, head, names, *rows = text_table(table()).splitlines()
    assert first == "en-de: 2 systems, 1 of 3 segments with gold"
    assert (second[:5], empty) == ("zh-en", "")
    assert head.split() == ["all", "en-de", "zh-en"]
    assert names.split("  ")[0] == "rank"
    assert names.count("meta") == 3
    assert rows[0].split() == ["1", "M", *["1.000"] * 9]


def test_what_is_not_defined_is_a_dash_and_null():
    found = table()
    assert text_table(found).splitlines()[6].split() == [
        "-", "half", "-", "-", "-", "-", "0.000", "-", "-", "-", "-"
    ]  # fmt: skip
    values = json.loads(json.dumps(json_values(found), allow_nan=False))
    half = values["metrics"][1]
    assert (half["meta"], half["rank"]) == (None, None)
    assert values["by_lp"]["zh-en"] == {
        "n_systems": 2, "n_rated": 1, "n_segments": 3, "n_cells": 2, "left_out": []
    }  # fmt: skip
    assert half["by_lp"]["en-de"]["tasks"] == {"sys_accuracy": 0.0, "sys_pearson": None}
    assert "zh-en" not in half["by_lp"]


def test_intervals_and_ranks_are_shown_where_they_are_known():
    found = table(
        intervals={"M": {"all": {"meta": Interval(0.5, 0.75)}, "en-de": {}}},
        ranks={"M": 1, "half": 1},
        width=2,
    )
    assert "1.00 [0.50, 0.75]" in text_table(found)
    assert "1.00 [0.50, 0.75]" in latex_table(found)
    values = json_values(found)["metrics"]
    assert values[0]["confidence"] == {"meta": [0.5, 0.75]}
    # Without a meta score there is no rank, whatever tests that found nothing may say.
    assert [each["rank"] for each in values] == [1, None]


def test_minus_zero_is_zero_and_the_width_is_kept():
    pair = LanguagePairScores(gold_of([[0], [-1]]), {"M": metric_of([[-1], [0]])})
    coverage = (Coverage.of(pair.gold, 1),)
    found = Table(coverage, MEASURES, evaluate([pair], MEASURES), width=1)
    assert text_table(found).splitlines()[4].split() == ["1", "M", "0.0", "0.0", "-1.0"]
    assert not np.signbit(json_values(found)["metrics"][0]["meta"])


def test_an_interval_that_is_not_defined_is_shown_where_its_value_is():
    nowhere = Interval(float("nan"), float("nan"))
    known = {"M": {"all": {"meta": nowhere}}, "half": {"all": {"meta": nowhere}}}
    rows = text_table(table(intervals=known)).splitlines()[5:]
    assert "1.000 [-, -]" in rows[0]
    assert "[" not in rows[1]
    values = json.loads(json.dumps(json_values(table(intervals=known)), allow_nan=False))
    assert values["metrics"][0]["confidence"] == {"meta": [None, None]}
