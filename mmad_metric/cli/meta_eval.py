"""`mmad meta-eval`: does a metric agree with people, how surely, and was it tuned on the test?"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.meta_eval_options import parse_options
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.names import nearest

if TYPE_CHECKING:
    from mmad_metric.metaeval.coverage import Coverage
    from mmad_metric.metaeval.loading import Loaded
    from mmad_metric.metaeval.measures import Measure
    from mmad_metric.metaeval.meta_score import MetricResult
    from mmad_metric.metaeval.permutation import Comparison
    from mmad_metric.metaeval.reports import Significance


def run_meta_eval(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = parse_options(arguments)
    from mmad_metric.metaeval.measures import META_SETS, find_measures

    measures = find_measures(tuple(options.measures or META_SETS[options.meta_set]))
    if options.plots:
        _prepare_plots(options.plots)  # before what may take minutes
    if options.raters:
        values, text = _raters(options)
    elif options.select:
        values, text = _selection(options, measures)
    else:
        values, text = _table(options, measures)
    print(json.dumps(values, indent=1, ensure_ascii=False) if options.format == "json" else text)
    return EXIT_OK


def _load(options: argparse.Namespace, runs: Sequence[str]) -> Loaded:
    from mmad_metric.metaeval.loading import Sources, load
    from mmad_metric.metaeval.runs import NamedRun

    loaded = load(
        Sources(
            options.data,
            tuple(options.lp),
            tuple(options.scores),
            tuple(map(NamedRun.parse, runs)),
            options.gold,
            options.exclude,
            options.raters,  # people rated the references too
            options.metrics,
            tuple(options.reference),
        )
    )
    for note in loaded.notes:
        tell(note)
    for run in loaded.runs:
        if options.metrics and run.metric not in options.metrics:
            raise ConfigError(f"--runs: --metrics does not name {run.metric!r}, which one is")
    return loaded


def _coverage(loaded: Loaded) -> tuple[Coverage, ...]:
    from mmad_metric.metaeval.coverage import Coverage

    return tuple(Coverage.of(pair.gold, loaded.sets[pair.lp].n_segments) for pair in loaded.pairs)


def _table(
    options: argparse.Namespace, measures: tuple[Measure, ...]
) -> tuple[dict[str, Any], str]:
    """The table, and what was asked for beside it."""
    from mmad_metric.metaeval import tables
    from mmad_metric.metaeval.meta_score import evaluate
    from mmad_metric.metaeval.resampling import Resampling, intervals

    loaded = _load(options, options.runs)
    results = evaluate(loaded.pairs, measures)
    names = [each.metric for each in results]
    found = {}
    if options.confidence:
        how = Resampling(options.samples, options.seed, options.unit)
        found = intervals(loaded.pairs, names, measures, how)
    tests = _Tests(options, loaded, measures)
    ranks = tests.ranks(results) if options.ranks else {}
    table = tables.Table(_coverage(loaded), measures, results, found, ranks, options.width)
    values = tables.json_values(table)
    latex = options.format == "latex"
    texts = [tables.latex_table(table) if latex else tables.text_table(table)]
    compared = tests.all_pairs(results) if options.significance else None
    if compared:
        from mmad_metric.metaeval import reports

        values["significance"] = reports.significance_values(compared, options.width)
        shown = reports.significance_latex if latex else reports.significance_text
        texts.append(shown(compared, options.width))
    if options.spans:
        values["spans"], more = _spans(options, loaded)
        texts.append(more)
    if options.plots:
        _plots(options, loaded, results, compared)
    return values, "\n\n".join(texts)


class _Tests:
    """Comparisons of two metrics, each made once."""

    def __init__(
        self, options: argparse.Namespace, loaded: Loaded, measures: Sequence[Measure]
    ) -> None:
        self._options, self._pairs, self._measures = options, loaded.pairs, measures
        self._known: dict[tuple[str, str], dict[str, dict[str, Comparison]]] = {}

    def of(self, better: str, worse: str) -> Mapping[str, Mapping[str, Comparison]]:
        from mmad_metric.metaeval.permutation import compare

        if (better, worse) not in self._known:
            self._known[better, worse] = compare(
                self._pairs,
                (better, worse),
                self._measures,
                n=self._options.samples,
                seed=self._options.seed,
            )
        return self._known[better, worse]

    def ranks(self, results: Sequence[MetricResult]) -> dict[str, int]:
        """Clusters by the meta score over all pairs; a metric without one has no rank."""
        from mmad_metric.metaeval.ranking import clusters

        tested, _ = _tested(results)
        return clusters(tested, lambda one, other: self.of(one, other)["all"]["meta"].p_value)

    def all_pairs(self, results: Sequence[MetricResult]) -> Significance:
        """Every better metric against every worse one."""
        from mmad_metric.metaeval.permutation import common
        from mmad_metric.metaeval.reports import Significance

        tested, untested = _tested(results)
        both = list(combinations(tested, 2))
        return Significance(
            {names: self.of(*names) for names in both},
            {names: common(self._pairs, names) for names in both},
            untested,
        )


def _tested(results: Sequence[MetricResult]) -> tuple[list[str], list[str]]:
    """The metrics with a meta score over all pairs, the best first, and those without."""
    sides: tuple[list[str], list[str]] = ([], [])
    for each in results:
        sides[math.isnan(each.meta)].append(each.metric)
    return sides


def _spans(options: argparse.Namespace, loaded: Loaded) -> tuple[list[Any], str]:
    from mmad_metric.metaeval.human_spans import span_report
    from mmad_metric.metaeval.loading import gold_of
    from mmad_metric.metaeval.marot_gold import human_spans
    from mmad_metric.metaeval.reports import rounded_report, span_text

    marking = [run for run in loaded.runs if run.scale.has_errors]
    if not marking:
        raise ConfigError("--spans: these runs give scores without errors, so there are no spans")
    for run in loaded.runs:
        if run not in marking:
            tell(f"{run.metric} gives scores without errors: it is left out of the spans")
    human = {lp: human_spans(data, gold_of(options.gold, lp)) for lp, data in loaded.sets.items()}
    systems = {pair.lp: pair.gold.systems for pair in loaded.pairs}
    reports = [
        span_report(run, human[run.lp], loaded.sets[run.lp], systems[run.lp]) for run in marking
    ]
    return rounded_report(reports, options.width), span_text(reports, options.width)


def _prepare_plots(folder: str) -> None:
    """Raises ConfigError, InputError where no chart can be written."""
    try:
        from mmad_metric.metaeval import plots
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--plots needs {error.name}: pip install 'mmad-metric[report]'"
        ) from None
    plots.prepare(folder)


def _plots(
    options: argparse.Namespace,
    loaded: Loaded,
    results: Sequence[MetricResult],
    significance: Significance | None,
) -> None:
    """Writes the charts and says where."""
    from mmad_metric.metaeval import plots

    folder, ending = options.plots, options.plot_format
    names = [each.metric for each in results]
    stems = plots.file_stems(names)
    for pair in loaded.pairs:
        metrics = [pair.metrics[name] for name in names if name in pair.metrics]
        for metric in metrics:
            figure = plots.correlation_scatter(pair.gold, metric)
            tell(plots.save(figure, folder, f"scatter_{stems[metric.name]}_{pair.lp}", ending))
        figure = plots.score_distributions(pair.gold, metrics)
        tell(plots.save(figure, folder, f"distributions_{pair.lp}", ending))
    if significance and significance.compared:
        compared = significance.compared
        tested = [name for name in names if any(name in both for both in compared)]
        metas = {both: found["all"]["meta"] for both, found in compared.items()}
        figure = plots.significance_matrix(tested, metas, "meta score: row better than column")
        tell(plots.save(figure, folder, "significance_meta", ending))


def _selection(
    options: argparse.Namespace, measures: tuple[Measure, ...]
) -> tuple[dict[str, Any], str]:
    from mmad_metric.files.run_file import read_run
    from mmad_metric.metaeval.coverage import partial_notes
    from mmad_metric.metaeval.reports import selection_text, selection_values
    from mmad_metric.metaeval.runs import NamedRun, metric_name, run_pair
    from mmad_metric.metaeval.selection import Splitting, select

    runs, names = [], []
    for text in options.select:
        named = NamedRun.parse(text)
        if os.path.isfile(named.path):
            runs.append(text)
            names.append(metric_name(named, run_pair(read_run(named.path))))
        else:
            names.append(text)
    loaded = _load(options, [*options.runs, *runs])
    names = list(dict.fromkeys(names))
    known = {name for pair in loaded.pairs for name in pair.metrics}
    for name in names:
        if name not in known:
            raise InputError(
                f"--select: {name!r} is neither a file nor a metric with scores"
                f"{nearest(name, sorted(known))}"
            )
    how = Splitting(options.folds, options.split, options.seeds, options.seed)
    found = select(loaded.pairs, names, measures, how)
    coverage = _coverage(loaded)
    values = {
        "lps": list(options.lp),
        "by_lp": {each.lp: each.values() for each in coverage},
        "measures": [measure.name for measure in measures],
        **selection_values(found, how, options.width),
    }
    notes = partial_notes(found.whole)
    lines = [
        *(each.line() for each in coverage),
        "",
        selection_text(values, options.width),
        *(["", *notes] if notes else []),
    ]
    return values, "\n".join(lines)


def _raters(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Several people on the same segments; with --metrics, these beside them."""
    from mmad_metric.metaeval.loading import gold_of
    from mmad_metric.metaeval.marot_gold import eval_set, human_spans
    from mmad_metric.metaeval.raters import (
        beside_raters,
        rater_ceiling,
        scored_segments,
        shared_segments,
    )
    from mmad_metric.metaeval.reports import ceiling_text, ceiling_values
    from mmad_metric.metaeval.resampling import Resampling

    how = Resampling(options.samples, options.seed)
    loaded = _load(options, options.runs) if options.metrics else None
    blocks = []
    for place, lp in enumerate(options.lp):
        gold = gold_of(options.gold, lp)
        data = loaded.sets[lp] if loaded else eval_set(options.data, lp, gold)
        shared = shared_segments(lp, human_spans(data, gold))
        found, scored = {"raters": rater_ceiling(shared, how)}, {}
        if loaded:
            pair = loaded.pairs[place]
            scored = scored_segments(shared, pair, options.metrics)
            found |= beside_raters(shared, pair, options.metrics, how)
        blocks.append(ceiling_values(shared, found, scored, options.width))
    return {"raters": blocks}, "\n\n".join(ceiling_text(each, options.width) for each in blocks)
