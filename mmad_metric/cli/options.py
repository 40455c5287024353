"""The options of `mmad`: sacreBLEU's names wherever it has one, the config's for the rest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from mmad_metric.cli.sacrebleu_options import (
    ABSENT,
    add_input,
    add_metrics,
    add_report,
    add_significance,
    add_test_sets,
    add_version,
    chosen_format,
    is_utility,
    unknown_tokenizer,
)
from mmad_metric.config import MMADConfig, option_fields
from mmad_metric.errors import InputError

_EPILOG = f"""\
subcommands (as the first argument):
  mmad sweep GRID.toml …     rate under a grid of settings; stage 1 is paid for once
  mmad compare RUN …         compare systems from run files: tests, clusters, errors
  mmad report RUN …          runs as one HTML page: spans, debates, filters
  mmad meta-eval --data DIR  hold runs and any metric's scores against human MQM
  mmad export RUN … -o DIR   runs as score files, ratings, MQM TSV, spans
  mmad prompts show|check    print or check the prompts
  mmad local setup           install the embedded model
  mmad register              make evaluate.load("mmad") work
  mmad hub export|push       the metric as a Space of the Hugging Face Hub

environment:
  OPENAI_API_KEY, OPENAI_BASE_URL   as the openai client uses them
  MMAD_CACHE                        folder of the reply cache
  SACREBLEU                         folder of the test sets (default: ~/.sacrebleu)
  SACREBLEU_FORMAT, SACREBLEU_SEED  output format; seed of resampling (12345, or none)
  NO_COLOR                          no colours

exit status: 0 all scored; 1 bad input or settings, or the server refused; 2 usage;
3 finished with unscored segments; 130 interrupted (run it again to go on)

A score is minus the MQM penalty: 0 is perfect, higher is better; the system score is
the mean over the scored segments. With --method gemba-da a score is from 0 to 100.

{ABSENT}"""
# Config fields by the group of --help that they stand in.
_GROUPS = {
    "model": ("model", "base_url", "role_models", "temperature", "max_tokens", "structured",
              "fold_system", "extra_body"),
    "beside the segment": ("context", "glossary", "use_reference"),
    "method": ("method", "prompts", "strategy", "topic", "dispute", "rounds", "turns",
               "full_debate", "skip_stages", "weights"),
    "run": ("sample", "seed", "repeats", "concurrency", "timeout", "max_retries", "reasks",
            "max_cost", "cache"),
}  # fmt: skip
_FLAGS = {"role_models": "--role-model", "skip_stages": "--skip-stage"}
_METAVARS = {
    "model": "MODEL", "base_url": "URL", "role_models": "ROLE=MODEL", "temperature": "T",
    "max_tokens": "N", "extra_body": "JSON", "prompts": "PACK", "rounds": "N", "weights": "SCHEME",
    "context": "N", "glossary": "TSV", "sample": "N", "seed": "N", "repeats": "K",
    "concurrency": "N", "timeout": "S",
    "max_retries": "N", "reasks": "N", "max_cost": "USD", "cache": "DIR",
}  # fmt: skip


def _temperature(text: str) -> float | str:
    return "default" if text == "default" else float(text)


_temperature.__name__ = "number or 'default'"
_TYPES: dict[str, Any] = {
    "temperature": _temperature, "max_tokens": int, "rounds": int, "sample": int, "seed": int,
    "context": int, "repeats": int, "concurrency": int, "timeout": float, "max_retries": int,
    "reasks": int, "max_cost": float, "skip_stages": int,
}  # fmt: skip


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments; argparse prints help and exits 2 on misuse. Raises InputError where
    standard input, which was to hold the translations, is empty."""
    parser = build_parser()
    options = parser.parse_intermixed_args(arguments)
    options.format = chosen_format(options.format)
    options.rates = "mmad" in options.metrics
    # Computed by sacreBLEU's classes, in the order asked for.
    options.overlap = [name.upper() for name in dict.fromkeys(options.metrics) if name != "mmad"]
    if (wrong := unknown_tokenizer(options.bleu_tokenize)) is not None:
        parser.error(wrong)
    if is_utility(options):
        return options
    if options.show_spans and options.format == "latex":
        parser.error("--show-spans prints text or JSON: -f text or -f json, not latex")
    if options.systems is None and not _has_input():
        parser.error("-i/--input is needed: the translations to rate, if not on standard input")
    if options.rates and options.lp is None:
        parser.error("-l/--language-pair is needed, such as -l en-de")
    return options


