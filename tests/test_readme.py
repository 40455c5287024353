"""Every block of the README runs as it stands; the server that it speaks of is our own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.annotator import Annotator, by_words
from tests.loopback import LoopbackServer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
# Set-up, which .ci/run and `make` do themselves: they cannot run inside the tests they start.
SET_UP = ("make demo", "make test", "pip install")


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language and not text.startswith(SET_UP)]


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """A shell in which `mmad` and `python` are ours, and no key of anybody's is set."""
    bin_folder = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "MMAD_CACHE": str(tmp_path / "cache"),
    }


def run(command: list[str], surroundings: dict[str, str], folder: Path) -> str:
    result = subprocess.run(
        command, env=surroundings, cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_there_are_blocks_to_run():
    assert len(blocks("bash")) >= 4
    assert len(blocks("python")) >= 2


def test_every_block_runs(surroundings: dict[str, str], tmp_path: Path):
    os.symlink(ROOT / "examples", tmp_path / "examples")
    known = by_words({"geschlossen": ("accuracy/mistranslation", "major")})
    with LoopbackServer(Annotator(known)) as server:
        surroundings |= {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-test-key"}
        for text in blocks("bash"):
            run(["bash", "-euc", text], surroundings, tmp_path)
        for text in blocks("python"):
            assert "-5.0" in run([sys.executable, "-c", text], surroundings, tmp_path)
    assert (tmp_path / "run.jsonl").exists()


def test_every_link_to_a_file_leads_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
