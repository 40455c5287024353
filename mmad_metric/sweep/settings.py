"""From a grid to settings: every combination checked, those that are one and the same joined.

A setting that does not apply beside others (rounds without a debate) is left out there, so that
combinations that differ in nothing else become one. What the config refuses otherwise is a
problem, unless it is excluded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from mmad_metric.config import MMADConfig, option_fields
from mmad_metric.errors import ConfigError, NotApplicable
from mmad_metric.sweep.grid import BASE, EXCLUDE, GRID, NAME, SETTINGS, Grid, GridError, Place
from mmad_metric.sweep.names import LONGEST_NAME, name_after, shown

MOST_COMBINATIONS = 1000


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration of a sweep, and the name of its run."""

    name: str
    config: MMADConfig


@dataclass(frozen=True, slots=True)
class Settings:
    """All of a sweep, in the grid's order. notices: what the user should know."""

    settings: tuple[Setting, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Combination:
    """Values for one run. own: what is particular to it, each with its number among the
    setting's values; common: of all; place: in the file; name: the user's, or None; fixed:
    whether what does not apply is refused, not left out."""

    own: Mapping[str, tuple[Any, int]]
    common: Mapping[str, Any]
    place: Place
    name: str | None = None
    fixed: bool = False

    @property
    def values(self) -> dict[str, Any]:
        return {**self.common, **{key: value for key, (value, _) in self.own.items()}}

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        return ", ".join(f"{key} {shown(key, value, n)}" for key, (value, n) in self.own.items())


@dataclass
class _Made:
    """A setting on its way: of which combinations it is, and what did not apply to them."""

    combination: _Combination
    config: MMADConfig
    dropped: dict[str, None]
    count: int = 1
    name: str = ""


@dataclass
class _Problems:
    """What is wrong, each told once, with how many combinations it is wrong with."""

    grid: Grid
    found: dict[str, tuple[Place, str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, place: Place, reason: str, example: str = "") -> None:
        self.found.setdefault(reason, (place, example))
        self.counts[reason] = self.counts.get(reason, 0) + 1

    def lines(self) -> list[str]:
        lines = []
        for reason, (place, example) in self.found.items():
            named = f" {example}:" if example else ""
            more = self.counts[reason] - 1
            others = f" (and {more} more like it)" if more else ""
            lines.append(f"{self.grid.where(place)}{named} {reason}{others}")
        return lines


def make_settings(grid: Grid, given: Mapping[str, Any]) -> Settings:
    """All settings of a grid. given: what the command line sets, `lp` included; it takes the
    place of what [base] says, and may not be what the grid varies.

    Raises GridError with everything that is wrong.
    """
    problems, notices = _Problems(grid), list[str]()
    _check_given(grid, given, problems)
    if "lp" not in grid.base and "lp" not in given:
        problems.add(Place(BASE), "no language pair: give -l, or lp in this section")
    if prod(map(len, grid.axes.values())) > MOST_COMBINATIONS:
        problems.add(Place(GRID), f"more than {MOST_COMBINATIONS} combinations")
    if problems.found:
        raise GridError(problems.lines())
    overridden = [name for name in grid.base if given.get(name, grid.base[name]) != grid.base[name]]
    notices += [
        f"{name}: the command line takes the place of [{BASE}]'s value" for name in overridden
    ]
    common = {**grid.base, **given}
    made = _made(_kept(grid, _combinations(grid, common), problems), problems)
    for each in made:
        each.name = each.combination.name or name_after(_telling(grid, each))
    _check_names(made, problems)
    if not made and not problems.found:
        problems.add(Place(EXCLUDE), "nothing is left to run")
    if problems.found:
        raise GridError(problems.lines())
    notices += [notice for each in made if (notice := _notice(each)) is not None]
    return Settings(tuple(Setting(each.name, each.config) for each in made), tuple(notices))


def _check_given(grid: Grid, given: Mapping[str, Any], problems: _Problems) -> None:
    for name in given:
        if name in grid.axes:
            problems.add(
                Place(GRID, name), f"{name} varies here; the command line cannot set it as well"
            )
        for position, table in enumerate(grid.settings):
            if name in table:
                problems.add(
                    Place(SETTINGS, name, position),
                    f"{name} is set here; the command line cannot set it as well",
                )


def _combinations(grid: Grid, common: Mapping[str, Any]) -> Iterator[_Combination]:
    """The product of [grid], the last setting varying fastest, then [[settings]]."""
    if grid.axes:
        numbered = [[(value, n) for n, value in enumerate(axis, 1)] for axis in grid.axes.values()]
        for values in product(*numbered):
            yield _Combination(dict(zip(grid.axes, values, strict=True)), common, Place(GRID))
    for position, table in enumerate(grid.settings):
        own = {key: (value, position + 1) for key, value in table.items() if key != NAME}
        place = Place(SETTINGS, "", position)
        yield _Combination(own, common, place, table.get(NAME), fixed=True)


def _kept(
    grid: Grid, combinations: Iterator[_Combination], problems: _Problems
) -> list[_Combination]:
    """All but those that are excluded; an exclusion that fits nothing is misspelt."""
    kept, used = [], set()
    for each in combinations:
        fitting = [
            position
            for position, pattern in enumerate(grid.exclude)
            if not each.fixed and pattern and _fits(each.values, pattern)
        ]
        used.update(fitting)
        if not fitting:
            kept.append(each)
    for position, pattern in enumerate(grid.exclude):
        if position not in used:
            listed = ", ".join(f"{key} {shown(key, value)}" for key, value in pattern.items())
            problems.add(Place(EXCLUDE, "", position), f"{listed}: fits no combination of [{GRID}]")
    return kept


def _fits(values: Mapping[str, Any], pattern: Mapping[str, Any]) -> bool:
    return all(key in values and repr(values[key]) == repr(pattern[key]) for key in pattern)


def _made(combinations: list[_Combination], problems: _Problems) -> list[_Made]:
    made: dict[MMADConfig, _Made] = {}
    for each in combinations:
        try:
            config, dropped = _config(each)
        except ConfigError as refusal:
            name = str(refusal).partition(":")[0]
            problems.add(_place_of(each, name), str(refusal), str(each))
            continue
        known = made.get(config)
        if known is None:
            made[config] = _Made(each, config, dict.fromkeys(dropped))
        elif not each.fixed and (dropped or known.dropped):
            known.count += 1
            known.dropped |= dict.fromkeys(dropped)
        else:
            problems.add(each.place, f"{each}: the same settings as {known.combination}")
    return list(made.values())


def _place_of(combination: _Combination, name: str) -> Place:
    """Where a setting of a combination stands in the file, else where the combination does."""
    if name in combination.own:
        return Place(combination.place.section, name, combination.place.position)
    return Place(BASE, name) if name in combination.common else combination.place


def _config(combination: _Combination) -> tuple[MMADConfig, tuple[str, ...]]:
    """The config, and the settings that do not apply and were left out for it."""
    values = {key: value for key, value in combination.values.items() if not _is_off(key, value)}
    dropped: list[str] = []
    while True:
        try:
            return MMADConfig.of(**values), tuple(dropped)
        except NotApplicable as refusal:
            insisted = combination.fixed and refusal.name in combination.own
            if insisted or refusal.name not in values:
                raise
            del values[refusal.name]
            dropped.append(refusal.name)


def _is_off(name: str, value: Any) -> bool:
    """Whether a setting that need not be there at all is left out by `false`, since TOML has no
    word for nothing. A method always has prompts and weights."""
    optional = option_fields()[name].default is None and name not in ("prompts", "weights")
    return optional and value is False


def _telling(grid: Grid, made: _Made) -> dict[str, tuple[Any, int]]:
    """What tells a setting from the others: its values that vary, and that apply."""
    own = made.combination.own
    if made.combination.fixed:
        return dict(own)
    applying = {key: own[key] for key in own if key not in made.dropped}
    return {key: applying[key] for key in applying if len(grid.axes[key]) > 1} or applying


def _check_names(made: list[_Made], problems: _Problems) -> None:
    owners: dict[str, _Made] = {}
    for each in made:
        place = each.combination.place
        if not each.name or len(each.name) > LONGEST_NAME:
            problems.add(
                place,
                f"{each.combination}: there is no short name for it; give it one as [[{SETTINGS}]]",
            )
            continue
        # File systems may not tell upper from lower case.
        owner = owners.setdefault(each.name.casefold(), each)
        if owner is not each:
            problems.add(
                place,
                f"{each.combination}, and {owner.combination}: both are called {each.name!r}; "
                f"give them names as [[{SETTINGS}]]",
            )


def _notice(made: _Made) -> str | None:
    if not made.dropped:
        return None
    listed = ", ".join(made.dropped)
    verb = "does" if len(made.dropped) == 1 else "do"
    text = f"{made.name}: {listed} {verb} not apply here"
    return f"{text}, so that {made.count} combinations are one" if made.count > 1 else text
