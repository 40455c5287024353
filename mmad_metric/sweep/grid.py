"""The grid file: TOML with the settings of all, lists to combine, settings by name, exclusions.

What is wrong with it is collected, so that all of it is told at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from mmad_metric.config import MMADConfig, option_fields
from mmad_metric.errors import ConfigError
from mmad_metric.files.lines import TextFile
from mmad_metric.names import nearest
from mmad_metric.sweep.names import LONGEST_NAME, is_name

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same module under its older name
    import tomli as tomllib

BASE, GRID, SETTINGS, EXCLUDE = SECTIONS = ("base", "grid", "settings", "exclude")
NAME = "name"
_HEADER = re.compile(r"\s*\[\[?\s*([\w.-]+)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*(["']?)([\w-]+)\1\s*[.=]""")


class GridError(ConfigError):
    """A grid that cannot be meant. problems: each in a line, with file and place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type[GridError], tuple[tuple[str, ...]]]:
        """For pickle, which would otherwise rebuild it from its message alone."""
        return type(self), (self.problems,)


@dataclass(frozen=True, slots=True)
class Place:
    """A key of a section; position: which of several [[…]] tables, from 0."""

    section: str
    key: str = ""
    position: int = 0


@dataclass(frozen=True)
class Grid:
    """A grid file as it is read.

    base: settings of all; axes: values to combine, by setting, in the file's order; settings:
    tables of further settings, each perhaps with a name; exclude: what to leave out of the
    combinations; lines: where keys stand, from 1.
    """

    path: str
    base: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    settings: Sequence[Mapping[str, Any]] = ()
    exclude: Sequence[Mapping[str, Any]] = ()
    lines: Mapping[Place, int] = field(default_factory=dict, repr=False)

    def where(self, place: Place) -> str:
        """File, line where it is known, and section, for messages."""
        line = self.lines.get(place, self.lines.get(Place(place.section, "", place.position)))
        file = self.path if line is None else f"{self.path}, line {line}"
        if place.section in (SETTINGS, EXCLUDE):
            return f"{file}: {place.section}[{place.position}]"
        return f"{file}: [{place.section}]" if place.section else file


@lru_cache(maxsize=1)
def varying() -> frozenset[str]:
    """Settings that may differ between the runs of a sweep: all that can move a number or stand in
    a run file, but the language pair, which the input has one of. The others are about the sweep
    as a whole."""
    known = option_fields()
    moving = {name for name, item in known.items() if item.metadata.get("key")}
    kept = known.keys() & MMADConfig.of("en-de").to_dict().keys()
    return frozenset(moving | kept) - {"lp"}


def read_grid(path: str) -> Grid:
    """Read and check the file's shape and the names in it; values are left to the config.

    Raises InputError for a file that cannot be read, GridError.
    """
    file = TextFile(path)
    text = "\n".join([*file.lines(), ""])
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise GridError([f"{file.name}: not TOML: {error}"]) from None
    grid = Grid(file.name, lines=key_lines(text))
    problems = [
        f"{grid.where(Place('', name))}: unknown section {name!r}{nearest(name, SECTIONS)}; "
        f"sections are {', '.join(SECTIONS)}"
        for name in tables
        if name not in SECTIONS
    ]
    reader = _Reader(grid, problems)
    grid = Grid(
        grid.path,
        reader.table(BASE, tables.get(BASE, {})),
        reader.axes(tables.get(GRID, {})),
        reader.listed(SETTINGS, tables.get(SETTINGS, [])),
        reader.listed(EXCLUDE, tables.get(EXCLUDE, [])),
        grid.lines,
    )
    if not problems and not grid.axes and not grid.settings:
        problems.append(f"{grid.path}: nothing to run: neither [grid] nor [[settings]] is there")
    if problems:
        raise GridError(problems)
    return grid


def key_lines(text: str) -> dict[Place, int]:
    """Where sections and their keys stand, as far as a look at each line's start can tell."""
    found: dict[Place, int] = {}
    counts: dict[str, int] = {}
    section, position = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if (header := _HEADER.fullmatch(line)) is not None:
            section = header.group(1)
            position = counts[section] = counts.get(section, -1) + 1
            found.setdefault(Place(section, "", position), number)
            found.setdefault(Place("", section), number)
        elif (key := _KEY.match(line)) is not None:
            found.setdefault(Place(section, key.group(2), position), number)
    return found


class _Reader:
    """Takes sections out of the parsed file, and notes what is wrong."""

    def __init__(self, grid: Grid, problems: list[str]) -> None:
        self._grid = grid
        self._problems = problems

    def _note(self, place: Place, what: str) -> None:
        self._problems.append(f"{self._grid.where(place)}: {what}")

    def table(self, section: str, values: Any) -> dict[str, Any]:
        if not isinstance(values, dict):
            self._note(Place("", section), f"[{section}] is a table of settings")
            return {}
        self._check_names(section, 0, values, wide=section == BASE)
        return values

    def axes(self, values: Any) -> dict[str, Sequence[Any]]:
        table = self.table(GRID, values)
        for name, listed in table.items():
            place = Place(GRID, name)
            if not isinstance(listed, list):
                self._note(
                    place, f"{name}: a list of values is expected; a single one goes into [{BASE}]"
                )
            elif not listed:
                self._note(place, f"{name}: the list is empty")
            else:
                # Told apart as they are written: 1 is not true, nor 1.0.
                shown = [repr(each) for each in listed]
                for twice in dict.fromkeys(each for each in shown if shown.count(each) > 1):
                    self._note(place, f"{name}: {twice} stands in the list more than once")
        return {name: listed for name, listed in table.items() if isinstance(listed, list)}

    def listed(self, section: str, values: Any) -> list[dict[str, Any]]:
        if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
            self._note(Place("", section), f"{section}: tables [[{section}]] are expected")
            return []
        for position, table in enumerate(values):
            others = (NAME,) if section == SETTINGS else ()
            self._check_names(section, position, table, others=others, wide=section == EXCLUDE)
            if not table.keys() - {NAME}:
                self._note(Place(section, "", position), "holds no setting")
            if section == SETTINGS and NAME in table and not is_name(table[NAME]):
                self._note(
                    Place(section, NAME, position),
                    f"{NAME} {table[NAME]!r}: letters, digits, '.', '_', '+' and '-' are "
                    f"expected, {LONGEST_NAME} at most, the first a letter or digit",
                )
        return values

    def _check_names(
        self,
        section: str,
        position: int,
        names: Iterable[str],
        *,
        others: Sequence[str] = (),
        wide: bool,
    ) -> None:
        """wide: settings of the sweep as a whole may stand here."""
        known = [*option_fields(), *others]
        for name in names:
            place = Place(section, name, position)
            if name not in known:
                self._note(place, f"unknown setting {name!r}{nearest(name, known)}")
            elif name in option_fields() and name not in varying() and not wide:
                self._note(
                    place,
                    f"{name} is the same for the whole sweep: set it in [{BASE}] or on the "
                    "command line",
                )
