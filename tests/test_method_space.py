"""Which settings of the method go together, who plays in them, and what each role costs."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, product
from typing import Any

import pytest

from mmad_metric.call_counts import call_bounds, debate_calls
from mmad_metric.calls.connect import role_costs
from mmad_metric.chat import Usage
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError
from mmad_metric.forecast import forecast
from mmad_metric.method_space import METHODS, STRATEGIES, TOPICS, TURNS
from mmad_metric.rating import Segment
from mmad_metric.results import usage_dict
from mmad_metric.session import Plan, open_session
from tests.annotator import Annotator, by_words
from tests.loopback import LoopbackServer

DEBATING = [name for name in STRATEGIES if name != "none"]


def config(**options: Any) -> MMADConfig:
    return MMADConfig.of("en-de", **options)


def refusal(**options: Any) -> str:
    """Why the settings are refused; empty where they are not."""
    try:
        made = config(**options)
    except ConfigError as error:
        return str(error)
    assert made.debates() == (made.strategy != "none" and 2 not in made.skip_stages)
    assert made.roles()
    return ""


def test_every_combination_is_valid_or_refused_with_the_setting_that_does_not_fit():
    stages = [[], [1], [2], [3], [1, 2, 3]]
    names = ("strategy", "topic", "rounds", "turns", "skip_stages")
    everything = list(product(STRATEGIES, TOPICS, (None, 1, 3, 10), TURNS, stages))
    refused = 0
    for values in everything:
        options = dict(zip(names, values, strict=True))
        name, _, reason = refusal(**options).partition(": ")
        if name:
            refused += 1
            assert options[name] is not None, options
            assert reason, options
    assert 0 < refused < len(everything)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"strategy": "none", "rounds": 3}, "rounds: strategy none"),  # the default, but given
        ({"strategy": "none", "rounds": 1}, "rounds: strategy none"),
        ({"strategy": "none", "topic": "free"}, "topic"),
        ({"strategy": "none", "turns": "simultaneous"}, "turns"),
        ({"strategy": "none", "full_debate": True}, "full_debate"),
        ({"strategy": "none", "dispute": "any"}, "dispute"),
        ({"skip_stages": [2], "strategy": "deliberation"}, "strategy"),
        ({"skip_stages": [2], "rounds": 2}, "rounds"),
        ({"topic": "category", "dispute": "any"}, "dispute"),
        ({"strategy": "consultancy-review", "turns": "simultaneous"}, "turns"),
        ({"strategy": "deliberation", "full_debate": True}, "full_debate"),
        ({"strategy": "debate"}, "consultancy-review"),
        ({"topic": "spans"}, "severity, category, free"),
        ({"strategy": "deliberation", "rounds": 11}, "rounds"),
        ({"role_models": ["interrogator=x"]}, "nobody plays 'interrogator'"),
        ({"role_models": ["consensus=x"], "strategy": "deliberation"}, "dimension-judge"),
        ({"role_models": ["judge=x"], "skip_stages": [3]}, "nobody plays 'judge'"),
        ({"role_models": ["pro=x"], "strategy": "none"}, "nobody plays 'pro'"),
        ({"role_models": ["annotate.=x"]}, "unknown role"),
        ({"role_models": ["annotate.style=x"], "skip_stages": [1]}, "one agent"),
        ({"role_models": {"referee": "x"}}, "annotate.DIMENSION"),
        ({"method": "gemba"}, "mmad, gemba-mqm, eaprompt, gemba-da"),
        ({"method": ["gemba-mqm"]}, "is not one of"),
        ({"method": "gemba-mqm", "rounds": 3}, "rounds: method gemba-mqm"),  # as by default
        ({"method": "eaprompt", "strategy": "none"}, "strategy: method eaprompt"),
        ({"method": "eaprompt", "full_debate": True}, "full_debate"),
        ({"method": "eaprompt", "skip_stages": [3]}, "skip_stages"),
        ({"method": "gemba-da", "weights": "wmt"}, "nothing to weigh"),
        ({"method": "gemba-da", "role_models": ["annotate=x"]}, "the roles are score"),
        ({"method": "gemba-mqm", "role_models": ["annotate.style=x"]}, "one agent"),
    ],
    ids=str,
)  # fmt: skip
def test_what_does_not_go_together_is_refused_by_name(options: dict[str, Any], named: str):
    with pytest.raises(ConfigError) as caught:
        config(**options)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("options", "roles"),
    [
        ({}, "annotate pro con consensus judge"),
        ({"strategy": "deliberation"}, "annotate pro con dimension-judge judge"),
        ({"strategy": "interactive-review"}, "annotate pro con interrogator judge"),
        ({"strategy": "consultancy-review"}, "annotate pro con interrogator judge"),
        ({"strategy": "none"}, "annotate judge"),
        ({"skip_stages": [2, 3]}, "annotate"),
        ({"role_models": ["annotate.style=x"]}, "annotate annotate.style pro con consensus judge"),
        ({"method": "gemba-mqm"}, "annotate"),
        ({"method": "eaprompt"}, "annotate count"),
        ({"method": "gemba-da"}, "score"),
    ],
    ids=str,
)  # fmt: skip
def test_who_plays(options: dict[str, Any], roles: str):
    assert " ".join(config(**options).roles()) == roles


def test_a_dimension_that_the_pack_does_not_have_gets_no_annotator_of_its_own():
    with pytest.raises(ConfigError, match=r"annotate\.locale.*accuracy, fluency"):
        Plan.of(config(role_models=["annotate.locale=x"]))


def test_a_role_is_known_by_its_name_in_python_too():
    made = config(strategy="deliberation", role_models={"dimension_judge": "x"})
    assert made.model_for("dimension-judge") == ("x", None)


# -- the default course stays as it is


def test_the_signature_of_default_settings_names_the_default_course_alone():
    fields = Plan.of(config()).signature_fields()
    assert [fields[key] for key in ("strategy", "topic", "rounds", "turns")] == [
        "consensus", "severity", "3", "sequential",
    ]  # fmt: skip
    assert "skip" not in fields


# -- forecasts


@pytest.mark.parametrize("stages", [(), (1,), (3,)], ids=str)
@pytest.mark.parametrize(
    ("strategy", "topic"), [("none", "severity"), *product(DEBATING, TOPICS)], ids=str
)
def test_a_forecasts_most_calls_are_the_bound_times_the_segments(
    strategy: str, topic: str, stages: tuple[int, ...]
):
    made = config(strategy=strategy, topic=topic, skip_stages=list(stages))
    segments = [Segment("One.", "Eins."), Segment("Two.", "Zwei."), Segment("Two.", "Zwei.")]
    cases = {case.name: case for case in forecast(Plan.of(made), segments).cases}
    low, high = call_bounds(made, 4)
    assert cases["fewest"].total.calls == 2 * low
    assert cases["most"].total.calls == 2 * high
    if strategy not in ("none", "consensus"):
        judge = 0 if 3 in stages else 1
        assert cases["typical"].total.calls == 2 * (low + debate_calls(made)[1] + judge)
    assert set(cases["most"].usage) == set(made.roles())
    totals = [case.total for case in cases.values()]
    for fewer, more in pairwise(totals):
        assert fewer.prompt_tokens <= more.prompt_tokens
        assert fewer.completion_tokens < more.completion_tokens


@pytest.mark.parametrize(("method", "calls"), [("gemba-mqm", 1), ("eaprompt", 2), ("gemba-da", 1)])
def test_a_baseline_takes_the_same_calls_whatever_is_found(method: str, calls: int):
    made = config(method=method)
    segments = [Segment("One.", "Eins."), Segment("Two.", "Zwei."), Segment("Three.", "")]
    fewest, most = forecast(Plan.of(made), segments).cases
    assert call_bounds(made, 4) == (calls, calls)
    assert fewest.total.calls == most.total.calls == 2 * calls
    assert set(most.usage) == set(made.roles())
    assert fewest.total.prompt_tokens <= most.total.prompt_tokens
    assert fewest.total.completion_tokens < most.total.completion_tokens
    assert most.total.completion_tokens == 2 * calls * made.max_tokens


def test_a_method_brings_its_own_prompts_and_weights_and_keeps_given_ones():
    made = [config(method=method) for method in METHODS]
    own = {each.method: (each.prompts, each.weights) for each in made}
    assert own == {
        "mmad": ("mmad", "mmad"),
        "gemba-mqm": ("gemba-mqm", "gemba"),
        "eaprompt": ("eaprompt", "mmad"),
        "gemba-da": ("gemba-da", "none"),
    }
    given = config(method="gemba-mqm", prompts="mine", weights="wmt")
    assert (given.prompts, given.weights) == ("mine", "wmt")
    assert MMADConfig(lp=given.lp, method="eaprompt") == config(method="eaprompt")
    for method in METHODS:
        assert replace(config(method=method), model="other").method == method


def test_a_baselines_settings_do_not_speak_of_stages_that_it_lacks():
    told = config(method="gemba-da").to_dict()
    assert told["method"] == "gemba-da"
    assert not {"strategy", "topic", "rounds", "turns", "dispute", "full_debate", "skip_stages",
                "weights"} & set(told)  # fmt: skip
    assert set(config().to_dict()) - set(told) == {
        "strategy", "topic", "rounds", "turns", "dispute", "full_debate", "skip_stages", "weights"
    }  # fmt: skip


# -- models and costs by role


ERRORS = by_words({"Maus": ("accuracy/mistranslation", "major")})


def rate(made: MMADConfig) -> tuple[dict[str, int], dict[str, Usage]]:
    """Calls of the rating by role, and what the run paid by role."""

    async def run() -> tuple[dict[str, int], dict[str, Usage]]:
        async with open_session(Plan.of(made)) as session:
            async for rating in session.rate([Segment("The house.", "Die Maus.")], 1):
                calls = {role: usage.calls for role, usage in rating.usage.items()}
                return calls, session.connection.paid
        raise AssertionError("no rating")

    return asyncio.run(run())


def test_each_role_can_have_a_model_and_a_server_of_its_own():
    with LoopbackServer(Annotator(ERRORS)) as one, LoopbackServer(Annotator(ERRORS)) as other:
        made = config(
            base_url=one.url, model="small", strategy="interactive-review", rounds=1,
            role_models=[f"interrogator=big@{other.url}", "annotate.style=stylist", "con=sceptic",
                         f"judge=big@{other.url}"],
        )  # fmt: skip
        calls, paid = rate(made)
    expected = {"annotate": 3, "annotate.style": 1, "pro": 2, "con": 2, "interrogator": 2,
                "judge": 1}  # fmt: skip
    assert calls == expected
    assert {role: usage.calls for role, usage in paid.items()} == expected
    served = [call.body["model"] for call in one.calls]
    assert sorted(served) == sorted(["small"] * 5 + ["stylist"] + ["sceptic"] * 2)
    assert [call.body["model"] for call in other.calls] == ["big"] * 3


def test_a_default_model_that_nobody_plays_needs_no_server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    dimensions = ("accuracy", "fluency", "terminology", "style")
    with LoopbackServer(Annotator(ERRORS)) as server:
        roles = [*(f"annotate.{name}" for name in dimensions), "judge"]
        made = config(strategy="none", role_models=[f"{role}=m@{server.url}" for role in roles])
        calls, _ = rate(made)
    assert calls == dict.fromkeys(sorted(roles), 1)


def test_usage_is_priced_by_role_and_in_all():
    made = config(model="gpt-4o-mini", role_models=["judge=gpt-4o"])
    usage = {"annotate": Usage(4, 1_000_000, 0, 100_000), "judge": Usage(1, 100_000, 0, 10_000)}
    told = usage_dict(usage, role_costs(made))
    # OpenAI's list: gpt-4o-mini $0.15 and $0.60, gpt-4o $2.50 and $10 a million tokens.
    assert told["by_role"]["annotate"]["cost_usd"] == pytest.approx(0.15 + 0.06)
    assert told["by_role"]["judge"]["cost_usd"] == pytest.approx(0.25 + 0.1)
    assert told["cost_usd"] == pytest.approx(0.56)
    assert json.loads(json.dumps(told)) == told


def test_where_one_price_is_not_known_the_sum_is_not_either():
    made = config(role_models=["judge=mine@http://127.0.0.1:9/v1"])
    usage = {"annotate": Usage(1, 1_000_000, 0, 0), "judge": Usage(1, 10, 0, 1)}
    told = usage_dict(usage, role_costs(made))
    assert told["by_role"]["annotate"]["cost_usd"] == pytest.approx(0.15)
    assert told["by_role"]["judge"]["cost_usd"] is None
    assert told["cost_usd"] is None


def test_the_embedded_model_costs_nothing():
    assert role_costs(config(model="local"))("annotate", Usage(1, 10, 0, 1)) == Decimal(0)


def test_without_a_price_list_usage_is_told_as_ever():
    assert "cost_usd" not in usage_dict({"judge": Usage(1, 10, 0, 1)})
