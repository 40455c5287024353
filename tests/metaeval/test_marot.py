"""WMT's MQM TSVs with the quirks of the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmad_metric.errors import InputError
from mmad_metric.metaeval.marot import (
    OTHER_TEXT,
    SEVERAL,
    TAGS_IN_TEXT,
    UNCLOSED,
    Annotated,
    against_texts,
    marot_lines,
    read_marot,
    scores,
)
from mmad_metric.mqm import Placement, Severity, Side
from mmad_metric.scoring import SCHEMES
from tests.metaeval.made_runs import error

NINE = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def rows_of(tmp_path: Path, *rows: str, header=NINE):
    path = tmp_path / "mqm.tsv"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return list(read_marot(str(path)))


def row(target, category="Accuracy/Mistranslation", severity="Major", *, source="a red house",
        rater="r1", seg=1):  # fmt: skip
    return f"A\td\t1\t{seg}\t{rater}\t{source}\t{target}\t{category}\t{severity}"


def test_a_tagged_span_has_its_offsets_in_the_text_without_tags(tmp_path: Path):
    found = rows_of(tmp_path, row("Das <v>Haus</v> ist rot."))[0]
    assert found.target == "Das Haus ist rot."
    error = found.error
    assert error is not None
    assert (error.text, error.start, error.end) == ("Haus", 4, 8)
    assert (str(error.category), error.severity) == ("accuracy/mistranslation", Severity.MAJOR)


def test_an_omission_lies_in_the_source(tmp_path: Path):
    found = rows_of(
        tmp_path, row("Ein Haus", "Accuracy/Omission", source="a <v>very</v> red house")
    )[0]
    assert found.error is not None
    assert (found.error.side, found.error.text, found.error.start) == (Side.SOURCE, "very", 2)
    assert found.source == "a very red house"


def test_a_tag_that_is_never_closed_is_flagged_and_has_no_offsets(tmp_path: Path):
    found = rows_of(tmp_path, row("Das <v>Haus ist rot."))[0]
    assert found.flags == (UNCLOSED,)
    assert found.target == "Das Haus ist rot."
    assert found.error is not None
    assert (found.error.start, found.error.placement) == (None, Placement.UNPLACED)


def test_other_odd_tags_never_give_reversed_offsets(tmp_path: Path):
    found = rows_of(
        tmp_path, row("Das</v> Haus"), row("<v>Das</v> Haus <v>ist</v>"), row("<v></v>Das")
    )
    assert [each.error and (each.error.start, each.error.end) for each in found] == [
        (None, None),
        (0, 3),
        (0, 0),
    ]
    assert found[1].flags == (SEVERAL,)


def test_rows_without_an_error_and_rows_that_test_the_raters_are_no_errors(tmp_path: Path):
    found = rows_of(
        tmp_path,
        row("Das Haus", "No-error", "no-error"),
        row("Das <v>Haus</v>", "Found", "HOTW-test"),
        row("Das Haus", "Other", "No-Error", seg=2),
    )
    assert [(each.segment, each.error) for each in found] == [(1, None), (2, None)]


def test_rows_that_only_tell_about_a_segment_rate_nothing(tmp_path: Path):
    found = rows_of(tmp_path, row("Das Haus", "", "", rater=""), row("<v>Das</v> Haus", "", ""))
    assert [each.line for each in found] == [3]  # somebody's row without labels is an error
    assert found[0].error is not None


def test_labels_are_read_whatever_their_case_and_unknown_ones_flagged(tmp_path: Path):
    found = rows_of(
        tmp_path,
        row("<v>Das</v>", "Non-translation!", "Major"),
        row("<v>Das</v>", "Colour", "so-so"),
    )
    first, second = (each.error for each in found)
    assert first is not None
    assert first.category.is_non_translation
    assert second is not None
    assert second.flags == ("unknown_category", "unknown_severity")
    assert SCHEMES["wmt"].weight(second) == 1  # never weightless


def test_quotes_are_text(tmp_path: Path):
    found = rows_of(tmp_path, row('"Hi', source='"Hallo'), row("Tschüss", source="Bye", seg=2))
    assert [each.target for each in found] == ['"Hi', "Tschüss"]


EIGHT = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
TEN = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"


def test_columns_are_told_by_the_header(tmp_path: Path):
    cells = "A\td\t7\tr1\ts\tt\tStyle/Awkward\tMinor"
    assert rows_of(tmp_path, cells, header=EIGHT)[0].segment == 7
    cells = 'A\td\t1\t7\tr1\ts\tt\tStyle/Awkward\tMinor\t{"x": 1}'
    assert rows_of(tmp_path, cells, header=TEN)[0].segment == 7


REFUSED = {
    "eight fields under nine": ((NINE, "A\td\t7\tr1\ts\tt\tStyle\tMinor"),
                                "line 2: 8 fields, the header names 9"),
    "five fields under six": (("system\tdoc\tseg\ttarget\tcategory\tseverity", "A\td\t1\tt\tx"),
                              "line 1: a header with the columns"),
    "no header": (("A\td\t1\t1\tr\ts\tt\tStyle\tMinor", "A\td\t1\t1\tr\ts\tt\tStyle\tMinor"),
                  "line 1: a header"),
    "segment": ((NINE, "A\td\t1\tone\tr\ts\tt\tStyle\tMinor"), "line 2: the segment is 'one'"),
    "empty": (("",), "line 1: a header"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_columns_never_shift(tmp_path: Path, kind: str):
    rows, words = REFUSED[kind]
    with pytest.raises(InputError, match=words):
        rows_of(tmp_path, *rows[1:], header=rows[0])


def test_a_text_that_is_not_the_systems_gives_up_the_place_and_says_so(tmp_path: Path):
    found = rows_of(tmp_path, row("trug <v>er wohl</v> eine"))[0]
    assert against_texts(found, "a red house", "trug er wohl eine") == found
    other = against_texts(found, "a red house", "trug er eine")
    assert other.flags == (OTHER_TEXT,)
    assert other.error is not None
    assert (other.error.text, other.error.start) == ("er wohl", None)


def test_scores_are_means_over_raters_of_the_penalties(tmp_path: Path):
    found = rows_of(
        tmp_path,
        row("<v>Das</v>", severity="Major", rater="r1"),
        row("<v>Das</v>", severity="Minor", rater="r1"),
        row("Das", "Fluency/Punctuation", "Minor", rater="r2"),
        row("Das", "No-error", "no-error", rater="r1", seg=2),
    )
    assert scores(found, SCHEMES["wmt"]) == {("A", 1): pytest.approx(-(6 + 0.1) / 2),
                                             ("A", 2): 0.0}  # fmt: skip


def test_what_is_written_is_read_back(tmp_path: Path):
    found = rows_of(
        tmp_path,
        row("Das <v>Haus</v> ist 👍🏽"),
        row("Ein Haus", "Accuracy/Omission", source="a <v>very</v> red house"),
        row("Das Haus", "No-error", "no-error"),
    )
    path = tmp_path / "again.tsv"
    header = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"
    path.write_text(header + "".join(map(marot_lines, found)), encoding="utf-8")
    again = list(read_marot(str(path)))
    assert [(each.source, each.target, each.error) for each in again] == [
        (each.source, each.target, each.error) for each in found
    ]


def test_a_tag_opened_twice_gives_no_place(tmp_path: Path):
    found = rows_of(tmp_path, row("Das <v>Haus <v>ist</v> rot"))[0]
    assert found.flags == (TAGS_IN_TEXT,)
    assert found.error is not None
    assert found.error.start is None


# Field, the system's text, the span by hand.
TAGGED = {
    "marked beside it": ("Tippe <v> und <v>los</v>", "Tippe <v> und los", (14, 17)),
    "marked around it": ("<v>Tippe <v></v> los", "Tippe <v> los", (0, 9)),
    "a pair of its own": ("<v>x</v> <v>los</v>", "<v>x</v> los", (9, 12)),
    "no mark": ("<v>x</v> los", "<v>x</v> los", None),
    "two ways": ("<v>a <v>b</v></v>", "<v>a b</v>", None),
}


@pytest.mark.parametrize("kind", TAGGED)
def test_tags_of_the_text_itself_are_no_marks_where_the_text_is_known(tmp_path: Path, kind: str):
    field, text, expected = TAGGED[kind]
    found = against_texts(rows_of(tmp_path, row(field))[0], "a red house", text)
    assert found.error is not None
    assert (found.target, OTHER_TEXT in found.flags) == (text, False)
    assert (found.error.start, found.error.end) == (expected or (None, None))
    if expected:
        assert found.error.text == text[slice(*expected)]
    assert (TAGS_IN_TEXT in found.flags) == (kind == "two ways")


def test_every_span_of_a_text_with_tags_comes_back_or_is_flagged(tmp_path: Path):
    text = "a<v>b</v>c<v>"
    path = tmp_path / "again.tsv"
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            wanted = error(text[start:end], start)
            line = marot_lines(Annotated(0, "A", "", 1, "r", "s", text, wanted))
            path.write_text(NINE + "\n" + line, encoding="utf-8")
            found = against_texts(next(read_marot(str(path))), "s", text)
            assert found.error == wanted or found.flags == (TAGS_IN_TEXT,)
            assert OTHER_TEXT not in found.flags
            if wanted.text in ("a", "c"):
                assert found.error == wanted


def test_a_mark_in_the_source_is_told_from_the_sources_tags(tmp_path: Path):
    found = rows_of(tmp_path, row("Ein Haus", source="a <v>very</v> <v> house"))[0]
    placed = against_texts(found, "a very <v> house", "Ein Haus").error
    assert placed is not None
    assert (placed.side, placed.start, placed.end) == (Side.SOURCE, 2, 6)
    with pytest.raises(InputError, match="its source is another one"):
        against_texts(found, "a <v>very</v> house", "Ein Haus")


def test_offsets_count_the_byte_order_mark_that_the_text_has(tmp_path: Path):
    found = against_texts(rows_of(tmp_path, row("<v>Das</v> Haus"))[0], "a red house",
                          "\ufeffDas Haus")  # fmt: skip
    assert found.flags == ()
    assert found.error is not None
    assert (found.error.text, found.error.start, found.error.end) == ("Das", 1, 4)


def test_offsets_into_a_source_are_those_of_the_source_with_its_white_space(tmp_path: Path):
    found = rows_of(tmp_path, row("Ein Haus", source="a <v>red</v> house"))[0]
    placed = against_texts(found, "  a red house ", "Ein Haus").error
    assert placed is not None
    assert (placed.text, placed.start, placed.end) == ("red", 4, 7)
