"""From what a Trainer hands over after an evaluation to texts: arrays, logits, padding, batches.

Arrays are read by their methods alone (`shape`, `argmax`, `tolist`), so that NumPy's and torch's
are the same here and neither has to be imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any

from mmad_metric.errors import InputError, described

PADDING = -100  # what a Trainer fills up with; no tokenizer has a token of this number
_LOGITS_DIMENSIONS = 3  # rows, positions, vocabulary


def decoded(tokenizer: Any, name: str, values: Any, labels: Any = None) -> list[str]:
    """One text a row, without special tokens and without blanks at the ends.

    values: token ids or logits; arrays, lists of them (one a batch), lists of rows of any
    length; in a tuple or a mapping of model inputs, the first or `input_ids` counts. labels: of
    the same rows; where these are padding, logits say nothing. Raises InputError naming the row.
    """
    rows = list(id_rows(name, values, labels))
    for index, row in enumerate(rows):
        for token in row:
            if isinstance(token, bool) or not isinstance(token, int) or token < 0:
                raise InputError(f"{name}[{index}]: expected token ids, not {token!r}")
    texts: list[str] = tokenizer.batch_decode(rows, skip_special_tokens=True)
    return [text.strip() for text in texts]


def id_rows(name: str, values: Any, labels: Any = None) -> Iterator[list[Any]]:
    """The rows of token ids in `values`, padding left out. See `decoded`."""
    if isinstance(values, tuple):  # logits or ids come first, hidden states and such after them
        values = values[0] if values else None
    if isinstance(values, Mapping):
        values = values.get("input_ids")
    shape = getattr(values, "shape", None)
    if shape is not None:
        if len(shape) > 1 and shape[0] == 0:
            return
        values = _best_ids(name, values, labels) if _is_logits(values) else values.tolist()
    if not isinstance(values, list):
        raise InputError(f"{name}: expected arrays of token ids or logits, not {described(values)}")
    if values and _is_row(values):
        yield [token for token in values if token != PADDING]
        return
    paired = labels if isinstance(labels, list) and len(labels) == len(values) else repeat(None)
    for value, label in zip(values, paired, strict=False):
        if isinstance(value, list) and not value:
            yield []
        else:
            yield from id_rows(name, value, label)


def _is_row(values: list[Any]) -> bool:
    return not any(isinstance(each, (list, tuple, Mapping)) or _dims(each) for each in values)


def _dims(value: Any) -> int:
    return len(getattr(value, "shape", ()))


def _is_logits(values: Any) -> bool:
    return _dims(values) >= _LOGITS_DIMENSIONS


def _best_ids(name: str, logits: Any, labels: Any) -> list[list[int]]:
    """The likeliest token of each position, PADDING where a Trainer filled up."""
    if _dims(logits) != _LOGITS_DIMENSIONS or "float" not in str(logits.dtype):
        raise InputError(
            f"{name}: expected token ids (rows, positions) or logits (rows, positions, "
            f"vocabulary), not {tuple(logits.shape)} of {logits.dtype}"
        )
    if isinstance(labels, tuple):
        labels = labels[0] if labels else None
    best: list[list[int]] = logits.argmax(-1).tolist()
    filled = (logits == PADDING).all(-1).tolist()
    if labels is not None and tuple(getattr(labels, "shape", ())) == tuple(logits.shape[:2]):
        unasked = (labels == PADDING).tolist()
        filled = [
            [a or b for a, b in zip(*rows, strict=True)]
            for rows in zip(filled, unasked, strict=True)
        ]
    return [
        [PADDING if skip else token for token, skip in zip(*row, strict=True)]
        for row in zip(best, filled, strict=True)
    ]
