"""The MQM vocabulary: severities, categories, annotations, placed errors. Pure values.

Everything here is frozen and checks itself, so an invalid error cannot exist. How free text
becomes one of these values is the business of `labels.py` and `replies.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

# The typology that the agents are asked for (METHOD: accuracy > fluency > terminology > style
# is also the order in which ties between categories are broken).
TYPOLOGY: dict[str, tuple[str, ...]] = {
    "accuracy": ("addition", "omission", "mistranslation", "untranslated text"),
    "fluency": (
        "punctuation",
        "spelling",
        "grammar",
        "register",
        "inconsistency",
        "character encoding",
    ),
    "terminology": ("inappropriate for context", "inconsistent use"),
    "style": ("awkward",),
}
NON_TRANSLATION = "non-translation"
OTHER = "other"
SOURCE_ISSUE = "source issue"
WHOLE_SEGMENT = "all"  # the span text that non-translation carries


class Severity(str, Enum):
    """How bad an error is. Ordered by `rank`: neutral < minor < major < critical."""

    NEUTRAL = "neutral"
    MINOR = "minor"
    MAJOR = "major"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return _SEVERITY_ORDER.index(self)

    @property
    def is_severe(self) -> bool:
        """Major or worse: what the debate on severity is about."""
        return self in (Severity.MAJOR, Severity.CRITICAL)


_SEVERITY_ORDER = [Severity.NEUTRAL, Severity.MINOR, Severity.MAJOR, Severity.CRITICAL]


class Side(str, Enum):
    """The text that a span lies in."""

    SOURCE = "source"
    TRANSLATION = "translation"


class Placement(str, Enum):
    """How a span was found in its text."""

    EXACT = "exact"
    NORMALISED = "normalised"  # equal but for case, quotes, whitespace, marks or Unicode form
    APPROXIMATE = "approximate"  # several quoted parts, covered by one stretch of text
    WHOLE = "whole"  # non-translation: the whole translation
    UNPLACED = "unplaced"  # counted, but not found: no offsets


@dataclass(frozen=True, slots=True)
class Category:
    """An MQM label, lower case. `subcategory` is None for labels that stand alone."""

    dimension: str
    subcategory: str | None = None

    def __post_init__(self) -> None:
        for part in (self.dimension, self.subcategory):
            if part is not None and (not part or part != part.strip().lower() or "/" in part):
                raise ValueError(f"not a category part: {part!r}")

    def __str__(self) -> str:
        return f"{self.dimension}/{self.subcategory}" if self.subcategory else self.dimension

    @property
    def is_non_translation(self) -> bool:
        return self.dimension == NON_TRANSLATION


@dataclass(frozen=True, slots=True)
class Annotation:
    """One error as an agent states it, before it is placed in the text.

    span: the words quoted by the agent ("all" for non-translation, may be empty);
    is_source_error: the words are quoted from the source (omissions, flaws of the source);
    raw_category, raw_severity: the agent's own label where it was not a known one;
    flags: machine-readable remarks, e.g. "unknown_severity".
    """

    span: str
    category: Category
    severity: Severity
    is_source_error: bool = False
    raw_category: str | None = None
    raw_severity: str | None = None
    flags: tuple[str, ...] = ()

    def to_reply(self) -> dict[str, Any]:
        """The annotation in the reply shape that agents use among themselves.

        The agent's own label only where it was not understood: it says more than "other".
        """
        unknown = "unknown_category" in self.flags and self.raw_category
        return {
            "error_span": self.span,
            "category": unknown or str(self.category),
            "severity": self.severity.value,
            "is_source_error": self.is_source_error,
        }


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a final error came to be; agents are named ROLE.DIMENSION, the last judge "judge".

    raised_by: who marked its place first, in each dimension that did; ("judge",) where none;
    disputed: whether pro and con opened with different views of it; rounds: of the longest
    debate about it; yielded: sides that came over to the other; judge: what the judge did to it,
    "kept", "changed" or "added", None without a judge; support: how many agents' last word has
    it with this category and severity, of so many `asked`.
    """

    raised_by: tuple[str, ...]
    disputed: bool
    rounds: int
    yielded: tuple[str, ...]
    judge: str | None
    support: int
    asked: int

    def __post_init__(self) -> None:
        if not 0 <= self.support <= self.asked:
            raise ValueError(f"a support of {self.support} out of {self.asked}")
        if self.judge not in (None, "kept", "changed", "added"):
            raise ValueError(f"a judge neither keeps, changes nor adds: {self.judge!r}")

    def to_dict(self) -> dict[str, Any]:
        return {
            "raised_by": list(self.raised_by),
            "disputed": self.disputed,
            "rounds": self.rounds,
            "yielded": list(self.yielded),
            "judge": self.judge,
            "support": self.support,
            "asked": self.asked,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Provenance:
        """The inverse of `to_dict`. Raises KeyError, ValueError on anything else."""
        return cls(
            raised_by=tuple(data["raised_by"]),
            disputed=data["disputed"],
            rounds=data["rounds"],
            yielded=tuple(data["yielded"]),
            judge=data["judge"],
            support=data["support"],
            asked=data["asked"],
        )


@dataclass(frozen=True, slots=True)
class MQMError:
    """An error of a segment, placed where possible.

    text: the stretch of the segment, `side_text[start:end]`; the quoted words when unplaced.
    start, end: code points into the side's text as given, half-open; None when unplaced.
    quoted: the agent's own words where they differ from `text`.
    provenance: how it came to be; None where no agent was asked, or the file is older.
    """

    text: str
    category: Category
    severity: Severity
    side: Side
    start: int | None
    end: int | None
    placement: Placement
    quoted: str | None = None
    raw_category: str | None = None
    raw_severity: str | None = None
    flags: tuple[str, ...] = ()
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        if (self.start is None) != (self.end is None):
            raise ValueError("a span has both offsets or none")
        if (self.start is None) != (self.placement is Placement.UNPLACED):
            raise ValueError(f"{self.placement.value} span with start {self.start}")
        if self.start is not None and self.end is not None:
            if not 0 <= self.start <= self.end:
                raise ValueError(f"offsets {self.start}..{self.end} are not a span")
            if self.end - self.start != len(self.text):
                raise ValueError("a placed span's text is its slice of the segment")

    def to_dict(self) -> dict[str, Any]:
        """The span as it stands in results and run files; rare fields only when they say more."""
        result: dict[str, Any] = {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "side": self.side.value,
            "category": str(self.category),
            "severity": self.severity.value,
            "dimension": self.category.dimension,
            "placement": self.placement.value,
        }
        for name in ("quoted", "raw_category", "raw_severity"):
            if getattr(self, name) is not None:
                result[name] = getattr(self, name)
        if self.flags:
            result["flags"] = list(self.flags)
        if self.provenance is not None:
            result["provenance"] = self.provenance.to_dict()
        return result

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MQMError:
        """The inverse of `to_dict`. Raises KeyError, ValueError on anything else."""
        dimension, _, subcategory = str(data["category"]).partition("/")
        return cls(
            text=data["text"],
            category=Category(dimension, subcategory or None),
            severity=Severity(data["severity"]),
            side=Side(data["side"]),
            start=data["start"],
            end=data["end"],
            placement=Placement(data["placement"]),
            quoted=data.get("quoted"),
            raw_category=data.get("raw_category"),
            raw_severity=data.get("raw_severity"),
            flags=tuple(data.get("flags", ())),
            provenance=Provenance.from_dict(data["provenance"]) if "provenance" in data else None,
        )
