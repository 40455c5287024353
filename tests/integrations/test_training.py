"""Real training, on one process as the README runs it, and on two that share the model."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.annotator import Annotator, Item
from tests.loopback import LoopbackServer
from tests.loopback_replies import unauthorized

pytestmark = pytest.mark.slow

pytest.importorskip("transformers")
pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "train_with_mmad.py"


def dislikes_german(source: str, translation: str) -> list[Item]:
    """A minor error for each different word: the more a model has learnt, the worse.

    A random model says one word over and over, a trained one four: the best epoch by this judge
    is an early one, the best by loss the last.
    """
    return [
        {
            "error_span": word,
            "category": "fluency/grammar",
            "severity": "minor",
            "is_source_error": False,
        }
        for word in dict.fromkeys(translation.split())
    ]


def surroundings(tmp_path: Path, **more: str) -> dict[str, str]:
    wanted = {"PYTHONPATH": str(ROOT), "MMAD_CACHE": str(tmp_path / "cache"), **more}
    return {**os.environ, "OPENAI_API_KEY": "sk-test-key", **wanted}


def test_the_example_logs_the_metric_each_epoch_and_keeps_the_best_by_it(tmp_path: Path) -> None:
    arguments = ["--model", "m", "--sample", "2", "--epochs", "3", "--output-dir", "runs"]
    with LoopbackServer(Annotator(dislikes_german)) as server:
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), *arguments, "--base-url", server.url],
            env=surroundings(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    *epochs, best = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    assert [entry["epoch"] for entry in epochs] == [1, 2, 3]
    scores = [entry["eval_mmad_score"] for entry in epochs]
    losses = [entry["eval_loss"] for entry in epochs]
    assert all(entry["eval_mmad_n_scored"] == 2 for entry in epochs)
    assert best["best_metric"] == max(scores)
    chosen = epochs[scores.index(max(scores))]
    assert best["best_model_checkpoint"] == f"runs/checkpoint-{chosen['step']}"
    assert losses.index(min(losses)) != scores.index(max(scores))  # the loss would choose another


def on_two_processes(tmp_path: Path, *arguments: str) -> list[dict[str, Any]]:
    """What each of two processes saw that met over loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    logs = [tmp_path / f"rank-{rank}.log" for rank in (0, 1)]
    processes = []
    for rank, log in enumerate(logs):
        place = {**meeting, "RANK": str(rank), "LOCAL_RANK": str(rank), "GLOO_SOCKET_IFNAME": "lo"}
        place["OMP_NUM_THREADS"] = "1"  # more only wait for each other
        with log.open("w", encoding="utf-8") as stream:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.integrations.rank_run", *arguments, tmp_path],
                    env=surroundings(tmp_path, **place),
                    cwd=ROOT,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                )
            )
    try:
        ended = [process.wait(timeout=170) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert ended == [0, 0], "\n".join(log.read_text(encoding="utf-8") for log in logs)
    return [
        json.loads((tmp_path / f"rank-{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)
    ]


def test_two_processes_pay_once_and_agree(tmp_path: Path) -> None:
    with (
        LoopbackServer(Annotator(dislikes_german)) as well,
        LoopbackServer(unauthorized()) as refusing,
    ):
        main, other = on_two_processes(tmp_path, well.url, refusing.url)
        requests = [call.raw for call in well.calls]
    assert (main["processes"], other["processes"]) == (2, 2)
    assert (main["main_before"], other["main_before"]) == (True, False)
    assert (main["main"], other["main"]) == (True, False)
    # Paid once: no request was made twice, and only the main process has ratings.
    assert len(requests) == len(set(requests)) > 0
    assert (main["well"]["rated"], other["well"]["rated"]) == (True, False)
    # The same numbers, hence the same checkpoints, on both; the repeated row is left out.
    assert main["well"]["figures"] == other["well"]["figures"]
    assert [each["eval_mmad_n_segments"] for each in main["well"]["figures"]] == [3, 3]
    scores = [each["eval_mmad_score"] for each in main["well"]["figures"]]
    for rank in (main, other):
        assert rank["well"]["best_metric"] == max(scores)
        assert rank["well"]["best"] == main["well"]["best"] is not None
    # Refused: both train to the end without a best checkpoint.
    for rank in (main, other):
        (figures,) = rank["refused"]["figures"]
        assert math.isnan(figures["eval_mmad_score"])
        assert rank["refused"]["best"] is None
    # A mistake on the main process is raised on both: nobody waits for ever.
    assert main["failure"] == "MMADError: rank 0 failed"
    assert other["failure"] == "RunStopped: the main process failed: MMADError: rank 0 failed"
