"""BLEU, chrF and TER, which measure overlap with references, by sacreBLEU's own classes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from mmad_metric.cli.columns import Cell, Column
from mmad_metric.cli.resampling import PairedTest
from mmad_metric.cli.test_sets import sacrebleu_errors
from mmad_metric.errors import InputError
from mmad_metric.files.inputs import Inputs
from mmad_metric.layouts import number

_PARAMETERS = {
    "BLEU": ("smooth_method", "smooth_value", "tokenize", "lowercase", "force"),
    "CHRF": ("char_order", "word_order", "beta", "whitespace", "lowercase", "eps_smoothing"),
    "TER": ("case_sensitive", "asian_support", "no_punct", "normalized"),
}
DEFAULT_WIDTH = 1


class Overlap:
    """sacreBLEU's metrics on the inputs: references read once, systems when they are scored.

    Texts are cut at their right end as sacreBLEU cuts them. Raises InputError where a row has
    no reference, or the systems differ in theirs.
    """

    def __init__(self, options: argparse.Namespace, inputs: Inputs) -> None:
        self._options, self._inputs = options, inputs
        self._width = DEFAULT_WIDTH if options.width is None else options.width
        self._references = _reference_streams(inputs, options.overlap)
        with sacrebleu_errors(", ".join(options.overlap), quiet=options.quiet):
            self._metrics = {name: self._metric(name) for name in options.overlap}

    def _metric(self, name: str) -> Any:
        from sacrebleu import BLEU, CHRF, TER

        options = self._options
        given = {each: getattr(options, f"{name.lower()}_{each}") for each in _PARAMETERS[name]}
        if name == "BLEU":
            # Without the region: what is written in China and in Taiwan is Chinese.
            given["trg_lang"] = (options.lp or "").partition("-")[2].partition("_")[0]
            given["effective_order"] = options.sentence_level
        made: Any = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}[name]
        return made(references=self._references, **given)

    def _system(self, position: int, *, whole: bool = False) -> list[str]:
        name = self._inputs.systems[position].name
        return [text.rstrip() for text in self._inputs.translations(name, whole=whole)]

    def single(self) -> dict[str, str]:
        """The one system by each metric, laid out by sacreBLEU: JSON, a line, or bare."""
        options, texts = self._options, self._system(0)
        as_json = options.format == "json"
        trials = options.confidence_n if options.confidence else 1
        found = {}
        for name, metric in self._metrics.items():
            score = metric.corpus_score(texts, None, n_bootstrap=trials)
            signature = metric.get_signature().format(options.short and not as_json)
            found[name] = score.format(self._width, options.score_only, signature, as_json)
        return found

    def sentences(self) -> list[str]:
        """A line a sentence."""
        options = self._options
        [metric] = self._metrics.values()
        lines = []
        for text, *references in zip(self._system(0), *self._references, strict=True):
            score = metric.sentence_score(text, references)
            signature = metric.get_signature().format(options.short)
            lines.append(str(score.format(self._width, options.score_only, signature)))
        return lines

    def columns(self) -> dict[str, Column]:
        """Several systems by each metric."""
        test = PairedTest.asked(self._options)
        if test is not None:
            return self._tested(test)
        found: dict[str, list[Any]] = {name: [] for name in self._metrics}
        for position in range(len(self._inputs.systems)):
            texts = self._system(position)
            for name, metric in self._metrics.items():
                found[name].append(metric.corpus_score(texts, None))
        return {
            name: Column(
                scores[0].name,
                tuple(Cell(float(score.score)) for score in scores),
                self._metrics[name].get_signature().format(self._options.short),
                self._width,
            )
            for name, scores in found.items()
        }

    def _tested(self, test: PairedTest) -> dict[str, Column]:
        from sacrebleu import significance

        systems: list[tuple[str, Sequence[str]]] = [
            (each.name, self._system(n)) for n, each in enumerate(self._inputs.systems)
        ]
        with sacrebleu_errors("paired test", quiet=True):
            run = significance.PairedTest(
                systems,
                self._metrics,
                references=None,
                test_type=test.method,
                n_samples=test.trials,
                n_jobs=self._options.paired_jobs,
            )
            signatures, results = run()
        return {
            name: Column(
                shown,
                tuple(_cells(results[shown], test.trials)),
                signatures[shown].format(self._options.short),
                self._width,
            )
            # Both give the metrics in the order in which they were asked for.
            for name, shown in zip(self._metrics, signatures, strict=True)
        }

    def on_rows(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """The one system on some rows of the whole test set: each metric's name and score."""
        name = self._inputs.systems[0].name
        whole = self._system(0, whole=True)
        streams = _streams(list(self._inputs.references(name, whole=True)))
        texts = [whole[row] for row in rows]
        references = [[stream[row] for row in rows] for stream in streams]
        scores = [metric.corpus_score(texts, references) for metric in self._metrics.values()]
        return [(score.name, number(score.score, self._width)) for score in scores]


def _reference_streams(inputs: Inputs, metrics: Sequence[str]) -> list[list[str]]:
    first, *others = inputs.systems
    rows = list(inputs.references(first.name))
    for line, row in enumerate(rows, 1):
        if not row:
            raise InputError(
                f"{', '.join(metrics)}: no reference for row {line} of {first.file}; give "
                "reference files (before -i), a test set (-t), or a table with references"
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"{first.file}, row {line}: {len(row)} references, row 1 has {len(rows[0])}"
            )
    for other in others:
        for line, (mine, row) in enumerate(
            zip(inputs.references(other.name), rows, strict=True), 1
        ):
            if mine != row:
                raise InputError(
                    f"the references of {first.file} and {other.file} differ in row {line}"
                )
    return _streams(rows)


def _streams(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [[reference.rstrip() for reference in stream] for stream in zip(*rows, strict=True)]


def _cells(results: Sequence[Any], trials: int) -> list[Cell]:
    """What sacreBLEU found, as plain floats, which NumPy's are not always.

    Its test counts trials that differ *more* than was observed, so that equal systems, of which
    no trial differs at all, get the smallest p there is: theirs is 1.
    """

    def plain(value: Any) -> float | None:
        return None if value is None else float(value)

    cells = []
    for result in results:
        p_value = plain(result.p_value)
        if result.score == results[0].score and p_value == 1 / (trials + 1):
            p_value = 1.0
        cells.append(Cell(float(result.score), plain(result.mean), plain(result.ci), p_value))
    return cells
