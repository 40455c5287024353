"""Makes texts comparable: what readers see as one character, as one word, as the same words.

A user-perceived character (a cluster: base letter with its marks, an emoji with its modifiers
and joiners, a flag, a Hangul syllable) is never cut. The rules are those of Unicode's extended
grapheme clusters, less the Indic conjunct and prepend rules; ZWNJ stands alone, so that the
words on either side of it can be quoted without it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_ZWJ = "\u200d"

# Marks that nobody sees. ZWJ is not among them because it decides which emoji is shown; it is
# dropped where it does not stand before one. Tag characters spell the flags of regions.
_INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u180e\ufeff"  # soft hyphen, grapheme joiner, Arabic mark, Mongolian, BOM
    + "".join(map(chr, range(0x180B, 0x180E)))  # Mongolian variation selectors
    + "\u180f\u200b\u200c\u200e\u200f"  # zero-width space and non-joiner, direction marks
    + "".join(map(chr, range(0x202A, 0x202F)))  # embeddings and overrides
    + "".join(map(chr, range(0x2060, 0x2065)))  # word joiner, invisible operators
    + "".join(map(chr, range(0x2066, 0x2070)))  # isolates, deprecated format characters
    + "".join(map(chr, range(0xFE00, 0xFE10)))  # variation selectors
    + "".join(map(chr, range(0xE0100, 0xE01F0)))  # ideographic variation selectors
)

# One class for all quotation marks and apostrophes: models also turn double quotes into single
# ones to save themselves an escape. Primes are units of measure and title marks are no quotes.
_QUOTES = frozenset(
    "\"'`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
    "\u02bb\u02bc\u05f3\u05f4\u275b\u275c\u275d\u275e\u2e42\u300c\u300d\u300e\u300f"
    "\u301d\u301e\u301f\ufe41\ufe42\ufe43\ufe44\uff02\uff07\uff62\uff63"
)
_ONE_QUOTE = dict.fromkeys(map(ord, _QUOTES), '"')

# Invisible marks that stand inside words; the others end one.
_WORD_JOINERS = frozenset("\u00ad\u200c\u200d\u2060")

# Scripts that put no space between words, so that every place may be a word's edge.
_SPACELESS = (
    (0x0E00, 0x109F),  # Thai, Lao, Tibetan, Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer symbols
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x312F),  # CJK radicals and punctuation, Hiragana, Katakana, Bopomofo
    (0x3190, 0x4DBF),  # Kanbun, Bopomofo and Katakana extensions, ideographs A
    (0x4E00, 0xA4CF),  # ideographs, Yi
    (0xA980, 0xA9FF),  # Javanese, Myanmar extended B
    (0xAA60, 0xAADF),  # Myanmar extended A, Tai Viet
    (0xF900, 0xFAFF),  # compatibility ideographs
    (0xFF66, 0xFF9F),  # halfwidth Katakana
    (0x1AFF0, 0x1B16F),  # Kana supplements
    (0x20000, 0x3FFFF),  # ideographs B and later
)


def sound(text: str) -> str:
    """The text with lone surrogates, which no file can hold, as U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@dataclass(frozen=True, slots=True)
