"""The lowest versions that are tested are those that pyproject.toml promises."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = runpy.run_path(str(ROOT / ".ci" / "oldest.py"))
lower_bounds: Callable[[Path], dict[str, str]] = SCRIPT["lower_bounds"]

PROJECT = """
[project]
dependencies = ["openai[aiohttp]>=3.0,<4", "pydantic >= 2.10", "tqdm"]
[project.optional-dependencies]
local = ["huggingface_hub>=1.0"]
evaluate = ["evaluate>=0.4.2", "datasets>=2.21"]
hub = ["huggingface_hub>=1.0"]
"""


def written(text: str, folder: Path) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder / "pyproject.toml"


def test_extras_markers_and_upper_bounds_are_no_part_of_a_lower_bound(tmp_path: Path):
    assert lower_bounds(written(PROJECT, tmp_path)) == {
        "openai": "3.0",
        "pydantic": "2.10",
        "evaluate": "0.4.2",
        "datasets": "2.21",
        "huggingface_hub": "1.0",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("datasets>=2.21", "datasets"),
        ('"datasets>=2.21"', ""),
        ('hub = ["huggingface_hub>=1.0"]', 'hub = ["huggingface_hub>=2.0"]'),
    ],
    ids=["unbounded", "missing", "two"],
)
def test_a_package_without_one_lower_bound_is_refused(tmp_path: Path, old: str, new: str):
    with pytest.raises(ValueError, match=r"(datasets|huggingface_hub): expected one lower bound"):
        lower_bounds(written(PROJECT.replace(old, new), tmp_path))


def test_the_page_on_evaluate_names_them():
    page = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    for name, version in lower_bounds(ROOT / "pyproject.toml").items():
        assert name == "pydantic" or f"{name} {version}" in page


def test_what_is_run_with_them_exists():
    makefile: Any = (ROOT / "Makefile").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^OLDEST_TESTS := (.*?[^\\])$", makefile, re.DOTALL | re.MULTILINE)
    files = listed.replace("\\\n", " ").split()
    assert len(files) > 5
    assert [name for name in files if not (ROOT / name).is_file()] == []
