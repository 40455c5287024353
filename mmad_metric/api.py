"""The Python face: `rate(sources, translations, lp="en-de")` and its result."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from mmad_metric.beside import look_beside
from mmad_metric.blocking import run_blocking
from mmad_metric.calls.connect import role_costs
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, InputError, described
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.repeats import RatedRow, determinism_warning, rated_rows
from mmad_metric.results import SystemTotals, observed
from mmad_metric.session import Plan, open_session

log = logging.getLogger(__name__)

OnRating = Callable[[SegmentRating], None]


@dataclass(frozen=True, slots=True)
class MMADResult:
    """Ratings of one system's segments, in input order, and their totals.

    With the setting `repeats` a segment has several ratings, one after the other, and its score
    is their mean.
    """

    ratings: tuple[SegmentRating, ...]
    totals: SystemTotals
    signature: str

    @property
    def score(self) -> float | None:
        """The system score: mean over the scored segments; <= 0, 0 is perfect, higher is
        better (method gemba-da: from 0 to 100). None when no segment was scored."""
        return self.totals.score

    @property
    def scores(self) -> list[float | None]:
        """Segment scores; None where unscored or not sampled."""
        return [row.score for row in self.rows]

    @property
    def rows(self) -> list[RatedRow]:
        """A segment each, with its ratings."""
        return list(rated_rows(self.ratings))

    def to_dict(self, *, return_debates: bool = False) -> dict[str, Any]:
        """The result as `evaluate` users get it; see docs/python.md for every key."""
        totals, rows = self.totals.to_dict(), self.rows
        reasons = [row.reason for row in rows]
        result: dict[str, Any] = {
            "score": self.score,
            "scores": [row.score for row in rows],
            "spans": [_spans(row) for row in rows],
            "statuses": [row.status.value for row in rows],
            "reasons": [reason.value if reason else None for reason in reasons],
            "n_segments": totals["n_segments"],
            "n_scored": totals["n_scored"],
            "n_unscored": totals["n_unscored"],
            "n_not_sampled": totals["n_not_sampled"],
            **self.totals.repeated(),
            **self.totals.error_counts(),
            "usage": totals["usage"],
            "signature": self.signature,
        }
        if self.totals.repeats > 1:
            result["score_sds"] = [row.deviation for row in rows]
        if return_debates:
            result["debates"] = [_debates(row) for row in rows]
        return result


def _spans(row: RatedRow) -> list[dict[str, Any]]:
    """A segment's errors; where it was rated several times, each with the repeat it is of."""
    return [
        {**error.to_dict(), **({"repeat": rating.segment.repeat} if row.is_repeated else {})}
        for rating in row.ratings
        for error in rating.errors
    ]


def _debates(row: RatedRow) -> Any:
    """What was said by dimension; where it was rated several times, a list of it by repeat."""
    said = [
        {outcome.dimension: outcome.to_dict() for outcome in rating.outcomes}
        for rating in row.ratings
    ]
    return said if row.is_repeated else said[0]


def rate(
    sources: Iterable[str],
    translations: Iterable[str],
    *,
    references: Iterable[Any] | None = None,
    on_rating: OnRating | None = None,
    config: MMADConfig | None = None,
    **options: Any,
) -> MMADResult:
    """Rate translations segment by segment.

    sources, translations: as many of each, one segment an item; references: a string, a list of
    strings or None for each; the first is shown to the agents with `use_reference`, else they
    are not used (a warning says so); on_rating: called with each rating, in input order, as it
    gets ready; options: `docs`, the document of each segment (for `context`), and the fields of
    MMADConfig (`lp="en-de"`, `model=…`, `base_url=…`), or a whole `config` instead of these.
    Works inside a running event loop, from any thread.

    Raises InputError, ConfigError before any call; RunStopped when the server refuses the run
    (finished replies stay in the cache: rating again goes on from there).
    """
    if on_rating is not None and not callable(on_rating):
        raise ConfigError(f"on_rating: expected a function, not {_shown(on_rating)}")
    plan, segments = prepare((sources, translations, references), config, options)
    return run_blocking(lambda: _rate(plan, segments, on_rating))


async def rate_async(
    sources: Iterable[str],
    translations: Iterable[str],
    *,
    references: Iterable[Any] | None = None,
    on_rating: OnRating | None = None,
    config: MMADConfig | None = None,
    **options: Any,
) -> MMADResult:
    """`rate` for callers that are async themselves."""
    plan, segments = prepare((sources, translations, references), config, options)
    return await _rate(plan, segments, on_rating)


