"""`mmad report` on runs of every method: each by its scale, and nothing that a method has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmad_metric.method_space import METHODS
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall
from tests.report.samples import Page

BASELINES = METHODS[1:]
OF_ERRORS = ["Major", "Minor", "Non-translation"]
NO_CHOICE = "one agent says all, so there is nothing to choose errors by"


def rate(mmad: Mmad, server: LoopbackServer, method: str, *more: str) -> None:
    ran = mmad("-s", "src.txt", "-i", "good.txt", "bad.txt", "-l", "en-de", "--base-url",
               server.url, "--model", "m", "--method", method, "-o", f"{method}.jsonl",
               *more)  # fmt: skip
    assert ran.status == 0, ran.err


def shown(mmad: Mmad, files: Path, *arguments: str) -> Page:
    ran = mmad("report", *arguments, "-o", "page.html")
    assert (ran.status, ran.err) == (0, "")
    return Page((files / "page.html").read_bytes().decode("utf-8"))


def fields(page: Page) -> set[str]:
    """Names of the filters."""
    return {each["name"] for tag, each, _ in page.found if tag in ("select", "input")}


@pytest.mark.parametrize("method", ["gemba-mqm", "eaprompt"])
def test_penalties_have_their_errors_and_no_history_to_filter_by(
    mmad: Mmad, server: LoopbackServer, files: Path, method: str
):
    rate(mmad, server, method)
    page = shown(mmad, files, f"{method}.jsonl")
    assert page.texts("td", "score") == ["0.00", "−2.33"]
    assert set(OF_ERRORS) < set(page.texts("th"))
    assert page.texts("mark", "major") == ["major", "Maus"]
    assert page.texts("p", "kind") == [f"Translation quality by {method}"]
    assert fields(page) == {"text", "system", "dimension", "severity", "status", "order", "one",
                            "other"}  # fmt: skip
    assert page.texts("p", "history") == ["raised by annotate.coupled"] * 3
    assert "lower is worse" in page.text


def test_the_counts_of_eaprompt_stand_at_the_segment_with_the_remark_that_they_differ(
    mmad: Mmad, files: Path
):
    def miscounts(call: ReceivedCall) -> Answer:
        return "2, 0" if call.schema == "error_counts" else Annotator(KNOWN)(call)

    with LoopbackServer(miscounts) as server:
        rate(mmad, server, "eaprompt")
    page = shown(mmad, files, "eaprompt.jsonl", "--system", "bad", "--first", "1")
    (card,) = page.texts("article", "card")
    assert "−10.00" in card
    assert "the agent counted 2 major and 0 minor, which make the score" in card
    assert "remarks: counts differ" in card
    assert "made of the numbers of errors that the agent counted" in page.texts("p", "hint")[0]


def test_a_direct_score_is_read_by_its_scale_and_nothing_is_said_of_errors(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    rate(mmad, server, "gemba-da")
    page = shown(mmad, files, "gemba-da.jsonl", "--worst", "1")
    assert page.texts("td", "score") == ["100.00", "97.67"]
    assert page.texts("span", "score") == ["100.00", "94.00"]
    assert not set(OF_ERRORS) & set(page.texts("th"))
    assert not page.texts("mark")
    assert fields(page) == {"text", "system", "status", "order", "one", "other"}
    for words in ("lower is worse", "no error found", "without errors", "penalty", "Severity"):
        assert words not in page.text.partition('"use strict"')[0]
    assert page.texts("p", "hint")[0].startswith(
        "A score is the mean of the scored segments' direct scores: 100 is perfect, 0 the worst."
    )
    assert {each["data-status"] for _, each, _ in page.found if "data-status" in each} == {"scored"}


def test_a_direct_score_that_is_not_there_would_not_be_a_good_one(mmad: Mmad, files: Path):
    def silent(call: ReceivedCall) -> Answer:
        return "no number"

    (files / "good.txt").write_text("x\n\ny\n", encoding="utf-8")
    with LoopbackServer(silent) as server:
        mmad("-s", "src.txt", "-i", "good.txt", "-l", "en-de", "--base-url", server.url, "--model",
             "m", "--method", "gemba-da", "-o", "run.jsonl")  # fmt: skip
    page = shown(mmad, files, "run.jsonl", "--worst", "2")
    assert "2 of 3 ratings have no score. They are in no mean; 0 would be the worst" in page.text
    # The empty translation's 0 comes before those without a score.
    assert page.texts("span", "score") == ["0.00", "none"]


@pytest.mark.parametrize("method", BASELINES)
def test_every_method_can_be_reported_at_once_and_with_repeats(
    mmad: Mmad, server: LoopbackServer, files: Path, method: str
):
    rate(mmad, server, method, "--report", "page.html", "--repeats", "2", "--temperature", "1",
         "--sample", "2")  # fmt: skip
    page = Page((files / "page.html").read_bytes().decode("utf-8"))
    assert len(page.texts("article", "card")) == 4
    assert sum("mean of 2 of 2 repeats" in each for each in page.texts("article", "card")) == 4


def test_methods_on_one_scale_stand_side_by_side(mmad: Mmad, server: LoopbackServer, files: Path):
    for method in ("mmad", "gemba-mqm"):
        rate(mmad, server, method)
    page = shown(mmad, files, "mmad.jsonl", "gemba-mqm.jsonl")
    assert page.texts("p", "kind") == ["Translation quality by M-MAD and gemba-mqm"]
    assert {"support", "disputed"} < fields(page)
    assert "The runs differ in their settings (method" in page.text
    assert "bad (gemba-mqm)" in page.texts("bdi", "system")


def test_runs_on_two_scales_are_not_put_on_one_page(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    for method in ("mmad", "gemba-da"):
        rate(mmad, server, method)
    ran = mmad("report", "mmad.jsonl", "gemba-da.jsonl", "-o", "page.html")
    assert (ran.status, (files / "page.html").exists()) == (1, False)
    assert ran.err == (
        "mmad: mmad.jsonl and gemba-da.jsonl: scores are numbers of at most 0 in one and from 0 to "
        "100 in the other; such runs meet in `mmad meta-eval` alone\n"
    )


@pytest.mark.parametrize("method", BASELINES)
@pytest.mark.parametrize(
    "condition",
    [("--min-support", "0.5"), ("--disputed-only",), ("--raised-by", "annotate")],
    ids=["support", "dispute", "origin"],
)
def test_a_report_chooses_errors_by_the_rule_of_the_exports(
    mmad: Mmad, server: LoopbackServer, files: Path, method: str, condition: tuple[str, ...]
):
    rate(mmad, server, method)
    for command in (("report", "-o", "page.html"), ("export", "-o", "out")):
        ran = mmad(command[0], f"{method}.jsonl", *command[1:], *condition)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err == f"mmad: {method}.jsonl: with method {method} {NO_CHOICE}\n"
    assert not (files / "page.html").exists()
    assert not (files / "out").exists()
