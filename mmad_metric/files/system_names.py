"""What systems are called: by the user, by their file, or after it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import STDIN, readable
from mmad_metric.files.tables import SystemRows

# Nothing else is an extension: system names may hold dots ("Online-A.1574", "ende.Online-A.de").
_EXTENSIONS = (".txt", ".tsv", ".jsonl")


def system_names(systems: Sequence[SystemRows], names: Sequence[str] | None) -> list[str]:
    """One name a system, in order: the given ones, else the files' own, else after the files.

    Raises InputError where the names given are too few or too many, and where two systems
    would share a name.
    """
    if names is not None:
        if len(names) != len(systems):
            raise InputError(f"--name: names given: {len(names)}, systems: {len(systems)}")
        chosen = [readable(name) for name in names]
    else:
        chosen = _told_apart(systems)
    _refuse_unusable(chosen, systems)
    return chosen


def name_of_file(path: str) -> str:
    """The base name without .gz and without .txt, .tsv or .jsonl."""
    if path == STDIN:
        return "stdin"
    name = PurePath(readable(path)).name
    for endings in ((".gz",), _EXTENSIONS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return name


def is_usable(name: str) -> bool:
    """Whether a system can be called so: in one cell of one line, and not without a word."""
    return bool(name.strip()) and not any(sign in name for sign in "\t\n\r")


def _told_apart(systems: Sequence[SystemRows]) -> list[str]:
    """Names after files; where different files would share one, with as many folders in front as
    tell them apart, and in one folder with the extension."""
    paths = [PurePath(readable(system.file.path)) for system in systems]
    folders = [[part for part in path.parent.parts if part != "/"] for path in paths]
    bare = [system.name or name_of_file(system.file.path) for system in systems]
    free = [system.name is None for system in systems]
    names = list(bare)
    for depth in range(1, max(map(len, folders)) + 1):
        for place in filter(free.__getitem__, _shared(names, [path.parent for path in paths])):
            names[place] = "/".join([*folders[place][-depth:], bare[place]])
    for place in filter(free.__getitem__, _shared(names, paths)):
        names[place] = names[place].removesuffix(bare[place]) + paths[place].name
    return names


def _shared(names: Sequence[str], owners: Sequence[PurePath]) -> list[int]:
    """The places of names that several owners have."""
    known: dict[str, set[PurePath]] = {}
    for name, owner in zip(names, owners, strict=True):
        known.setdefault(name, set()).add(owner)
    return [place for place, name in enumerate(names) if len(known[name]) > 1]


def _refuse_unusable(names: Sequence[str], systems: Sequence[SystemRows]) -> None:
    owners: dict[str, str] = {}
    for name, system in zip(names, systems, strict=True):
        if not is_usable(name):
            raise InputError(
                f"{system.file.name}: {quoted(name)} is no name for a system; give one with --name"
            )
        if name in owners:
            raise InputError(
                f"two systems are called {name!r} ({owners[name]}, {system.file.name}); "
                "give each its own name with --name"
            )
        owners[name] = system.file.name
