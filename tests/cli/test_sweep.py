"""`mmad sweep` over real HTTP: what is paid once, kept, refused, and what is printed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mmad_metric.calls import connect
from mmad_metric.calls.prices import Price
from mmad_metric.files.run_file import read_run
from tests.annotator import KNOWN, Annotator, is_about, texts_of
from tests.cli.conftest import Mmad, Ran, Sweep
from tests.cli.small_sweep import CALLS, NAMES, contents, without_payment
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, refusing, unauthorized

COLLAPSED = "mmad: none: rounds does not apply here, so that 2 combinations are one\n"
ALONE = {
    "consensus-r2": ["--rounds", "2"],
    "deliberation-r1": ["--strategy", "deliberation", "--rounds", "1"],
    "none": ["--strategy", "none"],
}


class Counting:
    """The annotator of the small files. asked: answered calls of stage 1 by segment and prompt;
    refuse: what to answer instead, if anything."""

    def __init__(self, refuse: Callable[[ReceivedCall], Answer | None] = lambda _: None) -> None:
        self.refuse = refuse
        self.annotator = Annotator(KNOWN)
        self.asked: Counter[tuple[tuple[str, str], str]] = Counter()
        self.answered = 0

    def __call__(self, call: ReceivedCall) -> Answer:
        refused = self.refuse(call)
        if refused is not None:
            return refused
        self.answered += 1
        if call.schema == "dimension_annotations":
            contents = [str(each["content"]) for each in call.messages]
            self.asked[texts_of(contents), contents[0]] += 1
        return self.annotator(call)


def test_stage_one_is_paid_for_once_and_each_run_is_that_of_its_setting_alone(
    sweep: Sweep, mmad: Mmad, files: Path
):
    script = Counting()
    with LoopbackServer(script) as server:
        ran = sweep(server)
        calls = server.call_count
        assert ran.status == 0, ran.err
        assert server.max_in_flight <= 4
        assert len(script.asked) == 20
        assert set(script.asked.values()) == {1}
        for name, options in ALONE.items():
            alone = mmad("-s", "src.txt", "-i", "good.txt", "bad.txt", "-l", "en-de", "--base-url",
                         server.url, "--model", "m", *options, "--cache", f"cache-{name}", "-o",
                         f"{name}.alone", "-q")  # fmt: skip
            assert alone.status == 0
            stored = (files / "runs" / f"{name}.jsonl").read_bytes()
            assert stored == (files / f"{name}.alone").read_bytes()
            found = next(x for x in json.loads(ran.out)["settings"] if x["setting"] == name)
            assert [each["score"] for each in found["systems"]] == [
                each["score"]
                for each in read_run(files / f"{name}.alone").summary["systems"]  # type: ignore[index]
            ]
    found = json.loads(ran.out)
    assert [each["setting"] for each in found["settings"]] == NAMES
    assert found["paid"]["calls"] == calls == sum(x["paid"]["calls"] for x in found["settings"])
    assert found["alone"]["calls"] == sum(each["usage"]["calls"] for each in found["settings"])
    assert [each["paid"]["calls"] for each in found["settings"]] == CALLS
    assert found["settings"][0]["systems"][1]["score"] == pytest.approx(-7 / 3)
    assert ran.err.startswith(COLLAPSED)
    assert f"mmad: {calls} calls, " in ran.err


def test_a_finished_sweep_is_printed_again_without_a_call_and_nothing_is_written(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    first = sweep(server)
    calls = server.call_count
    times = {path: path.stat().st_mtime_ns for path in (files / "runs").iterdir()}
    again = sweep(server)
    assert (again.status, server.call_count) == (0, calls)
    assert {path: path.stat().st_mtime_ns for path in (files / "runs").iterdir()} == times
    assert without_payment(again.out) == without_payment(first.out)
    # What was paid is kept in sweep.json; nothing was paid this time.
    assert json.loads(again.out)["paid"] == json.loads(first.out)["paid"]
    assert all(each["resumed"] for each in json.loads(again.out)["settings"])
    assert again.err == COLLAPSED + "mmad: 5 of 5 settings are finished already\n"


def test_without_its_account_a_sweep_does_not_make_up_what_it_paid(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    sweep(server, "-q")
    (files / "runs" / "sweep.json").unlink()
    ran = sweep(server, "-f", "text")
    assert ran.status == 0
    paid = ran.out.partition("What was paid:")[2].splitlines()
    assert [line.split() for line in paid[2:7]] == [[name, *"-------"] for name in NAMES]
    assert ran.out.rstrip().endswith("what was paid is not all known")


@pytest.mark.parametrize("answers", [0, 22, 28])
def test_a_sweep_that_the_server_stops_goes_on_where_it_was(
    sweep: Sweep, mmad: Mmad, files: Path, answers: int
):
    script = Counting()
    with LoopbackServer(script) as server:
        whole = sweep(server)
        expected = contents(files / "runs")
        (files / "runs").rename(files / "whole")
        stopping = Counting()
        stopping.refuse = lambda _: unauthorized() if stopping.answered >= answers else None
        with LoopbackServer(stopping, port=0) as refusing_server:
            # The address is part of the configuration: the same one has to answer later.
            stopped = sweep(refusing_server, "--cache", "other")
            assert stopped.status == 1
            assert "mmad: stopped: " in stopped.err
            assert "the same command again goes on from here" in stopped.err
            done = [] if not stopped.out else json.loads(stopped.out)["settings"]
            assert len(done) == len(list((files / "runs").glob("*.jsonl")))
            assert f"{len(done)} of 5 settings are finished;" in stopped.err
            stopping.refuse = lambda _: None
            resumed = sweep(refusing_server, "--cache", "other")
    assert resumed.status == 0, resumed.err
    assert set(stopping.asked.values()) == {1}
    assert stopping.answered == script.answered
    assert json.loads(resumed.out)["paid"]["calls"] == script.answered
    changed = {name: data.replace(refusing_server.url.encode(), server.url.encode())
               for name, data in contents(files / "runs").items()}  # fmt: skip
    assert changed == expected
    assert without_payment(resumed.out) == without_payment(whole.out)


def test_a_failing_segment_is_counted_and_the_sweep_goes_on(sweep: Sweep, files: Path):
    script = Counting(lambda call: refusing() if is_about(call, "recht sehr") else None)
    with LoopbackServer(script) as server:
        ran = sweep(server)
        assert ran.status == 3
        for each in json.loads(ran.out)["settings"]:
            assert [one["n_scored"] for one in each["systems"]] == [3, 2]
            assert each["systems"][1]["reasons"] == {"refusal": 1}
        assert "mmad: none:\nmmad:   bad: 1 of 3 segments unscored\n" in ran.err
        again = sweep(server)
        assert again.status == 3
        assert "none: finished before, with unscored segments; remove runs/none.jsonl" in again.err
        script.refuse = lambda _: None
        (files / "runs" / "none.jsonl").unlink()
        mended = json.loads(sweep(server).out)["settings"]
        assert [each["systems"][1]["n_scored"] for each in mended] == [2, 2, 2, 2, 3]


def test_strict_stops_at_the_first_segment_without_a_score(sweep: Sweep):
    script = Counting(lambda call: refusing() if is_about(call, "recht sehr") else None)
    with LoopbackServer(script) as server:
        ran = sweep(server, "--strict")
    assert (ran.status, ran.out) == (1, "")
    assert "mmad: stopped: --strict: bad segment 3 is unscored (refusal" in ran.err


def test_the_bound_on_money_is_one_for_the_whole_sweep(
    sweep: Sweep, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    # A price for the loopback server: a dollar a call, whatever its tokens.
    monkeypatch.setattr(Price, "cost", lambda _, usage: usage.calls)
    monkeypatch.setattr(connect, "find_price", lambda *_: Price("m", None, None))
    ran = sweep(server, "--max-cost", "28")
    assert ran.status == 1
    assert "--max-cost" in ran.err
    assert server.call_count == 28
    assert json.loads(ran.out)["n_finished"] == 2
    ran = sweep(server, "--max-cost", "28")  # a bound on what this invocation pays
    assert ran.status == 0
    assert server.call_count == sum(CALLS)


def test_without_a_cache_stage_one_is_still_shared_within_the_sweep(sweep: Sweep):
    script = Counting()
    with LoopbackServer(script) as server:
        assert sweep(server, "--no-cache").status == 0
    assert set(script.asked.values()) == {1}


def test_the_forecast_counts_stage_one_once_and_makes_no_call_nor_folder(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    ran = sweep(server, "--dry-run")
    assert (ran.status, server.call_count) == (0, 0)
    assert not (files / "runs").exists()
    found = json.loads(ran.out)
    # 5 different pairs, 4 agents. Most, by docs/method.md: debates of 4 dimensions, and a judge.
    debate = {"consensus-r1": 1, "consensus-r2": 4, "deliberation-r1": 3, "deliberation-r2": 5,
              "none": 0}  # fmt: skip
    assert {each["setting"]: each["calls"] for each in found["settings"]} == {
        name: {"fewest": 20, "most": 5 * (4 + 4 * calls + 1)} for name, calls in debate.items()
    }
    assert found["calls"] == {
        "fewest": 20,
        "most": 20 + sum(5 * (4 * c + 1) for c in debate.values()),
    }
    text = sweep(server, "--dry-run", "-f", "text").out
    assert "All 5 settings together, stage 1 paid for once: 20 to 305 calls, cost unknown" in text


def test_settings_that_ask_others_in_stage_one_share_nothing(sweep: Sweep, server, files: Path):
    (files / "grid.toml").write_text(
        '[grid]\nmodel = ["a", "b"]\nrepeats = [1, 3]\nstrategy = ["none"]\n'
    )
    found = json.loads(sweep(server, "--dry-run").out)
    # Each model is asked for three repeats, of which the first serves the setting with one.
    assert found["calls"]["fewest"] == 2 * 3 * 20
    ran = sweep(server)
    assert ran.status == 0, ran.err
    assert [each["setting"] for each in json.loads(ran.out)["settings"]] == [
        "a-re1", "a-re3", "b-re1", "b-re3",
    ]  # fmt: skip
    assert sum(call.schema == "dimension_annotations" for call in server.calls) == 2 * 3 * 20


def test_a_sample_with_repeats_is_known_again(sweep: Sweep, server: LoopbackServer):
    more = ("--sample", "2", "--repeats", "2")
    first = sweep(server, *more)
    assert first.status == 0, first.err
    assert json.loads(first.out)["settings"][0]["systems"][0]["n_not_sampled"] == 1
    calls = server.call_count
    again = sweep(server, *more)
    assert (again.status, server.call_count) == (0, calls)
    assert without_payment(again.out) == without_payment(first.out)


def test_text_and_latex_hold_a_row_a_setting_and_system(sweep: Sweep, server: LoopbackServer):
    text = sweep(server, "-f", "text", "-w", "1").out
    lines = [line.split() for line in text.splitlines()]
    assert lines[1] == ["Setting", "System", "Score", "Scored", "Calls", "Prompt", "Cached",
                        "Completion", "US", "dollars"]  # fmt: skip
    assert [line[:4] for line in lines[2:12]] == [
        [name, system, score, "3/3"]
        for name in NAMES for system, score in (("good", "0.0"), ("bad", "-2.3"))
    ]  # fmt: skip
    assert [line[:2] for line in lines[15:20]] == [
        [name, str(calls)] for name, calls in zip(NAMES, CALLS, strict=True)
    ]
    assert lines[21][:5] == ["5", "of", "5", "settings", "are"]
    latex = sweep(server, "-f", "latex").out
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 2
    assert "consensus-r1 & good & 0.00 & 3/3 & " in latex
    assert latex.rstrip().splitlines()[-1].startswith("% 5 of 5 settings are finished; each alone:")


def refuse_nothing_written(ran: Ran, server: LoopbackServer, *words: str) -> None:
    assert (ran.status, ran.out, server.call_count) == (1, "", 0)
    for word in words:
        assert word in ran.err


def test_everything_wrong_is_told_in_a_line_each_before_any_call(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    (files / "grid.toml").write_text('[grid]\nround = [1]\n[base]\ntopics = "free"\n')
    ran = sweep(server)
    assert ran.err.splitlines() == [
        "mmad: grid.toml, line 4: [base]: unknown setting 'topics'; did you mean 'topic'?",
        "mmad: grid.toml, line 2: [grid]: unknown setting 'round'; did you mean 'rounds'?",
    ]
    refuse_nothing_written(ran, server)
    (files / "grid.toml").write_text(
        '[grid]\nprompts = ["nowhere", "mmad"]\nweights = ["gone.json", "wmt"]\n'
    )
    ran = sweep(server)
    refuse_nothing_written(ran, server, "prompts-nowhere-weights-gone.json: prompts 'nowhere'",
                           "prompts-mmad-weights-gone.json: ", "gone.json")  # fmt: skip
    assert not (files / "runs").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--rounds", "2"), "rounds varies here"),
        (("--max-cost", "1"), "consensus-r1: max_cost: no price is known"),
        (("-w", "11"), "--width: 11 is not from 0 to 10"),
    ],
    ids=["varied", "price", "width"],
)
def test_what_does_not_fit_the_command_line_is_refused_before_any_call(
    sweep: Sweep, server: LoopbackServer, more: tuple[str, ...], words: str
):
    refuse_nothing_written(sweep(server, *more), server, words)


def test_a_key_that_a_later_setting_lacks_is_missed_before_any_call(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    (files / "grid.toml").write_text(
        f'[[settings]]\nname = "own"\nbase_url = "{server.url}"\n'
        '[[settings]]\nname = "openai"\nmodel = "gpt-4o"\n'
    )
    ran = mmad("sweep", "grid.toml", "-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "-o", "runs")
    refuse_nothing_written(ran, server, "openai: ", "OPENAI_API_KEY")


def test_the_pair_may_be_the_files(mmad: Mmad, server: LoopbackServer, files: Path):
    (files / "grid.toml").write_text('[base]\nlp = "en-de"\n[grid]\nstrategy = ["none"]\n')
    ran = mmad("sweep", "grid.toml", "-s", "src.txt", "-i", "bad.txt", "-o", "runs", "--base-url",
               server.url, "--model", "m", "-f", "text")  # fmt: skip
    assert ran.status == 0, ran.err
    assert "1 of 1 settings are finished; each alone: 14 calls in all; paid: 14" in ran.out
    assert "fewer" not in ran.out


def test_wrong_usage_ends_with_2(mmad: Mmad, sweep: Sweep, server: LoopbackServer):
    assert mmad("sweep", "grid.toml", "-l", "en-de", "-o", "runs").status == 2
    ran = mmad("sweep", "grid.toml", "-l", "en-de", "-s", "src.txt", "-i", "bad.txt")
    assert (ran.status, "-o/--output is needed" in ran.err) == (2, True)
    assert mmad("sweep", "--help").status == 0
    assert "mmad sweep GRID.toml" in mmad("--help").out


def test_runs_of_a_sweep_can_be_compared(
    sweep: Sweep, mmad: Mmad, server: LoopbackServer, files: Path
):
    sweep(server, "-q")
    runs = sorted(f"runs/{path.name}" for path in (files / "runs").glob("*.jsonl"))
    ran = mmad("compare", *runs, "--force", "-n", "10")
    assert ran.status == 0, ran.err
    assert [each["name"] for each in json.loads(ran.out)["systems"]] == [
        f"{name}/{system}" for name in NAMES for system in ("good", "bad")
    ]
