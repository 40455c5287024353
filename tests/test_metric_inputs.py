from __future__ import annotations

from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest

from mmad_metric.errors import InputError
from mmad_metric.mmad import Mmad
from tests.loopback import LoopbackServer

SOURCES = ["The house is red.", "Good morning.", "It is late."]
PREDICTIONS = ["Das Haus ist rot.", "Guten Morgen.", "Es ist spät."]


@pytest.fixture
def metric(server: LoopbackServer) -> Mmad:
    return Mmad(lp="en-de", model="loopback", base_url=server.url)


@pytest.mark.parametrize(
    "column",
    [
        tuple,
        iter,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        pd.Series,
        lambda texts: pd.Series(texts, index=[7, 8, 9], dtype=object),
        lambda texts: datasets.Dataset.from_dict({"text": texts})["text"],
        lambda texts: datasets.Dataset.from_dict({"text": texts}).with_format("numpy")["text"],
    ],
    ids=[
        "tuple",
        "iterator",
        "numpy",
        "numpy-object",
        "pandas",
        "pandas-object",
        "Column",
        "numpy-Column",
    ],
)
def test_any_flat_column_of_texts_is_taken(column: Callable[[Any], Any], metric: Mmad) -> None:
    result = metric.compute(predictions=column(PREDICTIONS), sources=column(SOURCES))
    assert result["scores"] == [0.0, 0.0, 0.0]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"predictions": ["a", None]}, r"predictions\[1\]: expected a string, not None"),
    ({"predictions": ["a", float("nan")]}, r"predictions\[1\]: expected a string, not nan"),
    # None with pandas 2, nan with pandas 3
    (
        {"predictions": pd.Series(["a", None])},
        r"predictions\[1\]: expected a string, not (nan|None)",
    ),
    ({"predictions": [1, "b"]}, r"predictions\[0\]: expected a string, not int 1"),
    ({"predictions": np.array([1, 2])}, r"predictions\[0\]: expected a string, not int64"),
    ({"predictions": [b"a", "b"]}, r"predictions\[0\]: expected a string, not bytes"),
    ({"predictions": "ab"}, r"predictions: expected a list of strings, not str 'ab'"),
    ({"predictions": b"ab"}, r"predictions: expected a list of strings, not bytes"),
    ({"predictions": 3}, r"predictions: expected a list of strings, not int 3"),
    ({"predictions": [["a"], ["b"]]}, r"predictions\[0\].*list \['a'\].*shape: predictions=\['…'"),
    ({"predictions": ["a", ["b"]]}, r"predictions\[1\].*shape: predictions=\['…', '…'\]"),
    ({"predictions": np.array([["a"], ["b"]])}, r"predictions: expected a list .*ndarray"),
    ({"predictions": np.array("ab")}, r"predictions: expected a list .*ndarray"),
    ({"predictions": {"a": 1, "b": 2}}, r"predictions: expected a list .*dict"),
    ({"predictions": {"a", "b"}}, r"predictions: expected a list .*set"),
    ({"predictions": pd.DataFrame({"a": ["x"], "b": ["y"]})}, r"predictions: .*DataFrame"),
    ({"predictions": datasets.Dataset.from_dict({"a": ["x", "y"]})}, r"predictions\[0\].*dict"),
    ({"predictions": None}, r"predictions are missing"),
    ({"sources": None}, r"sources are missing: expected one source for each prediction"),
    ({"sources": ["a", None]}, r"sources\[1\]: expected a string, not None"),
    ({"sources": [["a"], ["b"]]}, r"sources\[0\].*shape: sources=\['…', '…'\]"),
    ({"sources": "ab"}, r"sources: expected a list of strings, not str 'ab'"),
    ({"sources": ["a"]}, r"2 predictions but 1 sources"),
    ({"sources": ["a", "b", "c"]}, r"2 predictions but 3 sources"),
    ({"references": ["a"]}, r"2 predictions but 1 references"),
    ({"references": [["a", "b"]]}, r"2 predictions but 1 references: expected a string or a list"),
    ({"references": "ab"}, r"references: expected a list of strings, not str 'ab'"),
    ({"references": 3}, r"references: expected a list of strings, not int 3"),
    ({"references": ["a", 3]}, r"references\[1\]: expected a list of strings, not int 3"),
    ({"references": [["a"], ["b", None]]}, r"references\[1\]\[1\]: expected a string, not None"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_unusable_input_is_refused_with_its_index_before_any_call(
    given: dict[str, Any], message: str, metric: Mmad, server: LoopbackServer
) -> None:
    texts = {"predictions": ["a", "b"], "sources": ["c", "d"], **given}
    with pytest.raises(InputError, match=message):
        metric.compute(**texts)
    with pytest.raises(InputError, match=message):
        metric.add_batch(**texts)
    assert len(metric) == 0
    assert server.call_count == 0


@pytest.mark.parametrize("given", [{"prediction": None}, {"prediction": ["a"]}, {"source": 3}])
def test_a_single_segment_is_checked_as_well(given: dict[str, Any], metric: Mmad) -> None:
    with pytest.raises(InputError, match=r"^(prediction|source): expected a string"):
        metric.add(**{"prediction": "a", "source": "b", **given})
    assert len(metric) == 0


def test_nothing_to_rate_is_an_error_but_no_segments_are_none(
    metric: Mmad, server: LoopbackServer
) -> None:
    with pytest.raises(InputError, match="nothing to rate"):
        metric.compute()
    result = metric.compute(predictions=[], sources=[])
    assert (result["score"], result["scores"], result["n_segments"]) == (None, [], 0)
    assert server.call_count == 0


def test_texts_go_in_verbatim_lone_surrogates_included(metric: Mmad) -> None:
    texts = ["  Haus\r\n", "\ud83d", "NA"]
    result = metric.compute(predictions=texts, sources=["a", "b", "c"])
    assert result["scores"] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("references", [None, [None] * 3, [[]] * 3])
def test_no_references_are_needed(references: Any, metric: Mmad) -> None:
    # A warning is an error in these tests.
    texts = {"predictions": PREDICTIONS, "sources": SOURCES, "references": references}
    assert metric.compute(**texts)["n_scored"] == 3
    metric.add_batch(**texts)
    assert metric.compute()["n_scored"] == 3


@pytest.mark.parametrize(
    "references",
    [
        PREDICTIONS,
        [[text, text] for text in PREDICTIONS],
        [None, "Guten Tag.", None],
        pd.Series(PREDICTIONS),
    ],
    ids=["strings", "lists", "some", "series"],
)
def test_references_are_taken_and_said_not_to_be_used(references: Any, metric: Mmad) -> None:
    plain = metric.compute(predictions=PREDICTIONS, sources=SOURCES)
    with pytest.warns(UserWarning, match="references are not used"):
        result = metric.compute(predictions=PREDICTIONS, sources=SOURCES, references=references)
    assert result == plain
    metric.add_batch(predictions=PREDICTIONS, sources=SOURCES, references=references)
    with pytest.warns(UserWarning, match="references are not used"):
        metric.compute()