def _has_input() -> bool:
    """Whether something comes on standard input. A terminal is not waited for. Raises InputError
    where there is an end and nothing before it."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return False
    buffer: Any = getattr(sys.stdin, "buffer", None)
    try:
        if not hasattr(buffer, "peek"):
            return buffer is not None and buffer.read(0) is not None
        if buffer.peek(1):
            return True
    except (OSError, ValueError):
        return False
    raise InputError("standard input is empty and -i names no file: there is nothing to score")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the main command."""
    parser = argparse.ArgumentParser(
        prog="mmad",
        description="Rate machine translation with M-MAD: an LLM annotates MQM errors in four "
        "dimensions, debates their severity and judges; prints a system score. BLEU, chrF and "
        "TER beside it, or alone, as sacreBLEU computes them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_inputs(parser.add_argument_group("input"))
    add_test_sets(parser.add_argument_group("test sets"))
    add_metrics(parser)
    add_settings(parser)
    add_significance(parser.add_argument_group("intervals and significance"))
    _add_output(parser.add_argument_group("output"))
    add_version(parser)
    return parser


def add_inputs(group: Any) -> None:
    """The files, their pair and their names."""
    group.add_argument(
        "references", nargs="*", metavar="REF",
        help="reference files, for bleu, chrf and ter; mmad keeps them in the run file and uses "
        "the first with --use-reference only",
    )  # fmt: skip
    group.add_argument("-s", "--source", metavar="SRC", dest="sources",
                       help="source file, one segment a line")  # fmt: skip
    group.add_argument(
        "-i", "--input", nargs="+", action="extend", metavar="SYS", dest="systems",
        help="translations, one file a system: lines, .tsv (source, translation[, reference]), "
        ".jsonl, any of them .gz, or - for standard input. Without -i: standard input, a system "
        "a tab-separated column",
    )  # fmt: skip
    group.add_argument("-l", "--language-pair", "--lp", dest="lp", metavar="SRC-TGT",
                       help="language pair, such as en-de (needed by mmad and -t)")  # fmt: skip
    group.add_argument("--name", nargs="+", action="extend", metavar="NAME", dest="names",
                       help="names of the systems (default: from the files)")  # fmt: skip
    group.add_argument(
        "--doc-ids", metavar="FILE",
        help="the document of each row, a line each (for --context; also domain, tab, document)",
    )  # fmt: skip
    form = group.add_mutually_exclusive_group()
    form.add_argument("--tsv", action="store_true",
                      help="systems' files are TSV whatever their name")  # fmt: skip
    form.add_argument("--lines", action="store_true",
                      help="all files are plain lines whatever their name")  # fmt: skip
    add_input(group)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """All settings of a rating, by group, and how it is run."""
    for title, names in _GROUPS.items():
        group = parser.add_argument_group(title)
        for name in names:
            _add_setting(group, name)
        if title == "run":
            _add_run(group)


def _add_setting(group: Any, name: str) -> None:
    """An option from a field of the config: name, help, choices and default from there."""
    item = option_fields()[name]
    flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
    text = item.metadata["help"].replace("%", "%%")
    if isinstance(item.default, bool):
        group.add_argument(flag, dest=name, action="store_true", default=None, help=text)
        return
    if item.default not in (None, ()):
        text += f" (default: {item.default})"
    extra: dict[str, Any] = {}
    if isinstance(item.default, tuple):
        extra["action"] = "append"
    group.add_argument(
        flag, dest=name, type=_TYPES.get(name, str), choices=item.metadata.get("choices"),
        metavar=_METAVARS.get(name), help=text, **extra,
    )  # fmt: skip


def _add_run(group: Any) -> None:
    group.add_argument("--no-cache", dest="use_cache", action="store_false", default=None,
                       help="keep no replies: the run cannot be resumed")  # fmt: skip
    group.add_argument("--dry-run", action="store_true",
                       help="no call: print bounds on calls, tokens and cost")  # fmt: skip
    group.add_argument("--strict", action="store_true",
                       help="stop at the first segment that cannot be scored")  # fmt: skip


def _add_output(group: Any) -> None:
    group.add_argument("-o", "--output", metavar="FILE", help="write the run file (.jsonl)")
    group.add_argument("--report", metavar="FILE",
                       help="write an HTML page of it all; see mmad report --help")  # fmt: skip
    group.add_argument("--show-spans", action="store_true",
                       help="print each segment's errors too")  # fmt: skip
    add_report(group)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that the options name, the language pair aside."""
    names = [name for group in _GROUPS.values() for name in group] + ["use_cache"]
    given = {name: getattr(options, name) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def config_from(options: argparse.Namespace) -> MMADConfig:
    """The config that the options name. Raises ConfigError."""
    return MMADConfig.of(options.lp, **given_settings(options))
