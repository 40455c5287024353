"""`mmad prompts show` and `mmad prompts check`: exactly what would be sent, and is it sound."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mmad_metric.chat import Message
from mmad_metric.cli.baseline_prompts import baseline_messages, check_baseline
from mmad_metric.cli.exits import EXIT_OK
from mmad_metric.cli.prompt_text import print_messages, texts_given
from mmad_metric.deciding_prompts import (
    Dispute,
    Moment,
    Said,
    answer,
    check_prompts,
    check_variants,
    interrogator_system,
    interrogator_user,
    verdict,
)
from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair
from mmad_metric.material import CONTEXT, KINDS, REFERENCE, TERMINOLOGY, Material, Term
from mmad_metric.method_space import METHODS, MMAD, STRATEGIES, TOPICS
from mmad_metric.pack_files import pack_method
from mmad_metric.pack_parts import ALL_DIMENSIONS, Dimension
from mmad_metric.packs import load_pack
from mmad_metric.rating import Position
from mmad_metric.stages.positions import counter_position, counter_words
from mmad_metric.templates import Prompts, Side, demos_for

# The stages of each strategy, in the order in which their prompts are sent.
_STAGES = {
    "consensus": ("annotate", "debate", "consensus", "judge"),
    "deliberation": ("annotate", "debate", "verdict", "judge"),
    "interactive-review": ("annotate", "debate", "interrogation", "verdict", "judge"),
    "consultancy-review": ("annotate", "interrogation", "verdict", "judge"),
    "none": ("annotate", "judge"),
}
STAGES = ("annotate", "debate", "consensus", "interrogation", "verdict", "judge")
_ROUNDS = 3


def run_prompts(arguments: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser(prog="mmad prompts", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print the messages of each stage")
    show.add_argument("-l", "--lp", "--language-pair", default="en-de", metavar="SRC-TGT")
    show.add_argument("--method", choices=METHODS, default=MMAD, help="M-MAD, or a baseline")
    show.add_argument("--prompts", metavar="PACK", help="(default: the method's own)")
    show.add_argument("--stage", choices=STAGES, help="one stage only")
    show.add_argument("--strategy", choices=STRATEGIES, help="how a debate ends")
    show.add_argument("--topic", choices=TOPICS, help="what is debated (default: severity)")
    show.add_argument("--skip-stage", type=int, choices=(1,), help="one annotator for all")
    show.add_argument("--dimension", help="one dimension only")
    show.add_argument("--beside", nargs="+", choices=KINDS, default=[], metavar="KIND",
                      help="with an example of material: " + ", ".join(KINDS))  # fmt: skip
    show.add_argument("--source", help="source text (default: a demonstration's)")
    show.add_argument("--translation", help="translation (default: a demonstration's)")
    check = commands.add_parser("check", help="check a prompt pack")
    check.add_argument("folder", metavar="DIR", help="folder of the pack, or a shipped name")
    options = parser.parse_args(arguments)
    if options.command == "check":
        return _check(options.folder)
    if options.method != MMAD:
        print_messages(baseline_messages(options))
        return EXIT_OK
    return _show(options)


def _check(folder: str) -> int:
    if pack_method(folder) != MMAD:
        print(check_baseline(folder))
        return EXIT_OK
    pack = load_pack(folder)
    shows = KINDS if pack.material_digest else ()
    for pair in pack.demos:
        check_prompts(Prompts(pack, LanguagePair.parse(pair), shows))
    if pack.variants:
        check_variants(Prompts(pack, LanguagePair.parse(next(iter(pack.demos)))))
    names = ", ".join(dimension.name for dimension in pack.dimensions)
    print(f"{pack.identity}: sound; dimensions {names}; demonstrations {', '.join(pack.demos)}")
    if pack.variants:
        identity = pack.identity_with(variants=True)
        print(f"{identity} with other strategies and topics, and without stage 1")
    else:
        print("no variants.toml: strategy consensus, topic severity and all stages alone")
    if not shows:
        print("no material.j2: without --context, --glossary, --use-reference")
    return EXIT_OK


def _show(options: argparse.Namespace) -> int:
    topic = options.topic or TOPICS[0]
    shows = tuple(kind for kind in KINDS if kind in options.beside)
    pack = load_pack(options.prompts or MMAD)
    prompts = Prompts(pack, LanguagePair.parse(options.lp), shows)
    prompts = prompts.beside(_material(prompts, shows))
    check_prompts(prompts)
    strategy = _strategy(options)
    coupled = options.skip_stage is not None
    if coupled or topic != "severity" or strategy not in ("consensus", "none"):
        check_variants(prompts, [topic], [strategy])
    dimensions = (ALL_DIMENSIONS,) if coupled else _dimensions(prompts, options.dimension)
    texts = _texts(prompts, options)
    view = _View(prompts, dimensions, texts, topic, strategy)
    for stage in _STAGES[strategy] if options.stage is None else (options.stage,):
        print_messages(view.messages(stage))
    return EXIT_OK


def _strategy(options: argparse.Namespace) -> str:
    """The strategy asked for, else the first that has the stage asked for."""
    stage, strategy = options.stage, options.strategy
    if strategy is None:
        return next(name for name in STRATEGIES if stage is None or stage in _STAGES[name])
    if stage is not None and stage not in _STAGES[strategy]:
        raise ConfigError(
            f"--stage {stage}: strategy {strategy} has {', '.join(_STAGES[strategy])} only"
        )
    return str(strategy)


def _dimensions(prompts: Prompts, wanted: str | None) -> tuple[Dimension, ...]:
    found = tuple(each for each in prompts.pack.dimensions if wanted in (None, each.name))
    if not found:
        known = ", ".join(dimension.name for dimension in prompts.pack.dimensions)
        raise ConfigError(f"--dimension: {wanted!r} is not one of {known}")
    return found


def _texts(prompts: Prompts, options: argparse.Namespace) -> tuple[str, str]:
    """The texts given, or those of the pack's first demonstration with a major error."""
    demo = prompts.pack.demos[prompts.demo_pair][0]
    return texts_given(options, (demo.source, demo.translation))


