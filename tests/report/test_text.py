"""Texts of strangers in the page: all of them there, nothing of them obeyed or hidden."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.report.text import marked, shown
from tests.report.samples import Page, error
from tests.test_stretches import texts_with_spans


class _Text(HTMLParser):
    """The text content, CR and LF told apart as a browser does: a bare CR in the file is an LF."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.feed(html.replace("\r\n", "\n").replace("\r", "\n"))
        self.close()

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param("a < b & c > d", "a &lt; b &amp; c &gt; d", id="signs of HTML"),
        pytest.param("\"'", "&quot;&#x27;", id="quotes"),
        pytest.param("</script>", "&lt;/script&gt;", id="the end of a script"),
        pytest.param("&amp;", "&amp;amp;", id="an entity"),
        pytest.param("a\nb", "a\nb", id="a line feed"),
        pytest.param("你好　世界", "你好　世界", id="a wide space among wide letters"),
        pytest.param("שלום عالم 😀é", "שלום عالم 😀é", id="other scripts"),
    ],
)
def test_a_text_is_escaped(text: str, html: str):
    assert shown(text) == html
    assert _Text(html).text == text


@pytest.mark.parametrize(
    ("character", "name", "kind"),
    [
        pytest.param("\u202e", "RLO", "ghost", id="override"),
        pytest.param("\u2066", "LRI", "ghost", id="isolate"),
        pytest.param("\u200b", "ZWSP", "ghost", id="space of no width"),
        pytest.param("\ufeff", "BOM", "ghost", id="byte order mark"),
        pytest.param("\xad", "SHY", "ghost", id="soft hyphen"),
        pytest.param("\r", "CR", "ghost", id="carriage return"),
        pytest.param("\x1b", "U+001B", "ghost", id="escape"),
        pytest.param("\U000e0041", "U+E0041", "ghost", id="a tag letter"),
        pytest.param("\u3164", "U+3164", "ghost", id="a letter without a shape"),
        pytest.param("\u2028", "LSEP", "ghost", id="line separator"),
        pytest.param("\ufdd0", "U+FDD0", "ghost", id="no character"),
        pytest.param("\xa0", "NBSP", "gap", id="no-break space"),
        pytest.param("\t", "TAB", "gap", id="tab"),
    ],
)
def test_what_cannot_be_seen_is_named_and_stays_what_it_is(character: str, name: str, kind: str):
    page = Page(shown(f"a{character}b"))
    assert page.texts("bdi", kind) == [character]
    assert ("bdi", "data-name", name) in page.attributes
    assert page.text == f"a{character}b"


@pytest.mark.parametrize("lost", ["\x00", "\ud800"], ids=["NUL", "a lone surrogate"])
def test_what_no_page_can_hold_has_a_stand_in_that_says_so(lost: str):
    page = Page(shown(lost))
    assert page.text == "\ufffd"
    title = next(value for _, name, value in page.attributes if name == "title")
    assert title.startswith(f"U+{ord(lost):04X}")


def test_joiners_are_left_where_people_need_them_and_named_where_they_hide():
    persian, family = "می\u200cخواهم", "👩\u200d👩\u200d👧"
    assert shown(persian) == persian
    assert shown(family) == family
    assert Page(shown("pay\u200dpal")).texts("bdi", "ghost") == ["\u200d"]
    # The same at the border of a piece, which knows the character before it.
    assert shown("\u200cخ", before="ی") == "\u200cخ"
    assert "ZWNJ" in shown("\u200cخ")


def test_words_of_the_page_are_never_taken_from_a_text():
    assert Page(shown("<b class=x>")).tags == set()
    assert isinstance(shown("<").__html__(), str)


def test_spans_are_marked_with_their_numbers_and_look_like_the_worst():
    html = marked("abcdef", [(1, error("abcd", 0)), (2, error("cdef", 2, "major"))])
    assert html == (
        '<mark class="minor" data-errors="1">ab</mark>'
        '<mark class="major" data-errors="1 2">cd</mark><span class="end" data-number="1"></span>'
        '<mark class="major" data-errors="2">ef</mark><span class="end" data-number="2"></span>'
    )


def test_an_error_of_no_length_is_a_point():
    html = marked("ab", [(1, error("", 1))])
    assert html == (
        'a<mark class="minor point" data-errors="1"></mark>'
        '<span class="end" data-number="1"></span>b'
    )


def expected(text: str) -> str:
    return "".join("\ufffd" if unicodedata.category(c) == "Cs" or c == "\0" else c for c in text)


@given(st.text(max_size=40))
def test_the_text_content_is_the_text(text: str):
    assert _Text(shown(text)).text == expected(text)


@given(texts_with_spans())
def test_marking_never_changes_the_text(case):
    text, spans = case
    errors = [(n, error(text[start:end], start)) for n, (start, end) in enumerate(spans)]
    assert _Text(marked(text, errors)).text == text
