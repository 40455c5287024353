"""Data sets: texts out of any column, ratings into columns of fixed types, streams in order."""

from __future__ import annotations

import asyncio
import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest

import mmad_metric
from mmad_metric import ConfigError, InputError, MMADError, RunStopped, rate_dataset
from mmad_metric.integrations.columns import find_column
from mmad_metric.runner import SMALLEST_WINDOW
from tests.annotator import KNOWN, Annotator, is_about
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, server_error, unauthorized

SOURCES = ["The red house is old.", "Good morning.", "x"]
TRANSLATIONS = ["Das rote Maus ist alt.", "Guten Morgen.", ""]
# A major and a minor error; none; an empty translation is a major omission.
SCORES = [-6.0, 0.0, -5.0]
ADDED = {
    "mmad_score": datasets.Value("float64"),
    "mmad_spans": datasets.List(
        {
            **{
                name: datasets.Value("string")
                for name in ("text", "side", "category", "severity", "dimension", "placement")
            },
            "start": datasets.Value("int64"),
            "end": datasets.Value("int64"),
        }
    ),
    "mmad_status": datasets.Value("string"),
    "mmad_reason": datasets.Value("string"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


@pytest.fixture
def rated(server: LoopbackServer) -> Callable[..., Any]:
    def rated(dataset: Any, **options: Any) -> Any:
        return rate_dataset(
            dataset, **{"lp": "en-de", "base_url": server.url, "max_retries": 0, **options}
        )

    return rated


def table(**columns: list[Any]) -> datasets.Dataset:
    given = {"n": [1, 2, 3], "source": SOURCES, "translation": TRANSLATIONS}
    return datasets.Dataset.from_dict({**given, **columns})


def pairs(count: int = 3) -> datasets.Dataset:
    """As translation sets on the Hub are: one column that holds a text by language."""
    rows = [{"en": s, "de": t} for s, t in zip(SOURCES, TRANSLATIONS, strict=True)][:count]
    feature = datasets.Translation(languages=["de", "en"])
    return datasets.Dataset.from_dict(
        {"translation": rows}, features=datasets.Features({"translation": feature})
    )


NESTED = {"source_column": "translation.en", "translation_column": "translation.de"}


# -- tables


def test_ratings_become_columns_beside_the_given_ones(rated: Callable[..., Any]) -> None:
    result = rated(table())
    assert result.dataset.column_names == ["n", "source", "translation", *ADDED]
    assert result.dataset["n"][:] == [1, 2, 3]
    assert result.dataset["mmad_score"][:] == SCORES
    assert result.dataset["mmad_status"][:] == ["scored"] * 3
    assert [span["text"] for span in result.dataset[0]["mmad_spans"]] == ["Maus", "Das rote"]
    first = result.dataset[0]["mmad_spans"][0]
    assert TRANSLATIONS[0][first["start"] : first["end"]] == "Maus"
    assert (result.score, result.totals.n_scored) == (-11 / 3, 3)
    plain = result.to_dict()
    assert (plain["n_major"], plain["n_minor"], plain["score"]) == (2, 1, -11 / 3)
    assert plain["signature"] == result.signature
    assert result.signature.startswith("lp:en-de|")


def test_the_types_are_the_same_whatever_was_found(rated: Callable[..., Any]) -> None:
    nothing = datasets.Dataset.from_dict({"source": [" "], "translation": ["Ja."]})
    perfect = datasets.Dataset.from_dict({"source": ["Yes."], "translation": ["Ja."]})
    empty = perfect.select([])
    for dataset in (nothing, perfect, empty, table()):
        result = rated(dataset).dataset
        assert {name: result.features[name] for name in ADDED} == ADDED
        assert len(result) == len(dataset)
    unscored = rated(nothing).dataset[0]
    assert (unscored["mmad_score"], unscored["mmad_reason"]) == (None, "empty_source")
    assert (unscored["mmad_status"], unscored["mmad_spans"]) == ("unscored", [])
    together = datasets.concatenate_datasets([rated(nothing).dataset, rated(perfect).dataset])
    assert together["mmad_score"][:] == [None, 0.0]


def test_nested_columns_are_named_with_a_dot(rated: Callable[..., Any]) -> None:
    result = rated(pairs(), **NESTED)
    assert result.dataset["mmad_score"][:] == SCORES
    assert result.dataset[0]["translation"] == {"de": TRANSLATIONS[0], "en": SOURCES[0]}
    flat = pairs().flatten()  # its columns are called so
    assert rated(flat, **NESTED).dataset["mmad_score"][:] == SCORES
    struct = datasets.Dataset.from_list([{"a": {"b": {"s.x": "Yes.", "t": "Das Maus."}}}])
    deep = rated(struct, source_column="a.b.s.x", translation_column="a.b.t")
    assert deep.dataset["mmad_score"][:] == [-5.0]


def test_rows_keep_their_ratings_under_a_shuffle_a_selection_and_a_format(
    rated: Callable[..., Any],
) -> None:
    by_number = dict(zip((1, 2, 3), SCORES, strict=True))
    for dataset in (
        table().shuffle(seed=3),
        table().select([2, 0]),
        table().with_format("numpy"),
        table().with_format("pandas", columns=["n"]),
    ):
        result = rated(dataset).dataset
        assert {row["n"]: row["mmad_score"] for row in result} == {
            row["n"]: by_number[row["n"]] for row in result
        }
        assert result["n"][:] == dataset.with_format(None)["n"][:]


def test_the_split_and_the_description_stay(rated: Callable[..., Any]) -> None:
    dataset = datasets.Dataset.from_dict(
        {"source": ["Yes."], "translation": ["Ja."]},
        split=datasets.Split.TEST,
        info=datasets.DatasetInfo(description="Mine."),
    )
    result = rated(dataset).dataset
    assert (result.split, result.info.description) == (datasets.Split.TEST, "Mine.")


def test_a_sample_leaves_the_other_rows_not_sampled(rated: Callable[..., Any]) -> None:
    result = rated(table(), sample=1)
    assert sorted(result.dataset["mmad_status"]) == ["not_sampled", "not_sampled", "scored"]
    assert (result.totals.n_scored, result.totals.n_not_sampled) == (1, 2)


def test_more_rows_than_a_chunk_come_back_in_order(rated: Callable[..., Any]) -> None:
    count = 2_345
    texts = [f"Das rote {number % 7}" if number % 7 else "Ja." for number in range(count)]
    dataset = datasets.Dataset.from_dict({"source": ["Yes."] * count, "translation": texts})
    result = rated(dataset)
    expected = [-1.0 if number % 7 else 0.0 for number in range(count)]
    assert result.dataset["mmad_score"][:] == expected
    assert result.score == sum(expected) / count


# -- streams


def counted_stream(count: int, seen: list[int], *, known: bool = True) -> datasets.IterableDataset:
    def rows() -> Iterator[dict[str, Any]]:
        for number in range(count):
            seen.append(number)
            yield {"n": number, "source": f"Number {number}.", "translation": f"Das rote {number}."}

    types = {"n": "int64", "source": "string", "translation": "string"}
    features = {name: datasets.Value(kind) for name, kind in types.items()}
    return datasets.IterableDataset.from_generator(
        rows, features=datasets.Features(features) if known else None
    )


@pytest.mark.parametrize("known", [True, False], ids=["typed", "untyped"])
def test_a_stream_is_rated_as_it_is_read_in_order_and_in_bounds(
    rated: Callable[..., Any], *, known: bool
) -> None:
    seen: list[int] = []
    result = rated(counted_stream(10_000, seen, known=known), concurrency=4)
    if known:
        assert seen == []  # nothing is read before it is asked for
        assert {name: result.dataset.features[name] for name in ADDED} == ADDED
    first = list(itertools.islice(result.dataset, 20))
    assert [row["n"] for row in first] == list(range(20))
    assert {row["mmad_score"] for row in first} == {-1.0}
    assert [row["mmad_spans"][0]["start"] for row in first] == [0] * 20
    assert max(seen) <= 20 + SMALLEST_WINDOW  # a window of segments ahead, and no more
    assert result.totals.n_scored == 20


def test_every_pass_over_a_stream_gives_the_same_and_counts_anew(
    rated: Callable[..., Any], server: LoopbackServer
) -> None:
    result = rated(counted_stream(40, []))
    assert result.totals.n_segments == 0
    once = list(result.dataset)
    paid = server.call_count
    assert list(result.dataset) == once
    assert server.call_count == paid
    assert (result.totals.n_segments, result.score) == (40, -1.0)
    assert result.to_dict()["n_scored"] == 40


def test_a_stream_of_nested_columns_gives_what_the_table_gives(rated: Callable[..., Any]) -> None:
    of_table = rated(pairs(), **NESTED)
    of_stream = rated(pairs().to_iterable_dataset(), **NESTED)
    assert isinstance(of_stream.dataset, datasets.IterableDataset)
    assert list(of_stream.dataset) == list(of_table.dataset)
    assert of_stream.to_dict() == of_table.to_dict()


def test_a_stream_can_be_read_in_a_notebook_and_left_early(rated: Callable[..., Any]) -> None:
    before = threading.active_count()

    async def cell() -> list[float]:
        dataset = rated(counted_stream(200, [])).dataset
        return [row["mmad_score"] for row in dataset.take(3)]

    assert asyncio.run(cell()) == [-1.0] * 3
    assert threading.active_count() == before


def test_a_bad_row_of_a_stream_is_told_once_those_before_it_have_come(
    rated: Callable[..., Any],
) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"source": "One.", "translation": "Eins."}
        yield {"source": "Two.", "translation": None}

    given: list[Any] = []
    with pytest.raises(InputError, match="row 1, column 'translation': expected a string"):
        given.extend(rated(_stream(rows)).dataset)
    assert [row["mmad_score"] for row in given] == [0.0]


def test_what_breaks_a_stream_is_raised_as_it_is(rated: Callable[..., Any]) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"source": "One.", "translation": "Eins."}
        raise LookupError("the line is dead")

    given: list[Any] = []
    with pytest.raises(LookupError, match="the line is dead"):
        given.extend(rated(_stream(rows)).dataset)
    assert len(given) == 1


