"""A Space as a folder on disk: written whole, over nothing that is somebody else's."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

from mmad_metric.errors import InputError
from mmad_metric.hub.space import RECORD, digest, read_record

FORCE = "--force writes over it"


def export(files: Mapping[str, bytes], folder: str, *, force: bool = False) -> Path:
    """Write the Space's files into a folder and return its path.

    A folder that is not there appears complete or not at all; in one that an earlier export
    wrote each file is replaced in one step, and a bundled wheel that is no longer wanted goes.
    Whatever else lies there stays. Doing it again changes nothing.

    Raises InputError for a folder that holds other things, or files of an export that were
    changed since, unless `force`; and where nothing can be written.
    """
    if not folder.strip():
        raise InputError("the folder for the Space has an empty name")
    target = Path(folder)
    try:
        if not target.exists() and not target.is_symlink():
            _write_new(files, target)
        elif not target.is_dir():
            raise InputError(f"{folder}: is no folder; one is needed for the Space")
        else:
            record = _record_in(target)
            if not force:
                _refuse_foreign(files, target, record)
            _renew(files, target, record or {})
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    return target


def _record_in(target: Path) -> Mapping[str, str] | None:
    try:
        return read_record((target / RECORD).read_bytes())
    except FileNotFoundError:
        return None


def _refuse_foreign(
    files: Mapping[str, bytes], target: Path, record: Mapping[str, str] | None
) -> None:
    if record is None:
        others = sorted(entry.name for entry in target.iterdir())
        if others:
            shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")  # noqa: PLR2004
            raise InputError(
                f"{target}: holds other files ({shown}), and is no Space that `mmad hub export` "
                f"wrote; {FORCE}"
            )
        return
    changed = [
        name
        for name, content in files.items()
        if name != RECORD
        and (target / name).exists()
        and _read(target / name) != content
        and digest(_read(target / name)) != record.get(name)
    ]
    if changed:
        raise InputError(
            f"{target}: {', '.join(changed)} changed since `mmad hub export` wrote it; {FORCE}"
        )


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{path}: is a folder, where a file of the Space belongs")
    return path.read_bytes()


def _write_new(files: Mapping[str, bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
    draft.mkdir()
    try:
        for name, content in files.items():
            (draft / name).write_bytes(content)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _renew(files: Mapping[str, bytes], target: Path, record: Mapping[str, str]) -> None:
    """The record comes last: cut off before it, the next export finds new files, which it
    knows, and old ones, which the old record knows."""
    for name in sorted(files, key=lambda each: each == RECORD):
        path = target / name
        if not path.is_file() or path.is_symlink() or path.read_bytes() != files[name]:
            _replace(path, files[name])
    for name, known in record.items():
        path = target / name
        gone = name not in files and name.endswith(".whl") and path.is_file()
        if gone and digest(path.read_bytes()) == known:
            path.unlink()


def _replace(path: Path, content: bytes) -> None:
    if path.is_dir() and not path.is_symlink():
        raise InputError(f"{path}: is a folder, where a file of the Space belongs")
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
