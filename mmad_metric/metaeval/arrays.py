"""The array types of this package, and the one place where None and NaN meet.

In files and in public values a missing score is None; inside an array it is NaN. It is never 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def to_array(scores: Sequence[float | None]) -> Floats:
    """The scores as float64, NaN for None."""
    return np.array(scores, dtype=np.float64)


def or_none(value: float) -> float | None:
    """A number for a file or a table: None where the measure is not defined (NaN)."""
    return None if np.isnan(value) else float(value)
