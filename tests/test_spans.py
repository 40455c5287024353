"""Where quoted spans are found. A table's text shows the expected span between ⟦ and ⟧."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmad_metric.merging import merge
from mmad_metric.mqm import Annotation, Category, MQMError, Placement, Severity, Side
from mmad_metric.normalise import fold, inner_positions, without_quotes
from mmad_metric.spans import MAX_GAP, place

EXACT, NORMALISED = Placement.EXACT, Placement.NORMALISED
APPROXIMATE, WHOLE, UNPLACED = Placement.APPROXIMATE, Placement.WHOLE, Placement.UNPLACED


def quote(
    span: str,
    category: str = "accuracy/mistranslation",
    severity: Severity = Severity.MAJOR,
    is_source_error: bool = False,
) -> Annotation:
    dimension, _, subcategory = category.partition("/")
    return Annotation(span, Category(dimension, subcategory or None), severity, is_source_error)


def unmarked(picture: str) -> tuple[str, int | None, int | None]:
    """The text of a picture, and the offsets that its brackets show."""
    before, opened, rest = picture.partition("⟦")
    inside, _, after = rest.partition("⟧")
    if not opened:
        return picture, None, None
    return before + inside + after, len(before), len(before) + len(inside)


def picture_of(error: MQMError, text: str) -> str:
    if error.start is None:
        return text
    return f"{text[: error.start]}⟦{text[error.start : error.end]}⟧{text[error.end :]}"


@pytest.mark.parametrize(
    ("span", "picture", "placement"),
    [
        # D3, D4, D5, D9, D10, D11, D12 of the cases from the field, then their kin
        ("east", "Least cost in the ⟦east⟧", EXACT),
        ("east", "L⟦east⟧ cost", EXACT),
        ("east", "Least cost in the ⟦East⟧", NORMALISED),
        ("汽车", "红色⟦汽车⟧很快", EXACT),
        ("ไทย", "ภาษา⟦ไทย⟧ง่าย", EXACT),
        ("iPhone", "我的⟦iPhone⟧手机", EXACT),
        ("5", "15 und ⟦5⟧", EXACT),
        ("no no", "casino ⟦no no⟧", EXACT),
        ("Rate 6 %", "Rate 5 %", UNPLACED),
        ("今天,很好", "今天，很好", UNPLACED),
        ("Masse", "die Maße", UNPLACED),
        ("Haus.", "das Haus", UNPLACED),
        ("a-b", "a\u2013b", UNPLACED),
        ("x2", "x²", UNPLACED),
        ("der Mieter … kündigen", "⟦der Mieter darf nicht kündigen⟧", APPROXIMATE),
        ("kündigen … der Mieter", "der Mieter darf nicht kündigen", UNPLACED),
        ("Haus", "👍🏽 gut ⟦Haus⟧", EXACT),
        ("👍🏽", "⟦👍🏽⟧ gut", EXACT),
        ("👍", "👍🏽 gut", UNPLACED),
        ("👩", "👩\u200d💻 gut", UNPLACED),
        ("👩💻", "👩\u200d💻 gut", UNPLACED),
        ("👩", "👩\u200d💻 und ⟦👩⟧", EXACT),
        ("🇪🇫", "🇩🇪🇫🇷", UNPLACED),
        ("❤", "ein ⟦❤\ufe0f⟧ da", NORMALISED),
        ("cafe", "cafe\u0301 und", UNPLACED),
        ("cafe", "cafe\u0301 und ⟦cafe⟧", EXACT),
        ("שלום עולם", "⟦שלום\u200f עולם⟧", NORMALISED),
        ("שלום", "⟦שלום⟧\u200f עולם", EXACT),
        ("Haus", "  ⟦Haus⟧ rot ", EXACT),
        (" Haus", " ⟦ Haus⟧ rot ", EXACT),
        ("Haus  ", "  ⟦Haus⟧ rot ", NORMALISED),
        ("all", "We are ⟦all⟧ here", EXACT),
        ("non-translation", "A ⟦non-translation⟧ it is", EXACT),
        ("no error", "There was ⟦no error⟧ code", EXACT),
        # each thing that may differ, and nothing that was not asked for
        ("caf\u00e9", "ein ⟦cafe\u0301⟧ hier", NORMALISED),
        ("cafe\u0301", "ein ⟦caf\u00e9⟧ hier", NORMALISED),
        ("가", "⟦\u1100\u1161⟧ 나", NORMALISED),
        ("haus", "Das ⟦Haus⟧ da", NORMALISED),
        ("ΛΟΓΟΣ", "ο ⟦λογος⟧ του", NORMALISED),
        ('"Ja"', "sagte ⟦„Ja“⟧ laut", NORMALISED),
        ("'Ja'", "sagte ⟦«Ja»⟧ laut", NORMALISED),
        ("l'eau", "dans ⟦l\u2019eau⟧ froide", NORMALISED),
        ('צה"ל', "של ⟦צה\u05f4ל⟧ היום", NORMALISED),
        ('"你好"', "他说⟦「你好」⟧了", NORMALISED),
        ("5 %", "nur ⟦5\u00a0%⟧ mehr", NORMALISED),
        ("rot und blau", "ist ⟦rot\n \u3000und\tblau⟧ da", NORMALISED),
        ("rot und", "⟦rot \u200b und⟧", NORMALISED),
        ("5 %", "nur 5% mehr", UNPLACED),
        ("Hausbau", "der ⟦Haus\u00adbau⟧ da", NORMALISED),
        ("Haus", "\ufeff⟦Haus⟧ rot", EXACT),
        ("\ufeffHaus", "das ⟦Haus⟧ rot", NORMALISED),
        ("میخواهم", "من ⟦می\u200cخواهم⟧ که", NORMALISED),
        ("می", "من ⟦می⟧\u200cخواهم", EXACT),
        ("**", "a ⟦**⟧ b", EXACT),
        # a quotation wrapped in quotes that the text does not have
        ('"Haus"', "Das ⟦Haus⟧ ist rot", NORMALISED),
        ("„haus“", "Das ⟦Haus⟧ ist rot", NORMALISED),
        ("“‘Haus’”", "Das ⟦Haus⟧ ist rot", NORMALISED),
        ("'Haus", "Das Haus ist rot", UNPLACED),
        ('"Hut"', "Das Haus ist rot", UNPLACED),
        ('"', 'Er sagt ⟦"⟧Ja', EXACT),
        # the strictest reading that has whole words decides
        ("Haus", "haus ⟦Haus⟧", EXACT),
        ("Haus ", "haus ⟦Haus⟧", NORMALISED),
        ('"Haus"', "haus ⟦Haus⟧", NORMALISED),
        # text before the span whose folded form has another length
        ("haus", "İİ ßß q\u0307 ﬁ ⟦Haus⟧", NORMALISED),
        # blanks
        ("", "Das Haus", UNPLACED),
        (" ", "Das⟦ ⟧Haus", EXACT),
        (" ", "Haus", UNPLACED),
        ("\u200b", "Das Haus", UNPLACED),
        ("  ", "Das⟦  ⟧Haus", EXACT),
        # words that look like a missing value are words
        ("null", "Der Wert ist ⟦null⟧", EXACT),
        ("None", "Das Haus", UNPLACED),
        ("\ud83d", "👍 gut", UNPLACED),
        ("\ud83d", "\ud83d\udc4d gut", UNPLACED),
        ("Haus", "\ud83d ⟦Haus⟧", EXACT),
        ("Haus", "", UNPLACED),
    ],
)
def test_a_span_is_found_where_its_words_stand_and_only_there(
    span: str, picture: str, placement: Placement
) -> None:
    text, start, end = unmarked(picture)
    (error,) = place([quote(span)], "", text)
    assert picture_of(error, text) == picture
    assert (error.start, error.end, error.placement) == (start, end, placement)


NFC, NFD = partial(unicodedata.normalize, "NFC"), partial(unicodedata.normalize, "NFD")
FILLER = "x" * (MAX_GAP - 2)


@pytest.mark.parametrize(
    ("span", "picture", "placement"),
    [
        ("der ... nicht", "⟦der Mieter darf nicht⟧ kündigen", APPROXIMATE),
        ("der [...] nicht", "⟦der Mieter darf nicht⟧ kündigen", APPROXIMATE),
        ("der […] nicht", "⟦der Mieter darf nicht⟧ kündigen", APPROXIMATE),
        ("der ( ... ) nicht", "⟦der Mieter darf nicht⟧ kündigen", APPROXIMATE),
        ("Der…nicht…kündigen", "⟦der Mieter darf nicht kündigen⟧", APPROXIMATE),
        ('"der … nicht"', "⟦der Mieter darf nicht⟧ kündigen", APPROXIMATE),
        ("der Mieter …", "⟦der Mieter⟧ darf nicht", APPROXIMATE),
        ("... darf nicht", "der Mieter ⟦darf nicht⟧", APPROXIMATE),
        ("我…汽车", "⟦我的红色汽车⟧很快", APPROXIMATE),
        ("Warte... nein", "⟦Warte… nein⟧", APPROXIMATE),
        # the words with their literal ellipsis win, wherever they stand
        ("der … Hund", "der alte Hund, ⟦der … Hund⟧", EXACT),
        ("der ... hund", "der alte Hund, ⟦der ... Hund⟧", NORMALISED),
        ("…", "und so ⟦…⟧", EXACT),
        # the shortest stretch
        ("der … Hund", "der Mann und ⟦der alte Hund⟧ und Hund", APPROXIMATE),
        # order, distance, changed or cut words
        ("der … der", "der Mieter", UNPLACED),
        ("der … Hund … Mann", "Mann, der Hund", UNPLACED),
        ("der … Hund", f"⟦der {FILLER} Hund⟧", APPROXIMATE),
        ("der … Hund", f"der {FILLER}x Hund", UNPLACED),
        ("der … Hund", f"der {'weite Weg zum ' * 30} Hund", UNPLACED),
        ("红…色", "⟦红色⟧汽车", APPROXIMATE),
        ("der … Katze", "der alte Hund", UNPLACED),
        ("er … und", "der alte Hund", UNPLACED),
        ("...", "der alte Hund", UNPLACED),
        (" … ", "der alte Hund", UNPLACED),
        ("a … b … a … b … a … b … a … b … a", "a b a b a b a b a", UNPLACED),
    ],
)
def test_an_ellipsis_joins_whole_words_in_order_and_near(
    span: str, picture: str, placement: Placement
) -> None:
    text, _, _ = unmarked(picture)
    (error,) = place([quote(span)], "", text)
    assert picture_of(error, text) == picture
    assert error.placement is placement


@pytest.mark.parametrize(
    ("annotation", "source", "translation", "side", "placement", "flags"),
    [
        # B3: an omission in the source, marked in the translation, or nowhere
        (quote("very", "accuracy/omission"), "a ⟦very⟧ big", "ein", "source", EXACT, ()),
        (quote("Rom", "accuracy/omission"), "in ⟦Rom⟧", "in Rom", "source", EXACT, ()),
        (quote("ein", "accuracy/omission"), "a big", "⟦ein⟧", "translation", EXACT, ()),
        (quote("missing", "accuracy/omission"), "a big", "ein", "source", UNPLACED, ()),
        (quote("", "accuracy/omission"), "a big", "ein", "source", UNPLACED, ()),
        (
            quote("ein", "accuracy/omission", is_source_error=True),
            "a big",
            "⟦ein⟧",
            "translation",
            EXACT,
            ("found_in_translation",),
        ),
        (
            quote("big", "accuracy/mistranslation", is_source_error=True),
            "a ⟦big⟧",
            "big",
            "source",
            EXACT,
            (),
        ),
        (quote("teh", "source issue"), "⟦teh⟧ end", "teh", "source", EXACT, ()),
        (quote("ein", "source issue"), "teh end", "⟦ein⟧", "translation", EXACT, ()),
        (quote("Rom", "accuracy/addition"), "Rom", "⟦Rom⟧", "translation", EXACT, ()),
        (quote("Rom", "style/awkward"), "Rom", "⟦rom⟧", "translation", NORMALISED, ()),
        (
            quote("Big", "accuracy/untranslated text"),
            "a ⟦big⟧",
            "ein",
            "source",
            NORMALISED,
            ("found_in_source",),
        ),
        # where a quotation does not belong, parts of words and ellipses prove nothing
        (quote("der", "fluency/grammar"), "under it", "das", "translation", UNPLACED, ()),
        (quote("a … big"), "a very big", "das", "translation", UNPLACED, ()),
        (quote("a … big", "accuracy/omission"), "⟦a very big⟧", "", "source", APPROXIMATE, ()),
        (quote("车"), "红⟦车⟧快", "car", "source", EXACT, ("found_in_source",)),
        (quote("Hut"), "hat", "das Haus", "translation", UNPLACED, ()),
    ],
)
def test_the_side_follows_the_annotation_and_then_the_words(
    annotation: Annotation,
    source: str,
    translation: str,
    side: str,
    placement: Placement,
    flags: tuple[str, ...],
) -> None:
    texts = {Side.SOURCE: unmarked(source)[0], Side.TRANSLATION: unmarked(translation)[0]}
    (error,) = place([annotation], *texts.values())
    assert (error.side.value, error.placement, error.flags) == (side, placement, flags)
    expected = source if side == "source" else translation
    assert picture_of(error, texts[error.side]) == expected


@pytest.mark.parametrize("span", ["all", "", "non-translation", "We", "nowhere"])
@pytest.mark.parametrize("translation", ["We are all here", "", "\ud83d \u200f "])
@pytest.mark.parametrize("is_source_error", [False, True])
def test_non_translation_covers_the_whole_translation_whatever_it_quotes(
    span: str, translation: str, is_source_error: bool
) -> None:
    annotation = quote(span, "non-translation", is_source_error=is_source_error)
    (error,) = place([annotation], "x all y", translation)
    assert (error.text, error.start, error.end) == (translation, 0, len(translation))
    assert (error.side, error.placement, error.flags) == (Side.TRANSLATION, WHOLE, ())
    assert error.quoted == (None if span in ("all", "") else span)


def test_only_the_category_makes_a_non_translation() -> None:
    """B10: the words are no label."""
    (error,) = place([quote("non-translation", "accuracy/addition")], "", "Das Haus")
    assert (error.placement, error.text) == (UNPLACED, "non-translation")


def test_quoted_holds_the_agents_words_only_where_the_text_has_others() -> None:
    spans = ["Haus", "haus", " Haus", "das … rot", "Hut"]
    errors = place([quote(span) for span in spans], "", "das Haus, rot")
    assert [error.quoted for error in errors] == [None, "haus", None, "das … rot", None]
    assert [error.text for error in errors] == ["Haus", "Haus", " Haus", "das Haus, rot", "Hut"]


@pytest.mark.parametrize("span", ["Haus", "Hut", "all"])
@pytest.mark.parametrize("category", [Category("other"), Category("non-translation")])
def test_labels_raw_labels_and_flags_are_carried_over(span: str, category: Category) -> None:
    annotation = Annotation(
        span, category, Severity.CRITICAL, False, "Catastrophe", "CRIT", ("unknown_severity",)
    )
    (error,) = place([annotation], "", "das Haus")
    assert (error.category, error.severity) == (category, Severity.CRITICAL)
    assert (error.raw_category, error.raw_severity) == ("Catastrophe", "CRIT")
    assert error.flags == ("unknown_severity",)


def test_a_flag_is_not_set_twice() -> None:
    annotation = Annotation(
        "big", Category("style", "awkward"), Severity.MINOR, flags=("found_in_source",)
    )
    (error,) = place([annotation], "big", "groß")
    assert error.flags == ("found_in_source",)


def starts(errors: tuple[MQMError, ...]) -> list[int | None]:
    return [error.start for error in errors]


def test_identical_items_take_successive_occurrences_and_the_surplus_repeats_the_last() -> None:
    errors = place([quote("rot")] * 4, "", "rot, rot, brot, rot")
    assert starts(errors) == [0, 5, 16, 16]
    assert starts(merge(errors)) == [0, 5, 16]


def test_words_that_find_the_same_occurrences_are_identical() -> None:
    errors = place([quote(" rot"), quote("ROT"), quote('"rot"')], "", "Rot und Rot")
    assert starts(errors) == [0, 8, 8]


@pytest.mark.parametrize(
    "other",
    [
        quote("rot", severity=Severity.MINOR),
        quote("rot", "style/awkward"),
        Annotation("rot", Category("accuracy", "mistranslation"), Severity.MAJOR, False, "x"),
    ],
)
def test_another_label_on_the_same_words_starts_at_the_first_occurrence(other: Annotation) -> None:
    errors = place([quote("rot"), other, quote("rot"), other], "", "rot und rot")
    assert starts(errors) == [0, 0, 8, 8]


def test_two_labels_on_one_span_end_as_one_error() -> None:
    """B14: the text has the words twice, the agents mean one place."""
    errors = place([quote("rot", "style/awkward", Severity.MINOR), quote("rot")], "", "rot und rot")
    (kept,) = merge(errors)
    assert (str(kept.category), kept.start) == ("accuracy/mistranslation", 0)


def test_nested_quotations_keep_their_own_spans() -> None:
    """B14: overlap is no repeat."""
    errors = place([quote("sehr rot"), quote("rot")], "", "sehr rot")
    assert len(merge(errors)) == 2


def test_each_side_counts_its_own_occurrences() -> None:
    in_source = quote("Rom", is_source_error=True)
    errors = place([in_source, quote("Rom"), in_source], "Rom, Rom", "Rom, Rom")
    assert [(error.side, error.start) for error in errors] == [
        (Side.SOURCE, 0),
        (Side.TRANSLATION, 0),
        (Side.SOURCE, 5),
    ]


def test_occurrences_of_one_quotation_never_overlap() -> None:
    errors = place([quote("no no")] * 3, "", "no no no no no")
    assert starts(errors) == [0, 6, 6]


def test_occurrences_may_touch() -> None:
    assert starts(place([quote("汽车")] * 2, "", "汽车汽车")) == [0, 2]


def test_parts_of_words_are_no_occurrences_where_there_are_whole_ones() -> None:
    assert starts(place([quote("east")] * 2, "", "Least east")) == [6, 6]


def test_shortened_quotations_take_successive_stretches_too() -> None:
    errors = place([quote("der … Hund")] * 3, "", "der alte Hund, der junge Hund")
    assert starts(errors) == [0, 15, 15]


LONG = ("Das Haus ist rot und groß. „Ja“, cafe\u0301 \u200f你好 👍🏽 " * 600)[:20_000]


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([f"steht nicht da {number}" for number in range(30)], LONG),
        ([f"das … steht … nicht da {number}" for number in range(30)], LONG),
        ([f"{LONG[:500]}{number}" for number in range(30)], LONG),
        (["aaa"] * 30, "a" * 20_000),
        ([f"{'a' * number}b" for number in range(1, 31)], "a" * 20_000),
        (["a" * (10_000 + number) for number in range(3)], "a" * 20_000),
        (["a " * (5_000 + number) + "a" for number in range(3)], "a " * 10_000),
        (["a…" * 7 + "a", "a…" * 10_000, "…" * 20_000], "a " * 10_000),
        (["e" + "\u0301" * 10_000, "e\u0301"], "e" + "\u0301" * 20_000),
        (["x" + " " * 10_000 + "y", "[ " * 10_000 + "…"], "x" + " \u200b" * 10_000),
        (["👩\u200d👩", "👩\u200d" * 5_000], "👩\u200d" * 10_000),
        (["🇩🇪" * 3, "🇪🇩"], "🇩🇪" * 10_000),
    ],
)
def test_long_and_repetitive_texts_come_to_an_end(spans: list[str], text: str) -> None:
    """How long they take is measured in benchmarks/bench_text.py."""
    place([quote(span) for span in spans], text, text)


# Short pieces that meet often: whatever joins, folds, wraps or repeats.
PIECES = st.sampled_from(
    [
        *"aAeéßİ1, \u00a0\n\u0301\u200b\u200c\u200d\u200f\u00ad\ufeff\ufe0f👩💻🏽❤🇩🇪…„“\"'’",
        *"你好가\u1100\u1161\ud83d\udc4d",
        "\r\n",
        "...",
        "q\u0307",
    ]
)
PIECED = st.lists(PIECES, max_size=12).map("".join)
ANY_TEXT = PIECED | st.text(st.characters(exclude_categories=()), max_size=20)
ANNOTATIONS = st.builds(
    Annotation,
    span=ANY_TEXT | st.just("all"),
    category=st.sampled_from(
        [
            Category("accuracy", "omission"),
            Category("accuracy", "mistranslation"),
            Category("style", "awkward"),
            Category("source issue"),
            Category("non-translation"),
        ]
    ),
    severity=st.sampled_from(Severity),
    is_source_error=st.booleans(),
    flags=st.sampled_from([(), ("unknown_severity",)]),
)


@given(st.lists(ANNOTATIONS, max_size=6), ANY_TEXT, ANY_TEXT)
def test_every_annotation_becomes_one_error_in_order_with_its_labels(
    annotations: list[Annotation], source: str, translation: str
) -> None:
    errors = place(annotations, source, translation)
    assert [(error.category, error.severity) for error in errors] == [
        (annotation.category, annotation.severity) for annotation in annotations
    ]
    for error, annotation in zip(errors, annotations, strict=True):
        assert error.flags[: len(annotation.flags)] == annotation.flags
        said = error.text if error.quoted is None else error.quoted
        assert said == annotation.span or error.placement is WHOLE


@given(st.lists(ANNOTATIONS, max_size=6), ANY_TEXT, ANY_TEXT)
def test_every_placed_span_is_its_slice_and_cuts_no_character(
    annotations: list[Annotation], source: str, translation: str
) -> None:
    texts = {Side.SOURCE: source, Side.TRANSLATION: translation}
    for error in place(annotations, source, translation):
        if error.start is None or error.end is None:
            continue
        text = texts[error.side]
        assert text[error.start : error.end] == error.text
        assert inner_positions(text).isdisjoint({error.start, error.end})
        assert error.end > error.start or error.placement is WHOLE


def same_words(one: str, other: str) -> bool:
    return fold(one).text.strip() == fold(other).text.strip()


@given(ANY_TEXT, ANY_TEXT)
def test_what_is_found_is_what_was_quoted(span: str, text: str) -> None:
    (error,) = place([quote(span)], "", text)
    if error.placement is EXACT:
        assert error.text == span
    if error.placement is NORMALISED:
        assert error.text != span
        assert same_words(error.text, span) or same_words(error.text, without_quotes(span))


@given(ANY_TEXT, st.data())
def test_whatever_is_cut_from_the_text_at_characters_is_found(
    text: str, data: st.DataObject
) -> None:
    edges = sorted(set(range(len(text) + 1)) - inner_positions(text))
    start = data.draw(st.sampled_from(edges))
    end = data.draw(st.sampled_from([edge for edge in edges if edge >= start]))
    span = text[start:end]
    assume(span)
    (error,) = place([quote(span)], "", text)
    assert error.placement in (EXACT, NORMALISED)
    assert same_words(error.text, span) or same_words(error.text, without_quotes(span))


def six(*choices: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(choices), min_size=6, max_size=6)


@given(
    st.integers(0, 5),
    st.sampled_from([NFC, NFD]),
    six(" ", "\u00a0", "\n", "  "),
    six("", "\u200f", "\u2060"),
    st.sampled_from([str, str.upper, str.lower]),
    st.booleans(),
)
def test_style_never_moves_a_span(
    word: int,
    form: Callable[[str], str],
    spaces: list[str],
    marks: list[str],
    case: Callable[[str], str],
    straight: bool,
) -> None:
    words = ["Das", "„Café“", "l'été", "ÖSE", "q\u0307x", "Ende"]
    shown = [form(each) for each in words]
    text = "".join(map("".join, zip(shown, marks, spaces, strict=True)))
    span = case(words[word])
    if straight:
        span = span.translate(str.maketrans("„“'", '""’'))
    (error,) = place([quote(span)], "", text)
    assert error.start == text.index(shown[word])
    assert error.text == shown[word]


@given(st.integers(1, 6), st.integers(1, 6))
def test_copies_fill_the_occurrences_from_the_left(copies: int, occurrences: int) -> None:
    errors = place([quote("rot")] * copies, "", ", ".join(["rot"] * occurrences))
    filled = [5 * number for number in range(min(copies, occurrences))]
    assert starts(merge(errors)) == filled
