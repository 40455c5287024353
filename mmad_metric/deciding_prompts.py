"""Prompts of those who question the sides of a debate and decide it; and the check of all prompts.

The sides are shown as A (pro) and B (con).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from mmad_metric.chat import Message
from mmad_metric.errors import PackError
from mmad_metric.material import Material, Term
from mmad_metric.method_space import STRATEGIES, TOPICS
from mmad_metric.mqm import Annotation
from mmad_metric.pack_files import VARIANTS, naming_pack
from mmad_metric.pack_parts import ALL_DIMENSIONS, Dimension
from mmad_metric.packs import MATERIAL, compile_material, compile_variants
from mmad_metric.rating import Position
from mmad_metric.templates import Prompts, Side, annotations_json, position_shown

SIDE_NAMES = {"pro": "A", "con": "B"}


@dataclass(frozen=True, slots=True)
class Dispute:
    """What is to be decided. texts: the segment's (source, translation); opening: the first
    annotation, which pro stands for; topic, strategy: of the debate (config)."""

    dimension: Dimension
    texts: tuple[str, str]
    opening: tuple[Annotation, ...]
    topic: str
    strategy: str


@dataclass(frozen=True, slots=True)
class Said:
    """A turn in the record that a decider reads. side: A or B; question: what it answers, if
    anything."""

    side: str
    argument: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """What an interrogator hears before it speaks next.

    positions: stands in the debate, answers: replies to its own questions, both as (side,
    stand); first: its first message, which shows the segment; deciding: the last one.
    """

    number: int
    rounds: int
    positions: tuple[tuple[str, Position], ...] = ()
    answers: tuple[tuple[str, Position], ...] = ()
    first: bool = False
    deciding: bool = False


def interrogator_system(prompts: Prompts, dispute: Dispute, side: str = "") -> Message:
    """The interrogator's instruction; side: the one it questions alone, pro or con."""
    variables = {**_subject(prompts, dispute), "side": side}
    return prompts.system(f"{VARIANTS}/interrogator_system", variables)


def interrogator_user(
    prompts: Prompts, dispute: Dispute, moment: Moment, side: str = ""
) -> Message:
    """What the interrogator hears, and what it shall do now: ask, or decide."""
    variables = {
        **_subject(prompts, dispute),
        "first": moment.first,
        "answers": [position_shown(*each) for each in moment.answers],
        "positions": [position_shown(*each) for each in moment.positions],
        "round": moment.number,
        "rounds": moment.rounds,
        "deciding": moment.deciding,
        "side_name": SIDE_NAMES.get(side, ""),
    }
    name = f"{VARIANTS}/interrogator_user"
    if moment.first:
        return prompts.segment(name, variables)
    return Message("user", prompts.render(name, variables))


def answer(prompts: Prompts, dispute: Dispute, questions: str, moment: Moment) -> Message:
    """The message that brings a debater the interrogator's questions."""
    variables = {
        **_subject(prompts, dispute),
        "questions": questions,
        "round": moment.number,
        "rounds": moment.rounds,
        "closing": moment.number == moment.rounds,
    }
    return Message("user", prompts.render(f"{VARIANTS}/answer", variables))


def verdict(
    prompts: Prompts,
    dispute: Dispute,
    record: Sequence[Said],
    final: tuple[Position, Position],
) -> tuple[Message, ...]:
    """The question to whoever decides: all that was said, and where pro and con stand now."""
    stands = zip(SIDE_NAMES.values(), final, strict=True)
    variables = {
        **_subject(prompts, dispute),
        "record": record,
        "positions": [position_shown(*each) for each in stands],
    }
    return (
        prompts.system(f"{VARIANTS}/verdict_system", variables),
        prompts.segment(f"{VARIANTS}/verdict_user", variables),
    )


def _subject(prompts: Prompts, dispute: Dispute) -> dict[str, object]:
    return {
        **prompts.subject(dispute.dimension, dispute.topic, dispute.strategy),
        "source": dispute.texts[0],
        "translation": dispute.texts[1],
        "first_annotations": annotations_json(dispute.opening),
    }


def check_prompts(prompts: Prompts) -> None:
    """Render with sample texts everything that default settings send. Raises PackError naming
    the template.

    Finds what compiling cannot: a variable that does not exist, a sandbox violation.
    """
    texts, opening = _SAMPLE, Position("", ())
    _check_material(prompts)
    with naming_pack(prompts.pack.name):
        for dimension in prompts.pack.dimensions:
            prompts.annotate(dimension, texts)
            prompts.consensus(dimension, texts, opening, opening)
            for side in (Side("pro"), Side("con"), Side("con", "any")):
                prompts.debate_start(dimension, side, texts, opening)
        prompts.debate_turn(opening, 1, 2)
        prompts.judge(texts, [(dimension, ()) for dimension in prompts.pack.dimensions])


def check_variants(
    prompts: Prompts, topics: Sequence[str] = TOPICS, strategies: Sequence[str] = STRATEGIES
) -> None:
    """The same for what other topics and strategies send, and for one annotator of everything.

    Raises PackError too where the pack has nothing for them.
    """
    pack = prompts.pack
    if not pack.variants:
        raise PackError(
            f"prompt pack {pack.name}: without variants.toml it serves strategy consensus, topic "
            "severity and all stages alone"
        )
    compile_variants(pack)
    stand = Position("So.", ())
    with naming_pack(prompts.pack.name):
        prompts.annotate(ALL_DIMENSIONS, _SAMPLE)
        prompts.judge(_SAMPLE, [(ALL_DIMENSIONS, ())])
        for dimension, topic in product((pack.dimensions[0], ALL_DIMENSIONS), topics):
            prompts.consensus(dimension, _SAMPLE, stand, stand, topic)
            for strategy in strategies:
                for name in SIDE_NAMES:
                    side = Side(name, "any", topic, strategy)
                    prompts.debate_start(dimension, side, _SAMPLE, stand)
                _check_deciding(prompts, Dispute(dimension, _SAMPLE, (), topic, strategy))


def _check_material(prompts: Prompts) -> None:
    """Raises PackError where the pack has no words for the material that is to be shown."""
    pack = prompts.pack
    if not prompts.shows:
        return
    if not pack.material_digest:
        raise PackError(
            f"prompt pack {pack.name}: no {MATERIAL} in its folder, so that "
            f"{' and '.join(prompts.shows)} cannot be shown to the agents"
        )
    compile_material(pack)
    terms = (Term("term", ("Term",)), Term("other", ("one", "two"), "A note."))
    shown = Material((_SAMPLE, ("Untranslated.", "")), terms, "Ein Satz.")
    with naming_pack(prompts.pack.name):
        for material in (
            shown,
            Material(shown.context),
            Material((), terms),
            Material((), (), "r"),
        ):
            prompts.beside(material).judge(_SAMPLE, [])


_SAMPLE = ("A {{ source }} line.", "Eine </source> Zeile.")


def _check_deciding(prompts: Prompts, dispute: Dispute) -> None:
    stand = Position("So.", ())
    both = (("A", stand), ("B", stand))
    for side in SIDE_NAMES:
        interrogator_system(prompts, dispute, side)
        for deciding in (False, True):
            moment = Moment(1, 1, both, both, first=True, deciding=deciding)
            interrogator_user(prompts, dispute, moment, side)
    answer(prompts, dispute, "Why?", Moment(1, 2))
    verdict(prompts, dispute, [Said("A", "So.", "Why?"), Said("B", "So.")], (stand, stand))
