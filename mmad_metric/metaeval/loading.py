"""From folders of score files to language pairs with gold and metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.metaeval.layout import EvalSet, pairs_with_gold
from mmad_metric.metaeval.marot_gold import eval_set, is_tsv
from mmad_metric.metaeval.matrices import gold_matrix, left_out, metric_matrix, scores_matrix
from mmad_metric.metaeval.meta_score import LanguagePairScores
from mmad_metric.metaeval.metric_files import ScoreFiles, metric_files, score_files
from mmad_metric.metaeval.references import check_pairs, chosen_reference
from mmad_metric.metaeval.runs import NamedRun, RunRatings, read_runs
from mmad_metric.names import nearest


@dataclass(frozen=True, slots=True)
class Sources:
    """Where scores come from.

    data: a folder in mt-metrics-eval's layout; scores: folders of score files, a metric there
    taking the place of the data folder's metric of that name, and a later folder's of an
    earlier one's; runs: run files; gold: name of the human scores; exclude: systems left
    out beside those that the shared task leaves out; keep_all: leave out none of the latter;
    metrics: only these, None for all; references: the standard reference, NAME for all pairs or
    LP=NAME for one.
    """

    data: str
    lps: tuple[str, ...]
    scores: tuple[str, ...] = ()
    runs: tuple[NamedRun, ...] = ()
    gold: str = "mqm"
    exclude: Collection[str] = ()
    keep_all: bool = False
    metrics: Collection[str] | None = None
    references: tuple[str, ...] = ()


def gold_of(gold: str, lp: str) -> str:
    """The gold's name, or a TSV's path with the pair in place of {lp}."""
    return gold.replace("{lp}", lp)


@dataclass(frozen=True, eq=False)
class Loaded:
    """Test sets, matrices and placed runs of the language pairs, in the order asked for.

    notes: what people should be told about all of them.
    """

    sets: dict[str, EvalSet]
    pairs: list[LanguagePairScores]
    runs: list[RunRatings]
    notes: tuple[str, ...] = ()


def load(sources: Sources) -> Loaded:
    """Every language pair with its gold and metrics. Raises InputError."""
    if len(set(sources.lps)) != len(sources.lps):
        raise InputError(f"a language pair is named twice: {','.join(sources.lps)}")
    _check_pairs(sources)
    check_pairs(sources.references, sources.lps)
    sets = {
        lp: eval_set(
            sources.data, lp, gold_of(sources.gold, lp), chosen_reference(sources.references, lp)
        )
        for lp in sources.lps
    }
    _check_systems(sources.exclude, sets)
    runs = read_runs(sources.runs, sets)
    files = {lp: _files(sources, data) for lp, data in sets.items()}
    pairs = [_load_pair(sources, data, files[data.lp], runs) for data in sets.values()]
    known = {name for pair in pairs for name in pair.metrics}
    for name in sources.metrics or ():
        if name not in known:
            raise InputError(f"no scores for the metric {name!r}{nearest(name, sorted(known))}")
    if not known:
        raise InputError(
            f"{readable(sources.data)}: no metric scores for {', '.join(sources.lps)} there, "
            "and neither --scores nor --runs brings any"
        )
    notes = [note for data in sets.values() for note in data.notes]
    notes += [note for run in runs for note in run.notes]
    for pair in pairs:
        notes += _leaks(sets[pair.lp], files[pair.lp], pair, keep_all=sources.keep_all)
    return Loaded(sets, pairs, runs, tuple(notes))


def _check_pairs(sources: Sources) -> None:
    """A misspelt pair is told by name; where the gold is a TSV, its own reader tells."""
    known = pairs_with_gold(sources.data)
    for lp in sources.lps:
        if known and lp not in known and not is_tsv(gold_of(sources.gold, lp)):
            raise InputError(
                f"{readable(sources.data)}: no human scores for the language pair {lp!r}; there "
                f"are those of {', '.join(known)}{nearest(lp, known)}"
            )


def _check_systems(names: Collection[str], sets: Mapping[str, EvalSet]) -> None:
    known = {name for data in sets.values() for name in data.gold_segment}
    for name in names:
        if name not in known:
            raise InputError(
                f"exclude: {name!r} is no system of {', '.join(sets)}{nearest(name, sorted(known))}"
            )


def _files(sources: Sources, data: EvalSet) -> dict[str, ScoreFiles]:
    """The score files of the pair, of the metrics that are wanted."""
    files = metric_files(data)
    for folder in sources.scores:
        files |= score_files(folder, data, only_pair=len(sources.lps) == 1)
    wanted = sources.metrics
    return {name: each for name, each in files.items() if wanted is None or name in wanted}


def _load_pair(
    sources: Sources,
    data: EvalSet,
    files: Mapping[str, ScoreFiles],
    runs: Sequence[RunRatings],
) -> LanguagePairScores:
    usual = () if sources.keep_all else left_out(data)
    gold = gold_matrix(data, {*usual, *sources.exclude})
    metrics = {name: metric_matrix(each, gold, data.n_segments) for name, each in files.items()}
    wanted = sources.metrics
    for run in runs:
        if run.lp == data.lp and (wanted is None or run.metric in wanted):
            scores = run.scores(data.n_segments)
            metrics[run.metric] = scores_matrix(run.metric, scores, {}, gold)
    return LanguagePairScores(gold, metrics)


def _leaks(
    data: EvalSet, files: Mapping[str, ScoreFiles], pair: LanguagePairScores, *, keep_all: bool
) -> Iterator[str]:
    """Metrics that saw a reference which is a system here, and so judged it against itself.

    keep_all: all references are systems here, and nothing can be done about it.
    """
    for name, each in files.items():
        for reference in each.seen():
            if reference not in pair.gold.systems:
                continue
            made = f"{name}, {data.lp}: its scores were made with {reference}"
            if not keep_all:
                yield (
                    f"{made}, which is a system here (the standard reference is {data.standard}); "
                    f"--exclude {reference}, or --reference {data.lp}={reference}"
                )
            elif _scores_system(pair, name, reference):
                yield f"{made}, and {reference} is among the translations that it scored"


def _scores_system(pair: LanguagePairScores, metric: str, system: str) -> bool:
    row = pair.metrics[metric].segment[pair.gold.systems.index(system)]
    return not np.isnan(row).all()
