"""`mmad sweep` over what is shown beside segments, and over what that needs of the input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmad_metric.signature import parse_signature
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Sweep
from tests.loopback import LoopbackServer

GRID = """
[base]
model = "m"
strategy = "none"
[grid]
context = [0, 1]
glossary = [false, "terms.tsv"]
"""
NAMES = ["cx0-no-glossary", "cx0-glossary-terms.tsv", "cx1-no-glossary", "cx1-glossary-terms.tsv"]
DOCS = ("--doc-ids", "docs.txt")


@pytest.fixture
def server(files: Path) -> Iterator[LoopbackServer]:
    (files / "grid.toml").write_text(GRID)
    (files / "terms.tsv").write_text("house\tHaus\n")
    (files / "docs.txt").write_text("a\na\nb\n")
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


def test_a_glossary_can_be_off_and_on_like_the_other_material(sweep: Sweep, server: LoopbackServer):
    ran = sweep(server, *DOCS)
    settings = json.loads(ran.out)["settings"]
    assert (ran.status, [each["setting"] for each in settings]) == (0, NAMES)
    keys = [parse_signature(each["signature"]) for each in settings]
    assert ["context" in each for each in keys] == [False, False, True, True]
    assert ["glossary" in each for each in keys] == [False, True, False, True]
    assert "glossary terms: 1 term\n" in ran.err


def test_a_setting_can_take_back_the_glossary_of_all(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    text = '[base]\nmodel = "m"\nglossary = "terms.tsv"\n[grid]\nstrategy = ["none"]\n'
    (files / "grid.toml").write_text(text + '[[settings]]\nname = "bare"\nglossary = false\n')
    settings = json.loads(sweep(server).out)["settings"]
    assert ["|glossary:" in each["signature"] for each in settings] == [True, False]


@pytest.mark.parametrize("name", ["prompts", "weights"])
def test_what_a_method_always_has_cannot_be_off(
    sweep: Sweep, server: LoopbackServer, files: Path, name: str
):
    (files / "grid.toml").write_text(f"[grid]\n{name} = [false]\n")
    ran = sweep(server)
    assert (ran.status, server.call_count) == (1, 0)
    assert f"{name}: expected text, not False" in ran.err


def test_every_glossary_that_cannot_be_read_is_told_with_its_setting(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    (files / "grid.toml").write_text('[grid]\nglossary = ["none.tsv", "flat.tsv"]\n')
    (files / "flat.tsv").write_text("house\n")
    ran = sweep(server)
    assert (ran.status, server.call_count) == (1, 0)
    missing, flat = ran.err.splitlines()
    assert missing.startswith("mmad: glossary-none.tsv: none.tsv: cannot be read")
    assert flat.startswith("mmad: glossary-flat.tsv: flat.tsv, line 1: 1 column")


def test_another_glossary_under_the_same_name_is_never_served_from_what_was_kept(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    assert sweep(server, *DOCS).status == 0
    paid = server.call_count
    (files / "terms.tsv").write_text("house\tHaus\nmorning\tMorgen\n")
    refused = sweep(server, *DOCS)
    assert (refused.status, server.call_count) == (1, paid)
    lines = refused.err.splitlines()
    assert [line.split(" is a run of")[0] for line in lines] == [
        f"mmad: runs/{name}.jsonl" for name in NAMES[1::2]
    ]
    for name in NAMES[1::2]:
        (files / "runs" / f"{name}.jsonl").unlink()
    assert sweep(server, *DOCS).status == 0
    # Four annotators of "Good morning.", whose term is new: once without context, and once behind
    # each system's own context.
    assert server.call_count == paid + (1 + 2) * 4


def test_other_documents_and_references_are_named_as_such(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    assert sweep(server, "good.txt", *DOCS).status == 0
    (files / "docs.txt").write_text("a\nb\nb\n")
    assert "over other documents, first in row 2" in sweep(server, "good.txt", *DOCS).err
    (files / "docs.txt").write_text("a\na\nb\n")
    assert "over other references, first in row 1" in sweep(server, "bad.txt", *DOCS).err


def test_references_are_called_unused_only_where_no_setting_shows_them(
    sweep: Sweep, server: LoopbackServer, files: Path
):
    unused = "references are kept in the run file, but not used by the metric"
    assert unused in sweep(server, "good.txt", *DOCS).err
    (files / "grid.toml").write_text("[grid]\nuse_reference = [false, true]\n")
    ran = sweep(server, "good.txt", "-o", "others")
    assert (ran.status, unused in ran.err) == (0, False)
