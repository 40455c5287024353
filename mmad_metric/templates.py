"""Prompt packs: from a folder of templates and demonstrations to the messages of a call.

A pack is data. User text enters templates as variables only, inside delimiters that do not
occur in it, and is never itself rendered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jinja2

from mmad_metric.chat import Message
from mmad_metric.errors import PackError
from mmad_metric.languages import LanguagePair
from mmad_metric.mqm import NON_TRANSLATION, Annotation
from mmad_metric.packs import Demo, Dimension, Pack, fallback_order
from mmad_metric.rating import Position


def block(label: str, text: str) -> str:
    """Text between delimiters that it does not contain: <label>, else <label-1>, …"""
    name, number = label, 0
    while f"</{name}>" in text or f"<{name}>" in text:
        number += 1
        name = f"{label}-{number}"
    return f"<{name}>\n{text}\n</{name}>"


def annotations_json(annotations: Sequence[Annotation]) -> str:
    """Annotations as the compact JSON list that prompts show."""
    return json.dumps([item.to_reply() for item in annotations], ensure_ascii=False)


def annotations_reply(annotations: Sequence[Annotation]) -> str:
    """Annotations as the reply that an agent would have given."""
    return f'{{"annotations": {annotations_json(annotations)}}}'


def position_reply(position: Position) -> str:
    """A debater's stand as the reply that it would have given."""
    argument = json.dumps(position.argument, ensure_ascii=False)
    return f'{{"argument": {argument}, "annotations": {annotations_json(position.annotations)}}}'


@dataclass(frozen=True, slots=True)
class Side:
    """A debater's part. name: pro or con; dispute: which findings are debated (config)."""

    name: str
    dispute: str = "major"


