"""`mmad hub`: the metric as a Space of the Hugging Face Hub, in a folder or uploaded."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.terminal import tell


def run_hub(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    options = _parser().parse_args(arguments)
    return _export(options) if options.command == "export" else _push(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mmad hub", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    export = commands.add_parser(
        "export",
        help="write the Space into a folder",
        description="Write the Space into a folder: metric card (README.md), mmad.py for "
        "evaluate.load, app.py, requirements.txt. Nothing that is not ours is written over.",
    )
    export.add_argument("folder", metavar="DIR", help="folder to write; call it mmad if you can")
    push = commands.add_parser(
        "push",
        help="upload the Space to the Hub",
        description="Upload the Space to the Hub, making it where it is missing. The token is "
        "that of `hf auth login` or $HF_TOKEN, and is never shown.",
    )
    push.add_argument("repo", metavar="USER/mmad", help="the Space")
    push.add_argument("--private", action="store_true", help="make a new Space private")
    push.add_argument("--create-pr", action="store_true", help="open a pull request instead")
    push.add_argument("--message", metavar="TEXT", help="message of the commit")
    for command in (export, push):
        command.add_argument(
            "--bundle",
            action="store_true",
            help="put this package in as a wheel, for use before it is published",
        )
        command.add_argument("--force", action="store_true", help="write over what is not ours")
    return parser


def _export(options: argparse.Namespace) -> int:
    from mmad_metric.hub.folder import export
    from mmad_metric.hub.space import SCRIPT

    path = export(_files(SCRIPT, bundle=options.bundle), options.folder, force=options.force)
    print(f"written: {path}")
    shown = path if path.name == "mmad" else path / SCRIPT
    app = shlex.quote(str(path / "app.py"))
    tell(f"evaluate.load({str(shown)!r}) loads the metric; its app runs with python {app}")
    return EXIT_OK


def _push(options: argparse.Namespace) -> int:
    from mmad_metric.hub.push import Push, push, script_name

    wanted = Push(options.repo, options.private, options.create_pr, options.message, options.force)
    script = script_name(options.repo)
    files = _files(script, bundle=options.bundle)
    tell(f"uploading {len(files)} files to {options.repo}")
    pushed = push(files, wanted)
    print(pushed.url)
    when = "once the pull request is merged, " if options.create_pr else ""
    tell(f"{when}evaluate.load({options.repo!r}) loads the metric where mmad-metric is installed")
    return EXIT_OK


def _files(script: str, *, bundle: bool) -> dict[str, bytes]:
    from mmad_metric.hub.space import space_files
    from mmad_metric.hub.wheel import package_wheel, requirements

    if not bundle:
        return space_files(script=script)
    wheel = package_wheel()
    return space_files(wheel, requirements(wheel[1]), script)
