"""Prints the lowest version that pyproject.toml allows of each chosen package, `name==version` a
line, for pip's --requirement."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What the tests that `make oldest` runs go through. Another package is another name here.
CHOSEN = ("openai", "pydantic", "evaluate", "datasets", "huggingface_hub")


def lower_bounds(pyproject: Path) -> dict[str, str]:
    """The lower bound of each chosen package, by its name as pyproject.toml spells it.

    Raises ValueError where a package is not among the dependencies or extras, has no lower bound,
    or has several.
    """
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        lines += extra
    found: dict[str, set[str]] = {}
    for line in lines:
        match = re.match(r"([\w.-]+)(?:\[[^]]*\])?.*?>=\s*([\w.]+)", line)
        if match:
            found.setdefault(match[1], set()).add(match[2])
    for name in CHOSEN:
        if len(found.get(name, ())) != 1:
            raise ValueError(f"{name}: expected one lower bound, not {sorted(found.get(name, ()))}")
    return {name: found[name].pop() for name in CHOSEN}


if __name__ == "__main__":
    for package, version in lower_bounds(Path(__file__).parent.parent / "pyproject.toml").items():
        print(f"{package}=={version}")
