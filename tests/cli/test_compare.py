"""`mmad compare` on runs that `mmad` wrote, on score files, on what does not belong together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import SOURCES, Mmad
from tests.cli.test_repeats import base as repeated
from tests.loopback import LoopbackServer
from tests.test_repeats import Fickle

TAIL = "\u202egnab\x1b[31m"  # turns the text around and colours a terminal


@pytest.fixture
def runs(mmad: Mmad, server: LoopbackServer) -> Mmad:
    """good.jsonl and bad.jsonl: 0, 0, 0 and -6, 0, -1; both.jsonl holds the two systems."""
    for name, systems in (("good", ["good"]), ("bad", ["bad"]), ("both", ["good", "bad"])):
        rate(mmad, server, systems, name)
    return mmad


def rate(mmad: Mmad, server: LoopbackServer, systems: Sequence[str], name: str, *more: str) -> None:
    files = [f"{system}.txt" for system in systems]
    ran = mmad("-s", "src.txt", "-i", *files, "-l", "en-de", "--base-url", server.url, "--model",
               "m", "-o", f"{name}.jsonl", *more)  # fmt: skip
    assert ran.status == 0, ran.err


def test_json_has_sacrebleus_shape_and_more(runs: Mmad):
    ran = runs("compare", "good.jsonl", "bad.jsonl")
    assert ran.status == 0, ran.err
    result = json.loads(ran.out, parse_constant=pytest.fail)
    good, bad = result["systems"]
    assert [each["system"] for each in result["systems"]] == ["Baseline: good", "bad"]
    assert set(bad["MMAD"]) == {"score", "p_value", "mean", "ci"}
    assert (good["MMAD"]["score"], good["MMAD"]["p_value"]) == (0.0, None)
    assert bad["MMAD"]["score"] == pytest.approx(-7 / 3)
    # Signs of -6 and -1: |±6 ±1| reaches 7 in half of all patterns.
    assert bad["MMAD"]["p_value"] == pytest.approx(0.5, abs=0.03)
    (pair,) = result["pairs"]
    assert (pair["wins"], pair["losses"], pair["ties"], pair["n_common"]) == (0, 2, 1, 3)
    assert bad["errors"] == {
        "accuracy": {"major": 1}, "fluency": {"minor": 1}, "style": {"minor": 1},
    }  # fmt: skip
    assert (result["clusters"], result["n_common"]) == ([["good", "bad"]], 3)
    assert [(each["index"], each["difference"]) for each in result["segments"]] == [
        (0, 6.0), (2, 1.0),
    ]  # fmt: skip
    shown = result["segments"][0]
    assert shown["source"] == SOURCES[0]
    assert [span["text"] for span in shown["translations"]["bad"]["spans"]] == ["Maus", "Das rote"]
    assert result["signature"].startswith("lp:en-de|")


def test_two_files_and_one_file_with_both_systems_say_the_same(runs: Mmad):
    apart = json.loads(runs("compare", "good.jsonl", "bad.jsonl").out)
    together = json.loads(runs("compare", "both.jsonl").out)
    for result in (apart, together):
        for each in result["systems"]:
            del each["file"]
    assert apart == together


def test_text_shows_tables_and_the_segments_that_differ(runs: Mmad):
    out = runs("compare", "both.jsonl", "-f", "text", "--top", "1").out
    assert "Baseline: good    0.00 (0.00 ± 0.00)" in out
    assert "bad - good       -2.33" in out
    assert "accuracy major     0    1" in out
    assert "1. good, bad" in out
    assert "[1] good 0.00, bad -6.00" in out
    assert "“Maus” (9..13)" in out
    assert "[3]" not in out


def test_latex_has_tables_alone(runs: Mmad):
    out = runs("compare", "both.jsonl", "-f", "latex", "--name", "a_b&c", "50%").out
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") == 3
    assert r"Baseline: a\_b\&c & 0.00 (0.00 $\pm$ 0.00)" in out
    assert r"50\% & -2.33" in out
    assert SOURCES[0] not in out


def test_latex_says_in_comments_what_the_test_was(runs: Mmad):
    out = runs("compare", "both.jsonl", "-f", "latex", "-par", "-n", "99", "--seed", "7").out
    notes = [line for line in out.splitlines() if line.startswith("%")]
    assert "with 99 trials, seed 7; 3 of 3 segments are scored for all systems" in notes[0]
    assert "%   1. good, bad" in notes


def test_texts_of_strangers_cannot_move_the_terminal(mmad: Mmad, server: LoopbackServer, files):
    (files / "odd.txt").write_text(f"Das rote Maus ist alt.{TAIL}\n\n\n", encoding="utf-8")
    rate(mmad, server, ["good", "odd"], "odd")
    out = mmad("compare", "odd.jsonl", "-f", "text").out
    assert r"alt.\u202egnab\x1b[31m" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_different_settings_are_refused_with_their_names_unless_forced(
    runs: Mmad, server: LoopbackServer
):
    rate(runs, server, ["bad"], "wmt", "--weights", "wmt", "--rounds", "2")
    refused = runs("compare", "good.jsonl", "wmt.jsonl")
    assert (refused.status, refused.out) == (1, "")
    assert "differ in their settings: rounds (3 / 2), weights (mmad / wmt)" in refused.err
    forced = runs("compare", "good.jsonl", "wmt.jsonl", "--force", "-f", "text")
    assert forced.status == 0
    assert "weights (mmad / wmt)" in forced.err
    assert "weights" not in runs("compare", "good.jsonl", "wmt.jsonl", "--force", "-q").err
    lines = forced.out.splitlines()[-2:]
    assert ["weights:mmad|" in line for line in lines] == [True, False]
    values = json.loads(runs("compare", "good.jsonl", "wmt.jsonl", "--force", "-q").out)
    assert values["signature"] is None
    assert ["weights:wmt|" in each["signature"] for each in values["systems"]] == [False, True]


def test_other_sources_are_refused_even_when_forced(
    runs: Mmad, server: LoopbackServer, files: Path
):
    (files / "src.txt").write_text("\n".join([*SOURCES[:2], "Else."]) + "\n", encoding="utf-8")
    rate(runs, server, ["bad"], "other")
    ran = runs("compare", "good.jsonl", "other.jsonl", "--force")
    assert ran.status == 1
    assert "their sources differ, first in segment 3" in ran.err


def test_fewer_segments_are_refused(runs: Mmad, files: Path, server: LoopbackServer):
    for name in ("src.txt", "bad.txt"):
        lines = (files / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (files / name).write_text("".join(lines[:2]), encoding="utf-8")
    rate(runs, server, ["bad"], "short")
    ran = runs("compare", "good.jsonl", "short.jsonl")
    assert ran.status == 1
    assert "'good' (good.jsonl) has 3 segments, 'bad' (short.jsonl) has 2" in ran.err


def test_two_systems_of_one_name_are_told_apart_by_their_files(runs: Mmad, files: Path):
    found = json.loads(runs("compare", "bad.jsonl", "both.jsonl").out)["systems"]
    assert [each["name"] for each in found] == ["bad/bad", "good", "both/bad"]
    (files / "more").mkdir()
    (files / "more" / "bad.jsonl").write_bytes((files / "bad.jsonl").read_bytes())
    ran = runs("compare", "bad.jsonl", "more/bad.jsonl")
    assert ran.status == 1
    assert "two systems are called 'bad/bad' (bad.jsonl, more/bad.jsonl)" in ran.err
    named = json.loads(runs("compare", "bad.jsonl", "both.jsonl", "--name", "x", "y", "z").out)
    assert [each["name"] for each in named["systems"]] == ["x", "y", "z"]
    # x and z are the same file's numbers: nothing tells them apart.
    assert named["pairs"][1]["p_value"] == 1.0
    assert (
        "names given: 3, systems: 2" in runs("compare", "both.jsonl", "--name", "x", "y", "z").err
    )


def test_an_unfinished_run_is_compared_only_when_forced(runs: Mmad, files: Path):
    lines = (files / "bad.jsonl").read_bytes().splitlines(keepends=True)
    (files / "cut.jsonl").write_bytes(b"".join(lines[:-1]))
    ran = runs("compare", "good.jsonl", "cut.jsonl")
    assert ran.status == 1
    assert "cut.jsonl: this run did not finish" in ran.err
    assert runs("compare", "good.jsonl", "cut.jsonl", "--force").status == 0


def test_what_an_unfinished_run_has_is_compared_with_a_whole_one(runs: Mmad, files: Path):
    lines = (files / "both.jsonl").read_bytes().splitlines(keepends=True)
    (files / "cut.jsonl").write_bytes(b"".join(lines[:6]))  # good's rows and two of bad's
    ran = runs("compare", "cut.jsonl", "good.jsonl", "--force", "--name", "x", "y", "z")
    result = json.loads(ran.out)
    assert "cut.jsonl: 2 of 3 segments of 'bad' are there" in ran.err
    assert [(each["n_scored"], each["n_rated"]) for each in result["systems"]] == [
        (3, 3), (2, 2), (3, 3),
    ]  # fmt: skip
    assert (result["n_common"], result["n_segments"]) == (2, 3)
    assert [each["MMAD"]["score"] for each in result["systems"]] == [0, -3, 0]
    (files / "cut.jsonl").write_bytes(b"".join(lines[:4]))
    ran = runs("compare", "cut.jsonl", "--force")
    assert "cut.jsonl: nothing of 'bad' is there; it is left out" in ran.err
    assert [each["name"] for each in json.loads(ran.out)["systems"]] == ["good"]


@pytest.mark.parametrize("name", ["", " ", "a\tb"])
def test_a_name_that_is_none_is_refused(runs: Mmad, name: str):
    ran = runs("compare", "good.jsonl", "--name", name)
    assert (ran.status, "is no name for a system" in ran.err) == (1, True)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda lines: [*lines[:2], *lines[3:]], "row 2 where row 1 is expected"),
        (lambda lines: [lines[0], *lines[1:4], *lines[1:]], "row 0 where row 3 is expected"),
        (lambda lines: lines[1:], "not the header of a run file"),
        (lambda lines: [*lines[:2], b"{\n", *lines[2:]], "line 3"),
    ],
    ids=["gap", "twice", "no-header", "broken"],
)
def test_a_damaged_run_is_refused_with_file_and_place(runs: Mmad, files: Path, change, named: str):
    lines = (files / "bad.jsonl").read_bytes().splitlines(keepends=True)
    (files / "odd.jsonl").write_bytes(b"".join(change(lines)))
    ran = runs("compare", "odd.jsonl")
    assert (ran.status, ran.out) == (1, "")
    assert "odd.jsonl" in ran.err
    assert named in ran.err


@pytest.mark.parametrize(
    "arguments",
    [["-n", "0"], ["--top", "-1"], ["--alpha", "0"], ["--alpha", "nan"], ["-w", "1075"],
     ["--seed", "-1"], ["--gold", "none.seg.score"]],
    ids=lambda arguments: arguments[0] + arguments[1],
)  # fmt: skip
def test_options_out_of_range_are_refused(runs: Mmad, arguments: list[str]):
    ran = runs("compare", "both.jsonl", *arguments)
    assert (ran.status, ran.out) == (1, "")


def test_seed_and_format_come_from_sacrebleus_variables(
    runs: Mmad, monkeypatch: pytest.MonkeyPatch
):
    assert json.loads(runs("compare", "both.jsonl").out)["test"] == {
        "method": "ar", "n": 10_000, "seed": 12345, "alpha": 0.05,
    }  # fmt: skip
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    test = json.loads(runs("compare", "both.jsonl", "--paired-bs").out)["test"]
    assert (test["method"], test["n"], test["seed"]) == ("bs", 1000, 7)
    monkeypatch.setenv("SACREBLEU_SEED", "none")
    assert runs("compare", "both.jsonl").status == 0
    monkeypatch.setenv("SACREBLEU_SEED", "x")
    assert "SACREBLEU_SEED=x: expected" in runs("compare", "both.jsonl").err
    monkeypatch.delenv("SACREBLEU_SEED")
    monkeypatch.setenv("SACREBLEU_FORMAT", "latex")
    assert runs("compare", "both.jsonl").out.startswith(r"\begin{tabular}")
    # As for the main command and for sacreBLEU, what is no format is no reason to stop.
    monkeypatch.setenv("SACREBLEU_FORMAT", "html")
    assert json.loads(runs("compare", "both.jsonl").out)["name"] == "MMAD"


def test_repeats_are_averaged_and_their_noise_is_shown(mmad: Mmad):
    with LoopbackServer(Fickle()) as server:
        mmad(*repeated(server, "-i", "good.txt", "bad.txt", "-o", "run.jsonl"))
    result = json.loads(mmad("compare", "run.jsonl").out)
    good, bad = result["systems"]
    assert bad["MMAD"]["score"] == pytest.approx(-7 / 6)
    assert (good["noise_sd"], bad["noise_sd"]) == (0.0, pytest.approx((37 / 6) ** 0.5))
    assert result["ranking_stability"] == {"repeats": 2, "same_ranking": 1, "pairs_kept": 0.5}
    text = mmad("compare", "run.jsonl", "-f", "text").out
    assert "Noise sd" in text
    assert "1 of 2 repeats rank the systems as their mean does" in text


def test_one_segment_has_no_interval_and_says_why(mmad: Mmad, files: Path):
    write_scores(files, "m.seg.score", A=[-1, "None"], B=[-3, -4])
    result = json.loads(mmad("compare", "m.seg.score").out, parse_constant=pytest.fail)
    for row in result["systems"]:
        assert [row["MMAD"]["mean"], row["MMAD"]["ci"], row["low"], row["high"]] == [None] * 4
    text = mmad("compare", "m.seg.score", "-f", "text").out
    assert "No interval for A, B: it takes at least 2 scored segments" in text
    assert " ± 0" not in text
    write_scores(files, "m.seg.score", A=[-1, -2], B=[-3, -4])
    text = mmad("compare", "m.seg.score", "-f", "text", "-n", "1").out
    assert "No interval for A, B: it takes at least 2 resamples (-n)" in text


# -- score files


def write_scores(folder: Path, name: str, **systems: Sequence[object]) -> None:
    lines = [f"{name}\t{score}\n" for name, scores in systems.items() for score in scores]
    (folder / name).write_text("".join(lines), encoding="utf-8")


def test_only_segments_with_a_gold_score_count(mmad: Mmad, files: Path):
    write_scores(files, "m.seg.score", A=[-1, -2, 0], B=[-3, -3, 0], C=[0, 0, 0])
    write_scores(files, "gold.seg.score", A=[-1, -1, "None"], B=[-1, -1, "None"], D=[0, 0, 0])
    ran = mmad("compare", "m.seg.score", "--gold", "gold.seg.score")
    result = json.loads(ran.out)
    assert "C has no gold score in gold.seg.score: it is left out" in ran.err
    shown = [(each["name"], each["MMAD"]["score"], each["n_rated"]) for each in result["systems"]]
    assert shown == [("A", -1.5, 2), ("B", -3.0, 2)]
    assert (result["signature"], result["n_common"], result["n_segments"]) == (None, 2, 3)
    assert result["segments"][0]["scores"] == {"A": -1.0, "B": -3.0}
    assert "errors" not in result["systems"][0]


def test_gold_also_masks_runs(runs: Mmad, files: Path):
    write_scores(files, "gold.seg.score", good=["None", 0, 0], bad=["None", 0, 0])
    result = json.loads(runs("compare", "both.jsonl", "--gold", "gold.seg.score").out)
    assert [each["MMAD"]["score"] for each in result["systems"]] == [0.0, -0.5]
    assert result["systems"][1]["errors"] == {"style": {"minor": 1}}


def test_gold_of_other_segments_or_systems_is_refused(runs: Mmad, files: Path):
    write_scores(files, "gold.seg.score", good=[0, 0], bad=[0, 0])
    ran = runs("compare", "both.jsonl", "--gold", "gold.seg.score")
    assert (ran.status, "2 gold scores of 'good', but 3 segments" in ran.err) == (1, True)
    write_scores(files, "gold.seg.score", other=[0, 0, 0])
    assert "none of the systems" in runs("compare", "both.jsonl", "--gold", "gold.seg.score").err


def test_a_run_and_scores_of_unknown_settings_compare_only_when_forced(runs: Mmad, files: Path):
    write_scores(files, "m.seg.score", A=[-1, -2, 0])
    refused = runs("compare", "both.jsonl", "m.seg.score")
    assert (refused.status, "scores of unknown settings" in refused.err) == (1, True)
    forced = runs("compare", "both.jsonl", "m.seg.score", "--force", "-f", "text")
    assert forced.status == 0
    assert "[1] good 0.00, bad -6.00, A -1.00" in forced.out


def test_the_released_scores_of_wmt23_fall_into_clusters(mmad: Mmad, wmt23: Path):
    ran = mmad("compare", str(wmt23 / "mmad-released" / "M-MAD_en-de.seg.score"), "--gold",
               str(wmt23 / "human-scores" / "en-de.mqm.seg.score"), "-n", "2000")  # fmt: skip
    result = json.loads(ran.out)
    # As for the human annotators: GPT-4 is the best of the machines and AIRC the worst.
    assert result["clusters"][0] == ["GPT4-5shot"]
    assert result["clusters"][-1] == ["AIRC"]
    assert (result["n_common"], result["n_segments"]) == (460, 557)


def test_what_only_replies_tell_is_no_difference_to_a_run_without_scores(runs: Mmad, files: Path):
    (files / "none.txt").write_text("[No translation supplied]\n" * 3, encoding="utf-8")
    ran = runs("-s", "src.txt", "-i", "none.txt", "-l", "en-de", "--base-url", "http://127.0.0.1:9",
               "--model", "m", "-o", "none.jsonl")  # fmt: skip
    assert ran.status == 3
    assert "served" not in (files / "none.jsonl").read_text("utf-8").splitlines()[-1]
    for pair in (("good.jsonl", "none.jsonl"), ("none.jsonl", "good.jsonl")):
        found = runs("compare", *pair)
        assert "differ in their settings" not in found.err
