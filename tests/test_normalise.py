"""Characters, words and folded texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmad_metric.normalise import fold, inner_positions, inside_words, without_quotes

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)


@pytest.mark.parametrize(
    "characters",
    [
        ["a", "b", " ", "c"],
        ["e\u0301", "x"],
        ["\r\n", "\n", "\r", "x"],
        ["👍🏽", "👍"],
        ["👩\u200d👩\u200d👧", "👩"],
        ["❤\ufe0f\u200d🔥", "x"],
        ["🏴\U000e0067\U000e0062\U000e007f", "x"],
        ["🇩🇪", "🇫🇷", "🇪", "x", "🇩🇪"],
        ["각", "\u1100\u1161\u11a8", "가\u11a8", "\u1100", "x"],
        ["\u0915\u093f", "\u0928"],
        ["\u0e19\u0e33", "\u0e44"],
        ["\uff76\uff9e", "x"],
        ["\u05e9\u05b8\u05c1", "\u05dc"],
        ["\u200b", "\u0301", "a"],
        ["\n", "\u0301"],
        ["a", "\u200c", "b"],
        ["a\u200d", "b"],
        ["\ud83d\udc4d", "\ud83d", "\ud83d", "x", "\udc4d"],
    ],
)
def test_a_character_is_what_a_reader_sees_as_one(characters: list[str]) -> None:
    text = "".join(characters)
    edges = sorted(set(range(len(text) + 1)) - inner_positions(text))
    assert [text[a:b] for a, b in pairwise(edges)] == characters


CLUSTER_PIECES = st.sampled_from(
    [
        *"a1 \n\r\u0301\u0308\u0915\u093f\u200b\u200f\u2028\u1100\u1161\u11a8가각你",
        *"\u0e19\u0e33\uff76\uff9e\U000e0067\u05b8👩🏽❤\ufe0f🇩🇪",
        "\r\n",
        "\u200d👧",
    ]
)


@given(st.lists(CLUSTER_PIECES, max_size=12).map("".join))
def test_characters_are_unicodes_extended_grapheme_clusters(text: str) -> None:
    regex = pytest.importorskip("regex")
    # A joiner after anything but an emoji is never written; there the rules differ.
    assume(not regex.search(r"(?<!\p{Extended_Pictographic}\p{GCB=Extend}*)\u200d", text))
    starts = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    assert set(range(len(text) + 1)) - inner_positions(text) == starts | {0}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "CAFE\u0301"),
        ("„Ja“", '"ja"'),
        ("«l’eau»", "'l`eau'"),
        ("a \u00a0\n\u3000b", "a b"),
        ("a \u200b \u200f b", "a b"),
        ("Haus\u00adbau\ufeff", "hausbau"),
        ("❤\ufe0f", "❤"),
        ("क\u094d\u200dष", "क\u094dष"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("STRAẞE", "straße"),
        ("\u1fb3", "\u03b1\u0345"),
        ("\u212a", "k"),
    ],
)
def test_folding_forgets_style(one: str, other: str) -> None:
    assert fold(one).text == fold(other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Maße", "Masse"),
        ("x²", "x2"),
        ("１", "1"),
        ("٣", "3"),
        ("a-b", "a\u2013b"),
        ("，", ","),
        ("a b", "ab"),
        ("…", "..."),
        ("e", "\u00e9"),
        ("ﬁ", "fi"),
        ("👩\u200d💻", "👩💻"),
        ("👍🏽", "👍"),
        ("5\u2032", '5"'),
        ("《x》", "«x»"),
    ],
)
def test_folding_keeps_everything_else_apart(one: str, other: str) -> None:
    assert fold(one).text != fold(other).text


@given(ANY_TEXT)
def test_every_folded_character_knows_the_characters_it_came_from(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    for at, character in enumerate(folded.text):
        start, end = folded.starts[at], folded.ends[at]
        assert 0 <= start < end <= len(text)
        assert character in fold(text[start:end]).text
    assert sorted(folded.starts) == folded.starts


@given(ANY_TEXT)
def test_folding_what_is_folded_changes_nothing_visible(text: str) -> None:
    once = fold(text).text
    assert fold(once).text.casefold() == once.casefold()


def test_the_way_back_never_cuts_a_character() -> None:
    folded = fold("q\u0307x")
    assert folded.text == "q\u0307x"
    assert folded.stretch(0, 1) is None
    assert folded.stretch(1, 3) is None
    assert folded.stretch(0, 2) == (0, 2)
    assert folded.stretch(2, 3) == (2, 3)


def test_the_way_back_from_a_space_is_the_whole_run_of_blanks() -> None:
    folded = fold("a \u00a0\u200b b")
    assert folded.text == "a b"
    assert folded.stretch(1, 2) == (1, 5)
    assert folded.stretch(0, 3) == (0, 6)


@pytest.mark.parametrize(
    ("words", "bare"),
    [
        ('"Haus"', "Haus"),
        (" „ Haus “ ", "Haus"),
        ("“‘Haus’”", "Haus"),
        ("'Haus", "'Haus"),
        ("Haus'", "Haus'"),
        ('"', '"'),
        ("''", ""),
        ("l'eau", "l'eau"),
        ("", ""),
    ],
)
def test_wrapping_quotes_go_in_pairs(words: str, bare: str) -> None:
    assert without_quotes(words) == bare


@pytest.mark.parametrize(
    "words",
    [
        ["ab", " ", "c1_d", ",", "e"],
        ["l", "'", "eau"],
        ["Haus\u00adbau", " ", "می\u200cخواهم"],
        ["\u0928\u093f", " ", "e\u0301a"],
        ["汽", "车", "abc", "ひ", "カ", "ไ", "ท"],
        ["한국어", " ", "a"],
        ["a", "\u200b", "b", "\u200f", "c"],
        ["👍", "a"],
    ],
)
def test_words_are_runs_of_letters_marks_and_digits(words: list[str]) -> None:
    text = "".join(words)
    edges = sorted(set(range(len(text) + 1)) - inside_words(text))
    assert [text[a:b] for a, b in pairwise(edges)] == words
