from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import evaluate
import evaluate.config
import pytest

from mmad_metric.errors import InputError
from mmad_metric.registration import SHIM, is_registered, modules_cache, register

ALONE = """
import sys
from mmad_metric.registration import register
for _ in range(40):
    register()
print("evaluate" in sys.modules)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of modules that evaluate uses."""
    folder = tmp_path / "modules"
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", folder)
    return folder


def other_version(cache: Path, letter: str, changed: float) -> Path:
    """A version of the metric that did not come from here, as from a visit to the Hub."""
    script = cache / "evaluate_modules/metrics/evaluate-metric--mmad" / (letter * 64) / "mmad.py"
    script.parent.mkdir(parents=True)
    script.write_text("# another\n")
    os.utime(script, (changed, changed))
    return script


def test_the_file_has_one_line_and_stands_where_evaluate_looks(cache: Path) -> None:
    path = register()
    assert path.read_text() == "from mmad_metric.mmad import Mmad  # From: mmad-metric\n"
    assert path.name == "mmad.py"
    assert path.parent.parent == cache / "evaluate_modules" / "metrics" / "evaluate-metric--mmad"
    assert len(bytes.fromhex(path.parent.name)) == 32
    found = evaluate.loading.CachedEvaluationModuleFactory("evaluate-metric--mmad").get_module()
    assert found.hash == path.parent.name


def test_registering_again_changes_nothing_but_the_time(cache: Path) -> None:
    path = register()
    os.utime(path, (1, 1))
    assert register() == path
    assert path.stat().st_mtime > time.time() - 60
    markers = {cache / "__init__.py", cache / "evaluate_modules" / "__init__.py"}
    assert {file for file in cache.rglob("*") if file.is_file()} == {path, *markers}
    assert {marker.read_bytes() for marker in markers} == {b""}
    assert os.listdir(path.parent.parent) == [path.parent.name]


def test_a_file_of_an_earlier_release_is_written_over(cache: Path) -> None:
    path = register()
    path.write_text("from mmad_metric.old import Gone\n")
    assert register() == path
    assert path.read_text() == SHIM


def test_a_version_folder_left_without_its_script_is_mended(cache: Path) -> None:
    path = register()
    path.unlink()
    assert register() == path
    assert path.read_text() == SHIM


def test_it_is_newer_than_versions_from_elsewhere_even_when_their_clock_runs_ahead(
    cache: Path,
) -> None:
    past = other_version(cache, "a", 1_000_000_000.0)
    future = other_version(cache, "b", time.time() + 5_000)
    path = register()
    assert path.stat().st_mtime > future.stat().st_mtime
    found = evaluate.loading.CachedEvaluationModuleFactory("evaluate-metric--mmad").get_module()
    assert found.hash == path.parent.name
    assert past.read_text() == future.read_text() == "# another\n"


def test_other_users_of_a_shared_cache_may_read_it(cache: Path) -> None:
    before = os.umask(0o022)
    try:
        path = register()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.parent.stat().st_mode & 0o777 == 0o755


def test_undo_removes_all_that_was_written(cache: Path) -> None:
    path = register()
    assert register(undo=True) == path
    assert list(cache.rglob("*")) == []


def test_undo_leaves_the_packages_of_others(cache: Path) -> None:
    register()
    (cache / "datasets_modules").mkdir()
    register(undo=True)
    assert {each.name for each in cache.iterdir()} == {"__init__.py", "datasets_modules"}


def test_undo_leaves_what_others_wrote(cache: Path) -> None:
    other = other_version(cache, "a", 1_000_000_000.0)
    path = register()
    register(undo=True)
    assert not path.parent.exists()
    assert os.listdir(other.parent.parent) == ["a" * 64]
    assert other.exists()


def test_undo_without_registering_is_no_error_and_makes_no_folder(cache: Path) -> None:
    register(undo=True)
    assert not cache.exists()
    register()
    assert is_registered()
    register(undo=True)
    assert not is_registered()
    register(undo=True)
    assert register().exists()


