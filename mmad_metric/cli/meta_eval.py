"""`mmad meta-eval`: does a metric agree with people, how surely, and was it tuned on the test?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmad_metric.cli.exits import EXIT_OK

if TYPE_CHECKING:
    from mmad_metric.metaeval.loading import Loaded
    from mmad_metric.metaeval.measures import Measure

FORMATS = ("json", "text", "latex")


def run_meta_eval(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = _parser().parse_args(arguments)
    from mmad_metric.metaeval.loading import Sources, load
    from mmad_metric.metaeval.measures import META_SETS, find_measures
    from mmad_metric.metaeval.runs import NamedRun

    names = tuple(options.measures or META_SETS[options.meta_set])
    measures = find_measures(names)
    loaded = load(
        Sources(
            options.data,
            tuple(options.lp),
            tuple(options.scores),
            tuple(map(NamedRun.parse, options.runs)),
            options.gold,
            options.exclude,
            options.metrics,
        )
    )
    print(_table(options, loaded, measures))
    return EXIT_OK


def _table(options: argparse.Namespace, loaded: Loaded, measures: tuple[Measure, ...]) -> str:
    from mmad_metric.metaeval import tables
    from mmad_metric.metaeval.meta_score import evaluate
    from mmad_metric.metaeval.resampling import Resampling, intervals

    results = evaluate(loaded.pairs, measures)
    found = {}
    if options.confidence:
        how = Resampling(options.samples, options.seed, options.unit)
        found = intervals(loaded.pairs, [each.metric for each in results], measures, how)
    table = tables.Table(tuple(options.lp), measures, results, found, width=options.width)
    if options.format == "json":
        return json.dumps(tables.json_values(table), indent=1, ensure_ascii=False)
    return tables.latex_table(table) if options.format == "latex" else tables.text_table(table)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mmad meta-eval", description=__doc__)
    add = parser.add_argument
    add("--data", required=True, metavar="DIR", help="folder in mt-metrics-eval's layout")
    add("-l", "--lp", required=True, type=_names, metavar="LP[,LP…]", help="language pairs")
    add("--scores", nargs="+", default=[], metavar="DIR", help="more score files: "
        "NAME_LP.seg.score and .sys.score, or mt-metrics-eval's names; replaces metrics of the "
        "same name")  # fmt: skip
    add("--runs", nargs="+", default=[], metavar="[NAME=]RUN", help="run files of mmad")
    add("--metrics", type=_names, metavar="NAME[,…]", help="only these metrics")
    add("--gold", default="mqm", metavar="NAME", help="the human scores (default: %(default)s)")
    add("--exclude", type=_names, metavar="SYSTEM[,…]", help="systems to leave out (default: "
        "outliers and the standard reference, as in WMT23)")  # fmt: skip
    add("--meta-set", choices=("wmt23", "wmt24"), default="wmt23", help="what the meta score "
        "averages (default: %(default)s)")  # fmt: skip
    add("--measures", type=_names, metavar="NAME[,…]", help="measures instead of a meta set")
    add("--confidence", action="store_true", help="bootstrap intervals (95%%)")
    add("--samples", type=int, default=1000, metavar="N", help="resamples or permutations "
        "(default: %(default)s)")  # fmt: skip
    add("--unit", choices=("items", "documents"), default="items", help="what is resampled")
    add("--seed", type=int, default=12345, metavar="N")
    add("-f", "--format", choices=FORMATS, default="json", help="(default: %(default)s)")
    add("-w", "--width", type=int, default=3, metavar="N", help="decimals (default: %(default)s)")
    return parser
