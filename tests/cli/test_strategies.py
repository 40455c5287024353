"""Strategies, topics and role models through the command line: bounds, run file, costs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from mmad_metric.files.run_file import read_run
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "run-file.schema.json").read_text("utf-8")
)
COURSES = [
    ("--strategy", "deliberation", "--rounds", "2"),
    ("--strategy", "interactive-review", "--topic", "free", "--rounds", "2"),
    ("--strategy", "consultancy-review", "--topic", "category"),
    ("--strategy", "deliberation", "--turns", "simultaneous", "--skip-stage", "1"),
    ("--strategy", "none", "--skip-stage", "1", "--skip-stage", "3"),
]


@pytest.mark.parametrize("course", COURSES, ids=" ".join)
def test_a_run_stays_within_its_forecast_and_its_file_within_the_schema(
    mmad: Mmad, server: LoopbackServer, files: Path, course: tuple[str, ...]
):
    base = ("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url,
            "--model", "m", *course)  # fmt: skip
    told = json.loads(mmad(*base, "--dry-run").out)
    assert server.call_count == 0
    ran = mmad(*base, "-o", "run.jsonl", "--show-spans")
    assert ran.status == 0, ran.err
    fewest, most = (told["cases"][name]["calls"] for name in ("fewest", "most"))
    assert fewest <= server.call_count <= most
    validator = jsonschema.Draft202012Validator(SCHEMA)
    lines = (files / "run.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        validator.validate(json.loads(line))
    run = read_run(files / "run.jsonl")
    spans = [error.to_dict() for rating in run.ratings() for error in rating.errors]
    segments = json.loads(ran.out)["segments"]
    assert [span for each in segments for span in each["spans"]] == spans
    assert all(0 < span["provenance"]["support"] <= span["provenance"]["asked"] for span in spans)
    calls = server.call_count
    again = mmad(*base, "-o", "again.jsonl", "-q")
    assert (again.status, server.call_count) == (0, calls)
    assert (files / "again.jsonl").read_bytes() == (files / "run.jsonl").read_bytes()


def test_usage_and_cost_are_told_by_role(mmad: Mmad, server: LoopbackServer, files: Path):
    with LoopbackServer(Annotator(KNOWN)) as other:
        ran = mmad(
            "-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url,
            "--model", "m", "--strategy", "deliberation", "-o", "run.jsonl",
            "--role-model", f"dimension-judge=wise@{other.url}",
            "--role-model", f"annotate.accuracy=keen@{other.url}",
        )  # fmt: skip
    usage = json.loads(ran.out)["usage"]
    by_role = usage["by_role"]
    assert {"annotate", "annotate.accuracy", "dimension-judge"} <= set(by_role)
    assert sum(each["calls"] for each in by_role.values()) == usage["calls"]
    assert usage["cost_usd"] is None  # nobody knows what these servers ask for
    roles = ("dimension-judge", "annotate.accuracy")
    assert other.call_count == sum(by_role[role]["calls"] for role in roles)
    for role, spent in by_role.items():
        plural = "" if spent["calls"] == 1 else "s"
        assert f"{role} {spent['calls']} call{plural}" in ran.err
    summary = read_run(files / "run.jsonl").summary
    assert summary is not None
    assert summary["systems"][0]["usage"] == usage


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--strategy", "none", "--rounds", "3"), "rounds"),
        (("--strategy", "none", "--topic", "free"), "topic"),
        (("--role-model", "interrogator=x"), "interrogator"),
        (("--role-model", "annotate.beauty=x"), "beauty"),
        (("--topic", "free", "--dispute", "any"), "dispute"),
    ],
    ids=" ".join,
)
def test_what_does_not_fit_is_refused_before_any_call(
    mmad: Mmad, server: LoopbackServer, options: tuple[str, ...], named: str
):
    ran = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url, *options)
    assert (ran.status, ran.out, server.call_count) == (1, "", 0)
    assert named in ran.err


@pytest.mark.parametrize("pack", ["mmad", "brief"])
@pytest.mark.parametrize(
    "options",
    [
        ("--stage", "interrogation"),
        ("--stage", "verdict"),
        ("--stage", "verdict", "--strategy", "interactive-review"),
        ("--strategy", "consultancy-review", "--topic", "category"),
        ("--strategy", "deliberation", "--topic", "free", "--skip-stage", "1"),
        ("--strategy", "none"),
    ],
    ids=" ".join,
)
def test_prompts_of_every_course_can_be_shown(mmad: Mmad, pack: str, options: tuple[str, ...]):
    ran = mmad("prompts", "show", "--prompts", pack, *options)
    assert ran.status == 0, ran.err
    assert "JSON" in ran.out


def test_a_stage_that_a_strategy_does_not_have_cannot_be_shown(mmad: Mmad):
    ran = mmad("prompts", "show", "--strategy", "none", "--stage", "debate")
    assert (ran.status, ran.out) == (1, "")
    assert "annotate, judge" in ran.err


@pytest.mark.parametrize(
    "strategy", ["consensus", "deliberation", "interactive-review", "consultancy-review"]
)
def test_a_con_that_yields_where_it_hears_the_other_side_agrees_with_it(
    mmad: Mmad, files: Path, strategy: str
):
    with LoopbackServer(Annotator(KNOWN, con_yields=True)) as server:
        ran = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url,
                   "--model", "m", "--strategy", strategy, "-o", "run.jsonl")  # fmt: skip
    assert ran.status == 0, ran.err
    (maus,) = [error for rating in read_run(files / "run.jsonl").ratings()
               for error in rating.errors if error.text == "Maus"]  # fmt: skip
    # Under consultancy-review no side hears the other.
    yielded = () if strategy == "consultancy-review" else ("con.accuracy",)
    assert maus.provenance is not None
    assert maus.provenance.yielded == yielded
