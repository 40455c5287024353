"""An option's value that lists names, parted by commas."""

from __future__ import annotations

import argparse


def name_list(text: str) -> list[str]:
    """The names, each once, in their order. For argparse, whose error is misuse (status 2)."""
    names = [name for each in text.split(",") if (name := each.strip())]
    if not names:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return list(dict.fromkeys(names))
