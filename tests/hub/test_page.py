from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.errors import Reason
from mmad_metric.hub.page import Shown, failure, marked, page
from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.results import SystemTotals
from mmad_metric.scales import Scale
from mmad_metric.scoring import SCHEMES

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "&lt;b&gt; &amp; &#60;",
    "</mark></p></div><h1>",
    "<!-- -->",
]
# What the page itself is made of.
TAGS = {"div", "p", "span", "strong", "section", "header", "mark", "sup", "ol", "li", "bdi", "code"}


def error(text: str, start: int | None, severity: str = "minor", **fields: object) -> MQMError:
    category = Category("style", "awkward")
    end = None if start is None else start + len(text)
    place = Placement.UNPLACED if start is None else Placement.EXACT
    side = fields.get("side", Side.TRANSLATION)
    assert isinstance(side, Side)
    return MQMError(text, category, Severity(severity), side, start, end, place)


def shown(*ratings: SegmentRating, **fields: str) -> str:
    totals = SystemTotals(ratings[0].segment.system, SCHEMES["mmad"])
    for rating in ratings:
        totals.add(rating)
    return page(Shown([totals], ratings, len(ratings), **fields))


def rated(segment: Segment, *errors: MQMError, score: float = -1.0) -> SegmentRating:
    return SegmentRating(segment, Status.SCORED, score, errors)


class _Reader(HTMLParser):
    """Tags and attributes' names of a piece of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def marks(html: str) -> list[tuple[str, str]]:
    """(severity, text) of each mark."""
    found = re.findall(r'<mark class="mmad-(\w+)" title="[^"]*">(.*?)</mark>', html)
    return [(severity, unescape(text)) for severity, text in found]


def test_a_span_is_marked_with_its_words_and_number():
    html = marked("Das rote Maus.", [(1, error("rote Maus", 4, "major"))])
    assert html == (
        'Das <mark class="mmad-major" title="major style/awkward">rote Maus</mark><sup>1</sup>.'
    )


def test_where_spans_overlap_the_worst_is_seen():
    """abcdef: minor on abcd, major on cdef: ab minor, cd and ef major."""
    html = marked("abcdef", [(1, error("abcd", 0)), (2, error("cdef", 2, "major"))])
    assert marks(html) == [("minor", "ab"), ("major", "cd"), ("major", "ef")]
    assert '</mark><sup>1</sup><mark class="mmad-major" title="major style/awkward">ef' in html
    assert html.endswith("</mark><sup>2</sup>")


def test_an_error_without_a_place_or_without_words_marks_nothing():
    assert marked("abc", [(1, error("xyz", None)), (2, error("", 1))]) == "abc"


def test_offsets_count_code_points():
    assert marks(marked("😀é b", [(1, error("b", 3))])) == [("minor", "b")]


@given(
    st.text(alphabet="a<>&\"' \n😀", max_size=30).flatmap(
        lambda text: st.tuples(
            st.just(text),
            st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))), max_size=5),
        )
    )
)
def test_marking_never_changes_the_text(case: tuple[str, list[tuple[int, int]]]):
    text, places = case
    spans = [sorted(place) for place in places]
    errors = [(n, error(text[a:b], a)) for n, (a, b) in enumerate(spans, 1)]
    html = re.sub(r"<sup>[\d,]+</sup>", "", marked(text, errors))
    assert unescape(re.sub(r"</?mark[^>]*>", "", html)) == text
    covered = "".join(words for _, words in marks(html.replace("\n", "¶")))
    inside = {at for a, b in spans for at in range(a, b)}
    assert covered == "".join(text[at] for at in sorted(inside)).replace("\n", "¶")


@pytest.mark.parametrize("words", HOSTILE, ids=[str(n) for n in range(len(HOSTILE))])
def test_a_strangers_text_is_shown_and_never_obeyed(words: str):
    segment = Segment(words, f"x{words}", system=words)
    other = Segment(words, words, system=words + "2")
    errors = [error(words, 1), error(words, 0, side=Side.SOURCE), error(words, None)]
    ratings = [
        rated(segment, *errors),
        SegmentRating(other, Status.UNSCORED, reason=Reason.REFUSAL, detail=words),
    ]
    totals = [SystemTotals(each, SCHEMES["mmad"]) for each in (words, words + "2")]
    for each, rating in zip(totals, ratings, strict=True):
        each.add(rating)
    read = _Reader(page(Shown(totals, ratings, 2, signature=words, failure=words)))
    assert read.tags <= TAGS
    assert read.attributes <= {"class", "dir", "title", "role", "style"}
    # Two systems' names twice; two sources and translations; three listed errors; a reason's
    # detail, the signature, the failure.
    assert read.text.count(words) >= 14
    assert _Reader(failure(words)).text == words


def test_scores_counts_and_signature_are_shown():
    html = shown(
        rated(Segment("s", "abc"), error("abc", 0, "major"), score=-5.0),
        rated(Segment("s", "d", index=1), score=0.0),
        signature="lp:en-de",
    )
    text = _Reader(html).text
    for words in ("-2.50", "-5.00", "0.00", "2 of 2 scored, 1 major, 0 minor", "no error found"):
        assert words in text
    assert "-0.00" not in text
    assert "Signature: lp:en-de" in text


def test_a_segment_without_a_score_says_why_and_shows_none():
    unscored = SegmentRating(
        Segment("s", "t"), Status.UNSCORED, reason=Reason.TIMEOUT, detail="no reply in 120 s"
    )
    text = _Reader(shown(unscored)).text
    assert "no score" in text
    assert "not scored (timeout): no reply in 120 s" in text
    assert "0 of 1 scored" in text


def test_an_error_in_the_source_is_marked_there():
    html = shown(rated(Segment("red house", "Haus"), error("red", 0, side=Side.SOURCE)))
    assert marks(html) == [("minor", "red")]
    assert "red (in the source)" in _Reader(html).text


def test_progress_is_shown_until_all_is_rated():
    rating = rated(Segment("s", "t"))
    totals = SystemTotals("", SCHEMES["mmad"])
    totals.add(rating)
    html = page(Shown([totals], [rating], 4))
    assert "1 of 4 segments rated" in html
    assert "width: 25%" in html
    assert "segments rated" not in page(Shown([totals], [rating], 1))


def test_a_direct_score_is_explained_as_one_and_nothing_is_said_of_errors() -> None:
    totals = SystemTotals("", None)
    rating = SegmentRating(Segment("Hi.", "Hallo."), Status.SCORED, 85.0, scale=Scale.DIRECT)
    totals.add(rating)
    text = _Reader(page(Shown([totals], [rating], 1))).text
    assert "85.00mean score: 0 to 100, 100 is perfect1 of 1 scored" in text
    assert not any(word in text for word in ("major", "minor", "no error"))
