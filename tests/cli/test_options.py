"""The options of `mmad` as its --help shows them."""

from __future__ import annotations

import pytest

from mmad_metric.cli import SUBCOMMANDS, main


def test_the_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    assert [name for name in SUBCOMMANDS if f"  mmad {name} " not in shown] == []
