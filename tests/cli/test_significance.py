"""Intervals and paired tests of MMAD on the command line: on what is scored, and no more."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator, is_about
from tests.cli.conftest import Mmad, Ran
from tests.loopback import LoopbackServer

# By hand: good.txt has 0, 0, 0 and bad.txt -6, 0, -1.


def base(server: LoopbackServer, *more: str) -> list[str]:
    return ["-s", "src.txt", "-l", "en-de", "--base-url", server.url, "--model", "m", *more]


def silent_about(*texts: str):
    """A server that answers as usual but for segments with one of the texts."""
    good = Annotator(KNOWN)

    def script(call):
        return "No." if any(is_about(call, text) for text in texts) else good(call)

    return LoopbackServer(script)


def test_an_interval_of_a_negative_mean_is_printed(mmad: Mmad, files: Path):
    for name, line in (("src.txt", "The red house is old."), ("bad.txt", "Das rote Maus ist alt.")):
        (files / name).write_text(f"{line}\n" * 3, encoding="utf-8")
    with LoopbackServer(Annotator(KNOWN)) as server:
        text = mmad(*base(server, "-i", "bad.txt", "-ci", "-cin", "50", "-f", "text")).out
        values = json.loads(mmad(*base(server, "-i", "bad.txt", "-ci", "-cin", "50")).out)
        bare = mmad(*base(server, "-i", "bad.txt", "-ci", "-b")).out
    # Whatever is drawn from -6, -6, -6 has the mean -6.
    assert " = -6.00 (μ = -6.00 ± 0.00) 3/3 scored" in text
    assert (values["confidence_mean"], values["confidence_var"]) == (-6, 0)
    assert values["confidence"] == "μ = -6.00 ± 0.00"
    assert bare == "-6.00 (μ = -6.00 ± 0.00)\n"
    assert (values["bs"], values["seed"]) == ("50", "12345")
    assert parse_signature(values["signature"])["bs"] == "50"


def test_one_scored_segment_has_no_interval_and_a_note_tells_why(
    mmad: Mmad, server: LoopbackServer
):
    one = base(server, "-i", "bad.txt", "--sample", "1", "-ci")
    for form in ("text", "json"):
        ran = mmad(*one, "-f", form)
        assert ("±" in ran.out, "confidence" in ran.out) == (False, False)
        assert "MMAD, 1/1 scored, 2 not sampled: no interval, which takes at least two" in ran.err
    assert "±" not in mmad(*one, "-b").out
    assert mmad(*one, "-q").err == ""


def test_one_common_segment_has_no_interval_in_a_test(mmad: Mmad, server: LoopbackServer):
    flags = ["--sample", "1", "-pbs"]
    ran = paired(mmad, server, *flags)
    cells = [row["MMAD"] for row in json.loads(ran.out)]
    assert [(cell["mean"], cell["ci"]) for cell in cells] == [(None, None)] * 2
    assert cells[1]["p_value"] == 1
    assert "MMAD, good, bad: no interval, which takes at least two" in ran.err
    assert "±" not in paired(mmad, server, *flags, "-f", "text").out


@pytest.mark.parametrize("n", ["-3", "0", "1"])
def test_too_few_resamples_give_no_interval(mmad: Mmad, server: LoopbackServer, n: str):
    ran = mmad(*base(server, "-i", "bad.txt", "-ci", "-cin", n, "-f", "text"))
    assert (ran.status, "±" in ran.out, "|bs:" in ran.out) == (0, False, False)
    assert f"--confidence-n {n}: so few resamples give no interval" in ran.err


def test_one_resample_gives_no_interval_in_a_test(mmad: Mmad, server: LoopbackServer):
    ran = paired(mmad, server, "-pbs", "-pbsn", "1")
    assert [row["MMAD"]["ci"] for row in json.loads(ran.out)] == [None, None]
    assert "--paired-bs-n 1: so few resamples give no interval of MMAD" in ran.err


@pytest.mark.parametrize(("n", "told"), [("0", False), ("-1", True)], ids=["none", "negative"])
def test_no_resamples_are_the_default(mmad: Mmad, server: LoopbackServer, n: str, told: bool):
    ran = paired(mmad, server, "-pbs", "-pbsn", n)
    assert "|bs:1000|" in json.loads(ran.out)[0]["signature"]
    assert ("the default is taken, 1000" in ran.err) == told


def paired(mmad: Mmad, server: LoopbackServer, *flags: str) -> Ran:
    return mmad(*base(server, "-i", "good.txt", "bad.txt", *flags))


@pytest.mark.parametrize("flags", [["-pbs", "-pbsn", "99"], ["-par", "-parn", "99"]], ids=str)
def test_identical_systems_have_p_1(mmad: Mmad, files: Path, flags: list[str]):
    (files / "copy.txt").write_bytes((files / "bad.txt").read_bytes())
    with LoopbackServer(Annotator(KNOWN)) as server:
        ran = mmad(*base(server, "-i", "bad.txt", "copy.txt", *flags))
    rows = json.loads(ran.out)
    assert [row["MMAD"]["p_value"] for row in rows] == [None, 1.0]
    assert rows[0]["system"] == "Baseline: bad.txt"
    assert rows[1]["MMAD"]["difference"] == 0


def test_a_test_is_on_the_segments_that_both_systems_have_scores_for(mmad: Mmad):
    with silent_about("heute recht sehr kalt") as server:
        ran = paired(mmad, server, "-par", "-parn", "200")
        table = paired(mmad, server, "-par", "-parn", "200", "-f", "text").out
    base_row, row = json.loads(ran.out)
    assert ran.status == 3
    assert (base_row["n_scored"], row["n_scored"], row["MMAD"]["n_common"]) == (3, 2, 2)
    assert (row["MMAD"]["score"], row["MMAD"]["difference"]) == (-3, -3)
    # The differences are -6 and 0: whatever signs they get, their mean is 3 away from 0.
    assert row["MMAD"]["p_value"] == 1
    assert (row["MMAD"]["mean"], row["MMAD"]["ci"]) == (None, None)
    assert "│ bad.txt │ -3.00 2/3 │ 1 │ 1 │ 0 │ -3.00 │ 2 │" in re.sub(" +", " ", table)
    assert "(p = 1.0000)" in table


def test_a_bootstrap_gives_both_systems_an_interval(mmad: Mmad):
    with LoopbackServer(Annotator(KNOWN)) as server:
        rows = json.loads(paired(mmad, server, "-pbs", "-pbsn", "200").out)
    assert (rows[0]["MMAD"]["mean"], rows[0]["MMAD"]["ci"]) == (0, 0)
    assert -6 < rows[1]["MMAD"]["mean"] < 0
    # Means of three draws lie between -6 and 0, so that no interval is wider.
    assert 0 < rows[1]["MMAD"]["ci"] <= 3
    assert 0 < rows[1]["MMAD"]["p_value"] <= 1


def test_an_interval_is_of_the_mean_that_it_stands_beside(mmad: Mmad):
    with silent_about("Haus ist rot") as server:
        base_row, row = json.loads(paired(mmad, server, "-pbs", "-pbsn", "2000").out)
        alone = json.loads(mmad(*base(server, "-i", "bad.txt", "-ci", "-cin", "2000")).out)
        table = paired(mmad, server, "-pbs", "-pbsn", "2000", "-f", "text").out
    # bad.txt has -6, 0, -1 of its own, and 0, -1 in common with good.txt, which has 0, 0.
    assert (base_row["n_scored"], row["n_scored"], row["MMAD"]["n_common"]) == (2, 3, 2)
    assert (row["MMAD"]["difference"], "-0.50" in table) == (-0.5, True)
    assert row["MMAD"]["mean"] == pytest.approx(-7 / 3, abs=0.3)
    shown = (round(row["MMAD"]["mean"], 2), round(row["MMAD"]["ci"], 2))
    assert shown == (alone["confidence_mean"], alone["confidence_var"])


@pytest.mark.parametrize("flags", [["-b"], ["-sl"], ["--show-spans", "-f", "text"]], ids=str)
def test_a_system_s_name_cannot_move_the_terminal(
    mmad: Mmad, server: LoopbackServer, flags: list[str]
):
    out = paired(mmad, server, "--name", "good", "b\x1b[31mad", *flags).out
    assert r"b\x1b[31mad" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("flags", [["-pbs"], ["-par"], ["-pbs", "-f", "text"]], ids=str)
def test_where_nothing_is_scored_nothing_is_tested(mmad: Mmad, flags: list[str]):
    with LoopbackServer("prose") as server:
        ran = paired(mmad, server, *flags)
        single = mmad(*base(server, "-i", "bad.txt", "-ci"))
    assert ran.status == single.status == 3
    result = json.loads(single.out, parse_constant=pytest.fail)
    assert (result["score"], "confidence" in result) == (None, False)
    if "text" in flags:
        assert "None 0/3" in ran.out
    else:
        row = json.loads(ran.out, parse_constant=pytest.fail)[1]["MMAD"]
        assert (row["score"], row["p_value"], row["n_common"]) == (None, None, 0)


def test_the_seed_is_sacrebleus_and_shows(mmad: Mmad, monkeypatch: pytest.MonkeyPatch):
    with LoopbackServer(Annotator(KNOWN)) as server:
        outputs = []
        for seed in ("7", "7", "8"):
            monkeypatch.setenv("SACREBLEU_SEED", seed)
            outputs.append(mmad(*base(server, "-i", "bad.txt", "-ci", "-w", "6")).out)
        monkeypatch.setenv("SACREBLEU_SEED", "None")
        free = json.loads(mmad(*base(server, "-i", "bad.txt", "-ci")).out)
    assert outputs[0] == outputs[1] != outputs[2]
    assert json.loads(outputs[0])["seed"] == "7"
    assert free["seed"] == "none"


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["-i", "good.txt", "-par", "-j", "-1"], "--paired-jobs"),
        (["-i", "good.txt", "-ci"], "--confidence"),
        (["-pbs"], "--paired-bs"),
        (["-sl", "-ci"], "-sl"),
        (["-sl", "-m", "mmad", "bleu"], "-sl"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_before_any_call(
    mmad: Mmad, server: LoopbackServer, flags: list[str], named: str
):
    ran = mmad(*base(server, "-i", "bad.txt", *flags))
    assert (ran.status, ran.out, server.call_count) == (1, "", 0)
    assert named in ran.err


def test_a_seed_that_is_none_is_refused(
    mmad: Mmad, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SACREBLEU_SEED", "many")
    ran = mmad(*base(server, "-i", "bad.txt", "-ci"))
    assert (ran.status, server.call_count, "SACREBLEU_SEED" in ran.err) == (1, 0, True)


@pytest.mark.parametrize("flags", [["-pbs", "-pbsn", "50"], ["-par", "-parn", "50"]], ids=str)
def test_repeats_enter_intervals_and_tests(mmad: Mmad, flags: list[str]):
    with silent_about("heute recht sehr kalt") as server:
        rows = json.loads(paired(mmad, server, "--repeats", "2", *flags).out)
        interval = json.loads(mmad(*base(server, "-i", "bad.txt", "--repeats", "2", "-ci")).out)
    assert (rows[1]["MMAD"]["score"], rows[1]["MMAD"]["n_common"]) == (-3, 2)
    assert (rows[1]["repeats"], interval["repeats"]) == (2, "2")
    assert -6 <= interval["confidence_mean"] <= 0
