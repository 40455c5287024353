"""Several processes that train one model: one of them does a piece of work, all get its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from mmad_metric.errors import RunStopped

Value = TypeVar("Value")


def from_main(work: Callable[[], Value]) -> Value:
    """What `work()` gives on the main process, on every process of torch.distributed.

    Every process has to call this; the others wait for the main one. Where there is a single
    process it is `work()`. When `work` raises, so do all: the main process the exception itself,
    the others a RunStopped with its message, so that nobody waits for somebody who is gone.
    """
    group = _group()
    if group is None:
        return work()
    shared: list[Any] = [None, None]
    if group.get_rank() == 0:
        try:
            shared[0] = work()
        except Exception as error:
            shared[1] = f"{type(error).__name__}: {error}"
            group.broadcast_object_list(shared, src=0)
            raise
    group.broadcast_object_list(shared, src=0)
    value, failure = shared
    if failure is not None:
        raise RunStopped(f"the main process failed: {failure}")
    result: Value = value
    return result


def is_main() -> bool:
    """Whether this is the main process, or the only one; before torch knows, by $RANK."""
    group = _group()
    if group is not None:
        return bool(group.get_rank() == 0)
    return os.environ.get("RANK", "0") in ("", "0")


def n_processes() -> int:
    """The processes that train together, 1 where torch.distributed is not in use."""
    group = _group()
    return 1 if group is None else int(group.get_world_size())


def _group() -> Any:
    """torch.distributed where several processes have met, else None. Whoever uses it has
    imported it: there is no need to load torch to see that nobody does."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed if distributed.get_world_size() > 1 else None
