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

pytestmark = pytest.mark.slow

pytest.importorskip("evaluate")

KNOWN = by_words({"geschlossen": ("accuracy/mistranslation", "major")})
CODE = """
import json, sys
import evaluate
given = json.loads(sys.stdin.read())
results = []
for path in given["paths"]:
    metric = evaluate.load(path, **given["options"])
    result = metric.compute(
        sources=["The museum stays open until nine on Thursdays."],
        predictions=["Das Museum hat donnerstags bis neun geschlossen."],
        lp="en-de", model="m", base_url=given["url"],
    )
    results.append({"name": metric.name, "from": type(metric).__module__, **result})
print(json.dumps(results))
"""


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


def loaded(
    paths: list[str], server: LoopbackServer, folder: Path, more: Mapping[str, str], **options: Any
) -> list[dict[str, Any]]:
    """What a fresh process, in another folder and with empty caches, loads and computes."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=folder,
        input=json.dumps({"paths": paths, "url": server.url, "options": options}),
        env={**os.environ, "HF_HOME": str(folder / "hf"), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    for result in results:
        assert result["score"] == -5.0
        assert [(span["text"], span["start"], span["end"]) for span in result["spans"][0]] == [
            ("geschlossen", 36, 47)
        ]
        assert result["name"] == "mmad"
        # The copy of the Space's own script was run, not the package's module.
        assert result["from"].startswith("evaluate_modules.metrics.")
    return results


def test_an_exported_folder_loads_offline_from_elsewhere(server: LoopbackServer, tmp_path: Path):
    for name in ("mmad", "renamed"):
        export(space_files(), str(tmp_path / name))
    paths = [f"{tmp_path}/{name}" for name in ("mmad", "mmad/mmad.py", "renamed/mmad.py")]
    offline = {"HF_EVALUATE_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    assert len(loaded(paths, server, tmp_path / "elsewhere", offline)) == len(paths)


def test_a_space_loads_by_its_name_from_the_hub(server: LoopbackServer, tmp_path: Path):
    repos = ["somebody/mmad", "somebody/mmad-metric"]
    with LoopbackHub() as hub:
        hub.spaces = {repo: Space(space_files(script=script_name(repo))) for repo in repos}
        online = {"HF_ENDPOINT": hub.url, "HF_EVALUATE_OFFLINE": "0", "HF_HUB_OFFLINE": "0"}
        assert loaded(repos, server, tmp_path / "elsewhere", online, module_type="metric")
        for repo in repos:
            script = f"/spaces/{repo}/resolve/main/{script_name(repo)}"
            assert {f"HEAD {script}", f"GET {script}"} & set(hub.asked)
