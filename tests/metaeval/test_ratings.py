"""Rating files: offsets, what is refused, the way to gold."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.metaeval.ratings import BROKEN, CLIPPED, rating_line, read_ratings
from mmad_metric.mqm import Placement, Side
from mmad_metric.scoring import SCHEMES
from tests.metaeval.made_runs import error

TEXTS = (["a red house", "b"], {"A": ["das rote Haus", "c"]})


def read(tmp_path: Path, *rows: str):
    path = tmp_path / "x.seg.rating"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return read_ratings(str(path), TEXTS)


def item(start, end, **more):
    fields = {"start": start, "end": end, "category": "fluency/grammar", "severity": "minor",
              "score": 1.0, "is_source_error": False, **more}  # fmt: skip
    import json

    return f"A\t{json.dumps({'errors': [fields]})}"


def test_offsets_are_code_points_into_the_side_that_the_error_is_of(tmp_path: Path):
    found = read(tmp_path, item(9, 13), item(0, 1, is_source_error=True))["A"]
    assert found[0] is not None
    assert found[1] is not None
    assert (found[0][0].text, found[0][0].side) == ("Haus", Side.TRANSLATION)
    assert (found[1][0].text, found[1][0].side) == ("b", Side.SOURCE)


def test_not_rated_is_not_the_same_as_no_errors(tmp_path: Path):
    assert read(tmp_path, "A\tNone", 'A\t{"errors": []}') == {"A": [None, ()]}


def test_a_third_field_names_the_rater(tmp_path: Path):
    assert read(tmp_path, 'A\t{"errors": []}\trater7') == {"A": [()]}


def test_offsets_that_leave_the_text_are_clipped_and_reversed_ones_give_up_the_place(
    tmp_path: Path,
):
    clipped, outside = read(tmp_path, item(9, 99), item(5, 7))["A"]
    assert clipped is not None
    assert (clipped[0].text, clipped[0].flags) == ("Haus", (CLIPPED,))
    assert outside is not None
    assert (outside[0].start, outside[0].end, outside[0].flags) == (1, 1, (CLIPPED,))
    for broken in (item(7, 3), item(-2, 3)):
        found = read(tmp_path, broken)["A"][0]
        assert found is not None
        assert (found[0].placement, found[0].flags) == (Placement.UNPLACED, (BROKEN,))


REFUSED = {
    "not JSON": ("A\t{errors}", "line 1: not JSON"),
    "no errors": ("A\t{}", "line 1: 'errors' is null"),
    "one field": ("A", "line 1: a system, a tab and a rating"),
    "offset": (item(1.5, 2), r"line 1: errors\[0\]: 'start' is a number, a whole number"),
    "no offset": (item(None, 2), r"errors\[0\]: 'start' is null"),
    "unknown system": ('B\t{"errors": [{}]}', "no translations of system 'B'"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_rating_is_refused_with_its_place(tmp_path: Path, kind: str):
    row, words = REFUSED[kind]
    with pytest.raises(InputError, match=words):
        read(tmp_path, row)


def test_a_segment_too_many_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="line 3: segment 3 of system 'A'"):
        read(tmp_path, item(0, 1), item(0, 1), item(0, 1))


def test_what_is_written_is_read_back(tmp_path: Path):
    errors = (
        error("Haus", 9, severity="major"),
        error("red", 2, side=Side.SOURCE, category="accuracy/omission"),
        error("nowhere", None),
    )
    rows = [rating_line("A", each, SCHEMES["wmt"]).removesuffix("\n") for each in (errors, None)]
    assert read(tmp_path, *rows) == {"A": [errors, None]}
    assert '"score": 5.0' in rows[0]


def test_gold_is_recomputed_from_the_ratings_of_both_pairs(wmt23: Path):
    from mmad_metric.metaeval.human_spans import read_human_spans
    from mmad_metric.metaeval.layout import read_eval_set
    from mmad_metric.scoring import mean

    recomputed = {}
    for lp in ("en-de", "zh-en"):
        data = read_eval_set(str(wmt23), lp)
        human = read_human_spans(data)
        recomputed[lp] = 0
        for system, scores in data.gold_segment.items():
            for row, score in enumerate(scores):
                raters = human.of_segment(system, row)
                if score is None or not raters:
                    continue
                penalties = [SCHEMES["wmt"].segment_score(errors) for errors in raters]
                assert mean(penalties) == pytest.approx(score, abs=1e-9), (system, row)
                recomputed[lp] += 1
    assert recomputed == {"en-de": 5980, "zh-en": 18829}
