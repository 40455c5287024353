"""The inputs that the options name, opened and checked."""

from __future__ import annotations

import argparse
from codecs import lookup

from mmad_metric.cli.terminal import tell
from mmad_metric.errors import InputError
from mmad_metric.files.corpus import Corpus
from mmad_metric.files.input_spec import InputSpec
from mmad_metric.files.inputs import Inputs, open_spec


def open_given(options: argparse.Namespace) -> Inputs:
    """Raises InputError, ConfigError."""
    corpus = _corpus(options)
    paired = options.paired_bs or options.paired_ar
    systems = None if options.systems is None else _systems(options, paired=paired)
    inputs = open_spec(
        InputSpec(
            sources=options.sources,
            systems=systems,
            references=tuple(options.references),
            names=None if options.names is None else tuple(options.names),
            tsv=options.tsv,
            lines=options.lines,
            corpus=corpus,
            encoding=options.encoding,
            num_refs=options.num_refs,
            need_sources=options.rates,
            baseline=paired,
            doc_ids=options.doc_ids,
        )
    )
    if not inputs.n_rows:
        raise InputError(
            f"{', '.join(each.file for each in inputs.systems)}: empty, there is nothing to score"
        )
    _check_number(options, len(inputs.systems), paired=paired)
    if options.overlap and not options.quiet:
        _tell_marks(inputs, options.encoding)
    return inputs


def _tell_marks(inputs: Inputs, encoding: str) -> None:
    """Why BLEU is not what `sacrebleu` prints, which scores a byte-order mark as text."""
    files = inputs.marked_files if lookup(encoding).name != "utf-8-sig" else []
    if files:
        tell(
            f"{', '.join(files)}: the byte-order mark at the start is left out; the sacrebleu "
            "command scores it as part of the first word (but for -e utf-8-sig)"
        )


def _corpus(options: argparse.Namespace) -> Corpus | None:
    if options.test_set is None:
        if options.origlang is not None or options.subset is not None:
            raise InputError("-ol and --subset take rows of a test set: name one with -t")
        return None
    if options.references or options.num_refs != 1:
        raise InputError("-t gives the references: name no files of them, and no -nr")
    if options.sources is not None:
        raise InputError("-t and -s both give the sources: choose one")
    from mmad_metric.cli.test_sets import open_corpus

    return open_corpus(options)


def _systems(options: argparse.Namespace, *, paired: bool) -> tuple[str, ...]:
    """The files of -i. In a test, `-i base.txt *.txt` names the baseline twice: once will do."""
    first, *others = options.systems
    if not paired or options.names is not None or first not in others:
        return tuple(options.systems)
    if not options.quiet:
        tell(f"{first} is the baseline already; it is not compared with itself")
    return (first, *(other for other in others if other != first))


def _check_number(options: argparse.Namespace, n_systems: int, *, paired: bool) -> None:
    """As in sacreBLEU."""
    if paired and n_systems == 1:
        raise InputError("--paired-bs and --paired-ar compare systems: one alone is given (-i)")
    if options.confidence and n_systems > 1:
        raise InputError("--confidence is for one system: for several use --paired-bs")
    if options.sentence_level and not options.rates and n_systems > 1:
        raise InputError("-sl with sacreBLEU's metrics is for one system")
