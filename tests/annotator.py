"""A server script that plays all the agents from a table of known errors.

Each dimension's agent finds the known errors of its dimension (the accuracy agent also those
that belong to none), pro holds its opening, con holds or yields, the judge keeps everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mmad_metric.calls.reasking import REMINDER
from mmad_metric.testing import reply_text
from tests.loopback_replies import ReceivedCall

Item = dict[str, Any]
LookUp = Callable[[str, str], Sequence[Item]]
DIMENSIONS = ("accuracy", "fluency", "terminology", "style")
_BLOCK = r"<({0}(?:-\d+)?)>\n(.*?)\n</\1>"
_SOURCE = re.compile(_BLOCK.format("source"), re.DOTALL)
_TRANSLATION = re.compile(_BLOCK.format("translation"), re.DOTALL)


class Annotator:
    """look_up gives the known errors of a (source, translation), in the reply shape."""

    def __init__(self, look_up: LookUp, *, con_yields: bool = False) -> None:
        self.look_up = look_up
        self.con_yields = con_yields

    def __call__(self, call: ReceivedCall) -> str:
        return self.answer(call.schema, [str(each["content"]) for each in call.messages])

    def answer(self, schema: str, contents: Sequence[str]) -> str:
        if contents[-1] == REMINDER:  # what could not be read is not looked at again
            contents = contents[:-2]
        if schema in ("consensus_check", "interrogation"):
            return reply_text(schema)
        if schema == "error_counts":
            return reply_text(schema, json.loads(contents[-2])["annotations"])
        texts = texts_of(contents)
        if schema == "direct_assessment":
            return reply_text(schema, self.look_up(*texts))
        if schema == "dimension_annotations":
            dimension = _dimension(contents)
            return _json({"annotations": self._found(texts, dimension)})
        if schema == "coupled_annotations":
            return _json({"annotations": self.look_up(*texts)})
        if schema == "dimension_verdict":
            return _json({"analysis": "Pro is right.", "annotations": _first(contents)})
        if schema == "final_judgement":
            return _json({"analysis": "All stand.", "annotations": self.look_up(*texts)})
        return self._turn(contents)

    def _found(self, texts: tuple[str, str], dimension: str) -> list[Item]:
        return [item for item in self.look_up(*texts) if home_of(item["category"]) == dimension]

    def _turn(self, contents: Sequence[str]) -> str:
        """A debater restates its last stand; a yielding con takes over the other's, where it hears
        it: to questions, which do not show it, it says what it last said."""
        stand = json.loads(contents[-2])["annotations"]
        is_con = "against the first annotator" in contents[1]
        if is_con and self.con_yields:
            shown = re.findall(_BLOCK.format("opponent_annotations"), contents[-1], re.DOTALL)
            stand = json.loads(shown[-1][1]) if shown else stand
        return _json({"argument": "As I said.", "annotations": stand})


def _first(contents: Sequence[str]) -> Any:
    """The first annotation, as whoever decides a debate is shown it."""
    for content in contents:
        found = re.search(_BLOCK.format("first_annotations"), content, re.DOTALL)
        if found:
            return json.loads(found.group(2))
    raise AssertionError("no first annotation in the prompt")


def home_of(category: str) -> str:
    """The dimension whose agent reports a label: accuracy for what belongs to no other."""
    dimension = category.partition("/")[0].strip().lower()
    return dimension if dimension in DIMENSIONS else "accuracy"


def texts_of(contents: Sequence[str]) -> tuple[str, str]:
    """(source, translation) of the segment asked about: the last pair shown."""
    for content in reversed(contents):
        source, translation = _SOURCE.search(content), _TRANSLATION.search(content)
        if source and translation:
            return source.group(2), translation.group(2)
    raise AssertionError("no segment in the prompt")


def is_about(call: ReceivedCall, words: str) -> bool:
    """Whether the segment asked about has the words in its translation."""
    return words in texts_of([str(each["content"]) for each in call.messages])[1]


def _dimension(contents: Sequence[str]) -> str:
    """The agent's dimension, by the question last asked (a reminder may follow it)."""
    for content in reversed(contents):
        found = re.search(r"List the (.+?) errors", content)
        if found:
            return found.group(1)
    raise AssertionError("no question in the prompt")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def by_words(table: Mapping[str, tuple[str, str]]) -> LookUp:
    """Errors wherever their words occur in a translation: words to (category, severity)."""

    def look_up(source: str, translation: str) -> list[Item]:
        return [
            {
                "error_span": words,
                "category": category,
                "severity": severity,
                "is_source_error": False,
            }
            for words, (category, severity) in table.items()
            if words in translation
        ]

    return look_up


# The reply of an agent that finds no error; judges' and debaters' shapes add fields to it.
NOTHING = '{"annotations": []}'

# What the small files of the command-line tests hold.
KNOWN = by_words(
    {
        "Maus": ("accuracy/mistranslation", "major"),
        "Das rote": ("fluency/grammar", "minor"),
        "recht sehr": ("style/awkward", "minor"),
    }
)
