"""The Hugging Face face: M-MAD as a metric of `evaluate`.

`evaluate.load` copies this file alone into a cache and runs the copy there, under another name:
imports are absolute, in a line of their own and without comment, and nothing here is kept
outside an instance.
"""

from __future__ import annotations

import importlib
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import evaluate

from mmad_metric.api import rate
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.metric_inputs import Row, check_encodable, check_text, columns, read_rows
from mmad_metric.metric_options import (
    DOCS,
    check_at_load,
    checked,
    of_config_name,
    option_lines,
    refuse,
    settings,
)

_DESCRIPTION = """\
M-MAD rates machine translation without references. Large language models look for MQM errors in
four dimensions (accuracy, fluency, terminology, style), debate the severe ones, and a judge
merges what stands. A segment's score is minus the sum of its error weights; every error comes
with its words, their place in the text, its category and its severity.

Rating calls a server that speaks OpenAI's chat completions, and may cost money: by default 4
calls for a segment without errors, at most 33 for one with severe errors in every dimension.
Replies are kept in a cache on disk, so that rating the same again costs nothing.
"""

_CITATION = """\
@inproceedings{feng-etal-2025-mmad,
    title = "{M}-{MAD}: Multidimensional Multi-Agent Debate for Advanced Machine Translation
      Evaluation",
    author = "Feng, Zhaopeng and Su, Jiayuan and Zheng, Jiamei and Ren, Jiahan and Zhang, Yan and
      Wu, Jian and Wang, Hongwei and Liu, Zuozhu",
    booktitle = "Proceedings of the 63rd Annual Meeting of the Association for Computational
      Linguistics (Volume 1: Long Papers)",
    year = "2025",
    pages = "7084--7107",
    url = "https://aclanthology.org/2025.acl-long.351/",
    note = "arXiv 2412.20127",
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: list of translations, one string a segment.
    sources: list of source segments, as many.
    references: not needed; the first of each segment is shown to the agents with use_reference,
        else they are not used, and a warning says so when they are given.
    docs, at compute only: the document of each segment, those added before included; context
        needs it.
    return_debates: whether the result tells what was said in each dimension (default: False).
    config_name, at load only: a preset, see below, or else short for model.
    Every other setting is an option, at load or (stronger) at compute; see the list below. Two
    of them share their name with settings of evaluate: seed is that of the sample, and timeout
    is also, with num_process > 1, how many seconds processes wait for each other. The option
    cache is the folder of the model's replies; evaluate's cache_dir is where several processes
    hand over their segments.
Returns a dict:
    score: mean of the segment scores; 0 is perfect, lower is worse, never above 0. With method
        gemba-da from 0 to 100, higher is better. None when no segment was scored.
    scores: a score for each segment; None where unscored.
    spans: for each segment a list of errors: text, start, end (code points, half-open, into the
        translation or source as given; None when the words were not found), side, category,
        severity, dimension, placement, and how the error came to be (provenance).
    statuses, reasons: for each segment "scored", "unscored" or "not_sampled", and why unscored.
    n_segments, n_scored, n_unscored, n_not_sampled: numbers of segments.
    n_major, n_minor, n_non_translation: numbers of errors in the scored segments.
    by_dimension: numbers of errors and penalty points by dimension.
    with method gemba-da, which has no errors, instead of these four: scale.
    usage: calls and tokens, as first paid, in all and by role.
    with repeats above 1: repeats, n_ratings, n_ratings_scored; noise_sd, the standard deviation
        between a segment's repeats; score_sds, the same for each segment; a span tells its
        repeat, and the numbers of errors are those of all repeats together.
    signature: what the numbers depend on, to be quoted with them.
Ranks other than 0 (num_process, process_id) make no call and get None.
Examples:
    With OPENAI_API_KEY set, or OPENAI_BASE_URL naming a server:

    >>> import evaluate
    >>> mmad = evaluate.load("mmad", lp="en-de")
    >>> results = mmad.compute(
    ...     predictions=["Das Haus ist rot."], sources=["The house is red."]
    ... )
    >>> results["n_segments"], len(results["scores"])
    (1, 1)

Options:
"""

_HOME = "mmad_metric.mmad"
_INPUTS = {"predictions": "prediction", "sources": "source", "references": "reference"}
# What the base class takes for itself. It swallows any other keyword in silence.
_OF_EVALUATE = (
    "keep_in_memory",
    "cache_dir",
    "num_process",
    "process_id",
    "experiment_id",
    "hash",
    "max_concurrent_cache_files",
)


