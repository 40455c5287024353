from __future__ import annotations

import csv
import importlib.util
import io
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.hub import wheel as wheel_module
from mmad_metric.hub.wheel import find_checkout, package_wheel, packed_again, requirements
from mmad_metric.version import __version__

pytest.importorskip("build")
ROOT = Path(__file__).resolve().parents[2]
NAME = f"mmad_metric-{__version__}-py3-none-any.whl"


@pytest.fixture
def installed(wheel: tuple[str, bytes], tmp_path: Path) -> Path:
    """A folder as an installer leaves it: the wheel's files, its own notes, a compiled module."""
    site = tmp_path / "site"
    with zipfile.ZipFile(io.BytesIO(wheel[1])) as archive:
        archive.extractall(site)
    about = site / f"mmad_metric-{__version__}.dist-info"
    (about / "INSTALLER").write_text("pip\n")
    (site / "mmad_metric" / "__pycache__").mkdir()
    (site / "mmad_metric" / "__pycache__" / "x.pyc").write_bytes(b"compiled")
    with (about / "RECORD").open("a") as record:
        record.write("../../bin/mmad,sha256=AAAA,200\nmmad_metric/__pycache__/x.pyc,,\n")
        record.write(f"{about.name}/INSTALLER,sha256=AAAA,4\n")
    return site


def names(content: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return archive.namelist()


def found(site: Path) -> metadata.Distribution:
    return next(iter(metadata.distributions(name="mmad-metric", path=[str(site)])))


def test_a_checkout_is_built_with_card_app_script_and_prompts(wheel: tuple[str, bytes]):
    assert wheel[0] == NAME
    held = names(wheel[1])
    page = [f"report/page/{path.name}" for path in (ROOT / "mmad_metric/report/page").iterdir()]
    assert len(page) == 6
    for name in ("card/hub_card.md", "hub/app.py", "mmad.py", "prompts/mmad/pack.toml", *page):
        assert f"mmad_metric/{name}" in held
    for file in (ROOT / "prompts").rglob("*.*"):
        if "__pycache__" not in file.parts:
            assert f"mmad_metric/{file.relative_to(ROOT)}" in held
    with zipfile.ZipFile(io.BytesIO(wheel[1])) as archive:
        card = archive.read("mmad_metric/card/hub_card.md")
    assert card == (ROOT / "hub_card.md").read_bytes()
    assert [name for name in held if name.startswith("mmad_metric/card/")] == [
        "mmad_metric/card/hub_card.md"
    ]


def test_building_again_gives_the_same_bytes(wheel: tuple[str, bytes]):
    assert package_wheel() == wheel


def test_building_leaves_nothing_in_the_checkout():
    before = sorted(path.name for path in ROOT.iterdir())
    package_wheel()
    assert sorted(path.name for path in ROOT.iterdir()) == before


def test_the_wheel_tells_its_requirements(wheel: tuple[str, bytes]):
    lines = requirements(wheel[1])
    assert any(line.startswith("openai[aiohttp]") for line in lines)
    assert any(line.startswith("evaluate") and 'extra == "evaluate"' in line for line in lines)


def test_an_installation_is_packed_again_as_it_was(wheel: tuple[str, bytes], installed: Path):
    name, content = packed_again(found(installed))
    assert name == NAME
    assert sorted(names(content)) == sorted(names(wheel[1]))
    with (
        zipfile.ZipFile(io.BytesIO(content)) as again,
        zipfile.ZipFile(io.BytesIO(wheel[1])) as first,
    ):
        for each in again.namelist():
            if not each.endswith("RECORD"):
                assert again.read(each) == first.read(each), each
        record = f"mmad_metric-{__version__}.dist-info/RECORD"
        rows = [
            {tuple(row) for row in csv.reader(io.StringIO(archive.read(record).decode()))}
            for archive in (again, first)
        ]
    assert rows[0] == rows[1]
    assert packed_again(found(installed)) == (name, content)


def test_the_wheel_made_from_an_installation_makes_the_same_space(installed: Path, tmp_path: Path):
    """In a process that has no checkout: the installed command exports with --bundle."""
    code = f"import sys; sys.path.insert(0, {str(installed)!r})\n"
    code += (
        "from mmad_metric.cli import main\nsys.exit(main(['hub', 'export', 'mmad', '--bundle']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mmad" / NAME).is_file()
    card = (tmp_path / "mmad" / "README.md").read_bytes()
    assert card == (ROOT / "hub_card.md").read_bytes()


def test_a_changed_installation_is_not_packed(installed: Path):
    (installed / "mmad_metric" / "mmad.py").write_text("changed")
    with pytest.raises(ConfigError, match=r"mmad\.py: not as it was installed"):
        packed_again(found(installed))


def test_an_incomplete_installation_is_not_packed(installed: Path):
    (installed / "mmad_metric" / "mmad.py").unlink()
    with pytest.raises(ConfigError, match=r"mmad\.py: cannot be read"):
        packed_again(found(installed))


def test_an_installation_without_a_record_is_not_packed(installed: Path):
    (installed / f"mmad_metric-{__version__}.dist-info" / "RECORD").unlink()
    with pytest.raises(ConfigError, match="no wheel can be made of this installation"):
        packed_again(found(installed))


def test_only_a_checkout_of_this_project_is_one(tmp_path: Path):
    assert find_checkout(ROOT) == ROOT
    assert find_checkout(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert find_checkout(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("broken [")
    assert find_checkout(tmp_path) is None


def test_without_build_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install build"):
        package_wheel()


def test_a_build_that_fails_is_told_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "no_such_backend"\n'
        '[project]\nname = "mmad-metric"\n[tool.setuptools.package-dir]\n'
    )
    monkeypatch.setattr(wheel_module, "find_checkout", lambda folder: tmp_path)
    with pytest.raises(ConfigError, match="no_such_backend"):
        package_wheel()
