"""Names that somebody gave and nobody knows: which known one was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: which known one was meant, if that is likely.

    A name meant is spelt much alike, or begins so; a far-fetched guess would only mislead.
    """
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    if not close and len(name) >= 4:  # noqa: PLR2004 - shorter ones begin too much
        close = [each for each in names if each.startswith(name)]
    return f"; did you mean {close[0]!r}?" if close else ""
