"""Prompt packs: from a folder of templates and demonstrations to the messages of a call.

A pack is data. User text enters templates as variables only, inside delimiters that do not
occur in it, and is never itself rendered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import jinja2

from mmad_metric.chat import Message
from mmad_metric.languages import LanguagePair
from mmad_metric.material import NO_MATERIAL, Material
from mmad_metric.mqm import NON_TRANSLATION, Annotation
from mmad_metric.pack_files import VARIANTS
from mmad_metric.pack_parts import COUPLED, Demo, Dimension
from mmad_metric.packs import MATERIAL, Pack, fallback_order
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
    """A debater's part. name: pro or con; dispute: which findings are debated, topic: on what,
    strategy: how the debate ends (config)."""

    name: str
    dispute: str = "major"
    topic: str = "severity"
    strategy: str = "consensus"


@dataclass(frozen=True)
class Prompts:
    """The prompts of one pack for one language pair. Methods give whole message lists.

    shows: kinds of material that the agents are told of; material: what stands beside the
    segment that is asked about.
    """

    pack: Pack
    lp: LanguagePair
    shows: tuple[str, ...] = ()
    material: Material = NO_MATERIAL
    _demo_messages: dict[str, tuple[Message, ...]] = field(default_factory=dict, repr=False)
    _compiled: dict[str, jinja2.Template] = field(default_factory=dict, repr=False)

    def beside(self, material: Material) -> Prompts:
        """The prompts for a segment that has this beside it."""
        return self if material == self.material else replace(self, material=material)

    @cached_property
    def demo_pair(self) -> str:
        """The pair whose demonstrations are used, e.g. "en-de"."""
        return fallback_order(self.lp, self.pack.demos)[0]

    @cached_property
    def coupled_demo_pair(self) -> str:
        """The same for an agent that annotates all dimensions at once."""
        return fallback_order(self.lp, self.pack.coupled_demos)[0]

    @cached_property
    def _environment(self) -> jinja2.Environment:
        environment = self.pack.environment()
        environment.globals["block"] = block
        return environment

    def _template(self, name: str) -> jinja2.Template:
        """By its name in pack.toml, by VARIANTS/ and its name in variants.toml, or by its file;
        compiled when it is first needed."""
        found = self._compiled.get(name)
        if found is None:
            pack, variant = self.pack, name.removeprefix(f"{VARIANTS}/")
            file = pack.templates.get(name) if variant == name else pack.variants[variant]
            found = self._compiled[name] = self._environment.get_template(file or name)
        return found

    def render(self, name: str, variables: Mapping[str, Any]) -> str:
        """A template of the pack, filled; the languages' names are always known."""
        languages = {
            "source_language": self.lp.source_name,
            "target_language": self.lp.target_name,
        }
        return self._template(name).render({**languages, **variables}).strip("\n")

    def system(self, name: str, variables: Mapping[str, Any]) -> Message:
        """An agent's instruction, which says at its end what material there may be: the same for
        every segment, so that servers can keep it."""
        text = self.render(name, variables)
        if self.shows:
            text = f"{text}\n\n{self.render(MATERIAL, {'part': 'note', 'shows': self.shows})}"
        return Message("system", text)

    def segment(self, name: str, variables: Mapping[str, Any]) -> Message:
        """A message that shows an agent the segment, after what stands beside it."""
        text = self.render(name, variables)
        if self.material != NO_MATERIAL:
            beside = {
                "part": "segment",
                "shows": self.shows,
                "context": [
                    {"source": source, "translation": translation}
                    for source, translation in self.material.context
                ],
                "terms": self.material.terms,
                "reference": self.material.reference,
            }
            text = f"{self.render(MATERIAL, beside)}\n{text}"
        return Message("user", text)

    @cached_property
    def guidance(self) -> dict[str, str]:
        """What a dimension is, by its name; of all dimensions under COUPLED."""
        each = {
            dimension.name: self.render(dimension.guidance, {"dimension": dimension})
            for dimension in self.pack.dimensions
        }
        titled = (f"## {one.title}\n{each[one.name]}" for one in self.pack.dimensions)
        return {**each, COUPLED: "\n\n".join(titled)}

    def annotate(self, dimension: Dimension, texts: tuple[str, str]) -> tuple[Message, ...]:
        """Stage 1: instruction, demonstrations, then the segment. The dimension may be
        ALL_DIMENSIONS."""
        prefix = self._demo_messages.get(dimension.name)
        if prefix is None:
            prefix = self._annotate_prefix(dimension)
            self._demo_messages[dimension.name] = prefix
        return (*prefix, self.segment(*self._annotate_user(dimension, texts, self.lp)))

    def _annotate_prefix(self, dimension: Dimension) -> tuple[Message, ...]:
        variables = {"dimension": dimension, "guidance": self.guidance[dimension.name]}
        system, pair, demos = "annotate_system", self.demo_pair, self.pack.demos
        if dimension.is_coupled:
            system, pair, demos = (
                f"{VARIANTS}/coupled_system", self.coupled_demo_pair, self.pack.coupled_demos
            )  # fmt: skip
            variables |= self.subject(dimension, "", "")
            variables["dimensions"] = self.pack.dimensions
        messages = [self.system(system, variables)]
        demo_lp = LanguagePair.parse(pair)
        for demo in demos_for(demos[pair], dimension.name):
            asked = self._annotate_user(dimension, (demo.source, demo.translation), demo_lp)
            messages.append(Message("user", self.render(*asked)))
            messages.append(Message("assistant", annotations_reply(demo.annotations)))
        return tuple(messages)

    def _annotate_user(
        self, dimension: Dimension, texts: tuple[str, str], lp: LanguagePair
    ) -> tuple[str, dict[str, Any]]:
        """The template that asks for annotations, with its variables."""
        variables = {
            "dimension": dimension,
            "source": texts[0],
            "translation": texts[1],
            "source_language": lp.source_name,
            "target_language": lp.target_name,
        }
        return f"{VARIANTS}/coupled_user" if dimension.is_coupled else "annotate_user", variables

    def debate_start(
        self, dimension: Dimension, side: Side, texts: tuple[str, str], opening: Position
    ) -> tuple[Message, ...]:
        """Stage 2: a debater's chat up to its own opening position."""
        variables = {
            "dimension": dimension,
            "side": side.name,
            "dispute": side.dispute,
            "guidance": self.guidance[dimension.name],
            "source": texts[0],
            "translation": texts[1],
        }
        system = "debate_system"
        if dimension.is_coupled or (side.topic, side.strategy) != ("severity", "consensus"):
            system = f"{VARIANTS}/debate_system"
            variables |= self.subject(dimension, side.topic, side.strategy)
        return (
            self.system(system, variables),
            self.segment("debate_user", variables),
            Message("assistant", position_reply(opening)),
        )

    def labels(self, dimension: Dimension, topic: str = "") -> tuple[str, ...]:
        """The categories that an error of a dimension may have, its own first; where categories
        are debated, it may belong to another dimension."""
        labels = tuple(label for each in self.pack.dimensions for label in each.labels)
        if dimension.is_coupled:
            return labels
        others = tuple(label for label in labels if label not in dimension.labels)
        return dimension.labels + (others if topic == "category" else ())

    def subject(self, dimension: Dimension, topic: str, strategy: str) -> dict[str, Any]:
        """What the variants of the prompts know of a debate."""
        labels = self.labels(dimension, topic)
        n_own = len(labels) if dimension.is_coupled else len(dimension.labels)
        return {
            "dimension": dimension,
            "coupled": dimension.is_coupled,
            "topic": topic,
            "strategy": strategy,
            "guidance": self.guidance[dimension.name],
            "categories": labels[:n_own],
            "other_categories": labels[n_own:],
        }

    def debate_turn(
        self, opponent: Position, number: int, rounds: int, *, closing: bool | None = None
    ) -> Message:
        """Stage 2: the message that brings a debater the other's latest position. closing:
        whether it is the debater's last turn (default: that of the last round)."""
        variables = {
            "opponent_argument": opponent.argument,
            "opponent_annotations": annotations_json(opponent.annotations),
            "round": number,
            "rounds": rounds,
            "closing": number == rounds if closing is None else closing,
        }
        return Message("user", self.render("debate_turn", variables))

    def consensus(
        self,
        dimension: Dimension,
        texts: tuple[str, str],
        pro: Position,
        con: Position,
        topic: str = "severity",
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
        system = "consensus_system"
        if dimension.is_coupled or topic != "severity":
            system = f"{VARIANTS}/consensus_system"
            variables |= self.subject(dimension, topic, "consensus")
        return (
            self.system(system, variables),
            self.segment("consensus_user", variables),
        )

    @cached_property
    def _judge_system(self) -> Message:
        return self.system("judge_system", {"dimensions": self.pack.dimensions})

    @cached_property
    def _coupled_judge_system(self) -> Message:
        name = f"{VARIANTS}/coupled_judge_system"
        return self.system(name, {"dimensions": self.pack.dimensions})

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
        coupled = any(dimension.is_coupled for dimension, _ in outcomes)
        system = self._coupled_judge_system if coupled else self._judge_system
        return (system, self.segment("judge_user", variables))


def position_shown(side: str, position: Position) -> dict[str, str]:
    """A stand as templates of the variants take it. side: A (pro) or B (con)."""
    annotations = annotations_json(position.annotations)
    return {"side": side, "argument": position.argument, "annotations": annotations}


def demos_for(demos: Sequence[Demo], dimension: str) -> list[Demo]:
    """The demonstrations that an agent of one dimension gets: the shared ones, then its own.

    Non-translation comes first, being the rarest answer: models lean towards the last one shown.
    """
    shared = [demo for demo in demos if demo.dimension == NON_TRANSLATION]
    return shared + [demo for demo in demos if demo.dimension == dimension]
