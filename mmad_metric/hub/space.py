"""The Space's files in memory: metric card, metric script, app and requirements."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from mmad_metric.errors import ConfigError
from mmad_metric.version import __version__

if TYPE_CHECKING:
    from importlib.abc import Traversable

CARD = "hub_card.md"
SCRIPT = "mmad.py"
APP = "app.py"
README = "README.md"
REQUIREMENTS = "requirements.txt"
# Says which files an export or push wrote and what they held then, so that the next one can tell
# them from somebody's own.
RECORD = ".mmad-space.json"
EXTRA = "evaluate"
_MARK = "mmad hub"
_EXTRA_MARKER = re.compile(r"""(?:\s+and\s+)?\(?\s*extra\s*==\s*["']([\w.-]+)["']\s*\)?\s*$""")


def space_files(
    wheel: tuple[str, bytes] | None = None,
    needs: tuple[str, ...] = (),
    script: str = SCRIPT,
) -> dict[str, bytes]:
    """Name to content of every file of the Space.

    wheel: (file name, content) of the package, for use before it is published; needs: then the
    wheel's own `Requires-Dist` lines; script: name of the metric's script, which `evaluate`
    takes from the Space's name. Raises ConfigError when the installation is incomplete.
    """
    package = resources.files("mmad_metric")
    files = {
        README: _read(_card(package)),
        script: _read(package / "mmad.py"),
        APP: _read(package / "hub" / APP),
        REQUIREMENTS: _requirements(wheel[0] if wheel else None, needs).encode(),
    }
    if wheel is not None:
        files[wheel[0]] = wheel[1]
    files[RECORD] = _record(files)
    return files


def digest(content: bytes) -> str:
    """The digest by which a record knows a file."""
    return hashlib.sha256(content).hexdigest()


def read_record(content: bytes) -> Mapping[str, str] | None:
    """File name to digest, from a record; None when it is none of ours."""
    try:
        data = json.loads(content)
    except ValueError:
        return None
    if not isinstance(data, dict) or data.get("written_by") != _MARK:
        return None
    listed = data.get("files")
    if not isinstance(listed, dict):
        return None
    # A record may come from a stranger's Space: it names files of its own folder, no others.
    return {str(name): str(value) for name, value in listed.items() if Path(name).name == name}


def _record(files: Mapping[str, bytes]) -> bytes:
    data = {
        "written_by": _MARK,
        "version": __version__,
        "files": {name: digest(content) for name, content in sorted(files.items())},
    }
    return (json.dumps(data, indent=1) + "\n").encode()


def _card(package: Traversable) -> Traversable | Path:
    """The card: in an installed package's data, or at the top of the repository."""
    installed = package / "card" / CARD
    return installed if installed.is_file() else Path(str(package)).parent / CARD


def _read(file: Traversable | Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{file}: cannot be read ({error.strerror or error}); the installation of mmad-metric "
            "is incomplete: install it again"
        ) from None


def _requirements(wheel: str | None, needs: tuple[str, ...]) -> str:
    """What a Space installs before it starts.

    It does so before its other files are there, so that a bundled wheel cannot be named here:
    its requirements are, and app.py takes the package out of the wheel.
    """
    if wheel is None:
        return f"mmad-metric[{EXTRA}]=={__version__}\n"
    head = f"# What {wheel} needs; app.py imports the package from that file.\n"
    return head + "".join(f"{line}\n" for line in requirements_with(needs, EXTRA))


def requirements_with(needs: tuple[str, ...], extra: str) -> list[str]:
    """Of `Requires-Dist` lines, those that hold always and those of one extra, as a
    requirements file has them."""
    lines = []
    for line in needs:
        requirement, _, marker = line.partition(";")
        found = _EXTRA_MARKER.search(marker)
        if found is None:
            lines.append(line.strip())
        elif found.group(1) == extra:
            rest = marker[: found.start()].strip()
            lines.append(f"{requirement.strip()}; {rest}" if rest else requirement.strip())
    return lines
