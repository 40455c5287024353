"""Whatever a Trainer hands over becomes the same texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mmad_metric.errors import InputError
from mmad_metric.integrations.decoding import decoded
from tests.integrations.words import PAD, WORDS, WordTokenizer, ids

RED, HOUSE = ids("das Haus ist rot"), ids("das Haus")  # 5 and 3 tokens
TEXTS = ["das Haus ist rot", "das Haus"]
PADDED = np.array([RED, [*HOUSE, -100, -100]])


def logits_of(rows: Any) -> Any:
    """Logits whose largest entry is at each token; rows of -100 where the token is -100."""
    table = np.full((*rows.shape, len(WORDS)), -1.5, dtype=np.float32)
    for place, token in np.ndenumerate(rows):
        table[place] = -100 if token == -100 else table[place]
        if token != -100:
            at = (*place, token)
            table[at] = 3.0
    return table


def ragged() -> Any:
    rows = np.empty(2, dtype=object)
    rows[0], rows[1] = np.array(RED), HOUSE
    return rows


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(PADDED, id="padded array"),
        pytest.param(PADDED.astype(np.int32), id="other integers"),
        pytest.param(np.array([RED, [*HOUSE, PAD, PAD]]), id="padded with pad tokens"),
        pytest.param((PADDED, np.zeros((2, 5, 7))), id="tuple with hidden states"),
        pytest.param(logits_of(PADDED), id="logits"),
        pytest.param((logits_of(PADDED), None), id="logits in a tuple"),
        pytest.param([RED, HOUSE], id="lists"),
        pytest.param(ragged(), id="ragged array"),
        pytest.param([np.array([RED]), np.array([HOUSE])], id="a list of batches"),
        pytest.param([(np.array([RED]), 0), (np.array([HOUSE]), 0)], id="batches of tuples"),
        pytest.param([logits_of(PADDED[:1]), logits_of(PADDED[1:])], id="batches of logits"),
        pytest.param({"input_ids": PADDED, "attention_mask": PADDED}, id="model inputs"),
    ],
)
def test_every_form_of_the_same_tokens_gives_the_same_texts(values: Any) -> None:
    assert decoded(WordTokenizer(), "predictions", values) == TEXTS


def test_tensors_are_read_like_arrays() -> None:
    torch = pytest.importorskip("torch")
    assert decoded(WordTokenizer(), "predictions", torch.tensor(PADDED)) == TEXTS
    logits = torch.tensor(logits_of(PADDED)).to(torch.bfloat16)
    assert decoded(WordTokenizer(), "predictions", (logits,)) == TEXTS


def test_logits_say_nothing_where_the_labels_are_padding() -> None:
    # The second row goes on after its end, as logits under a shorter reference do.
    logits = logits_of(np.array([RED, [*HOUSE, 10, 10]]))
    assert decoded(WordTokenizer(), "predictions", logits)[1] == "das Haus rot rot"
    labels = np.array([RED, [*HOUSE, -100, -100]])
    for given in (labels, (labels, labels)):
        assert decoded(WordTokenizer(), "predictions", logits, given) == TEXTS
    batches, parts = [logits[:1], logits[1:]], [labels[:1], labels[1:]]
    assert decoded(WordTokenizer(), "predictions", batches, parts) == TEXTS
    # Labels of another length say nothing about places.
    assert decoded(WordTokenizer(), "predictions", logits, labels[:, :2])[0] == TEXTS[0]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        pytest.param([], [], id="no rows"),
        pytest.param(np.zeros((0, 5), dtype=int), [], id="an empty array"),
        pytest.param([np.zeros((0, 5), dtype=int), np.array([HOUSE])], ["das Haus"], id="a batch"),
        pytest.param(np.full((1, 3), -100), [""], id="nothing but padding"),
        pytest.param([[], HOUSE], ["", "das Haus"], id="a row without tokens"),
    ],
)
def test_nothing_is_not_a_row_and_an_empty_row_is_one(values: Any, texts: list[str]) -> None:
    assert decoded(WordTokenizer(), "predictions", values) == texts


@pytest.mark.parametrize(
    ("values", "named"),
    [
        pytest.param(None, "predictions: expected arrays", id="none"),
        pytest.param((), "predictions: expected arrays", id="empty tuple"),
        pytest.param("das Haus", "predictions: expected arrays", id="text"),
        pytest.param(["das", "Haus"], "predictions[0]: expected token ids, not 'das'", id="texts"),
        pytest.param(np.array([[6.0, 7.5]]), "predictions[0]: expected token ids", id="floats"),
        pytest.param(np.array([[6, 7], [6, -3]]), "predictions[1]", id="negative"),
        pytest.param(np.zeros((2, 3, 4), dtype=int), "(2, 3, 4) of int64", id="integer cube"),
        pytest.param(np.zeros((2, 3, 4, 5)), "(2, 3, 4, 5)", id="four dimensions"),
    ],
)
def test_what_holds_no_tokens_is_refused_by_name(values: Any, named: str) -> None:
    with pytest.raises(InputError) as caught:
        decoded(WordTokenizer(), "predictions", values)
    assert named in str(caught.value)
