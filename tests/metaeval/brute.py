"""Slow and plain implementations, the authority for the fast ones."""

from __future__ import annotations

import itertools
import math


def sign(value: float) -> int:
    return int(value > 0) - int(value < 0)


def acc_t(gold, metric):
    """The definition of arXiv 2305.14324 over lists with None, systems by items."""
    items = list(zip(zip(*gold, strict=True), zip(*metric, strict=True), strict=True))
    thresholds = {0.0}
    for _, scores in items:
        known = [each for each in scores if each is not None]
        thresholds |= {abs(a - b) for a, b in itertools.combinations(known, 2)}
    best, best_threshold = -1.0, 0.0
    for threshold in sorted(thresholds):
        accuracies = []
        for people, scores in items:
            right = total = 0
            for one, other in itertools.combinations(range(len(people)), 2):
                cells = (people[one], people[other], scores[one], scores[other])
                if any(cell is None or math.isnan(cell) for cell in cells):
                    continue
                total += 1
                difference = scores[one] - scores[other]
                tied = abs(difference) <= threshold
                said = 0 if tied else sign(difference)
                right += said == sign(people[one] - people[other])
            if total:
                accuracies.append(right / total)
        if not accuracies:
            return None
        accuracy = sum(accuracies) / len(accuracies)
        if accuracy > best + 1e-12:
            best, best_threshold = accuracy, threshold
    return best, best_threshold


def pair_kinds(x, y):
    """Concordant, discordant, tied in x alone, in y alone, in both."""
    kinds = [0, 0, 0, 0, 0]
    for (a, b), (c, d) in itertools.combinations(list(zip(x, y, strict=True)), 2):
        one, other = sign(a - c), sign(b - d)
        if one == 0 and other == 0:
            kinds[4] += 1
        elif one == 0:
            kinds[2] += 1
        elif other == 0:
            kinds[3] += 1
        else:
            kinds[0 if one == other else 1] += 1
    return tuple(kinds)


def spa(gold, metric):
    """Soft pairwise accuracy over lists with None, systems by items: every pattern of signs."""
    items = [
        place for place in range(len(gold[0]))
        if all(row[place] is not None for side in (gold, metric) for row in side)
    ]  # fmt: skip
    if not items:
        return None
    distances = []
    for one, other in itertools.combinations(range(len(gold)), 2):
        p_values = []
        for side in (gold, metric):
            differences = [side[one][place] - side[other][place] for place in items]
            sums = [
                sum(turn * each for turn, each in zip(signs, differences, strict=True))
                for signs in itertools.product((1, -1), repeat=len(items))
            ]
            p_values.append(sum(each >= sum(differences) for each in sums) / len(sums))
        distances.append(abs(p_values[0] - p_values[1]))
    return 1 - sum(distances) / len(distances)


def exchanges(one, other, value):
    """PERM-BOTH over flat lists: the difference of `value` as seen, and after every exchange of
    the standardised scores."""
    sides = []
    for scores in (one, other):
        mean = sum(scores) / len(scores)
        deviation = math.sqrt(sum((each - mean) ** 2 for each in scores) / len(scores))
        sides.append([(each - mean) / deviation for each in scores])
    found = []
    for mask in itertools.product((False, True), repeat=len(one)):
        cells = [pair[::-1] if turned else pair
                 for pair, turned in zip(zip(*sides, strict=True), mask, strict=True)]  # fmt: skip
        found.append(value([pair[0] for pair in cells]) - value([pair[1] for pair in cells]))
    return found[0], found
