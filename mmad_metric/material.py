"""What is shown beside a segment when it is asked for: context, required terms, a reference."""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass

from mmad_metric.normalise import fold

# The kinds, as templates and the signature's readers know them.
CONTEXT, TERMINOLOGY, REFERENCE = KINDS = ("context", "terminology", "reference")


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of a glossary. targets: the renderings that it allows, one at least."""

    source: str
    targets: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """Shown to every agent beside the texts that are rated; nothing of it is annotated.

    context: preceding segments of the document, the nearest last, as (source, translation),
    "" for a translation that is missing; terms: entries of the glossary whose source term occurs
    in the segment; reference: one correct translation.
    """

    context: tuple[tuple[str, str], ...] = ()
    terms: tuple[Term, ...] = ()
    reference: str | None = None

    @property
    def key(self) -> bytes:
        """Differs where the material does; empty where there is none."""
        return b"" if self == NO_MATERIAL else json.dumps(astuple(self)).encode()

    def holds(self, words: str) -> bool:
        """Whether these words stand in the context, but for letter case, quote style, blanks and
        the like, as words are looked for in the segment."""
        wanted = fold(words).text.strip()
        return bool(wanted) and any(
            wanted in fold(text).text for pair in self.context for text in pair
        )


NO_MATERIAL = Material()
