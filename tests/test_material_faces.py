"""Context and references from Python, evaluate, data sets, sacreBLEU's interface, training."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest

from mmad_metric import ConfigError, InputError, MMADConfig, rate, rate_async, rate_dataset
from mmad_metric.integrations import trainer_metrics
from mmad_metric.mmad import Mmad
from mmad_metric.sacrebleu_metric import MMAD
from mmad_metric.signature import parse_signature
from tests.loopback import LoopbackServer

SOURCES = ["One.", "Two.", "Three.", "Four."]
TRANSLATIONS = ["Eins.", "Zwei.", "Drei.", "Vier."]
DOCS = ["a", "a", "b", "a"]
REFERENCES = ["R1.", None, ["R3.", "also"], "R4."]
# What stands beside each row, by hand: what precedes it with context=1, and its reference.
BESIDE = {"One.": ([], ["R1."]), "Two.": (["One."], []), "Three.": ([], ["R3."]),
          "Four.": (["Two."], ["R4."])}  # fmt: skip


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer('{"annotations": []}') as running:
        yield running


def settings(server: LoopbackServer) -> dict[str, Any]:
    return {"lp": "en-de", "base_url": server.url, "context": 1, "use_reference": True}


def seen(server: LoopbackServer) -> dict[str, tuple[list[str], list[str]]]:
    """What stood beside each source, which is the same in all requests about it."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for call in server.calls:
        content = str(call.messages[-1]["content"])
        [source] = re.findall(r"<source>\n(.*)\n", content)
        before = re.findall(r"<context_source>\n(.*)\n", content)
        shown = (before, re.findall(r"<reference>\n(.*)\n", content))
        assert found.setdefault(source, shown) == shown
    return found


def test_rate_shows_documents_and_first_references(
    server: LoopbackServer, caplog: pytest.LogCaptureFixture
):
    result = rate(SOURCES, TRANSLATIONS, references=REFERENCES, docs=DOCS, **settings(server))
    assert seen(server) == BESIDE
    assert parse_signature(result.signature)["context"] == "1"
    assert "1 row has no reference" in caplog.text
    assert [rating.segment.doc for rating in result.ratings] == DOCS


def test_rate_takes_documents_beside_a_whole_config_and_async(server: LoopbackServer):
    config = MMADConfig.of(**settings(server))
    given: dict[str, Any] = {"references": REFERENCES, "docs": DOCS, "config": config}
    asyncio.run(rate_async(SOURCES, TRANSLATIONS, **given))
    assert seen(server) == BESIDE


def test_documents_alone_change_nothing_that_is_asked(server: LoopbackServer):
    plain: dict[str, Any] = {"lp": "en-de", "base_url": server.url}
    rate(SOURCES, TRANSLATIONS, **plain)
    paid = server.call_count
    rate(SOURCES, TRANSLATIONS, docs=DOCS, **plain)
    assert server.call_count == paid


def test_evaluate_takes_documents_of_added_segments_too(server: LoopbackServer):
    metric = Mmad(**settings(server))
    metric.add(prediction=TRANSLATIONS[0], source=SOURCES[0], reference="R1.")
    given: dict[str, Any] = {
        "predictions": TRANSLATIONS[1:],
        "sources": SOURCES[1:],
        "references": REFERENCES[1:],
    }
    with pytest.raises(InputError, match="3 docs but 4 translations"):
        metric.compute(**given, docs=DOCS[1:])
    assert len(metric) == 1
    result = metric.compute(**given, docs=DOCS)
    assert seen(server) == BESIDE
    assert parse_signature(result["signature"])["reference"] == "yes"


def test_evaluate_takes_documents_at_compute_alone(server: LoopbackServer):
    with pytest.raises(ConfigError, match="docs"):
        Mmad(docs=DOCS, **settings(server))


def table() -> datasets.Dataset:
    first = [each[0] if isinstance(each, list) else each for each in REFERENCES]
    columns = {"source": SOURCES, "translation": TRANSLATIONS, "d": DOCS, "r": first}
    return datasets.Dataset.from_dict(columns)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_data_set_brings_them_in_columns(server: LoopbackServer, streaming: bool):
    rows = table().to_iterable_dataset() if streaming else table()
    names: dict[str, Any] = {"doc_column": "d", "reference_column": "r"}
    rated = rate_dataset(rows, **names, **settings(server)).dataset
    assert [row["mmad_score"] for row in rated] == [0.0] * 4
    assert seen(server) == BESIDE


@pytest.mark.parametrize(
    ("names", "named"),
    [({"reference_column": "r"}, "doc_column"), ({"doc_column": "d"}, "reference_column"),
     ({"doc_column": "x", "reference_column": "r"}, "no column 'x'")],
    ids=["no documents", "no references", "no such column"],
)  # fmt: skip
def test_a_data_set_without_them_is_refused(
    server: LoopbackServer, names: dict[str, Any], named: str
):
    with pytest.raises(InputError, match=named):
        rate_dataset(table(), **names, **settings(server))
    assert server.call_count == 0


def test_sacrebleus_interface_shows_its_first_stream_of_references(server: LoopbackServer):
    metric = MMAD(SOURCES, docs=DOCS, **settings(server))
    streams = [["R1.", "", "R3.", "R4."], ["other"] * 4]
    assert metric.corpus_score(TRANSLATIONS, streams, n_bootstrap=5).score == 0
    assert seen(server) == BESIDE
    paid = server.call_count
    metric.corpus_score(TRANSLATIONS, streams)
    assert server.call_count == paid


@pytest.mark.parametrize("name", ["context", "use_reference"])
def test_training_is_told_at_once_that_it_has_none_of_it(server: LoopbackServer, name: str):
    class Tokenizer:
        def batch_decode(self) -> None: ...

    options: dict[str, Any] = {
        "lp": "en-de",
        "base_url": server.url,
        name: 1 if name == "context" else True,
    }
    with pytest.raises(ConfigError, match=name):
        trainer_metrics(Tokenizer(), **options)


def test_files_may_be_given_as_paths(server: LoopbackServer, tmp_path: Path):
    terms = tmp_path / "terms.tsv"
    terms.write_text("one\tEins\n", encoding="utf-8")
    medical = Path(__file__).parent.parent / "examples" / "medical"
    options: dict[str, Any] = {"prompts": medical, "glossary": terms, "cache": tmp_path / "cache"}
    as_text = {name: str(value) for name, value in options.items()}
    assert MMADConfig.of("en-de", **options) == MMADConfig.of("en-de", **as_text)
    result = rate(["One."], ["Eins."], lp="en-de", base_url=server.url, **options)
    assert parse_signature(result.signature)["glossary"].startswith("terms@")
