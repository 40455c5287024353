"""sacreBLEU's test sets: found in its cache or fetched by its own code, never without an end."""

from __future__ import annotations

import argparse
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import InputError, MMADError
from mmad_metric.files.corpus import Corpus
from mmad_metric.files.lines import TextFile

_PATIENCE = 30.0  # seconds without a byte, after which a server is taken to be gone


def run_utility(options: argparse.Namespace) -> int:
    """--download, --list, --citation, --echo; returns the exit status."""
    if options.download:
        _download(options)
    elif options.list_sets:
        _list(options)
    elif options.citation:
        _cite(options)
    else:
        _echo(options)
    return EXIT_OK


def open_corpus(options: argparse.Namespace) -> Corpus:
    """Sources, references and documents that -t and -l name, with what -ol and --subset keep of
    them. Raises InputError."""
    from sacrebleu.utils import get_reference_files, get_source_file

    names = _checked(options)
    pair = options.lp
    with sacrebleu_errors(f"test set {options.test_set}, {pair}", quiet=options.quiet):
        sources = tuple(get_source_file(name, pair) for name in names)
        references = [get_reference_files(name, pair) for name in names]
        documents = tuple(filter(None, (_document_file(name, pair) for name in names)))
    if len({len(files) for files in references}) > 1:
        counts = ", ".join(f"{n} has {len(f)}" for n, f in zip(names, references, strict=True))
        raise InputError(f"-t {options.test_set}: not as many references in each: {counts}")
    corpus = Corpus(
        f"{options.test_set} {pair}",
        sources,
        tuple(zip(*references, strict=True)),
        docs=documents if len(documents) == len(names) else (),
    )
    if options.origlang is None and options.subset is None:
        return corpus
    n_rows = sum(1 for _ in corpus.source_file().lines())
    kept = frozenset(_kept_rows(options, options.test_set, n_rows))
    return replace(corpus, kept=tuple(row in kept for row in range(n_rows)))


def _document_file(name: str, pair: str) -> str | None:
    """The file with the document of each row, where the set tells them."""
    dataset = _known(name)
    files = dict(zip(dataset.fieldnames(pair), dataset.get_files(pair), strict=True))
    return files.get("docid")


def subsets_in_detail(options: argparse.Namespace, n_rows: int) -> Iterator[tuple[str, list[int]]]:
    """What -d tells apart, as sacreBLEU names it: a title, and the rows of the whole set."""
    from sacrebleu.utils import filter_subset, get_available_origlangs, get_available_subsets

    sets, pair = options.test_set, options.lp
    if sets is None:
        return
    with sacrebleu_errors(f"-d on {sets}, {pair}", quiet=options.quiet):
        languages = [options.origlang] if options.origlang else get_available_origlangs(sets, pair)
        parts = [options.subset] if options.subset else get_available_subsets(sets, pair)
    for language in languages:
        for part in [None, *parts]:
            with sacrebleu_errors(f"-d on {sets}, {pair}", quiet=options.quiet):
                [rows] = filter_subset([range(n_rows)], sets, pair, language, part)
            if rows:
                yield f"origlang={language} {_part_title(part)}", list(rows)


def _part_title(part: str | None) -> str:
    if part is None:
        return "domain=ALL"
    if part.startswith("country:"):
        return f"country={part.removeprefix('country:')}"
    return f"domain={part}"


def _checked(options: argparse.Namespace) -> list[str]:
    """The names of -t, each of which knows the pair."""
    from sacrebleu.utils import get_langpairs_for_testset

    names = options.test_set.split(",")
    for name in names:
        _known(name)
    if options.lp is None:
        raise InputError(
            f"-t {options.test_set}: a language pair is needed (-l); --list -t shows them"
        )
    for name in names:
        pairs = get_langpairs_for_testset(name)
        if options.lp not in pairs:
            raise InputError(
                f"test set {name!r} has no language pair {options.lp!r}; it has {', '.join(pairs)}"
            )
    return list(names)


def _known(name: str) -> Any:
    from sacrebleu import DATASETS

    if name not in DATASETS:
        raise InputError(f"unknown test set {name!r}; --list shows those that sacreBLEU knows")
    return DATASETS[name]


def _download(options: argparse.Namespace) -> None:
    dataset = _known(options.download)
    pairs = [options.lp] if options.lp else list(dataset.langpairs)
    for pair in pairs:
        if pair not in dataset.langpairs:
            raise InputError(
                f"test set {options.download!r} has no language pair {pair!r}; it has "
                f"{', '.join(dataset.langpairs)}"
            )
        with sacrebleu_errors(f"test set {options.download}, {pair}", quiet=options.quiet):
            dataset.get_files(pair)


