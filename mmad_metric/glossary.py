"""Which entries of a glossary a source calls for: whole words, found in one pass over the text."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from mmad_metric.material import Term
from mmad_metric.normalise import fold, is_spaceless

# The words and signs of a text in ASCII, where all this is simple and most glossaries are.
_ASCII_WORDS = re.compile(r"\w+|[^\w\s]")
_ONE_QUOTE = str.maketrans("'`", '""')
# Under this key a node of the tree keeps the number of the entry that ends there. No word is
# empty.
_ENTRY = ""


@dataclass(frozen=True)
class Glossary:
    """Required terms, one entry a source term. name: what the signature calls it."""

    name: str
    terms: tuple[Term, ...]

    @property
    def identity(self) -> str:
        """Name and content hash: the same entries in the same order are the same glossary,
        whatever stands around them in a file."""
        content = json.dumps([(each.source, each.targets, each.note) for each in self.terms])
        return f"{self.name}@{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    def occurring(self, source: str) -> tuple[Term, ...]:
        """The entries whose source term occurs in the text, in the order of first occurrence.

        Letter case, Unicode form, quote style, blanks and invisible marks make no difference.
        Words are whole words, but in scripts without spaces, and in Korean, which joins its
        particles to them. A term that occurs only inside longer ones of the glossary is not
        meant: of "blood" and "blood pressure" the longer one counts.
        """
        words = word_list(source)
        found: dict[int, None] = {}
        covered = 0  # where the matches so far end
        for start in range(len(words)):
            entry, end = self._longest(words, start)
            if entry is not None and end > covered:
                covered = end
                found[entry] = None
        return tuple(self.terms[entry] for entry in found)

    def _longest(self, words: list[str], start: int) -> tuple[int | None, int]:
        """The longest entry that begins at a word, and where it ends."""
        node, entry, end = self._tree, None, start
        for position in range(start, len(words)):
            if words[position] not in node:
                break
            node = node[words[position]]
            if _ENTRY in node:
                entry, end = node[_ENTRY], position + 1
        return entry, end

    @cached_property
    def _tree(self) -> dict[str, Any]:
        """Words to what may follow them."""
        root: dict[str, Any] = {}
        for number, term in enumerate(self.terms):
            node = root
            for word in word_list(term.source):
                node = node.setdefault(word, {})
            node.setdefault(_ENTRY, number)
        return root


def word_list(text: str) -> list[str]:
    """The text as words, signs and letters of scripts without spaces, made comparable."""
    if text.isascii():
        return _ASCII_WORDS.findall(text.lower().translate(_ONE_QUOTE))
    return list(_words(fold(text).text))


def _words(text: str) -> Iterator[str]:
    word = ""
    for char in text:
        if _joins(char):
            word += char
            continue
        if word:
            yield word
            word = ""
        if char != " ":
            yield char
    if word:
        yield word


@lru_cache(maxsize=8192)
def _joins(char: str) -> bool:
    """Whether the character makes one word with its neighbours."""
    if is_spaceless(char) or unicodedata.name(char, "").startswith("HANGUL"):
        return False
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"
