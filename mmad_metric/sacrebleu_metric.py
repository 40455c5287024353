"""MMAD as one of sacreBLEU's metrics: `corpus_score`, bootstrap and `PairedTest` from Python.

The one module outside the faces that knows sacreBLEU; it loads numpy with it.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from sacrebleu.metrics import METRICS
from sacrebleu.metrics.base import Metric, Score, Signature

from mmad_metric.api import MMADResult, as_texts, rate
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.layouts import DEFAULT_WIDTH, NAME, ShownScore, verbose_score
from mmad_metric.session import Plan
from mmad_metric.signature import format_signature, parse_signature

# Sources, translations, and the references that are shown, if any.
Texts = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]
_HAIR = 1e-6  # points: above what sums in float32 are off by, below any difference of means


class _Gap(float):
    """The difference of two observed scores, which comes out a hair smaller in size."""

    def __abs__(self) -> float:
        return super().__abs__() - _HAIR


class _Observed(float):
    """A score of a whole system, not of a resample.

    sacreBLEU's tests count the resamples that differ by *more* than was observed. Those that
    differ by as much belong to them, and scores that are small whole numbers tie all the time:
    without them a system would be significantly different from its own copy.
    """

    def __sub__(self, other: float) -> float:
        return _Gap(super().__sub__(other))


class MMADSignature(Signature):
    """The signature under the keys of this package. sacreBLEU adds its own when it resamples:
    `bs`, `ar`, `seed`."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        # The base would ask for references and put sacreBLEU's version under `version`.
        self.info: dict[str, Any] = dict(fields)
        self.info |= {"bs": None, "ar": None, "seed": None}

    def fields(self) -> dict[str, str]:
        """Keys and values as text, the version last; keys without a value left out."""
        keys = sorted(self.info, key=lambda key: key == "version")
        return {key: str(self.info[key]) for key in keys if self.info[key] is not None}

    def format(self, short: bool = False) -> str:  # noqa: FBT001, FBT002 - sacreBLEU's interface
        return format_signature(self.fields(), short=short)


class MMADScore(Score):
    """A system's or a segment's score: at most 0, 0 is perfect, higher is better (with method
    gemba-da from 0 to 100).

    score: the mean over the scored segments, NaN where nothing is scored (null in JSON); result:
    the ratings behind it, None for a resampled score; interval: centre and half width of the
    95% interval, in points, if one was asked for and there are two scored segments for it.
    """

    def __init__(self, score: float, result: MMADResult | None = None) -> None:
        super().__init__(NAME, score)
        self.result = result
        self.interval: tuple[float, float] | None = None
        self._verbose = "" if result is None else verbose_score(result.totals)

    @classmethod
    def of(cls, result: MMADResult, resampled: MMADScore | None = None) -> MMADScore:
        """The score of a result, with the interval of `resampled`, if that has one and at least
        two segments are scored."""
        score = cls(math.nan if result.score is None else result.score, result)
        # One segment drawn again and again is no interval.
        if resampled is not None and result.totals.n_scored > 1:
            score.interval = resampled.interval
        return score

    def estimate_ci(self, scores: list[Score]) -> None:
        """As sacreBLEU's, on the resamples in which anything is scored."""
        scored = [each for each in scores if not math.isnan(each.score)]
        if scored:
            super().estimate_ci(scored)
            self.interval = float(self._mean), float(self._ci)

    def format(
        self,
        width: int = DEFAULT_WIDTH,
        score_only: bool = False,  # noqa: FBT001, FBT002 - sacreBLEU's interface
        signature: str = "",
        is_json: bool = False,  # noqa: FBT001, FBT002
    ) -> str:
        """SacreBLEU's layout; the interval stands there whatever its sign, and JSON is strict."""
        shown = ShownScore(
            NAME,
            None if math.isnan(self.score) else self.score,
            width,
            self._verbose,
            *(self.interval or (None, None)),
        )
        if score_only:
            return shown.bare()
        if is_json:
            fields = parse_signature(signature) if signature else {}
            return json.dumps(shown.to_dict(fields), indent=1, ensure_ascii=False)
        return shown.line(signature)


