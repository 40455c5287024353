"""This package as a wheel: built from its checkout, or put together again as it was installed."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import mmad_metric
from mmad_metric.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same module under its older name
    import tomli as tomllib

PROJECT = "mmad-metric"
SETUPTOOLS = 77  # as in pyproject.toml, build-system
# Notes of an installer about one installation, which a wheel does not have.
OF_INSTALLERS = ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")
# One date in all wheels, so that the same files give the same bytes: 1 January 2020, UTC.
EPOCH = "1577836800"
DATE = (2020, 1, 1, 0, 0, 0)
_SHOWN = 600  # letters of a failed build's last words


def package_wheel() -> tuple[str, bytes]:
    """(file name, content) of a wheel of this very package.

    From a checkout it is built, for which `build` is needed; from an installation it is put
    together of the installed files, each checked against what was recorded when it was
    installed. The same files give the same bytes. Raises ConfigError saying what is missing.
    """
    checkout = find_checkout(Path(mmad_metric.__file__).resolve().parent.parent)
    if checkout is not None:
        return _built(checkout)
    try:
        installed = metadata.distribution(PROJECT)
    except metadata.PackageNotFoundError:
        raise ConfigError(
            f"no wheel can be made: {PROJECT} is neither installed nor in a checkout"
        ) from None
    return packed_again(installed)


def requirements(wheel: bytes) -> tuple[str, ...]:
    """The `Requires-Dist` lines of a wheel."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(names[0]).decode("utf-8")
    return tuple(Parser().parsestr(text, headersonly=True).get_all("Requires-Dist", []))


def find_checkout(folder: Path) -> Path | None:
    """The folder if it is a checkout of this project, else None."""
    try:
        settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return folder if settings.get("project", {}).get("name") == PROJECT else None


def _built(checkout: Path) -> tuple[str, bytes]:
    spec = importlib.util.find_spec("build")
    if spec is None or spec.origin is None:  # without origin it is a folder that is called build
        raise ConfigError("--bundle builds a wheel, which needs build: pip install build")
    with tempfile.TemporaryDirectory(prefix="mmad-wheel-") as scratch:
        source, out = Path(scratch, "source"), Path(scratch, "out")
        # A copy: what an earlier build left behind in the checkout does not get in.
        _copy_sources(checkout, source)
        command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(source)]
        if _has_setuptools():
            command.insert(-1, "--no-isolation")
        done = subprocess.run(  # noqa: S603 - fixed words and our own paths, no shell
            command,
            cwd=source,
            env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        wheels = list(out.glob("*.whl")) if done.returncode == 0 else []
        if len(wheels) != 1:
            words = " ".join(f"{done.stdout}\n{done.stderr}".split())[-_SHOWN:]
            raise ConfigError(f"the wheel of {checkout} cannot be built: … {words}")
        return wheels[0].name, wheels[0].read_bytes()


def _copy_sources(checkout: Path, target: Path) -> None:
    settings = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    folders = set(settings["tool"]["setuptools"]["package-dir"].values()) - {"."}
    target.mkdir()
    for file in checkout.iterdir():
        if file.is_file() and file.suffix in (".toml", ".md", "") and file.name[0] != ".":
            shutil.copy2(file, target)
    for folder in folders:
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
        shutil.copytree(checkout / folder, target / folder, ignore=ignored)


def _has_setuptools() -> bool:
    """Whether the build backend is here, so that none need be fetched."""
    try:
        return int(metadata.version("setuptools").partition(".")[0]) >= SETUPTOOLS
    except (metadata.PackageNotFoundError, ValueError):
        return False


def packed_again(installed: metadata.Distribution) -> tuple[str, bytes]:
    """The wheel that an installation came from, as far as its files go.

    Raises ConfigError when a file is not what was installed, or the record is not there.
    """
    contents = dict(_installed_files(installed))
    about = f"{PROJECT.replace('-', '_')}-{installed.version}"
    wheel = contents.get(f"{about}.dist-info/WHEEL", b"").decode("utf-8", "replace")
    if "mmad_metric/__init__.py" not in contents or "Tag: py3-none-any" not in wheel:
        raise ConfigError(
            f"no wheel can be made of this installation of {PROJECT}: its record does not list "
            "the package's files. Install it from a wheel, or run from a checkout"
        )
    record = f"{about}.dist-info/RECORD"
    contents[record] = "".join(
        [f"{name},sha256={_hash(data)},{len(data)}\n" for name, data in sorted(contents.items())]
        + [f"{record},,\n"]
    ).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        # The package first, what is about it last, as the format recommends.
        for name in sorted(contents, key=lambda each: (".dist-info/" in each, each)):
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, contents[name])
    return f"{about}-py3-none-any.whl", buffer.getvalue()


def _installed_files(installed: metadata.Distribution) -> Iterator[tuple[str, bytes]]:
    for file in installed.files or ():
        if ".." in file.parts or "__pycache__" in file.parts or file.is_absolute():
            continue  # scripts, which installers make anew, and compiled modules
        if file.parent.suffix == ".dist-info" and file.name in OF_INSTALLERS:
            continue
        path = Path(str(file.locate()))
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read ({error.strerror or error})") from None
        if file.hash is None or file.hash.mode != "sha256" or file.hash.value != _hash(data):
            raise ConfigError(
                f"{path}: not as it was installed, so the wheel would not be what its version "
                f"says; install {PROJECT} again, or run from a checkout"
            )
        yield file.as_posix(), data


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
