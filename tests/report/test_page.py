"""The page in a real browser, from a file: what filters do, and what strangers cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.mqm import Side
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.report.document import write_report
from mmad_metric.report.survey import Choice
from mmad_metric.scales import Scale
from tests.browser import chromium
from tests.report.samples import debate, error, how, rated, unscored, write_run

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE = 30.0  # seconds; machines are shared
TEXT = "abcdefghij"
HOSTILE = (
    "<script>window.obeyed=1;alert(1)</script></script></style></p></section>"
    '"><img src=http://127.0.0.1:9/x onerror=window.obeyed=2><iframe src=javascript:alert(2)>'
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>"
    "<a href=javascript:window.obeyed=3 autofocus onfocus=window.obeyed=4>x</a>"
    "<style>body{display:none}</style>{{7*7}}\u202e drawkcab \u200b"
)


@dataclass
class Visit:
    """An open page, and all that went on around it."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[int]:
        """Numbers of the rows to be seen, from the top."""
        shown = self.page.locator(".row:visible").all()
        return [int(each.get_attribute("data-index")) for each in shown]

    @property
    def count(self) -> str:
        text: str = self.page.locator(".count").inner_text()
        return text

    def choose(self, name: str, value: str) -> None:
        self.page.locator(f"select[name={name}]").select_option(value)
        self.settle()

    def settle(self) -> None:
        """Filters wait for the end of typing."""
        self.page.wait_for_timeout(300)

    def reset(self) -> None:
        self.page.get_by_role("button", name="Reset").click()
        self.settle()


def _note(seen: Visit, dialog: Any) -> None:
    """A dialog that nobody closes would stop the test."""
    seen.dialogs.append(dialog.message)
    dialog.dismiss()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def page_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A: 0, -5, -1, none, -6; B: -1, 0, -1, 0, -5. Row 2 of A is disputed, 1 of 4 keep row 3's."""
    folder = tmp_path_factory.mktemp("report")
    known = {"category": "accuracy/mistranslation"}
    errors = {
        ("A", 1): [error("b", 1, "major", **known, provenance=how(4, 4, disputed=True))],
        ("A", 2): [error("c", 2, category="fluency/grammar", provenance=how(1, 4))],
        ("A", 4): [
            error("abc", 0, "major", **known, provenance=how(3, 4)),
            error("bcde", 1, provenance=how(2, 4)),
        ],
        ("B", 0): [error("s0", 0, side=Side.SOURCE, provenance=how(2, 2))],
        ("B", 2): [error("xyz", None)],
        ("B", 4): [error("d", 3, "major", **known, provenance=how(4, 4))],
    }
    ratings = [
        unscored(segment)
        if (system, index) == ("A", 3)
        else rated(segment, *errors.get((system, index), ()), outcomes=(debate(f"w{index}"),))
        for system in "AB"
        for index in range(5)
        for segment in [Segment(f"s{index}", TEXT, system, index)]
    ]
    target = folder / "two.html"
    write_report([write_run(folder / "r.jsonl", ratings)], str(target), Choice())
    return target


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def go(target: Path, **options: Any) -> Visit:
        context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        found = Visit(page)
        page.on("console", lambda message: found.complaints.append(message.text))
        page.on("pageerror", lambda problem: found.complaints.append(str(problem)))
        page.on("request", lambda request: found.requests.append(request.url))
        page.on("dialog", partial(_note, found))
        page.goto(target.as_uri())
        return found

    yield go
    for context in contexts:
        context.close()


def test_direct_scores_have_the_filters_that_mean_something(tmp_path: Path, visit):
    segments = [Segment(f"s{index}", TEXT, "A", index) for index in range(4)]
    ratings = [
        replace(unscored(each), scale=Scale.DIRECT) if score is None
        else SegmentRating(each, Status.SCORED, score, scale=Scale.DIRECT)
        for each, score in zip(segments, (80.0, 20.0, None, 100.0), strict=True)
    ]  # fmt: skip
    run = write_run(tmp_path / "r.jsonl", ratings, scale=Scale.DIRECT)
    write_report([run], str(tmp_path / "r.html"), Choice())
    seen = visit(tmp_path / "r.html")
    assert seen.rows == [1, 2, 3, 4]
    seen.choose("order", "worst")
    assert seen.rows == [2, 1, 4, 3]
    seen.choose("order", "best")
    assert seen.rows == [4, 1, 2, 3]
    seen.choose("status", "scored")
    assert seen.rows == [4, 1, 2]
    assert "Mean score of what is shown, recomputed here: 66.67 (3)." in seen.count
    seen.choose("status", "unscored")
    assert seen.rows == [3]
    seen.reset()
    assert seen.rows == [1, 2, 3, 4]
    assert seen.complaints == []


