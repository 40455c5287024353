"""MMAD beside sacreBLEU's metrics in one command: order, decimals, inputs, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import BAD, GOOD, SOURCES, Mmad
from tests.loopback import LoopbackServer

MIXED = ["-m", "mmad", "chrf", "bleu"]


@pytest.fixture
def base(server: LoopbackServer, files: Path) -> list[str]:
    (files / "ref.txt").write_text("\n".join(GOOD) + "\n", encoding="utf-8")
    return ["-l", "en-de", "--base-url", server.url, "--model", "m"]


def test_metrics_stand_in_sacrebleus_order_each_with_its_own_decimals(mmad: Mmad, base: list[str]):
    ran = mmad("ref.txt", *base, "-s", "src.txt", "-i", "good.txt", "bad.txt", *MIXED)
    row = json.loads(ran.out)[0]
    assert list(row)[:4] == ["system", "BLEU", "chrF2", "MMAD"]
    assert (row["BLEU"], row["chrF2"], row["MMAD"]) == ("100.0", "100.0", "0.00")
    wide = mmad("ref.txt", *base, "-s", "src.txt", "-i", "good.txt", "bad.txt", *MIXED, "-w", "3")
    row = json.loads(wide.out)[0]
    assert (row["BLEU"], row["chrF2"], row["MMAD"]) == ("100.000", "100.000", "0.000")
    assert "not used by the metric" not in ran.err


def test_a_test_keeps_the_order_asked_for(mmad: Mmad, base: list[str]):
    ran = mmad("ref.txt", *base, "-s", "src.txt", "-i", "good.txt", "bad.txt", *MIXED, "-par")
    assert list(json.loads(ran.out)[0])[:4] == ["system", "MMAD", "chrF2", "BLEU"]


def test_bare_scores_of_several_systems_are_a_line_each(mmad: Mmad, base: list[str]):
    arguments = [*base, "-s", "src.txt", "-i", "good.txt", "bad.txt", "-b"]
    assert mmad(*arguments).out == "good\t0.00\nbad\t-2.33\n"
    lines = mmad("ref.txt", *arguments, "-m", "mmad", "bleu").out.splitlines()
    assert lines[0] == "good\t100.0\t0.00"


def test_a_bare_score_that_there_is_not_is_null_in_json(mmad: Mmad, base: list[str]):
    with LoopbackServer("prose") as silent:
        base[base.index("--base-url") + 1] = silent.url
        ran = mmad("ref.txt", *base, "-s", "src.txt", "-i", "good.txt", "-b", "-m", "mmad", "bleu")
    assert json.loads(ran.out) == [100.0, None]


def test_spans_in_json_come_beside_all_metrics(mmad: Mmad, base: list[str]):
    ran = mmad("ref.txt", *base, "-s", "src.txt", "-i", "bad.txt", "-m", "mmad", "bleu",
               "--show-spans")  # fmt: skip
    result = json.loads(ran.out)
    assert [each["name"] for each in result["systems"]] == ["BLEU", "MMAD"]
    assert result["segments"][0]["spans"][0]["text"] == "Maus"


def test_a_table_with_references_serves_all_metrics(mmad: Mmad, base: list[str], files: Path):
    rows = zip(SOURCES, BAD, GOOD, strict=True)
    (files / "all.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (files / "all.jsonl").write_text(
        "".join(
            json.dumps({"source": source, "translation": bad, "reference": good}) + "\n"
            for source, bad, good in zip(SOURCES, BAD, GOOD, strict=True)
        )
    )
    outputs = {
        mmad(*base, "-i", name, "-m", "mmad", "bleu", "-b").out for name in ("all.tsv", "all.jsonl")
    }
    given = mmad("ref.txt", *base, "-s", "src.txt", "-i", "bad.txt", "-m", "mmad", "bleu", "-b")
    assert outputs == {given.out}


def test_bare_scores_of_several_systems_stand_in_the_order_of_the_table(
    mmad: Mmad, base: list[str], files: Path
):
    systems = ["ref.txt", *base, "-s", "src.txt", "-i", "good.txt", "bad.txt"]
    metrics = ["-m", "mmad", "chrf", "bleu"]
    sorted_columns = mmad(*systems, *metrics, "-b").out.splitlines()
    as_asked = mmad(*systems, *metrics, "-b", "-par", "-parn", "9").out.splitlines()
    assert sorted_columns[0] == "good\t100.0\t100.0\t0.00"  # BLEU, chrF, MMAD
    assert as_asked[0] == "good\t0.00\t100.0\t100.0"


def test_a_mark_that_sacrebleu_scores_is_told_once(mmad: Mmad, base: list[str], files: Path):
    for name in ("good.txt", "ref.txt", "src.txt"):
        (files / name).write_bytes(b"\xef\xbb\xbf" + (files / name).read_bytes())
    bleu = ["ref.txt", "-i", "good.txt", "-m", "bleu", "-b"]
    ran = mmad(*bleu)
    assert ran.out == "100.0\n"
    assert ran.err.startswith("mmad: good.txt, ref.txt: the byte-order mark at the start is left")
    assert ran.err.count("\n") == 1
    for quiet in (["-q"], ["-e", "utf-8-sig"]):
        assert mmad(*bleu, *quiet).err == ""
    assert "byte-order" not in mmad(*base, "-s", "src.txt", "-i", "good.txt").err


def test_what_cannot_be_computed_costs_nothing(
    mmad: Mmad, base: list[str], server: LoopbackServer, files: Path
):
    (files / "two.jsonl").write_text(
        '{"system": "a", "source": "s", "translation": "t", "reference": "r"}\n'
        '{"system": "b", "source": "s", "translation": "t", "reference": "other"}\n'
    )
    for arguments, named in (
        (["-s", "src.txt", "-i", "good.txt", *MIXED], "no reference for row 1"),
        (["ref.txt", "-s", "src.txt", "-i", "good.txt", *MIXED, "-tok", "spm"], "BLEU: "),
        (["-i", "two.jsonl", *MIXED], "differ in row 1"),
    ):
        ran = mmad(*arguments, *base)
        assert (ran.status, ran.out, server.call_count) == (1, "", 0)
        assert named in ran.err


@pytest.mark.parametrize("flag", ["-o", "--show-spans", "--dry-run", "--strict"])
def test_options_about_rating_need_mmad(mmad: Mmad, base: list[str], flag: str):
    ran = mmad(
        "ref.txt", "-i", "bad.txt", "-m", "bleu", flag, *(["run.jsonl"] if flag == "-o" else [])
    )
    assert (ran.status, flag in ran.err, base[0]) == (1, True, "-l")


def test_systems_come_on_standard_input_for_mmad_too(
    mmad: Mmad, base: list[str], files: Path, monkeypatch: pytest.MonkeyPatch
):
    columns = zip(GOOD, BAD, strict=True)
    (files / "stdin").write_text("".join(f"{good}\t{bad}\n" for good, bad in columns))
    with (files / "stdin").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        ran = mmad(*base, "-s", "src.txt", "-o", "run.jsonl")
    assert [(row["system"], row["MMAD"]) for row in json.loads(ran.out)] == [
        ("System 1", "0.00"),
        ("System 2", "-2.33"),
    ]
    assert (files / "run.jsonl").exists()


def test_colours_are_for_terminals_that_want_them(
    mmad: Mmad, base: list[str], monkeypatch: pytest.MonkeyPatch
):
    arguments = ["ref.txt", "-i", "good.txt", "bad.txt", "-m", "bleu", "-f", "text"]
    assert "\x1b" not in mmad(*arguments).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "\x1b[36mBLEU" in mmad(*arguments).out
    assert "\x1b" not in mmad(*arguments, "-nc").out
    assert "\x1b" not in mmad(*arguments[:-1], "latex").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in mmad(*arguments).out
    assert base


def test_systems_on_standard_input_need_sources_for_mmad(
    mmad: Mmad, base: list[str], server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    with open("good.txt", encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        ran = mmad(*base)
    assert (ran.status, server.call_count) == (1, 0)
    assert "-i -" in ran.err


def test_sacrebleus_short_option_for_smoothing_is_explained(mmad: Mmad, base: list[str]):
    ran = mmad("ref.txt", *base, "-i", "good.txt", "-m", "bleu", "-s", "floor")
    assert (ran.status, "--smooth-method floor" in ran.err) == (1, True)


def test_rating_alone_loads_neither_sacrebleu_nor_numpy(base: list[str], files: Path):
    code = (
        "import sys; from mmad_metric.cli import main; "
        f"main({['-s', 'src.txt', '-i', 'bad.txt', *base, '--no-cache', '-b']!r}); "
        "print(sorted({'numpy', 'sacrebleu', 'lxml'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=files
    )
    assert done.stdout == "-2.33\n[]\n"
