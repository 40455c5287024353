"""Makes `evaluate.load("mmad")` work: a one-line file in evaluate's cache of modules."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
import uuid
from pathlib import Path

from mmad_metric.errors import InputError

__all__ = ["modules_cache", "register"]

# The class stays in the installed package: an upgrade needs no new file, and there is no second
# copy of the package's state.
SHIM = "from mmad_metric.mmad import Mmad  # From: mmad-metric\n"
SCRIPT = "mmad.py"
PACKAGE = "evaluate_modules"
METRIC = Path(PACKAGE, "metrics", "evaluate-metric--mmad")
MARKER = "__init__.py"
# evaluate takes every folder with a name of 64 characters for a version of the metric. Ours
# never changes, so that an upgrade writes over what the last release wrote.
VERSION = hashlib.sha256(b"mmad-metric").hexdigest()


def register(*, undo: bool = False) -> Path:
    """Write the file by which `evaluate.load("mmad")` finds this package, and return its path.

    It is found offline, and online as long as the Hub has no metric of that name. Any number
    of processes may do this at once, any number of times. Loading then writes nothing, so that
    the cache may be read-only afterwards. undo: remove it again.

    Raises InputError when evaluate's cache of modules is not writable.
    """
    cache = modules_cache().absolute()
    folder = cache / METRIC / VERSION
    try:
        if undo:
            _remove(folder)
            _remove_markers(cache)
        else:
            _write(folder)
            _make_newest(folder)
            _write_markers(cache)
    except OSError as error:
        raise InputError(
            f"cannot {'remove' if undo else 'write'} {folder / SCRIPT}: "
            f"{error.strerror or error}. Set HF_MODULES_CACHE to a folder that is "
            "writable, or use the class itself: from mmad_metric.mmad import Mmad"
        ) from error
    return folder / SCRIPT


def is_registered() -> bool:
    """Whether `register` has written its file into evaluate's cache of modules."""
    return (modules_cache().absolute() / METRIC / VERSION / SCRIPT).is_file()


def modules_cache() -> Path:
    """The folder where evaluate keeps modules, without the two seconds of importing evaluate.

    Once imported, evaluate holds on to what it read from the environment then: ask it.
    """
    loaded = sys.modules.get("evaluate.config")
    if loaded is not None:
        return Path(loaded.HF_MODULES_CACHE)
    caches = os.getenv("XDG_CACHE_HOME", "~/.cache")
    home = os.path.expanduser(os.getenv("HF_HOME", os.path.join(caches, "huggingface")))
    return Path(os.getenv("HF_MODULES_CACHE", os.path.join(home, "modules")))


def _write(folder: Path) -> None:
    """Put the whole folder in place in one step: evaluate fails on a version without script."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft_beside(folder)
    draft.mkdir()
    try:
        (draft / SCRIPT).write_text(SHIM, encoding="utf-8")
        try:
            draft.rename(folder)
        except OSError:  # it is there already
            (draft / SCRIPT).replace(folder / SCRIPT)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _make_newest(folder: Path) -> None:
    """Of several versions, evaluate takes the one whose script was changed last; another's clock
    may run ahead of ours."""
    others = [
        version / SCRIPT
        for version in folder.parent.iterdir()
        if len(version.name) == len(VERSION) and version != folder
    ]
    times = [other.stat().st_mtime + 1 for other in others if other.is_file()]
    newest = max([time.time(), *times])
    os.utime(folder / SCRIPT, (newest, newest))


def _remove(folder: Path) -> None:
    draft = _draft_beside(folder)
    try:
        folder.rename(draft)
    except FileNotFoundError:
        return
    shutil.rmtree(draft)
    for parent in list(folder.parents)[: len(METRIC.parts) - 1]:
        try:
            parent.rmdir()
        except OSError:  # others keep something there
            return


def _write_markers(cache: Path) -> None:
    """Empty files that evaluate makes where they are missing; where it may not, it fails."""
    for package in (cache, cache / PACKAGE):
        (package / MARKER).touch()


def _remove_markers(cache: Path) -> None:
    """Only where nothing else is left; whoever needs them makes them anew."""
    for package in (cache / PACKAGE, cache):
        held = {each.name for each in package.iterdir()} if package.is_dir() else set()
        if not held <= {MARKER, "__pycache__"}:
            return
        (package / MARKER).unlink(missing_ok=True)
        shutil.rmtree(package / "__pycache__", ignore_errors=True)
        if package != cache and package.is_dir():
            package.rmdir()


def _draft_beside(folder: Path) -> Path:
    """A new name on the same disk that evaluate does not take for a version."""
    return folder.with_name(f".mmad-{uuid.uuid4().hex}")
