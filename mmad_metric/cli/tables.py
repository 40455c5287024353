"""Tables as text for a terminal and as LaTeX with booktabs."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from mmad_metric.cli.terminal import printable

Row = Sequence[str]
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
    "μ": r"$\mu$", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def text_table(header: Row, rows: Sequence[Row]) -> str:
    """Columns in line: the first to the left, the others to the right."""
    cells = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [cell + " " * (widths[0] - _width(cell)) for cell in row[:1]]
        padded += [
            " " * (width - _width(cell)) + cell
            for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def latex_table(header: Row, rows: Sequence[Row]) -> str:
    """A booktabs tabular, every cell escaped."""
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\toprule"]
    lines += [_latex_line(header), r"\midrule", *map(_latex_line, rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_line(row: Row) -> str:
    return " & ".join(_escaped(printable(cell)) for cell in row) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _width(text: str) -> int:
    """Columns that a terminal gives it."""
    return sum(
        0 if unicodedata.combining(character) else 2 if _is_wide(character) else 1
        for character in text
    )


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
