"""Test sets: from sacreBLEU's cache without a network, refused clearly, never waited for long."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from sacrebleu import utils

from mmad_metric.cli import test_sets
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad, Ran
from tests.loopback import LoopbackServer

# A document of wmt18 whose country and domain sacreBLEU knows, and one that it does not know.
SGM = """\
<srcset setid="newstest2018" srclang="any">
<doc sysid="{role}" docid="guardian.181611" genre="news" origlang="en">
<seg id="1">{0}</seg>
<seg id="2">{1}</seg>
</doc>
<doc sysid="{role}" docid="own.1" genre="news" origlang="de">
<seg id="1">{2}</seg>
</doc>
</srcset>
"""
XML = """\
<?xml version='1.0' encoding='utf-8'?>
<dataset id="wmttest2023"><collection id="general">
<doc origlang="en" id="d1" domain="news">
<src lang="en"><p><seg id="1">The red house is old.</seg><seg id="2">Good morning.</seg></p></src>
<ref lang="de" translator="refA"><p><seg id="1">Das rote Haus ist alt.</seg>
<seg id="2">Guten Morgen.</seg></p></ref>
</doc>
<doc origlang="cs" id="d2" domain="social">
<src lang="en"><p><seg id="1">It is cold today.</seg></p></src>
<ref lang="de" translator="refA"><p><seg id="1">Es ist heute kalt.</seg></p></ref>
</doc>
</collection></dataset>
"""
GERMAN = ["Das rote Haus ist alt.", "Guten Morgen allerseits.", "Es ist kalt."]
ENGLISH = ["The red house is old.", "Good morning to all.", "It is cold."]
Both = Callable[..., tuple[Ran, Ran]]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with two invented sets under real names, as sacreBLEU's download leaves them.
    The archives themselves are not needed any more: that they are there is enough."""
    folder = tmp_path / "cache"
    wmt18, wmt23 = folder / "wmt18" / "raw", folder / "wmt23" / "raw"
    (wmt18 / "test").mkdir(parents=True)
    (wmt18 / "wmt18.test.tgz").write_text("unpacked")
    for role, language, texts in (("src", "de", GERMAN), ("ref", "en", ENGLISH)):
        name = f"newstest2018-deen-{role}.{language}.sgm"
        (wmt18 / "test" / name).write_text(SGM.format(*texts, role=role), encoding="utf-8")
    place = wmt23 / "wmt23-news-systems-v.0.1" / "xml"
    place.mkdir(parents=True)
    (wmt23 / "wmt23.v.0.1.tar.gz").write_text("unpacked")
    (place / "wmttest2023.en-de.all.xml").write_text(XML, encoding="utf-8")
    monkeypatch.setattr(utils, "SACREBLEU_DIR", str(folder))
    monkeypatch.setattr(sacrebleu, "SACREBLEU_DIR", str(folder))
    monkeypatch.setattr("urllib.request._opener", None)  # it keeps the first proxy that it sees
    for name, dataset in sacrebleu.DATASETS.items():
        monkeypatch.setattr(dataset, "_outdir", str(folder / name))
        monkeypatch.setattr(dataset, "_rawdir", str(folder / name / "raw"))
    return folder


