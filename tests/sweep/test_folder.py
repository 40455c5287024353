"""The account of a sweep: what settings have taken, summed over invocations, under their runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mmad_metric.chat import Usage
from mmad_metric.errors import InputError
from mmad_metric.sweep.folder import Account, Paid, prepare_folder, strangers

FIRST = Paid.of(Usage(3, 100, 40, 10), seconds=1.5, from_cache=2, cost=0.25)
SECOND = Paid.of(Usage(1, 50, 0, 5), seconds=0.5, from_cache=7, cost=0.5)
HEADER = {"config": {"rounds": 1}}


def test_invocations_add_up_and_an_unknown_price_stays_unknown():
    assert Paid(2.0, 4, 9, 150, 40, 15, 0.75, 2) == FIRST + SECOND
    unknown = Paid.of(Usage(1), seconds=0, from_cache=0, cost=None)
    assert (FIRST + unknown).cost_usd is None
    assert (Paid() + FIRST) == FIRST


def test_an_account_is_kept_on_disk_with_each_entry(tmp_path: Path):
    account = Account.read(str(tmp_path))
    assert account.paid("a", HEADER) is None
    account.add("a", HEADER, FIRST)
    account.add("a", HEADER, SECOND)
    again = Account.read(str(tmp_path))
    assert again.paid("a", HEADER) == FIRST + SECOND
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.json"]


def test_what_another_configuration_of_the_name_took_does_not_count(tmp_path: Path):
    account = Account.read(str(tmp_path))
    account.add("a", HEADER, FIRST)
    other = {"config": {"rounds": 2}}
    assert account.paid("a", other) is None
    account.add("a", other, SECOND)
    assert account.paid("a", other) == SECOND


@pytest.mark.parametrize(
    "stored",
    ["", "[]", "{}", '{"format": "mmad-sweep", "version": 2, "settings": {}}',
     json.dumps({"format": "mmad-sweep", "version": 1, "settings": {"a": {"run": "x"}}}),
     json.dumps({"format": "mmad-sweep", "version": 1, "settings": []})],
    ids=["empty", "list", "object", "version", "entry", "settings"],
)  # fmt: skip
def test_a_file_that_is_no_account_is_refused(tmp_path: Path, stored: str):
    (tmp_path / "sweep.json").write_text(stored)
    with pytest.raises(InputError, match="not the account of a sweep"):
        Account.read(str(tmp_path))


def test_an_account_that_cannot_be_written_is_said(tmp_path: Path):
    account = Account.read(str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"sweep\.json: cannot be written: No such file"):
        account.write()


def test_run_files_of_no_setting_are_found(tmp_path: Path):
    prepare_folder(str(tmp_path / "a" / "b"))
    for name in ("own.jsonl", "old.jsonl", "notes.txt"):
        (tmp_path / "a" / "b" / name).touch()
    assert strangers(str(tmp_path / "a" / "b"), ["own"]) == ["old.jsonl"]
