"""The command line: `mmad …` rates; a subcommand as first argument does something else."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mmad_metric.cli.exits import EXIT_ERROR, EXIT_INTERRUPTED
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import MMADError

SUBCOMMANDS = ("prompts", "local", "register")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (argparse itself exits with 2 on misuse)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _use_utf8()
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except MMADError as error:
        tell(error)
        return EXIT_ERROR
    except KeyboardInterrupt:
        tell("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away; nobody is left to tell.
        sys.stdout = None
        return EXIT_ERROR
    except OSError as error:
        sys.stdout = None  # what is left in its buffer would fail again at exit
        tell(f"standard output cannot be written: {error.strerror or error}")
        return EXIT_ERROR


def _dispatch(arguments: list[str]) -> int:
    """The heavy parts are loaded by the command that needs them, so that --help is instant."""
    if arguments[:1] == ["prompts"]:
        from mmad_metric.cli.prompts import run_prompts

        return run_prompts(arguments[1:])
    if arguments[:1] == ["local"]:
        from mmad_metric.cli.local import run_local

        return run_local(arguments[1:])
    if arguments[:1] == ["register"]:
        from mmad_metric.cli.register import run_register

        return run_register(arguments[1:])
    from mmad_metric.cli.options import parse

    options = parse(arguments)
    from mmad_metric.cli.rate import run_rate

    return run_rate(options)


def _use_utf8() -> None:
    """UTF-8 on all streams whatever the locale says; a lone surrogate cannot stop the output."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
