"""Glossaries as files: source term, tab, target term and, if wanted, a note."""

from __future__ import annotations

import os

from mmad_metric.errors import InputError
from mmad_metric.files.lines import STDIN, TextFile
from mmad_metric.glossary import Glossary, word_list
from mmad_metric.material import Term

_COMMENT = "#"
_WIDTHS = (2, 3)


def read_glossary(path: str) -> Glossary:
    """The glossary in a file, named by it.

    UTF-8, gzipped or not, no quoting. Blank lines and lines that begin with # say nothing. A
    source term on several lines has several renderings. Raises InputError naming file and line.
    """
    if path == STDIN:
        raise InputError("glossary: standard input cannot be one; give a file")
    file = TextFile(path)
    lines: dict[tuple[str, ...], list[Term]] = {}
    for number, line in enumerate(file.lines(), 1):
        if line.strip() and not line.startswith(_COMMENT):
            term = _term(line, f"{file.name}, line {number}")
            lines.setdefault(tuple(word_list(term.source)), []).append(term)
    if not lines:
        raise InputError(f"{file.name}: no entry in this glossary (source term, tab, target term)")
    return Glossary(_name(file.name), tuple(map(_entry, lines.values())))


def _term(line: str, where: str) -> Term:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in _WIDTHS:
        columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
        raise InputError(
            f"{where}: {columns} instead of 2 or 3 (source term, target term, optional note; "
            "tab-separated, no quoting)"
        )
    for name, cell in zip(("source", "target"), cells, strict=False):
        if not cell:
            raise InputError(f"{where}: the {name} term is blank")
    if not word_list(cells[0]):
        raise InputError(f"{where}: the source term {cells[0]!r} holds nothing that can be found")
    return Term(cells[0], (cells[1],), *cells[2:])


def _entry(lines: list[Term]) -> Term:
    """One entry of all lines with the same source term."""
    targets = dict.fromkeys(target for term in lines for target in term.targets)
    notes = dict.fromkeys(term.note for term in lines if term.note)
    return Term(lines[0].source, tuple(targets), "; ".join(notes))


def _name(path: str) -> str:
    """The file's name without what tells its format."""
    name = os.path.basename(path)
    for extension in (".gz", ".tsv", ".txt"):
        if name.lower().endswith(extension):
            name = name[: -len(extension)] or name
    return name
