"""Score files of mt-metrics-eval, read and written: a system's name and a score or None a line.

`.seg.score`: a line a segment, all segments of a system in the order of the test set;
`.sys.score`: a line a system. Fields are parted by a tab (other white space is understood).
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import TextFile, readable

Score = float | None
SEGMENT_ENDING = ".seg.score"
SYSTEM_ENDING = ".sys.score"
RATING_ENDING = ".seg.rating"
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_NONE = b"None"


def read_segment_scores(path: str) -> dict[str, list[Score]]:
    """Scores by system, in the order of the file; None where the file says None.

    Raises InputError naming file and line for anything but a name and a finite number or None.
    """
    names, scores = _columns(path)
    found: dict[str, list[Score]] = {}
    start = 0
    for raw, run in groupby(names):
        end = start + sum(1 for _ in run)
        found.setdefault(_text(raw, path), []).extend(scores[start:end])
        start = end
    return found


def is_score_file(path: str) -> bool:
    """Whether a path is named as a file of segment scores is, gzipped or not."""
    return path.lower().removesuffix(".gz").endswith(SEGMENT_ENDING)


def read_equal_scores(path: str) -> dict[str, tuple[Score, ...]]:
    """The same of a file that stands alone: all systems have as many scores, and there are some.

    Raises InputError as `read_segment_scores` does, and for an empty file or systems of unequal
    length.
    """
    scores = read_segment_scores(path)
    if not scores:
        raise InputError(f"{readable(path)}: is empty, there are no scores in it")
    first, wanted = next((system, len(row)) for system, row in scores.items())
    for system, row in scores.items():
        if len(row) != wanted:
            raise InputError(
                f"{readable(path)}: {len(row)} scores of system {quoted(system)}, "
                f"but {wanted} of {quoted(first)}"
            )
    return {system: tuple(row) for system, row in scores.items()}


def read_system_scores(path: str) -> dict[str, Score]:
    """Score by system. Raises InputError as `read_segment_scores` does, and for a name given
    twice."""
    names, scores = _columns(path)
    found: dict[str, Score] = {}
    for line, (raw, score) in enumerate(zip(names, scores, strict=True), 1):
        name = _text(raw, path)
        if name in found:
            raise InputError(f"{readable(path)}, line {line}: a second score for {quoted(name)}")
        found[name] = score
    return found


def segment_score_lines(scores: Mapping[str, Sequence[Score]]) -> Iterator[str]:
    """The lines of a `.seg.score` file, with their ends."""
    for system, row in scores.items():
        name = system_field(system)
        for score in row:
            yield f"{name}\t{_number(score)}\n"


def system_score_lines(scores: Mapping[str, Score]) -> Iterator[str]:
    """The lines of a `.sys.score` file, with their ends."""
    for system, score in scores.items():
        yield f"{system_field(system)}\t{_number(score)}\n"


def system_field(name: str) -> str:
    """The name as one field: other tools split at white space, so it becomes "_"."""
    return "_".join(name.split()) or "system"


def unique_fields(names: Iterable[str]) -> dict[str, str]:
    """Each name with its field. Raises InputError where two names become one."""
    fields: dict[str, str] = {}
    for name in names:
        field = system_field(name)
        for other, taken in fields.items():
            if taken == field and other != name:
                raise InputError(f"systems {other!r} and {name!r} would both be called {field!r}")
        fields[name] = field
    return fields


def _number(score: Score) -> str:
    return "None" if score is None else repr(score + 0.0)


def _columns(path: str) -> tuple[list[bytes], list[Score]]:
    """Names and scores, a pair a line. The whole file at once, as a table of thirty metrics reads
    a million lines; a file with anything odd in it is read again line by line."""
    data = _content(path)
    fields = data.split()
    lines = data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)
    values = fields[1::2]
    # What else float() understands, 1_0 for ten, is no number of other tools.
    if len(fields) == 2 * lines and b"_" not in b"".join(values):
        try:
            scores: list[Score]
            if _NONE in values:
                scores = [None if each == _NONE else float(each) for each in values]
                total = sum(each for each in scores if each is not None)
            else:
                known = list(map(float, values))
                scores, total = [*known], sum(known)
            if math.isfinite(total):
                return fields[0::2], scores
        except (ValueError, OverflowError):
            pass
    return _columns_by_line(path)


def _columns_by_line(path: str) -> tuple[list[bytes], list[Score]]:
    file = TextFile(path)
    names: list[bytes] = []
    scores: list[Score] = []
    for number, line in enumerate(file.lines(), 1):
        try:
            name, value = line.encode("utf-8").split()
            score = None if value == _NONE else _float(value)
        except ValueError:
            raise _not_a_score(file.name, number, line) from None
        if score is not None and not math.isfinite(score):
            raise _not_a_score(file.name, number, line)
        names.append(name)
        scores.append(score)
    return names, scores


def _float(value: bytes) -> float:
    if b"_" in value:
        raise ValueError("digits grouped by underscores")
    return float(value)


def _not_a_score(file: str, number: int, line: str) -> InputError:
    return InputError(
        f"{file}, line {number}: a system's name, a tab and a number or None are expected, "
        f"found {quoted(line)}"
    )


def _content(path: str) -> bytes:
    TextFile(path)  # says in our own words what is wrong with a path
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise InputError(f"{readable(path)}: cannot be read: {error}") from None
    return data.removeprefix(_BOM)


def _text(raw: bytes, path: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{readable(path)}: the name {raw!r} is not UTF-8 ({error})") from None
