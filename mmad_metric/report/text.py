"""Texts of strangers as HTML: every character is there, none is obeyed, none is hidden."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from html import escape

from mmad_metric.stretches import Numbered, stretches

# What has a shorter name among those who look for it.
_NAMES = {
    "\t": "TAB", "\r": "CR", "\x00": "NUL", "\x7f": "DEL", "\xa0": "NBSP", "\xad": "SHY",
    "\u034f": "CGJ", "\u061c": "ALM", "\u200b": "ZWSP", "\u200c": "ZWNJ", "\u200d": "ZWJ",
    "\u200e": "LRM", "\u200f": "RLM", "\u2028": "LSEP", "\u2029": "PSEP", "\u202a": "LRE",
    "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO", "\u202f": "NNBSP",
    "\u2060": "WJ", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI",
    "\ufeff": "BOM",
}  # fmt: skip
# Letters and symbols to Unicode, blank to people.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_JOINERS = "\u200c\u200d"
# Ordinary in East Asian text, where it is seen by its width.
_WIDE_SPACE = "\u3000"
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp", "Cs")
# The last two places of every plane hold no character.
_LAST_TWO = 0xFFFE
_FIRST_BEYOND_ASCII = "\x80"


class Html(str):
    """A piece of HTML that is finished: templates take it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def shown(text: str, before: str = "") -> Html:
    """The text as HTML whose text content is the text again.

    What cannot be seen stands in an element of its own that shows its name; being isolated, it
    turns no other text around. before: the character in front of this piece. Two kinds of
    characters no HTML can hold, and U+FFFD stands for them: NUL and lone surrogates.
    """
    if text.isprintable() and not any(blank in text for blank in _BLANKS):
        return Html(escape(text))
    pieces = []
    for character in text:
        # People need joiners for Persian or emoji; among ASCII letters they only hide.
        joins = character in _JOINERS and before >= _FIRST_BEYOND_ASCII
        pieces.append(character if joins else _visible(character))
        before = character
    return Html("".join(pieces))


@lru_cache(maxsize=4096)
def _visible(character: str) -> str:
    if not _is_hidden(character):
        return escape(character)
    code = f"U+{ord(character):04X}"
    name = _NAMES.get(character, code)
    title = f"{code} {unicodedata.name(character, '')}".rstrip()
    kind = "gap" if unicodedata.category(character) == "Zs" or character == "\t" else "ghost"
    return f'<bdi class="{kind}" data-name="{name}" title="{title}">{_written(character)}</bdi>'


def _is_hidden(character: str) -> bool:
    if character in (" ", "\n", _WIDE_SPACE):
        return False
    if character in _BLANKS or unicodedata.category(character) in _UNSEEN:
        return True
    return ord(character) & _LAST_TWO == _LAST_TWO or "\ufdd0" <= character <= "\ufdef"


def _written(character: str) -> str:
    if character == "\r":  # a bare one would be read as a line feed
        return "&#13;"
    if character == "\x00" or unicodedata.category(character) == "Cs":
        return "\ufffd"
    return character


def marked(text: str, errors: Iterable[Numbered]) -> Html:
    """The text, each stretch that errors cover in a `<mark>` as severe as the worst of them.

    `data-errors` has their numbers; where an error ends stands an empty element that shows its
    number, so that the text content stays the text.
    """
    pieces = []
    for each in stretches(text, errors):
        before = text[each.start - 1] if each.start else ""
        piece = shown(text[each.start : each.end], before)
        worst = each.worst
        if worst is not None:
            numbers = " ".join(str(number) for number, _ in each.covering)
            kind = worst.severity.value + ("" if piece else " point")
            piece = Html(f'<mark class="{kind}" data-errors="{numbers}">{piece}</mark>')
        ends = "".join(
            f'<span class="end" data-number="{number}"></span>' for number in each.ending
        )
        pieces.append(piece + ends)
    return Html("".join(pieces))
