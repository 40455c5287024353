from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError
from mmad_metric.hub.space import requirements_with, space_files
from mmad_metric.version import __version__

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
CARD = (ROOT / "hub_card.md").read_text(encoding="utf-8")
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


@pytest.fixture
def front() -> dict[str, Any]:
    found = re.match(r"---\n(.*?)\n---\n", CARD, re.DOTALL)
    assert found is not None
    matter: dict[str, Any] = yaml.safe_load(found[1])
    return matter


def test_the_front_matter_is_what_a_space_takes(front: dict[str, Any]):
    """The Hub's reference of Space configuration."""
    assert front["sdk"] == "gradio"
    assert front["app_file"] == "app.py"
    assert {front["colorFrom"], front["colorTo"]} <= COLOURS
    assert front["pinned"] is False
    assert isinstance(front["title"], str)
    assert front["emoji"].isprintable()
    assert {"evaluate", "metric"} <= set(front["tags"])
    assert front["description"]
    assert len(front["short_description"]) <= 60
    assert re.fullmatch(r"3\.\d+", front["python_version"])


def test_the_card_names_the_gradio_that_the_app_is_tested_with(front: dict[str, Any]):
    gradio = pytest.importorskip("gradio")
    assert front["sdk_version"].split(".")[0] == gradio.__version__.split(".")[0]
    lowest = re.search(r"gradio>=([\d.]+)", (ROOT / "pyproject.toml").read_text())
    assert lowest is not None
    assert front["sdk_version"].startswith(lowest[1])


def test_the_card_has_the_sections_of_a_metric_card():
    titles = re.findall(r"^#+ (.+)$", CARD, re.MULTILINE)
    assert [title for title in titles if title != "Metric card for MMAD"] == [
        "Metric description",
        "How to use",
        "Inputs",
        "Output values",
        "Values from the paper",
        "Limitations and bias",
        "Cost",
        "Citation",
    ]


def test_every_option_that_the_card_names_is_one():
    inputs = CARD.partition("### Inputs")[2].partition("###")[0]
    options = set(re.findall(r"\*\*(\w+)\*\*", inputs))
    known = {*MMADConfig.__dataclass_fields__, "src_lang", "tgt_lang", "docs", "return_debates"}
    assert options - {"sources", "predictions", "references"} <= known
    assert {"lp", "model", "base_url"} <= options


def test_the_files_are_those_of_the_package():
    files = space_files()
    assert files["README.md"] == (ROOT / "hub_card.md").read_bytes()
    assert files["mmad.py"] == (ROOT / "mmad_metric" / "mmad.py").read_bytes()
    assert files["requirements.txt"] == f"mmad-metric[evaluate]=={__version__}\n".encode()


def test_the_app_imports_nothing_that_its_space_does_not_install():
    tree = ast.parse(space_files()["app.py"])
    names = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert names - sys.stdlib_module_names == {"gradio", "mmad_metric"}


def test_a_bundle_asks_for_what_the_wheel_asks_for_and_names_no_file_to_install():
    """A Space installs its requirements before its other files are there."""
    needs = (
        "openai[aiohttp]<4,>=3.0",
        'tomli>=2.0.1; python_version < "3.11"',
        'evaluate>=0.4.6; extra == "evaluate"',
        "xllamacpp>=2026; extra == 'local'",
        'datasets>=4; (python_version < "3.14") and extra == "evaluate"',
    )
    lines = [
        "openai[aiohttp]<4,>=3.0",
        'tomli>=2.0.1; python_version < "3.11"',
        "evaluate>=0.4.6",
        'datasets>=4; (python_version < "3.14")',
    ]
    assert requirements_with(needs, "evaluate") == lines
    files = space_files(("mmad_metric-1-py3-none-any.whl", b"PK"), needs)
    written = files["requirements.txt"].decode().splitlines()
    assert [line for line in written if not line.startswith("#")] == lines
    assert files["mmad_metric-1-py3-none-any.whl"] == b"PK"


def test_an_incomplete_installation_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("mmad_metric.hub.space.resources.files", lambda name: tmp_path / name)
    with pytest.raises(ConfigError, match=r"hub_card\.md.*install it again"):
        space_files()
