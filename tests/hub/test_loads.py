"""The exported folder and the pushed Space, loaded by `evaluate` in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.hub.folder import export
from mmad_metric.hub.push import script_name
from mmad_metric.hub.space import space_files
from tests.annotator import Annotator, by_words
from tests.hub.loopback_hub import LoopbackHub, Space
from tests.loopback import LoopbackServer

pytest.importorskip("evaluate")

KNOWN = by_words({"geschlossen": ("accuracy/mistranslation", "major")})
CODE = """
import json, sys
import evaluate
path, url = sys.argv[1:]
metric = evaluate.load(path, **json.loads(sys.stdin.read()))
result = metric.compute(
    sources=["The museum stays open until nine on Thursdays."],
    predictions=["Das Museum hat donnerstags bis neun geschlossen."],
    lp="en-de", model="m", base_url=url,
)
print(json.dumps({"name": metric.name, "from": type(metric).__module__, **result}))
"""


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


def loaded(
    path: str, server: LoopbackServer, folder: Path, more: Mapping[str, str], **options: Any
) -> dict[str, Any]:
    """What a fresh process, in another folder and with empty caches, loads and computes."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", CODE, path, server.url],
        cwd=folder,
        input=json.dumps(options),
        env={**os.environ, "HF_HOME": str(folder / "hf"), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def check(result: Mapping[str, Any]) -> None:
    assert result["score"] == -5.0
    assert [(span["text"], span["start"], span["end"]) for span in result["spans"][0]] == [
        ("geschlossen", 36, 47)
    ]


@pytest.mark.parametrize("given", ["mmad", "mmad/mmad.py", "renamed/mmad.py"])
def test_an_exported_folder_loads_offline_from_elsewhere(
    given: str, server: LoopbackServer, tmp_path: Path
):
    export(space_files(), str(tmp_path / given.partition("/")[0]))
    offline = {"HF_EVALUATE_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    result = loaded(f"{tmp_path}/{given}", server, tmp_path / "elsewhere", offline)
    check(result)
    assert result["name"] == "mmad"
    # The copy of the Space's own script was run, not the package's module.
    assert result["from"].startswith("evaluate_modules.metrics.")


@pytest.mark.parametrize("repo", ["somebody/mmad", "somebody/mmad-metric"])
def test_a_space_loads_by_its_name_from_the_hub(repo: str, server: LoopbackServer, tmp_path: Path):
    with LoopbackHub() as hub:
        hub.spaces[repo] = Space(space_files(script=script_name(repo)))
        online = {"HF_ENDPOINT": hub.url, "HF_EVALUATE_OFFLINE": "0", "HF_HUB_OFFLINE": "0"}
        result = loaded(repo, server, tmp_path / "elsewhere", online, module_type="metric")
        script = f"/spaces/{repo}/resolve/main/{script_name(repo)}"
        assert f"HEAD {script}" in hub.asked or f"GET {script}" in hub.asked
    check(result)