def test_filters_show_the_rows_that_fit_and_say_what_the_means_are(page_of_two: Path, visit):
    seen = visit(page_of_two)
    assert seen.rows == [1, 2, 3, 4, 5]
    assert seen.count == "5 of 5 segments shown."
    seen.choose("dimension", "fluency")
    assert seen.rows == [3]
    assert seen.count == (
        "1 of 5 segments shown. Mean score of what is shown, recomputed here: A −1.00 (1), "
        "B −1.00 (1). Scores still count every error of a segment."
    )
    seen.reset()
    assert seen.rows == [1, 2, 3, 4, 5]
    seen.choose("severity", "major")
    assert seen.rows == [2, 5]
    # Means of -5 and -6, of 0 and -5.
    assert "A −5.50 (2), B −2.50 (2)" in seen.count
    seen.reset()
    seen.choose("disputed", "yes")
    # Row 3 too: nobody knows how B's error came to be.
    assert seen.rows == [2, 3]
    seen.reset()
    seen.choose("status", "unscored")
    assert seen.rows == [4]
    assert "B 0.00 (1)" in seen.count
    assert "A " not in seen.count
    seen.choose("status", "clean")
    assert seen.rows == [1, 2, 4]
    assert seen.complaints == []


def test_the_least_support_is_set_by_keys(page_of_two: Path, visit):
    seen = visit(page_of_two)
    slider = seen.page.get_by_label("Support at least")
    slider.focus()
    for _ in range(16):  # steps of 5%
        slider.press("ArrowRight")
    seen.settle()
    assert seen.page.locator("output").inner_text() == "80%"
    # 4/4, unknown, 4/4 and 2/2; A's 3/4 and 2/4 in row 5 stand beside B's.
    assert seen.rows == [1, 2, 3, 5]
    card = seen.page.locator("#segment-5 .card").first
    assert card.locator(".errors > li.aside").count() == 2
    assert card.locator("mark:not(.aside)").count() == 0


def test_of_overlapping_spans_the_one_left_decides_the_look(page_of_two: Path, visit):
    seen = visit(page_of_two)
    card = seen.page.locator("#segment-5 .card").first
    looks = "marks => marks.map(mark => [mark.textContent, mark.className])"
    marks = card.locator(".translation mark")
    before = [["a", "major"], ["bc", "major"], ["de", "minor"]]
    assert marks.evaluate_all(looks) == before
    seen.choose("severity", "minor")
    assert marks.evaluate_all(looks) == [["a", "aside"], ["bc", "minor"], ["de", "minor"]]
    line = "marks => marks.map(mark => getComputedStyle(mark).textDecorationStyle)"
    assert marks.evaluate_all(line)[1] == "dotted"
    seen.reset()
    assert marks.evaluate_all(looks) == before


def test_words_are_found_in_texts_errors_and_arguments_of_the_systems_shown(
    page_of_two: Path, visit
):
    seen = visit(page_of_two)
    search = seen.page.get_by_role("searchbox")
    for words, rows in (("S3", [4]), ("pro: w2", [3]), ("timeout", [4]), ("nowhere", [])):
        search.fill(words)
        seen.settle()
        assert seen.rows == rows, words
    assert seen.page.get_by_text("No segment fits these filters.").is_visible()
    search.fill("timeout")
    seen.page.get_by_text("Systems", exact=True).last.click()
    seen.page.get_by_label("A", exact=True).uncheck()
    seen.settle()
    assert seen.rows == []  # the words were A's
    seen.page.keyboard.press("Escape")
    assert not seen.page.get_by_label("A", exact=True).is_visible()


def test_rows_are_put_in_order(page_of_two: Path, visit):
    seen = visit(page_of_two)
    seen.choose("order", "worst")
    assert seen.rows == [5, 2, 1, 3, 4]  # -6, -5, -1, -1, 0
    seen.choose("order", "best")
    assert seen.rows == [4, 1, 3, 2, 5]
    seen.choose("order", "difference")
    # A's less B's: 1, -5, 0, none, -1.
    assert seen.rows == [1, 3, 5, 2, 4]
    seen.page.locator("select[name=one]").select_option("1")
    seen.choose("other", "0")
    assert seen.rows == [2, 5, 3, 1, 4]
    seen.choose("order", "")
    assert seen.rows == [1, 2, 3, 4, 5]


def test_all_is_within_reach_of_the_keyboard(page_of_two: Path, visit):
    seen = visit(page_of_two)
    named = "document.activeElement.name || document.activeElement.tagName.toLowerCase()"
    reached = []
    for _ in range(40):
        seen.page.keyboard.press("Tab")
        reached.append(seen.page.evaluate(named))
    names = {"text", "dimension", "severity", "support", "disputed", "status", "order", "summary"}
    assert names <= set(reached)
    assert reached[0] == "a"  # to the segments
    summary = seen.page.locator("#segment-1 summary").first
    summary.focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.locator("#segment-1 .debate").first.get_attribute("open") is not None


