"""A baseline's prompts: from its pack to the messages of each call, and the check of all of them.

The segment stands last, so that what repeats can be cached by servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jinja2

from mmad_metric.baselines.packs import BaselinePack
from mmad_metric.chat import Message
from mmad_metric.languages import LanguagePair
from mmad_metric.method_space import EAPROMPT, GEMBA_DA
from mmad_metric.mqm import Annotation
from mmad_metric.pack_files import naming_pack
from mmad_metric.packs import fallback_order
from mmad_metric.templates import annotations_reply, block

Texts = tuple[str, str]  # source, translation
_SAMPLE = ("A {{ source }} line.", "Eine </source> Zeile.")


@dataclass(frozen=True)
class BaselinePrompts:
    """The prompts of one pack for one language pair."""

    pack: BaselinePack
    lp: LanguagePair

    @cached_property
    def shown_pairs(self) -> tuple[str, ...]:
        """The pairs whose demonstrations are shown, in order: all that the pack has, but for
        EAPrompt, which shows those of the nearest pair."""
        if self.pack.method == EAPROMPT:
            return (fallback_order(self.lp, self.pack.demos)[0],)
        return tuple(self.pack.demos)

    @property
    def demo_pair(self) -> str:
        """The same in a word, as signatures show it; "" without demonstrations."""
        return "+".join(self.shown_pairs)

    @property
    def borrowed_pair(self) -> str:
        """Whose demonstrations stand in for those of the language pair; "" where none do."""
        borrows = self.pack.method == EAPROMPT and self.demo_pair != str(self.lp)
        return self.demo_pair if borrows else ""

    def annotate(self, texts: Texts) -> tuple[Message, ...]:
        """Instruction, demonstrations, then the segment whose errors are to be listed."""
        return (*self._annotate_prefix, self._pair("annotate_user", texts, self.lp))

    def count(self, texts: Texts, listed: Sequence[Annotation]) -> tuple[Message, ...]:
        """The same chat with the list as its answer, and the question how many there are."""
        asked = Message("user", self._render("count_user", {}, self.lp))
        return (*self.annotate(texts), Message("assistant", annotations_reply(listed)), asked)

    def score(self, texts: Texts) -> tuple[Message, ...]:
        """Instruction, then the segment to be scored as a whole."""
        system = Message("system", self._render("score_system", {}, self.lp))
        return (system, self._pair("score_user", texts, self.lp))

    def calls(
        self, texts: Texts, listed: Sequence[Annotation] = ()
    ) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """Each call's role and messages, in order; listed: what the annotator answers."""
        if self.pack.method == GEMBA_DA:
            yield "score", self.score(texts)
            return
        yield "annotate", self.annotate(texts)
        if self.pack.method == EAPROMPT:
            yield "count", self.count(texts, listed)

    def check(self) -> None:
        """Render with sample texts everything that is sent. Raises PackError naming the
        template: a variable that does not exist, a sandbox violation."""
        with naming_pack(self.pack.name):
            for _ in self.calls(_SAMPLE):
                pass

    @cached_property
    def _annotate_prefix(self) -> tuple[Message, ...]:
        variables = {"dimensions": self.pack.dimensions}
        messages = [Message("system", self._render("annotate_system", variables, self.lp))]
        for pair in self.shown_pairs:
            lp = LanguagePair.parse(pair)
            for demo in self.pack.demos[pair]:
                messages.append(self._pair("annotate_user", (demo.source, demo.translation), lp))
                messages.append(Message("assistant", annotations_reply(demo.annotations)))
        return tuple(messages)

    @cached_property
    def _environment(self) -> jinja2.Environment:
        made = self.pack.environment()
        made.globals["block"] = block
        return made

    def _pair(self, template: str, texts: Texts, lp: LanguagePair) -> Message:
        variables = {"source": texts[0], "translation": texts[1]}
        return Message("user", self._render(template, variables, lp))

    def _render(self, template: str, variables: Mapping[str, Any], lp: LanguagePair) -> str:
        languages = {"source_language": lp.source_name, "target_language": lp.target_name}
        made = self._environment.get_template(self.pack.templates[template])
        return made.render({**languages, **variables}).strip("\n")