class Mmad(evaluate.Metric):  # type: ignore[misc]
    """Rates translations; see `compute` and, for the options, `inputs_description`.

    A single process keeps its segments in memory, so that no two of them can meet in a file and
    no folder needs to be writable. With num_process > 1 they travel through evaluate's files.
    """

    # The base class's own: the files of all ranks, and the locks on them, while rank 0 rates.
    file_paths: list[str] | None
    filelocks: list[Any] | None

    def __init__(self, config_name: str | None = None, **options: Any) -> None:
        base = {name: options.pop(name) for name in _OF_EVALUATE if name in options}
        self._rows: list[Row] = []
        self._options = checked(of_config_name(config_name, options), also=_OF_EVALUATE)
        check_at_load(self._options)
        self._base = dict(base)
        if "seed" in self._options:
            base["seed"] = self._options["seed"] % 2**32  # all that numpy takes
        if "timeout" in self._options:
            base["timeout"] = self._options["timeout"]
        super().__init__(config_name=config_name, **base)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: settings and added segments, to be read in any process where the package
        is installed. The class here may be a copy that only this process can import."""
        if self.writer is not None:
            raise InputError("segments shared by several processes (num_process) stay in them")
        again = importlib.import_module(_HOME).Mmad.again
        options = {**self._base, **self._options}
        return again, (self.config_name, options, self._rows)

    @classmethod
    def again(cls, config_name: str, options: dict[str, Any], rows: list[Row]) -> Mmad:
        """The metric that `__reduce__` took apart."""
        metric = cls(config_name, **options)
        metric._rows = rows
        return metric

    def __len__(self) -> int:
        """The number of segments added so far."""
        return len(self._rows) if self.num_process == 1 else int(super().__len__())

    def add_batch(
        self,
        *,
        predictions: Any = None,
        sources: Any = None,
        references: Any = None,
        **others: Any,
    ) -> None:
        """Add segments to be rated by `compute`. Raises InputError naming the bad one."""
        refuse(others, _INPUTS)
        rows = read_rows(predictions, sources, references)
        if self.num_process == 1:
            self._rows += rows
            return
        check_encodable(rows)
        super().add_batch(**columns(rows))

    def add(
        self, *, prediction: Any = None, source: Any = None, reference: Any = None, **others: Any
    ) -> None:
        """Add one segment to be rated by `compute`. Raises InputError when it is not text."""
        # evaluate's own `add` and `combine` name the inputs in the plural.
        given = {"predictions": prediction, "sources": source, "references": reference}
        given |= {name: others.pop(name) for name in _INPUTS if name in others}
        refuse(others, [*_INPUTS.values(), *_INPUTS])
        if given["references"] is not None:
            given["references"] = [given["references"]]
        for name in ("predictions", "sources"):
            check_text(_INPUTS[name], given[name])
        self.add_batch(
            predictions=[given["predictions"]],
            sources=[given["sources"]],
            references=given["references"],
        )

    def compute(
        self,
        *,
        predictions: Any = None,
        sources: Any = None,
        references: Any = None,
        **options: Any,
    ) -> Any:
        """Rate the segments given and those added before; see below.

        Raises InputError, ConfigError before any call; segments added before are kept then.
        Raises RunStopped when the server refuses the run: the segments are to be given again,
        their finished replies come out of the cache.
        """
        docs = options.pop(DOCS, None)
        self._checked(options)
        rows = []
        if not (predictions is None and sources is None and references is None):
            rows = read_rows(predictions, sources, references)
        elif len(self) == 0:
            raise InputError("nothing to rate: give predictions and sources, or add them before")
        if docs is not None:
            options[DOCS] = docs
        if self.num_process > 1:
            return self._compute_together(rows, options)
        added, self._rows = self._rows, []
        try:
            return self._compute(**columns([*added, *rows]), **options)
        except (InputError, ConfigError):
            self._rows = [*added, *self._rows]
            raise

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION + option_lines(),
            features=datasets.Features(
                {"predictions": text, "references": datasets.Sequence(text), "sources": text}
            ),
            reference_urls=[
                "https://aclanthology.org/2025.acl-long.351/",
                "https://arxiv.org/abs/2412.20127",
            ],
        )

    def _build_data_dir(self) -> str:
        """The folder where processes hand over segments; made only where there are several."""
        name = re.sub(r"\W+", "-", self.config_name)  # a model's name may look like a path
        folder = Path(self._data_dir_root, self.name, name)
        if self.num_process == 1 or _writable(folder):
            return str(folder)
        user = os.getuid() if hasattr(os, "getuid") else 0
        own = Path(tempfile.gettempdir(), f"mmad-metric-{user}")
        substitute = own / name
        # Anybody may make folders there: ours is one that nobody else can read or own.
        if not (_writable(own, mode=0o700) and own.stat().st_uid == user and _writable(substitute)):
            raise InputError(f"{folder} is not writable: give cache_dir, a folder that is")
        warnings.warn(
            f"{folder} is not writable: processes meet in {substitute}, which other machines do "
            "not see. Give cache_dir, a folder that they share.",
            stacklevel=2,
        )
        return str(substitute)

    def _compute(
        self, *, predictions: Any, sources: Any, references: Any = None, **options: Any
    ) -> dict[str, Any]:
        docs = options.pop(DOCS, None)
        config, return_debates = settings(self._options, self._checked(options))
        given = references if references and any(references) else None
        result = rate(sources, predictions, references=given, config=config, docs=docs)
        return result.to_dict(return_debates=return_debates)

    def _compute_together(self, rows: list[Row], options: Mapping[str, Any]) -> Any:
        """The base class gathers all processes' segments on rank 0 and calls `_compute` there."""
        self.file_paths = self.filelocks = None
        inputs = columns(rows) if rows or self.writer is None else {}
        try:
            return super().compute(**inputs, **options)
        except BaseException:
            self._let_go()
            raise

    def _let_go(self) -> None:
        """After a failure the base class would keep its locks, and the other ranks wait."""
        held = zip(self.file_paths or (), self.filelocks or (), strict=True)
        for path, lock in reversed(list(held)):
            Path(path).unlink(missing_ok=True)
            lock.release()

    def _checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options of compute that go with those of load. Raises ConfigError."""
        given = checked(options, also=_INPUTS)
        settings(self._options, given)
        return given


def _writable(folder: Path, mode: int = 0o777) -> bool:
    """Whether files can be made in the folder, which is made where it is missing."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
