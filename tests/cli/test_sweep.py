"""`mmad sweep` over real HTTP: what is paid once, kept, refused, and what is printed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.calls import connect
from mmad_metric.calls.prices import Price
from mmad_metric.files.run_file import read_run
from tests.annotator import KNOWN, Annotator, is_about, texts_of
from tests.cli.conftest import Mmad, Ran
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, refusing, unauthorized

GRID = """
[base]
model = "m"
concurrency = 4
[grid]
strategy = ["consensus", "deliberation", "none"]
rounds = [1, 2]
"""
NAMES = ["consensus-r1", "consensus-r2", "deliberation-r1", "deliberation-r2", "none"]
# By docs/method.md. Five pairs ("Guten Morgen." stands in both files) with four annotators; one
# debate, of "Maus"; two segments with an error to judge, whose dimensions end alike everywhere. The
# debates of consensus take 1 and 4 calls, those of deliberation 3 and 5.
CALLS = [20 + 1 + 2, 4, 3, 5, 0]
COLLAPSED = "mmad: none: rounds does not apply here, so that 2 combinations are one\n"
OPTIONS = {
    "consensus-r1": ["--rounds", "1"], "consensus-r2": ["--rounds", "2"],
    "deliberation-r1": ["--strategy", "deliberation", "--rounds", "1"],
    "deliberation-r2": ["--strategy", "deliberation", "--rounds", "2"],
    "none": ["--strategy", "none"],
}  # fmt: skip


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


@pytest.fixture
def sweep(mmad: Mmad, files: Path):
    """Runs the sweep of GRID over the small files with a server; the folder is `runs`."""
    (files / "grid.toml").write_text(GRID)

    def run(server: LoopbackServer, *more: str) -> Ran:
        return mmad("sweep", "grid.toml", "-s", "src.txt", "-i", "good.txt", "bad.txt", "-l",
                    "en-de", "--base-url", server.url, "-o", "runs", *more)  # fmt: skip

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl*"))}


def without_payment(ran: Ran) -> dict[str, Any]:
    """The table without what depends on who paid when, and on where the runs stand."""
    found: dict[str, Any] = json.loads(ran.out)
    del found["paid"]
    for each in found["settings"]:
        for key in ("paid", "resumed", "run"):
            del each[key]
    return found


def test_stage_one_is_paid_for_once_and_each_run_is_that_of_its_setting_alone(
    sweep, mmad: Mmad, files: Path
):
    script = Counting()
    with LoopbackServer(script) as server:
        ran = sweep(server)
        calls = server.call_count
        assert ran.status == 0, ran.err
        assert server.max_in_flight <= 4
        assert len(script.asked) == 20
        assert set(script.asked.values()) == {1}
        for name, options in OPTIONS.items():
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
    sweep, server: LoopbackServer, files: Path
):
    first = sweep(server)
    calls = server.call_count
    times = {path: path.stat().st_mtime_ns for path in (files / "runs").iterdir()}
    again = sweep(server)
    assert (again.status, server.call_count) == (0, calls)
    assert {path: path.stat().st_mtime_ns for path in (files / "runs").iterdir()} == times
    assert without_payment(again) == without_payment(first)
    # What was paid is kept in sweep.json; nothing was paid this time.
    assert json.loads(again.out)["paid"] == json.loads(first.out)["paid"]
    assert all(each["resumed"] for each in json.loads(again.out)["settings"])
    assert again.err == COLLAPSED + "mmad: 5 of 5 settings are finished already\n"


def test_without_its_account_a_sweep_does_not_make_up_what_it_paid(
    sweep, server: LoopbackServer, files: Path
):
    sweep(server, "-q")
    (files / "runs" / "sweep.json").unlink()
    ran = sweep(server, "-f", "text")
    assert ran.status == 0
    paid = ran.out.partition("What was paid:")[2].splitlines()
    assert [line.split() for line in paid[2:7]] == [[name, *"-------"] for name in NAMES]
    assert ran.out.rstrip().endswith("what was paid is not all known")


@pytest.mark.parametrize("answers", [0, 7, 22, 24, 28])
def test_a_sweep_that_the_server_stops_goes_on_where_it_was(
    sweep, mmad: Mmad, files: Path, answers: int
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
    assert without_payment(resumed) == without_payment(whole)


def test_a_failing_segment_is_counted_and_the_sweep_goes_on(sweep, files: Path):
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


def test_strict_stops_at_the_first_segment_without_a_score(sweep):
    script = Counting(lambda call: refusing() if is_about(call, "recht sehr") else None)
    with LoopbackServer(script) as server:
        ran = sweep(server, "--strict")
    assert (ran.status, ran.out) == (1, "")
    assert "mmad: stopped: --strict: bad segment 3 is unscored (refusal" in ran.err


def test_the_bound_on_money_is_one_for_the_whole_sweep(
    sweep, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
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


def test_without_a_cache_stage_one_is_still_shared_within_the_sweep(sweep):
    script = Counting()
    with LoopbackServer(script) as server:
        assert sweep(server, "--no-cache").status == 0
    assert set(script.asked.values()) == {1}


def test_the_forecast_counts_stage_one_once_and_makes_no_call_nor_folder(
    sweep, server: LoopbackServer, files: Path
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


def test_settings_that_ask_others_in_stage_one_share_nothing(sweep, server, files: Path):
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


def test_text_and_latex_hold_a_row_a_setting_and_system(sweep, server: LoopbackServer):
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
    sweep, server: LoopbackServer, files: Path
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
    sweep, server: LoopbackServer, more: tuple[str, ...], words: str
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


def test_wrong_usage_ends_with_2(mmad: Mmad, sweep, server: LoopbackServer):
    assert mmad("sweep", "grid.toml", "-l", "en-de", "-o", "runs").status == 2
    ran = mmad("sweep", "grid.toml", "-l", "en-de", "-s", "src.txt", "-i", "bad.txt")
    assert (ran.status, "-o/--output is needed" in ran.err) == (2, True)
    assert mmad("sweep", "--help").status == 0
    assert "mmad sweep GRID.toml" in mmad("--help").out


class TestWhatStandsInTheFolder:
    """Nothing is replaced that is not the very run; and the texts are looked at, too."""

    @pytest.fixture
    def done(self, sweep, server: LoopbackServer, files: Path) -> int:
        assert sweep(server, "-q").status == 0
        return server.call_count

    def refused(self, ran: Ran, server: LoopbackServer, done: int) -> list[str]:
        assert (ran.status, ran.out, server.call_count) == (1, "", done)
        return ran.err.splitlines()

    def test_other_settings(self, sweep, server: LoopbackServer, files: Path, done: int):
        before = contents(files / "runs")
        lines = self.refused(sweep(server, "--weights", "wmt", "--reasks", "1"), server, done)
        assert len(lines) == 5  # all of them at once
        assert (
            "runs/none.jsonl is a run of another configuration: weights (mmad / wmt), reasks "
            "(2 / 1), weight_table (… / …); it is not replaced" in lines[4]
        )
        assert contents(files / "runs") == before

    def test_another_version(self, sweep, server: LoopbackServer, files: Path, done: int):
        path = files / "runs" / "none.jsonl"
        text = path.read_text("utf-8")
        path.write_text(text.replace('"mmad-metric":"', '"mmad-metric":"9.'), encoding="utf-8")
        assert text != path.read_text("utf-8")
        [line] = self.refused(sweep(server), server, done)
        assert "mmad-metric (9." in line

    def test_other_texts(self, sweep, server: LoopbackServer, files: Path, done: int):
        (files / "bad.txt").write_text("Das rote Maus ist alt.\nGuten Tag.\nEs ist kalt.\n")
        lines = self.refused(sweep(server), server, done)
        assert (
            "runs/none.jsonl is a run over other texts, first in row 2 of system 'bad'" in lines[4]
        )

    def test_other_systems(self, sweep, server: LoopbackServer, files: Path, done: int):
        lines = self.refused(sweep(server, "--name", "a", "b"), server, done)
        assert "another configuration: other systems;" in lines[0]

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            (lambda data: b"notes\n", "this is not a run file; runs/none.jsonl is not replaced"),
            (lambda data: b"", "is empty, not a run file"),
            (lambda data: b"".join(data.splitlines(keepends=True)[:-1]), "did not finish"),
            (lambda data: data[:-9], "the line is cut off"),
            (
                lambda data: b"".join(x for n, x in enumerate(data.splitlines(keepends=True))
                                      if n != 6),
                "lacks segments of the input",
            ),
        ],
        ids=["notes", "empty", "unfinished", "torn", "short"],
    )  # fmt: skip
    def test_no_whole_run(
        self, sweep, server: LoopbackServer, files: Path, done: int,
        damage: Callable[[bytes], bytes], words: str,
    ):  # fmt: skip
        path = files / "runs" / "none.jsonl"
        path.write_bytes(damaged := damage(path.read_bytes()))
        [line] = self.refused(sweep(server), server, done)
        assert words in line
        assert path.read_bytes() == damaged

    def test_an_account_that_is_none(self, sweep, server: LoopbackServer, files: Path, done: int):
        (files / "runs" / "sweep.json").write_text('{"mine": 1}')
        [line] = self.refused(sweep(server), server, done)
        assert "runs/sweep.json: not the account of a sweep" in line

    def test_a_run_of_no_setting_is_named(
        self, sweep, server: LoopbackServer, files: Path, done: int
    ):
        (files / "grid.toml").write_text(GRID.replace("[1, 2]", "[1]"))
        (files / "runs" / "consensus-r1.jsonl").rename(files / "runs" / "consensus.jsonl")
        (files / "runs" / "deliberation-r1.jsonl").rename(files / "runs" / "deliberation.jsonl")
        ran = sweep(server)
        assert (ran.status, server.call_count) == (0, done)
        assert "not of this grid: consensus-r2.jsonl, deliberation-r2.jsonl" in ran.err

    def test_an_input_is_no_place_for_a_run(
        self, mmad: Mmad, server: LoopbackServer, files: Path, done: int
    ):
        (files / "none.jsonl").write_text('{"source": "a", "translation": "b"}\n')
        ran = mmad("sweep", "grid.toml", "-i", "none.jsonl", "-l", "en-de", "-o", ".",
                   "--base-url", server.url)  # fmt: skip
        [line] = self.refused(ran, server, done)
        assert line == "mmad: -o .: none.jsonl is an input"

    def test_a_file_in_the_folders_place(
        self, sweep, server: LoopbackServer, files: Path, done: int
    ):
        [line] = self.refused(sweep(server, "-o", "src.txt"), server, done)
        assert line.startswith("mmad: -o src.txt: no folder can be made there")


def test_runs_of_a_sweep_can_be_compared(sweep, mmad: Mmad, server: LoopbackServer, files: Path):
    sweep(server, "-q")
    runs = sorted(f"runs/{path.name}" for path in (files / "runs").glob("*.jsonl"))
    ran = mmad("compare", *runs, "--force", "-n", "10")
    assert ran.status == 0, ran.err
    assert [each["name"] for each in json.loads(ran.out)["systems"]] == [
        f"{name}/{system}" for name in NAMES for system in ("good", "bad")
    ]
