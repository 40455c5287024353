"""Every exception of the package, and the machine-readable reasons for an unscored segment.

MMADError
├── InputError            the user's texts or files are not usable
├── ConfigError           a setting is not usable
│   ├── PackError         a prompt pack is broken
│   └── NotApplicable     a setting has no meaning beside the others
├── RunStopped            the whole run cannot go on; what is finished is kept
└── SegmentFailure        one segment cannot be rated; the others go on
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmad_metric.chat import Usage


class Reason(str, Enum):
    """Why a segment has no score. The values stand in run files and results."""

    EMPTY_SOURCE = "empty_source"
    MISSING_TRANSLATION = "missing_translation"
    UNREADABLE_REPLY = "unreadable_reply"
    EMPTY_REPLY = "empty_reply"
    CUT_SHORT = "cut_short"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    CONTEXT_LENGTH = "context_length"
    BAD_REQUEST = "bad_request"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER_ERROR = "server_error"


MOST_QUOTED = 80  # characters of what was found in an input


def quoted(text: str) -> str:
    """What was found, for a message: in quotes, in one line, cut where it is long."""
    return repr(text if len(text) <= MOST_QUOTED else text[:MOST_QUOTED] + "…")


def described(value: object) -> str:
    """A value of a wrong kind, for a message: its kind, and how it begins."""
    text = repr(value)
    return (
        f"{type(value).__name__} {text if len(text) <= MOST_QUOTED else text[:MOST_QUOTED] + '…'}"
    )


class MMADError(Exception):
    """Base of all errors that this package raises on purpose."""


class InputError(MMADError, ValueError):
    """Texts or files that cannot be rated; the message names file, line or index."""


class ConfigError(MMADError, ValueError):
    """A setting that is unknown, out of range or at odds with another."""


class PackError(ConfigError):
    """A prompt pack that cannot be used; the message names the file."""


class NotApplicable(ConfigError):  # noqa: N818 - names what is wrong with the setting
    """A setting that would change nothing beside the others: leaving it out is the same method.

    name: of the setting.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason

    def __reduce__(self) -> tuple[type[NotApplicable], tuple[str, str]]:
        """For pickle, which would otherwise rebuild it from its message alone."""
        return type(self), (self.name, self.reason)


class RunStopped(MMADError):  # noqa: N818 - the name says what happened to the run
    """The run ends early: the server refused us, the money is spent, or nothing answers."""


class SegmentFailure(MMADError):  # noqa: N818 - a value of one segment more than an error
    """One segment ends unscored.

    reason: the code that goes into results; detail: one line for people, without any key;
    usage: what the failed calls cost all the same (None when no call was answered).
    """

    def __init__(self, reason: Reason, detail: str = "", usage: Usage | None = None) -> None:
        super().__init__(f"{reason.value}: {detail}" if detail else reason.value)
        self.reason = reason
        self.detail = detail
        self.usage = usage

    def __reduce__(self) -> tuple[type[SegmentFailure], tuple[Reason, str, Usage | None]]:
        """For pickle, which would otherwise rebuild it from its message alone."""
        return type(self), (self.reason, self.detail, self.usage)
