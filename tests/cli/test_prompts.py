"""`mmad prompts`: exactly what is sent, and whether a pack is sound."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer

SHIPPED = Path(__file__).resolve().parents[2] / "prompts" / "mmad"


def test_what_is_shown_is_what_is_sent(mmad: Mmad, server: LoopbackServer):
    mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url, "--model", "m")
    sent = next(call for call in server.calls if "fluency errors" in call.prompt)
    texts = ("--source", "The red house is old.", "--translation", "Das rote Maus ist alt.")
    shown = mmad("prompts", "show", "-l", "en-de", "--dimension", "fluency", *texts)
    assert shown.status == 0
    for message in sent.messages[:-1]:
        assert message["content"] in shown.out


@pytest.mark.parametrize("stage", ["annotate", "debate", "consensus", "judge"])
def test_each_stage_can_be_shown_for_any_pair(mmad: Mmad, stage: str):
    ran = mmad("prompts", "show", "--lp", "he-en", "--stage", stage)
    assert ran.status == 0
    assert "JSON" in ran.out
    assert "tokens)" in ran.out


def test_the_shipped_pack_is_sound(mmad: Mmad):
    ran = mmad("prompts", "check", str(SHIPPED))
    assert (ran.status, ran.out.startswith("mmad.1@")) == (0, True)


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _bad_demo(folder: Path) -> None:
    lines = (folder / "demos/en-de.jsonl").read_text(encoding="utf-8").split("\n")
    data = json.loads(lines[1])
    data["annotations"][0]["error_span"] = "words that are nowhere"
    lines[1] = json.dumps(data)
    (folder / "demos/en-de.jsonl").write_text("\n".join(lines), encoding="utf-8")


BREAKS = [
    (lambda p: (p / "pack.toml").unlink(), "pack.toml"),
    (lambda p: _replace(p / "pack.toml", "name =", "nam ="), "name"),
    (lambda p: _replace(p / "pack.toml", 'version = "1"', "version = "), "pack.toml"),
    (lambda p: (p / "judge.user.j2").unlink(), "judge.user.j2"),
    (lambda p: (p / "judge.user.j2").write_text("{% if %}"), "judge.user.j2:1"),
    (lambda p: (p / "judge.user.j2").write_text("{{ sorce }}"), "sorce"),
    (lambda p: (p / "dimensions/style.j2").write_text("{{ ''.__class__.__mro__ }}"), "mmad"),
    (lambda p: shutil.rmtree(p / "demos"), "demonstrations"),
    (lambda p: (p / "demos/en-de.jsonl").write_text("{"), "en-de.jsonl:1"),
    (_bad_demo, "words that are nowhere"),
    (lambda p: (p / "demos/en-de.jsonl").write_bytes(b"\xff"), "UTF-8"),
    (lambda p: (p / "demos/en-de.jsonl").rename(p / "demos/english.jsonl"), "english.jsonl"),
]


@pytest.mark.parametrize(("damage", "named"), BREAKS, ids=map(str, range(len(BREAKS))))
def test_a_broken_pack_fails_before_any_call_naming_the_file(
    mmad: Mmad, server: LoopbackServer, files: Path, damage, named: str
):
    shutil.copytree(SHIPPED, files / "pack")
    damage(files / "pack")
    checked = mmad("prompts", "check", "pack")
    assert (checked.status, checked.out) == (1, "")
    assert named in checked.err
    ran = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url,
               "--prompts", "./pack")  # fmt: skip
    assert (ran.status, server.call_count) == (1, 0)


def test_another_word_in_a_pack_is_another_signature(mmad: Mmad, files: Path):
    shutil.copytree(SHIPPED, files / "pack")
    before = mmad("prompts", "check", "pack").out.split(":")[0]
    _replace(files / "pack" / "judge.system.j2", "the", "this")
    assert mmad("prompts", "check", "pack").out.split(":")[0] != before
