"""Options of `mmad meta-eval`: what would change nothing is refused, whatever it stands beside."""

from __future__ import annotations

import argparse

import pytest

from mmad_metric.cli.meta_eval_options import _DEFAULTS, _parser, parse_options
from mmad_metric.cli.meta_eval_rules import flag
from mmad_metric.errors import ConfigError

BASE = ("--data", "data", "--lp", "en-de")
QUESTIONS = {
    "table": (),
    "select": ("--select", "a", "b"),
    "raters": ("--raters",),
    "raters beside metrics": ("--raters", "--metrics", "a"),
}
# Each option, with what it may need beside it, and the questions for which it has an effect.
WITH = {
    "scores": (("--scores", "d"), {"table", "select", "raters beside metrics"}),
    "runs": (("--runs", "r"), {"table", "select", "raters beside metrics"}),
    "metrics": (("--metrics", "a"), {"table", "raters", "raters beside metrics"}),
    "gold": (("--gold", "mqm"), set(QUESTIONS)),
    "reference": (("--reference", "refB"), {"table", "select"}),
    "exclude": (("--exclude", "s"), {"table", "select"}),
    "meta_set": (("--meta-set", "wmt23"), {"table", "select"}),
    "measures": (("--measures", "sys_spa"), {"table", "select"}),
    "confidence": (("--confidence",), {"table"}),
    "unit": (("--unit", "items", "--confidence"), {"table"}),
    "significance": (("--significance",), {"table"}),
    "ranks": (("--ranks",), {"table"}),
    "spans": (("--spans", "--runs", "r"), {"table"}),
    "plots": (("--plots", "d"), {"table"}),
    "plot_format": (("--plot-format", "png", "--plots", "d"), {"table"}),
    "folds": (("--folds", "2"), {"select"}),
    "split": (("--split", "items"), {"select"}),
    "seeds": (("--seeds", "20"), {"select"}),
    "samples": (("--samples", "1000"), {"raters", "raters beside metrics"}),
    "seed": (("--seed", "12345"), {"select", "raters", "raters beside metrics"}),
    "format": (("--format", "text"), set(QUESTIONS)),
    "width": (("--width", "3"), set(QUESTIONS)),
}


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> str | None:
    """None, or the last line of what the parser says before it exits with 2."""
    status = 0
    try:
        parse_options(arguments)
    except SystemExit as exited:
        status = int(exited.code or 0)
    assert status in (0, 2)
    return capsys.readouterr().err.splitlines()[-1] if status else None


def test_every_option_is_in_the_table():
    known = {action.dest for action in _parser()._actions} - {"help", "data", "lp"}
    assert known == WITH.keys() | {"raters", "select"} == _DEFAULTS.keys()


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", WITH)
def test_an_option_is_taken_where_it_has_an_effect_and_refused_elsewhere(
    capsys: pytest.CaptureFixture[str], name: str, question: str
):
    given, useful = WITH[name]
    said = outcome(capsys, *BASE, *QUESTIONS[question], *given)
    assert (said is None) == (question in useful)
    if said:  # one line that names an option of those given, though its value is the default
        named = [flag(name), *(each for each in given if each.startswith("--"))]
        assert any(each in said for each in named)
        assert said.startswith("mmad meta-eval: error: --")


ALONE = {
    "unit": "--unit without --confidence: it says what the intervals' samples draw",
    "samples": "--samples without --confidence, --significance, --ranks or --raters",
    "seed": "--seed without --confidence, --significance, --ranks, --raters or --select",
    "folds": "--folds without --select",
    "split": "--split without --select",
    "seeds": "--seeds without --select",
    "plot_format": "--plot-format without --plots",
    "spans": "--spans without --runs: it needs run files: score files have no spans",
}


@pytest.mark.parametrize("name", ALONE)
def test_what_serves_another_option_is_refused_without_it(
    capsys: pytest.CaptureFixture[str], name: str
):
    given = WITH[name][0]
    alone = given[:1] if given[1:2] == () or given[1].startswith("--") else given[:2]
    said = outcome(capsys, *BASE, *alone)
    assert said is not None
    assert ALONE[name] in said


@pytest.mark.parametrize("user", ["confidence", "significance", "ranks"])
def test_what_is_drawn_at_random_has_a_number_and_a_seed(
    capsys: pytest.CaptureFixture[str], user: str
):
    assert outcome(capsys, *BASE, flag(user), "--samples", "99", "--seed", "1") is None


TOGETHER = {
    "two questions": (("--select", "a", "b", "--raters"), "--raters with --select"),
    "set and measures": (
        ("--meta-set", "wmt24", "--measures", "sys_spa"),
        "--meta-set with --measures",
    ),
    "test of one": (("--metrics", "a", "--significance"), "--metrics names one alone"),
    "ranks of one": (("--metrics", "a,a", "--ranks"), "--metrics names one alone"),
    "runs of raters": (("--raters", "--runs", "r"), "name the metrics to hold beside the raters"),
    "LaTeX of raters": (("--raters", "-f", "latex"), "-f latex with --raters"),
    "LaTeX of a selection": (("--select", "a", "b", "-f", "latex"), "-f latex with --select"),
    "LaTeX of spans": (("--runs", "r", "--spans", "-f", "latex"), "-f latex with --spans"),
    "no pair": (("--lp", ","), "argument -l/--lp: ',' names nothing"),
    "no measure": (("--measures", ","), "',' names nothing"),
    "no metric": (("--metrics", ""), "'' names nothing"),
    "no system": (("--exclude", " , "), "names nothing"),
}


@pytest.mark.parametrize("kind", TOGETHER)
def test_what_does_not_go_together_is_misuse(capsys: pytest.CaptureFixture[str], kind: str):
    given, words = TOGETHER[kind]
    said = outcome(capsys, *BASE, *given)
    assert said is not None
    assert words in said


def test_an_option_given_twice_adds_to_what_was_given():
    options = parse_options(
        [*BASE, "--lp", "zh-en, he-en", "--runs", "a", "b", "--runs", "c", "--metrics", "x,y",
         "--metrics", "z"]
    )  # fmt: skip
    assert options.lp == ["en-de", "zh-en", "he-en"]
    assert options.runs == ["a", "b", "c"]
    assert options.metrics == ["x", "y", "z"]


def test_what_is_not_given_has_its_default_and_calls_share_none():
    first = parse_options(BASE)
    assert first == argparse.Namespace(data="data", lp=["en-de"], **_DEFAULTS)
    parse_options([*BASE, "--runs", "r"])
    assert parse_options(BASE).runs == []


NUMBERS = {
    "folds": (("--select", "a", "b", "--folds", "1"), "--folds: at least 2, not 1"),
    "seeds": (("--select", "a", "b", "--seeds", "0"), "--seeds: at least 1"),
    "seed": (("--confidence", "--seed", "-1"), "--seed: at least 0"),
    "width": (("--width", "-1"), "--width: at least 0"),
    "intervals": (("--confidence", "--samples", "2"), "--samples: at least 40 with --confidence"),
    "raters": (("--raters", "--samples", "1"), "--samples: at least 40 with --raters"),
    "tests": (("--significance", "--samples", "18"), "--samples: at least 19 with --significance"),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_number_that_makes_no_sense_is_told_with_its_bound(kind: str):
    given, words = NUMBERS[kind]
    with pytest.raises(ConfigError, match=words):
        parse_options([*BASE, *given])
