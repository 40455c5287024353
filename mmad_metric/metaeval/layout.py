"""The folder layout of mt-metrics-eval (v2): what is known of a language pair besides metrics.

Read are `human-scores/LP.GOLD.{seg,sys}.score`, `documents/LP.docs`, `sources/LP.txt`,
`references/LP.NAME.txt` and `system-outputs/LP/SYSTEM.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import TextFile, readable
from mmad_metric.files.score_files import (
    RATING_ENDING,
    SEGMENT_ENDING,
    SYSTEM_ENDING,
    Score,
    read_segment_scores,
    read_system_scores,
)
from mmad_metric.metaeval.references import standard_reference


@dataclass(frozen=True, eq=False)
class EvalSet:
    """The human side of one language pair.

    documents, domains: of each segment, () where the folder has no document file;
    gold_segment: scores by system, one a segment of the test set; gold_system: by system;
    references: names of the human translations that serve as references; standard: the one of
    them that is no system, if any; notes: what people should be told about the data.
    """

    folder: str
    lp: str
    documents: tuple[str, ...]
    domains: tuple[str, ...]
    gold_segment: dict[str, list[Score]]
    gold_system: dict[str, Score]
    references: tuple[str, ...]
    standard: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_segments(self) -> int:
        """Raises InputError where the folder has neither human scores nor sources."""
        for row in self.gold_segment.values():
            return len(row)
        return len(self.texts()[0])

    def systems(self) -> list[str]:
        """The systems with human scores, else those with translations; [] if neither is there."""
        return list(self.gold_segment) or self._with_outputs()

    def sources(self) -> list[str] | None:
        """The source of each segment; None where the folder has none."""
        path = os.path.join(self.folder, "sources", f"{self.lp}.txt")
        return text_lines(path) if os.path.exists(path) else None

    def output(self, system: str) -> list[str] | None:
        """A system's translation of each segment; None where the folder has none."""
        path = os.path.join(self.folder, "system-outputs", self.lp, f"{system}.txt")
        return text_lines(path) if os.path.exists(path) else None

    def texts(self) -> tuple[list[str], dict[str, list[str]]]:
        """All sources, and all translations by system. Raises InputError without sources."""
        sources = self.sources()
        if sources is None:
            raise InputError(f"{readable(self.folder)}: no sources/{self.lp}.txt")
        return sources, {system: self.output(system) or [] for system in self._with_outputs()}

    def _with_outputs(self) -> list[str]:
        here = os.path.join(self.folder, "system-outputs", self.lp)
        names = sorted(os.listdir(here)) if os.path.isdir(here) else []
        return [name.removesuffix(".txt") for name in names if name.endswith(".txt")]


def read_eval_set(folder: str, lp: str, gold: str = "mqm", reference: str | None = None) -> EvalSet:
    """reference: the standard one, by name; None: the usual one (`references`).

    Raises InputError naming the file that is missing or wrong, and what was expected.
    """
    stem = os.path.join(folder, "human-scores", f"{lp}.{gold}")
    if not os.path.isdir(os.path.join(folder, "human-scores")):
        raise InputError(f"{readable(folder)}: no folder human-scores, so not mt-metrics-eval data")
    segment = read_segment_scores(stem + SEGMENT_ENDING)
    if not segment:
        raise InputError(f"{readable(stem + SEGMENT_ENDING)}: is empty")
    data = read_folder(folder, lp, reference)
    _check_lengths(stem + SEGMENT_ENDING, segment, len(data.documents) or None)
    data = replace(data, gold_segment=segment)
    if not os.path.exists(stem + SYSTEM_ENDING):
        return data
    system = read_system_scores(stem + SYSTEM_ENDING)
    return replace(data, gold_system=system, notes=tuple(_gaps(stem, segment, system)))


def read_folder(folder: str, lp: str, reference: str | None = None) -> EvalSet:
    """What the folder knows of the pair besides human scores."""
    documents, domains = _documents(os.path.join(folder, "documents", f"{lp}.docs"))
    references = _references(folder, lp)
    standard = standard_reference(folder, lp, references, reference)
    return EvalSet(folder, lp, documents, domains, {}, {}, references, standard)


def _gaps(
    stem: str, segment: Mapping[str, Sequence[Score]], system: Mapping[str, Score]
) -> Iterator[str]:
    """What to tell where the files of segment and system scores have other systems."""
    rated = [name for name, row in segment.items() if any(each is not None for each in row)]
    if means := [name for name in rated if system.get(name) is None]:
        yield (
            f"{readable(stem + SYSTEM_ENDING)}: no score for {', '.join(means)}; the mean of the "
            "rated segments stands for it"
        )
    known = [name for name, score in system.items() if score is not None]
    if gone := [name for name in known if name not in rated]:
        yield (
            f"{readable(stem + SEGMENT_ENDING)}: no scores for {', '.join(gone)}, which has one in "
            f"{readable(os.path.basename(stem) + SYSTEM_ENDING)}; left out"
        )


def rating_files(folder: str, lp: str, gold: str = "mqm") -> dict[str, str]:
    """The human rating files of the pair by rater: `LP.GOLD.RATER.seg.rating`, or
    `LP.GOLD.seg.rating`, whose rater is called by the gold's name."""
    here = os.path.join(folder, "human-scores")
    stem = f"{lp}.{gold}."
    found = {}
    for name in sorted(os.listdir(here)):
        if name.startswith(stem) and name.endswith(RATING_ENDING):
            rater = name[len(stem) - 1 : -len(RATING_ENDING)].removeprefix(".") or gold
            found[rater] = os.path.join(here, name)
    return found


def pairs_with_gold(folder: str) -> list[str]:
    """The language pairs that have human scores in a folder of mt-metrics-eval's layout."""
    place = os.path.join(folder, "human-scores")
    if not os.path.isdir(place):
        return []
    names = [name for name in os.listdir(place) if name.endswith(SEGMENT_ENDING)]
    return sorted({name.partition(".")[0] for name in names})


def text_lines(path: str) -> list[str]:
    """The lines of a text that others count in characters: LF ends a line, a byte-order mark at
    the start of the file stays in its line, for human offsets count it."""
    file = TextFile(path)
    lines = list(file.lines())
    with open(path, "rb") as raw:
        if raw.read(3) == b"\xef\xbb\xbf" and lines:
            lines[0] = "\ufeff" + lines[0]
    return lines


def _documents(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Document and domain of each segment: lines of a domain, a tab and a document."""
    if not os.path.exists(path):
        return (), ()
    file = TextFile(path)
    rows = []
    for number, line in enumerate(file.lines(), 1):
        fields = line.split("\t")
        if len(fields) != 2:  # noqa: PLR2004 - domain and document
            raise InputError(
                f"{file.name}, line {number}: a domain, a tab and a document are expected, "
                f"found {quoted(line)}"
            )
        rows.append(fields)
    return tuple(document for _, document in rows), tuple(domain for domain, _ in rows)


def _check_lengths(path: str, scores: dict[str, list[Score]], expected: int | None) -> None:
    for system, row in scores.items():
        expected = len(row) if expected is None else expected
        if len(row) != expected:
            raise InputError(
                f"{readable(path)}: {len(row)} scores for {system!r}, {expected} are expected"
            )


def _references(folder: str, lp: str) -> tuple[str, ...]:
    here = os.path.join(folder, "references")
    if not os.path.isdir(here):
        return ()
    return tuple(
        name.removeprefix(f"{lp}.").removesuffix(".txt")
        for name in sorted(os.listdir(here))
        if name.startswith(f"{lp}.") and name.endswith(".txt")
    )
