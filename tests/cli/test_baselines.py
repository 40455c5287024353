"""The baselines through the command line over real HTTP: calls, run files, comparison, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mmad_metric.baselines.scores import counts_score, heaviest_score
from mmad_metric.call_counts import call_bounds
from mmad_metric.config import MMADConfig
from mmad_metric.errors import InputError
from mmad_metric.files.run_file import read_run
from mmad_metric.method_space import METHODS
from mmad_metric.scoring import scheme_from_table
from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, picky

BASELINES = METHODS[1:]
CALLS = {"gemba-mqm": 1, "eaprompt": 2, "gemba-da": 1}
# By hand: -5 -1, 0, -1 from the known errors; 100 minus as much for a direct score.
SCORES = {"gemba-mqm": [-6, 0, -1], "eaprompt": [-6, 0, -1], "gemba-da": [94, 100, 99]}
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "run-file.schema.json").read_text("utf-8")
)


def base(server: LoopbackServer, method: str, *more: str) -> list[str]:
    return ["-s", "src.txt", "-l", "en-de", "--base-url", server.url, "--model", "m",
            "--method", method, *more]  # fmt: skip


@pytest.mark.parametrize("method", BASELINES)
def test_a_run_takes_its_calls_and_its_file_is_read_back_whole(
    mmad: Mmad, server: LoopbackServer, files: Path, method: str
):
    told = json.loads(mmad(*base(server, method, "-i", "bad.txt", "--dry-run")).out)
    assert server.call_count == 0
    ran = mmad(*base(server, method, "-i", "bad.txt", "-o", "run.jsonl"))
    assert ran.status == 0, ran.err
    assert server.call_count == 3 * CALLS[method]
    assert {case["calls"] for case in told["cases"].values()} == {server.call_count}
    assert told["calls_per_segment"] == [CALLS[method]] * 2
    made = MMADConfig.of("en-de", method=method)
    assert call_bounds(made, 4) == (CALLS[method],) * 2
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for line in (files / "run.jsonl").read_text(encoding="utf-8").splitlines():
        validator.validate(json.loads(line))
    run = read_run(files / "run.jsonl")
    ratings = list(run.ratings())
    assert [each.score for each in ratings] == SCORES[method]
    assert set(ratings[0].usage) == set(made.roles())
    for each in ratings:
        for error in each.errors:
            assert each.segment.translation[error.start : error.end] == error.text
    again = mmad(*base(server, method, "-i", "bad.txt", "-o", "again.jsonl", "-q"))
    assert (again.status, server.call_count) == (0, 3 * CALLS[method])
    assert (files / "again.jsonl").read_bytes() == (files / "run.jsonl").read_bytes()


@pytest.mark.parametrize("method", BASELINES)
def test_the_signature_names_the_method_and_reads_back(
    mmad: Mmad, server: LoopbackServer, method: str
):
    ran = mmad(*base(server, method, "-i", "bad.txt"))
    result = json.loads(ran.out)
    fields = parse_signature(result["signature"])
    assert fields["method"] == result["method"] == method
    assert fields["prompts"].startswith(f"{method}.1@")
    assert not {"strategy", "topic", "rounds", "turns", "skip"} & set(fields)
    assert fields["scale"] == ("mean0-100,higher-better" if method == "gemba-da" else
                               "mean<=0,higher-better")  # fmt: skip
    weights = {"gemba-mqm": "gemba", "eaprompt": "mmad", "gemba-da": None}
    assert fields.get("weights") == weights[method]
    short = mmad(*base(server, method, "-i", "bad.txt", "-f", "text", "-sh")).out
    assert parse_signature(short.partition(" = ")[0])["method"] == method


def test_the_method_of_the_paper_is_not_named(mmad: Mmad, server: LoopbackServer):
    result = json.loads(mmad(*base(server, "mmad", "-i", "bad.txt")).out)
    assert "method" not in result


@pytest.mark.parametrize("method", ["gemba-mqm", "eaprompt"])
def test_a_stored_run_can_be_scored_again_without_a_call(
    mmad: Mmad, server: LoopbackServer, files: Path, method: str
):
    (files / "bad.txt").write_text("Das rote Maus.\n\nEs ist recht sehr kalt.\n", encoding="utf-8")
    mmad(*base(server, method, "-i", "bad.txt", "-o", "run.jsonl"))
    run = read_run(files / "run.jsonl")
    scheme = scheme_from_table("stored", run.header["config"]["weight_table"])
    for each in run.ratings():
        by_errors, by_counts = heaviest_score(each.errors, scheme), None
        if each.counts is not None:
            by_counts = counts_score(each.counts, scheme)
        # The empty translation took no call, so that nobody counted.
        assert each.score == (by_errors if by_counts is None else by_counts)
        assert (by_counts is None) == (method == "gemba-mqm" or not each.segment.translation)


def test_the_counts_of_eaprompt_and_flags_survive_the_file(mmad: Mmad, files: Path):
    def miscounts(call: ReceivedCall) -> Answer:
        return "2, 0" if call.schema == "error_counts" else Annotator(KNOWN)(call)

    with LoopbackServer(miscounts) as server:
        mmad(*base(server, "eaprompt", "-i", "bad.txt", "-o", "run.jsonl"))
        told = mmad(*base(server, "eaprompt", "-i", "bad.txt", "--show-spans")).out
        text = mmad(*base(server, "eaprompt", "-i", "bad.txt", "--show-spans", "-f", "text")).out
    counts = {"major": 2, "minor": 0}
    assert [each["counts"] for each in json.loads(told)["segments"]] == [counts] * 3
    assert text.count("  counted: 2 major, 0 minor\n") == 3
    assert mmad("export", "run.jsonl", "-o", "out", "--to", "scores,spans").status == 0
    assert (files / "out" / "run_en-de.seg.score").read_text("utf-8") == "bad\t-10.0\n" * 3
    spans = (files / "out" / "run_en-de.spans.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["counts"] for line in spans] == [counts] * 3
    for each in read_run(files / "run.jsonl").ratings():
        assert (each.score, each.flags) == (-10, ("counts_differ",))
        assert each.counts is not None
        assert (each.counts.major, each.counts.minor) == (2, 0)


# -- scores from 0 to 100


def test_a_direct_run_says_its_scale_everywhere_and_nothing_of_errors(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    ran = mmad(*base(server, "gemba-da", "-i", "bad.txt", "-o", "run.jsonl", "--confidence"))
    result = json.loads(ran.out)
    assert result["score"] == 97.67
    assert result["verbose_score"] == "3/3 scored, direct scores from 0 to 100"
    assert 94 <= result["confidence_mean"] <= 100
    assert not {"n_major", "n_minor", "n_non_translation", "by_dimension", "weights"} & set(result)
    header, *rows, summary = map(json.loads, (files / "run.jsonl").read_text("utf-8").splitlines())
    scale = "mean0-100,higher-better"
    assert [each["scale"] for each in (header, *rows)] == [scale] * 4
    assert summary["systems"][0]["scale"] == scale
    assert not {"weights", "weight_table", "rounds", "strategy"} & set(header["config"])


def test_direct_scores_are_printed_in_every_layout(mmad: Mmad, server: LoopbackServer):
    two = base(server, "gemba-da", "-i", "good.txt", "bad.txt", "-q")
    assert "100.00 3/3" in mmad(*two, "-f", "text").out
    assert "97.67 3/3" in mmad(*two, "-f", "latex").out
    assert [row["MMAD"] for row in json.loads(mmad(*two).out)] == ["100.00", "97.67"]
    assert mmad(*two, "-b").out == "good\t100.00\nbad\t97.67\n"
    one = base(server, "gemba-da", "-i", "bad.txt", "-q")
    assert mmad(*one, "-sl").out == "MMAD = 94.00\nMMAD = 100.00\nMMAD = 99.00\n"
    assert "(p = " in mmad(*two, "-f", "text", "--paired-ar").out
    shown = json.loads(mmad(*one, "--show-spans").out)
    assert [each["spans"] for each in shown["segments"]] == [[], [], []]
    repeated = mmad(*one, "-f", "text", "--repeats", "2", "--temperature", "1").out
    assert "2 repeats (6/6 ratings scored, noise sd 0.00), direct scores" in repeated


def test_a_sample_of_a_direct_run_is_read_back(mmad: Mmad, server: LoopbackServer, files: Path):
    mmad(*base(server, "gemba-da", "-i", "bad.txt", "-o", "run.jsonl", "--sample", "1"))
    statuses = sorted(each.status.value for each in read_run(files / "run.jsonl").ratings())
    assert statuses == ["not_sampled", "not_sampled", "scored"]


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"score":94.0,"scale":"mean0-100,higher-better"', '"score":94.0', "of at most 0"),
        ('"score":94.0,"scale":"mean0-100,higher-better"', '"score":-6.0', "in a run on mean0-100"),
        ('"score":94.0,', '"score":101.0,', "from 0 to 100"),
        ('"score":94.0,', '"score":-1.0,', "from 0 to 100"),
        ('"version":1,"scale":"mean0-100,higher-better",', '"version":1,', "in a run on mean<=0"),
        ('"version":1,"scale":"mean0-100', '"version":1,"scale":"mean0-10', "scale 'mean0-10,"),
    ],
)
def test_a_score_off_the_runs_scale_is_refused_with_its_line(
    mmad: Mmad, server: LoopbackServer, files: Path, old: str, new: str, named: str
):
    mmad(*base(server, "gemba-da", "-i", "bad.txt", "-o", "run.jsonl"))
    text = (files / "run.jsonl").read_text(encoding="utf-8")
    assert old in text
    (files / "run.jsonl").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_run(files / "run.jsonl").ratings())
    assert named in str(caught.value)
    assert "line " in str(caught.value)


# -- beside other runs


@pytest.fixture
def runs(mmad: Mmad, server: LoopbackServer) -> None:
    for method in METHODS:
        assert mmad(*base(server, method, "-i", "bad.txt", "-o", f"{method}.jsonl")).status == 0


@pytest.mark.usefixtures("runs")
def test_runs_on_different_scales_are_not_compared_even_by_force(mmad: Mmad):
    named = ("--name", "a", "b")
    for other in ("mmad", "gemba-mqm", "eaprompt"):
        ran = mmad("compare", "gemba-da.jsonl", f"{other}.jsonl", "--force", *named)
        assert (ran.status, ran.out) == (1, "")
        assert "from 0 to 100 in one and of at most 0 in the other" in ran.err
    ran = mmad("compare", "mmad.jsonl", "eaprompt.jsonl", *named)
    assert ran.status == 1
    assert "method (none / eaprompt)" in ran.err
    ran = mmad("compare", "mmad.jsonl", "eaprompt.jsonl", *named, "--force", "-q")
    assert [each["own_score"] for each in json.loads(ran.out)["systems"]] == [-7 / 3, -7 / 3]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("layout", ["json", "text", "latex"])
def test_two_direct_runs_are_compared_without_a_word_of_errors(mmad: Mmad, layout: str):
    ran = mmad("compare", "gemba-da.jsonl", "gemba-da.jsonl", "--name", "a", "b", "-f", layout)
    assert ran.status == 0, ran.err
    assert "97.6" in ran.out
    assert "all errors" not in ran.out
    assert '"errors"' not in ran.out


@pytest.mark.usefixtures("runs")
def test_scores_are_exported_and_errors_only_where_there_are_any(mmad: Mmad, files: Path):
    assert mmad("export", "gemba-da.jsonl", "-o", "out").status == 0
    lines = (files / "out" / "gemba-da_en-de.seg.score").read_text("utf-8").splitlines()
    assert lines == ["bad\t94.0", "bad\t100.0", "bad\t99.0"]
    for kind in ("ratings", "marot", "spans", "scores,spans"):
        ran = mmad("export", "gemba-da.jsonl", "-o", "no", "--to", kind)
        assert ran.status == 1
        assert "scores without errors" in ran.err
    assert not (files / "no").exists()
    every = ("--to", "scores,ratings,marot,spans")
    for method in ("gemba-mqm", "eaprompt"):
        assert mmad("export", f"{method}.jsonl", "-o", "out", *every).status == 0


# -- what servers do not have


@pytest.mark.parametrize("method", BASELINES)
@pytest.mark.parametrize("refused", [("json_schema",), ("json_schema", "json_object")], ids=str)
def test_without_structured_output_the_same_scores_come_from_text(
    mmad: Mmad, files: Path, method: str, refused: tuple[str, ...]
):
    asked: list[str] = []

    def by_prompt(call: ReceivedCall) -> str:
        """The schema's name is not sent: the last question tells what is wanted."""
        asked.append(call.level)
        schema = "coupled_annotations"
        if "Go through your list" in call.prompt:
            schema = "error_counts"
        elif "from 0 to 100" in call.prompt:
            schema = "direct_assessment"
        contents = [str(each["content"]) for each in call.messages]
        return "Here you are:\n" + Annotator(KNOWN).answer(schema, contents)

    with LoopbackServer(picky(by_prompt, *refused)) as server:
        ran = mmad(*base(server, method, "-i", "bad.txt", "-o", "run.jsonl"))
    assert ran.status == 0, ran.err
    assert [each.score for each in read_run(files / "run.jsonl").ratings()] == SCORES[method]
    assert set(asked) == {"json_object" if len(refused) == 1 else "text"}


