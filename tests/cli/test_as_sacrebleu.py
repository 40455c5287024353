"""`mmad -m bleu chrf ter` beside the real `sacrebleu` command: the same files, the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mmad, Ran

pytestmark = pytest.mark.slow

LINES = 100
SYSTEMS = {"one.txt": "GPT4-5shot", "two.txt": "ONLINE-A", "three.txt": "ONLINE-B"}
Both = Callable[..., tuple[Ran, Ran]]


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:LINES]


@pytest.fixture
def real(wmt23: Path, tmp_path: Path, mmad: Mmad, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with slices of WMT23 zh-en: three systems, two references, and what
    can be made of them."""
    texts = {
        name: lines_of(wmt23 / "system-outputs" / "zh-en" / f"{system}.txt")
        for name, system in SYSTEMS.items()
    }
    texts["ref.txt"] = lines_of(wmt23 / "references" / "zh-en.refA.txt")
    texts["ref2.txt"] = lines_of(wmt23 / "references" / "zh-en.synthetic_ref.txt")
    pairs = zip(texts["ref.txt"], texts["ref2.txt"], strict=True)
    texts["refs.tsv.txt"] = ["\t".join(pair) for pair in pairs]
    columns = zip(texts["one.txt"], texts["two.txt"], strict=True)
    texts["columns"] = ["\t".join(pair) for pair in columns]
    texts["same.txt"] = texts["one.txt"]
    # Blank lines, blanks at the end, CR and a separator that is no line end.
    odd = ["", *[f"{line} \t" for line in texts["one.txt"][1:3]], "a\u2028b\r"]
    texts["odd.txt"] = odd + texts["one.txt"][4:]
    texts["short.txt"] = texts["one.txt"][:-1]
    texts |= {f"few.{name}": texts[name][:20] for name in ("one.txt", "two.txt", "ref.txt")}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    for name in ("a/b/out.txt", "b/b/out.txt", "b/b/out"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((tmp_path / "few.one.txt").read_bytes())
    (tmp_path / "one.txt.gz").write_bytes(gzip.compress((tmp_path / "one.txt").read_bytes()))
    for name in ("one", "ref"):
        text = (tmp_path / f"{name}.txt").read_text(encoding="utf-8")
        latin = text.encode("latin-1", "replace")
        (tmp_path / f"{name}.latin").write_bytes(latin)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def both(real: Path, mmad: Mmad, monkeypatch: pytest.MonkeyPatch) -> Both:
    """Runs a command line with sacreBLEU and with ours, on real files."""

    def run(*arguments: str, stdin: str = os.devnull, metrics: Sequence[str] = ()) -> Any:
        with open(stdin, "rb") as handle:
            theirs = subprocess.run(
                [sys.executable, "-m", "sacrebleu", *arguments, *metrics],
                stdin=handle,
                capture_output=True,
                check=False,
            )
        with open(stdin, encoding="utf-8") as handle:
            monkeypatch.setattr("sys.stdin", handle)
            ours = mmad(*arguments, *(metrics or ["-m", "bleu"]))
        return ours, Ran(theirs.returncode, theirs.stdout.decode(), theirs.stderr.decode())

    return run


TWO = ["-m", "bleu", "chrf"]
ALL = [*TWO, "ter"]  # TER takes seconds: a few cases have it, with few lines
SAME_BYTES = {
    "one system in JSON": (["few.ref.txt", "-i", "few.one.txt"], ALL),
    "one system, one metric": (["ref.txt", "-i", "one.txt"], []),
    "one system in text": (["ref.txt", "-i", "one.txt", "-f", "text"], TWO),
    "one system in latex": (["ref.txt", "-i", "one.txt", "-f", "latex"], TWO),
    "an interval in JSON": (["ref.txt", "-i", "one.txt", "-ci", "-cin", "100"], TWO),
    "an interval in text": (["ref.txt", "-i", "one.txt", "--confidence", "-f", "text"], []),
    "a short signature": (["ref.txt", "-i", "one.txt", "-sh", "-f", "text"], TWO),
    "a short signature in JSON": (["ref.txt", "-i", "one.txt", "-sh"], []),
    "decimals": (["ref.txt", "-i", "one.txt", "-w", "4"], TWO),
    "many decimals": (["ref.txt", "-i", "one.txt", "-w", "17"], TWO),
    "no resample": (["ref.txt", "-i", "one.txt", "-ci", "-cin", "0"], TWO),
    "one resample": (["ref.txt", "-i", "one.txt", "-ci", "-cin", "1", "-f", "text"], TWO),
    "bare scores": (["ref.txt", "-i", "one.txt", "-b", "-f", "text"], TWO),
    "bare scores as JSON": (["ref.txt", "-i", "one.txt", "-b"], TWO),
    "a bare interval": (["ref.txt", "-i", "one.txt", "-b", "-ci", "-cin", "50"], []),
    "sentences": (["ref.txt", "-i", "one.txt", "-sl"], []),
    "bare sentences": (["ref.txt", "-i", "one.txt", "-sl", "-b"], ["-m", "chrf"]),
    "several systems in JSON": (["ref.txt", "-i", *SYSTEMS], TWO),
    "several systems in text": (["ref.txt", "-i", *SYSTEMS, "-f", "text"], TWO),
    "several systems in latex": (["ref.txt", "-i", *SYSTEMS, "-f", "latex", "-w", "3"], TWO),
    "several systems, bare": (["ref.txt", "-i", *SYSTEMS, "-b"], TWO),
    "a bootstrap test in text": (
        ["ref.txt", "-i", *SYSTEMS, "-pbs", "-pbsn", "100", "-f", "text"], ["-m", "chrf", "bleu"],
    ),
    "a bootstrap test in latex": (
        ["ref.txt", "-i", *SYSTEMS, "--paired-bs", "--paired-bs-n", "100", "-f", "latex"], TWO,
    ),
    "a bootstrap test in JSON": (["ref.txt", "-i", *SYSTEMS, "-pbs", "-pbsn", "100"], []),
    "a randomisation test in text": (
        ["ref.txt", "-i", *SYSTEMS, "-par", "-parn", "100", "-f", "text", "-sh"], TWO,
    ),
    "a randomisation test in JSON": (
        ["few.ref.txt", "-i", "few.one.txt", "few.two.txt", "--paired-ar", "--paired-ar-n", "50"],
        ["-m", "ter", "chrf"],
    ),
    "a test in two processes": (
        ["ref.txt", "-i", *SYSTEMS, "-par", "-parn", "50", "-j", "2"], [],
    ),
    "the baseline named twice": (
        ["ref.txt", "-i", "one.txt", "two.txt", "one.txt", "-par", "-parn", "50"], [],
    ),
    "a test without a number": (
        ["few.ref.txt", "-i", "few.one.txt", "few.two.txt", "-pbs", "-pbsn", "-1"], [],
    ),
    "equal names in two folders": (
        ["few.ref.txt", "-i", "a/b/out.txt", "b/b/out.txt", "b/b/out"], [],
    ),
    "details of no test set": (["few.ref.txt", "-i", "few.one.txt", "-d"], []),
    "two references": (["ref.txt", "ref2.txt", "-i", "one.txt"], TWO),
    "two references in one file": (["refs.tsv.txt", "-nr", "2", "-i", "one.txt"], TWO),
    "BLEU's parameters": (
        ["ref.txt", "-i", "one.txt", "-lc", "-tok", "char", "--smooth-method", "add-k", "-sv", "2"],
        [],
    ),
    "chrF's parameters": (
        ["ref.txt", "-i", "one.txt", "-cc", "5", "-cw", "2", "--chrf-beta", "3",
         "--chrf-whitespace", "--chrf-lowercase", "--chrf-eps-smoothing"], ["-m", "chrf"],
    ),
    "TER's parameters": (
        ["few.ref.txt", "-i", "few.one.txt", "--ter-case-sensitive", "--ter-no-punct",
         "--ter-normalized", "--ter-asian-support"], ["-m", "ter"],
    ),
    "a Chinese target": (["ref.txt", "-i", "one.txt", "-l", "en-zh"], []),
    "odd lines": (["ref.txt", "-i", "odd.txt"], TWO),
    "gzip": (["ref.txt", "-i", "one.txt.gz"], TWO),
    "another encoding": (["ref.latin", "-i", "one.latin", "-e", "latin-1"], TWO),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME_BYTES)
def test_the_output_is_sacrebleus_byte_for_byte(both: Both, case: str):
    arguments, metrics = SAME_BYTES[case]
    ours, theirs = both(*arguments, metrics=metrics)
    assert (theirs.status, bool(theirs.out)) == (0, True), theirs.err
    assert (ours.status, ours.out) == (0, theirs.out)


@pytest.mark.parametrize(
    ("stdin", "flags"),
    [("one.txt", []), ("columns", ["-f", "text"]), ("columns", ["-par", "-parn", "9"])],
    ids=["one system", "a system a column", "a test"],
)
def test_standard_input_is_read_as_sacrebleu_reads_it(both: Both, stdin: str, flags: list[str]):
    ours, theirs = both("ref.txt", *flags, stdin=stdin, metrics=TWO)
    assert (ours.status, ours.out) == (theirs.status, theirs.out)


@pytest.mark.parametrize(
    ("name", "value"),
    [("SACREBLEU_FORMAT", "TEXT"), ("SACREBLEU_FORMAT", "yaml"), ("SACREBLEU_SEED", "7")],
    ids=["format", "no format", "seed"],
)
def test_the_environment_is_obeyed_as_sacrebleu_obeys_it(
    both: Both, monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv(name, value)
    ours, theirs = both("ref.txt", "-i", "one.txt", "-ci", "-cin", "50", metrics=TWO)
    assert ours.out == theirs.out


STATUSES = {
    "files of different length": (["ref.txt", "-i", "short.txt"], 1),
    "no reference": (["-i", "one.txt"], 1),
    "no such file of a system": (["ref.txt", "-i", "absent.txt"], 1),
    "two metrics sentence by sentence": (["ref.txt", "-i", "one.txt", "-sl", *ALL], 1),
    "two systems sentence by sentence": (["ref.txt", "-i", "one.txt", "two.txt", "-sl"], 1),
    "an interval of several systems": (["ref.txt", "-i", "one.txt", "two.txt", "-ci"], 1),
    "a test of one system": (["ref.txt", "-i", "one.txt", "-pbs"], 1),
    "a system given twice": (["ref.txt", "-i", "one.txt", "two.txt", "two.txt"], 1),
    "two references a line where there is one": (["ref.txt", "-nr", "2", "-i", "one.txt"], 1),
    "references and a test set": (["ref.txt", "-t", "wmt20", "-l", "en-de", "-i", "one.txt"], 1),
    "an unknown test set": (["-t", "wmt1", "-l", "en-de", "-i", "one.txt"], 1),
    "a pair that the set has not": (["-t", "wmt20", "-l", "en-sw", "-i", "one.txt"], 1),
    "two tests at once": (["ref.txt", "-i", "one.txt", "two.txt", "-pbs", "-par"], 2),
    "an unknown metric": (["ref.txt", "-i", "one.txt", "-m", "meteor"], 2),
    "an empty file": (["ref.txt", "-i", os.devnull], 1),
    "an unknown tokenizer": (["ref.txt", "-i", "one.txt", "-tok", "nosuch"], 2),
    "an unknown format": (["ref.txt", "-i", "one.txt", "-f", "yaml"], 2),
}


@pytest.mark.parametrize("case", STATUSES)
def test_what_sacrebleu_refuses_is_refused_in_one_line(real: Path, mmad: Mmad, case: str):
    arguments, status = STATUSES[case]
    metrics = [] if "-m" in arguments else ["-m", "bleu"]
    ran = mmad(*arguments, *metrics)
    assert (ran.status, ran.out) == (status, "")
    assert "Traceback" not in ran.err
    assert status == 2 or len(ran.err.strip().splitlines()) == 1


def test_identical_systems_are_never_significantly_different(both: Both):
    for flags in (["-pbs", "-pbsn", "100"], ["-par", "-parn", "100"]):
        metrics = ["-m", "bleu"]
        ours, theirs = both(
            "ref.txt", "ref2.txt", "-i", "one.txt", "same.txt", "two.txt", *flags, metrics=metrics
        )
        mine, other = json.loads(ours.out), json.loads(theirs.out)
        assert other[1]["BLEU"]["p_value"] < 0.05  # sacreBLEU counts larger differences alone
        assert mine[1]["BLEU"].pop("p_value") == 1
        other[1]["BLEU"].pop("p_value")
        assert mine == other


def test_identical_systems_have_p_1_by_every_metric(real: Path, mmad: Mmad):
    for name in ("ref.txt", "ref2.txt", "one.txt", "two.txt"):
        head = (real / name).read_text(encoding="utf-8").split("\n")[:6]
        (real / name).write_text("\n".join(head), encoding="utf-8", newline="\n")
    (real / "copy.txt").write_bytes((real / "two.txt").read_bytes())
    references = ["ref.txt", "ref2.txt", "one.txt"]
    for flags in (["-pbs", "-pbsn", "50"], ["-par", "-parn", "50"]):
        ran = mmad(*references, "-i", "two.txt", "copy.txt", *flags, *ALL)
        [row] = json.loads(ran.out)[1:]
        assert [row[name]["p_value"] for name in ("BLEU", "chrF2", "TER")] == [1, 1, 1]


def test_a_bootstrap_test_of_chrf_is_strict_json_where_sacrebleu_fails(real: Path, mmad: Mmad):
    ran = mmad("ref.txt", "-i", *SYSTEMS, "-pbs", "-pbsn", "50", "-m", "chrf")
    rows = json.loads(ran.out, parse_constant=pytest.fail)
    assert [row["chrF2"]["p_value"] is None for row in rows] == [True, False, False]
    assert all(isinstance(row["chrF2"]["ci"], float) for row in rows)


def test_neither_model_nor_key_nor_source_is_needed(real: Path, mmad: Mmad):
    ran = mmad("ref.txt", "-i", "one.txt", "-m", "bleu", "chrf", "--model", "none:such")
    assert (ran.status, ran.err) == (0, "")
