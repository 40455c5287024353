"""How a report of ours is known again when another one is to take its place."""

from __future__ import annotations

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable

# Stands within the first bytes of every page.
GENERATOR = "mmad-metric report"
_HEAD_LENGTH = 400


def is_report(path: str) -> bool:
    """Whether this program wrote the file as a report. Raises InputError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return f'content="{GENERATOR}'.encode() in file.read(_HEAD_LENGTH)
    except OSError as error:
        raise InputError(f"{readable(path)}: cannot be read: {error.strerror or error}") from None
