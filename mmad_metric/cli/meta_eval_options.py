"""The options of `mmad meta-eval`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from mmad_metric.errors import ConfigError

FORMATS = ("json", "text", "latex")
EXAMPLES = """examples:
  mmad meta-eval --data wmt23 --lp en-de,zh-en --runs run_en-de.jsonl run_zh-en.jsonl -f text
  mmad meta-eval --data wmt23 --lp zh-en --metrics COMET,BLEU --confidence --significance
  mmad meta-eval --data wmt23 --lp zh-en --select r1.jsonl r2.jsonl r3.jsonl --split documents
  mmad meta-eval --data wmt23 --lp zh-en --raters -f text
A missing score is None, never 0: its pairs are not compared. See docs/meta-evaluation.md."""


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Raises ConfigError for numbers out of range; argparse itself exits with 2 on misuse."""
    options = _parser().parse_args(arguments)
    for name, least in (("samples", 1), ("seeds", 1), ("folds", 2), ("seed", 0), ("width", 0)):
        if getattr(options, name) < least:
            raise ConfigError(f"--{name}: at least {least}, not {getattr(options, name)}")
    if options.format == "latex" and (options.raters or options.select):
        raise ConfigError("-f latex: for the table; --raters and --select print text or json")
    return options


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mmad meta-eval",
        description="Hold metrics against human scores: the table of the WMT metrics task, with "
        "intervals and tests; selection on held-out parts; agreement of people.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _data(parser.add_argument_group("what is compared"))
    _questions(parser.add_argument_group("questions"))
    _printing(parser.add_argument_group("output"))
    return parser


def _data(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--data", required=True, metavar="DIR", help="folder in mt-metrics-eval's layout")
    add("-l", "--lp", required=True, type=_names, metavar="LP[,LP…]", help="language pairs")
    add(
        "--scores",
        nargs="+",
        default=[],
        metavar="DIR",
        help="more score files: NAME_LP.seg.score and .sys.score, or mt-metrics-eval's names in "
        "LP/ or metric-scores/LP/; they take the place of metrics of the same name",
    )
    add("--runs", nargs="+", default=[], metavar="[NAME=]RUN", help="run files of mmad")
    add("--metrics", type=_names, metavar="NAME[,…]", help="only these metrics")
    add(
        "--gold",
        default="mqm",
        metavar="NAME|TSV",
        help="the human scores (default: %(default)s), or an MQM TSV of WMT; {lp} in its path "
        "stands for the pair",
    )
    add(
        "--reference",
        type=_names,
        metavar="NAME|LP=NAME[,…]",
        default=[],
        help="the standard reference, which is no system (default: mt-metrics-eval's for WMT21 to "
        "WMT23, he-en refB; else the first)",
    )
    add(
        "--exclude",
        type=_names,
        metavar="SYSTEM[,…]",
        default=[],
        help="systems to leave out, beside those that WMT23 leaves out: synthetic_ref and the "
        "standard reference",
    )
    add(
        "--meta-set",
        choices=("wmt23", "wmt24"),
        default="wmt23",
        help="what the meta score averages (default: %(default)s)",
    )
    add("--measures", type=_names, metavar="NAME[,…]", help="measures instead of a meta set")


def _questions(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--confidence", action="store_true", help="95%% bootstrap intervals of every measure")
    add("--unit", choices=("items", "documents"), default="items", help="what is resampled")
    add(
        "--significance",
        action="store_true",
        help="PERM-BOTH tests between all metrics shown (some seconds a pair of metrics)",
    )
    add("--ranks", action="store_true", help="ranks as clusters that tests cannot tell apart")
    add("--spans", action="store_true", help="the runs' error spans beside those of people")
    add("--raters", action="store_true", help="agreement of people with each other, as a ceiling")
    add(
        "--select",
        nargs="+",
        metavar="RUN|NAME",
        help="pick the best of these on one part of the data, report it on the other",
    )
    add("--folds", type=int, default=2, metavar="K", help="parts (default: %(default)s)")
    add(
        "--split",
        choices=("systems", "documents", "items"),
        default="items",
        help="what is dealt into the parts (default: %(default)s)",
    )
    add("--seeds", type=int, default=20, metavar="N", help="deals (default: %(default)s)")
    add(
        "--samples",
        type=int,
        default=1000,
        metavar="N",
        help="resamples, permutations (default: %(default)s)",
    )
    add("--seed", type=int, default=12345, metavar="N", help="(default: %(default)s)")


def _printing(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-f", "--format", choices=FORMATS, default="json", help="(default: %(default)s)")
    add("-w", "--width", type=int, default=3, metavar="N", help="decimals (default: %(default)s)")
    add("--plots", metavar="DIR", help="write charts there (extra `report`)")
    add("--plot-format", choices=("png", "svg"), default="png", help="(default: %(default)s)")
