"""`mmad export`: a run file's scores and errors in the formats of other tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmad_metric.cli.error_filters import add_error_filters, error_filter
from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.name_lists import name_list
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import ConfigError
from mmad_metric.files.lines import readable

WORDS = """what is written to DIR:
  scores   NAME_LP.seg.score and NAME_LP.sys.score, as mt-metrics-eval reads them
  ratings  NAME_LP.seg.rating, the errors of each segment with offsets
  marot    NAME_LP.mqm.tsv, an error a row with <v> tags, for the viewer Marot
  spans    NAME_LP.spans.jsonl, a segment a line with texts, score and spans
A segment without a score is None (null), never 0; spaces in system names become underscores.
Rows are numbered as in the run, or with --data as the test set's segments: for a run of a part.

Filters keep errors by how they came to be; a segment that loses one is scored anew by the run's own
weights. Errors without provenance are kept. See docs/meta-evaluation.md."""


def run_export(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = _parser().parse_args(arguments)
    from mmad_metric.files.run_file import read_run
    from mmad_metric.files.score_files import system_field
    from mmad_metric.metaeval.export import KINDS, Exported, export
    from mmad_metric.metaeval.layout import read_folder
    from mmad_metric.metaeval.runs import NamedRun, metric_name, run_pair

    for kind in options.to:
        if kind not in KINDS:
            raise ConfigError(f"--to: {kind!r} is not one of {', '.join(KINDS)}")
    if options.mtme and "scores" not in options.to:
        raise ConfigError("--mtme names files of scores, and --to asks for none")
    chosen = []
    for text in options.runs:
        named = NamedRun.parse(text)
        run = read_run(named.path)
        lp = run_pair(run)
        name = system_field(metric_name(named, lp)).replace("/", "_")
        chosen.append((run, name, lp))
    if len({(name, lp) for _, name, lp in chosen}) < len(chosen):
        raise ConfigError("two runs would write the same files; tell them apart by NAME=RUN")
    errors = error_filter(options)
    for run, name, lp in chosen:
        data = read_folder(options.data, lp) if options.data else None
        exported = Exported.of(run, name, lp, data, errors)
        for note in exported.notes:
            tell(note)
        if "marot" in options.to and (tagged := exported.tagged()):
            tell(
                f"{readable(run.path)}: {tagged} texts hold <v> or </v>, which other readers of "
                "the TSV take for marks; meta-eval tells them apart by the test set's texts"
            )
        for path in export(exported, options.to, options.output, mtme=options.mtme):
            print(path)
    return EXIT_OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mmad export",
        description=__doc__,
        epilog=WORDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", metavar="[NAME=]RUN", help="finished run files")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder to write to (made if need be)"
    )
    parser.add_argument(
        "--to",
        type=name_list,
        default=["scores"],
        metavar="KIND[,…]",
        help="scores, ratings, marot, spans (default: scores)",
    )
    parser.add_argument(
        "--mtme",
        action="store_true",
        help="scores as metric-scores/LP/NAME-src.seg.score, ready for an mt-metrics-eval folder",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="folder in mt-metrics-eval's layout: a row for each of its segments, in its order",
    )
    add_error_filters(parser)
    return parser
