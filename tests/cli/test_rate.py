"""`mmad` over real HTTP: what it prints, what it writes, how it ends."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from mmad_metric.files.run_file import read_run
from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator, is_about
from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer
from tests.loopback_replies import Scripted, error, not_found, quota_exhausted, unauthorized

# By hand: bad.txt has one major and one minor in row 1, nothing in row 2, one minor in row 3,
# so -6, 0, -1 and a mean of -7/3.
BAD_MEAN = -7 / 3


def base(server: LoopbackServer, *more: str) -> list[str]:
    return ["-s", "src.txt", "-l", "en-de", "--base-url", server.url, "--model", "m:1", *more]


def test_one_system_in_json_has_sacrebleus_keys_and_ours(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "bad.txt"))
    assert ran.status == 0
    result = json.loads(ran.out)
    assert (result["name"], result["score"]) == ("MMAD", round(BAD_MEAN, 2))
    assert (result["n_segments"], result["n_scored"]) == (3, 3)
    assert (result["n_major"], result["n_minor"], result["n_non_translation"]) == (1, 2, 0)
    assert result["by_dimension"]["accuracy"] == {"n_major": 1, "n_minor": 0, "penalty": 5.0}
    fields = parse_signature(result["signature"])
    assert fields["model"] == result["model"] == "m:1"
    assert fields["weights"] == "mmad"
    # 3 x 4 agents, a debate of 7 calls (both its checks are the same question: one call), 2 judges.
    assert "mmad: 20 calls, 1 reply from the cache" in ran.err


def test_several_systems_in_json_are_a_list_with_scores_as_text(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "good.txt", "bad.txt", "-w", "3"))
    rows = json.loads(ran.out)
    assert [(row["system"], row["MMAD"]) for row in rows] == [
        ("good.txt", "0.000"),
        ("bad.txt", "-2.333"),
    ]


def test_text_has_score_signature_and_coverage(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "bad.txt", "-f", "text"))
    assert ran.out.startswith("MMAD|lp:en-de|model:m%3A1|")
    assert ran.out.endswith("= -2.33 3/3 scored, 1 major, 2 minor, 0 non-translation\n")
    table = mmad(*base(server, "-i", "good.txt", "bad.txt", "-f", "text"))
    assert re.search(r"│ +good.txt │ +0.00 3/3 +│ +0 +│ +0 +│ +0 +│", table.out)
    assert re.search(r"│ +bad.txt │ +-2.33 3/3 +│ +1 +│ +2 +│ +0 +│", table.out)


SENTENCES = """\
MMAD = -6.0 accuracy/mistranslation major; fluency/grammar minor
MMAD = 0.0 no error
MMAD = -1.0 style/awkward minor
"""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["-b"], "-2.33\n"),
        (["-b", "-w", "0"], "-2\n"),
        (["-b", "-sl"], "-6.00\n0.00\n-1.00\n"),
        (["-sl", "-w", "1"], SENTENCES),
    ],
)  # fmt: skip
def test_score_only_and_sentence_level(
    mmad: Mmad, server: LoopbackServer, flags: list[str], expected: str
):
    assert mmad(*base(server, "-i", "bad.txt", *flags)).out == expected


def test_sentence_level_of_several_systems_names_them(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "good.txt", "bad.txt", "-b", "-sl"))
    assert ran.out.splitlines()[2:4] == ["good\t0.00", "bad\t-6.00"]


def test_spans_are_shown_with_their_places(mmad: Mmad, server: LoopbackServer):
    text = mmad(*base(server, "-i", "bad.txt", "-f", "text", "--show-spans")).out
    assert "major    accuracy/mistranslation: “Maus” (9..13)" in text
    shown = json.loads(mmad(*base(server, "-i", "bad.txt", "--show-spans")).out)
    assert shown["segments"][0]["spans"][0]["text"] == "Maus"
    assert shown["systems"]["score"] == -2.33


def test_a_control_character_in_a_text_cannot_reach_the_terminal(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    (files / "evil.txt").write_text("Maus \x1b[2J\nb\nc\n", encoding="utf-8")
    ran = mmad(*base(server, "-i", "evil.txt", "-f", "text", "--show-spans"))
    assert "\x1b" not in ran.out
    assert "\\x1b[2J" in ran.out


def test_the_run_file_holds_header_rows_and_summary(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    assert mmad(*base(server, "-i", "good.txt", "bad.txt", "-o", "run.jsonl")).status == 0
    run = read_run(files / "run.jsonl")
    assert run.header["config"]["lp"] == "en-de"
    assert [row["name"] for row in run.header["systems"]] == ["good", "bad"]
    ratings = list(run.ratings())
    assert [rating.score for rating in ratings] == [0, 0, 0, -6, 0, -1]
    for rating in ratings:
        for each in rating.errors:
            assert rating.segment.translation[each.start : each.end] == each.text
    assert run.summary is not None
    assert run.summary["systems"][1]["score"] == pytest.approx(BAD_MEAN)
    assert not (files / "run.jsonl.part").exists()


def test_a_rerun_makes_no_call_and_writes_the_same_bytes(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    for name in ("one.jsonl", "two.jsonl"):
        ran = mmad(*base(server, "-i", "good.txt", "bad.txt", "-o", name))
        assert ran.status == 0
    calls = server.call_count
    assert (files / "one.jsonl").read_bytes() == (files / "two.jsonl").read_bytes()
    assert "mmad: 0 calls" in ran.err
    mmad(*base(server, "-i", "good.txt", "bad.txt"))
    assert server.call_count == calls


def test_equal_rows_are_rated_once_and_reported_each_time(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "good.txt", "good.txt", "--name", "a", "b", "--no-cache"))
    assert [row["n_scored"] for row in json.loads(ran.out)] == [3, 3]
    assert server.call_count == 12


def test_a_sample_takes_the_same_rows_of_every_system(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    ran = mmad(*base(server, "-i", "good.txt", "bad.txt", "--sample", "2", "-o", "run.jsonl"))
    assert [(row["n_scored"], row["n_not_sampled"]) for row in json.loads(ran.out)] == [(2, 1)] * 2
    rows: dict[str, list[int]] = {"good": [], "bad": []}
    for rating in read_run(files / "run.jsonl").ratings():
        if rating.score is not None:
            rows[rating.segment.system].append(rating.segment.index)
    assert rows["good"] == rows["bad"]
    assert ran.status == 0


@pytest.mark.parametrize("form", ["tsv", "jsonl", "gz", "stdin"])
def test_every_input_format_gives_the_same_score(
    mmad: Mmad, server: LoopbackServer, files: Path, form: str, monkeypatch: pytest.MonkeyPatch
):
    sources = (files / "src.txt").read_text().splitlines()
    bad = (files / "bad.txt").read_text().splitlines()
    rows = list(zip(sources, bad, strict=True))
    tsv = "".join(f"{source}\t{target}\n" for source, target in rows)
    arguments = ["-l", "en-de", "--base-url", server.url, "--model", "m", "-b"]
    if form == "tsv":
        (files / "in.tsv").write_text(tsv)
        arguments += ["-i", "in.tsv"]
    elif form == "jsonl":
        lines = [json.dumps({"source": source, "hypothesis": target}) for source, target in rows]
        (files / "in.jsonl").write_text("\n".join(lines))
        arguments += ["-i", "in.jsonl"]
    elif form == "gz":
        (files / "bad.txt.gz").write_bytes(gzip.compress((files / "bad.txt").read_bytes()))
        arguments += ["-s", "src.txt", "-i", "bad.txt.gz"]
    else:
        (files / "stdin").write_text(tsv)
        arguments += ["-i", "-"]
    with (files / "src.txt" if form != "stdin" else files / "stdin").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert mmad(*arguments).out == "-2.33\n"


BEFORE_ANY_CALL = [
    (["-s", "src.txt", "-i", "short.txt", "-l", "en-de"], 1, ["src.txt", "short.txt", "3", "2"]),
    (["-s", "src.txt", "-i", "absent.txt", "-l", "en-de"], 1, ["absent.txt"]),
    (["-s", "src.txt", "-i", "latin.txt", "-l", "en-de"], 1, ["latin.txt", "line 1", "UTF-8"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-xx"], 1, ["'xx'"]),
    (["-s", "src.txt", "-i", "bad.txt"], 2, ["-l"]),
    (["-s", "src.txt", "-l", "en-de"], 2, ["-i"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--rounds", "0"], 1, ["rounds"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--rounds", "two"], 2, ["two"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--weights", "none"], 1, ["weights"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--prompts", "none"], 1, ["prompts"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "-o", "no/dir/run.jsonl"], 1, ["no/dir"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "-w", "-1"], 1, ["--width"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--max-cost", "1"], 1, ["price"]),
    (["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--name", "a", "b"], 1, ["name"]),
]


@pytest.mark.parametrize(("arguments", "status", "named"), BEFORE_ANY_CALL)
def test_bad_input_is_refused_before_any_call(
    mmad: Mmad, server: LoopbackServer, files: Path, arguments: list[str], status: int,
    named: list[str],
):  # fmt: skip
    (files / "short.txt").write_text("a\nb\n")
    (files / "latin.txt").write_bytes("Grüße\nb\nc\n".encode("latin-1"))
    ran = mmad(*arguments, "--base-url", server.url)
    assert (ran.status, ran.out, server.call_count) == (status, "", 0)
    for part in named:
        assert part in ran.err
    assert "Traceback" not in ran.err


def test_no_key_and_no_server_is_said_in_one_line(mmad: Mmad):
    ran = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de")
    assert ran.status == 1
    assert "OPENAI_API_KEY" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "answer", [unauthorized(), not_found(), quota_exhausted()], ids=["401", "404", "quota"]
)
def test_a_server_that_refuses_stops_the_run_at_once_and_keeps_what_is_done(
    files: Path, mmad: Mmad, answer
):
    good = Annotator(KNOWN)

    def script(call):
        return good(call) if call.number <= 5 else answer

    with LoopbackServer(script) as server:
        ran = mmad(*base(server, "-i", "bad.txt", "-o", "run.jsonl", "--concurrency", "1"))
        assert ran.status == 1
        assert server.call_count <= 8
    assert "of 3 segments are finished" in ran.err
    assert "again" in ran.err
    assert ran.out == ""
    assert not (files / "run.jsonl").exists()
    with LoopbackServer(good, port=int(server.url.split(":")[2].split("/")[0])) as again:
        ran = mmad(*base(again, "-i", "bad.txt", "-o", "run.jsonl"))
        assert ran.status == 0
        assert again.call_count == 20 - 5


def test_unscored_segments_end_the_run_with_3_and_never_count(mmad: Mmad):
    good = Annotator(KNOWN)

    def script(call):
        return "I would rather talk." if is_about(call, "Guten Morgen") else good(call)

    with LoopbackServer(script) as server:
        ran = mmad(*base(server, "-i", "bad.txt"))
        strict = mmad(*base(server, "-i", "bad.txt", "--strict"))
    result = json.loads(ran.out)
    assert ran.status == 3
    assert result["score"] == -3.5
    assert (result["n_segments"], result["n_scored"], result["n_unscored"]) == (3, 2, 1)
    assert result["reasons"] == {"unreadable_reply": 1}
    assert "1 of 3 segments unscored" in ran.err
    assert "1 unreadable_reply, such as: " in ran.err
    assert (strict.status, strict.out) == (1, "")
    assert "segment 2" in strict.err


def test_a_content_filter_leaves_the_other_rows_alone(mmad: Mmad):
    good = Annotator(KNOWN)

    def script(call):
        if is_about(call, "Guten Morgen"):
            return error(400, "filtered", code="content_filter")
        return good(call)

    with LoopbackServer(script) as server:
        ran = mmad(*base(server, "-i", "bad.txt", "-b", "-sl"))
    assert ran.out == "-6.00\nNone\n-1.00\n"


def test_all_unscored_has_no_score_and_strict_json(mmad: Mmad):
    with LoopbackServer("prose") as server:
        ran = mmad(*base(server, "-i", "bad.txt", "-o", "run.jsonl"))
    result = json.loads(ran.out, parse_constant=pytest.fail)
    assert (ran.status, result["score"]) == (3, None)


def test_the_key_appears_nowhere(
    mmad: Mmad, server: LoopbackServer, files: Path, monkeypatch: pytest.MonkeyPatch
):
    key = "sk-verysecret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    ran = mmad(*base(server, "-i", "bad.txt", "-o", "run.jsonl"))
    assert key in str(server.calls[0].headers)
    with LoopbackServer(unauthorized(key)) as refusing:
        refused = mmad(*base(refusing, "-i", "good.txt"))
    kept = b"".join(path.read_bytes() for path in files.rglob("*") if path.is_file())
    assert key not in ran.out + ran.err + refused.err
    assert key.encode() not in kept


def test_roles_may_have_models_of_their_own(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "bad.txt", "--role-model", "judge=big", "-f", "text"))
    models = {call.schema: call.body["model"] for call in server.calls}
    assert models["final_judgement"] == "big"
    assert models["debate_turn"] == "m:1"
    assert "roles:judge=big" in ran.out


def test_a_dry_run_makes_no_call_and_its_bounds_hold(mmad: Mmad, server: LoopbackServer):
    told = json.loads(mmad(*base(server, "-i", "bad.txt", "--dry-run")).out)
    assert server.call_count == 0
    assert told["calls_per_segment"] == [4, 33]
    assert told["cases"]["fewest"]["calls"] == 12
    assert told["cases"]["most"]["calls"] == 99
    assert told["cases"]["fewest"]["cost_usd"] is None
    mmad(*base(server, "-i", "bad.txt"))
    assert 12 <= server.call_count <= 99


def test_a_dry_run_tells_the_price_where_it_is_known(mmad: Mmad):
    told = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--dry-run",
                "--model", "gpt-4o-mini")  # fmt: skip
    assert told.status == 0
    cases = json.loads(told.out)["cases"]
    assert 0 < cases["fewest"]["cost_usd"] < cases["typical"]["cost_usd"]
    assert cases["typical"]["cost_usd"] < cases["most"]["cost_usd"]
    text = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--dry-run", "-f", "text").out
    assert "exact bounds" in text


def test_a_pair_without_demonstrations_says_whose_it_borrows(mmad: Mmad, server: LoopbackServer):
    arguments = [each if each != "en-de" else "en-sv" for each in base(server, "-i", "bad.txt")]
    ran = mmad(*arguments)
    # Nothing leads into Swedish; of the pairs that start from English the first by its name.
    assert "no demonstrations for en-sv" in ran.err
    assert "en-cs" in ran.err
    assert json.loads(ran.out)["demos"] == "en-cs"


def test_quiet_prints_nothing_but_the_result(mmad: Mmad, server: LoopbackServer):
    ran = mmad(*base(server, "-i", "bad.txt", "-q", "-b"))
    assert (ran.out, ran.err) == ("-2.33\n", "")


@pytest.mark.parametrize("output", ["src.txt", "bad.txt", "ref.txt", "link.txt", "notes.txt"])
def test_a_run_file_never_takes_the_place_of_something_else(
    mmad: Mmad, server: LoopbackServer, files: Path, output: str
):
    (files / "ref.txt").write_text("a\nb\nc\n")
    (files / "notes.txt").write_text("precious\n")
    (files / "link.txt").symlink_to("bad.txt")
    before = (files / output).read_bytes()
    ran = mmad("ref.txt", *base(server, "-i", "bad.txt", "-o", output))
    assert (ran.status, server.call_count) == (1, 0)
    assert output in ran.err
    assert (files / output).read_bytes() == before


def test_what_a_server_says_cannot_move_the_cursor(mmad: Mmad):
    with LoopbackServer(Scripted('{"annotations": []}', model="evil\x1b[31m|x\n")) as server:
        ran = mmad(*base(server, "-i", "good.txt", "-f", "text"))
        assert (ran.status, "\x1b" in ran.out) == (0, False)
        assert parse_signature(ran.out.split(" = ")[0].removeprefix("MMAD|"))["served"] == (
            "evil\x1b[31m|x\n"
        )
    with LoopbackServer(error(401, "no \x1b[31m key\nfake line")) as server:
        ran = mmad(*base(server, "-i", "bad.txt"))
    assert (ran.status, "\x1b" in ran.err) == (1, False)
    assert len(ran.err.strip().splitlines()) == 1


def test_an_empty_input_is_refused_before_any_call(mmad: Mmad, server: LoopbackServer, files: Path):
    (files / "empty.txt").write_text("")
    (files / "empty.jsonl").write_text("")
    for given in (["-s", "empty.txt", "-i", "empty.txt"], ["-i", "empty.jsonl"]):
        for more in ([], ["--dry-run"], ["-m", "bleu"]):
            ran = mmad("empty.txt", *given, *more, "-l", "en-de", "--base-url", server.url)
            assert (ran.status, ran.out, server.call_count) == (1, "", 0)
            assert ran.err == f"mmad: {given[-1]}: empty, there is nothing to score\n"
