"""The options of `mmad`: sacreBLEU's names wherever it has one, the config's for the rest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from mmad_metric.config import MMADConfig, option_fields
from mmad_metric.version import __version__

DEFAULT_WIDTH = 2
_EPILOG = """\
subcommands (as the first argument):
  mmad compare RUN …         compare systems from run files: tests, clusters, errors
  mmad prompts show|check    print or check the prompts
  mmad local setup           install the embedded model
  mmad register              make evaluate.load("mmad") work
  mmad hub export|push       the metric as a Space of the Hugging Face Hub

environment:
  OPENAI_API_KEY, OPENAI_BASE_URL   as the openai client uses them
  MMAD_CACHE                        folder of the reply cache

exit status: 0 all scored; 1 bad input or settings, or the server refused; 2 usage;
3 finished with unscored segments; 130 interrupted (run it again to go on)

A score is minus the MQM penalty: 0 is perfect, higher is better; the system score is
the mean over the scored segments.
"""
# Config fields by the group of --help that they stand in.
_GROUPS = {
    "model": ("model", "base_url", "role_models", "temperature", "max_tokens", "structured",
              "fold_system", "extra_body"),
    "method": ("prompts", "strategy", "topic", "dispute", "rounds", "turns", "full_debate",
               "skip_stages", "weights"),
    "run": ("sample", "seed", "repeats", "concurrency", "timeout", "max_retries", "reasks",
            "max_cost", "cache"),
}  # fmt: skip
_FLAGS = {"role_models": "--role-model", "skip_stages": "--skip-stage"}
_METAVARS = {
    "model": "MODEL", "base_url": "URL", "role_models": "ROLE=MODEL", "temperature": "T",
    "max_tokens": "N", "extra_body": "JSON", "prompts": "PACK", "rounds": "N", "weights": "SCHEME",
    "sample": "N", "seed": "N", "repeats": "K", "concurrency": "N", "timeout": "S",
    "max_retries": "N", "reasks": "N", "max_cost": "USD", "cache": "DIR",
}  # fmt: skip


def _temperature(text: str) -> float | str:
    return "default" if text == "default" else float(text)


_temperature.__name__ = "number or 'default'"
_TYPES: dict[str, Any] = {
    "temperature": _temperature, "max_tokens": int, "rounds": int, "sample": int, "seed": int,
    "repeats": int, "concurrency": int, "timeout": float, "max_retries": int, "reasks": int,
    "max_cost": float, "skip_stages": int,
}  # fmt: skip


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments; argparse prints help and exits 2 on misuse."""
    parser = build_parser()
    options = parser.parse_intermixed_args(arguments)
    if not options.systems:
        parser.error("-i/--input is needed: the translations to rate")
    if options.lp is None:
        parser.error("-l/--language-pair is needed, such as -l en-de")
    return options


def build_parser() -> argparse.ArgumentParser:
    """The parser of the main command."""
    parser = argparse.ArgumentParser(
        prog="mmad",
        description="Rate machine translation with M-MAD: an LLM annotates MQM errors in four "
        "dimensions, debates their severity and judges; prints a system score.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_inputs(parser.add_argument_group("input"))
    for title, names in _GROUPS.items():
        group = parser.add_argument_group(title)
        for name in names:
            _add_setting(group, name)
        if title == "run":
            _add_run(group)
    _add_output(parser.add_argument_group("output"))
    parser.add_argument("-V", "--version", action="version", version=f"mmad {__version__}")
    return parser


def _add_inputs(group: Any) -> None:
    group.add_argument(
        "references", nargs="*", metavar="REF",
        help="reference files; stored in the run file, not used by the metric",
    )  # fmt: skip
    group.add_argument("-s", "--source", metavar="SRC", dest="sources",
                       help="source file, one segment a line")  # fmt: skip
    group.add_argument(
        "-i", "--input", nargs="+", action="extend", metavar="SYS", dest="systems",
        help="translations, one file a system: lines, .tsv (source, translation[, reference]), "
        ".jsonl, any of them .gz, or - for standard input",
    )  # fmt: skip
    group.add_argument("-l", "--language-pair", "--lp", dest="lp", metavar="SRC-TGT",
                       help="language pair, such as en-de (required)")  # fmt: skip
    group.add_argument("--name", nargs="+", action="extend", metavar="NAME", dest="names",
                       help="names of the systems (default: from the files)")  # fmt: skip
    group.add_argument("--tsv", action="store_true", help="inputs are TSV whatever their name")


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
    group.add_argument("-f", "--format", choices=("json", "text"), default="json",
                       help="output format (default: json)")  # fmt: skip
    group.add_argument("-b", "--score-only", action="store_true", help="print the score alone")
    group.add_argument("-sl", "--sentence-level", action="store_true",
                       help="print each segment's score, one a line")  # fmt: skip
    group.add_argument("--show-spans", action="store_true",
                       help="print each segment's errors too")  # fmt: skip
    group.add_argument("-w", "--width", type=int, default=DEFAULT_WIDTH, metavar="N",
                       help=f"decimals of a score (default: {DEFAULT_WIDTH})")  # fmt: skip
    group.add_argument("-sh", "--short", action="store_true", help="short signature")
    group.add_argument("-q", "--quiet", action="store_true",
                       help="nothing on stderr but errors")  # fmt: skip


def config_from(options: argparse.Namespace) -> MMADConfig:
    """The config that the options name. Raises ConfigError."""
    names = [name for group in _GROUPS.values() for name in group] + ["use_cache"]
    return MMADConfig.of(options.lp, **{name: getattr(options, name) for name in names})
