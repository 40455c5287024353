"""Scores come from weights alone, exactly as printed, whatever the order of the errors."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side
from mmad_metric.scoring import SCHEMES, count_errors, load_scheme, mean, scheme_table


def error(label: str, severity: str) -> MQMError:
    dimension, _, subcategory = label.partition("/")
    return MQMError(
        "x",
        Category(dimension, subcategory or None),
        Severity(severity),
        Side.TRANSLATION,
        None,
        None,
        Placement.UNPLACED,
    )


# METHOD.md's table of schemes, a row a kind of error: mmad, wmt, gemba.
WEIGHTS = [
    ("accuracy/mistranslation", "major", 5, 5, 5),
    ("accuracy/mistranslation", "minor", 1, 1, 1),
    ("fluency/punctuation", "minor", 1, 0.1, 1),
    ("fluency/punctuation", "major", 5, 5, 5),
    ("accuracy/mistranslation", "critical", 5, 5, 25),
    ("non-translation", "major", 5, 25, 25),
    ("style/awkward", "neutral", 0, 0, 0),
    ("source issue", "major", 5, 0, 5),
    ("accuracy/creative reinterpretation", "minor", 1, 0, 1),
]


@pytest.mark.parametrize(("label", "severity", "mmad", "wmt", "gemba"), WEIGHTS)
def test_each_scheme_weighs_as_its_table_says(label, severity, mmad, wmt, gemba):
    for name, points in (("mmad", mmad), ("wmt", wmt), ("gemba", gemba)):
        assert SCHEMES[name].segment_score([error(label, severity)]) == -points


def test_no_errors_score_zero_and_not_minus_zero():
    assert str(SCHEMES["mmad"].segment_score([])) == "0.0"


def test_three_minor_punctuation_errors_cost_three_tenths_exactly():
    assert SCHEMES["wmt"].segment_score([error("fluency/punctuation", "minor")] * 3) == -0.3


def test_the_cap_holds_whatever_the_order():
    errors = [error("accuracy/addition", "minor")] * 3 + [error("style/awkward", "critical")]
    assert {SCHEMES["gemba"].segment_score(each) for each in itertools.permutations(errors)} == {
        -25.0
    }


def test_mmad_has_no_cap():
    assert SCHEMES["mmad"].segment_score([error("accuracy/addition", "major")] * 20) == -100


def test_the_mean_of_nothing_is_none_and_decimals_do_not_drift():
    assert mean([]) is None
    assert mean([-0.1, -0.1, -0.1]) == -0.1
    assert mean([-5.0, 0.0]) == -2.5


def test_counts_tell_non_translation_from_majors():
    counts = count_errors(
        [error("non-translation", "major"), error("accuracy/omission", "critical"),
         error("style/awkward", "minor"), error("style/awkward", "neutral")]
    )  # fmt: skip
    assert counts == {"n_major": 1, "n_minor": 1, "n_non_translation": 1}


def test_an_own_table_is_read_and_a_scheme_survives_its_own_table(tmp_path: Path):
    for name, scheme in SCHEMES.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(scheme_table(scheme)))
        assert load_scheme(str(path)) == scheme


def test_a_table_may_be_given_as_text_and_is_told_by_its_points(tmp_path: Path):
    table = {
        "major": 10, "minor": 0.5, "cap": 30,
        "rules": [{"label": "fluency/punctuation", "severity": "minor", "weight": 0.10},
                  {"label": "style", "weight": 0}],
    }  # fmt: skip
    (tmp_path / "mine.json").write_text(json.dumps(table))
    schemes = [load_scheme(json.dumps(table)), load_scheme(str(tmp_path / "mine.json"))]
    points = (
        "major=10,minor=0.5,critical=10,neutral=0,fluency/punctuation[minor]=0.1,style=0,cap=30"
    )
    assert [scheme.identity for scheme in schemes] == [points] * 2
    assert schemes[0].segment_score([error("style/awkward", "major")]) == 0.0


def test_what_weighs_as_a_shipped_scheme_bears_its_name_and_nothing_else_does(tmp_path: Path):
    for name, scheme in SCHEMES.items():
        assert scheme.identity == load_scheme(json.dumps(scheme_table(scheme))).identity == name
    (tmp_path / "wmt.json").write_text('{"major": 5, "minor": 2}')
    assert (
        load_scheme(str(tmp_path / "wmt.json")).identity == "major=5,minor=2,critical=5,neutral=0"
    )


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ("[1]", "at least major and minor"),
        ('{"major": 5}', "at least major and minor"),
        ('{"major": 5, "minor": "1"}', "minor"),
        ('{"major": 5, "minor": true}', "minor"),
        ('{"major": 5, "minor": NaN}', "minor"),
        ('{"major": 5, "minor": -1}', "minor is a number from 0"),
        ('{"major": 1e308, "minor": 1}', "major is a number from 0"),
        ('{"major": 5, "minor": 1, "rules": [{"label": "fluency/bogus", "weight": 1}]}',
         "rules[0].label"),
        ('{"major": 5, "minor": 1, "critical": 2}', "critical weighs less"),
        ('{"major": 5, "minor": 1, "cap": 0}', "cap"),
        ('{"major": 5, "minor": 1, "maximum": 3}', "'maximum'"),
        ('{"major": 5, "minor": 1, "rules": [{"label": "style"}]}', "rules[0]"),
        ('{"major": 5, "minor": 1, "rules": [{"label": "style", "weight": 1, "severity": "bad"}]}',
         "rules[0].severity"),
        ("{", "not a JSON"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_naming_file_and_key(tmp_path: Path, table: str, named: str):
    path = tmp_path / "own.json"
    path.write_text(table)
    with pytest.raises(ConfigError) as caught:
        load_scheme(str(path))
    assert named in str(caught.value)
    assert "own" in str(caught.value)
    if table.startswith("{"):
        with pytest.raises(ConfigError) as caught:
            load_scheme(table)
        assert str(caught.value).startswith("weights")
        assert named in str(caught.value)


def test_an_unknown_scheme_names_the_known_ones():
    with pytest.raises(ConfigError, match="mmad, wmt, gemba"):
        load_scheme("mqm")
