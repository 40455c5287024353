"""What stands above the segments: notes, settings, nothing secret."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.filtering import ErrorFilter
from mmad_metric.rating import Segment
from mmad_metric.report.overview import (
    condition,
    dimensions,
    notes,
    public,
    settings,
    severities,
    system_lines,
)
from mmad_metric.report.runs import open_runs
from mmad_metric.report.survey import Choice, Survey, select, survey
from tests.report.samples import USAGE, error, rated, unscored, write_run

A = Segment("s", "abc", "A")


def found(*paths: str) -> Survey:
    return survey(open_runs(paths), Choice())


def noted(*paths: str, choice: Choice = Choice()) -> str:  # noqa: B008 - frozen
    here = survey(open_runs(paths), choice)
    return "\n".join(notes(here, select(here, choice), choice))


@pytest.mark.parametrize(
    "config",
    [{"model": "local"}, {"role_models": {"judge": "local"}}],
    ids=["the model", "a role's"],
)
def test_the_toy_model_is_never_shown_without_its_warning(tmp_path: Path, config: dict[str, Any]):
    assert "toy of 135 million" in noted(write_run(tmp_path / "r.jsonl", [rated(A)], config=config))


def test_a_run_with_nothing_odd_needs_no_notes(tmp_path: Path):
    config = {"model": "local:mine.gguf"}
    assert noted(write_run(tmp_path / "r.jsonl", [rated(A)], config=config)) == ""


def test_ratings_without_a_score_are_told(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", [rated(A), unscored(Segment("z", "t", "A", 1))])
    assert "1 of 2 ratings have no score" in noted(path)


def test_what_the_page_leaves_out_is_told(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", [rated(A), rated(Segment("z", "t", "A", 1))])
    assert "1 of 2 rated segments are on this page: those with the lowest scores" in noted(
        path, choice=Choice(worst=1)
    )
    choice = Choice(errors=ErrorFilter(0.5, True, ("judge", "pro")))
    assert (
        "support of at least 0.5 and a dispute about them and an origin at judge or pro"
        in noted(path, choice=choice)
    )
    assert condition(ErrorFilter(disputed=False)) == "no dispute about them"


def test_runs_that_differ_in_settings_or_sources_are_told(tmp_path: Path):
    one = write_run(tmp_path / "a.jsonl", [rated(A)])
    two = write_run(tmp_path / "b.jsonl", [rated(Segment("other", "t", "B"))], config={"rounds": 2})
    told = noted(one, two)
    assert "differ in their settings (rounds)" in told
    assert "do not have the same sources" in told


def test_lines_have_usage_and_the_cost_that_the_run_knew(tmp_path: Path):
    path = tmp_path / "r.jsonl"
    write_run(path, [rated(A, error("b", 1, "critical"), usage=USAGE)])
    (line,) = system_lines(found(str(path)))
    assert (line.usage.calls, line.usage.prompt_tokens, line.cost) == (5, 1300, None)
    assert [role for role, _, _ in line.roles] == ["annotate", "judge"]
    lines = path.read_text("utf-8").splitlines()
    summary = json.loads(lines[-1])
    summary["systems"][0]["usage"] |= {"cost_usd": 0.25}
    summary["systems"][0]["usage"]["by_role"]["judge"]["cost_usd"] = 0.05
    path.write_text("\n".join([*lines[:-1], json.dumps(summary)]) + "\n", "utf-8")
    (line,) = system_lines(found(str(path)))
    assert line.cost == 0.25
    assert [cost for _, _, cost in line.roles] == [None, 0.05]


def test_severities_and_dimensions_are_those_that_occur_and_the_two_usual_ones(tmp_path: Path):
    here = found(write_run(tmp_path / "r.jsonl", [rated(A)]))
    assert (dimensions(here), severities(here)) == ([], ["major", "minor"])
    odd = error("b", 1, "critical", category="locale/date")
    here = found(write_run(tmp_path / "q.jsonl", [rated(A, odd)]))
    assert (dimensions(here), severities(here)) == (["locale"], ["critical", "major", "minor"])


SECRET = "s3cret-4711-abcd"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"base_url": f"https://u:{SECRET}@host/v1?key={SECRET}"},
            {"base_url": "https://host/v1"}, id="an address",
        ),
        pytest.param(
            {"role_models": {"judge": f"m@https://u:{SECRET}@host/v1"}},
            {"role_models": {"judge": "m@https://host/v1"}}, id="a role's address",
        ),
        pytest.param({"api_key": SECRET}, {"api_key": "…"}, id="by its name"),
        pytest.param({"x": f"sk-{SECRET}"}, {"x": "…"}, id="by its look"),
        pytest.param(
            {"extra_body": json.dumps({"auth": {"token": SECRET}, "top_k": 1})},
            {"extra_body": {"auth": {"token": "…"}, "top_k": 1}}, id="in an extra body",
        ),
        pytest.param({"extra_body": "no JSON"}, {"extra_body": "no JSON"}, id="a broken body"),
        pytest.param({"list": [f"Bearer {SECRET}"]}, {"list": ["…"]}, id="in a list"),
        pytest.param({"max_tokens": 5}, {"max_tokens": 5}, id="what only sounds like one"),
    ],
)  # fmt: skip
def test_nothing_secret_is_shown(value: dict[str, Any], expected: dict[str, Any]):
    assert public(value) == expected


def test_settings_are_those_that_are_set_with_the_versions(tmp_path: Path):
    config: dict[str, Any] = {
        "rounds": 3,
        "sample": None,
        "skip_stages": [],
        "base_url": "https://u:p@host/v1",
    }
    (run,) = open_runs([write_run(tmp_path / "r.jsonl", [rated(A)], config=config)])
    named = dict(settings(run))
    assert named["rounds"] == "3"
    assert named["base_url"] == "https://host/v1"
    assert {"sample", "skip_stages"} & set(named) == set()
    assert re.match(r"\d", named["version of mmad-metric"])
