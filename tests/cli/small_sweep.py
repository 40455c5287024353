"""A small grid over the small files, and what sweeps leave, for the tests of `mmad sweep`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GRID = """
[base]
model = "m"
concurrency = 4
[grid]
strategy = ["consensus", "deliberation", "none"]
rounds = [1, 2]
"""
NAMES = ["consensus-r1", "consensus-r2", "deliberation-r1", "deliberation-r2", "none"]
# By docs/method.md. Five pairs ("Guten Morgen." stands in both files) with four annotators; one
# debate, of "Maus"; two segments with an error to judge, whose dimensions end alike everywhere. The
# debates of consensus take 1 and 4 calls, those of deliberation 3 and 5.
CALLS = [20 + 1 + 2, 4, 3, 5, 0]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.jsonl*"))}


def without_payment(out: str) -> dict[str, Any]:
    """The table without what depends on who paid when, and on where the runs stand."""
    found: dict[str, Any] = json.loads(out)
    del found["paid"]
    for each in found["settings"]:
        for key in ("paid", "resumed", "run"):
            del each[key]
    return found
