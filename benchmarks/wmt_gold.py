"""Human MQM ratings of WMT23 in mt-metrics-eval's layout, for the gold experiments and tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmad_metric.labels import parse_category, parse_severity
from mmad_metric.mqm import MQMError, Placement, Side


@dataclass(frozen=True)
class GoldSegment:
    """A rated segment. items: the human errors in the reply shape; errors: the same with the
    human offsets; score: the published gold, or None where it has no score."""

    system: str
    index: int
    source: str
    translation: str
    items: tuple[dict[str, Any], ...]
    errors: tuple[MQMError, ...]
    score: float | None


def lines(path: Path) -> list[str]:
    """LF-separated lines, nothing else stripped."""
    return path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def gold_scores(folder: Path, lp: str) -> dict[tuple[str, int], float]:
    """Published segment scores by (system, row); rows without one are left out."""
    scores: dict[tuple[str, int], float] = {}
    rows: dict[str, int] = {}
    for line in lines(folder / "human-scores" / f"{lp}.mqm.seg.score"):
        system, value = line.split("\t")
        row = rows[system] = rows.get(system, -1) + 1
        if value != "None":
            scores[system, row] = float(value)
    return scores


def read_gold(folder: Path, lp: str, ratings: str) -> Iterator[GoldSegment]:
    """The rated segments of one rating file, e.g. "en-de.mqm.merged.seg.rating"."""
    sources = lines(folder / "sources" / f"{lp}.txt")
    scores = gold_scores(folder, lp)
    outputs: dict[str, list[str]] = {}
    rows: dict[str, int] = {}
    for line in lines(folder / "human-scores" / ratings):
        system, text = line.split("\t", 1)
        row = rows[system] = rows.get(system, -1) + 1
        if text == "None":
            continue
        if system not in outputs:
            outputs[system] = lines(folder / "system-outputs" / lp / f"{system}.txt")
        pair = (sources[row], outputs[system][row])
        found = json.loads(text)["errors"]
        yield GoldSegment(
            system,
            row,
            *pair,
            tuple(_item(each, pair) for each in found),
            tuple(_error(each, pair) for each in found),
            scores.get((system, row)),
        )


def _quoted(rated: dict[str, Any], pair: tuple[str, str]) -> str:
    text = pair[0 if rated["is_source_error"] else 1]
    return text[rated["start"] : rated["end"]]


def _item(rated: dict[str, Any], pair: tuple[str, str]) -> dict[str, Any]:
    whole = rated["category"].startswith("non-translation")
    return {
        "error_span": "all" if whole else _quoted(rated, pair),
        "category": rated["category"],
        "severity": rated["severity"],
        "is_source_error": rated["is_source_error"],
    }


def _error(rated: dict[str, Any], pair: tuple[str, str]) -> MQMError:
    parsed = parse_category(rated["category"], None)
    assert parsed is not None, rated
    assert "unknown_category" not in parsed[2], rated
    words = _quoted(rated, pair)
    return MQMError(
        words,
        parsed[0],
        parse_severity(rated["severity"])[0],
        Side.SOURCE if rated["is_source_error"] else Side.TRANSLATION,
        rated["start"],
        rated["start"] + len(words),
        Placement.EXACT,
        raw_category=parsed[1],
    )
