"""Ranks as in the shared task's tables: metrics that cannot be told apart share one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

ALPHA = 0.05


def clusters(
    names: Sequence[str], p_value: Callable[[str, str], float], alpha: float = ALPHA
) -> dict[str, int]:
    """Rank of each metric, 1 for the best, as WMT's metrics task assigns them.

    names: best first; p_value(better, worse): of the difference of two. Down the list, a metric
    opens a new rank when any metric of the present one is significantly better than it
    (p <= alpha), so that no metric is significantly better than another of its rank. An
    undefined p-value (NaN) tells nothing apart.
    """
    ranks: dict[str, int] = {}
    present: list[str] = []
    rank = 1
    for name in names:
        # The best of the rank first: it is the likeliest to differ, which settles the question.
        if any(p_value(other, name) <= alpha for other in present):
            rank += 1
            present = []
        present.append(name)
        ranks[name] = rank
    return ranks
