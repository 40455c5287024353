"""Resampling as matrix products: all resamples of all columns at once, in chunks of memory.

The random numbers are drawn as sacreBLEU 2.6 draws them (numpy's default generator, the same
calls in the same order), so that equal seeds give equal resamples here and there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mmad_metric.stats.table import Array, Columns, quotients

CELLS = 1 << 22  # numbers of a chunk at most, some 32 MB an array
# numpy draws 32 booleans from one word and forgets what is left of it between calls.
BOOLEANS_A_WORD = 32
FEW = 256  # repeats that small numbers, which are drawn faster, can tell apart
# Sums of equal numbers in different orders may differ by this share of their size.
ROUNDING = 1e-10


def bootstrap_means(columns: Columns, n: int, seed: int) -> Array:
    """(n, columns) means over rows drawn with replacement, as many as there are.

    Where rows were rated repeatedly, the repeats of each drawn row are drawn again as well.
    NaN where a resample has no scored row of a column.
    """
    n_rows = len(columns.values)
    means = np.full((n, columns.values.shape[1]), np.nan)
    if not n_rows:
        return means
    complete = bool(columns.scored.all())
    cells, scored = _cells(columns)
    repeats = len(cells) // n_rows
    rows, noise = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    for chunk in _chunks(n, len(cells)):
        drawn = rows.integers(0, n_rows, size=(chunk.stop - chunk.start, n_rows))
        if repeats > 1:
            drawn = _redrawn(drawn, repeats, noise)
        times = _counts(drawn, len(cells))
        sums = times @ cells
        means[chunk] = sums / n_rows if complete else quotients(sums, times @ scored)
    return means


def _cells(columns: Columns) -> tuple[Array, Array]:
    """What one draw adds to a sum, and to the number of scored rows: a row, or where rows have
    repeats a repeat, which counts for its share of the row."""
    scored = columns.scored.astype(np.float64)
    if columns.spread is None:
        return columns.values, scored
    repeats, n_columns = columns.spread.shape[1:]
    cells = (columns.values[:, None, :] + columns.spread) / repeats
    return cells.reshape(-1, n_columns), np.repeat(scored / repeats, repeats, axis=0)


def _redrawn(drawn: NDArray[np.int64], repeats: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """For every drawn row as many cells as it has repeats, drawn among these."""
    kind = np.uint8 if repeats <= FEW else np.int64
    chosen = rng.integers(0, repeats, size=(*drawn.shape, repeats), dtype=kind)
    cells: NDArray[np.int64] = drawn[:, :, None] * repeats + chosen
    return cells.reshape(len(drawn), -1)


def _counts(drawn: NDArray[np.int64], width: int) -> Array:
    """How often each of `width` things was drawn, a row for each resample."""
    offsets = np.arange(len(drawn))[:, None] * width
    counts = np.bincount((drawn + offsets).ravel(), minlength=len(drawn) * width)
    return counts.reshape(len(drawn), width).astype(np.float64)


def sign_flips(differences: Columns, n: int, seed: int) -> NDArray[np.int64]:
    """For each column, in how many of n trials a sum of differences with random signs is as far
    from 0 as the true one, or farther. Swapping the two systems' outputs of a segment, as
    approximate randomization does, is a change of sign."""
    values = differences.values
    total = values.sum(axis=0)
    least = np.abs(total) - ROUNDING * np.abs(values).sum(axis=0)
    hits = np.zeros(values.shape[1], dtype=np.int64)
    rng = np.random.default_rng(seed)
    for chunk in _chunks(n, len(values)):
        chosen = rng.integers(2, size=(chunk.stop - chunk.start, len(values)), dtype=np.bool_)
        sums = 2.0 * (chosen.astype(np.float64) @ values) - total
        hits += (np.abs(sums) >= least).sum(axis=0)
    return hits


def _chunks(n: int, width: int) -> Iterator[slice]:
    """Slices of n resamples with about CELLS numbers of `width` each."""
    size = max(1, CELLS // max(1, width))
    if size > BOOLEANS_A_WORD:
        size -= size % BOOLEANS_A_WORD
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
