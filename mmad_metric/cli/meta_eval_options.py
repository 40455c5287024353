"""The options of `mmad meta-eval`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from mmad_metric.cli.meta_eval_rules import flag, misuse
from mmad_metric.cli.name_lists import name_list
from mmad_metric.errors import ConfigError

FORMATS = ("json", "text", "latex")
_DEFAULTS: dict[str, Any] = {
    "scores": [], "runs": [], "metrics": None, "gold": "mqm", "reference": [],
    "exclude": [],
    "meta_set": "wmt23", "measures": None,
    "confidence": False, "unit": "items", "significance": False, "ranks": False, "spans": False,
    "raters": False, "select": None, "folds": 2, "split": "items", "seeds": 20,
    "samples": 1000, "seed": 12345,
    "format": "json", "width": 3, "plots": None, "plot_format": "png",
}  # fmt: skip
_LEAST = {"seeds": 1, "folds": 2, "seed": 0, "width": 0}
# Of 40 samples one lies outside a 95% interval at each end; 1/(1+19) is the first p of 0.05.
_LEAST_SAMPLES = {
    "confidence": (40, "a 95% interval leaves out a fortieth of them at each end"),
    "raters": (40, "a 95% interval leaves out a fortieth of them at each end"),
    "significance": (19, "fewer exchanges cannot give a p of 0.05"),
    "ranks": (19, "fewer exchanges cannot give a p of 0.05"),
}
EXAMPLES = """examples:
  mmad meta-eval --data wmt23 --lp en-de,zh-en --runs run_en-de.jsonl run_zh-en.jsonl -f text
  mmad meta-eval --data wmt23 --lp zh-en --metrics COMET,BLEU --confidence --significance
  mmad meta-eval --data wmt23 --lp zh-en --select r1.jsonl r2.jsonl r3.jsonl --split documents
  mmad meta-eval --data wmt23 --lp zh-en --raters -f text
A missing score is None, never 0: its pairs are not compared. An option that would change nothing
beside the others is refused. See docs/meta-evaluation.md."""


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Raises ConfigError for numbers out of range; exits with 2 on misuse, as argparse does."""
    parser = _parser()
    given = vars(parser.parse_args(arguments))
    wrong = misuse(given)
    if wrong:
        parser.error(wrong)
    options = argparse.Namespace(**(_DEFAULTS | given))
    for name, least in _LEAST.items():
        if getattr(options, name) < least:
            raise ConfigError(f"{flag(name)}: at least {least}, not {getattr(options, name)}")
    for name, (least, why) in _LEAST_SAMPLES.items():
        if getattr(options, name) and options.samples < least:
            raise ConfigError(
                f"--samples: at least {least} with {flag(name)}, not {options.samples}: {why}"
            )
    return options


def _default(name: str) -> str:
    return f"(default: {_DEFAULTS[name]})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mmad meta-eval",
        description="Hold metrics against human scores: the table of the WMT metrics task, with "
        "intervals and tests; selection on held-out parts; agreement of people.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,  # so that what was given is told from defaults
    )
    compared = parser.add_argument_group("what is compared")
    _data(compared)
    _systems(compared)
    _table(parser.add_argument_group("the table"))
    _questions(parser.add_argument_group("other questions, in place of the table"))
    _chance(parser.add_argument_group("chance"))
    _printing(parser.add_argument_group("output"))
    return parser


def _data(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--data", required=True, metavar="DIR", help="folder in mt-metrics-eval's layout")
    add(
        "-l",
        "--lp",
        required=True,
        type=name_list,
        action="extend",
        metavar="LP[,LP…]",
        help="language pairs",
    )
    add(
        "--scores",
        nargs="+",
        action="extend",
        metavar="DIR",
        help="more score files: NAME_LP.seg.score and .sys.score, or mt-metrics-eval's names in "
        "LP/ or metric-scores/LP/; they take the place of metrics of the same name",
    )
    add("--runs", nargs="+", action="extend", metavar="[NAME=]RUN", help="run files of mmad")
    add(
        "--metrics",
        type=name_list,
        action="extend",
        metavar="NAME[,…]",
        help="only these metrics; with --raters, those to hold beside people",
    )
    add(
        "--gold",
        metavar="NAME|TSV",
        help=f"the human scores {_default('gold')}, or an MQM TSV of WMT; {{lp}} in its path "
        "stands for the pair",
    )
    add(
        "--meta-set",
        choices=("wmt23", "wmt24"),
        help=f"what the meta score averages {_default('meta_set')}",
    )
    add(
        "--measures",
        type=name_list,
        action="extend",
        metavar="NAME[,…]",
        help="measures instead of a meta set",
    )


def _systems(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--reference",
        type=name_list,
        action="extend",
        metavar="NAME|LP=NAME[,…]",
        help="the standard reference, which is no system (default: mt-metrics-eval's for WMT21 to "
        "WMT23, he-en refB; else the first)",
    )
    add(
        "--exclude",
        type=name_list,
        action="extend",
        metavar="SYSTEM[,…]",
        help="systems to leave out, beside those that WMT23 leaves out: synthetic_ref and the "
        "standard reference",
    )


def _table(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--confidence", action="store_true", help="95%% bootstrap intervals of every measure")
    add(
        "--unit",
        choices=("items", "documents"),
        help=f"what --confidence resamples {_default('unit')}",
    )
    add(
        "--significance",
        action="store_true",
        help="PERM-BOTH tests between all metrics shown, on what both scored (some seconds a "
        "pair of metrics)",
    )
    add("--ranks", action="store_true", help="ranks as clusters that tests cannot tell apart")
    add("--spans", action="store_true", help="the runs' error spans beside those of people")


def _questions(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--raters", action="store_true", help="agreement of people with each other, as a ceiling")
    add(
        "--select",
        nargs="+",
        action="extend",
        metavar="RUN|NAME",
        help="pick the best of these on one part of the data, report it on the other; of equally "
        "good ones the one named first",
    )
    add("--folds", type=int, metavar="K", help=f"parts {_default('folds')}")
    add(
        "--split",
        choices=("systems", "documents", "items"),
        help=f"what is dealt into the parts {_default('split')}",
    )
    add("--seeds", type=int, metavar="N", help=f"deals {_default('seeds')}")


def _chance(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--samples",
        type=int,
        metavar="N",
        help="resamples or exchanges of --confidence, --raters (at least 40), --significance and "
        f"--ranks (at least 19) {_default('samples')}",
    )
    add("--seed", type=int, metavar="N", help=_default("seed"))


def _printing(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-f", "--format", choices=FORMATS, help=f"latex: of the table {_default('format')}")
    add("-w", "--width", type=int, metavar="N", help=f"decimals {_default('width')}")
    add(
        "--plots",
        metavar="DIR",
        help="write charts of the table there, over older ones (extra `report`)",
    )
    add("--plot-format", choices=("png", "svg"), help=_default("plot_format"))
