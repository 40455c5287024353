"""Where a pack's files come from: its folder, and the shipped pack that it extends, if any."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmad_metric.errors import ConfigError, PackError

if TYPE_CHECKING:
    from importlib.abc import Traversable

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same module under its older name
    import tomli as tomllib

PACK, BASE = "pack.toml", "base/pack.toml"
VARIANTS = "variants"
_DEMOS = ("demos/", f"{VARIANTS}/demos/")


def pack_files(name_or_folder: str) -> tuple[dict[str, str], dict[str, Any], str]:
    """The text of all files by path, pack.toml as a table, and what messages call the pack.

    With `extends` in pack.toml, what the folder does not have comes from the shipped pack of that
    name: files, and of pack.toml the parts that are missing. Demonstrations are the folder's own,
    and without such for VARIANTS there are none of these. Raises PackError, ConfigError.
    """
    root, label = _locate(name_or_folder)
    files = _read_files(root, label)
    if PACK not in files:
        raise PackError(f"{label}: no {PACK} in this folder")
    table = read_toml(files[PACK], f"{label}/{PACK}")
    base = table.get("extends")
    if base is None:
        return files, table, label
    names = _shipped()
    if base not in names:
        raise PackError(
            f"{label}/{PACK}: extends is the name of a shipped pack ({', '.join(names)}), "
            f"not {base!r}"
        )
    below = _read_files(resources.files("mmad_metric.prompts") / base, base)
    # The base's own table stands among the files, since what it says reaches prompts.
    taken = {BASE if path == PACK else path: text for path, text in below.items()}
    taken = {path: text for path, text in taken.items() if not path.startswith(_DEMOS)}
    if not any(path.startswith(_DEMOS[1]) for path in files):
        taken = {path: text for path, text in taken.items() if not path.startswith(VARIANTS)}
    return {**taken, **files}, {**read_toml(below[PACK], base), **table}, label


def _shipped() -> list[str]:
    root = resources.files("mmad_metric.prompts")
    return sorted(entry.name for entry in root.iterdir() if (entry / PACK).is_file())


def _locate(name_or_folder: str) -> tuple[Traversable, str]:
    shipped = resources.files("mmad_metric.prompts")
    if "/" not in name_or_folder and not name_or_folder.startswith("."):
        candidate = shipped / name_or_folder
        if candidate.is_dir():
            return candidate, name_or_folder
    folder = Path(name_or_folder)
    if folder.is_dir():
        return folder, str(folder)
    raise ConfigError(
        f"prompts {name_or_folder!r}: no shipped pack ({', '.join(_shipped())}) and no such folder"
    )


def _read_files(root: Traversable, label: str, prefix: str = "") -> dict[str, str]:
    files: dict[str, str] = {}
    for entry in sorted(root.iterdir(), key=lambda item: item.name):
        path = prefix + entry.name
        if entry.is_dir():
            if not entry.name.startswith((".", "__")):
                files |= _read_files(entry, label, path + "/")
        elif entry.name.endswith((".toml", ".j2", ".jsonl")):
            try:
                files[path] = entry.read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise PackError(f"{label}/{path}: not readable as UTF-8 ({error})") from None
    return files


def read_toml(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PackError(f"{where}: {error}") from None
