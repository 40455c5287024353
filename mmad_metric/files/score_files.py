"""Segment scores in mt-metrics-eval's format: lines of `system<TAB>score`, "None" for no score."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mmad_metric.errors import InputError
from mmad_metric.files.lines import TextFile

SUFFIX = ".seg.score"


def is_score_file(path: str) -> bool:
    """Whether a path is named as a file of segment scores is, gzipped or not."""
    return path.lower().removesuffix(".gz").endswith(SUFFIX)


def read_score_file(path: str) -> Mapping[str, tuple[float | None, ...]]:
    """Each system's scores in the order of its lines; all systems have as many.

    Raises InputError naming file and line for what is no such line, and for systems of unequal
    length.
    """
    file = TextFile(path)
    scores: dict[str, list[float | None]] = {}
    for number, line in enumerate(file.lines(), 1):
        system, tab, text = line.partition("\t")
        if not tab or "\t" in text or not system.strip():
            raise InputError(
                f"{file.name}, line {number}: expected a system, a tab and a score, not {line!r}"
            )
        scores.setdefault(system, []).append(_score(text, f"{file.name}, line {number}"))
    if not scores:
        raise InputError(f"{file.name}: is empty, there are no scores in it")
    lengths = {system: len(listed) for system, listed in scores.items()}
    first, wanted = next(iter(lengths.items()))
    for system, length in lengths.items():
        if length != wanted:
            raise InputError(
                f"{file.name}: {length} scores of system {system!r}, but {wanted} of {first!r}"
            )
    return {system: tuple(listed) for system, listed in scores.items()}


def _score(text: str, where: str) -> float | None:
    if text.strip() == "None":
        return None
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InputError(f"{where}: {text!r} is no score; expected a number or None")
    return score