@dataclass(frozen=True)
class Prompts:
    """The prompts of one pack for one language pair. Methods give whole message lists."""

    pack: Pack
    lp: LanguagePair
    _demo_messages: dict[str, tuple[Message, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def demo_pair(self) -> str:
        """The pair whose demonstrations are used, e.g. "en-de"."""
        return fallback_order(self.lp, self.pack.demos)[0]

    @cached_property
    def _templates(self) -> dict[str, jinja2.Template]:
        environment = self.pack.environment()
        environment.globals["block"] = block
        return {
            name: environment.get_template(file) for name, file in self.pack.templates.items()
        } | {
            dimension.guidance: environment.get_template(dimension.guidance)
            for dimension in self.pack.dimensions
        }

    def _render(self, name: str, variables: Mapping[str, Any]) -> str:
        languages = {
            "source_language": self.lp.source_name,
            "target_language": self.lp.target_name,
        }
        return self._templates[name].render({**languages, **variables}).strip("\n")

    @cached_property
    def _guidance(self) -> dict[str, str]:
        return {
            dimension.name: self._render(dimension.guidance, {"dimension": dimension})
            for dimension in self.pack.dimensions
        }

    def annotate(self, dimension: Dimension, texts: tuple[str, str]) -> tuple[Message, ...]:
        """Stage 1: instruction, demonstrations, then the segment."""
        prefix = self._demo_messages.get(dimension.name)
        if prefix is None:
            prefix = self._annotate_prefix(dimension)
            self._demo_messages[dimension.name] = prefix
        return (*prefix, self._annotate_user(dimension, texts, self.lp))

    def _annotate_prefix(self, dimension: Dimension) -> tuple[Message, ...]:
        system = self._render(
            "annotate_system",
            {"dimension": dimension, "guidance": self._guidance[dimension.name]},
        )
        messages = [Message("system", system)]
        demo_lp = LanguagePair.parse(self.demo_pair)
        for demo in demos_for(self.pack.demos[self.demo_pair], dimension.name):
            messages.append(
                self._annotate_user(dimension, (demo.source, demo.translation), demo_lp)
            )
            messages.append(Message("assistant", annotations_reply(demo.annotations)))
        return tuple(messages)

    def _annotate_user(
        self, dimension: Dimension, texts: tuple[str, str], lp: LanguagePair
    ) -> Message:
        variables = {
            "dimension": dimension,
            "source": texts[0],
            "translation": texts[1],
            "source_language": lp.source_name,
            "target_language": lp.target_name,
        }
        return Message("user", self._render("annotate_user", variables))

    def debate_start(
        self, dimension: Dimension, side: Side, texts: tuple[str, str], opening: Position
    ) -> tuple[Message, ...]:
        """Stage 2: a debater's chat up to its own opening position."""
        variables = {
            "dimension": dimension,
            "side": side.name,
            "dispute": side.dispute,
            "guidance": self._guidance[dimension.name],
            "source": texts[0],
            "translation": texts[1],
        }
        return (
            Message("system", self._render("debate_system", variables)),
            Message("user", self._render("debate_user", variables)),
            Message("assistant", position_reply(opening)),
        )

    def debate_turn(self, opponent: Position, number: int, rounds: int) -> Message:
        """Stage 2: the message that brings a debater the other's latest position."""
        variables = {
            "opponent_argument": opponent.argument,
            "opponent_annotations": annotations_json(opponent.annotations),
            "round": number,
            "rounds": rounds,
            "closing": number == rounds,
        }
        return Message("user", self._render("debate_turn", variables))

    def consensus(
        self, dimension: Dimension, texts: tuple[str, str], pro: Position, con: Position
    ) -> tuple[Message, ...]:
        """Stage 2: the question whether the two sides agree."""
        variables = {
            "dimension": dimension,
            "source": texts[0],
            "translation": texts[1],
            "pro_argument": pro.argument,
            "pro_annotations": annotations_json(pro.annotations),
            "con_argument": con.argument,
            "con_annotations": annotations_json(con.annotations),
        }
        return (
            Message("system", self._render("consensus_system", variables)),
            Message("user", self._render("consensus_user", variables)),
        )

    @cached_property
    def _judge_system(self) -> Message:
        return Message("system", self._render("judge_system", {"dimensions": self.pack.dimensions}))

    def judge(
        self, texts: tuple[str, str], outcomes: Sequence[tuple[Dimension, Sequence[Annotation]]]
    ) -> tuple[Message, ...]:
        """Stage 3: the pair and what each dimension found."""
        shown = [
            {
                "name": dimension.name,
                "title": dimension.title,
                "annotations": annotations_json(annotations),
            }
            for dimension, annotations in outcomes
        ]
        variables = {"source": texts[0], "translation": texts[1], "outcomes": shown}
        return (self._judge_system, Message("user", self._render("judge_user", variables)))


def demos_for(demos: Sequence[Demo], dimension: str) -> list[Demo]:
    """The demonstrations that an agent of one dimension gets: the shared ones, then its own.

    Non-translation comes first, being the rarest answer: models lean towards the last one shown.
    """
    shared = [demo for demo in demos if demo.dimension == NON_TRANSLATION]
    return shared + [demo for demo in demos if demo.dimension == dimension]


def check_prompts(prompts: Prompts) -> None:
    """Render everything once with sample texts. Raises PackError naming the template.

    Finds what compiling cannot: a variable that does not exist, a sandbox violation.
    """
    texts = ("A {{ source }} line.", "Eine </source> Zeile.")
    opening = Position("", ())
    try:
        for dimension in prompts.pack.dimensions:
            prompts.annotate(dimension, texts)
            prompts.consensus(dimension, texts, opening, opening)
            for side in (Side("pro"), Side("con"), Side("con", "any")):
                prompts.debate_start(dimension, side, texts, opening)
        prompts.debate_turn(opening, 1, 2)
        prompts.judge(texts, [(dimension, ()) for dimension in prompts.pack.dimensions])
    except jinja2.TemplateError as error:
        raise PackError(f"prompt pack {prompts.pack.name}: {error}") from None