@pytest.mark.parametrize("undo", [False, True])
def test_a_cache_that_cannot_be_written_is_named_with_a_way_out(
    undo: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = tmp_path / "a_file"
    wall.write_text("")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", wall / "modules")
    with pytest.raises(InputError, match=r"cannot (write|remove) .*a_file/modules") as caught:
        register(undo=undo)
    assert "HF_MODULES_CACHE" in str(caught.value)
    assert "from mmad_metric.mmad import Mmad" in str(caught.value)
    assert list(tmp_path.iterdir()) == [wall]


ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"HOME": "/somewhere"},
    {"XDG_CACHE_HOME": "/xdg"},
    {"XDG_CACHE_HOME": "/xdg", "HF_HOME": "/hf"},
    {"HF_HOME": "~/hf", "HOME": "/somewhere"},
    {"HF_HOME": "relative/hf"},
    {"HF_HOME": ""},
    {"HF_HOME": "/hf", "HF_MODULES_CACHE": "/modules"},
    {"HF_MODULES_CACHE": "~/modules", "HOME": "/somewhere"},
]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
def test_the_cache_is_found_as_evaluate_finds_it(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "HF_HOME", "HF_MODULES_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location("evaluate.config2", evaluate.config.__file__)
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    monkeypatch.delitem(sys.modules, "evaluate.config")
    assert modules_cache() == fresh.HF_MODULES_CACHE


def test_once_imported_evaluate_is_asked_whatever_the_environment_says_now(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_MODULES_CACHE", "/elsewhere")
    assert modules_cache() == cache


def test_no_step_shows_a_version_without_its_script(cache: Path) -> None:
    metric = cache / "evaluate_modules" / "metrics" / "evaluate-metric--mmad"
    watching = True
    seen: list[tuple[str, bool]] = []

    def look(event: str, _: object) -> None:
        """Runs before each step, so it sees what the step before has left."""
        if watching and event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            versions = [metric / name for name in os.listdir(metric)] if metric.is_dir() else []
            seen.extend(
                (
                    event,
                    (version / "mmad.py").is_file()
                    and len(SHIM) == os.path.getsize(version / "mmad.py"),
                )
                for version in versions
                if len(version.name) == 64
            )

    sys.addaudithook(look)  # it stays until the process ends
    try:
        path = register()
        register()
        (path.parent / "__pycache__").mkdir()
        (path.parent / "__pycache__" / "mmad.pyc").write_bytes(b"")
        register(undo=True)
        os.mkdir(cache / "another_step")
    finally:
        watching = False
    assert {event for event, _ in seen} >= {"open", "os.mkdir", "os.rename"}
    assert all(whole for _, whole in seen)


def test_many_processes_at_once_never_show_a_version_without_script(tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    environment.pop("HF_MODULES_CACHE", None)
    command = [sys.executable, "-c", ALONE]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    metric = tmp_path / "modules" / "evaluate_modules" / "metrics" / "evaluate-metric--mmad"
    seen = 0
    while any(process.poll() is None for process in processes):
        versions = os.listdir(metric) if metric.is_dir() else []
        for version in versions:
            if len(version) == 64:
                seen += 1
                assert (metric / version / "mmad.py").read_text() == SHIM
    # Nobody failed, and nobody paid two seconds to import evaluate.
    assert [process.communicate()[0] for process in processes] == ["False\n"] * 4
    assert seen
    assert len(os.listdir(metric)) == 1


READ_ONLY = """
import os, sys
import evaluate
modules = os.environ["HF_MODULES_CACHE"]
sys.dont_write_bytecode = True
written = []

def look(event, arguments):
    if event == "os.mkdir" and os.path.isdir(arguments[0]):
        return  # as os.makedirs does with a folder that is there
    if event in ("os.mkdir", "os.rename", "os.remove") and modules in str(arguments[0]):
        written.append((event, arguments))
    if event == "open" and modules in str(arguments[0]) and str(arguments[1])[:1] in "wax":
        written.append((event, arguments))

sys.addaudithook(look)
evaluate.load("mmad", lp="en-de", base_url="http://127.0.0.1:9/v1")
print(written)
"""


@pytest.mark.slow
def test_a_registered_cache_may_be_read_only_and_the_rest_of_the_home_unwritable(
    tmp_path: Path,
) -> None:
    """F4. Loading opens nothing in it for writing, which even root's processes can tell."""
    environment = {
        **os.environ,
        "HF_HOME": "/sys/x" if Path("/sys").is_dir() else str(tmp_path),
        "HF_MODULES_CACHE": str(tmp_path / "modules"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for script, said in ((ALONE, "False\n"), (READ_ONLY, "[]\n")):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.stdout == said, done.stderr
