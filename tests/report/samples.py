"""Runs for tests of the report, written as the main command writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mmad_metric.chat import Usage
from mmad_metric.errors import Reason
from mmad_metric.files.run_file import RunWriter
from mmad_metric.mqm import (
    Annotation,
    Category,
    MQMError,
    Placement,
    Provenance,
    Severity,
    Side,
)
from mmad_metric.rating import (
    DebateRound,
    DimensionOutcome,
    Position,
    Segment,
    SegmentRating,
    Status,
)
from mmad_metric.results import SystemTotals
from mmad_metric.scales import Scale
from mmad_metric.scoring import SCHEMES, scheme_table

CONFIG = {
    "lp": "en-de",
    "model": "m",
    "weights": "mmad",
    "weight_table": scheme_table(SCHEMES["mmad"]),
}
VOID = {
    "meta", "link", "input", "br", "img", "hr", "area", "base", "col", "embed", "source", "track",
    "wbr",
}  # fmt: skip


def error(text: str, start: int | None, severity: str = "minor", **fields: Any) -> MQMError:
    """An error of these words at this place; start None: unplaced."""
    end = None if start is None else start + len(text)
    placement = Placement.UNPLACED if start is None else Placement.EXACT
    category = Category(*fields.pop("category", "style/awkward").split("/"))
    side = fields.pop("side", Side.TRANSLATION)
    return MQMError(text, category, Severity(severity), side, start, end, placement, **fields)


def how(support: int, asked: int, *, disputed: bool = False) -> Provenance:
    yielded = ("con.accuracy",) if disputed else ()
    rounds = int(disputed)
    return Provenance(("annotate.accuracy",), disputed, rounds, yielded, "kept", support, asked)


def rated(segment: Segment, *errors: MQMError, **fields: Any) -> SegmentRating:
    score = SCHEMES["mmad"].segment_score(errors)
    return SegmentRating(segment, Status.SCORED, score, errors, **fields)


def unscored(segment: Segment, detail: str = "no reply in 120 s") -> SegmentRating:
    return SegmentRating(segment, Status.UNSCORED, reason=Reason.TIMEOUT, detail=detail)


def debate(words: str) -> DimensionOutcome:
    """A debate over one round in which everybody says the words, and con gives in."""
    major = Annotation(words, Category("accuracy", "mistranslation"), Severity.MAJOR)
    minor = Annotation(words, Category("accuracy", "mistranslation"), Severity.MINOR)
    pro, con = Position(f"pro: {words}", (major,)), Position(f"con: {words}", (major,))
    asked = (f"asked pro: {words}", "")
    turn = DebateRound(pro, con, consistent=True, questions=asked, answers=(pro, None))
    return DimensionOutcome("accuracy", (major,), (major,), (minor,), (turn,), f"verdict: {words}")


def write_run(
    path: Path,
    ratings: Sequence[SegmentRating],
    *,
    config: dict[str, Any] | None = None,
    systems: Iterable[str] | None = None,
    finished: bool = True,
    scale: Scale = Scale.PENALTY,
) -> str:
    """A run of these ratings; returns its path, which without its end is that of the .part file."""
    names = list(systems or dict.fromkeys(each.segment.system for each in ratings))
    scheme = SCHEMES["mmad"] if scale.has_errors else None
    totals = {name: SystemTotals(name, scheme) for name in names}
    with RunWriter(path) as writer:
        writer.write_header(
            {
                "signature": "lp:en-de|model:m",
                **({} if scale is Scale.PENALTY else {"scale": scale.value}),
                "config": {**CONFIG, **(config or {})},
                "versions": {"mmad-metric": "0.1.0"},
                "systems": [{"name": name, "n_segments": len(ratings)} for name in names],
            }
        )
        for each in ratings:
            totals[each.segment.system].add(each)
            writer.write_rating(each)
        if finished:
            told = [each.to_dict() for each in totals.values()]
            writer.write_summary({"signature": "lp:en-de|model:m|served:m-1", "systems": told})
            writer.commit()
    return str(path) if finished else writer.part


class Page(HTMLParser):
    """Elements of a piece of HTML: their tags, attributes and text, as a browser reads them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.found: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(html)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        named = {name: value or "" for name, value in attrs}
        assert len(named) == len(attrs), attrs
        self.attributes += [(tag, name, value) for name, value in named.items()]
        element: tuple[str, dict[str, str], list[str]] = (tag, named, [])
        self.found.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1][0] == tag, f"</{tag}> where {self._open[-1][0]} is open"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        for _, _, texts in self._open:
            texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def texts(self, tag: str, kind: str = "") -> list[str]:
        """Text content of the elements of a tag that have a class."""
        return [
            "".join(texts)
            for name, attributes, texts in self.found
            if name == tag and (not kind or kind in attributes.get("class", "").split())
        ]


USAGE = {"annotate": Usage(4, 1000, 100, 50), "judge": Usage(1, 300, 0, 20)}
