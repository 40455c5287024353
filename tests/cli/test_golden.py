"""The layouts of one and of several systems, as whole outputs in tests/golden/.

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
from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
ONE, SEVERAL = ["-i", "bad.txt"], ["-i", "good.txt", "bad.txt"]
CASES = {
    f"{systems}.{extra or 'plain'}.{form}": [*inputs, *flags, "-f", form]
    for form in ("json", "text", "latex")
    for systems, inputs, extras in (
        ("one", ONE, {"": [], "interval": ["-ci", "-cin", "200"]}),
        ("several", SEVERAL, {
            "": [],
            "bootstrap": ["-pbs", "-pbsn", "200"],
            "randomisation": ["-par", "-parn", "200"],
        }),
    )
    for extra, flags in extras.items()
} | {
    f"{systems}.combined.{form}": ["ref.txt", *inputs, *flags, "-f", form]
    for form in ("json", "text")
    for systems, inputs, flags in (
        ("one", ONE, ["-m", "mmad", "bleu", "chrf", "-ci", "-cin", "200"]),
        ("several", SEVERAL, ["-m", "mmad", "chrf", "-pbs", "-pbsn", "200"]),
    )
}  # fmt: skip


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
    with LoopbackServer(Annotator(KNOWN)) as server:
        ran = mmad(*CASES[case], "-s", "src.txt", "-l", "en-de", "--model", "qwen2.5:7b",
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
