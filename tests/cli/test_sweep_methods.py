"""`mmad sweep` over methods: what does not apply, what they share, and scores on two scales."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.annotator import Annotator, by_words
from tests.cli.conftest import Mmad, Sweep
from tests.loopback import LoopbackServer
from tests.metaeval.tiny import write_folder

NAMES = ["mmad-r1", "mmad-r3", "gemba-mqm", "eaprompt", "gemba-da"]
RUNS = [f"runs/{name}.jsonl" for name in NAMES]


def write_grid(files: Path, base: str = "") -> None:
    (files / "grid.toml").write_text(
        f'[base]\nmodel = "m"\n{base}\n[grid]\n'
        'method = ["mmad", "gemba-mqm", "eaprompt", "gemba-da"]\nrounds = [1, 3]\n'
    )


def test_methods_without_rounds_are_one_setting_each_and_scales_are_told(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    write_grid(files)
    told = json.loads(sweep(server, "--dry-run").out)
    assert (told["n_settings"], server.call_count) == (5, 0)
    ran = sweep(server)
    assert ran.status == 0, ran.err
    assert "gemba-da: rounds does not apply here, so that 2 combinations are one" in ran.err
    settings = json.loads(ran.out)["settings"]
    assert [each["setting"] for each in settings] == NAMES
    # Five pairs: one call, two, and one for each.
    assert [each["paid"]["calls"] for each in settings[2:]] == [5, 10, 5]
    assert told["calls"]["fewest"] <= server.call_count <= told["calls"]["most"]
    table = sweep(server, "-f", "text").out.partition("What was paid")[0].splitlines()
    assert table[1].split()[:4] == ["Setting", "System", "Score", "Scale"]
    assert [line.split()[:4] for line in table[-4:-1]] == [
        ["eaprompt", "bad", "-2.33", "<=0"],
        ["gemba-da", "good", "100.00", "0-100"],
        ["gemba-da", "bad", "97.67", "0-100"],
    ]
    assert r"\textless{}=0" in sweep(server, "-f", "latex").out


@pytest.mark.parametrize("where", ["base", "command line"])
def test_weights_hold_for_the_methods_that_weigh(
    sweep: Sweep, server: LoopbackServer, files: Path, where: str
):
    write_grid(files, 'weights = "mmad"' if where == "base" else "")
    ran = sweep(server, *(() if where == "base" else ("--weights", "mmad")))
    assert ran.status == 0, ran.err
    assert "gemba-da: rounds, weights do not apply here" in ran.err
    signatures = [each["signature"] for each in json.loads(ran.out)["settings"]]
    assert ["|weights:mmad|" in each for each in signatures] == [True] * 4 + [False]


def test_weights_that_a_method_cannot_follow_are_an_error_before_any_call(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    write_grid(files, 'weights = "wmt"')
    ran = sweep(server)
    assert (ran.status, ran.out, server.call_count) == (1, "", 0)
    assert ran.err.startswith("mmad: eaprompt: weights 'wmt': method eaprompt scores the numbers")


def test_runs_of_all_methods_meet_in_meta_evaluation_and_in_no_comparison(mmad: Mmad, files: Path):
    write_grid(files)
    data = write_folder(files / "data")
    systems = [f"data/system-outputs/en-de/{name}.txt" for name in "ABC"]
    worse = by_words({"beta": ("style/awkward", "minor"), "gamma": ("style/awkward", "major")})
    with LoopbackServer(Annotator(worse)) as server:
        ran = mmad("sweep", "grid.toml", "-s", "data/sources/en-de.txt", "-i", *systems, "-l",
                   "en-de", "--base-url", server.url, "-o", "runs", "-q")  # fmt: skip
    assert ran.status == 0, ran.err
    refused = mmad("compare", *RUNS, "--force")
    assert (refused.status, refused.out) == (1, "")
    assert (
        "runs/mmad-r1.jsonl and runs/gemba-da.jsonl: scores are numbers of at most" in refused.err
    )
    picked = mmad(
        "meta-eval", "--data", str(data), "--lp", "en-de", "--select", *RUNS, "-f", "text"
    )
    assert picked.status == 0, picked.err
    shown = {line.split()[0] for line in picked.out.splitlines() if line}
    assert set(NAMES) <= shown
