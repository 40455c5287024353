"""`mmad export` of runs that `mmad` itself made, over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.files.run_file import read_run
from mmad_metric.files.score_files import read_segment_scores, read_system_scores
from mmad_metric.metaeval.marot import read_marot
from tests.cli.conftest import Mmad
from tests.cli.test_repeats import base as repeated
from tests.loopback import LoopbackServer
from tests.test_repeats import Fickle

KINDS = ("--to", "scores,ratings,marot,spans")


def made(mmad: Mmad, server: LoopbackServer, *more: str) -> None:
    ran = mmad("-s", "src.txt", "-i", "bad.txt", "good.txt", "-l", "en-de", "--base-url",
               server.url, "--model", "m", "-o", "m_en-de.jsonl", "-q", *more)  # fmt: skip
    assert ran.status == 0, ran.err


def spans_of(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "m_en-de.spans.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_filter_of_a_made_run_keeps_what_its_provenance_says(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    made(mmad, server)
    ratings = list(read_run(files / "m_en-de.jsonl").ratings())
    hows = [error.provenance for rating in ratings for error in rating.errors]
    assert hows
    assert None not in hows
    for least in (0.0, 0.75, 1.0):
        ran = mmad("export", "m_en-de.jsonl", "-o", "out", *KINDS, "--min-support", str(least))
        assert ran.status == 0, ran.err
        kept = [how for how in hows if how and how.support >= least * how.asked]
        assert f"{len(kept)} of {len(hows)} errors kept" in ran.err
        found = spans_of(files / "out")
        assert sum(len(line["spans"]) for line in found) == len(kept)
        scores = read_segment_scores(str(files / "out" / "m_en-de.seg.score"))
        assert [line["score"] for line in found] == [*scores["bad"], *scores["good"]]
    whole = [rating.score for rating in ratings]
    mmad("export", "m_en-de.jsonl", "-o", "out", "--min-support", "0")
    scores = read_segment_scores(str(files / "out" / "m_en-de.seg.score"))
    assert [*scores["bad"], *scores["good"]] == whole


def test_a_sampled_run_keeps_the_numbers_of_its_rows(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    made(mmad, server, "--sample", "1")
    assert mmad("export", "m_en-de.jsonl", "-o", "out", *KINDS).status == 0
    scores = read_segment_scores(str(files / "out" / "m_en-de.seg.score"))
    (row,) = [row for row, score in enumerate(scores["bad"]) if score is not None]
    assert len(scores["bad"]) == 3
    assert {each.segment for each in read_marot(str(files / "out" / "m_en-de.mqm.tsv"))} == {
        row + 1
    }
    ratings = (files / "out" / "m_en-de.seg.rating").read_text("utf-8").splitlines()
    assert [line.endswith("\tNone") for line in ratings] == [each != row for each in range(3)] * 2


def test_an_export_of_repeats_has_their_means_and_a_rater_for_each(mmad: Mmad, files: Path):
    with LoopbackServer(Fickle()) as fickle:
        ran = mmad(*repeated(fickle, "-i", "bad.txt", "-o", "m_en-de.jsonl", "-q"))
    assert ran.status == 0, ran.err
    assert mmad("export", "m_en-de.jsonl", "-o", "out", *KINDS).status == 0
    # -6, 0, -1 when the errors are found, and nothing in every second rating.
    assert read_segment_scores(str(files / "out" / "m_en-de.seg.score")) == {
        "bad": [-3.0, 0.0, -0.5]
    }
    mean = read_system_scores(str(files / "out" / "m_en-de.sys.score"))["bad"]
    assert mean == pytest.approx(-3.5 / 3)
    assert len(list((files / "out").glob("*.repeat?.seg.rating"))) == 2
    assert {each.rater for each in read_marot(str(files / "out" / "m_en-de.mqm.tsv"))} == {
        "m-repeat1", "m-repeat2"
    }  # fmt: skip
    assert [line["repeat"] for line in spans_of(files / "out")] == [1, 2] * 3


@pytest.mark.parametrize("method", ["gemba-mqm", "eaprompt", "gemba-da"])
def test_where_one_agent_says_all_there_is_nothing_to_choose_errors_by(
    method: str, mmad: Mmad, server: LoopbackServer, files: Path
):
    made(mmad, server, "--method", method)
    assert mmad("export", "m_en-de.jsonl", "-o", "out").status == 0
    ran = mmad("export", "m_en-de.jsonl", "-o", "other", "--min-support", "0.5")
    assert (ran.status, (files / "other").exists()) == (1, False)
    assert f"m_en-de.jsonl: with method {method} one agent says all" in ran.err


@pytest.mark.parametrize("agent", ["jugde", "interrogator", "accuracy", "ANNOTATE.accuracy"])
def test_an_agent_that_never_raises_an_error_is_refused(
    mmad: Mmad, server: LoopbackServer, files: Path, agent: str
):
    made(mmad, server)
    for command in (("export", "m_en-de.jsonl", "-o", "out"), ("report", "m_en-de.jsonl")):
        ran = mmad(*command, "--raised-by", f"judge,{agent}")
        assert (ran.status, ran.out) == (1, "")
        assert "annotate, pro, con, verdict, judge, or one of these" in ran.err
        assert repr(agent) in ran.err
    assert not (files / "out").exists()


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (("--mtme", "--to", "spans"), 1, "--mtme names files of scores, and --to asks for none"),
        (("--to", ","), 2, "argument --to: ',' names nothing"),
        (("--raised-by", ""), 2, "argument --raised-by: '' names nothing"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(
    mmad: Mmad, server: LoopbackServer, files: Path, given: tuple[str, ...], status: int, said: str
):
    made(mmad, server)
    ran = mmad("export", "m_en-de.jsonl", "-o", "out", *given)
    assert (ran.status, ran.out) == (status, "")
    assert said in ran.err
    assert not (files / "out").exists()


def test_a_kind_named_twice_is_written_once(mmad: Mmad, server: LoopbackServer, files: Path):
    made(mmad, server)
    ran = mmad("export", "m_en-de.jsonl", "-o", "out", "--to", "spans, ratings,spans")
    assert [Path(line).name for line in ran.out.splitlines()] == [
        "m_en-de.spans.jsonl", "m_en-de.seg.rating"
    ]  # fmt: skip
