"""The folder layout of mt-metrics-eval (v2): what is known of a language pair, and where the
score files of metrics lie.

Read are `human-scores/LP.GOLD.{seg,sys}.score`, `documents/LP.docs`, `sources/LP.txt`,
`references/LP.NAME.txt`, `system-outputs/LP/SYSTEM.txt` and
`metric-scores/LP/NAME-REF.{seg,sys}.score`.
"""

from __future__ import annotations

import os
import re
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

# What a score file's name ends in: the source alone, one or several references.
_REFERENCE = re.compile(r"-(src|all|(?:ref[A-Z]|synthetic_ref)(?:\.(?:ref[A-Z]|synthetic_ref))*)$")
_PAIR = re.compile(r"_[a-z]{2,3}-[a-z]{2,3}$")  # a name that speaks of one pair
_PREFERRED = ("src", "refA")  # of several files of one metric


@dataclass(frozen=True, eq=False)
class EvalSet:
    """The human side of one language pair.

    documents, domains: of each segment, () where the folder has no document file;
    gold_segment: scores by system, one a segment of the test set; gold_system: by system;
    references: names of the human translations that serve as references; notes: what people
    should be told about the data.
    """

    folder: str
    lp: str
    documents: tuple[str, ...]
    domains: tuple[str, ...]
    gold_segment: dict[str, list[Score]]
    gold_system: dict[str, Score]
    references: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def n_segments(self) -> int:
        return len(next(iter(self.gold_segment.values())))

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
        here = os.path.join(self.folder, "system-outputs", self.lp)
        names = sorted(os.listdir(here)) if os.path.isdir(here) else []
        systems = [name.removesuffix(".txt") for name in names if name.endswith(".txt")]
        return sources, {system: self.output(system) or [] for system in systems}


@dataclass(frozen=True, slots=True)
class ScoreFiles:
    """A metric's files for one language pair; either may be missing, not both."""

    metric: str
    segment: str | None
    system: str | None


def read_eval_set(folder: str, lp: str, gold: str = "mqm") -> EvalSet:
    """Raises InputError naming the file that is missing or wrong, and what was expected."""
    stem = os.path.join(folder, "human-scores", f"{lp}.{gold}")
    if not os.path.isdir(os.path.join(folder, "human-scores")):
        raise InputError(f"{readable(folder)}: no folder human-scores, so not mt-metrics-eval data")
    segment = read_segment_scores(stem + SEGMENT_ENDING)
    if not segment:
        raise InputError(f"{readable(stem + SEGMENT_ENDING)}: is empty")
    system: dict[str, Score] = {}
    if os.path.exists(stem + SYSTEM_ENDING):
        system = read_system_scores(stem + SYSTEM_ENDING)
    data = read_folder(folder, lp)
    _check_lengths(stem + SEGMENT_ENDING, segment, len(data.documents) or None)
    return replace(data, gold_segment=segment, gold_system=system)


def read_folder(folder: str, lp: str) -> EvalSet:
    """What the folder knows of the pair besides human scores."""
    documents, domains = _documents(os.path.join(folder, "documents", f"{lp}.docs"))
    return EvalSet(folder, lp, documents, domains, {}, {}, _references(folder, lp))


def metric_files(folder: str, lp: str) -> dict[str, ScoreFiles]:
    """The metrics of the data folder itself, by name; {} where it has none for the pair."""
    here = os.path.join(folder, "metric-scores", lp)
    return _best(here, "") if os.path.isdir(here) else {}


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


def score_files(folder: str, lp: str, *, only_pair: bool) -> dict[str, ScoreFiles]:
    """The metrics of any folder of score files, by name.

    Understood are `NAME_LP.seg.score`, and mt-metrics-eval's `NAME-REF.seg.score` in a folder
    `LP` or, where one pair alone is asked for (only_pair), in the folder itself.
    """
    if not os.path.isdir(folder):
        raise InputError(f"{readable(folder)}: no such folder of score files")
    found: dict[str, ScoreFiles] = {}
    if os.path.isdir(os.path.join(folder, lp)):
        found |= _best(os.path.join(folder, lp), "")
    found |= _best(folder, f"_{lp}")
    if not found and only_pair:
        found = {name: each for name, each in _best(folder, "").items() if not _PAIR.search(name)}
    if not found:
        raise InputError(
            f"{readable(folder)}: no score file for {lp}; expected NAME_{lp}{SEGMENT_ENDING} "
            f"(and {SYSTEM_ENDING}), or {lp}/NAME-REF{SEGMENT_ENDING}"
        )
    return found


def text_lines(path: str) -> list[str]:
    """The lines of a text that others count in characters: LF ends a line, a byte-order mark at
    the start of the file stays in its line, for human offsets count it."""
    file = TextFile(path)
    lines = list(file.lines())
    with open(path, "rb") as raw:
        if raw.read(3) == b"\xef\xbb\xbf" and lines:
            lines[0] = "\ufeff" + lines[0]
    return lines


def _best(folder: str, ending: str) -> dict[str, ScoreFiles]:
    """Per metric the file made from the source alone, else with the first reference."""
    variants: dict[str, dict[str, dict[str, str]]] = {}
    for name in sorted(os.listdir(folder)):
        for kind in (SEGMENT_ENDING, SYSTEM_ENDING):
            if name.endswith(ending + kind):
                stem = name.removesuffix(ending + kind)
                match = _REFERENCE.search(stem)
                metric = stem[: match.start()] if match else stem
                reference = match.group(1) if match else "src"
                by_reference = variants.setdefault(metric, {})
                by_reference.setdefault(reference, {})[kind] = os.path.join(folder, name)
    found = {}
    for metric, by_reference in variants.items():
        chosen = next((each for each in _PREFERRED if each in by_reference), min(by_reference))
        files = by_reference[chosen]
        found[metric] = ScoreFiles(metric, files.get(SEGMENT_ENDING), files.get(SYSTEM_ENDING))
    return found


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