@pytest.mark.parametrize(
    ("reply", "score"),
    [("Score: 85/100", 85), ("85.", 85), ("85 out of 100", 85), ("<think>3? 4?</think>70", 70)],
)
def test_a_plain_reply_is_a_score(mmad: Mmad, files: Path, reply: str, score: int):
    with LoopbackServer(lambda call: reply) as server:
        mmad(*base(server, "gemba-da", "-i", "bad.txt", "-o", "run.jsonl", "--structured", "text"))
    assert {each.score for each in read_run(files / "run.jsonl").ratings()} == {score}


def test_segments_without_a_readable_score_are_unscored_and_out_of_the_mean(
    mmad: Mmad, server: LoopbackServer
):
    def silent(call: ReceivedCall) -> Answer:
        return "Rather good." if "Guten Morgen" in call.prompt else Annotator(KNOWN)(call)

    with LoopbackServer(silent) as other:
        ran = mmad(*base(other, "gemba-da", "-i", "bad.txt", "--reasks", "0"))
    result: dict[str, Any] = json.loads(ran.out)
    assert (ran.status, result["score"]) == (3, 96.5)  # 94 and 99
    assert result["reasons"] == {"unreadable_reply": 1}


# -- what has no meaning


@pytest.mark.parametrize("method", BASELINES)
@pytest.mark.parametrize(
    "given",
    [
        ("--strategy", "consensus"), ("--strategy", "none"), ("--topic", "severity"),
        ("--rounds", "3"), ("--turns", "sequential"), ("--dispute", "major"),
        ("--full-debate",), ("--skip-stage", "1"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_setting_of_the_stages_is_refused_even_at_its_default(
    mmad: Mmad, server: LoopbackServer, method: str, given: tuple[str, ...]
):
    ran = mmad(*base(server, method, "-i", "bad.txt", *given))
    assert (ran.status, ran.out, server.call_count) == (1, "", 0)
    name = given[0].removeprefix("--").replace("-", "_").replace("skip_stage", "skip_stages")
    assert f"{name}: method {method} has neither" in ran.err


@pytest.mark.parametrize(
    ("method", "given", "named"),
    [
        ("gemba-da", ("--weights", "mmad"), "nothing to weigh"),
        ("eaprompt", ("--weights", "wmt"), "categories are not counted"),
        ("gemba-mqm", ("--role-model", "judge=x"), "the roles are annotate"),
        ("gemba-mqm", ("--role-model", "annotate.style=x"), "one agent annotates all dimensions"),
        ("gemba-mqm", ("--role-model", "count=x"), "nobody plays 'count'"),
        ("gemba-da", ("--role-model", "annotate=x"), "the roles are score"),
        ("mmad", ("--role-model", "score=x"), "nobody plays 'score'"),
        ("gemba-da", ("--prompts", "brief"), 'method = "gemba-da" and the templates score_sys'),
        ("mmad", ("--weights", "none"), "no such scheme"),
    ],
    ids=str,
)  # fmt: skip
def test_what_does_not_fit_the_method_is_refused_with_the_reason(
    mmad: Mmad, server: LoopbackServer, method: str, given: tuple[str, ...], named: str
):
    ran = mmad(*base(server, method, "-i", "bad.txt", *given))
    assert (ran.status, ran.out, server.call_count) == (1, "", 0)
    assert named in ran.err


def test_each_role_can_have_its_own_model_and_server(mmad: Mmad, server: LoopbackServer):
    with LoopbackServer(Annotator(KNOWN)) as other:
        ran = mmad(*base(server, "eaprompt", "-i", "bad.txt"),
                   "--role-model", f"count=tiny@{other.url}")  # fmt: skip
        counted = [call.body["model"] for call in other.calls]
    by_role = json.loads(ran.out)["usage"]["by_role"]
    assert {role: used["calls"] for role, used in by_role.items()} == {"annotate": 3, "count": 3}
    assert counted == ["tiny"] * 3
    assert {call.schema for call in server.calls} == {"coupled_annotations"}


# -- prompts


@pytest.mark.parametrize("method", BASELINES)
def test_prompts_are_shown_and_checked(mmad: Mmad, method: str):
    checked = mmad("prompts", "check", method)
    assert checked.status == 0
    assert f"sound; method {method}" in checked.out
    shown = mmad("prompts", "show", "--method", method, "-l", "he-en")
    assert shown.status == 0, shown.err
    assert shown.out.count("=== ") == CALLS[method]
    own = mmad("prompts", "show", "--method", method, "--source", "Q1", "--translation", "Z2")
    assert "Q1" in own.out
    for wrong in (("--stage", "judge"), ("--topic", "free"), ("--dimension", "style"),
                  ("--beside", "context")):  # fmt: skip
        ran = mmad("prompts", "show", "--method", method, *wrong)
        assert (ran.status, ran.out) == (1, "")
        assert wrong[0] in ran.err


def test_a_pack_of_the_wrong_kind_is_not_shown(mmad: Mmad):
    ran = mmad("prompts", "show", "--method", "eaprompt", "--prompts", "mmad")
    assert (ran.status, ran.out) == (1, "")
    assert "count_user" in ran.err
