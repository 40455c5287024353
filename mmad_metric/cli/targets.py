"""Files that a command writes: none takes the place of an input, nor of what is not ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import read_run
from mmad_metric.report.target import is_report


def check_run_target(path: str, inputs: Iterable[str | None]) -> None:
    """Raises InputError where a run file cannot take this path: see `_check`."""
    _check(f"-o {readable(path)}", path, inputs, _is_run, "run file")


def check_report_target(
    flag: str, path: str, inputs: Iterable[str | None], run: str | None = None
) -> None:
    """Raises InputError where a report cannot take this path: see `_check`; where there is no
    folder for it, and where the run file is to go there."""
    name = f"{flag} {readable(path)}"
    if path in ("", "-"):
        raise InputError(f"{name}: the report needs a path")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{name}: is not a regular file")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"{name}: there is no folder {readable(folder)}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{name}: the folder {readable(folder)} cannot be written to")
    if run and os.path.abspath(run) == os.path.abspath(path):
        raise InputError(f"{name}: the run file goes there (-o)")
    _check(name, path, inputs, is_report, "report of mmad")


def _check(
    name: str, path: str, inputs: Iterable[str | None], ours: Callable[[str], bool], kind: str
) -> None:
    """Refuses an input, and a file with content that is of another kind."""
    if not os.path.isfile(path):
        return
    for each in inputs:
        if each and os.path.exists(each) and os.path.samefile(each, path):
            raise InputError(f"{name}: this is an input, {readable(each)}")
    if os.path.getsize(path) and not ours(path):
        raise InputError(f"{name}: this file exists and is no {kind}; it is not replaced")


def _is_run(path: str) -> bool:
    try:
        read_run(path)
    except InputError:
        return False
    return True
