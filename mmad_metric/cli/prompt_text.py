"""What `mmad prompts show` is asked about, and how it prints."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from mmad_metric.calls.prices import estimate_prompt
from mmad_metric.chat import Message
from mmad_metric.errors import ConfigError


def print_messages(prompts: Iterable[tuple[str, tuple[Message, ...]]]) -> None:
    """Each prompt under its title, message by message."""
    for title, messages in prompts:
        print(f"=== {title} (about {estimate_prompt(messages)} tokens)")
        for message in messages:
            print(f"--- {message.role}\n{message.content}")
        print()


def texts_given(options: argparse.Namespace, otherwise: tuple[str, str]) -> tuple[str, str]:
    """(source, translation) of the options, if they name any. Raises ConfigError for one alone."""
    if (options.source is None) != (options.translation is None):
        raise ConfigError("--source and --translation belong together")
    if options.source is None:
        return otherwise
    return options.source, options.translation