def test_without_scripts_it_is_a_plain_list_of_all(page_of_two: Path, visit):
    seen = visit(page_of_two, java_script_enabled=False)
    assert len(seen.page.locator(".row:visible").all()) == 5
    assert not seen.page.locator("#filters").is_visible()
    seen.page.locator("#segment-1 summary").first.click()
    assert seen.page.locator("#segment-1 .debate .words").first.is_visible()


def test_hostile_texts_are_shown_obeyed_by_nobody_and_ask_for_nothing(tmp_path: Path, visit):
    segment = Segment(HOSTILE, HOSTILE, HOSTILE.replace("\n", " "), 0, HOSTILE, HOSTILE, HOSTILE)
    bad = error(HOSTILE, 0, provenance=how(1, 2, disputed=True), raw_category=HOSTILE,
                category="<script>alert(5)</script>".replace("/", "\u2044"))  # fmt: skip
    path = write_run(
        tmp_path / "r.jsonl",
        [
            rated(segment, bad, outcomes=(debate(HOSTILE),), analysis=HOSTILE),
            unscored(Segment("s", "t", segment.system, 1), HOSTILE),
        ],
        config={"model": HOSTILE},
    )
    target = tmp_path / "hostile.html"
    write_report([path], str(target), Choice())
    seen = visit(target)
    for summary in seen.page.locator("summary").all():
        summary.click()
    seen.page.get_by_role("searchbox").fill("window.obeyed")
    seen.settle()
    assert seen.rows == [1, 2]
    assert seen.page.locator(".translation").first.evaluate("e => e.textContent") == HOSTILE
    assert seen.page.evaluate("window.obeyed") is None
    assert seen.page.locator("#rows script, #rows img, #rows iframe, #rows style").count() == 0
    assert (seen.dialogs, seen.complaints) == ([], [])
    assert seen.requests == [target.as_uri()]


def test_a_reversed_text_turns_nothing_around_it(tmp_path: Path, visit):
    ratings = [rated(Segment("s\u202e", "x\u202ey", "A"), analysis="no\u202eend")]
    target = tmp_path / "rlo.html"
    write_report([write_run(tmp_path / "r.jsonl", ratings)], str(target), Choice())
    seen = visit(target)
    # Where the letter after the override is drawn: to the right of the one before it.
    left = """element => {
      const found = [];
      const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const range = document.createRange();
        range.selectNode(walk.currentNode);
        if (/[xy]/.test(walk.currentNode.data)) found.push(range.getBoundingClientRect().left);
      }
      return found;
    }"""
    x, y = seen.page.locator(".translation").evaluate(left)
    assert x < y
    shown = "element => getComputedStyle(element, '::before').content"
    assert seen.page.locator(".translation .ghost").evaluate(shown) == '"RLO"'


def test_the_policy_is_in_force(page_of_two: Path, visit):
    seen = visit(page_of_two)
    blocked = seen.page.evaluate(
        """async () => {
      const violated = [];
      document.addEventListener("securitypolicyviolation",
        (event) => violated.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "window.obeyed = 1";
      const image = document.createElement("img");
      image.src = "http://127.0.0.1:9/x.png";
      const style = document.createElement("p");
      style.setAttribute("style", "color: red");
      document.body.append(script, image, style);
      try { await fetch("http://127.0.0.1:9/"); } catch { }
      await new Promise((done) => setTimeout(done, 300));
      return violated.sort();
    }"""
    )
    assert blocked == ["connect-src", "img-src", "script-src-elem", "style-src-attr"]
    assert seen.page.evaluate("window.obeyed") is None


def test_a_text_of_the_right_stands_on_the_right(tmp_path: Path, visit):
    path = write_run(
        tmp_path / "r.jsonl",
        [rated(Segment("The house.", "הבית ישן.", "A"), error("ישן", 5))],
        config={"lp": "en-he"},
    )
    target = tmp_path / "rtl.html"
    write_report([path], str(target), Choice())
    seen = visit(target, color_scheme="dark")
    direction = "element => [getComputedStyle(element).direction, element.lang]"
    assert seen.page.locator(".translation").evaluate(direction) == ["rtl", "he"]
    assert seen.page.locator(".source").evaluate(direction) == ["ltr", "en"]
    ground = "() => getComputedStyle(document.body).backgroundColor"
    assert seen.page.evaluate(ground) == "rgb(22, 24, 27)"


def test_a_printed_page_has_no_controls(page_of_two: Path, visit):
    seen = visit(page_of_two)
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("#filters").is_visible()
    assert seen.page.locator("#segment-5").is_visible()


def test_an_error_and_its_words_light_up_together(page_of_two: Path, visit):
    seen = visit(page_of_two)
    card = seen.page.locator("#segment-5 .card").first
    card.locator(".errors > li").nth(1).hover()
    lit = "marks => marks.filter(mark => mark.classList.contains('lit')).map(m => m.textContent)"
    assert card.locator("mark").evaluate_all(lit) == ["bc", "de"]
    card.locator("mark").first.hover()
    assert card.locator(".errors > li.lit").count() == 1
