"""Rows find their segments, or say that they do not."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from mmad_metric.metaeval.placing import RowTexts, SegmentFinder, moved, settle, shift
from mmad_metric.mqm import Side
from tests.metaeval.made_runs import error

SHIFTS = {
    "equal": ("ab", "ab", 0),
    "mark in the wanted text": ("ab", "\ufeffab", 1),
    "mark in the given text": ("\ufeffab", "ab", -1),
    "mark in both": ("\ufeffab", "\ufeffab", 0),
    "another text": ("ab", "ac", None),
    "mark inside": ("ab", "a\ufeffb", None),
    "white space": ("ab", " ab", None),
}


@pytest.mark.parametrize("kind", SHIFTS)
def test_a_byte_order_mark_at_the_start_alone_shifts_offsets(kind: str):
    given, wanted, expected = SHIFTS[kind]
    assert shift(given, wanted) == expected


def test_white_space_around_shifts_offsets_where_it_makes_no_difference():
    assert shift("  ab ", "\ufeff ab", edges=True) == 0
    assert shift("ab", "  ab  ", edges=True) == 2
    assert shift("ab", "a b", edges=True) is None


def test_a_moved_error_is_still_its_slice_of_the_text():
    with_mark = error("\ufeffab", 0)
    assert moved(with_mark, 0, -1) == error("ab", 0)
    assert moved(error("ab", 0), 0, 1) == error("ab", 1)
    assert moved(error("ab", 0, side=Side.SOURCE), 0, 1) == error("ab", 0, side=Side.SOURCE)
    assert moved(error("ab", 0, side=Side.SOURCE), 1, 0) == error("ab", 1, side=Side.SOURCE)
    assert moved(error("ab", None), 1, 1) == error("ab", None)


def settled(sources: str, rows: str, *, first=0):
    finder = SegmentFinder(sources)
    candidates = {
        index: finder.candidates(RowTexts(index, source, ""), None)
        for index, source in enumerate(rows, first)
    }
    return list(settle(candidates).values())


SETTLED = {
    "whole": ("abab", "abab", [0, 1, 2, 3]),
    "head": ("xxyx", "xx", [0, 1]),
    "order": ("xyx", "yx", [1, 2]),
    "between": ("xaxbx", "axb", [1, 2, 3]),
    "not by its own number alone": ("axbx", "bx", [2, 3]),
    "open": ("axxb", "xb", [None, 3]),
    "two of three": ("ayyyb", "yyb", [None, None, 4]),
    "two of two": ("ayyb", "yyb", [1, 2, 3]),
    "no order, one left": ("abx", "xba", [2, 1, 0]),
    "no order, repeated": ("axbx", "bxa", [2, None, 0]),
}


@pytest.mark.parametrize("kind", SETTLED)
def test_a_segment_is_known_where_no_other_is_left(kind: str):
    sources, rows, expected = SETTLED[kind]
    assert settled(sources, rows) == expected


def test_what_one_row_takes_no_other_row_can_be():
    # Out of order. Row 0 is 2; so row 1 is 0, and row 2 is 1.
    assert settle({0: [2], 1: [0, 2], 2: [0, 1]}) == {0: 2, 1: 0, 2: 1}


def test_a_part_in_order_is_never_placed_wrongly_and_all_is_placed_that_can_be():
    rng = np.random.default_rng(5)
    for _ in range(300):
        sources = "".join(rng.choice(list("abc"), rng.integers(2, 8)))
        size = int(rng.integers(1, len(sources) + 1))
        part = sorted(rng.choice(len(sources), size, replace=False).tolist())
        rows = "".join(sources[each] for each in part)
        # Every choice of segments in order with these sources: what all agree on is known.
        fits = [
            choice
            for choice in combinations(range(len(sources)), size)
            if all(sources[each] == row for each, row in zip(choice, rows, strict=True))
        ]
        agreed = [each[0] if len(set(each)) == 1 else None for each in zip(*fits, strict=True)]
        own = all(sources[index] == row for index, row in enumerate(rows))
        assert settled(sources, rows) == (list(range(size)) if own else agreed)


def test_rows_out_of_order_are_placed_only_where_all_ways_to_place_them_agree():
    rng = np.random.default_rng(6)
    for _ in range(200):
        rows = {
            row: sorted(rng.choice(4, rng.integers(1, 4), replace=False).tolist())
            for row in range(3)
        }
        ways = [way for way in product(*rows.values()) if len(set(way)) == len(way)]
        if not ways or any(list(way) == sorted(way) for way in ways):
            continue
        for row, segment in settle(rows).items():
            assert segment is None or {way[row] for way in ways} == {segment}
