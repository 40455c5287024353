"""The exit statuses of `mmad`."""

from __future__ import annotations

EXIT_OK = 0
EXIT_ERROR = 1  # bad input or settings, or the server refused
EXIT_USAGE = 2
EXIT_UNSCORED = 3
EXIT_INTERRUPTED = 130