def _material(prompts: Prompts, shows: Sequence[str]) -> Material:
    """An example of what may stand beside a segment, from the pack's demonstrations."""
    demos = prompts.pack.demos[prompts.demo_pair]
    return Material(
        ((demos[-1].source, demos[-1].translation),) if CONTEXT in shows else (),
        (Term("source term", ("target term",)),) if TERMINOLOGY in shows else (),
        demos[0].translation if REFERENCE in shows else None,
    )


@dataclass(frozen=True, slots=True)
class _View:
    """Titles and messages of a stage; openings are taken from the demonstrations."""

    prompts: Prompts
    dimensions: tuple[Dimension, ...]
    texts: tuple[str, str]
    topic: str
    strategy: str

    def messages(self, stage: str) -> Iterator[tuple[str, tuple[Message, ...]]]:
        if stage == "judge":
            found = [(each, self._stands(each)[0].annotations) for each in self.dimensions]
            yield "judge", self.prompts.judge(self.texts, found)
            return
        for each in self.dimensions:
            if stage == "annotate":
                yield f"annotate {each.name}", self.prompts.annotate(each, self.texts)
            elif stage == "consensus":
                check = self.prompts.consensus(each, self.texts, *self._stands(each), self.topic)
                yield f"consensus {each.name}", check
            elif stage == "debate":
                yield from self._debate(each)
            elif stage == "interrogation":
                yield from self._interrogation(each)
            else:
                yield self._verdict(each)

    def _stands(self, dimension: Dimension) -> tuple[Position, Position]:
        words = self.prompts.pack.openings_on(self.topic)
        opening = _opening(self.prompts, dimension)
        counter = counter_position(opening.annotations, self.topic)
        said = counter_words(opening.annotations, self.topic)
        return Position(words["pro"], opening.annotations), Position(words[said], counter)

    def _start(self, dimension: Dimension, role: str, own: Position) -> tuple[Message, ...]:
        side = Side(role, "major", self.topic, self.strategy)
        return self.prompts.debate_start(dimension, side, self.texts, own)

    def _debate(self, dimension: Dimension) -> Iterator[tuple[str, tuple[Message, ...]]]:
        pro, con = self._stands(dimension)
        for role, own, other in (("pro", pro, con), ("con", con, pro)):
            turn = self.prompts.debate_turn(other, 1, _ROUNDS)
            yield f"{role} {dimension.name}", (*self._start(dimension, role, own), turn)

    def _dispute(self, dimension: Dimension) -> Dispute:
        opening = self._stands(dimension)[0].annotations
        return Dispute(dimension, self.texts, opening, self.topic, self.strategy)

    def _interrogation(self, dimension: Dimension) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """The first questions, and how they are put to the sides."""
        prompts, dispute = self.prompts, self._dispute(dimension)
        stands = dict(zip(("pro", "con"), self._stands(dimension), strict=True))
        asked = "Which words bear that out?"
        alone = self.strategy == "consultancy-review"
        for role in stands if alone else ("",):
            heard = tuple(
                (name, stand)
                for name, (side, stand) in zip(("A", "B"), stands.items(), strict=True)
                if role in ("", side)
            )
            moment = Moment(1, _ROUNDS, heard, first=True)
            yield (
                f"interrogator {role} {dimension.name}".replace("  ", " "),
                (
                    interrogator_system(prompts, dispute, role),
                    interrogator_user(prompts, dispute, moment, role),
                ),
            )
        for role, own in stands.items():
            put = answer(prompts, dispute, asked, Moment(1, _ROUNDS))
            yield f"answer {role} {dimension.name}", (*self._start(dimension, role, own), put)

    def _verdict(self, dimension: Dimension) -> tuple[str, tuple[Message, ...]]:
        prompts, dispute = self.prompts, self._dispute(dimension)
        pro, con = self._stands(dimension)
        if self.strategy == "interactive-review":
            stands = (("A", pro), ("B", con))
            last = Moment(_ROUNDS, _ROUNDS, answers=stands, first=True, deciding=True)
            messages: tuple[Message, ...] = (
                interrogator_system(prompts, dispute),
                interrogator_user(prompts, dispute, last),
            )
        else:
            record = [Said("A", pro.argument), Said("B", con.argument)]
            messages = verdict(prompts, dispute, record, (pro, con))
        return f"verdict {dimension.name}", messages


def _opening(prompts: Prompts, dimension: Dimension) -> Position:
    """The first annotated demonstration of a dimension, severe ones first, non-translation
    last."""
    pack, pair = prompts.pack, prompts.demo_pair
    known = pack.coupled_demos[prompts.coupled_demo_pair] if dimension.is_coupled else (
        pack.demos[pair]
    )  # fmt: skip
    annotated = [each for each in demos_for(known, dimension.name) if each.annotations]
    annotated.sort(key=lambda demo: not any(each.severity.is_severe for each in demo.annotations))
    annotated.sort(key=lambda demo: demo.dimension != dimension.name)
    return Position("", annotated[0].annotations if annotated else ())
