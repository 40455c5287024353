"""The options that sacreBLEU has and the method of this package has not: names as there."""

from __future__ import annotations

import os
from typing import Any

from mmad_metric.errors import ConfigError
from mmad_metric.version import __version__

METRICS = ("mmad", "bleu", "chrf", "ter")
FORMATS = ("json", "text", "latex")
SMOOTHING = ("none", "floor", "add-k", "exp")
MOST_DECIMALS = 1074  # no float has more

ABSENT = """\
sacreBLEU's options are all here, with its names and meanings, but for one: -s is the source
file, so that smoothing has its long name alone (--smooth-method). These differ: -m is mmad
unless told otherwise; -w is 2 for MMAD, 1 for the others; -i - is standard input; .tsv and
.jsonl files are tables unless --lines says otherwise; -sl takes several systems where mmad
rates them.
"""


def add_test_set(group: Any) -> None:
    """-t, and which of its rows."""
    group.add_argument(
        "-t",
        "--test-set",
        metavar="SET",
        help="take sources and references from a test set that sacreBLEU knows "
        "(see --list), or several, comma-separated",
    )
    group.add_argument(
        "-ol",
        "--origlang",
        metavar="LANG",
        help="only sentences whose original language this is; non-LANG: is not",
    )
    group.add_argument(
        "--subset", metavar="REGEX", help="only sentences whose document annotation matches"
    )


def add_test_sets(group: Any) -> None:
    """-t and all that belongs to it."""
    add_test_set(group)
    group.add_argument(
        "--echo",
        nargs="+",
        metavar="FIELD",
        help="print fields of the test set (src, ref, docid, … or all) and quit",
    )
    group.add_argument(
        "--list",
        action="store_true",
        dest="list_sets",
        help="list the test sets (with -l: of a pair; with -t: its fields)",
    )
    group.add_argument(
        "--citation",
        "--cite",
        action="store_true",
        help="print the BibTeX entry of the test set and quit",
    )
    group.add_argument("--download", metavar="SET", help="fetch a test set and quit")


def add_input(group: Any) -> None:
    """How references and texts are read."""
    group.add_argument(
        "-nr",
        "--num-refs",
        type=int,
        default=1,
        metavar="N",
        help="tab-separated references a line of the one REF file (default: 1)",
    )
    group.add_argument(
        "-e", "--encoding", default="utf-8", help="encoding of the input files (default: utf-8)"
    )


def add_metrics(parser: Any) -> None:
    """-m and the parameters of sacreBLEU's metrics."""
    group = parser.add_argument_group("metrics")
    group.add_argument(
        "-m",
        "--metrics",
        nargs="+",
        choices=METRICS,
        default=["mmad"],
        help="metrics to compute: mmad (the default), and sacreBLEU's bleu, chrf, "
        "ter, which need references",
    )
    _add_bleu(parser.add_argument_group("BLEU"))
    _add_chrf(parser.add_argument_group("chrF"))
    _add_ter(parser.add_argument_group("TER"))


def _add_bleu(group: Any) -> None:
    group.add_argument(
        "--smooth-method",
        choices=SMOOTHING,
        default="exp",
        dest="bleu_smooth_method",
        help="smoothing (default: exp)",
    )
    group.add_argument(
        "-sv",
        "--smooth-value",
        type=float,
        dest="bleu_smooth_value",
        metavar="V",
        help="value for floor (default: 0.1) and add-k (default: 1)",
    )
    group.add_argument(
        "-tok",
        "--tokenize",
        dest="bleu_tokenize",
        metavar="TOK",
        help="none, zh, 13a, intl, char, ja-mecab, ko-mecab, spm, flores101, flores200, spBLEU-1K, "
        "as far as the installed sacreBLEU has them (default: from the target language, else 13a)",
    )
    group.add_argument(
        "-lc", "--lowercase", action="store_true", dest="bleu_lowercase", help="ignore case"
    )
    group.add_argument(
        "--force",
        action="store_true",
        dest="bleu_force",
        help="do not warn of input that looks tokenized",
    )


