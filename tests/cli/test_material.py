"""`--context`, `--glossary`, `--use-reference` over real HTTP: what requests hold and what not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mmad_metric.signature import parse_signature
from mmad_metric.testing import annotation
from tests.cli.conftest import BAD, SOURCES, Mmad
from tests.cli.test_test_sets import cache  # noqa: F401 - a fixture
from tests.loopback import LoopbackServer
from tests.loopback_replies import ReceivedCall

BLOCK = re.compile(r"<context_source>\n(.*?)\n</context_source>", re.DOTALL)


def base(server: LoopbackServer, *more: str) -> list[str]:
    return ["-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", server.url, *more]


@pytest.fixture
def beside(files: Path) -> Path:
    """Files for all three kinds."""
    (files / "docs.txt").write_text("news\td1\nnews\td1\nnews\td1\n", encoding="utf-8")
    (files / "terms.tsv").write_text("house\tHaus\nmorning\tMorgen\n", encoding="utf-8")
    (files / "ref.txt").write_text("Ref eins.\n\nRef drei.\n", encoding="utf-8")
    return files


def asked(server: LoopbackServer, source: str) -> list[str]:
    """The messages with which annotators were asked about a source."""
    return [
        str(call.messages[-1]["content"])
        for call in server.calls
        if call.schema == "dimension_annotations"
        and f"<source>\n{source}\n</source>" in str(call.messages[-1]["content"])
    ]


def test_all_three_reach_every_annotator_and_the_account_says_so(
    mmad: Mmad, server: LoopbackServer, beside: Path
):
    ran = mmad(*base(server, "ref.txt", "--context", "1", "--doc-ids", "docs.txt", "--glossary",
                     "terms.tsv", "--use-reference", "-o", "run.jsonl"))  # fmt: skip
    assert ran.status == 0
    shown = [asked(server, source) for source in SOURCES]
    assert [len(each) for each in shown] == [4, 4, 4]
    assert [BLOCK.findall(each[0]) for each in shown] == [[], SOURCES[:1], SOURCES[1:2]]
    assert BAD[0] in shown[1][0]
    assert ["house -> Haus" in each[0] for each in shown] == [True, False, False]
    assert ["morning -> Morgen" in each[0] for each in shown] == [False, True, False]
    assert ["<reference>" in each[0] for each in shown] == [True, False, True]
    assert "1 row has no reference" in ran.err
    assert "glossary terms: 2 terms" in ran.err
    assert "not used by the metric" not in ran.err
    header, first = map(json.loads, (beside / "run.jsonl").read_text().splitlines()[:2])
    assert header["config"]["context"] == 1
    assert header["config"]["use_reference"] is True
    assert header["config"]["glossary"] == parse_signature(header["signature"])["glossary"]
    assert first["doc"] == "d1"


def test_a_rerun_costs_nothing_and_writes_the_same_bytes(
    mmad: Mmad, server: LoopbackServer, beside: Path
):
    flags = ["--context", "2", "--doc-ids", "docs.txt", "--glossary", "terms.tsv"]
    mmad(*base(server, *flags, "-o", "a.jsonl"))
    paid = server.call_count
    mmad(*base(server, *flags, "-o", "b.jsonl"))
    assert server.call_count == paid
    assert (beside / "a.jsonl").read_bytes() == (beside / "b.jsonl").read_bytes()


def after_two(call: ReceivedCall) -> str:
    """A minor error where, and only where, the segment comes after "Two."."""
    content = str(call.messages[-1]["content"])
    item = annotation("Again", "style/awkward", "minor")
    found = [item] if BLOCK.findall(content) == ["Two."] else []
    return json.dumps({"analysis": "", "annotations": found})


def test_the_same_pair_after_something_else_is_another_rating_and_stays_it(mmad: Mmad, files: Path):
    (files / "s.txt").write_text("Again.\nOne.\nAgain.\nTwo.\nAgain.\n", encoding="utf-8")
    (files / "docs.txt").write_text("a\nb\nb\nc\nc\n", encoding="utf-8")
    with LoopbackServer(after_two) as server:
        flags = ["-s", "s.txt", "-i", "s.txt", "-l", "en-de", "--base-url", server.url,
                 "--context", "1", "--doc-ids", "docs.txt", "-b", "-sl"]  # fmt: skip
        first = mmad(*flags).out
        assert [float(line) for line in first.split()] == [0, 0, 0, 0, -1]
        paid = server.call_count
        assert mmad(*flags).out == first
        assert server.call_count == paid


def test_what_precedes_costs_calls_where_it_differs(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    (files / "s.txt").write_text("One.\nAgain.\nTwo.\nAgain.\nAgain.\n", encoding="utf-8")
    (files / "docs.txt").write_text("a\na\nb\nb\nc\n", encoding="utf-8")
    flags = ["-s", "s.txt", "-i", "s.txt", "-l", "en-de", "--base-url", server.url]
    mmad(*flags)
    assert server.call_count == 4 * 3
    mmad(*flags, "--context", "1", "--doc-ids", "docs.txt")
    # Of five rows all differ by what precedes them; two of these have nothing before them.
    assert server.call_count == 4 * 3 + 4 * 5
    mmad(*flags, "--context", "1", "--doc-ids", "docs.txt")
    assert server.call_count == 4 * 3 + 4 * 5


def test_rows_out_of_the_sample_are_context_all_the_same(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    texts = [f"Line {number}." for number in range(8)]
    (files / "s.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (files / "docs.txt").write_text("d\n" * 8, encoding="utf-8")
    ran = mmad("-s", "s.txt", "-i", "s.txt", "-l", "en-de", "--base-url", server.url, "--sample",
               "2", "--context", "1", "--doc-ids", "docs.txt")  # fmt: skip
    assert json.loads(ran.out)["n_not_sampled"] == 6
    rated = [number for number, text in enumerate(texts) if asked(server, text)]
    assert len(rated) == 2
    for number in rated:
        assert BLOCK.findall(asked(server, texts[number])[0]) == texts[max(number - 1, 0) : number]


def test_each_system_precedes_itself_and_repeats_see_the_same(
    mmad: Mmad, server: LoopbackServer, beside: Path
):
    ran = mmad("-s", "src.txt", "-i", "good.txt", "bad.txt", "-l", "en-de", "--base-url",
               server.url, "--context", "1", "--doc-ids", "docs.txt", "--repeats", "2",
               "--temperature", "1", "-f", "text")  # fmt: skip
    assert ran.status == 0
    second = asked(server, SOURCES[1])
    assert len(second) == 2 * 2 * 4
    assert sum(BAD[0] in each for each in second) == 8


def test_jsonl_brings_its_documents_and_references(mmad: Mmad, server: LoopbackServer, files: Path):
    lines = [
        {"source": "A.", "translation": "X.", "doc": 1, "reference": "R."},
        {"source": "B.", "translation": "Y.", "doc": 1},
    ]
    (files / "in.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ran = mmad("-i", "in.jsonl", "-l", "en-de", "--base-url", server.url, "--context", "3",
               "--use-reference")  # fmt: skip
    assert ran.status == 0
    assert BLOCK.findall(asked(server, "B.")[0]) == ["A."]
    assert "<reference>\nR.\n" in asked(server, "A.")[0]


@pytest.mark.usefixtures("cache")
def test_a_test_set_knows_its_documents_and_its_reference(mmad: Mmad, server: LoopbackServer):
    ran = mmad("-t", "wmt23", "-i", "good.txt", "-l", "en-de", "--base-url", server.url,
               "--context", "2", "--use-reference")  # fmt: skip
    assert ran.status == 0, ran.err
    before = [BLOCK.findall(asked(server, source)[0]) for source in SOURCES]
    assert before == [[], SOURCES[:1], []]  # the third is another document
    assert "<reference>\nGuten Morgen.\n" in asked(server, SOURCES[1])[0]


def test_a_forecast_counts_what_is_shown(mmad: Mmad, server: LoopbackServer, beside: Path):
    def tokens(*flags: str) -> int:
        shown = json.loads(mmad(*base(server, "--dry-run", *flags)).out)
        return int(shown["cases"]["fewest"]["prompt_tokens"])

    plain = tokens()
    context = tokens("--context", "1", "--doc-ids", "docs.txt")
    assert plain < context < tokens("--context", "2", "--doc-ids", "docs.txt")
    assert tokens("--glossary", "terms.tsv") > plain
    assert server.call_count == 0


@pytest.mark.parametrize(
    ("flags", "written", "named"),
    [
        (["--context", "1"], {}, "row 1 of bad has no document.*--doc-ids"),
        (["--context", "1", "--doc-ids", "d"], {"d": "a\na\n"}, "not parallel: src.txt has 3"),
        (["--context", "1", "--doc-ids", "d"], {"d": "a\n\nb\n"}, "d, line 2: a document id"),
        (["--doc-ids", "d"], {"d": "a\na\tb\tc\na\n"}, "d, line 2: a document id"),
        (["--doc-ids", "none"], {}, "none: cannot be read"),
        (["--context", "101"], {}, "context: 101 is not"),
        (["--glossary", "g"], {"g": "a\tb\nc\n"}, "g, line 2: 1 column"),
        (["--glossary", "g"], {"g": "\n"}, "g: no entry"),
        (["--use-reference"], {}, "use_reference: there is no reference"),
        (["r", "--use-reference"], {"r": "\n \n\n"}, "use_reference: there is no reference"),
        (["--glossary", "g", "-o", "g"], {"g": "a\tb\n"}, "-o g: this is an input, g"),
        (["--doc-ids", "d", "-o", "d"], {"d": "a\na\na\n"}, "-o d: this is an input, d"),
    ],
    ids=range(12),
)  # fmt: skip
def test_what_is_missing_or_odd_is_refused_before_any_call(
    mmad: Mmad, server: LoopbackServer, files: Path, flags: list[str], written: dict[str, str],
    named: str,
):  # fmt: skip
    for name, text in written.items():
        (files / name).write_text(text, encoding="utf-8")
    ran = mmad(*base(server, *flags))
    assert ran.status == 1
    assert re.search(named, ran.err)
    assert server.call_count == 0


def test_documents_given_twice_must_agree(mmad: Mmad, server: LoopbackServer, files: Path):
    lines = [{"source": "A.", "translation": "X.", "doc": doc} for doc in ("a", "b")]
    (files / "in.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (files / "d").write_text("a\nc\n")
    ran = mmad("-i", "in.jsonl", "-l", "en-de", "--base-url", server.url, "--doc-ids", "d")
    assert ran.status == 1
    assert "in.jsonl, line 2: its document is 'b', but 'c'" in ran.err


def test_the_example_pack_with_all_its_material(
    mmad: Mmad, files: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    with LoopbackServer('{"annotations": []}') as server:
        ran = mmad("-s", "examples/medical.en.txt", "-i", "examples/medical.de.txt", "-l", "en-de",
                   "--prompts", "examples/medical", "--context", "2", "--doc-ids",
                   "examples/medical.docs.txt", "--glossary", "examples/medical-glossary.tsv",
                   "--base-url", server.url)  # fmt: skip
        assert ran.status == 0, ran.err
        assert server.call_count == 8 * 5  # five dimensions
        last = asked(server, "She will call you if the results are not normal.")[0]
        assert len(BLOCK.findall(last)) == 2  # the letter alone, not the leaflet
        blood = asked(server, "Lorvanel is a blood thinner. It lowers the risk of a stroke.")[0]
        assert "blood thinner -> Blutverd\u00fcnner (for patients" in blood
        assert "stroke -> Schlaganfall" in blood