def _list(options: argparse.Namespace) -> None:
    from sacrebleu.utils import get_available_testsets, get_available_testsets_for_langpair

    if options.test_set:
        dataset = _known(options.test_set)
        if options.lp:
            _checked(options)
        for pair in [options.lp] if options.lp else list(dataset.langpairs):
            with sacrebleu_errors(f"test set {options.test_set}, {pair}", quiet=options.quiet):
                fields = dataset.fieldnames(pair)
            print(f"{pair}: {', '.join(fields)}")
        return
    if options.lp:
        _pair_shape(options.lp)
        print(f"The available test sets for {options.lp} are:")
        names = get_available_testsets_for_langpair(options.lp)
    else:
        print("The available test sets are:")
        names = get_available_testsets()
    for name in sorted(names):
        print(f"{name:<30}: {(_known(name).description or '').strip()}")


def _pair_shape(pair: str) -> None:
    if pair.count("-") != 1:
        raise InputError(f"-l {pair}: a language pair looks like en-de")


def _cite(options: argparse.Namespace) -> None:
    if not options.test_set:
        raise InputError("--citation needs a test set (-t)")
    for name in options.test_set.split(","):
        citation = _known(name).citation
        if citation:
            print(citation)
        else:
            tell(f"no citation is known for {name}")


def _echo(options: argparse.Namespace) -> None:
    if options.test_set is None or options.lp is None:
        raise InputError("--echo needs a test set (-t) and a language pair (-l)")
    for name in _checked(options):
        files = [TextFile(path) for path in _field_files(options, name)]
        rows = list(zip(*(file.lines() for file in files), strict=False))
        kept: list[int] = _kept_rows(options, name, len(rows))
        for row in kept:
            print("\t".join(text.rstrip() for text in rows[row]))


def _field_files(options: argparse.Namespace, name: str) -> list[str]:
    """The files of the fields that --echo names; "ref" is the first reference of several."""
    dataset, pair, asked = _known(name), options.lp, options.echo
    with sacrebleu_errors(f"test set {name}, {pair}", quiet=options.quiet):
        files = dict(zip(dataset.fieldnames(pair), dataset.get_files(pair), strict=True))
    if asked == ["all"]:
        return list(files.values())
    references = sorted(each for each in files if each.startswith("ref"))
    if references:
        files.setdefault("ref", files[references[0]])
    for field in asked:
        if field not in files:
            raise InputError(
                f"--echo {field}: test set {name} has for {pair} {', '.join(files)}; or all, alone"
            )
    return [files[field] for field in asked]


def _kept_rows(options: argparse.Namespace, sets: str, n_rows: int) -> list[int]:
    """The rows that -ol and --subset keep, of one set or of several, comma-separated."""
    from sacrebleu.utils import filter_subset

    with sacrebleu_errors(f"-ol/--subset of {sets}, {options.lp}", quiet=options.quiet):
        [kept] = filter_subset(
            [list(range(n_rows))], sets, options.lp, options.origlang, options.subset
        )
    return list(kept)


class _Listener(logging.Handler):
    """Keeps sacreBLEU's errors for our message, passes on what else it has to say."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(logging.INFO)
        self.errors: list[str] = []
        self._quiet = quiet

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().strip()
        if record.levelno >= logging.ERROR:
            self.errors.append(text)
        elif not self._quiet:
            tell(text)


@contextmanager
def sacrebleu_errors(what: str, *, quiet: bool) -> Iterator[None]:
    """Whatever sacreBLEU raises or exits with becomes an InputError that begins with `what`.
    Its sockets, which wait for ever by themselves, get a time limit."""
    from sacrebleu import SACREBLEU_DIR

    logger = logging.getLogger("sacrebleu")
    listener = _Listener(quiet=quiet)
    level, propagate, patience = logger.level, logger.propagate, socket.getdefaulttimeout()
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    socket.setdefaulttimeout(_PATIENCE)
    try:
        yield
    except SystemExit:
        raise InputError(f"{what}: {'; '.join(listener.errors) or 'sacreBLEU gave up'}") from None
    except BrokenPipeError:
        raise
    except MMADError as error:
        raise InputError(f"{what}: {error}") from None
    except OSError as error:
        raise InputError(
            f"{what}: not in the cache ({SACREBLEU_DIR}; $SACREBLEU names another), and it could "
            f"not be fetched or written: {error}"
        ) from None
    except Exception as error:  # noqa: BLE001 - sacreBLEU raises plain Exception itself
        said = "; ".join([*listener.errors, f"{type(error).__name__}: {error}"])
        said = " ".join(said.split())
        raise InputError(f"{what}: {said} (cache: {SACREBLEU_DIR})") from None
    finally:
        socket.setdefaulttimeout(patience)
        logger.propagate = propagate
        logger.setLevel(level)
        logger.removeHandler(listener)