def _stream(rows: Callable[[], Iterator[dict[str, Any]]]) -> datasets.IterableDataset:
    texts = {name: datasets.Value("string") for name in ("source", "translation")}
    return datasets.IterableDataset.from_generator(rows, features=datasets.Features(texts))


def test_pictures_beside_the_texts_pass_through_as_they_are(rated: Callable[..., Any]) -> None:
    image = pytest.importorskip("PIL.Image").new("L", (2, 1), 77)
    features = {name: datasets.Value("string") for name in ("source", "translation")}
    dataset = datasets.Dataset.from_dict(
        {"source": ["Yes."], "translation": ["Ja."], "scan": [image]},
        features=datasets.Features({**features, "scan": datasets.Image()}),
    )
    stored = dataset.with_format("arrow")[0]["scan"].to_pylist()
    for given in (dataset, dataset.to_iterable_dataset()):
        result = rated(given).dataset
        (row,) = list(result)
        assert row["scan"].getpixel((1, 0)) == 77
        assert row["mmad_score"] == 0.0
        kept = result.cast_column("scan", datasets.Image(decode=False))
        assert [each["scan"] for each in kept] == stored  # not decoded and packed anew


def test_an_empty_stream_stays_empty(rated: Callable[..., Any]) -> None:
    result = rated(counted_stream(0, []))
    assert list(result.dataset) == []
    assert result.score is None