class Folded:
    """A text folded for comparison, and the way back.

    starts, ends: for each character of the folded `text`, the stretch of the text as given
    that it stands for (code points, half-open). All characters of one cluster share it.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def stretch(self, start: int, end: int) -> tuple[int, int] | None:
        """The stretch as given behind `text[start:end]`; None if that would cut a cluster."""
        if start and self.starts[start - 1] == self.starts[start]:
            return None
        if end < len(self.text) and self.starts[end - 1] == self.starts[end]:
            return None
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> Folded:
    """Fold Unicode form (NFC), case, quote style, whitespace runs and invisible marks away.

    Case folding never changes the number of letters: "Maße" is not "Masse".
    """
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    inner = inner_positions(text)
    edges = [at for at in range(len(text) + 1) if at not in inner]
    for start, end in pairwise(edges):
        characters = _fold_cluster(text[start:end])
        if characters == " " and folded and folded[-1] == " ":
            ends[-1] = end
            continue
        folded.extend(characters)
        starts.extend([start] * len(characters))
        ends.extend([end] * len(characters))
    return Folded("".join(folded), starts, ends)


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str) -> str:
    if cluster.isspace():
        return " "
    seen = "".join(
        char
        for char, after in pairwise(cluster + " ")
        if char not in _INVISIBLE and (char != _ZWJ or _is_pictographic(after))
    )
    lowered = "".join(map(_lower, unicodedata.normalize("NFC", seen)))
    return unicodedata.normalize("NFC", lowered).translate(_ONE_QUOTE)


def _lower(char: str) -> str:
    folded = char.casefold()
    return folded if len(folded) == 1 else char.lower()


def without_quotes(words: str) -> str:
    """The words without the quotation marks that wrap them, at both ends or not at all."""
    words = words.strip()
    left, right = 0, len(words)
    while right - left > 1 and words[left] in _QUOTES and words[right - 1] in _QUOTES:
        left, right = left + 1, right - 1
    return words[left:right].strip()


def inside_words(text: str) -> frozenset[int]:
    """The offsets (code points) at which a cut would split a word.

    Letters, marks, digits and joiners make a word. Scripts without spaces have no inside.
    """
    word = [_in_word(char) for char in text]
    return frozenset(at for at in range(1, len(word)) if word[at] and word[at - 1])


@lru_cache(maxsize=8192)
def _in_word(char: str) -> bool:
    if char in _WORD_JOINERS:
        return True
    if is_spaceless(char):
        return False
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")


def is_spaceless(char: str) -> bool:
    """Whether the character is of a script that puts no space between words."""
    return any(first <= ord(char) <= last for first, last in _SPACELESS)


# Latin letters, dashes, quotation marks, currency signs: most texts, and nothing that joins.
_PLAIN = re.compile("[\\x00-\u02ff\u2010-\u2027\u20a0-\u20bf]*")


def inner_positions(text: str) -> frozenset[int]:
    """The offsets (code points) at which a cut would split a user-perceived character."""
    if _PLAIN.fullmatch(text) and "\r\n" not in text:
        return frozenset()
    inner = set()
    before = ""
    indicators = 0  # regional indicators in a row: two make a flag
    for at, char in enumerate(text):
        if char < "\u0300":
            if char == "\n" and before == "\r":
                inner.add(at)
        elif _joins(before, char, half_a_flag=indicators % 2 == 1):
            inner.add(at)
        indicators = indicators + 1 if _is_indicator(char) else 0
        before = char
    return frozenset(inner)


def _joins(before: str, char: str, *, half_a_flag: bool) -> bool:
    """Whether `char`, not a Latin one, belongs to the cluster of the character before it."""
    if _extends(char):
        return before != "" and not _is_control(before)
    if before == _ZWJ:
        return _is_pictographic(char)
    if _is_indicator(char):
        return half_a_flag
    if "\udc00" <= char <= "\udfff":
        return "\ud800" <= before <= "\udbff"
    return _joins_jamo(_jamo(before), _jamo(char))


@lru_cache(maxsize=8192)
def _extends(char: str) -> bool:
    # Besides marks: skin tones, tags of region flags, halfwidth voicing, Thai and Lao "am".
    return (
        unicodedata.category(char).startswith("M")
        or char == _ZWJ
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or char in "\uff9e\uff9f\u0e33\u0eb3"
    )


def _is_control(char: str) -> bool:
    if char == _ZWJ or "\U000e0020" <= char <= "\U000e007f":
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _is_pictographic(char: str) -> bool:
    # The block is taken whole, because older Pythons do not know the newer emoji.
    return "\U0001f000" <= char <= "\U0001ffff" or unicodedata.category(char) in ("So", "Sm")


def _is_indicator(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _jamo(char: str) -> str:
    """The part that a Hangul character plays: L, V, T, a syllable LV or LVT, else ""."""
    if "\uac00" <= char <= "\ud7a3":
        return "LV" if (ord(char) - 0xAC00) % 28 == 0 else "LVT"
    for kind, first, last in (
        ("L", "\u1100", "\u115f"),
        ("L", "\ua960", "\ua97c"),
        ("V", "\u1160", "\u11a7"),
        ("V", "\ud7b0", "\ud7c6"),
        ("T", "\u11a8", "\u11ff"),
        ("T", "\ud7cb", "\ud7fb"),
    ):
        if first <= char <= last:
            return kind
    return ""


def _joins_jamo(before: str, after: str) -> bool:
    follows = {
        "L": ("L", "V", "LV", "LVT"),
        "V": ("V", "T"),
        "LV": ("V", "T"),
        "T": ("T",),
        "LVT": ("T",),
    }
    return after in follows.get(before, ())
