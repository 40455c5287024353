"""The options of `mmad` as its --help shows them, and what is no usage of them."""

from __future__ import annotations

import os

import pytest
from sacrebleu import BLEU

from mmad_metric.cli import SUBCOMMANDS, main
from tests.cli.conftest import Mmad


def test_the_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    assert [name for name in SUBCOMMANDS if f"  mmad {name} " not in shown] == []


def test_the_help_names_every_tokenizer_of_sacrebleu(mmad: Mmad) -> None:
    shown = " ".join(mmad("--help").out.split())
    assert [name for name in BLEU.TOKENIZERS if f"{name}," not in shown] == []


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["-m", "bleu", "-tok", "nosuch"], "choose from none, zh, 13a"),
        (["-tok", "13A"], "invalid choice: '13A'"),
        (["--show-spans", "-f", "latex"], "-f text or -f json"),
        (["--tsv", "--lines"], "not allowed with"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_status_2(mmad: Mmad, flags: list[str], named: str) -> None:
    ran = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", *flags)
    assert (ran.status, ran.out) == (2, "")
    assert named in ran.err


def test_nothing_on_standard_input_is_bad_input_and_no_input_at_all_is_bad_usage(
    mmad: Mmad, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["src.txt", "-m", "bleu"]
    with open(os.devnull, encoding="utf-8") as empty:
        monkeypatch.setattr("sys.stdin", empty)
        ran = mmad(*arguments)
    assert (ran.status, ran.out, "standard input is empty" in ran.err) == (1, "", True)
    monkeypatch.setattr("sys.stdin", None)
    assert mmad(*arguments).status == 2


def test_a_format_from_the_environment_is_no_way_around(
    mmad: Mmad, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_FORMAT", "latex")
    assert mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--show-spans").status == 2
