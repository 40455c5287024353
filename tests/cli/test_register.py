"""`mmad register`: what it says, and how it ends."""

from __future__ import annotations

from pathlib import Path

import evaluate.config
import pytest

from mmad_metric.registration import SHIM
from tests.cli.conftest import Mmad


def test_it_says_where_and_can_be_undone(
    mmad: Mmad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "modules")
    ran = mmad("register")
    path = Path(ran.out.removeprefix("registered: ").rstrip("\n"))
    assert (ran.status, ran.err, path.read_text()) == (0, "", SHIM)
    assert mmad("register").out == ran.out
    undone = mmad("register", "--undo")
    assert (undone.status, undone.out) == (0, f"removed: {path}\n")
    assert not path.exists()


def test_a_cache_that_cannot_be_written_is_status_1_and_one_line(
    mmad: Mmad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "wall").write_text("")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "wall" / "modules")
    ran = mmad("register")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.count("\n") == 1
    assert "HF_MODULES_CACHE" in ran.err


def test_its_help_says_what_to_set_offline(mmad: Mmad):
    ran = mmad("register", "--help")
    assert ran.status == 0
    assert "HF_EVALUATE_OFFLINE=1" in ran.out
