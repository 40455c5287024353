"""A run: everything that the settings name, checked without a call, then opened and used."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mmad_metric.baselines.packs import load_baseline_pack
from mmad_metric.baselines.prompts import BaselinePrompts
from mmad_metric.baselines.scores import check_scheme
from mmad_metric.beside import Sizes, with_material
from mmad_metric.calls.connect import Connection, connect, resolve
from mmad_metric.config import MMADConfig
from mmad_metric.deciding_prompts import check_prompts, check_variants
from mmad_metric.files.glossaries import read_glossary
from mmad_metric.files.inputs import sample_rows
from mmad_metric.glossary import Glossary
from mmad_metric.memory import RatingMemory, memory_identity
from mmad_metric.method_space import (
    METHOD_FACTS,
    NO_WEIGHTS,
    SKIP_PARTITION,
    check_dimensions,
    is_baseline,
)
from mmad_metric.packs import load_pack
from mmad_metric.pipeline import Method
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.repeats import repeated
from mmad_metric.runner import rate_segments
from mmad_metric.scales import Scale
from mmad_metric.scoring import WeightScheme, load_scheme, scheme_table
from mmad_metric.signature import Observed, format_signature, signature_fields
from mmad_metric.templates import Prompts
from mmad_metric.version import __version__


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings with the prompts, weights and glossary that they name. scheme: None where the
    method has no errors to weigh."""

    config: MMADConfig
    prompts: Prompts | BaselinePrompts
    scheme: WeightScheme | None
    glossary: Glossary | None = None

    @classmethod
    def of(cls, config: MMADConfig) -> Plan:
        """Load and check the prompt pack, the weights and the glossary. Raises ConfigError,
        PackError, InputError."""
        if is_baseline(config):
            return cls._of_baseline(config)
        prompts = Prompts(load_pack(config.prompts), config.lp, config.shows())
        check_prompts(prompts)
        if config.uses_variants():
            check_variants(prompts, [config.topic], [config.strategy])
        glossary = None if config.glossary is None else read_glossary(config.glossary)
        plan = cls(config, prompts, load_scheme(config.weights, prompts.pack.own_labels), glossary)
        check_dimensions(config, plan.dimension_names)
        return plan

    @classmethod
    def _of_baseline(cls, config: MMADConfig) -> Plan:
        prompts = BaselinePrompts(load_baseline_pack(config.prompts, config.method), config.lp)
        prompts.check()
        if config.weights == NO_WEIGHTS:
            return cls(config, prompts, None)
        scheme = load_scheme(config.weights)
        check_scheme(config.method, scheme)
        return cls(config, prompts, scheme)

    @property
    def scale(self) -> Scale:
        """What a score is."""
        return METHOD_FACTS[self.config.method].scale

    @property
    def pack_identity(self) -> str:
        """Name, version and hash of the prompts that these settings can send."""
        if not isinstance(self.prompts, Prompts):
            return self.prompts.pack.identity
        return self.prompts.pack.identity_with(
            variants=self.config.uses_variants(), material=bool(self.config.shows())
        )

    @property
    def dimension_names(self) -> tuple[str, ...]:
        return tuple(dimension.name for dimension in self.prompts.pack.dimensions)

    @property
    def demo_pair(self) -> str:
        """The pair whose demonstrations are used; several joined by "+", "" for none."""
        prompts = self.prompts
        if isinstance(prompts, Prompts) and SKIP_PARTITION in self.config.skip_stages:
            return prompts.coupled_demo_pair
        return prompts.demo_pair

    @property
    def borrowed_pair(self) -> str:
        """The pair whose demonstrations stand in for those of the language pair; "" where it has
        its own, or where the method shows the same ones for every pair."""
        if isinstance(self.prompts, BaselinePrompts):
            return self.prompts.borrowed_pair
        return "" if self.demo_pair == str(self.config.lp) else self.demo_pair

    def signature_fields(self, observed: Observed | None = None) -> dict[str, str]:
        """The signature's keys; what replies tell is there only when it was observed."""
        fields = signature_fields(
            self.config,
            self.pack_identity,
            self.demo_pair,
            observed or Observed(),
        )
        if self.scheme is None:
            return fields
        # What an own table holds moves scores, not what its file is called.
        return {**fields, "weights": self.scheme.identity, **self._glossary_identity}

    @property
    def _glossary_identity(self) -> dict[str, str]:
        return {} if self.glossary is None else {"glossary": self.glossary.identity}

    def signature(self, observed: Observed | None = None, *, short: bool = False) -> str:
        return format_signature(self.signature_fields(observed), short=short)

    def to_dict(self) -> dict[str, Any]:
        """The settings as a run file's header keeps them: enough to rescore and to repeat."""
        values: dict[str, Any] = {
            **self.config.to_dict(),
            **self._glossary_identity,
            "prompts": self.pack_identity,
            "demos": self.demo_pair,
        }
        if self.scheme is not None:
            values["weight_table"] = scheme_table(self.scheme)
        return values

    def header(self, systems: Iterable[tuple[str, int]]) -> dict[str, Any]:
        """A run file's first line, for systems given as (name, rows). Holds no time: a resumed
        run writes the same bytes as an uninterrupted one."""
        return {
            "type": "header",
            "format": "mmad-run",
            "version": 1,
            **({} if self.scale.has_errors else {"scale": self.scale.value}),
            "signature": self.signature(),
            "config": self.to_dict(),
            "versions": {"mmad-metric": __version__},
            "systems": [{"name": name, "n_segments": rows} for name, rows in systems],
        }


