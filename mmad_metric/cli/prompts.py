"""`mmad prompts show` and `mmad prompts check`: exactly what would be sent, and is it sound."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from mmad_metric.calls.prices import estimate_prompt
from mmad_metric.chat import Message
from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.deciding_prompts import check_prompts
from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair
from mmad_metric.pack_parts import Dimension
from mmad_metric.packs import load_pack
from mmad_metric.rating import Position
from mmad_metric.stages.positions import counter_position
from mmad_metric.templates import Prompts, Side, demos_for

STAGES = ("annotate", "debate", "consensus", "judge")


def run_prompts(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser(prog="mmad prompts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print the messages of each stage")
    show.add_argument("-l", "--lp", "--language-pair", default="en-de", metavar="SRC-TGT")
    show.add_argument("--prompts", default="mmad", metavar="PACK")
    show.add_argument("--stage", choices=STAGES, help="one stage only")
    show.add_argument("--dimension", help="one dimension only")
    show.add_argument("--source", help="source text (default: a demonstration's)")
    show.add_argument("--translation", help="translation (default: a demonstration's)")
    check = commands.add_parser("check", help="check a prompt pack")
    check.add_argument("folder", metavar="DIR", help="folder of the pack, or a shipped name")
    options = parser.parse_args(arguments)
    if options.command == "check":
        return _check(options.folder)
    return _show(options)


def _check(folder: str) -> int:
    pack = load_pack(folder)
    for pair in pack.demos:
        check_prompts(Prompts(pack, LanguagePair.parse(pair)))
    names = ", ".join(dimension.name for dimension in pack.dimensions)
    print(f"{pack.identity}: sound; dimensions {names}; demonstrations {', '.join(pack.demos)}")
    return EXIT_OK


def _show(options: argparse.Namespace) -> int:
    prompts = Prompts(load_pack(options.prompts), LanguagePair.parse(options.lp))
    check_prompts(prompts)
    dimensions = [
        dimension
        for dimension in prompts.pack.dimensions
        if options.dimension in (None, dimension.name)
    ]
    if not dimensions:
        known = ", ".join(dimension.name for dimension in prompts.pack.dimensions)
        raise ConfigError(f"--dimension: {options.dimension!r} is not one of {known}")
    for stage in STAGES if options.stage is None else (options.stage,):
        for title, messages in _messages(prompts, stage, dimensions, _texts(prompts, options)):
            print(f"=== {title} (about {estimate_prompt(messages)} tokens)")
            for message in messages:
                print(f"--- {message.role}\n{message.content}")
            print()
    return EXIT_OK


def _texts(prompts: Prompts, options: argparse.Namespace) -> tuple[str, str]:
    """The texts given, or those of the pack's first demonstration with a major error."""
    if (options.source is None) != (options.translation is None):
        raise ConfigError("--source and --translation belong together")
    if options.source is not None:
        return options.source, options.translation
    demo = prompts.pack.demos[prompts.demo_pair][0]
    return demo.source, demo.translation


def _messages(
    prompts: Prompts, stage: str, dimensions: Sequence[Dimension], texts: tuple[str, str]
) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """Titles and messages of a stage; openings are taken from the demonstrations."""
    found = {each.name: _opening(prompts, each) for each in dimensions}
    words = prompts.pack.openings
    if stage == "judge":
        yield "judge", prompts.judge(texts, [(each, found[each.name].annotations)
                                             for each in dimensions])  # fmt: skip
        return
    for dimension in dimensions:
        pro = found[dimension.name]
        con = Position(words["con"], counter_position(pro.annotations))
        if stage == "annotate":
            yield f"annotate {dimension.name}", prompts.annotate(dimension, texts)
        elif stage == "consensus":
            yield (
                f"consensus {dimension.name}",
                prompts.consensus(dimension, texts, pro, con),
            )
        else:
            for role, own, other in (("pro", pro, con), ("con", con, pro)):
                start = prompts.debate_start(dimension, Side(role), texts, own)
                yield f"{role} {dimension.name}", (*start, prompts.debate_turn(other, 1, 3))


def _opening(prompts: Prompts, dimension: Dimension) -> Position:
    """The first annotated demonstration of a dimension, severe ones first."""
    demos = demos_for(prompts.pack.demos[prompts.demo_pair], dimension.name)
    annotated = [demo.annotations for demo in demos if demo.annotations]
    annotated.sort(key=lambda items: not any(each.severity.is_severe for each in items))
    return Position(prompts.pack.openings["pro"], annotated[0] if annotated else ())
