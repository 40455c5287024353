"""`mmad --repeats K` over real HTTP: what it prints, what it writes, what it costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmad_metric.files.run_file import read_run
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad
from tests.files.test_run_file import VALIDATOR
from tests.loopback import LoopbackServer
from tests.loopback_replies import ReceivedCall, Scripted, error
from tests.test_repeats import Fickle


@pytest.fixture
def fickle():
    with LoopbackServer(Fickle()) as running:
        yield running


def base(server: LoopbackServer, *more: str) -> list[str]:
    return ["-s", "src.txt", "-l", "en-de", "--base-url", server.url, "--model", "m", "--repeats",
            "2", "--temperature", "0.5", "--concurrency", "1", *more]  # fmt: skip


# bad.txt costs -6, 0, -1 when its errors are found, and nothing in every second rating.


def test_text_tells_repeats_and_noise(mmad: Mmad, fickle: LoopbackServer):
    ran = mmad(*base(fickle, "-i", "bad.txt", "-f", "text"))
    # Variances 18, 0, 1/2: their mean is 37/6, its root 2.48.
    assert "|repeats:2|" in ran.out
    assert ran.out.endswith(
        "= -1.17 3/3 scored, 2 repeats (6/6 ratings scored, noise sd 2.48); in all repeats, "
        "1 major, 2 minor, 0 non-translation\n"
    )
    assert (ran.status, "temperature 0" in ran.err) == (0, False)


def test_json_has_repeats_and_noise_as_keys(mmad: Mmad, fickle: LoopbackServer):
    result = json.loads(mmad(*base(fickle, "-i", "bad.txt")).out)
    assert (result["n_ratings"], result["n_ratings_scored"], result["n_scored"]) == (6, 6, 3)
    assert result["noise_sd"] == pytest.approx((37 / 6) ** 0.5)


def test_sentence_level_is_one_line_a_segment(mmad: Mmad, fickle: LoopbackServer):
    ran = mmad(*base(fickle, "-i", "bad.txt", "-sl"))
    lines = ran.out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("MMAD = -3.00 ")
    assert lines[0].endswith("(sd 4.24 over 2 repeats)")
    assert mmad(*base(fickle, "-i", "bad.txt", "-sl", "-b")).out == "-3.00\n0.00\n-0.50\n"


def test_spans_tell_their_repeat(mmad: Mmad, fickle: LoopbackServer):
    shown = json.loads(mmad(*base(fickle, "-i", "bad.txt", "--show-spans")).out)["segments"]
    assert [(each["index"], each["repeat"], len(each["spans"])) for each in shown[:2]] == [
        (0, 1, 2), (0, 2, 0),
    ]  # fmt: skip
    text = mmad(*base(fickle, "-i", "bad.txt", "--show-spans", "-f", "text")).out
    assert "[bad:1, repeat 2] 0.00" in text


def test_the_run_file_has_a_line_a_repeat_and_a_rerun_writes_the_same(
    mmad: Mmad, fickle: LoopbackServer, files: Path
):
    mmad(*base(fickle, "-i", "good.txt", "bad.txt", "-o", "run.jsonl"))
    written = (files / "run.jsonl").read_bytes()
    calls = fickle.call_count
    mmad(*base(fickle, "-i", "good.txt", "bad.txt", "-o", "run.jsonl"))
    assert ((files / "run.jsonl").read_bytes(), fickle.call_count) == (written, calls)
    for line in written.splitlines():
        VALIDATOR.validate(json.loads(line))
    run = read_run(files / "run.jsonl")
    places = [(each.segment.system, each.segment.index, each.segment.repeat)
              for each in run.ratings()]  # fmt: skip
    assert places == [
        (name, index, repeat) for name in ("good", "bad") for index in range(3) for repeat in (1, 2)
    ]
    assert run.summary is not None
    assert [each["n_segments"] for each in run.summary["systems"]] == [3, 3]
    assert run.header["config"]["repeats"] == 2


def test_the_stability_of_the_ranking_is_told(mmad: Mmad, fickle: LoopbackServer):
    # First repeat: good above bad, as in the mean; second: nothing found, a tie.
    told = "1 of 2 repeats rank the systems as their mean does; 50.0% of all pairs"
    for form in ("text", "latex"):
        ran = mmad(*base(fickle, "-i", "good.txt", "bad.txt", "-f", form))
        assert (told in ran.out, told in ran.err) == (True, False)
    rows = json.loads(mmad(*base(fickle, "-i", "good.txt", "bad.txt", "-pbs")).out)
    stability = {"repeats": 2, "same_ranking": 1, "pairs_kept": 0.5}
    assert [row["ranking_stability"] for row in rows] == [stability, stability]


def test_one_system_and_one_rating_have_no_ranking(mmad: Mmad, fickle: LoopbackServer):
    for flags in (["-i", "bad.txt"], ["-i", "bad.txt", "good.txt", "--repeats", "1"]):
        assert "ranking_stability" not in mmad(*base(fickle, *flags)).out


def test_rows_left_out_of_the_sample_are_not_repeated(
    mmad: Mmad, fickle: LoopbackServer, files: Path
):
    ran = mmad(*base(fickle, "-i", "bad.txt", "--sample", "1", "-sl", "-b", "-o", "run.jsonl"))
    assert sorted(ran.out.split().count(word) for word in set(ran.out.split())) == [1, 2]
    repeats = [each.segment.repeat for each in read_run(files / "run.jsonl").ratings()]
    assert sorted(repeat or 0 for repeat in repeats) == [0, 0, 1, 2]


def test_a_lost_repeat_is_told_and_its_segment_is_scored_from_the_others(mmad: Mmad):
    fickle = Fickle()

    def script(call: ReceivedCall) -> str | Scripted:
        answer = fickle(call)
        lost = call.schema == "dimension_annotations" and answer != '{"annotations": []}'
        return error(400, "blocked", code="content_filter") if lost else answer

    with LoopbackServer(script) as server:
        ran = mmad(*base(server, "-i", "bad.txt", "-b", "-sl"))
    assert "bad: 2 of 6 ratings unscored" in ran.err
    assert (ran.status, ran.out) == (0, "0.00\n0.00\n0.00\n")


def test_the_forecast_counts_every_repeat(mmad: Mmad, fickle: LoopbackServer):
    twice = json.loads(mmad(*base(fickle, "-i", "bad.txt", "--dry-run")).out)
    once = json.loads(mmad(*base(fickle, "-i", "bad.txt", "--dry-run", "--repeats", "1")).out)
    assert (twice["repeats"], "repeats" in once) == (2, False)
    for name, case in twice["cases"].items():
        for key in ("calls", "prompt_tokens", "completion_tokens"):
            assert case[key] == 2 * once["cases"][name][key]
    text = mmad(*base(fickle, "-i", "bad.txt", "--dry-run", "-f", "text")).out
    assert "3 segments, 3 different ones that need calls, each rated 2 times" in text


def test_at_temperature_0_a_message_tells_what_repeats_measure(mmad: Mmad):
    with LoopbackServer(Annotator(KNOWN)) as server:
        ran = mmad(*base(server, "-i", "bad.txt", "--temperature", "0", "-b"))
    assert ran.out == "-2.33\n"
    assert "repeats at temperature 0 measure only" in ran.err