class MMAD(Metric):
    """M-MAD behind sacreBLEU's interface.

    sources: the segments that all systems translated, in order; references: accepted as every
    metric of sacreBLEU accepts them, a list of all segments' texts for each, the first of which
    is shown to the agents with `use_reference` and else not used; config, options: as
    `mmad_metric.rate` takes them (`lp="en-de"`, `model=…`, `docs=[…]`). Each list of hypotheses
    is rated once, however often it is scored, resampled or compared. Raises InputError,
    ConfigError.

    A system is resampled with its own unscored segments, which count nothing. For a comparison
    on the segments that both systems have scores for use `mmad_metric.stats.paired`. Ties count
    in `PairedTest`, so that identical systems have p = 1.
    """

    def __init__(
        self,
        sources: Sequence[str] | None = None,
        references: Sequence[Sequence[str]] | None = None,
        *,
        config: MMADConfig | None = None,
        **options: Any,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.docs = options.pop("docs", None)
        if config is not None and options:
            raise ConfigError("give a config or single options, not both")
        self.config = MMADConfig.of(**options) if config is None else config
        self.sources = None if sources is None else tuple(as_texts("sources", sources))
        self.references = references
        self.n_bootstrap: int | None = None
        self.seed: str | None = None
        self._results: dict[Texts, MMADResult] = {}
        self._scores: dict[Texts, list[float | None]] = {}
        self._told: str | None = None  # the signature of what was rated last
        self._plan = Plan.of(self.config)

    def __getstate__(self) -> dict[str, Any]:
        """For `PairedTest(…, n_jobs=2)`: scores go to the other process, but not ratings in full,
        and the prompts are loaded there again."""
        state = {key: value for key, value in vars(self).items() if key != "_plan"}
        return state | {"_results": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._plan = Plan.of(self.config)

    def result(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> MMADResult:
        """The ratings of a system's segments: spans, reasons, usage. Rates it if that was not
        done before. references: as given to `corpus_score`, where they are shown."""
        if self.sources is None:
            raise InputError("MMAD rates translations of sources: MMAD(sources=[…], lp=…)")
        return self._rated(self._key(self.sources, hypotheses, references))

    def _key(self, sources: Sequence[str], hypotheses: Sequence[str], references: Any) -> Texts:
        """What a rating is made of. references: a list of all segments' texts for each."""
        shown = self.references if references is None else references
        first = None
        if self.config.use_reference and shown:
            first = tuple(as_texts("references", shown[0]))
        return tuple(sources), tuple(as_texts("hypotheses", hypotheses)), first

    def _rated(self, key: Texts) -> MMADResult:
        if key not in self._results:
            sources, texts, references = key
            docs = self.docs if sources == self.sources else None
            self._results[key] = rate(
                sources, texts, references=references, config=self.config, docs=docs
            )
        result = self._results[key]
        self._scores[key], self._told = result.scores, result.signature
        return result

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        n_bootstrap: int = 1,
    ) -> MMADScore:
        """The system score; with n_bootstrap > 1 its 95% interval by sacreBLEU's bootstrap."""
        if isinstance(n_bootstrap, bool) or not isinstance(n_bootstrap, int):
            raise InputError(f"n_bootstrap: expected a number of samples, not {n_bootstrap!r}")
        self.n_bootstrap = self.seed = None
        scored = super().corpus_score(hypotheses, references, n_bootstrap)
        return MMADScore.of(self.result(hypotheses, references), scored)

    def sentence_score(
        self,
        hypothesis: str,
        references: Sequence[str] | None = None,
        source: str | None = None,
    ) -> MMADScore:
        """One segment. source: needed unless the metric was made with a single source."""
        if source is None:
            if self.sources is None or len(self.sources) != 1:
                raise InputError("sentence_score: which source? Give source=…")
            source = self.sources[0]
        listed = [[each] for each in as_texts("references", references)] if references else None
        return MMADScore.of(self._rated(self._key((source,), [hypothesis], listed)))

    def get_signature(self) -> MMADSignature:
        """What moves a number; what servers told is there once something was rated."""
        told = self._told
        fields = self._plan.signature_fields() if told is None else parse_signature(told)
        signature = MMADSignature(fields)
        signature.update("bs", self.n_bootstrap)
        signature.update("seed", self.seed)
        return signature

    def _check_corpus_score_args(self, hyps: Any, refs: Any) -> None:
        """References may be missing or empty here; hypotheses are checked when they are rated."""
        del hyps
        if isinstance(refs, str):
            raise InputError(f"references: expected a list of lists of strings, not {refs!r}")
        for index, texts in enumerate(refs or ()):
            as_texts(f"references[{index}]", texts)

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> list[list[float]]:
        """Per segment its score and 1, or twice 0 where it has none."""
        known = self._scores.get(self._key(self.sources or (), hypotheses, references))
        scores = self.result(hypotheses, references).scores if known is None else known
        return [[0.0, 0.0] if score is None else [score, 1.0] for score in scores]

    def _aggregate_and_compute(self, stats: Any) -> MMADScore:
        sums = [math.fsum(row[column] for row in stats) for column in (0, 1)]
        found = self._compute_score_from_stats(sums)
        return MMADScore(_Observed(found.score))

    def _compute_score_from_stats(self, stats: Any) -> MMADScore:
        total, count = float(stats[0]), float(stats[1])
        return MMADScore(total / count + 0.0 if count else math.nan)

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        del refs
        return {}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: Any) -> list[float]:
        raise NotImplementedError("segments are rated together: see _extract_corpus_statistics")


def register_in_sacrebleu(**defaults: Any) -> None:
    """Put MMAD into sacreBLEU's table of metrics, METRICS["MMAD"], in this process.

    defaults: arguments of MMAD that its callers there cannot give, such as sources and lp.
    """
    table: Any = METRICS
    table[NAME] = functools.partial(MMAD, **defaults) if defaults else MMAD