# -- what is refused, and when


@pytest.mark.parametrize(
    ("dataset", "options", "named"),
    [
        pytest.param(table(), {"source_column": "sorce"},
                     "translation); did you mean 'source'?", id="misspelt"),
        pytest.param(table(), {"source_column": "zzz"}, "the columns are n, source, translation",
                     id="unknown"),
        pytest.param(table(), {"source_colum": "source"}, "did you mean 'source_column'?",
                     id="misspelt option"),
        pytest.param(table(), {"translation_column": "n"}, "column 'n' holds int64", id="numbers"),
        pytest.param(table(), {"translation_column": "source"}, "are both 'source'", id="same"),
        pytest.param(table(), {"source_column": None}, "source_column: expected a column's name",
                     id="no name"),
        pytest.param(table(), {"reference_column": "ref"}, "reference_column: no column 'ref'",
                     id="reference"),
        pytest.param(pairs(), {"source_column": "translation.en"},
                     "translation_column='translation.de'", id="a field is needed"),
        pytest.param(pairs(), {**NESTED, "source_column": "translation.fr"},
                     "the columns are translation.de, translation.en", id="unknown field"),
        pytest.param(table(mmad_status=["a"] * 3), {}, "has a column 'mmad_status' already",
                     id="taken"),
        pytest.param(table(), {"prefix": None}, "prefix: expected text", id="no prefix"),
        pytest.param(table(translation=["a", None, "c"]), {},
                     "row 1, column 'translation': expected a string, not None", id="none"),
        pytest.param(table(), {"round": 2}, "did you mean 'rounds'", id="option"),
        pytest.param(counted_stream(3, []), {"sample": 2}, "stream.take(N)", id="sampled stream"),
        pytest.param(counted_stream(3, [], known=False), {"source_column": "sorce"},
                     "did you mean 'source'?", id="untyped stream"),
        pytest.param(datasets.DatasetDict({"train": table(), "test": table()}), {},
                     "the splits are train, test", id="splits"),
        pytest.param(datasets.IterableDatasetDict(), {}, "the splits are none", id="no splits"),
        pytest.param([{"source": "a"}], {}, "not list", id="list"),
        pytest.param(SOURCES, {}, "mmad_metric.rate", id="texts"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_any_call(
    server: LoopbackServer, rated: Callable[..., Any], dataset: Any, options: Any, named: str
) -> None:
    before = server.call_count
    with pytest.raises(MMADError) as caught:
        rated(dataset, **options)
    assert isinstance(caught.value, ConfigError | InputError)
    assert named in str(caught.value)
    assert server.call_count == before


def test_another_prefix_serves_a_second_rating(rated: Callable[..., Any]) -> None:
    twice = rated(rated(table()).dataset, prefix="again_").dataset
    assert twice["again_score"][:] == twice["mmad_score"][:] == SCORES


def test_a_missing_key_is_told_at_once_for_a_stream_too() -> None:
    for dataset in (table(), counted_stream(3, [])):
        with pytest.raises(MMADError, match="OPENAI_API_KEY"):
            rate_dataset(dataset, lp="en-de")


def test_references_are_said_to_be_unused(rated: Callable[..., Any]) -> None:
    with pytest.warns(UserWarning, match="references are not used"):
        rated(table(), reference_column="translation")


def test_a_column_whose_own_name_has_a_dot_comes_before_a_field() -> None:
    text = datasets.Value("string")
    shape = {"a": {"b": text}, "a.b": text}
    assert find_column(shape, "source_column", "a.b").path == ("a.b",)


def test_a_refused_run_is_raised_and_a_failed_row_is_a_value() -> None:
    def script(call: ReceivedCall) -> Answer:
        return server_error() if is_about(call, "Maus") else Annotator(KNOWN)(call)

    settings: dict[str, Any] = {"lp": "en-de", "max_retries": 0}
    with LoopbackServer(script) as failing, LoopbackServer(unauthorized()) as refusing:
        row = rate_dataset(table(), base_url=failing.url, **settings).dataset[0]
        assert (row["mmad_score"], row["mmad_reason"]) == (None, "server_error")
        stream = rate_dataset(counted_stream(3, []), base_url=refusing.url, **settings)
        with pytest.raises(RunStopped):
            list(stream.dataset)
        with pytest.raises(RunStopped):
            rate_dataset(table(), base_url=refusing.url, **settings)


def test_without_the_library_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match=r"mmad-metric\[evaluate\]"):
        mmad_metric.rate_dataset([], lp="en-de")


def test_the_example_of_the_docs_runs(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "training.md").read_text("utf-8")
    (block,) = re.findall(r"^```python\n(from datasets .*?)^```", page, re.DOTALL | re.MULTILINE)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    exec(block, {})  # noqa: S102 - our own page
    assert capsys.readouterr().out.startswith("0.0 0.0 lp:en-de|model:gpt-4o-mini|")
