"""Which systems cannot be told apart: ranks and clusters as WMT reports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """A system among the others.

    first, last: the best and the worst rank it may have, from 1: one more than the number of
    systems that are significantly better, and the number of those that are not significantly
    worse; cluster: from 1 for the best. Every system of a cluster is significantly better than
    every system of all later ones.
    """

    system: int
    first: int
    last: int
    cluster: int


def standings(
    scores: Sequence[float], better: Mapping[tuple[int, int], bool]
) -> tuple[Standing, ...]:
    """The systems from the best mean to the worst, equal ones in the order given.

    scores: means, higher is better; better[a, b]: whether a is significantly better than b.
    """
    order = sorted(range(len(scores)), key=lambda system: -scores[system])

    def beats(one: int, other: int) -> bool:
        return better.get((one, other), False)

    result = []
    cluster = 1
    for place, system in enumerate(order):
        if place and all(beats(a, b) for a in order[:place] for b in order[place:]):
            cluster += 1
        others = [other for other in order if other != system]
        first = 1 + sum(beats(other, system) for other in others)
        last = len(order) - sum(beats(system, other) for other in others)
        result.append(Standing(system, first, last, cluster))
    return tuple(result)
