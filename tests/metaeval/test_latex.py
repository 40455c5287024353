"""LaTeX as TeX would read it: every row fills the columns, nothing is left unescaped."""

from __future__ import annotations

import re

import pytest

from mmad_metric.metaeval.coverage import Coverage
from mmad_metric.metaeval.latex import escaped, row, tabular
from mmad_metric.metaeval.measures import META_SETS, find_measures
from mmad_metric.metaeval.meta_score import LanguagePairScores, evaluate
from mmad_metric.metaeval.permutation import common, compare
from mmad_metric.metaeval.reports import Significance, significance_latex
from mmad_metric.metaeval.tables import Table, latex_table
from tests.metaeval.tiny import noisy_pair

WMT23 = find_measures(META_SETS["wmt23"])
NASTY = r"a_b $x$ 100% & {c} #1 ~^\ <d> | [e]*"


def columns_of(latex: str) -> int:
    declared = re.search(r"\\begin\{tabular\}\{([a-z]+)\}", latex)
    assert declared
    return len(declared.group(1))


def rows_of(latex: str) -> list[str]:
    lines = [line for line in latex.splitlines() if not line.startswith(("%", "\\begin", "\\end"))]
    return [line.removesuffix(r"\\") for line in lines if line.endswith(r"\\")]


def width_of(line: str) -> int:
    """Columns that a row fills."""
    cells = re.split(r"(?<!\\)&", line)
    spans = [re.match(r"\s*\\multicolumn\{(\d+)\}", cell) for cell in cells]
    return sum(int(span.group(1)) if span else 1 for span in spans)


def check_tabular(latex: str) -> None:
    assert {width_of(line) for line in rows_of(latex)} == {columns_of(latex)}
    for line in rows_of(latex):
        # What is left when the commands that we write are taken away means nothing to TeX.
        plain = re.sub(r"\\multicolumn\{\d+\}\{[lc]\}|\\text[a-z]+\{\}|\\[&%$#_{}]", "", line)
        assert not set(plain) & set("\\%$#_~^<>|")
        assert plain.count("{") == plain.count("}")
        assert not line.lstrip().startswith(("[", "*"))


def table_of(*lps: str) -> Table:
    pairs = [noisy_pair({"good": 1.0, NASTY: 4.0}, lp=lp, seed=len(lp)) for lp in lps]
    partial = LanguagePairScores(
        pairs[0].gold, {**pairs[0].metrics, "half": pairs[0].metrics["good"]}
    )
    coverage = tuple(Coverage.of(pair.gold, 50) for pair in pairs)
    return Table(coverage, WMT23, evaluate([partial, *pairs[1:]], WMT23))


@pytest.mark.parametrize(
    "lps",
    [("en-de",), ("en-de", "zh-en"), ("en-de", "zh-en", "he-en")],
    ids=["one", "two", "three"],
)
def test_every_row_of_the_table_fills_all_its_columns(lps: tuple[str, ...]):
    latex = latex_table(table_of(*lps))
    check_tabular(latex)
    blocks = len(lps) + (len(lps) > 1)
    assert columns_of(latex) == 2 + 5 * blocks
    assert latex.count("\\multicolumn{5}{c}") == latex.count("\\cmidrule(lr)") == blocks
    assert f"\\cmidrule(lr){{{5 * blocks - 2}-{5 * blocks + 2}}}" in latex  # over the last block


def test_what_the_data_is_stands_in_comments_before_the_table():
    assert latex_table(table_of("en-de", "zh-en")).splitlines()[:2] == [
        "% en-de: 6 systems, 40 of 50 segments with gold",
        "% zh-en: 6 systems, 40 of 50 segments with gold",
    ]


def test_tests_are_a_tabular_of_their_own():
    pair = noisy_pair({"good": 1.0, NASTY: 4.0})
    names = ("good", NASTY)
    found = Significance(
        {names: compare([pair], names, WMT23, n=19)},
        {names: common([pair], names)},
        ("left %\nout",),
    )
    latex = significance_latex(found, 3)
    check_tabular(latex)
    assert latex.startswith("% left % out: not tested")


def test_no_comparison_is_a_tabular_too():
    check_tabular(significance_latex(Significance({}, {}), 3))


def test_signs_are_printed_as_they_are():
    assert escaped("a\\b{") == r"a\textbackslash{}b\{"
    assert escaped("50% of $x_1") == r"50\% of \$x\_1"
    assert escaped("質量 é") == "質量 é"


def test_a_row_is_no_option_of_the_row_before():
    assert row(["[a]", "b"]) == r"{}[a] & b \\"
    assert row(["*", "b"]) == r"{}* & b \\"


def test_a_head_without_groups_has_no_rule_of_its_own():
    assert tabular("lr", [["a", "b"]], [["c", "1"]]).splitlines() == [
        "\\begin{tabular}{lr}", "\\toprule", r"a & b \\", "\\midrule", r"c & 1 \\",
        "\\bottomrule", "\\end{tabular}",
    ]  # fmt: skip
