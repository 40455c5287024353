"""A sweep from its settings to finished runs: one setting after the other, one gate, one cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mmad_metric.beside import Beside, look_beside
from mmad_metric.calls.connect import Connection, Pool, join, open_pool, role_costs
from mmad_metric.calls.limits import Gate
from mmad_metric.chat import Usage
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.inputs import Inputs
from mmad_metric.files.run_file import RunWriter
from mmad_metric.recording import Recording, record, settle_collector
from mmad_metric.repeats import RatedRow
from mmad_metric.session import Plan, Session
from mmad_metric.sweep.folder import Account, Paid, finished_run, run_path
from mmad_metric.sweep.grid import GridError
from mmad_metric.sweep.settings import Setting


@dataclass
class SettingRun:
    """A setting and its run. beside: what a look at the input told for it; finished: the whole
    run, None before that; resumed: whether it was there when this invocation began."""

    name: str
    plan: Plan
    beside: Beside
    path: str
    finished: Recording | None = None
    resumed: bool = False


@dataclass
class Sweep:
    """All runs in order. connections: of those that this invocation rates; gate: what all their
    calls went through, None where none was needed."""

    runs: tuple[SettingRun, ...]
    inputs: Inputs
    account: Account
    connections: tuple[Connection, ...] = ()
    gate: Gate | None = None

    @property
    def pending(self) -> list[SettingRun]:
        return [run for run in self.runs if run.finished is None]

    @property
    def done(self) -> list[tuple[SettingRun, Recording]]:
        """The finished runs with what they hold."""
        return [(run, run.finished) for run in self.runs if run.finished is not None]

    @property
    def configs(self) -> list[MMADConfig]:
        return [run.plan.config for run in self.runs]

    @property
    def hits(self) -> int:
        """Replies that this invocation took from the cache."""
        return sum(connection.hits for connection in self.connections)

    @property
    def has_unscored(self) -> bool:
        return any(recording.has_unscored for _, recording in self.done)


def make_plans(settings: Iterable[Setting]) -> list[tuple[str, Plan]]:
    """Load what each setting names. Raises GridError with all that cannot be used."""
    plans, problems = [], []
    for setting in settings:
        try:
            plans.append((setting.name, Plan.of(setting.config)))
        except (ConfigError, InputError) as error:
            problems.append(f"{setting.name}: {error}")
    if problems:
        raise GridError(problems)
    return plans


def look_beside_each(plans: Iterable[tuple[str, Plan]], inputs: Inputs) -> list[Beside]:
    """Look whether all is there that the settings show beside segments. Raises GridError."""
    found, problems = [], []
    for name, plan in plans:
        try:
            found.append(look_beside(inputs.segments(), plan.config))
        except InputError as error:
            problems.append(f"{name}: {error}")
    if problems:
        raise GridError(problems)
    return found


def prepare_sweep(
    plans: Sequence[tuple[str, Plan]], beside: Iterable[Beside], inputs: Inputs, folder: str
) -> Sweep:
    """Find out what is finished already; makes no call. Raises GridError with all files that
    stand where a run is to be written and are none, InputError."""
    runs, problems = [], []
    for (name, plan), looked in zip(plans, beside, strict=True):
        run = SettingRun(name, plan, looked, run_path(folder, name))
        try:
            run.finished = finished_run(run.path, plan, inputs)
        except InputError as error:
            problems.append(str(error))
        run.resumed = run.finished is not None
        runs.append(run)
    if problems:
        raise GridError(problems)
    return Sweep(tuple(runs), inputs, Account.read(folder))


async def rate_sweep(
    sweep: Sweep, on_row: Callable[[SettingRun, RatedRow], None], *, strict: bool = False
) -> None:
    """Rate under every setting that is not finished. The bounds on calls in flight and on money
    hold for all of them together.

    on_row: called with each row when its ratings are there; strict: see `record`. Raises
    ConfigError before any call; RunStopped, InputError with everything kept that was paid.
    """
    pending = sweep.pending
    if not pending:
        return
    settle_collector()
    sweep.account.write()  # before any call: what cannot be written should cost nothing
    async with open_pool(pending[0].plan.config) as pool:
        sweep.gate = pool.gate
        sweep.connections = tuple([await _joined(pool, run) for run in pending])
        for run, connection in zip(pending, sweep.connections, strict=True):
            await _rate_one(sweep, run, Session(run.plan, connection), on_row, strict=strict)


async def _joined(pool: Pool, run: SettingRun) -> Connection:
    try:
        return await join(pool, run.plan.config, run.plan.dimension_names)
    except ConfigError as error:
        raise ConfigError(f"{run.name}: {error}") from None


async def _rate_one(
    sweep: Sweep,
    run: SettingRun,
    session: Session,
    on_row: Callable[[SettingRun, RatedRow], None],
    *,
    strict: bool,
) -> None:
    begun = time.monotonic()
    with RunWriter(run.path) as writer:
        recording = Recording.of(run.plan, sweep.inputs, writer, run.beside.sizes)
        try:
            await record(recording, session, lambda row: on_row(run, row), strict=strict)
            run.finished = recording
        finally:
            paid = _paid(session, time.monotonic() - begun)
            sweep.account.add(run.name, recording.header(), paid)


def _paid(session: Session, seconds: float) -> Paid:
    """What this invocation took under one setting."""
    connection, cost = session.connection, role_costs(session.plan.config)
    costs = [cost(role, usage) for role, usage in connection.paid.items() if usage.calls]
    known = [each for each in costs if each is not None]
    return Paid.of(
        sum(connection.paid.values(), Usage()),
        seconds=round(seconds, 3),
        from_cache=connection.hits,
        cost=float(sum(known)) if len(known) == len(costs) else None,
    )
