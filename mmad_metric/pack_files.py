"""The files of a prompt pack: found, read, told apart by the method they are for, and compiled.

A folder may extend a shipped pack, whose files then stand for those that it does not have.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import jinja2.sandbox

from mmad_metric.errors import ConfigError, PackError
from mmad_metric.method_space import METHODS, MMAD
from mmad_metric.pack_parts import required_text

if TYPE_CHECKING:
    from importlib.abc import Traversable

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same module under its older name
    import tomli as tomllib

PACK, BASE = "pack.toml", "base/pack.toml"
VARIANTS = "variants"
_DEMOS = ("demos/", f"{VARIANTS}/demos/")


def open_pack(
    name_or_folder: str, method: str, templates: Sequence[str]
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """(what to call it in messages, its files by path, its pack.toml) of a shipped pack by name,
    or of a user's by folder. templates: those that the method needs.

    With `extends` in pack.toml, what the folder does not have comes from the shipped pack of that
    name: files, and of pack.toml the parts that are missing. Demonstrations are the folder's own,
    and without such for VARIANTS there are none of these.

    Raises ConfigError where there is none, PackError for one that is for another method.
    """
    label, files, table = _opened(name_or_folder)
    kind = _method(table, label)
    if kind != method:
        raise PackError(
            f"{label}/{PACK}: this pack is for method {kind}; method {method} needs a pack with "
            f"{_said(method)}the templates {', '.join(templates)}"
        )
    return label, files, table


def pack_method(name_or_folder: str) -> str:
    """The method that a pack is for. Raises ConfigError, PackError."""
    label, _, table = _opened(name_or_folder)
    return _method(table, label)


def _opened(name_or_folder: str) -> tuple[str, dict[str, str], dict[str, Any]]:
    root, label = _locate(name_or_folder)
    files = _read_files(root, label)
    if PACK not in files:
        raise PackError(f"{label}: no {PACK} in this folder")
    table = read_toml(files[PACK], f"{label}/{PACK}")
    base = table.get("extends")
    if base is None:
        return label, files, table
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
    return label, {**taken, **files}, {**read_toml(below[PACK], base), **table}


def _shipped() -> list[str]:
    root = resources.files("mmad_metric.prompts")
    return sorted(entry.name for entry in root.iterdir() if (entry / PACK).is_file())


def _method(table: Mapping[str, Any], label: str) -> str:
    """Packs for M-MAD need not say so."""
    method = table.get("method", MMAD)
    if method not in METHODS:
        raise PackError(f"{label}/{PACK}: method {method!r} is not one of {', '.join(METHODS)}")
    return str(method)


def _said(method: str) -> str:
    return "" if method == MMAD else f'method = "{method}" and '


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


def template_files(
    table: Mapping[str, Any], files: Mapping[str, str], file: str, names: tuple[str, ...]
) -> dict[str, str]:
    where = f"{file}: [templates]"
    entries = table.get("templates")
    if not isinstance(entries, dict):
        raise PackError(f"{where} is missing")
    for name in names:
        if required_text(entries, name, where) not in files:
            raise PackError(f"{where}: {name} file {entries[name]!r} does not exist")
    return {name: entries[name] for name in names}


def environment(files: Mapping[str, str]) -> jinja2.Environment:
    """A sandboxed environment over a pack's own files, text by path; an undefined name is an
    error. It is one for all who load the same files: compiling them is most of the work."""
    return _environment(tuple(files.items()))


@lru_cache(maxsize=8)
def _environment(files: tuple[tuple[str, str], ...]) -> jinja2.Environment:
    return jinja2.sandbox.SandboxedEnvironment(
        loader=jinja2.DictLoader(dict(files)),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def compile_files(files: Mapping[str, str], paths: Iterable[str], label: str) -> None:
    """Raises PackError with file and line for a template that is none."""
    made = environment(files)
    for path in paths:
        try:
            made.get_template(path)
        except jinja2.TemplateSyntaxError as error:
            raise PackError(f"{label}/{path}:{error.lineno}: {error.message}") from None


@contextmanager
def naming_pack(name: str) -> Iterator[None]:
    """What goes wrong with a template inside becomes a PackError that names the pack."""
    try:
        yield
    except jinja2.TemplateError as error:
        raise PackError(f"prompt pack {name}: {error}") from None
