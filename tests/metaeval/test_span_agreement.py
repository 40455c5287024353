"""Span agreement drawn as pictures: a letter a character, m minor, M major, . none."""

from __future__ import annotations

import numpy as np
import pytest

from mmad_metric.metaeval.span_agreement import (
    Agreement,
    Compared,
    character_overlaps,
    exact_overlaps,
    of_dimension,
    severities,
    severity_agreement,
    severity_confusion,
)
from mmad_metric.mqm import Category, MQMError, Placement, Severity, Side

NAN = float("nan")


def error(start, end, severity="minor", *, dimension="accuracy", side=Side.TRANSLATION):
    placed = start is not None
    placement = Placement.EXACT if placed else Placement.UNPLACED
    words = "x" * (end - start) if placed else "x"
    kind = (Category(dimension), Severity(severity))
    return MQMError(words, *kind, side, start, end, placement)


def drawn(picture):
    """Errors of a picture, a run of one letter each."""
    errors: list[MQMError] = []
    for place, letter in enumerate(picture):
        if letter == ".":
            continue
        if place and picture[place - 1] == letter:
            last = errors.pop()
            errors.append(error(last.start, place + 1, last.severity.value))
        else:
            errors.append(error(place, place + 1, "major" if letter == "M" else "minor"))
    return errors


def compared(human, metric):
    return Compared(len(human), drawn(human), drawn(metric))


# Human, metric; both marked, same severity, human marks, metric marks.
PICTURES = [
    ("..mmMM..", "..mmMM..", 4, 4, 4, 4),
    ("..mmMM..", "..MMmm..", 4, 0, 4, 4),
    ("mmmm....", "..MMMM..", 2, 0, 4, 4),
    ("........", "..MM....", 0, 0, 0, 2),
    ("MMMMMMMM", "...m....", 1, 0, 8, 1),
    ("MMMMmmmm", "..MMMM..", 4, 2, 8, 4),
]


@pytest.mark.parametrize("row", PICTURES, ids=lambda row: f"{row[0]} {row[1]}")
def test_precision_and_recall_of_a_picture(row):
    human, metric, both, same, n_human, n_metric = row
    segments = [compared(human, metric)]
    found = character_overlaps(segments, severity=False).micro()
    assert approx_agreement(found, ratio(both, n_human, n_metric))
    half = same + (both - same) / 2
    found = character_overlaps(segments, severity=True).micro()
    assert approx_agreement(found, ratio(half, n_human, n_metric))


def ratio(credit, human, metric):
    return Agreement(
        credit / metric if metric else NAN,
        credit / human if human else NAN,
        2 * credit / (human + metric) if human + metric else NAN,
    )


def approx_agreement(found, expected):
    return [found.precision, found.recall, found.f1] == pytest.approx(
        [expected.precision, expected.recall, expected.f1], nan_ok=True
    )


def test_micro_pools_characters_and_macro_averages_segments():
    segments = [compared("mm......", "mm......"), compared("mmmmmm..", "......mm")]
    overlaps = character_overlaps(segments, severity=False)
    assert approx_agreement(overlaps.micro(), Agreement(2 / 4, 2 / 8, 4 / 12))
    assert approx_agreement(overlaps.macro(), Agreement(1 / 2, 1 / 2, 1 / 2))


def test_segments_that_nobody_marks_agree_fully_and_one_sided_marks_not_at_all():
    macro = character_overlaps([compared("....", "....")], severity=False).macro()
    assert approx_agreement(macro, Agreement(1, 1, 1))
    macro = character_overlaps([compared("....", "mm..")], severity=False).macro()
    assert approx_agreement(macro, Agreement(0, NAN, 0))
    assert np.isnan(character_overlaps([compared("...", "...")], severity=False).micro().f1)


def test_the_worst_of_overlapping_errors_counts_and_critical_is_major():
    marked = severities([error(0, 4), error(2, 3, "critical"), error(1, 3, "minor")], 5)
    assert marked.tolist() == [1, 1, 2, 1, 0]


def test_neutral_source_and_unplaced_errors_mark_nothing():
    errors = [error(0, 3, "neutral"), error(0, 3, side=Side.SOURCE), error(None, None)]
    assert not severities(errors, 4).any()
    overlaps = exact_overlaps([Compared(4, errors, [error(0, 3)])], severity=False)
    assert (overlaps.human.sum(), overlaps.metric.sum()) == (0, 1)


def test_exact_spans_are_matched_one_to_one():
    human = [error(0, 2), error(0, 2, dimension="style"), error(4, 6, "major")]
    metric = [error(0, 2), error(4, 6, "minor"), error(4, 7, "major")]
    spans = [Compared(8, human, metric)]
    found = exact_overlaps(spans, severity=False).micro()
    assert approx_agreement(found, Agreement(2 / 3, 2 / 3, 2 / 3))
    found = exact_overlaps(spans, severity=True).micro()
    assert approx_agreement(found, Agreement(1 / 3, 1 / 3, 1 / 3))


def test_a_dimension_is_compared_with_its_own_errors():
    spans = [Compared(8, [error(0, 2), error(4, 6, dimension="style")], [error(4, 6)])]
    assert character_overlaps(of_dimension(spans, "accuracy"), severity=False).micro().f1 == 0
    assert of_dimension(spans, "style")[0].metric == []


def test_confusion_counts_characters_and_the_diagonal_is_agreement():
    table = severity_confusion([compared("MMmm....", "Mm.m.m..")])
    assert table.tolist() == [[3, 1, 0], [1, 1, 0], [0, 1, 1]]
    assert severity_agreement(table) == pytest.approx(2 / 3)
    assert np.isnan(severity_agreement(np.zeros((3, 3))))


def test_raters_of_one_segment_share_its_weight():
    two = [Compared(4, drawn("mm.."), drawn("mm.."), 0.5), Compared(4, [], drawn("mm.."), 0.5)]
    assert character_overlaps(two, severity=False).micro().precision == pytest.approx(0.5)


def test_f1_of_samples_is_f1_of_the_samples_written_out():
    segments = [compared(*row[:2]) for row in PICTURES]
    overlaps = character_overlaps(segments, severity=True)
    samples = np.array([[1] * 6, [0, 2, 0, 1, 3, 0]])
    expected = [
        character_overlaps(
            [each for each, n in zip(segments, row, strict=True) for _ in range(n)], severity=True
        ).micro().f1
        for row in samples
    ]  # fmt: skip
    assert overlaps.f1_under(samples) == pytest.approx(expected)