@pytest.fixture
def both(cache: Path, files: Path, mmad: Mmad, monkeypatch: pytest.MonkeyPatch) -> Both:
    """Runs a command line with sacreBLEU and with ours; no way to the network for either."""
    (files / "en.txt").write_text("The red house is old .\nGood morning, all.\nIt's cold.\n")
    (files / "de.txt").write_text("Das rote Haus ist alt.\nGuten Tag.\nEs ist kalt.\n")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")

    def run(*arguments: str) -> Any:
        theirs = subprocess.run(
            [sys.executable, "-m", "sacrebleu", *arguments],
            env={**os.environ, "SACREBLEU": str(cache)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return mmad(*arguments), Ran(theirs.returncode, theirs.stdout, theirs.stderr)

    return run


NEWS = ["-t", "wmt18", "-l", "de-en"]
XML_SET = ["-t", "wmt23", "-l", "en-de"]
SCORES = ["-m", "bleu", "chrf"]
SAME_BYTES = {
    "an SGM set": [*NEWS, "-i", "en.txt", *SCORES],
    "an XML set": [*XML_SET, "-i", "de.txt", *SCORES],
    "an original language": [*NEWS, "-ol", "en", "-i", "en.txt", *SCORES],
    "all other original languages": [*XML_SET, "-ol", "non-cs", "-i", "de.txt", *SCORES],
    "a domain": [*XML_SET, "--subset", "news", "-i", "de.txt", *SCORES],
    "a country": [*NEWS, "--subset", "country:US", "-i", "en.txt", *SCORES],
    "details": [*XML_SET, "-d", "-i", "de.txt", *SCORES],
    "echo of the source": [*NEWS, "--echo", "src"],
    "echo of two fields": [*XML_SET, "--echo", "ref", "docid"],
    "echo of everything": [*NEWS, "--echo", "all"],
    "echo of a subset": [*NEWS, "-ol", "de", "--echo", "src"],
    "the list of sets": ["--list"],
    "the list of a pair": ["--list", "-l", "en-he"],
    "the list of fields": ["--list", *NEWS],
    "a set in the cache is not fetched": ["--download", "wmt18", "-l", "de-en"],
}


@pytest.mark.parametrize("case", SAME_BYTES)
def test_what_sacrebleu_does_with_a_test_set_we_do(both: Both, case: str):
    ours, theirs = both(*SAME_BYTES[case])
    assert theirs.status == 0, theirs.err
    assert (ours.status, ours.out) == (0, theirs.out)


@pytest.mark.usefixtures("cache")
def test_sources_come_from_the_set_and_a_subset_rates_its_rows_alone(mmad: Mmad, files: Path):
    # By hand: "Maus" is a major and a minor in row 1, the rest is clean; -ol en is rows 1 and 2.
    (files / "de.txt").write_text("Das rote Maus ist alt.\nGuten Morgen.\nEs ist heute kalt.\n")
    with LoopbackServer(Annotator(KNOWN)) as server:
        model = ["--base-url", server.url, "--model", "m"]
        whole = mmad(*XML_SET, *model, "-i", "de.txt", "-b", "-sl")
        subset = mmad(*XML_SET, *model, "-i", "de.txt", "-ol", "en", "-f", "text")
        detail = mmad(*XML_SET, *model, "-i", "de.txt", "-d", "-m", "mmad", "chrf")
    assert whole.out == "-6.00\n0.00\n0.00\n"
    assert " = -3.00 2/2 scored, 1 major, 1 minor, 0 non-translation" in subset.out
    assert "not used by the metric" not in subset.err
    lines = detail.out.splitlines()[2:]
    assert [line.split(":")[0].split() for line in lines[::2]] == [
        ["origlang=cs", "domain=ALL"],
        ["origlang=cs", "domain=social"],
        ["origlang=en", "domain=ALL"],
        ["origlang=en", "domain=news"],
    ]
    assert [line.split(" = ")[1] for line in lines[1::2]] == [
        "0.00 1/1 scored",
        "0.00 1/1 scored",
        "-3.00 2/2 scored",
        "-3.00 2/2 scored",
    ]


def test_details_without_a_test_set_are_none(mmad: Mmad):
    ran = mmad("good.txt", "-i", "good.txt", "-m", "bleu", "-d")
    assert (ran.status, ran.out.splitlines()[1].startswith("No subset information")) == (0, True)


@pytest.mark.usefixtures("cache")
def test_several_sets_are_read_one_after_the_other(mmad: Mmad, files: Path):
    (files / "twice.txt").write_text("Eins.\nZwei.\nDrei.\n" * 2)
    ran = mmad("-t", "wmt23,wmt23", "-l", "en-de", "-i", "twice.txt", "-m", "bleu")
    assert ran.status == 0
    short = mmad("-t", "wmt23,wmt23", "-l", "en-de", "-i", "good.txt", "-m", "bleu")
    assert (short.status, "6 lines" in short.err, "3 lines" in short.err) == (1, True, True)


@pytest.mark.usefixtures("cache")
def test_the_citation_is_printed_where_sacrebleu_itself_fails(mmad: Mmad):
    ran = mmad("--citation", "-t", "wmt18")
    assert (ran.status, ran.out.startswith("@inproceedings{bojar")) == (0, True)


REFUSED = {
    "an unknown set": (["-t", "wmt1", "-l", "de-en", "-i", "good.txt"], ["wmt1", "--list"]),
    "an unknown pair": (["-t", "wmt18", "-l", "de-sw", "-i", "good.txt"], ["de-sw", "de-en"]),
    "no pair": (["-t", "wmt18", "-i", "good.txt", "-m", "bleu"], ["-l"]),
    "sources given twice": ([*NEWS, "-s", "src.txt", "-i", "good.txt"], ["-s", "-t"]),
    "references given twice": (["src.txt", *NEWS, "-i", "good.txt"], ["-t"]),
    "an empty subset": ([*XML_SET, "-ol", "fr", "-i", "good.txt"], ["subset"]),
    "a subset of no set": (["-s", "src.txt", "-l", "en-de", "-ol", "en", "-i", "good.txt"], ["-t"]),
    "an unknown field": ([*NEWS, "--echo", "gold"], ["gold", "src"]),
    "echo of nothing": (["--echo", "src"], ["-t"]),
    "the fields of no set": (["--list", "-t", "wmt1"], ["wmt1"]),
    "a download of nothing": (["--download", "wmt1"], ["wmt1"]),
    "a citation of nothing": (["--citation"], ["-t"]),
}  # fmt: skip


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("case", REFUSED)
def test_a_set_that_cannot_be_meant_is_refused_in_one_line(mmad: Mmad, case: str):
    arguments, named = REFUSED[case]
    ran = mmad(*arguments)
    assert (ran.status, ran.out) == (1, "")
    assert len(ran.err.strip().splitlines()) == 1
    for part in named:
        assert part in ran.err


@pytest.mark.usefixtures("both")
def test_a_set_that_is_not_in_the_cache_is_said_to_be_missing(mmad: Mmad, cache: Path):
    ran = mmad("-t", "wmt19", "-l", "en-de", "-i", "good.txt", "-m", "bleu")
    last = ran.err.strip().splitlines()[-1]
    assert (ran.status, ran.out) == (1, "")
    for part in ("wmt19", "en-de", "not in the cache", str(cache), "$SACREBLEU"):
        assert part in last


@pytest.fixture
def silent_server() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_server_that_says_nothing_is_given_up(
    cache: Path, mmad: Mmad, silent_server: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(test_sets, "_PATIENCE", 0.2)
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{silent_server}")
    before = socket.getdefaulttimeout()
    ran = mmad("-t", "wmt19", "-l", "en-de", "-i", "good.txt", "-m", "bleu", "-q")
    assert ran.status == 1
    assert "timed out" in ran.err
    assert socket.getdefaulttimeout() == before


def test_a_cache_that_is_not_whole_is_refused(cache: Path, mmad: Mmad):
    (cache / "wmt18" / "wmt18.de-en.src").write_text("nur eine Zeile\n")
    for name in ("ref", "docid", "genre", "origlang"):
        (cache / "wmt18" / f"wmt18.de-en.{name}").write_text("one line\n")
    ran = mmad(*NEWS, "-ol", "en", "-i", "good.txt", "-m", "bleu")
    assert (ran.status, "not parallel" in ran.err) == (1, True)
