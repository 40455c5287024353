"""M-MAD: rate machine translation by multidimensional multi-agent debate.

    from mmad_metric import rate
    result = rate(["Good morning."], ["Guten Abend."], lp="en-de")

Names are loaded when they are first used, so that `import mmad_metric` costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mmad_metric.version import __version__

if TYPE_CHECKING:
    from mmad_metric.api import MMADResult, rate, rate_async
    from mmad_metric.config import MMADConfig
    from mmad_metric.errors import (
        ConfigError,
        InputError,
        MMADError,
        PackError,
        Reason,
        RunStopped,
    )
    from mmad_metric.integrations.datasets import DatasetResult, rate_dataset
    from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side
    from mmad_metric.rating import Segment, SegmentRating, Status
    from mmad_metric.registration import register

_HOME = {
    "DatasetResult": "integrations.datasets",
    "MMADConfig": "config",
    "MMADResult": "api",
    "rate": "api",
    "rate_async": "api",
    "rate_dataset": "integrations.datasets",
    "ConfigError": "errors",
    "InputError": "errors",
    "MMADError": "errors",
    "PackError": "errors",
    "Reason": "errors",
    "RunStopped": "errors",
    "Category": "mqm",
    "MQMError": "mqm",
    "Placement": "mqm",
    "Severity": "mqm",
    "Side": "mqm",
    "Segment": "rating",
    "SegmentRating": "rating",
    "Status": "rating",
    "register": "registration",
}

__all__ = [
    "Category",
    "ConfigError",
    "DatasetResult",
    "InputError",
    "MMADConfig",
    "MMADError",
    "MMADResult",
    "MQMError",
    "PackError",
    "Placement",
    "Reason",
    "RunStopped",
    "Segment",
    "SegmentRating",
    "Severity",
    "Side",
    "Status",
    "__version__",
    "rate",
    "rate_async",
    "rate_dataset",
    "register",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
