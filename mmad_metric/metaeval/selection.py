"""Selection without cheating: pick a configuration on one part, report it on the other.

The systems, documents or items are dealt into folds at random. Each fold in turn is held out:
the configuration with the best meta score on the rest is picked, and its meta score on the fold
is what an honest report would say. Where items or documents are dealt, system scores are means
over the segments of a part; where systems are, they are the whole data's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mmad_metric.errors import ConfigError
from mmad_metric.metaeval.arrays import Bools, Floats, Ints
from mmad_metric.metaeval.matrices import Gold
from mmad_metric.metaeval.measures import Measure
from mmad_metric.metaeval.meta_score import LanguagePairScores, MetricResult, evaluate
from mmad_metric.metaeval.resampling import resampled

SPLITS = ("systems", "documents", "items")
_LEAST_SYSTEMS = 3  # two systems correlate perfectly or not at all
_EQUAL = 1e-12  # sums in another order differ in the last bits


@dataclass(frozen=True, slots=True)
class Splitting:
    """folds: parts; unit: what is dealt out, one of `SPLITS`; seeds: how many deals."""

    folds: int = 2
    unit: str = "items"
    seeds: int = 20
    seed: int = 12345


@dataclass(frozen=True, eq=False)
class Selection:
    """The picks of all splits, seeds by folds in one row each.

    names: the configurations; tuned, held_out: their meta scores on the part that is picked
    from, and on the other, splits by configurations; picked: position of the pick in each split;
    whole: the configurations on all of the data, in the order of the names.
    """

    names: tuple[str, ...]
    tuned: Floats
    held_out: Floats
    picked: Ints
    whole: tuple[MetricResult, ...] = ()

    @property
    def held_out_score(self) -> float:
        """Mean score of the picks on the parts that they were not picked on."""
        return float(self._of_picks(self.held_out).mean())

    @property
    def tuned_score(self) -> float:
        """Mean score of the picks on the parts that they were picked on."""
        return float(self._of_picks(self.tuned).mean())

    @property
    def optimism(self) -> float:
        """Tuned minus held out, mean over the splits: what a report on the part that was tuned on
        overstates (the training error's optimism of Efron 1986, with the sign of a score). Where
        the two parts differ in size, part of it is owed to the size alone: see `size_effect`."""
        return self.tuned_score - self.held_out_score

    @property
    def optimism_deviation(self) -> float:
        """Standard deviation of tuned minus held out over the splits."""
        return float((self._of_picks(self.tuned) - self._of_picks(self.held_out)).std())

    @property
    def size_effect(self) -> float:
        """Tuned minus held out of a configuration taken without looking: the mean over all."""
        return float((self.tuned - self.held_out).mean())

    @property
    def regret(self) -> float:
        """How far the picks fall behind the best of each held-out part, at least 0."""
        return float((self.held_out.max(axis=1) - self._of_picks(self.held_out)).mean())

    @property
    def n_tied(self) -> int:
        """Splits in which several were equally good on the part that is picked from."""
        return int(np.count_nonzero(_best(self.tuned).sum(axis=1) > 1))

    @property
    def wins(self) -> dict[str, int]:
        """How often each configuration was picked, the most frequent first."""
        counted = Counter(self.names[each] for each in self.picked)
        return {name: counted[name] for name in sorted(self.names, key=lambda x: (-counted[x], x))}

    def _of_picks(self, scores: Floats) -> Floats:
        return scores[np.arange(len(scores)), self.picked]


def select(
    pairs: Sequence[LanguagePairScores],
    names: Sequence[str],
    measures: Sequence[Measure],
    how: Splitting,
) -> Selection:
    """Of equally good ones the one named first is picked. Raises ConfigError where there is nothing
    to pick from, a configuration has no meta score, or a part would be too small."""
    if len(set(names)) < 2:  # noqa: PLR2004 - a choice
        raise ConfigError("--select: give at least two configurations to choose from")
    for name in names:
        for pair in pairs:
            if name not in pair.metrics:
                raise ConfigError(f"--select: {name!r} has no scores for {pair.lp}")
    whole = _whole(pairs, names, measures)
    folds = [_deal(pair.gold, how) for pair in pairs]
    parts = _system_parts if how.unit == "systems" else _item_parts
    tuned, held_out = parts(pairs, names, measures, folds)
    _check_defined(names, tuned, held_out, how)
    return Selection(tuple(names), tuned, held_out, _best(tuned).argmax(axis=1), whole)


def _best(scores: Floats) -> Bools:
    """Splits by configurations: which of them have the best score, but for the last bits."""
    found: Bools = scores >= scores.max(axis=1, keepdims=True) - _EQUAL
    return found


def _whole(
    pairs: Sequence[LanguagePairScores], names: Sequence[str], measures: Sequence[Measure]
) -> tuple[MetricResult, ...]:
    chosen = [
        LanguagePairScores(pair.gold, {name: pair.metrics[name] for name in names})
        for pair in pairs
    ]
    by_name = {each.metric: each for each in evaluate(chosen, measures)}
    for name, result in by_name.items():
        if np.isnan(result.meta):
            without = [each for each, value in result.values.items() if np.isnan(value)]
            raise ConfigError(
                f"--select: {name!r} has no meta score, for on all of the data {without[0]} is not "
                "defined for it; leave it out"
            )
    return tuple(by_name[name] for name in names)


def _check_defined(names: Sequence[str], tuned: Floats, held_out: Floats, how: Splitting) -> None:
    for scores, part in ((tuned, "picked from"), (held_out, "held out")):
        missing = np.argwhere(np.isnan(scores))
        if missing.size:
            split, place = missing[0].tolist()
            fewer = "take fewer folds, " if how.folds > 2 else ""  # noqa: PLR2004 - the least
            raise ConfigError(
                f"--folds {how.folds}: in split {split + 1} of {len(scores)} a measure is not "
                f"defined for {names[place]!r} on the part that is {part} (too few {how.unit}, or "
                f"scores missing); {fewer}deal something else with --split, or leave it out"
            )


def _deal(gold: Gold, how: Splitting) -> Ints:
    """The fold of each unit, seeds by units."""
    if how.unit == "documents" and gold.documents is None:
        raise ConfigError(f"{gold.lp}: no document file, so --split documents is not possible")
    units = {
        "systems": len(gold.systems),
        "items": gold.items.size,
        "documents": 0 if gold.documents is None else int(gold.documents.max()) + 1,
    }[how.unit]
    least = _LEAST_SYSTEMS if how.unit == "systems" else 1
    if how.folds < 2 or units < how.folds * least:  # noqa: PLR2004 - tuning and testing
        raise ConfigError(
            f"--folds {how.folds}: {gold.lp} has {units} {how.unit} with gold; two folds at least "
            f"are needed, with at least {least} of the {how.unit} in each"
        )
    rng = np.random.default_rng([how.seed, *gold.lp.encode()])
    return np.stack([rng.permutation(np.arange(units) % how.folds) for _ in range(how.seeds)])


def _item_parts(
    pairs: Sequence[LanguagePairScores],
    names: Sequence[str],
    measures: Sequence[Measure],
    folds: Sequence[Ints],
) -> tuple[Floats, Floats]:
    weights: list[dict[str, Ints]] = [{}, {}]
    for pair, dealt in zip(pairs, folds, strict=True):
        documents = pair.gold.documents
        of_items = dealt
        if documents is not None and dealt.shape[1] != pair.gold.items.size:
            of_items = dealt[:, documents]
        held = np.concatenate([of_items == fold for fold in range(int(dealt.max()) + 1)])
        for part, chosen in zip(weights, (~held, held), strict=True):
            part[pair.lp] = chosen.astype(np.int64)
    tuned, held_out = (
        np.stack([resampled(pairs, name, measures, part)["all"]["meta"] for name in names], axis=1)
        for part in weights
    )
    return tuned, held_out


def _system_parts(
    pairs: Sequence[LanguagePairScores],
    names: Sequence[str],
    measures: Sequence[Measure],
    folds: Sequence[Ints],
) -> tuple[Floats, Floats]:
    rows: list[list[list[float]]] = [[], []]
    for fold in range(int(folds[0].max()) + 1):
        for seed in range(len(folds[0])):
            held = [dealt[seed] == fold for dealt in folds]
            for part, chosen in zip(rows, ([~each for each in held], held), strict=True):
                small = [
                    _only(pair, names, np.flatnonzero(each))
                    for pair, each in zip(pairs, chosen, strict=True)
                ]
                metas = {each.metric: each.meta for each in evaluate(small, measures)}
                part.append([metas[name] for name in names])
    return np.array(rows[0]), np.array(rows[1])


def _only(pair: LanguagePairScores, names: Sequence[str], systems: Ints) -> LanguagePairScores:
    chosen = systems.tolist()
    metrics = {name: pair.metrics[name].only(chosen) for name in names}
    return LanguagePairScores(pair.gold.only(chosen), metrics)
