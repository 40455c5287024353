"""Rating a Hugging Face data set: texts out of its columns, ratings into new ones."""

from __future__ import annotations

import importlib
import logging
import warnings
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from mmad_metric.api import rate
from mmad_metric.beside import Sizes, look_beside
from mmad_metric.blocking import iterate_blocking
from mmad_metric.calls.connect import role_costs
from mmad_metric.config import MMADConfig, check_names
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.integrations.columns import TextColumns, check_free, find_column
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.results import SystemTotals, observed
from mmad_metric.session import Plan, open_session

log = logging.getLogger(__name__)

RESULT_COLUMNS = ("score", "spans", "status", "reason")
SPAN_TEXTS = ("text", "side", "category", "severity", "dimension", "placement")
SPAN_OFFSETS = ("start", "end")
_CHUNK = 1000  # rows that are turned into an Arrow table together


@dataclass(slots=True)
class DatasetResult:
    """A rated data set and its totals.

    dataset: the one given, with the result columns added. totals: of all rows; of a stream, of
    the rows that its latest pass has given so far (in this process).
    """

    dataset: Any
    totals: SystemTotals
    _plan: Plan = field(repr=False)

    @property
    def score(self) -> float | None:
        """Mean over the scored rows, <= 0 (method gemba-da: 0 to 100), higher is better; None
        when there is none."""
        return self.totals.score

    @property
    def signature(self) -> str:
        """What moved the numbers."""
        return self._plan.signature(observed([self.totals]))

    def to_dict(self) -> dict[str, Any]:
        """Score, counts, errors by dimension, usage and signature, as plain values."""
        totals = {key: value for key, value in self.totals.to_dict().items() if key != "system"}
        return {**totals, "signature": self.signature}


OWN_OPTIONS = (
    "source_column", "translation_column", "reference_column", "doc_column", "prefix"
)  # fmt: skip


def rate_dataset(
    dataset: Any,
    *,
    source_column: str = "source",
    translation_column: str = "translation",
    reference_column: str | None = None,
    prefix: str = "mmad_",
    **options: Any,
) -> DatasetResult:
    """Rate every row of a `Dataset` or `IterableDataset`.

    source_column, translation_column: columns of strings; a field of a column that holds
    mappings is named with a dot, "translation.de". reference_column: shown to the agents with
    `use_reference=True`, else not used (a warning says so). options: those of MMADConfig
    (`lp="en-de"`, `model=...`, `sample=...`), and `doc_column`, the column with each row's
    document, which `context` needs.

    Adds `mmad_score` (float, <= 0, with method gemba-da 0 to 100; None unless scored),
    `mmad_spans` (a list of errors: text, start, end, side, category, severity, dimension,
    placement; offsets as everywhere code points, half-open, None when the words were not found;
    empty with gemba-da), `mmad_status` ("scored", "unscored", "not_sampled") and `mmad_reason`
    (why unscored, else None).

    A stream is rated lazily while it is read, in order, with a bounded number of rows in
    memory, anew on each pass (out of the cache of replies).

    Raises InputError (columns; a row's text that is no string, by its index) and ConfigError
    before any call (a stream's rows are looked at when they come); RunStopped when the server
    refuses the run.
    """
    library = _library()
    _check_kind(library, dataset)
    doc_column = options.pop("doc_column", None)
    check_names(options, OWN_OPTIONS)
    plan = Plan.of(MMADConfig.of(**options))
    streaming = isinstance(dataset, library.IterableDataset)
    if streaming and plan.config.sample is not None:
        raise ConfigError(
            "sample: how many rows a stream has is not known; give stream.take(N) without sample"
        )
    shape = _shape(dataset, streaming=streaming)
    columns = TextColumns.of(shape, source_column, translation_column)
    columns = _beside(
        columns, shape, plan.config, {"reference": reference_column, "doc": doc_column}
    )
    if not isinstance(prefix, str):
        raise ConfigError(f"prefix: expected text, not {prefix!r}")
    check_free(shape, [prefix + name for name in RESULT_COLUMNS], prefix)
    job = _Job(library, plan, columns, prefix)
    if streaming:
        return job.stream(dataset)
    return job.table(dataset)


def _beside(
    columns: TextColumns, shape: Mapping[str, Any], config: MMADConfig, names: Mapping[str, Any]
) -> TextColumns:
    """The columns with those of what is shown beside the texts. Raises InputError where one is
    missing."""
    found = {
        role: find_column(shape, f"{role}_column", name)
        for role, name in names.items()
        if name is not None
    }
    if config.use_reference and "reference" not in found:
        raise InputError("use_reference: name the column of references, reference_column=…")
    if config.context and "doc" not in found:
        raise InputError("context: name the column of each row's document, doc_column=…")
    if "reference" in found and not config.use_reference:
        warnings.warn("references are not used by this metric", stacklevel=3)
        del found["reference"]
    return replace(columns, **found)


def _library() -> Any:
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        raise ConfigError(
            'rate_dataset needs the datasets library: pip install "mmad-metric[evaluate]"'
        ) from error


def _check_kind(library: Any, dataset: Any) -> None:
    if isinstance(dataset, (library.DatasetDict, library.IterableDatasetDict)):
        splits = [str(name) for name in dataset]
        example = f": rate_dataset(dataset[{splits[0]!r}], ...)" if splits else ""
        raise InputError(
            f"rate one split at a time{example}; the splits are {', '.join(splits) or 'none'}"
        )
    if not isinstance(dataset, (library.Dataset, library.IterableDataset)):
        raise InputError(
            f"expected a datasets.Dataset or IterableDataset, not {type(dataset).__name__}; "
            "lists of texts are rated by mmad_metric.rate"
        )


