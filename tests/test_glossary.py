"""Glossaries: which entries a source calls for, and what a file of them may look like."""

from __future__ import annotations

import gzip
import random
import string
from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.files.glossaries import read_glossary
from mmad_metric.glossary import _ASCII_WORDS, _ONE_QUOTE, Glossary, _words, word_list
from mmad_metric.material import Term
from mmad_metric.normalise import fold


def found(text: str, *sources: str) -> list[str]:
    glossary = Glossary("g", tuple(Term(source, ("x",)) for source in sources))
    return [term.source for term in glossary.occurring(text)]


@pytest.mark.parametrize(
    ("text", "term", "occurs"),
    [
        ("The nurse came.", "nurse", True),
        ("NURSE!", "nurse", True),
        ("the nurse", "Nurse", True),
        ("The nursery opened.", "nurse", False),
        ("a blood  pressure\ncuff", "blood pressure", True),
        ("blood\u00a0pressure", "blood pressure", True),
        ("blood-pressure", "blood pressure", False),
        ("Crohn\u2019s disease", "Crohn's disease", True),
        ("We use C++ here.", "C++", True),
        ("Scho\u0308ne Gru\u0308\u00dfe", "Gr\u00fc\u00dfe", True),
        ("Gru\u0308nde", "Grun", False),
        ("so\u00adft hyphen", "soft", True),
        ("\u60a3\u8005\u7684\u8840\u538b\u5f88\u9ad8\u3002", "\u8840\u538b", True),
        ("\u8840\u6db2\u538b\u529b", "\u8840\u538b", False),
        ("\u3053\u306e\u85ac\u3092\u98f2\u3080", "\u85ac", True),
        ("\u0e04\u0e27\u0e32\u0e21\u0e14\u0e31\u0e19\u0e2a\u0e39\u0e07",
         "\u0e04\u0e27\u0e32\u0e21\u0e14\u0e31\u0e19", True),
        ("\ud608\uc555\uc744 \uc7b0\ub2e4", "\ud608\uc555", True),
        ("iPhone\u624b\u673a", "\u624b\u673a", True),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928", False),
        ("snake_case", "snake", False),
        ("", "nurse", False),
    ],
    ids=range(21),
)  # fmt: skip
def test_a_term_occurs_as_whole_words_whatever_their_case_and_form(
    text: str, term: str, occurs: bool
):
    assert found(text, term) == ([term] if occurs else [])


def test_entries_come_in_the_order_of_their_first_occurrence_each_once():
    assert found("b a b c a", "a", "b", "c", "d") == ["b", "a", "c"]


def test_a_term_inside_a_longer_one_is_not_meant_but_beside_it_is():
    terms = ("blood", "blood pressure", "pressure", "pressure cuff")
    assert found("The blood pressure rose.", *terms) == ["blood pressure"]
    assert found("Blood pressure of the blood.", *terms) == ["blood pressure", "blood"]
    # Two that overlap, neither of them inside the other, are both meant.
    assert found("blood pressure cuff", *terms) == ["blood pressure", "pressure cuff"]


def brute(text: str, terms: list[str]) -> set[str]:
    """Every occurrence, then those away that lie inside a longer one."""
    words = text.split()
    spans = [
        (start, start + len(term.split()), term)
        for term in terms
        for start in range(len(words))
        if words[start : start + len(term.split())] == term.split()
    ]
    return {
        term for start, end, term in spans
        if not any(a <= start and end <= b and (a, b) != (start, end) for a, b, _ in spans)
    }  # fmt: skip


def test_matching_agrees_with_looking_everywhere():
    chance = random.Random(7)
    for _ in range(200):
        words = [chance.choice("abc") for _ in range(12)]
        terms = list({" ".join(chance.choices("abc", k=chance.randint(1, 4))) for _ in range(6)})
        assert set(found(" ".join(words), *terms)) == brute(" ".join(words), terms)


def test_the_short_way_for_ascii_gives_what_the_long_way_gives():
    chance = random.Random(3)
    for _ in range(300):
        text = "".join(chance.choices(string.printable, k=20))
        assert word_list(text) == list(_words(fold(text).text))
        assert word_list(text) == _ASCII_WORDS.findall(text.lower().translate(_ONE_QUOTE))


# -- files


def read(folder: Path, text: str | bytes, name: str = "terms.tsv") -> Glossary:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_glossary(str(path))


def test_comments_and_blank_lines_say_nothing_and_quotes_are_letters(tmp_path: Path):
    glossary = read(tmp_path, '# en\tde\n\n \t \nnurse\t"Pflegekraft\tnot Schwester\n')
    assert glossary.terms == (Term("nurse", ('"Pflegekraft',), "not Schwester"),)
    assert glossary.name == "terms"


def test_several_lines_of_one_term_are_one_entry_with_all_its_renderings(tmp_path: Path):
    glossary = read(tmp_path, "nurse\tA\tone\nward\tW\nNURSE\tB\ttwo\nnurse\tA\tone\n")
    assert glossary.terms == (Term("nurse", ("A", "B"), "one; two"), Term("ward", ("W",)))


PLAIN = "nurse\tPflegekraft\nward\tStation\n"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbf" + PLAIN.encode(), "terms.tsv"),
        (PLAIN.replace("\n", "\r\n").encode(), "terms.tsv"),
        (PLAIN.rstrip().encode(), "terms.tsv"),
        (gzip.compress(PLAIN.encode()), "terms.tsv.gz"),
        (("# note\n\n" + PLAIN).encode(), "terms.txt"),
    ],
    ids=["bom", "crlf", "no last newline", "gzip", "comments"],
)
def test_what_stands_around_the_entries_changes_no_identity(
    tmp_path: Path, content: bytes, name: str
):
    assert read(tmp_path, content, name).identity == read(tmp_path, PLAIN).identity


@pytest.mark.parametrize(
    "other", ["nurse\tPflegekraft\n", PLAIN.replace("Station", "Abteilung"), PLAIN + "x\ty\n",
              "ward\tStation\nnurse\tPflegekraft\n", PLAIN.replace("Station", "Station\tnote")],
    ids=range(5),
)  # fmt: skip
def test_other_entries_are_another_glossary(tmp_path: Path, other: str):
    assert read(tmp_path, other).identity != read(tmp_path, PLAIN).identity


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"a\tb\nnurse\n", "terms.tsv, line 2: 1 column instead of 2 or 3"),
        (b"a\tb\tc\td\n", "line 1: 4 columns"),
        (b"# x\n\n\tb\n", "line 3: the source term is blank"),
        (b"a\t \n", "line 1: the target term is blank"),
        ("\u200b\tb\n".encode(), "line 1: the source term .* nothing that can be found"),
        (b"a\tb\nc\t\xff\n", "line 2: byte 0xff"),
        (b"", "no entry"),
        (b"# only a comment\n", "no entry"),
        ("a\tb".encode("utf-16"), "UTF-16"),
        (gzip.compress(b"a\tb\n" * 1000)[:-20], "cut off"),
    ],
    ids=range(10),
)
def test_a_bad_file_is_refused_with_file_and_line(tmp_path: Path, content: bytes, named: str):
    with pytest.raises(InputError, match=named):
        read(tmp_path, content)


@pytest.mark.parametrize("path", ["-", "no/such.tsv"])
def test_what_is_no_file_is_refused(path: str):
    with pytest.raises(InputError, match=r"standard input|cannot be read"):
        read_glossary(path)
