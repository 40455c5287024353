"""The layouts of one and of several systems, as whole outputs in tests/golden/layouts/.

What a run measures is masked: versions, hashes, token counts, and the numbers that resampling
draws; what stays is computed by hand in test_rate.py and test_resampling.py. A change of layout
on purpose: `MMAD_UPDATE_GOLDEN=1 pytest tests/cli/test_golden.py`, then read the difference.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import sacrebleu

from mmad_metric.version import __version__
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import BAD, GOOD, SOURCES, Mmad
from tests.loopback import LoopbackServer

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "layouts"
ONE = ["-s", "src.txt", "-i", "bad.txt"]
SEVERAL = ["-s", "src.txt", "-i", "good.txt", "bad.txt"]
# Scores -1, 0, 0 and 0, -1, 0: no resampling finds the one better, so that no star moves a cell.
EVEN = ["-s", "even.src.txt", "-i", "left.txt", "right.txt"]
PARTS = {
    "one.plain": ONE,
    "one.interval": [*ONE, "-ci", "-cin", "200"],
    "one.combined": ["ref.txt", *ONE, "-m", "mmad", "bleu", "chrf", "-ci", "-cin", "200"],
    "several.plain": SEVERAL,
    "several.bootstrap": [*EVEN, "-pbs", "-pbsn", "200"],
    "several.randomisation": [*EVEN, "-par", "-parn", "200"],
    "several.combined": ["ref.txt", *EVEN, "-m", "mmad", "chrf", "-pbs", "-pbsn", "200"],
}
CASES = {
    f"{name}.{form}": [*arguments, "-f", form]
    for name, arguments in PARTS.items()
    for form in ("json", "text", "latex")
}


def hidden(number: re.Match[str]) -> str:
    return re.sub(r"\d", "#", number.group())


def masked(text: str) -> str:
    text = re.sub(r"(?<=@)[0-9a-f]{12}", "HASH", text)
    text = text.replace(sacrebleu.__version__, "SACREBLEU").replace(__version__, "VERSION")
    text = re.sub(r"\(?[-\d.]+ ± [-\d.]+\)?", hidden, text)
    text = re.sub(r"\(p = [\d.]+\)\*?", "(p = #.####)", text)
    text = re.sub(r'("confidence_(?:mean|var)": )[-\d.]+', r"\1NUMBER", text)
    text = re.sub(r'("(?:p_value|mean|ci)": )[-\d.]+', r"\1NUMBER", text)
    return re.sub(r'("(?:prompt|cached|completion)_tokens": )\d+', r"\1COUNT", text)


@pytest.mark.parametrize("case", CASES)
def test_the_layout_is_the_agreed_one(mmad: Mmad, files: Path, case: str):
    (files / "ref.txt").write_text("Das rote Haus ist alt.\nGuten Morgen.\nEs ist kalt.\n")
    for name, rows, lines in (
        ("even.src.txt", (2, 2, 1), (SOURCES,) * 3),
        ("left.txt", (2, 2, 1), (BAD, GOOD, GOOD)),
        ("right.txt", (2, 2, 1), (GOOD, BAD, GOOD)),
    ):
        texts = [texts[row] for row, texts in zip(rows, lines, strict=True)]
        (files / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    with LoopbackServer(Annotator(KNOWN)) as server:
        ran = mmad(*CASES[case], "-l", "en-de", "--model", "qwen2.5:7b",
                   "--base-url", server.url)  # fmt: skip
    assert ran.status == 0, ran.err
    if case.endswith("json"):
        json.loads(ran.out, parse_constant=pytest.fail)
    shown, path = masked(ran.out), GOLDEN / case
    if os.environ.get("MMAD_UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over():
    assert {path.name for path in GOLDEN.iterdir()} == set(CASES)