def _shape(dataset: Any, *, streaming: bool) -> Mapping[str, Any]:
    """The features by column; of a stream that does not tell them, the first row instead."""
    if dataset.features is not None or not streaming:
        features: Mapping[str, Any] = dataset.features or {}
        return features
    return next(iter(dataset.with_format(None)), {})


@dataclass(frozen=True, slots=True)
class _Job:
    """What rating takes, however the rows come."""

    library: Any
    plan: Plan
    columns: TextColumns
    prefix: str

    def table(self, dataset: Any) -> DatasetResult:
        """All rows now. They are read twice: nothing is asked before all have been checked."""
        plain = dataset.with_format(None)

        def segments() -> Iterator[Segment]:
            return self.columns.segments(_rows(plain.select_columns(self.columns.heads())))

        for _ in segments():
            pass
        beside = look_beside(segments(), self.plan.config)
        for notice in beside.notices():
            log.warning("%s", notice)
        totals = self._totals()
        ratings = self._ratings(segments(), len(dataset), beside.sizes)
        rows = _counted(iterate_blocking(lambda: ratings), totals)
        library, features = self.library, self._features()
        chunks = []
        while chunk := [self._row(rating) for rating in islice(rows, _CHUNK)]:
            chunks.append(library.Dataset.from_list(chunk, features=features))
        if chunks:
            added = library.concatenate_datasets(chunks)
            rated = library.concatenate_datasets([plain, added], axis=1, split=dataset.split)
        else:
            every = library.Features({**dataset.features, **features})
            rated = library.Dataset.from_dict({name: [] for name in every}, features=every)
        return DatasetResult(rated, totals, self.plan)

    def _totals(self) -> SystemTotals:
        return SystemTotals("", self.plan.scheme, cost=role_costs(self.plan.config))

    def stream(self, dataset: Any) -> DatasetResult:
        """A stream that rates its rows as they are read."""
        rate([], [], config=self.plan.config)  # a missing key is told now, not in an hour
        known, features = dataset.features, None
        plain = dataset.with_format(None)
        if known is not None:
            features = self.library.Features({**known, **self._features()})
            plain = plain.decode(enable=False)  # pictures and sounds pass through as they are
        result = DatasetResult(None, self._totals(), self.plan)

        def rows() -> Iterator[dict[str, Any]]:
            totals = result.totals = self._totals()
            return self._passing(plain, totals)

        named = {} if dataset.split is None else {"split": dataset.split}  # None would be a name
        result.dataset = self.library.IterableDataset.from_generator(
            rows, features=features, **named
        )
        return result

    def _passing(self, rows: Iterable[Any], totals: SystemTotals) -> Iterator[dict[str, Any]]:
        """The rows with their ratings, in order. What goes wrong with a row, or with reading
        it, is raised once all rows before it have been given."""
        waiting: deque[Mapping[str, Any]] = deque()
        failure: list[Exception] = []

        def segments() -> Iterator[Segment]:
            try:
                for index, row in enumerate(rows):
                    segment = self.columns.segment(row, index)
                    waiting.append(row)
                    yield segment
            except Exception as error:  # noqa: BLE001 - raised below, in its place
                failure.append(error)

        ratings = self._ratings(segments(), 0)
        for rating in _counted(iterate_blocking(lambda: ratings), totals):
            yield {**waiting.popleft(), **self._row(rating)}
        if failure:
            raise failure[0]

    async def _ratings(
        self, segments: Iterator[Segment], n_rows: int, sizes: Sizes | None = None
    ) -> AsyncGenerator[SegmentRating]:
        async with open_session(self.plan) as session:
            async for rating in session.rate(segments, n_rows, sizes):
                yield rating

    def _row(self, rating: SegmentRating) -> dict[str, Any]:
        names = (*SPAN_TEXTS, *SPAN_OFFSETS)
        errors = [error.to_dict() for error in rating.errors]
        values = {
            "score": rating.score,
            "spans": [{name: error[name] for name in names} for error in errors],
            "status": rating.status.value,
            "reason": rating.reason.value if rating.reason else None,
        }
        return {self.prefix + name: values[name] for name in RESULT_COLUMNS}

    def _features(self) -> Any:
        """The result columns' types, the same whatever was found: a column of None or of empty
        lists would otherwise get a type of its own."""
        value = self.library.Value
        text = value("string")
        span = {
            **dict.fromkeys(SPAN_TEXTS, text),
            **{name: value("int64") for name in SPAN_OFFSETS},
        }
        types = {"score": value("float64"), "spans": [span], "status": text, "reason": text}
        return self.library.Features({self.prefix + name: types[name] for name in RESULT_COLUMNS})


def _rows(dataset: Any) -> Iterator[Mapping[str, Any]]:
    for batch in dataset.iter(batch_size=_CHUNK):
        for values in zip(*batch.values(), strict=True):
            yield dict(zip(batch, values, strict=True))


def _counted(ratings: Iterator[SegmentRating], totals: SystemTotals) -> Iterator[SegmentRating]:
    for rating in ratings:
        totals.add(rating)
        yield rating
