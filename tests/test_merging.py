"""The judge's merging rule. Rows are short: span, category, severity; spans are offsets."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.merging import merge
from mmad_metric.mqm import TYPOLOGY, Category, MQMError, Placement, Severity, Side

MINOR, MAJOR, CRITICAL = Severity.MINOR, Severity.MAJOR, Severity.CRITICAL


def error(
    spot: tuple[int, int] | str,
    category: str = "accuracy/addition",
    severity: Severity = MAJOR,
    side: Side = Side.TRANSLATION,
) -> MQMError:
    """A placed error at offsets, or an unplaced one with words."""
    dimension, _, subcategory = category.partition("/")
    label = Category(dimension, subcategory or None)
    if isinstance(spot, str):
        return MQMError(spot, label, severity, side, None, None, Placement.UNPLACED)
    start, end = spot
    return MQMError("x" * (end - start), label, severity, side, start, end, Placement.EXACT)


A, B = (0, 4), (5, 9)


@pytest.mark.parametrize(
    ("errors", "kept"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(
            [error(A, "style/awkward", MINOR), error(A, "accuracy/addition", MAJOR)],
            [1],
            id="B14: one span keeps the most severe",
        ),
        pytest.param(
            [error(A, "style/awkward", MAJOR), error(A, "accuracy/addition", MINOR)],
            [0],
            id="severity counts before the dimension",
        ),
        pytest.param(
            [error(A, severity=s) for s in (Severity.NEUTRAL, CRITICAL, MAJOR)],
            [1],
            id="critical is worse than major",
        ),
        pytest.param(
            [error(A, "accuracy/omission"), error(A, "accuracy/addition")],
            [0],
            id="full ties go to the earlier",
        ),
        pytest.param([error(A), error(A), error(A)], [0], id="exact repeats count once"),
        pytest.param(
            [error((0, 9)), error((5, 9), "style/awkward", MINOR), error((3, 6))],
            [0, 1, 2],
            id="B14: nested and overlapping spans stay",
        ),
        pytest.param(
            [error(A), error(A, side=Side.SOURCE)], [0, 1], id="sides have their own offsets"
        ),
        pytest.param(
            [error("aus"), error("aus"), error("ein"), error("aus")],
            [0, 2],
            id="repeats of an unplaced error go",
        ),
        pytest.param(
            [
                error("aus"),
                error("aus", severity=MINOR),
                error("aus", "style/awkward"),
                error("aus", side=Side.SOURCE),
                error("Aus"),
            ],
            [0, 1, 2, 3, 4],
            id="unplaced errors that differ in anything stay",
        ),
        pytest.param([error(A), error("xxxx")], [0, 1], id="placed and unplaced never meet"),
        pytest.param([error(""), error("")], [0], id="unplaced without words"),
        pytest.param(
            [error(A), error((0, 9), "non-translation"), error("aus"), error((0, 9), "other")],
            [1],
            id="non-translation excludes all others",
        ),
        pytest.param(
            [error(A, severity=CRITICAL), error(B, "non-translation", MINOR)],
            [1],
            id="non-translation wins whatever its severity",
        ),
        pytest.param(
            [error(A, "non-translation"), error(A, "non-translation")],
            [0],
            id="non-translation is kept once",
        ),
        pytest.param(
            [error(A, "non-translation", MINOR), error(A, "non-translation")],
            [1],
            id="of two non-translations the more severe",
        ),
        pytest.param(
            [error(B), error(A, "style/awkward"), error("aus"), error(A), error((1, 2))],
            [0, 2, 3, 4],
            id="the order given stays",
        ),
    ],
)
def test_merging_keeps(errors: list[MQMError], kept: list[int]) -> None:
    merged = merge(errors)
    assert len(merged) == len(kept)
    for have, index in zip(merged, kept, strict=True):
        assert have is errors[index]


@pytest.mark.parametrize("tied", [*permutations([*TYPOLOGY, "other"], 2)])
def test_ties_go_to_the_dimension_that_the_typology_names_first(tied: tuple[str, str]) -> None:
    order = ["accuracy", "fluency", "terminology", "style", "other"]
    (kept,) = merge([error(A, dimension) for dimension in tied])
    assert kept.category.dimension == min(tied, key=order.index)


def test_dimensions_outside_the_typology_are_equals() -> None:
    (kept,) = merge([error(A, "locale convention"), error(A, "other")])
    assert kept.category.dimension == "locale convention"


ERRORS = st.lists(
    st.builds(
        error,
        st.tuples(st.integers(0, 2), st.integers(2, 4)) | st.sampled_from(["", "aus", "ein"]),
        st.sampled_from(["accuracy/omission", "fluency/grammar", "style/awkward", "other"])
        | st.sampled_from(["accuracy/addition", "non-translation", "source issue"]),
        st.sampled_from(Severity),
        st.sampled_from(Side),
    ),
    max_size=12,
)


@given(ERRORS)
def test_merging_twice_changes_nothing_more(errors: list[MQMError]) -> None:
    assert merge(merge(errors)) == merge(errors)


@given(ERRORS)
def test_what_is_kept_is_some_of_the_errors_in_their_order(errors: list[MQMError]) -> None:
    left = iter(errors)
    assert all(any(kept is given_error for given_error in left) for kept in merge(errors))


@given(ERRORS)
def test_no_span_is_lost_and_none_is_made_lighter(errors: list[MQMError]) -> None:
    merged = merge(errors)
    if any(each.category.is_non_translation for each in errors):
        assert [each.category.is_non_translation for each in merged] == [True]
        return
    for each in errors:
        assert any(
            (kept.side, kept.start, kept.end) == (each.side, each.start, each.end)
            and kept.severity.rank >= each.severity.rank
            for kept in merged
        )


@given(ERRORS)
def test_no_two_placed_errors_share_a_span(errors: list[MQMError]) -> None:
    spots = [(e.side, e.start, e.end) for e in merge(errors) if e.start is not None]
    assert len(spots) == len(set(spots))


@given(ERRORS, st.randoms(use_true_random=False))
def test_the_order_given_decides_between_full_ties_only(
    errors: list[MQMError], random: object
) -> None:
    shuffled = list(errors)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    def weights(merged: tuple[MQMError, ...]) -> list[tuple[object, ...]]:
        return sorted((e.side.value, str(e.start), str(e.end), e.severity.rank) for e in merged)

    if not any(e.category.is_non_translation for e in errors):
        assert weights(merge(errors)) == weights(merge(shuffled))
