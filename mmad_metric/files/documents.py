"""Document ids, one a line beside the sources."""

from __future__ import annotations

from collections.abc import Iterator

from mmad_metric.errors import InputError, quoted
from mmad_metric.files.lines import TextFile

_MOST_COLUMNS = 2


class DocIds(TextFile):
    """A file whose lines are ids; a line may also be a domain, a tab and an id, as in
    mt-metrics-eval's `documents/LP.docs`."""

    def lines(self) -> Iterator[str]:
        for number, line in enumerate(super().lines(), 1):
            cells = line.split("\t")
            if len(cells) > _MOST_COLUMNS or not cells[-1].strip():
                raise InputError(
                    f"{self.name}, line {number}: a document id is expected, or a domain, a tab "
                    f"and an id; found {quoted(line)}"
                )
            yield cells[-1]
