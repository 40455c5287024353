"""Where the score files of metrics lie, and which of a metric's files is taken.

mt-metrics-eval calls them `NAME-REF.{seg,sys}.score`, REF being `src`, `all`, or the references
that the metric saw, parted by dots. Such an ending belongs to the name only where it names no
reference of the data. Our own `NAME_LP.{seg,sys}.score` have names without any ending.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.files.score_files import SEGMENT_ENDING, SYSTEM_ENDING
from mmad_metric.metaeval.layout import EvalSet

SOURCE, ALL = "src", "all"
_PAIR = re.compile(r"_[a-z]{2,3}-[a-z]{2,3}$")  # a name that speaks of one pair
# Taken for names of references where the data has no files of references to tell them by.
_CONVENTIONAL = re.compile(r"ref[A-Z]?|synthetic_ref")


@dataclass(frozen=True, slots=True)
class ScoreFiles:
    """A metric's files for one language pair; either may be missing, not both.

    reference: what it saw, as the file's name has it, "" where that says nothing.
    """

    metric: str
    segment: str | None
    system: str | None
    reference: str = ""

    def seen(self) -> tuple[str, ...]:
        """The references that the metric saw, by name."""
        return tuple(self.reference.split(".")) if self.reference not in ("", SOURCE, ALL) else ()


def metric_files(data: EvalSet) -> dict[str, ScoreFiles]:
    """The metrics of the data folder itself, by name; {} where it has none for the pair."""
    here = os.path.join(data.folder, "metric-scores", data.lp)
    return _best(_named_by_reference(here, data), data) if os.path.isdir(here) else {}


def score_files(folder: str, data: EvalSet, *, only_pair: bool) -> dict[str, ScoreFiles]:
    """The metrics of any folder of score files, by name.

    Understood are `NAME_LP.seg.score`, and mt-metrics-eval's `NAME-REF.seg.score` in a folder
    `LP`, in `metric-scores/LP` or, where one pair alone is asked for (only_pair), in the folder
    itself.
    """
    lp = data.lp
    if not os.path.isdir(folder):
        raise InputError(f"{readable(folder)}: no such folder of score files")
    found: dict[str, ScoreFiles] = {}
    for place in (os.path.join(folder, "metric-scores", lp), os.path.join(folder, lp)):
        if os.path.isdir(place):
            found |= _best(_named_by_reference(place, data), data)
    found |= _best(((stem, "", path) for stem, path in _stems(folder, f"_{lp}")), data)
    if not found and only_pair:
        plain = _best(_named_by_reference(folder, data), data)
        found = {name: each for name, each in plain.items() if not _PAIR.search(name)}
    if not found:
        raise InputError(
            f"{readable(folder)}: no score file for {lp}; expected NAME_{lp}{SEGMENT_ENDING} "
            f"(and {SYSTEM_ENDING}), or NAME-REF{SEGMENT_ENDING} in {lp}/ or metric-scores/{lp}/"
        )
    return found


def split_name(stem: str, references: Collection[str]) -> tuple[str, str]:
    """Metric and reference of a file's name without its ending; the reference is "" where the
    name ends in none of the data's (references; () where the data does not tell them)."""
    name, sign, ending = stem.rpartition("-")
    if not sign or not name:
        return stem, ""
    parts = ending.split(".")
    known = all(part in references for part in parts)
    if not references:
        known = all(_CONVENTIONAL.fullmatch(part) for part in parts)
    return (name, ending) if known or ending in (SOURCE, ALL) else (stem, "")


def _named_by_reference(folder: str, data: EvalSet) -> Iterator[tuple[str, str, str]]:
    for stem, path in _stems(folder, ""):
        yield (*split_name(stem, data.references), path)


def _stems(folder: str, ending: str) -> Iterator[tuple[str, str]]:
    """The score files of a folder: each name without its endings, and its path."""
    for name in sorted(os.listdir(folder)):
        for kind in (SEGMENT_ENDING, SYSTEM_ENDING):
            if name.endswith(ending + kind) and name != ending + kind:
                yield name.removesuffix(ending + kind), os.path.join(folder, name)


def _best(files: Iterator[tuple[str, str, str]], data: EvalSet) -> dict[str, ScoreFiles]:
    """Per metric the files made from the source alone, else with the standard reference.

    files: metric, reference, path.
    """
    variants: dict[str, dict[str, dict[str, str]]] = {}
    for metric, reference, path in files:
        kind = SEGMENT_ENDING if path.endswith(SEGMENT_ENDING) else SYSTEM_ENDING
        variants.setdefault(metric, {}).setdefault(reference, {})[kind] = path
    found = {}
    for metric, by_reference in variants.items():
        preferred = (SOURCE, "", data.standard)
        chosen = next((each for each in preferred if each in by_reference), min(by_reference))
        paths = by_reference[chosen or ""]
        found[metric] = ScoreFiles(
            metric, paths.get(SEGMENT_ENDING), paths.get(SYSTEM_ENDING), chosen or ""
        )
    return found
