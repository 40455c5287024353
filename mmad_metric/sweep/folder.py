"""The folder of a sweep: a run file for each setting, those that are finished, and the account.

`NAME.jsonl` is a setting's run file, `NAME.jsonl.part` while it is rated, `sweep.json` the account
of what rating took, which no run file holds: two sweeps that end alike have paid differently.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from mmad_metric.chat import Usage
from mmad_metric.errors import InputError
from mmad_metric.files.inputs import Inputs
from mmad_metric.files.lines import readable
from mmad_metric.files.run_file import read_run
from mmad_metric.files.run_lines import segment_line
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.recording import Recording
from mmad_metric.session import Plan, each_rating

ENDING = ".jsonl"
ACCOUNT = "sweep.json"
_FORMAT = {"format": "mmad-sweep", "version": 1}


def run_path(folder: str, name: str) -> str:
    """Where a setting's run file stands."""
    return os.path.join(folder, name + ENDING)


def prepare_folder(folder: str) -> None:
    """Make the folder, if it is not there. Raises InputError."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"-o {readable(folder)}: no folder can be made there ({error.strerror or error})"
        ) from None


def strangers(folder: str, names: list[str]) -> list[str]:
    """Run files in the folder that are of none of the settings."""
    own = {name + ENDING for name in names}
    return sorted(each for each in os.listdir(folder) if each.endswith(ENDING) and each not in own)


def finished_run(path: str, plan: Plan, inputs: Inputs) -> Recording | None:
    """The run that a file holds, None where there is no file.

    Raises InputError for whatever is not a whole run under this plan over these inputs: it will
    not be replaced.
    """
    if not os.path.lexists(path):
        return None
    name = readable(path)
    try:
        run = read_run(path)
    except InputError as error:
        raise InputError(f"{error}; {name} is not replaced") from None
    recording = Recording.of(plan, inputs)
    differences = list(_differences(run.header, recording.header()))
    if differences:
        raise InputError(
            f"{name} is a run of another configuration: {', '.join(differences)}; it is not "
            "replaced: move it away, or take another folder"
        )
    if not run.complete:
        raise InputError(f"{name} is a run that did not finish; it is not replaced")
    expected = each_rating(plan.config, inputs.segments(), inputs.n_rows)
    for rating in run.ratings():
        segment = next(expected, None)
        others = "texts" if segment is None else _others(segment, rating.segment)
        if others:
            raise InputError(
                f"{name} is a run over other {others}, first in row {rating.segment.index + 1} of "
                f"system {rating.segment.system!r}; it is not replaced"
            )
        recording.add(rating)
    if next(expected, None) is not None:
        raise InputError(f"{name} lacks segments of the input; it is not replaced")
    return recording


def _differences(stored: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """What sets a header apart from the expected one, in a few words each."""
    wanted = json.loads(json.dumps(expected))
    for part in ("config", "versions"):
        one, other = stored.get(part), wanted[part]
        if not isinstance(one, dict):
            yield f"no {part}"
            continue
        for key in [*other, *(key for key in one if key not in other)]:
            if one.get(key) != other.get(key):
                values = [_short(each.get(key)) for each in (one, other)]
                yield f"{key} ({' / '.join(values)})"
    if stored.get("systems") != wanted["systems"]:
        yield "other systems"


def _short(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "…"
    return "none" if value is None else str(value)


def _others(one: Segment, other: Segment) -> str:
    """What is not the same of two segments, as run files hold them; "" where all is."""
    if _written(one) == _written(other):
        return ""
    for part, name in (("doc", "documents"), ("reference", "references")):
        if _written(replace(one, **{part: getattr(other, part)})) == _written(other):
            return name
    return "texts"


def _written(segment: Segment) -> dict[str, Any]:
    """What a run file holds of a segment."""
    return segment_line(SegmentRating(segment, Status.NOT_SAMPLED))


@dataclass(frozen=True, slots=True)
class Paid:
    """What rating under one setting has taken, over all invocations that told.

    seconds: wall time; from_cache: replies that needed no call; cost_usd: None where a price is
    not known; invocations: those that rated under it.
    """

    seconds: float = 0.0
    calls: int = 0
    from_cache: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    invocations: int = 0

    @classmethod
    def of(cls, usage: Usage, *, seconds: float, from_cache: int, cost: float | None) -> Paid:
        """Of one invocation."""
        return cls(seconds, from_cache=from_cache, cost_usd=cost, invocations=1, **usage.to_dict())

    def __add__(self, other: Paid) -> Paid:
        summed = {
            each.name: getattr(self, each.name) + getattr(other, each.name)
            for each in fields(self)
            if each.name != "cost_usd"
        }
        known = None
        if self.cost_usd is not None and other.cost_usd is not None:
            known = self.cost_usd + other.cost_usd
        return Paid(cost_usd=known, **summed)


@dataclass
class Account:
    """`sweep.json`: what each setting has taken, with a stamp of the header of its run. Written
    anew with each entry, whole or not at all."""

    folder: str
    entries: dict[str, tuple[str, Paid]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: str) -> Account:
        """Raises InputError for a file that is none of ours: it will not be replaced."""
        path = os.path.join(folder, ACCOUNT)
        if not os.path.lexists(path):
            return cls(folder)
        try:
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            if {key: stored[key] for key in _FORMAT} != _FORMAT:
                raise ValueError("another format")
            entries = {
                name: (entry["run"], Paid(**entry["paid"]))
                for name, entry in stored["settings"].items()
            }
        except OSError as error:
            raise InputError(f"{readable(path)}: cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{readable(path)}: not the account of a sweep ({error}); it is not replaced"
            ) from None
        return cls(folder, entries)

    def paid(self, name: str, header: Mapping[str, Any]) -> Paid | None:
        """What a setting has taken; None where that is not known, or of another run."""
        known = self.entries.get(name)
        return known[1] if known is not None and known[0] == _stamp(header) else None

    def add(self, name: str, header: Mapping[str, Any], paid: Paid) -> None:
        """Add an invocation's part. Raises InputError when it cannot be written."""
        before = self.paid(name, header)
        self.entries[name] = (_stamp(header), paid if before is None else before + paid)
        self.write()

    def write(self) -> None:
        values = {
            **_FORMAT,
            "settings": {
                name: {"run": stamp, "paid": asdict(paid)}
                for name, (stamp, paid) in self.entries.items()
            },
        }
        path = os.path.join(self.folder, ACCOUNT)
        try:
            with open(f"{path}.part", "w", encoding="utf-8") as file:
                json.dump(values, file, indent=1, ensure_ascii=True)
                file.write("\n")
            os.replace(f"{path}.part", path)
        except OSError as error:
            raise InputError(
                f"{readable(path)}: cannot be written: {error.strerror or error}"
            ) from None


def _stamp(header: Mapping[str, Any]) -> str:
    """Another one for every other configuration or input."""
    text = json.dumps(header, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
