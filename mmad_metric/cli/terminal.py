"""What may reach a terminal: messages on stderr, and texts of strangers made harmless."""

from __future__ import annotations

import sys

# Join letters and emoji, and move no cursor: people need them to read their own text.
_JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """The text in one line, control characters and direction overrides shown escaped."""
    return "".join(
        character
        if character.isprintable() or character in _JOINERS
        else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        for character in text
    )


def tell(line: object) -> None:
    """A message on stderr."""
    print(f"mmad: {printable(str(line))}", file=sys.stderr)
