"""The metric inside a training loop: `compute_metrics` for transformers' Trainer.

metrics = trainer_metrics(tokenizer, lp="en-de", model="gpt-4o-mini", sample=100)
Seq2SeqTrainer(..., compute_metrics=metrics)
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mmad_metric.api import MMADResult, as_texts, rate
from mmad_metric.config import MMADConfig, check_names
from mmad_metric.errors import ConfigError, InputError, RunStopped
from mmad_metric.integrations.decoding import decoded
from mmad_metric.integrations.ranks import from_main, is_main, n_processes
from mmad_metric.method_space import METHOD_FACTS
from mmad_metric.results import ERROR_COUNTS
from mmad_metric.scales import Scale

ON_FAILURE = ("nan", "raise")
PREFIX = "mmad_"
OWN_OPTIONS = ("sources", "n_segments", "on_failure", "min_scored")

log = logging.getLogger(__name__)


def trainer_metrics(
    tokenizer: Any,
    *,
    sources: Iterable[str] | None = None,
    n_segments: int | None = None,
    on_failure: str = "nan",
    min_scored: float = 0.5,
    **options: Any,
) -> TrainerMetrics:
    """A `compute_metrics` that rates the translations of each evaluation.

    tokenizer: decodes predictions (and inputs). sources: the evaluation set's sources, in the
    order in which it is evaluated; without them the training arguments need
    `include_for_metrics=["inputs"]`. n_segments: rows of the evaluation set: several processes
    repeat some rows to fill the last batch, and those beyond n_segments are left out (with
    `sources`, their number counts). on_failure: "nan" goes on training, with a score of NaN,
    when an evaluation cannot be rated; "raise" ends it. min_scored: the share of the segments
    to be rated, 0 to 1, that must be scored for the evaluation to have a score.
    options: those of MMADConfig (`lp=`, `model=`, `base_url=`, `sample=`, ...).

    Raises ConfigError, InputError, PackError here and now, before any call, for whatever can be
    known before training: an option, a missing key, a prompt pack, a local model.
    """
    if not callable(getattr(tokenizer, "batch_decode", None)):
        raise ConfigError(
            f"tokenizer: expected one of transformers, with batch_decode, not {tokenizer!r:.60}"
        )
    policy = _Policy(on_failure, min_scored)
    texts = None if sources is None else as_texts("sources", sources)
    _check_count(n_segments)
    if texts is not None and n_segments not in (None, len(texts)):
        raise ConfigError(f"n_segments is {n_segments}, but there are {len(texts)} sources")
    check_names(options, OWN_OPTIONS)
    config = MMADConfig.of(**options)
    for name in ("context", "use_reference"):
        if getattr(config, name):
            raise ConfigError(f"{name}: an evaluation in training hands over no {_HANDED[name]}")
    if is_main():
        rate([], [], config=config)  # opens all that a rating needs, and asks nothing
    return TrainerMetrics(tokenizer, config, texts, n_segments, policy)


# What a setting would need, and an evaluation does not have.
_HANDED = {"context": "documents", "use_reference": "references as they were written"}


def _check_count(n_segments: Any) -> None:
    if n_segments is None:
        return
    if isinstance(n_segments, bool) or not isinstance(n_segments, int) or n_segments < 1:
        raise ConfigError(f"n_segments: expected a whole number from 1, not {n_segments!r}")


@dataclass(frozen=True, slots=True)
class _Policy:
    """What to do about an evaluation that could not be rated, and when it counts as one."""

    on_failure: str
    min_scored: float

    def __post_init__(self) -> None:
        if self.on_failure not in ON_FAILURE:
            raise ConfigError(
                f"on_failure: {self.on_failure!r} is not one of {', '.join(ON_FAILURE)}"
            )
        share: Any = self.min_scored
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise ConfigError(f"min_scored: expected a number from 0 to 1, not {share!r}")

    def complaint(self, result: MMADResult) -> str | None:
        """Why the result's score must not be compared with other evaluations'; None if it may.

        A mean over the few segments that came through before a server went down would choose
        the best model by chance.
        """
        totals = result.totals
        if totals.n_scored and totals.n_scored >= self.min_scored * totals.n_rated:
            return None
        reasons = []
        for reason, count in sorted(totals.reasons.items()):
            example = totals.examples.get(reason)
            reasons.append(f"{count} {reason}" + (f", e.g. {example}" if example else ""))
        told = f": {'; '.join(reasons)}" if reasons else ""
        return f"{totals.n_scored} of {totals.n_rated} segments were scored{told}"


class TrainerMetrics:
    """`compute_metrics` for `Seq2SeqTrainer`; made by `trainer_metrics`.

    Gives floats only, under names that never change: `mmad_score` (mean over the scored
    segments, <= 0, higher is better; NaN where there is none to be trusted), `mmad_n_segments`,
    `mmad_n_scored`, `mmad_n_unscored`, `mmad_n_not_sampled`, `mmad_n_major`, `mmad_n_minor`,
    `mmad_n_non_translation` (all NaN but the first two when nothing came back). With method
    gemba-da the score is from 0 to 100 and the last three are not given.

    With torch.distributed the main process alone rates; the others wait and get its numbers.
    `result` is the last evaluation's MMADResult, on the main process, None when it failed.
    """

    result: MMADResult | None = None

    def __init__(
        self,
        tokenizer: Any,
        config: MMADConfig,
        sources: Sequence[str] | None,
        n_segments: int | None,
        policy: _Policy,
    ) -> None:
        self.config = config
        self._tokenizer = tokenizer
        self._sources = sources
        self._n_segments = n_segments if sources is None else len(sources)
        self._policy = policy
        self._texts = _Texts()
        self._scale = METHOD_FACTS[config.method].scale

    def __call__(self, evaluation: Any, *, compute_result: bool = True) -> dict[str, float]:
        """The figures of an evaluation, all of it at once or, with `batch_eval_metrics`, one
        batch after the other up to the one with compute_result.

        Raises InputError when predictions and sources do not belong together, whatever
        `on_failure`: that is a mistake of the set-up, and shows in the first evaluation.
        """
        if not compute_result:
            if is_main():
                self._texts = self._texts.plus(self._read(evaluation))
            return {}
        return from_main(lambda: self._figures(evaluation))

    def _figures(self, evaluation: Any) -> dict[str, float]:
        texts, self._texts, self.result = self._texts, _Texts(), None
        texts = self._trimmed(texts.plus(self._read(evaluation)))
        try:
            result = rate(texts.sources, texts.translations, config=self.config)
        except Exception as error:  # an epoch's figure is worth less than a training run
            if self._policy.on_failure == "raise":
                raise
            return self._failed(
                f"{type(error).__name__}: {error}", _nothing(len(texts.sources), self._scale)
            )
        self.result = result
        complaint = self._policy.complaint(result)
        if complaint is None:
            return _plain(result)
        if self._policy.on_failure == "raise":
            raise RunStopped(f"this evaluation has no score: {complaint}")
        return self._failed(complaint, {**_plain(result), f"{PREFIX}score": math.nan})

    def _failed(self, why: str, figures: dict[str, float]) -> dict[str, float]:
        log.warning("this evaluation has no score, training goes on: %s", why)
        return figures

    def _read(self, evaluation: Any) -> _Texts:
        """The texts of an EvalPrediction; sources only where they come from there."""
        labels = getattr(evaluation, "label_ids", None)
        predictions = getattr(evaluation, "predictions", None)
        translations = decoded(self._tokenizer, "predictions", predictions, labels)
        if self._sources is not None:
            return _Texts(translations=tuple(translations))
        inputs = getattr(evaluation, "inputs", None)
        if inputs is None:
            raise InputError(
                "no sources: give trainer_metrics(sources=[...]), or set "
                'include_for_metrics=["inputs"] in the training arguments'
            )
        sources = decoded(self._tokenizer, "inputs", inputs)
        if len(sources) != len(translations):
            raise InputError(
                f"{len(translations)} predictions but {len(sources)} inputs: give the sources "
                "themselves, trainer_metrics(sources=[...])"
            )
        return _Texts(tuple(sources), tuple(translations))

    def _trimmed(self, texts: _Texts) -> _Texts:
        """As many rows as the evaluation set has, with the sources given for them."""
        rows, expected = len(texts.translations), self._n_segments
        if expected is None:
            if n_processes() > 1:
                log.warning(
                    "several processes evaluate together and may repeat rows to fill the last "
                    "batch: give n_segments=len(eval_dataset) to leave these out"
                )
            return texts
        if rows < expected or (rows > expected and n_processes() == 1):
            what = "sources" if self._sources is not None else "n_segments"
            raise InputError(
                f"{rows} predictions but {expected} {what}: expected those of the set that is "
                "evaluated, one a row"
            )
        sources = texts.sources if self._sources is None else self._sources
        return replace(
            texts, sources=tuple(sources[:expected]), translations=texts.translations[:expected]
        )


@dataclass(frozen=True, slots=True)
class _Texts:
    """Decoded rows."""

    sources: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()

    def plus(self, more: _Texts) -> _Texts:
        return _Texts(self.sources + more.sources, self.translations + more.translations)


def _plain(result: MMADResult) -> dict[str, float]:
    totals = result.totals
    return {
        f"{PREFIX}score": math.nan if result.score is None else result.score,
        f"{PREFIX}n_segments": float(totals.n_segments),
        f"{PREFIX}n_scored": float(totals.n_scored),
        f"{PREFIX}n_unscored": float(totals.n_unscored),
        f"{PREFIX}n_not_sampled": float(totals.n_not_sampled),
        **{f"{PREFIX}{name}": float(totals.errors[name]) for name in _error_names(totals.scale)},
    }


def _error_names(scale: Scale) -> tuple[str, ...]:
    return ERROR_COUNTS if scale.has_errors else ()


def _nothing(rows: int, scale: Scale) -> dict[str, float]:
    """The figures of an evaluation of which nothing came back."""
    names = ("n_unscored", "n_not_sampled", *_error_names(scale))
    return {
        f"{PREFIX}score": math.nan,
        f"{PREFIX}n_segments": float(rows),
        f"{PREFIX}n_scored": 0.0,
        **{f"{PREFIX}{name}": math.nan for name in names},
    }