def _add_chrf(group: Any) -> None:
    for flags, name, default in (
        (("-cc", "--chrf-char-order"), "character n-gram order", 6),
        (("-cw", "--chrf-word-order"), "word n-gram order, 2 is chrF++", 0),
        (("--chrf-beta",), "weight of recall", 2),
    ):
        group.add_argument(
            *flags, type=int, default=default, metavar="N", help=f"{name} (default: {default})"
        )
    for flag, text in (
        ("--chrf-whitespace", "count whitespace as characters"),
        ("--chrf-lowercase", "ignore case"),
        ("--chrf-eps-smoothing", "smooth by epsilon instead of the effective order"),
    ):
        group.add_argument(flag, action="store_true", help=text)


def _add_ter(group: Any) -> None:
    for flag, text in (
        ("--ter-case-sensitive", "mind case"),
        ("--ter-asian-support", "treat Asian characters apart"),
        ("--ter-no-punct", "leave out punctuation"),
        ("--ter-normalized", "normalise and tokenize"),
    ):
        group.add_argument(flag, action="store_true", help=text)


def add_significance(group: Any) -> None:
    """Intervals of one system, tests between several."""
    group.add_argument(
        "-ci",
        "--confidence",
        action="store_true",
        help="95%% interval of one system's score, by bootstrap",
    )
    group.add_argument(
        "-cin",
        "--confidence-n",
        type=int,
        default=1000,
        metavar="N",
        help="resamples for it (default: 1000; below 2: no interval)",
    )
    tests = group.add_mutually_exclusive_group()
    tests.add_argument(
        "-par",
        "--paired-ar",
        action="store_true",
        help="test each system against the first: approximate randomisation",
    )
    tests.add_argument(
        "-pbs",
        "--paired-bs",
        action="store_true",
        help="test each system against the first: paired bootstrap",
    )
    group.add_argument(
        "-parn",
        "--paired-ar-n",
        type=int,
        default=10_000,
        metavar="N",
        help="trials of --paired-ar (default, and for 0: 10000)",
    )
    group.add_argument(
        "-pbsn",
        "--paired-bs-n",
        type=int,
        default=1000,
        metavar="N",
        help="resamples of --paired-bs (default, and for 0: 1000)",
    )
    group.add_argument(
        "-j",
        "--paired-jobs",
        type=int,
        default=1,
        metavar="N",
        help="processes for sacreBLEU's tests, 0: one a system (default: 1)",
    )


def add_report(group: Any) -> None:
    """How results look."""
    group.add_argument(
        "-f",
        "--format",
        choices=FORMATS,
        default="json",
        help="output format (default: json; latex is for several systems; "
        "SACREBLEU_FORMAT beats it)",
    )
    group.add_argument("-b", "--score-only", action="store_true", help="print the score alone")
    group.add_argument(
        "-sl",
        "--sentence-level",
        action="store_true",
        help="print each segment's score, one a line",
    )
    group.add_argument(
        "-w",
        "--width",
        type=int,
        metavar="N",
        help="decimals of scores (default: 2 for MMAD, 1 for the others)",
    )
    group.add_argument(
        "-d",
        "--detail",
        action="store_true",
        help="scores by original language and domain of the test set too",
    )
    group.add_argument("-sh", "--short", action="store_true", help="short signature")
    group.add_argument(
        "-nc",
        "--no-color",
        action="store_true",
        help="no colours (nor with NO_COLOR set, nor into a file)",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")


def add_version(parser: Any) -> None:
    parser.add_argument("-V", "--version", action="version", version=f"mmad {__version__}")


def chosen_format(asked: str) -> str:
    """The format that SACREBLEU_FORMAT names, if it names one, else the one asked for."""
    named = os.environ.get("SACREBLEU_FORMAT", "").lower()
    return named if named in FORMATS else asked


def checked_width(width: int) -> int:
    """The number of decimals that -w asks for. Raises ConfigError for one that no score has."""
    if not 0 <= width <= MOST_DECIMALS:
        raise ConfigError(f"--width: {width} is not from 0 to {MOST_DECIMALS}")
    return width


def unknown_tokenizer(name: str | None) -> str | None:
    """What is wrong with the tokenizer asked for, None where nothing is."""
    if name is None:
        return None
    from sacrebleu import BLEU

    if name in BLEU.TOKENIZERS:
        return None
    return (
        f"argument -tok/--tokenize: invalid choice: {name!r} (choose from "
        + ", ".join(BLEU.TOKENIZERS)
        + ")"
    )


def is_utility(options: Any) -> bool:
    """Whether the options ask for something about test sets, not for scores."""
    return bool(options.list_sets or options.citation or options.download or options.echo)