def prepare(
    texts: tuple[Any, Any, Any], config: MMADConfig | None, options: Mapping[str, Any]
) -> tuple[Plan, list[Segment]]:
    """Check texts (sources, translations, references) and settings; no call is made."""
    if config is not None and not isinstance(config, MMADConfig):
        raise ConfigError(f"config: expected an MMADConfig, not {_shown(config)}")
    settings = {name: value for name, value in options.items() if name != "docs"}
    if config is not None and settings:
        raise ConfigError("give a config or single options, not both")
    plan = Plan.of(config or MMADConfig.of(**settings))
    sources, translations = as_texts("sources", texts[0]), as_texts("translations", texts[1])
    if len(sources) != len(translations):
        raise InputError(
            f"{len(sources)} sources but {len(translations)} translations: expected one source "
            "for each translation"
        )
    if texts[2] is not None and not plan.config.use_reference:
        warnings.warn("references are not used by this metric", stacklevel=3)
    doubt = determinism_warning(plan.config)
    if doubt is not None:
        warnings.warn(doubt, stacklevel=3)
    docs = _docs(options.get("docs"), len(sources))
    references = _first_references(texts[2] if plan.config.use_reference else None, len(sources))
    rows = zip(sources, translations, docs, references, strict=True)
    segments = [
        Segment(source, translation, index=index, doc=doc, reference=reference)
        for index, (source, translation, doc, reference) in enumerate(rows)
    ]
    for notice in look_beside(segments, plan.config).notices():
        log.warning("%s", notice)
    return plan, segments


def _docs(values: Any, n_rows: int) -> list[str | None]:
    """The document of each row. Raises InputError."""
    if values is None:
        return [None] * n_rows
    docs = as_texts("docs", values)
    if len(docs) != n_rows:
        raise InputError(f"{len(docs)} docs but {n_rows} translations: expected one for each")
    return list(docs)


def _first_references(values: Any, n_rows: int) -> list[str | None]:
    """The first reference of each row, None where it has none. Raises InputError."""
    if values is None:
        return [None] * n_rows
    if isinstance(values, (Mapping, AbstractSet, str, bytes)) or not isinstance(values, Iterable):
        raise InputError(
            f"references: expected a string or a list of strings for each segment, not "
            f"{_shown(values)}"
        )
    rows = list(values)
    if len(rows) != n_rows:
        raise InputError(f"{len(rows)} references but {n_rows} translations: one for each")
    return [_first(f"references[{index}]", row) for index, row in enumerate(rows)]


def _first(name: str, value: Any) -> str | None:
    if value is None:
        return None
    texts = as_texts(name, [value] if isinstance(value, str) else value)
    return texts[0] if texts else None


def as_texts(name: str, values: Any) -> list[str]:
    """A list of strings from any iterable of strings. Raises InputError with the index."""
    # A dict or a table would be read as its keys, a set in no order at all.
    unordered = isinstance(values, (Mapping, AbstractSet)) or hasattr(values, "columns")
    if unordered or isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"{name}: expected a list of strings, not {_shown(values)}")
    texts = list(values)
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{name}[{index}]: expected a string, not {_shown(text)}")
    return [str(text) for text in texts]


def _shown(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return repr(value)
    return described(value)


async def _rate(plan: Plan, segments: list[Segment], on_rating: OnRating | None) -> MMADResult:
    totals = SystemTotals("", plan.scheme, cost=role_costs(plan.config))
    ratings: list[SegmentRating] = []
    async with open_session(plan) as session:
        async for rating in session.rate(segments, len(segments)):
            totals.add(rating)
            ratings.append(rating)
            if on_rating is not None:
                on_rating(rating)
    if totals.n_unscored:
        log.warning("%s", _complaint(totals))
    return MMADResult(tuple(ratings), totals, plan.signature(observed([totals])))


def _complaint(totals: SystemTotals) -> str:
    """For those who only look at the score: on how many segments it does not stand, and why."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(totals.reasons.items()))
    example = next(iter(totals.examples.values()), "")
    told = f", such as: {example}" if example else ""
    return f"{totals.n_unscored} of {totals.n_rated} segments are unscored: {reasons}{told}"
