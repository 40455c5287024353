"""One configuration over all segments of an input: rated, added up, written to its run file."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mmad_metric.beside import Sizes
from mmad_metric.calls.connect import role_costs
from mmad_metric.errors import RunStopped
from mmad_metric.files.inputs import Inputs
from mmad_metric.files.run_file import RunWriter
from mmad_metric.rating import SegmentRating, Status
from mmad_metric.repeats import RatedRow
from mmad_metric.results import SystemTotals, observed
from mmad_metric.session import Plan, Session

_GC_EVERY = 20_000  # new objects


@dataclass
class Recording:
    """A run under one configuration, as far as it has come. writer: None without a run file;
    sizes: of documents, see `with_material`."""

    plan: Plan
    inputs: Inputs
    writer: RunWriter | None
    totals: dict[str, SystemTotals]
    sizes: Sizes | None = None

    @classmethod
    def of(
        cls,
        plan: Plan,
        inputs: Inputs,
        writer: RunWriter | None = None,
        sizes: Sizes | None = None,
    ) -> Recording:
        """One that has not begun."""
        cost = role_costs(plan.config)
        totals = {
            each.name: SystemTotals(each.name, plan.scheme, cost=cost) for each in inputs.systems
        }
        return cls(plan, inputs, writer, totals, sizes)

    @property
    def systems(self) -> list[SystemTotals]:
        return list(self.totals.values())

    @property
    def done(self) -> int:
        """Segments with a result."""
        return sum(totals.n_segments for totals in self.systems)

    @property
    def has_unscored(self) -> bool:
        return any(totals.n_unscored for totals in self.systems)

    def header(self) -> dict[str, Any]:
        """The run file's first line."""
        return self.plan.header([(each.name, each.n_segments) for each in self.inputs.systems])

    def summary(self) -> dict[str, Any]:
        """The run file's last line."""
        return {
            "signature": self.plan.signature(observed(self.systems)),
            "systems": [each.to_dict() for each in self.systems],
        }

    def add(self, rating: SegmentRating) -> RatedRow | None:
        """Count a rating; gives its row when that was the last of the row's ratings."""
        totals = self.totals[rating.segment.system]
        totals.add(rating)
        is_last = rating.segment.repeat in (None, self.plan.config.repeats)
        return totals.row if is_last else None


async def record(
    recording: Recording,
    session: Session,
    on_row: Callable[[RatedRow], None],
    *,
    strict: bool = False,
) -> None:
    """Rate all segments; the run file gets its name at the end.

    on_row: called with each row, in input order, when all its ratings are there; strict: stop at
    the first rating without a score. Raises RunStopped, InputError.
    """
    writer, inputs = recording.writer, recording.inputs
    if writer is not None:
        writer.write_header(recording.header())
    async for rating in session.rate(inputs.segments(), inputs.n_rows, recording.sizes):
        row = recording.add(rating)
        if writer is not None:
            writer.write_rating(rating)
        if row is not None:
            on_row(row)
        if strict and rating.status is Status.UNSCORED:
            segment = rating.segment
            raise RunStopped(
                f"--strict: {segment.system} segment {segment.index + 1} is unscored "
                f"({rating.reason.value if rating.reason else ''} {rating.detail})".rstrip()
            )
    if writer is not None:
        writer.write_summary(recording.summary())
        writer.commit()


def settle_collector() -> None:
    """What is loaded by now stays: without this, a quarter of a run's CPU goes into looking
    through it for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_EVERY, 20, 50)
