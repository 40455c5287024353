"""What to read, and whether that can be meant, before any file is opened."""

from __future__ import annotations

from dataclasses import dataclass

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.corpus import Corpus
from mmad_metric.files.lines import STDIN, UTF8


@dataclass(frozen=True, slots=True)
class InputSpec:
    """The files to read, as paths; "-" is standard input. See `open_inputs`.

    systems: None: standard input, a system in each tab-separated column; lines: all files are
    plain lines, whatever they are called; corpus: a test set that gives sources and references;
    encoding: of all files but the corpus's; num_refs: the tab-separated references that each line
    of the one file of references has; need_sources: whether rows without a source are refused;
    baseline: whether the first of the columns of standard input is called Baseline; doc_ids: a
    file with the document of each row.
    """

    sources: str | None
    systems: tuple[str, ...] | None
    references: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    tsv: bool = False
    lines: bool = False
    corpus: Corpus | None = None
    encoding: str = UTF8
    num_refs: int = 1
    need_sources: bool = True
    baseline: bool = False
    doc_ids: str | None = None

    @property
    def has_sources(self) -> bool:
        return self.sources is not None or self.corpus is not None

    def table(self, path: str) -> str | None:
        """The table format that a file is in by its name."""
        return None if self.lines else table_format(path)


def check_spec(spec: InputSpec) -> None:
    """Raises InputError or ConfigError for what contradicts itself."""
    if spec.systems is not None and not spec.systems:
        raise InputError("no system is given: at least one file of translations is needed")
    lines_only = [path for path in (spec.sources, *spec.references) if path is not None]
    systems = (STDIN,) if spec.systems is None else spec.systems
    if [*lines_only, *systems, spec.doc_ids].count(STDIN) > 1:
        raise InputError("standard input ('-') can be one of the files, not several")
    for path in lines_only:
        # sacreBLEU's references are lines, tab-separated ones too, whatever the file is called.
        if spec.table(path) == "jsonl" or (spec.table(path) and path == spec.sources):
            raise InputError(
                f"{path}: sources and references are read from plain lines; "
                "a table with sources and references is given as the system's file; --lines says "
                "that this file holds lines"
            )
    if spec.systems is None and spec.need_sources and not spec.has_sources:
        raise InputError(
            "standard input holds systems, a column each: give the sources as well (-s, or a test "
            "set, -t); a table of sources and translations is read with -i -"
        )
    if spec.num_refs < 1:
        raise ConfigError(f"-nr {spec.num_refs}: at least one reference a line")
    if spec.num_refs != 1 and len(spec.references) != 1:
        raise InputError(
            f"-nr {spec.num_refs} is about one file of tab-separated references; "
            f"{len(spec.references)} are given"
        )


def table_format(path: str) -> str | None:
    """The table format that the path's extension names, if any."""
    bare = path.lower().removesuffix(".gz")
    return next((name for name in ("jsonl", "tsv") if bare.endswith(f".{name}")), None)
