"""Where errors begin and end in a text: nested, overlapping, touching, of no length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.stretches import Stretch, fits, stretches
from tests.report.samples import error

TEXT = "abcdefgh"


def drawn(*spans: tuple[int, int], text: str = TEXT) -> list[str]:
    """Each stretch as start..end:numbers>ending numbers, for errors on these spans."""
    errors = [(n, error(text[start:end], start)) for n, (start, end) in enumerate(spans, 1)]
    return [picture(each) for each in stretches(text, errors)]


def picture(stretch: Stretch) -> str:
    covering = ",".join(str(number) for number, _ in stretch.covering)
    ending = ",".join(map(str, stretch.ending))
    return f"{stretch.start}..{stretch.end}:{covering}>{ending}"


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        pytest.param([], ["0..8:>"], id="no error"),
        pytest.param([(2, 5)], ["0..2:>", "2..5:1>1", "5..8:>"], id="one inside"),
        pytest.param([(0, 8)], ["0..8:1>1"], id="the whole text"),
        pytest.param([(0, 4), (4, 8)], ["0..4:1>1", "4..8:2>2"], id="touching"),
        pytest.param([(0, 5), (3, 8)], ["0..3:1>", "3..5:1,2>1", "5..8:2>2"], id="overlapping"),
        pytest.param([(0, 8), (2, 4)], ["0..2:1>", "2..4:1,2>2", "4..8:1>1"], id="nested"),
        pytest.param([(2, 4), (2, 4)], ["0..2:>", "2..4:1,2>1,2", "4..8:>"], id="the same twice"),
        pytest.param([(3, 3)], ["0..3:>", "3..3:1>1", "3..8:>"], id="of no length"),
        pytest.param([(0, 0)], ["0..0:1>1", "0..8:>"], id="of no length at the start"),
        pytest.param([(8, 8)], ["0..8:>", "8..8:1>1"], id="of no length at the end"),
        pytest.param(
            [(2, 5), (5, 5)], ["0..2:>", "2..5:1>1", "5..5:2>2", "5..8:>"], id="of no length after"
        ),
    ],
)
def test_a_text_is_cut_where_errors_begin_and_end(
    spans: list[tuple[int, int]], expected: list[str]
):
    assert drawn(*spans) == expected


def test_an_empty_text_has_no_stretch_but_for_errors_of_no_length():
    assert drawn(text="") == []
    assert drawn((0, 0), text="") == ["0..0:1>1"]


@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(error("xyz", None), id="unplaced"),
        pytest.param(error("fgh!", 5), id="past the end"),
        pytest.param(error("abd", 0), id="other words"),
        pytest.param(error("a", 80), id="far outside"),
    ],
)
def test_an_error_that_does_not_fit_the_text_covers_nothing(lost):
    assert not fits(lost, TEXT)
    assert [picture(each) for each in stretches(TEXT, [(1, lost)])] == ["0..8:>"]


def test_the_worst_of_several_is_the_most_severe_and_the_first_of_equals():
    minor, major, other = error("ab", 0), error("ab", 0, "major"), error("abc", 0, "major")
    (first, _, _) = stretches(TEXT, [(1, minor), (2, major), (3, other)])
    assert first.worst is major
    assert Stretch(0, 1, (), ()).worst is None


@st.composite
def texts_with_spans(draw) -> tuple[str, list[tuple[int, int]]]:
    text = draw(st.text(alphabet="a\U0001f600\u0301\u202e\r\n<", max_size=20))
    at = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(at, at).map(lambda pair: (min(pair), max(pair))), max_size=6))
    return text, spans


@given(texts_with_spans())
def test_stretches_are_the_text_and_cover_just_what_the_errors_do(case):
    text, spans = case
    errors = [(n, error(text[start:end], start)) for n, (start, end) in enumerate(spans)]
    found = list(stretches(text, errors))
    assert "".join(text[each.start : each.end] for each in found) == text
    for number, (start, end) in enumerate(spans):
        mine = [each for each in found if number in [n for n, _ in each.covering]]
        assert "".join(text[each.start : each.end] for each in mine) == text[start:end]
        assert [each.end for each in mine if number in each.ending] == [end]
