"""WMT's MQM TSV as the gold of a data folder."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from mmad_metric.errors import InputError
from mmad_metric.files.run_file import read_run
from mmad_metric.metaeval.export import Exported, export
from mmad_metric.metaeval.human_spans import read_human_spans
from mmad_metric.metaeval.layout import read_eval_set, read_folder
from mmad_metric.metaeval.marot_gold import eval_set, human_spans
from mmad_metric.metaeval.matrices import gold_matrix
from tests.metaeval.made_runs import error, rated, write_run
from tests.metaeval.tiny import lines, write_folder

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


@pytest.fixture
def folder(tmp_path: Path):
    return write_folder(tmp_path / "data")


def tsv(folder: Path, *rows: str):
    lines(folder / "mqm.tsv", [HEADER, *rows])
    return str(folder / "mqm.tsv")


def row(system, segment, target, label="Fluency/Grammar\tMinor", *, rater="r1", source=None):
    source = source or f"source {segment - 1}"
    return f"{system}\td\t1\t{segment}\t{rater}\t{source}\t{target}\t{label}"


def test_scores_are_means_over_raters_and_what_nobody_rated_is_none(folder: Path):
    path = tsv(
        folder,
        row("A", 1, "<v>alpha</v> 0", "Accuracy/Mistranslation\tMajor"),
        row("A", 1, "alpha 0", "No-error\tno-error", rater="r2"),
        row("A", 4, "alpha 3", "No-error\tno-error"),
        row("B", 1, "<v>beta</v> 0"),
    )
    data = eval_set(str(folder), "en-de", path)
    assert data.gold_segment == {"A": [-2.5, None, None, 0.0], "B": [-1.0, None, None, None]}
    assert data.notes == ()
    gold = gold_matrix(data)
    assert gold.systems == ("A", "B")
    assert gold.system.tolist() == [-1.25, -1.0]
    human = human_spans(data, path)
    assert human.of_segment("A", 0) == [
        (error("alpha", 0, severity="major", category="accuracy/mistranslation"),),
        (),
    ]
    assert human.of_segment("A", 1) == []


def test_rows_of_another_text_keep_their_score_and_lose_their_place(folder: Path):
    path = tsv(folder, row("A", 1, "<v>alpha</v> nought"), row("B", 1, "<v>beta</v> 0"))
    data = eval_set(str(folder), "en-de", path)
    assert data.gold_segment["A"][0] == -1.0
    assert "1 of 2 rows annotate another text than the system's" in data.notes[0]
    assert human_spans(data, path).of_segment("A", 0)[0][0].start is None


def test_odd_rows_are_counted_and_the_first_is_named(folder: Path):
    path = tsv(
        folder,
        row("A", 1, "<v>alpha</v> 0", "Fluency/Grammar\tSevere-ish"),
        row("A", 2, "<v>alpha 1"),
        row("A", 4, "<v>alpha</v> 3", "Colour\tMinor"),
        row("B", 1, "<v>beta</v> 0", "Fluency/Grammar\tso-so"),
        row("B", 2, "<v>be</v>t<v>a</v> 1"),
    )
    data = eval_set(str(folder), "en-de", path)
    assert data.gold_segment["A"][0] == -1.0  # minor, and never nothing
    assert [note.removeprefix(f"{path}: ") for note in data.notes] == [
        (
            "2 of 5 rows have an unknown severity; their errors count as minor "
            "(first: line 2, 'Severe-ish')"
        ),
        (
            "1 of 5 rows have an unknown category; their errors keep their severity's weight "
            "(first: line 4, 'Colour')"
        ),
        "1 of 5 rows open a span and do not close it; it has no place (first: line 3)",
        "1 of 5 rows mark several spans; the first is taken (first: line 6)",
    ]


def test_a_gzipped_tsv_is_read_as_a_plain_one(folder: Path):
    plain = tsv(folder, row("A", 1, "<v>alpha</v> 0"), row("B", 1, "beta 0", "No-error\tno-error"))
    packed = folder / "mqm.tsv.gz"
    packed.write_bytes(gzip.compress(Path(plain).read_bytes()))
    data = [eval_set(str(folder), "en-de", path) for path in (plain, str(packed))]
    assert data[0].gold_segment == data[1].gold_segment
    assert human_spans(data[0], plain).ratings == human_spans(data[1], str(packed)).ratings


def test_a_tsv_without_annotations_is_refused(folder: Path):
    with pytest.raises(InputError, match="no annotations in it"):
        eval_set(str(folder), "en-de", tsv(folder))


def test_an_export_of_a_run_on_a_text_with_a_byte_order_mark_comes_back(
    folder: Path, tmp_path: Path
):
    text = "".join(f"alpha {row}\n" for row in range(4))
    (folder / "system-outputs" / "en-de" / "A.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    ratings = [rated("A", row, f"source {row}", f"alpha {row}", (error("alpha", 0),))
               for row in range(4)]  # fmt: skip
    run = read_run(write_run(tmp_path / "m.jsonl", ratings))
    for data in (None, read_folder(str(folder), "en-de")):
        path = export(Exported.of(run, "m", "en-de", data), ["marot"], str(tmp_path))[0]
        again = eval_set(str(folder), "en-de", path)
        assert again.notes == ()
        # The mark counts in people's offsets.
        found = human_spans(again, path).of_segment("A", 0)[0][0]
        assert (found.text, found.start, found.end) == ("alpha", 1, 6)


REFUSED = {
    "segment": (row("A", 5, "alpha 4"), "line 2: segment 5 of 4"),
    "system": (row("Z", 1, "zeta 0"), "line 2: system 'Z' has no translation of segment 1"),
    "source": (
        row("A", 1, "alpha 0", source="other"),
        "line 2: segment 1 of sources/en-de.txt: its source is another one: 'other'",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_rows_that_do_not_belong_to_the_data_are_refused(folder: Path, kind: str):
    line, words = REFUSED[kind]
    with pytest.raises(InputError, match=words):
        eval_set(str(folder), "en-de", tsv(folder, line))


def test_a_missing_tsv_is_named(folder: Path):
    with pytest.raises(InputError, match=r"gone\.tsv: no such file of annotations"):
        eval_set(str(folder), "en-de", "gone.tsv")


def test_human_ratings_of_wmt23_give_the_same_gold_by_way_of_a_tsv(wmt23: Path, tmp_path: Path):
    data = read_eval_set(str(wmt23), "en-de")
    sources, outputs = data.texts()
    ratings = [
        rated(system, row, sources[row], outputs[system][row], errors)
        for system, rows in read_human_spans(data).ratings["merged"].items()
        for row, errors in enumerate(rows)
        if errors is not None
    ]
    run = read_run(write_run(tmp_path / "people.jsonl", ratings))
    path = export(Exported.of(run, "people", "en-de"), ["marot"], str(tmp_path))[0]
    again = eval_set(str(wmt23), "en-de", path)
    assert again.notes == ()
    before, after = (gold_matrix(each) for each in (data, again))
    order = [after.systems.index(name) for name in before.systems]
    assert after.segment[order] == pytest.approx(before.segment)
    assert after.system[order] == pytest.approx(before.system)
    assert np.array_equal(before.items, after.items)
