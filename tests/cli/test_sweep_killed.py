"""Five strategies by three rounds over 50 segments, killed twice, and what its runs are good for.

The server answers as the simulated annotator of `benchmarks/bench_strategies.py`, and counts the
calls of stage 1 by segment and dimension.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.bench_sweep import GRID, SimulatedServer, rectangle, truth_of, write_inputs
from benchmarks.wmt_gold import GoldSegment
from tests.cli.conftest import Mmad
from tests.cli.small_sweep import contents, without_payment
from tests.loopback import LoopbackServer

ROWS, SYSTEMS, CONCURRENCY = 10, 5, 8
SETTINGS = 13  # 4 strategies with 3 rounds each, and none


def made_up() -> list[GoldSegment]:
    """Segments with errors that can be told apart, for where there is no real data."""

    def item(words: str, category: str) -> dict[str, object]:
        return {"error_span": words, "category": category, "severity": "minor",
                "is_source_error": False}  # fmt: skip

    known = (item("Maus", "accuracy/mistranslation"), item("rote", "fluency/grammar"))
    return [
        GoldSegment(f"S{system}", row, f"The red house number {row} is old.",
                    f"Das rote Maus {row} von S{system} ist alt.", known, (), None)
        for system in range(SYSTEMS) for row in range(ROWS)
    ]  # fmt: skip


def start(inputs: Sequence[str], server: LoopbackServer, folder: Path) -> subprocess.Popen[str]:
    """The sweep as a process of its own, which can be killed."""
    return subprocess.Popen(
        [sys.executable, "-m", "mmad_metric.cli", "sweep", str(GRID), *inputs, "--model", "m",
         "--base-url", server.url, "--concurrency", str(CONCURRENCY), "--cache",
         str(folder / "cache"), "-o", str(folder / "runs")],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # An ignored Ctrl-C from a shell job must not reach it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=400)
    assert process.returncode == 0, err
    return out


def wait_for(process: subprocess.Popen[str], server: LoopbackServer, calls: int) -> None:
    deadline = time.monotonic() + 300
    while server.call_count < calls:
        assert time.monotonic() < deadline, "the sweep does not get on"
        assert process.poll() is None, "the sweep ended before it could be stopped"
        time.sleep(0.002)


def kill_after(process: subprocess.Popen[str], server: LoopbackServer, calls: int) -> None:
    wait_for(process, server, calls)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on_pays_stage_one_once_and_ends_the_same(
    request: pytest.FixtureRequest, tmp_path: Path
):
    try:
        gold = rectangle(request.getfixturevalue("wmt23"), ROWS, SYSTEMS)
    except pytest.skip.Exception:
        gold = made_up()
    assert len(gold) == 50
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    whole.mkdir()
    inputs = write_inputs(gold, tmp_path)
    script = SimulatedServer(truth_of(gold))
    with LoopbackServer(script, record=False) as server:
        expected = finish(start(inputs, server, whole))
        needed = server.call_count
        pairs = {(each.source, each.translation) for each in gold}
        assert len(script.asked) == 4 * len(pairs)
        assert set(script.asked.values()) == {1}

        script.asked.clear()
        # In the middle of stage 1 of the first setting; then in the middle of all.
        kill_after(start(inputs, server, resumed), server, needed + 2 * len(pairs))
        begun = len(script.asked)
        assert 0 < begun < 4 * len(pairs)
        assert not list((resumed / "runs").glob("*.jsonl"))
        kill_after(start(inputs, server, resumed), server, needed + needed // 2)
        finished = len(list((resumed / "runs").glob("*.jsonl")))
        assert 0 < finished < SETTINGS
        out = finish(start(inputs, server, resumed))
        called = server.call_count - needed

    assert len(script.asked) == 4 * len(pairs)
    # Asked twice is only what was under way at the first kill, at most one call for each place
    # in flight; the second kill came after stage 1.
    again = {key: count for key, count in script.asked.items() if count > 1}
    assert set(again.values()) <= {2}
    assert len(again) <= CONCURRENCY
    assert needed <= called <= needed + 2 * CONCURRENCY
    runs = contents(resumed / "runs")
    assert len(runs) == SETTINGS
    assert runs == contents(whole / "runs")
    assert without_payment(out) == without_payment(expected)
    assert json.loads(expected)["paid"]["calls"] == needed


@pytest.mark.slow
def test_ctrl_c_prints_what_is_finished_and_keeps_the_account(tmp_path: Path):
    gold = made_up()[:2]
    inputs = write_inputs(gold, tmp_path)
    with LoopbackServer(SimulatedServer(truth_of(gold)), latency=0.02, record=False) as server:
        process = start(inputs, server, tmp_path)
        wait_for(process, server, 60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "mmad: interrupted; " in err
        assert "the same command again goes on from here" in err
        assert "Traceback" not in err
        done = json.loads(out)
        assert 0 < done["n_finished"] < SETTINGS
        account = json.loads((tmp_path / "runs" / "sweep.json").read_text())["settings"]
        told = sum(each["paid"]["calls"] for each in account.values())
        assert len(account) == done["n_finished"] + 1  # the one under way paid something, too
        assert server.call_count - CONCURRENCY <= told <= server.call_count
        again = json.loads(finish(start(inputs, server, tmp_path)))
    assert again["n_finished"] == SETTINGS


@pytest.fixture
def run_files(mmad: Mmad, wmt23: Path, files: Path) -> list[str]:
    """Runs of a small sweep over real segments of five systems."""
    gold = rectangle(wmt23, 4, SYSTEMS)
    (files / "few.toml").write_text(
        '[base]\nweights = "wmt"\n[grid]\nstrategy = ["consensus", "deliberation", "none"]\n'
        "rounds = [1]\n"
    )
    with LoopbackServer(SimulatedServer(truth_of(gold)), record=False) as server:
        ran = mmad("sweep", "few.toml", *write_inputs(gold, files), "--model", "m", "--base-url",
                   server.url, "-o", "runs")  # fmt: skip
    assert ran.status == 0, ran.err
    return sorted(f"runs/{path.name}" for path in (files / "runs").glob("*.jsonl"))


def test_runs_of_a_sweep_are_selected_from_by_meta_evaluation(
    mmad: Mmad, wmt23: Path, run_files: list[str]
):
    base = ("meta-eval", "--data", str(wmt23), "--lp", "en-de", "--measures", "sys_accuracy")
    ran = mmad(*base, "--select", *run_files, "--seeds", "3")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert {each["name"] for each in found["configurations"]} == {
        "consensus", "deliberation", "none",
    }  # fmt: skip
    assert sum(each["picked"] for each in found["configurations"]) == found["n_splits"] == 6
    # The table as well, with each setting as a metric of its own.
    ran = mmad(*base, "--runs", *run_files, "--metrics", "consensus,deliberation,none")
    assert ran.status == 0, ran.err
    table = json.loads(ran.out)["metrics"]
    assert {each["metric"]: each["by_lp"]["en-de"]["n_scored"] for each in table} == {
        "consensus": 20, "deliberation": 20, "none": 20,
    }  # fmt: skip
