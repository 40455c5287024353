"""The page: one file that obeys nobody, has everything, and appears whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from mmad_metric.errors import InputError, RunStopped
from mmad_metric.filtering import ErrorFilter
from mmad_metric.mqm import Side
from mmad_metric.rating import Segment, SegmentRating
from mmad_metric.report.document import write_report
from mmad_metric.report.survey import Choice
from mmad_metric.report.target import is_report
from tests.report.samples import Page, debate, error, how, rated, unscored, write_run

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</script></style></p></mark>",
    "{{ 7 * 7 }} {% raw %}",
    "&lt;b&gt;",
    "<!-- --> ]]>",
]
SLASH = "\N{DIVISION SLASH}"
STYLE = Path("mmad_metric/report/page/style.css")


def written(tmp_path: Path, *paths: str, choice: Choice = Choice()) -> str:  # noqa: B008 - frozen
    target = tmp_path / "page.html"
    write_report(paths, str(target), choice)
    # As a browser reads it: bytes, not lines of this system's.
    return target.read_bytes().decode("utf-8")


def one(tmp_path: Path, *ratings: SegmentRating, choice: Choice = Choice(), **config) -> Page:  # noqa: B008
    return Page(written(tmp_path, write_run(tmp_path / "r.jsonl", ratings, config=config),
                        choice=choice))  # fmt: skip


def strange(words: str) -> SegmentRating:
    """A rating in which all that comes from outside is these words."""
    segment = Segment(f"s{words}", f"t{words}", words, 0, words, words, words)
    errors = [
        error(words, 1, provenance=how(1, 2, disputed=True), quoted=words, raw_category=words,
              raw_severity=words, flags=(words,)),
        error(words, 1, side=Side.SOURCE),
        # A label holds no slash and no capital.
        error(words, None, category=words.lower().replace("/", SLASH)),
    ]  # fmt: skip
    return rated(segment, *errors, outcomes=(debate(words),), analysis=words, flags=(words,))


@pytest.mark.parametrize("words", HOSTILE, ids=[str(n) for n in range(len(HOSTILE))])
def test_whatever_strangers_wrote_is_text(tmp_path: Path, words: str):
    page, harmless = (
        one(tmp_path, strange(each), unscored(Segment("s", "t", f"{each}2"), each), model=each)
        for each in (words, "harmless")
    )
    # The page is made of the same elements whatever the words are, and of no other attributes.
    assert [tag for tag, *_ in page.found] == [tag for tag, *_ in harmless.found]
    assert {(tag, name) for tag, name, _ in page.attributes} == {
        (tag, name) for tag, name, _ in harmless.attributes
    }
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    # Texts, ids, errors, their agents' words, debates, judge, detail, settings: nothing is lost.
    text = page.text.replace(SLASH, "/")
    assert text.count(words) == harmless.text.count("harmless") > 25


def test_the_texts_on_the_page_are_the_texts_of_the_run(tmp_path: Path):
    source, translation = "a\r\nb  \u202ec\u200b<d>\t", " שלום\n\nעולם 😀 "
    segment = Segment(source, translation, "A")
    page = one(tmp_path, rated(segment, error("b", 3, side=Side.SOURCE), error("עו", 7)))
    assert page.texts("p", "source") == [source]
    assert page.texts("p", "translation") == [translation]


def test_nothing_is_fetched_and_only_our_own_script_and_style_are_obeyed(tmp_path: Path):
    html = written(tmp_path, write_run(tmp_path / "r.jsonl", [strange("x")]))
    page = Page(html)
    addresses = {
        value for tag, name, value in page.attributes if name in ("src", "href", "action", "srcset")
    }
    assert all(each.startswith("#") or each == "data:," for each in addresses)
    assert not re.search(r"@import|url\(", html)
    assert not [each for each in page.attributes if each[1] == "style"]
    (policy,) = [value for _, attributes, _ in page.found
                 if attributes.get("http-equiv") == "Content-Security-Policy"
                 for value in [attributes["content"]]]  # fmt: skip
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        ((text,),) = [texts for name, _, texts in page.found if name == tag]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_languages_and_directions_are_told(tmp_path: Path):
    page = one(tmp_path, rated(Segment("s", "t", "A")), lp="he-pt_BR")
    told = {
        attributes["class"]: (attributes["lang"], attributes["dir"])
        for tag, attributes, _ in page.found
        if tag == "p" and "text" in attributes.get("class", "")
    }
    assert told == {"text source": ("he", "auto"), "text translation": ("pt-BR", "auto")}


def test_an_error_that_is_not_in_the_text_is_listed(tmp_path: Path):
    page = one(tmp_path, rated(Segment("s", "abc", "A"), error("xyz", None)))
    assert [tag for tag, attributes, _ in page.found if "data-errors" in attributes] == []
    (listed,) = page.texts("ol", "errors")
    assert "xyz" in listed
    assert "not found in the text" in listed


def test_errors_are_counted_by_dimension_and_severity(tmp_path: Path):
    """Severities that one dimension has and another has not, and a dimension of one system."""
    page = one(
        tmp_path,
        rated(Segment("s", "abc", "A"), error("a", 0, "critical"), error("b", 1),
              error("c", 2, "major", category="items/keys")),
        rated(Segment("s", "abc", "B"), error("b", 1, "neutral")),
    )  # fmt: skip
    cells = [text for text in page.texts("td") if "points" in text]
    assert cells == ["1 major 5 points", "1 critical, 1 minor 6 points", "1 neutral 0 points"]


def test_how_an_error_came_to_be_is_told(tmp_path: Path):
    page = one(
        tmp_path,
        rated(Segment("s", "abc", "A"), error("b", 1, provenance=how(3, 4, disputed=True))),
    )
    (history,) = page.texts("p", "history")
    assert history == (
        "raised by annotate.accuracy · disputed over 1 round · con.accuracy yielded · "
        "the judge kept it · kept by 3 of 4 agents"
    )


def test_a_debate_is_unfolded_in_the_order_of_speaking(tmp_path: Path):
    page = one(tmp_path, rated(Segment("s", "abc", "A"), outcomes=(debate("b"),), analysis="end"))
    assert page.texts("span", "who") == [
        "pro opens", "con opens", "pro", "con", "interrogator asks pro", "pro", "verdict",
        "outcome",
    ]  # fmt: skip
    assert page.texts("p", "words") == [
        "pro: b", "con: b", "asked pro: b", "pro: b", "verdict: b", "end",
    ]  # fmt: skip
    # Pro stays with its opening, twice; the outcome is as pro opened.
    assert page.texts("p", "none") == ["stays with its errors"] * 2 + ["as pro opened"]


def test_systems_on_one_source_stand_in_one_row_in_their_order(tmp_path: Path):
    one_run = write_run(tmp_path / "b.jsonl", [rated(Segment("s", "t1", "B"))])
    other = write_run(
        tmp_path / "a.jsonl", [rated(Segment("s", "t2", "A"), error("s", 0, side=Side.SOURCE))]
    )
    page = Page(written(tmp_path, one_run, other))
    assert len(page.texts("section", "row")) == 1
    assert page.texts("bdi", "system") == ["B", "A"]
    # The source stands above them once, and again where one of them has an error in it.
    assert page.texts("p", "source") == ["s", "s"]


def test_repeats_are_shown_each_under_the_mean(tmp_path: Path):
    segment = Segment("s", "abc", "A", repeat=1)
    second = rated(Segment("s", "abc", "A", repeat=2), error("b", 1, "major"))
    third = unscored(Segment("s", "abc", "A", repeat=3))
    page = one(tmp_path, rated(segment), second, third)
    assert page.texts("article", "card")[0].count("Repeat ") == 3
    (head,) = [text for text in page.texts("h4") if "repeats" in text]
    # 0 and -5: mean -2.5, deviation 5 / sqrt 2.
    assert "−2.50" in head
    assert "mean of 2 of 3 repeats, sd 3.54" in head


def test_a_filtered_score_stands_beside_the_one_with_all_errors(tmp_path: Path):
    rating = rated(
        Segment("s", "abc", "A"),
        error("a", 0, "major", provenance=how(1, 4)),
        error("b", 1, provenance=how(4, 4)),
    )
    page = one(tmp_path, rating, choice=Choice(errors=ErrorFilter(min_support=0.5)))
    (head,) = page.texts("h4")
    assert "−1.00" in head
    assert "−6.00 with all errors" in head
    assert "1 error left out by the filter" in page.text
    assert "computed anew" in page.text
    assert page.texts("td", "n")[:2] == ["−1.00", "−6.00"]


def test_a_segment_without_a_score_says_why_and_shows_no_number(tmp_path: Path):
    page = one(tmp_path, unscored(Segment("s", "t", "A"), "https://u:hush@host/v1 is down"))
    assert page.texts("p", "failure") == ["No score: timeout. https://host/v1 is down"]
    assert page.texts("span", "score") == ["none"]


def test_a_run_without_segments_is_a_page_too(tmp_path: Path):
    page = Page(written(tmp_path, write_run(tmp_path / "r.jsonl", [], systems=["A"])))
    assert "There are no rated segments." in page.text


def test_the_page_appears_whole_or_not_at_all(tmp_path: Path):
    path = Path(write_run(tmp_path / "r.jsonl", [rated(Segment("s", "t", "A"))]))
    target = tmp_path / "page.html"
    target.write_text("old", encoding="utf-8")
    path.write_bytes(path.read_bytes().replace(b'"translation":', b'"trans":'))
    with pytest.raises(InputError):
        write_report([str(path)], str(target), Choice())
    assert target.read_text("utf-8") == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["page.html", "r.jsonl"]
    with pytest.raises(RunStopped, match="cannot be written"):
        write_report(
            [write_run(tmp_path / "q.jsonl", [rated(Segment("s", "t", "A"))])],
            str(tmp_path / "no" / "page.html"), Choice(),
        )  # fmt: skip


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "page.html").symlink_to(tmp_path / "real.html")
    written(tmp_path, write_run(tmp_path / "r.jsonl", [rated(Segment("s", "t", "A"))]))
    assert (tmp_path / "page.html").is_symlink()
    assert is_report(str(tmp_path / "real.html"))


def test_a_report_is_known_again(tmp_path: Path):
    written(tmp_path, write_run(tmp_path / "r.jsonl", [rated(Segment("s", "t", "A"))]))
    assert is_report(str(tmp_path / "page.html"))
    assert not is_report(str(tmp_path / "r.jsonl"))
    with pytest.raises(InputError, match="cannot be read"):
        is_report(str(tmp_path / "nothing.html"))


def test_the_same_run_gives_the_same_bytes(tmp_path: Path):
    path = write_run(tmp_path / "r.jsonl", [strange("x")])
    assert written(tmp_path, path) == written(tmp_path, path)


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_text_can_be_read_on_its_ground(scheme: int):
    style = (Path(__file__).parents[2] / STYLE).read_text("utf-8")
    block = style.split("prefers-color-scheme: dark")[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[: block.index("* {")]
                              if scheme else block))  # fmt: skip
    pairs = [(text, ground) for text in ("ink", "soft", "accent")
             for ground in ("page", "sheet", "sunk")]  # fmt: skip
    pairs += [("ink", "warn"), ("major-ink", "sheet")]
    for severity in ("critical", "major", "minor", "neutral"):
        pairs += [(f"{severity}-ink", severity), ("ink", severity), ("accent", "sheet")]
    low = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}


def test_contrast_is_measured_as_the_standard_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
