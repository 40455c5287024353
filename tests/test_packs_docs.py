"""What docs/packs.md shows runs as it stands, with a server of our own."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from mmad_metric.cli import main
from tests.loopback import LoopbackServer

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "packs.md").read_text(encoding="utf-8")
COMMANDS = [
    command
    for block in re.findall(r"^```bash\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for command in re.split(r"\n(?=mmad )", block.replace("\\\n", " ").strip())
]
[PYTHON] = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    os.symlink(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")
    return tmp_path


def test_every_command_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert len(COMMANDS) == 4
    with LoopbackServer('{"annotations": []}') as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for command in COMMANDS:
            program, *arguments = shlex.split(command)
            assert program == "mmad"
            assert main(arguments) == 0, capsys.readouterr().err
    assert "context:2|glossary:medical-glossary@" in capsys.readouterr().out
    assert (folder / "medical.jsonl").exists()


def test_the_python_example_runs(folder: Path, monkeypatch: pytest.MonkeyPatch):
    with LoopbackServer('{"annotations": []}') as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        exec(compile(PYTHON, "docs/packs.md", "exec"), {})  # noqa: S102 - our own page
        first, last = server.calls[0], server.calls[-1]
    assert "Pflegefachkraft" in str(first.messages[-1]["content"])
    assert "<context_translation>\nDie Pflegerin" in str(last.messages[-1]["content"])