@dataclass(frozen=True, slots=True)
class Session:
    """An open run. `connection` holds the account of what it paid."""

    plan: Plan
    connection: Connection

    async def rate(
        self,
        segments: Iterable[Segment],
        n_rows: int,
        sizes: Sizes | None = None,
    ) -> AsyncGenerator[SegmentRating]:
        """Ratings in input order, a sampled row's repeats one after the other; n_rows is the
        number of rows a system has; sizes: of documents, see `with_material`."""
        plan, connection = self.plan, self.connection
        method = Method(plan.config, plan.prompts, plan.scheme, connection)
        memory = RatingMemory(connection.store, memory_identity(self._made_of()))
        sampled = _sampled_rows(plan.config, n_rows)
        recalled: set[int] = set()  # ids of ratings in the window, alive until they are yielded

        def known(segment: Segment) -> SegmentRating | None:
            if _left_out(segment, sampled):
                return SegmentRating(segment, Status.NOT_SAMPLED, scale=plan.scale)
            rating = memory.recall(segment)
            if rating is not None:
                recalled.add(id(rating))
                connection.count_hit(rating.total_usage.calls)
            return rating

        beside = with_material(segments, plan.config, plan.glossary, sizes)
        to_rate = each_rating(plan.config, beside, n_rows)
        async with aclosing(rate_segments(to_rate, method, known)) as ratings:
            async for rating in ratings:
                if id(rating) in recalled:
                    recalled.remove(id(rating))
                else:
                    memory.keep(rating)
                yield rating

    def _made_of(self) -> dict[str, Any]:
        """What a rating depends on besides its texts."""
        config = self.plan.config
        servers = {role: resolve(config, role) for role in config.roles(self.plan.dimension_names)}
        # Under these, full_debate and role addresses included, replies could differ. How often a
        # segment is rated changes none of its ratings.
        settings = {name: value for name, value in self.plan.to_dict().items() if name != "repeats"}
        return {**settings, "servers": servers, "files": self.connection.identities}


def each_rating(config: MMADConfig, segments: Iterable[Segment], n_rows: int) -> Iterator[Segment]:
    """The segments as often as each stands in a run: those that are rated once for every repeat,
    those left out of the sample once."""
    sampled = _sampled_rows(config, n_rows)
    for segment in segments:
        yield from repeated(segment, 1 if _left_out(segment, sampled) else config.repeats)


def _left_out(segment: Segment, sampled: frozenset[int] | None) -> bool:
    return sampled is not None and segment.index not in sampled


def _sampled_rows(config: MMADConfig, n_rows: int) -> frozenset[int] | None:
    """The rows of the sample, None for all."""
    if config.sample is None or config.sample >= n_rows:
        return None
    return frozenset(sample_rows(n_rows, config.sample, config.seed))


@asynccontextmanager
async def open_session(plan: Plan, *, api_key: str | None = None) -> AsyncIterator[Session]:
    """Open servers, cache and limits; close them at the end. api_key: see `connect`.

    Raises ConfigError, InputError.
    """
    async with connect(plan.config, plan.dimension_names, api_key=api_key) as connection:
        yield Session(plan, connection)
