"""The command line: `mmad …` rates; a subcommand as first argument does something else."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from mmad_metric.cli.exits import EXIT_ERROR, EXIT_INTERRUPTED
from mmad_metric.cli.terminal import tell
from mmad_metric.errors import MMADError

# Each takes the arguments after its name and returns the exit status.
SUBCOMMANDS = {
    "sweep": ("mmad_metric.cli.sweep", "run_sweep"),
    "compare": ("mmad_metric.cli.compare", "run_compare"),
    "report": ("mmad_metric.cli.report", "run_report"),
    "export": ("mmad_metric.cli.export", "run_export"),
    "meta-eval": ("mmad_metric.cli.meta_eval", "run_meta_eval"),
    "prompts": ("mmad_metric.cli.prompts", "run_prompts"),
    "local": ("mmad_metric.cli.local", "run_local"),
    "register": ("mmad_metric.cli.register", "run_register"),
    "hub": ("mmad_metric.cli.hub", "run_hub"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (argparse itself exits with 2 on misuse)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # closed by whoever started us: there is nobody to print for
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as we live
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
    if arguments and arguments[0] in SUBCOMMANDS:
        room, function = SUBCOMMANDS[arguments[0]]
        status: int = getattr(import_module(room), function)(arguments[1:])
        return status
    from mmad_metric.cli.options import parse

    options = parse(arguments)
    from mmad_metric.cli.score import run_score

    return run_score(options)


def _use_utf8() -> None:
    """UTF-8 on all streams whatever the locale says; a lone surrogate cannot stop the output."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
