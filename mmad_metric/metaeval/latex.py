"""Tabulars of LaTeX with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

_SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "\n": " ",
        "\r": " ",
        **{sign: "\\" + sign for sign in "&%$#_{}"},
    }
)


def tabular(
    columns: str,
    heads: Sequence[Sequence[str]],
    body: Sequence[Sequence[str]],
    *,
    groups: Sequence[tuple[str, int]] = (),
    comments: Sequence[str] = (),
) -> str:
    """columns: a letter each; groups: heads over the first row of heads, each over so many
    columns, "" for none; comments: lines before it. Cells are escaped here."""
    lines = [f"% {' '.join(each.split())}" for each in comments]
    lines += [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", *_group_rows(groups)]
    lines += [row(cells) for cells in heads] + ["\\midrule"]
    lines += [row(cells) for cells in body]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def row(cells: Sequence[str]) -> str:
    """A row of the cells. One that begins with a bracket or a star would be read as an option of
    the end of the row before."""
    text = " & ".join(map(escaped, cells))
    return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"


def escaped(text: str) -> str:
    """The text as LaTeX prints it."""
    return text.translate(_SIGNS)


def _group_rows(groups: Sequence[tuple[str, int]]) -> list[str]:
    if not groups:
        return []
    cells, rules, begin = [], [], 1
    for name, width in groups:
        place = "c" if name else "l"
        cells.append(f"\\multicolumn{{{width}}}{{{place}}}{{{escaped(name)}}}")
        if name:
            rules.append(f"\\cmidrule(lr){{{begin}-{begin + width - 1}}}")
        begin += width
    return [" & ".join(cells) + r" \\", " ".join(rules)]
