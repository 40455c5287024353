"""A run: everything that the settings name, checked without a call, then opened and used."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mmad_metric.config import MMADConfig
from mmad_metric.connect import Connection, connect
from mmad_metric.files import sample_rows
from mmad_metric.packs import load_pack
from mmad_metric.pipeline import Method
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.runner import rate_segments
from mmad_metric.scoring import WeightScheme, load_scheme, scheme_table
from mmad_metric.signature import Observed, format_signature, signature_fields
from mmad_metric.templates import Prompts, check_prompts
from mmad_metric.version import __version__


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings with the prompts and weights that they name."""

    config: MMADConfig
    prompts: Prompts
    scheme: WeightScheme

    @classmethod
    def of(cls, config: MMADConfig) -> Plan:
        """Load and check the prompt pack and the weights. Raises ConfigError, PackError."""
        prompts = Prompts(load_pack(config.prompts), config.lp)
        check_prompts(prompts)
        return cls(config, prompts, load_scheme(config.weights))

    def signature_fields(self, observed: Observed | None = None) -> dict[str, str]:
        """The signature's keys; what replies tell is there only when it was observed."""
        return signature_fields(
            self.config,
            self.prompts.pack.identity,
            self.prompts.demo_pair,
            observed or Observed(),
        )

    def signature(self, observed: Observed | None = None, *, short: bool = False) -> str:
        return format_signature(self.signature_fields(observed), short=short)

    def to_dict(self) -> dict[str, Any]:
        """The settings as a run file's header keeps them: enough to rescore and to repeat."""
        return {
            **self.config.to_dict(),
            "prompts": self.prompts.pack.identity,
            "demos": self.prompts.demo_pair,
            "weight_table": scheme_table(self.scheme),
        }

    def header(self, systems: Iterable[tuple[str, int]]) -> dict[str, Any]:
        """A run file's first line, for systems given as (name, rows). Holds no time: a resumed
        run writes the same bytes as an uninterrupted one."""
        return {
            "type": "header",
            "format": "mmad-run",
            "version": 1,
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

    def rate(self, segments: Iterable[Segment], n_rows: int) -> AsyncGenerator[SegmentRating]:
        """Ratings in input order; n_rows is the number of rows a system has."""
        config = self.plan.config
        method = Method(config, self.plan.prompts, self.plan.scheme, self.connection)
        if config.sample is None or config.sample >= n_rows:
            return rate_segments(segments, method)
        rows = frozenset(sample_rows(n_rows, config.sample, config.seed))
        return rate_segments(segments, method, lambda segment: segment.index in rows)


@asynccontextmanager
async def open_session(plan: Plan) -> AsyncIterator[Session]:
    """Open servers, cache and limits; close them at the end. Raises ConfigError, InputError."""
    async with connect(plan.config) as connection:
        yield Session(plan, connection)
