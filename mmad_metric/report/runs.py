"""The runs of a report, opened and checked, and their systems under names that differ."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import RunFile, read_run
from mmad_metric.files.system_names import name_of_file
from mmad_metric.languages import LanguagePair
from mmad_metric.repeats import RatedRow, rated_rows
from mmad_metric.scales import refuse_other_scales
from mmad_metric.scoring import WeightScheme


@dataclass(frozen=True, slots=True)
class ReportRun:
    """A finished run. name: of its file, without folder and endings; scheme: its weights, None
    where its scores are not made of errors."""

    file: RunFile
    name: str
    lp: LanguagePair
    scheme: WeightScheme | None

    @property
    def config(self) -> dict[str, Any]:
        return self.file.config

    @property
    def method(self) -> str:
        return self.file.method

    @property
    def signature(self) -> str:
        """As the run ended, with what the replies told."""
        return str((self.file.summary or self.file.header).get("signature", ""))

    def rows(self) -> Iterator[RatedRow]:
        """The rated rows in file order, a row's repeats together; streamed."""
        return rated_rows(self.file.ratings())


@dataclass(frozen=True, slots=True)
class ReportSystem:
    """A system of one of the runs.

    label: its name in the report, different from all others; name: as the run calls it; told:
    what the run's summary says of it, {} where that is not there.
    """

    label: str
    name: str
    run: ReportRun
    told: dict[str, Any]


def open_runs(paths: Sequence[str]) -> list[ReportRun]:
    """The runs, in order. Raises InputError for a file that is named twice, is no run file, or
    holds a run that did not get to its end, for a header without pair or weights, and for runs
    on different scales: one page puts its scores in one order."""
    opened = []
    for number, path in enumerate(paths):
        if any(_same_file(path, other) for other in paths[:number]):
            raise InputError(f"{readable(path)}: this run is named twice")
        opened.append(_open(path))
    refuse_other_scales((readable(each.file.path), each.file.scale) for each in opened)
    return opened


def _same_file(one: str, other: str) -> bool:
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def _open(path: str) -> ReportRun:
    where = readable(path)
    run = read_run(path)
    if not run.complete:
        raise InputError(
            f"{where}: the run did not get to its end; its command, run again, finishes it"
        )
    if not isinstance(run.config.get("lp"), str):
        raise InputError(f"{where}, line 1: the header names no language pair")
    try:
        pair = LanguagePair.parse(run.config["lp"])
    except ConfigError as error:
        raise InputError(f"{where}, line 1: {error}") from None
    return ReportRun(run, name_of_file(path), pair, run.weight_scheme())


def systems_of(runs: Sequence[ReportRun]) -> list[ReportSystem]:
    """All systems of all runs in order. A name that stands alone is the label; otherwise the
    run's file is named too. Raises InputError where a header does not list its systems."""
    found = [(run, name) for run in runs for name in _names(run)]
    often = Counter(name for _, name in found)
    labels: Counter[str] = Counter()
    systems = []
    for run, name in found:
        label = name if often[name] == 1 and name else f"{name} ({run.name})" if name else run.name
        labels[label] += 1
        if labels[label] > 1:  # files of one name in different folders
            label = f"{label} #{labels[label]}"
        systems.append(ReportSystem(label, name, run, _told(run, name)))
    return systems


def _names(run: ReportRun) -> list[str]:
    listed = run.file.header.get("systems")
    names = (
        [each.get("name") for each in listed if isinstance(each, dict)]
        if isinstance(listed, list)
        else []
    )
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{readable(run.file.path)}, line 1: the header lists no systems")
    return [str(name) for name in names]


def _told(run: ReportRun, name: str) -> dict[str, Any]:
    listed = (run.file.summary or {}).get("systems")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and each.get("system") == name:
            return each
    return {}
