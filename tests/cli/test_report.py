"""`mmad report` and `mmad … --report` on runs that `mmad` wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import BAD, Mmad
from tests.loopback import LoopbackServer
from tests.report.samples import Page


def rate(mmad: Mmad, server: LoopbackServer, *more: str):
    return mmad("-s", "src.txt", "-i", "good.txt", "bad.txt", "-l", "en-de", "--base-url",
                server.url, "--model", "m", *more)  # fmt: skip


@pytest.fixture
def run(mmad: Mmad, server: LoopbackServer) -> Mmad:
    """run.jsonl holds good (0, 0, 0) and bad (-6, 0, -1)."""
    assert rate(mmad, server, "-o", "run.jsonl").status == 0
    return mmad


def page(path: Path) -> Page:
    return Page(path.read_bytes().decode("utf-8"))


def test_a_run_becomes_a_page_beside_it(run: Mmad, files: Path, server: LoopbackServer):
    calls = server.call_count
    ran = run("report", "run.jsonl")
    assert (ran.status, ran.out, ran.err) == (0, "run.html\n", "")
    assert server.call_count == calls
    shown = page(files / "run.html")
    assert shown.texts("td", "score") == ["0.00", "−2.33"]
    assert len(shown.texts("article", "card")) == 6
    assert shown.texts("mark", "major") == ["major", "Maus"]  # the first is the key's
    assert shown.texts("p", "translation")[1] == BAD[0]
    assert "lp:en-de|model:m|served:" in shown.texts("code")[0]


def test_what_is_shown_and_what_counts_can_be_chosen(run: Mmad, files: Path):
    ran = run("report", "run.jsonl", "-o", "some.html", "--system", "bad", "--worst", "1",
              "--undisputed-only")  # fmt: skip
    assert ran.status == 0, ran.err
    shown = page(files / "some.html")
    assert shown.texts("bdi", "system") == ["bad"]
    # Without the disputed Maus: -1, 0, -1.
    assert shown.texts("td", "n")[:2] == ["−0.67", "−2.33"]


def test_the_main_command_writes_the_page_too_with_and_without_a_run_file(
    mmad: Mmad, server: LoopbackServer, files: Path
):
    kept = rate(mmad, server, "-o", "run.jsonl", "--report", "kept.html")
    assert kept.status == 0, kept.err
    alone = rate(mmad, server, "--report", "alone.html", "-q")
    assert (alone.status, alone.err) == (0, "")
    written = [path.name for path in files.iterdir() if path.suffix in (".html", ".jsonl")]
    assert sorted(written) == ["alone.html", "kept.html", "run.jsonl"]
    assert (files / "alone.html").read_bytes() == (files / "kept.html").read_bytes()
    mmad("report", "run.jsonl")
    assert (files / "run.html").read_bytes() == (files / "kept.html").read_bytes()


def test_credentials_of_the_run_are_not_on_the_page(
    mmad: Mmad, server: LoopbackServer, files: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush-0815-4711")
    with_user = server.url.replace("http://", "http://user:hush0815@") + "?secret=hush4711"
    ran = mmad("-s", "src.txt", "-i", "bad.txt", "-l", "en-de", "--base-url", with_user, "--model",
               "m", "--role-model", f"judge=j@{with_user}", "--report", "page.html")  # fmt: skip
    assert ran.status == 0, ran.err
    text = (files / "page.html").read_text("utf-8")
    assert "hush" not in text
    assert "judge" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["-o", "run.jsonl"], "-o run.jsonl: this is an input", id="an input"),
        pytest.param(["-o", "src.txt"], "is no report of mmad; it is not replaced", id="a text"),
        pytest.param(["-o", "."], "is not a regular file", id="a folder"),
        pytest.param(["-o", "no/x.html"], "there is no folder no", id="no folder"),
        pytest.param(["-o", "-"], "the report needs a path", id="standard output"),
        pytest.param(["--min-support", "2"], "from 0 to 1, not 2", id="no share"),
        pytest.param(["--worst", "0"], "--worst: 0 is not", id="no rows"),
        pytest.param(["--seed", "1"], "--sample, which is not given", id="a seed for nothing"),
        pytest.param(["--sample", "1", "--seed", "-1"], "--seed: -1", id="a negative seed"),
        pytest.param(["--system", "x"], "there are good, bad", id="no such system"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    run: Mmad, files: Path, arguments: list[str], words: str
):
    before = {path: path.read_bytes() for path in files.iterdir()}
    ran = run("report", "run.jsonl", *arguments)
    assert (ran.status, ran.out) == (1, "")
    assert words in ran.err
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_an_own_report_is_replaced_and_an_empty_file_too(run: Mmad, files: Path):
    (files / "page.html").touch()
    for _ in range(2):
        assert run("report", "run.jsonl", "-o", "page.html").status == 0
    (files / "page.html").write_text("<html>mine</html>", encoding="utf-8")
    assert run("report", "run.jsonl", "-o", "page.html").status == 1


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("src.txt", "--report src.txt: this is an input"),
        ("./run.jsonl", "--report ./run.jsonl: the run file goes there (-o)"),
        ("no/x.html", "there is no folder"),
    ],
    ids=["a source", "the run file", "no folder"],
)
def test_the_main_command_refuses_a_report_before_any_call(
    run: Mmad, server: LoopbackServer, target: str, words: str
):
    calls = server.call_count
    ran = rate(run, server, "-o", "run.jsonl", "--report", target, "--no-cache")
    assert ran.status == 1
    assert words in ran.err
    assert server.call_count == calls


def test_the_run_file_and_the_report_are_two_files(mmad: Mmad, server: LoopbackServer):
    ran = rate(mmad, server, "-o", "x", "--report", "x")
    assert ran.status == 1
    assert "--report x: the run file goes there (-o)" in ran.err
    assert server.call_count == 0


def test_a_report_is_about_mmad(mmad: Mmad):
    ran = mmad("good.txt", "-i", "bad.txt", "-m", "bleu", "--report", "x.html")
    assert ran.status == 1
    assert "--report is about mmad" in ran.err


def test_what_does_not_fit_a_page_is_told(run: Mmad, files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mmad_metric.report.survey.MOST_RATINGS", 2)
    ran = run("report", "run.jsonl")
    assert "1 of 3 segments are on the page" in ran.err
    assert "1 of 3 rated segments are on this page" in page(files / "run.html").text
    assert run("report", "run.jsonl", "--all").err == ""
    assert run("report", "run.jsonl", "-q").err == ""


def test_help_names_the_subcommand_and_the_option(mmad: Mmad):
    out = mmad("--help").out
    assert "mmad report RUN" in out
    assert "--report FILE" in out
