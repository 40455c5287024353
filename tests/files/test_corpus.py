"""Files made of files keep every character, and say which line does not fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.corpus import Corpus, reference_columns, system_columns
from mmad_metric.files.input_spec import InputSpec
from mmad_metric.files.inputs import Inputs, open_spec
from mmad_metric.files.lines import MadeFile, TextFile

LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")))


def put(path: Path, text: str, encoding: str = "utf-8") -> str:
    path.write_bytes(text.encode(encoding))
    return str(path)


@given(LINES)
def test_a_made_file_gives_back_its_lines(lines: list[str]):
    assert list(MadeFile("made", lines).lines()) == lines


def test_a_made_file_keeps_what_looks_like_a_mark_or_an_end():
    lines = ["\ufeffa", "b\r", "", "\x1f\x8bc"]
    assert list(MadeFile("x.gz", lines).lines()) == lines


@pytest.mark.parametrize(
    ("text", "encoding", "marked"),
    [("\ufeffa", "utf-8", True), ("a\ufeff", "utf-8", False), ("", "utf-8", False),
     ("\ufeffa", "utf-16-le", True), ("a", "utf-16", False), ("a", "latin-1", False)],
    ids=str,
)  # fmt: skip
def test_a_file_tells_of_the_mark_that_its_lines_are_without(
    tmp_path: Path, text: str, encoding: str, marked: bool
):
    path = put(tmp_path / "x", f"{text}\n", encoding)
    file = TextFile(path, encoding)
    assert file.marked == (path if marked else None)
    assert MadeFile("x, column 1", ["a"], file).marked == file.marked
    assert MadeFile("made", ["a"]).marked is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252", "utf-8-sig"])
def test_lines_are_read_in_the_encoding_named(tmp_path: Path, encoding: str):
    path = put(tmp_path / "x", "Größe\r\nzwei\rb\n\nEnde", encoding)
    assert list(TextFile(path, encoding).lines()) == ["Größe", "zwei\rb", "", "Ende"]


def test_a_byte_like_a_line_feed_within_a_letter_ends_no_line(tmp_path: Path):
    path = put(tmp_path / "x", "a\u0a0ab\u2028c\n", "utf-16-be")
    assert list(TextFile(path, "utf-16-be").lines()) == ["a\u0a0ab\u2028c"]


@pytest.mark.parametrize("name", ["base64", "no-such", "", "utf\0"], ids=repr)
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, name: str):
    with pytest.raises(ConfigError, match="encoding"):
        TextFile(put(tmp_path / "x", "a\n"), name)


def test_bytes_that_are_not_of_the_encoding_are_refused_with_the_line(tmp_path: Path):
    path = tmp_path / "x"
    # Eight bytes are fine; half of a pair follows, which the twelfth byte shows to be alone.
    path.write_bytes("a\nb\n".encode("utf-16-le") + b"\x00\xd8\n\x00")
    with pytest.raises(InputError, match="x, line 3: not utf-16-le at byte 12"):
        list(TextFile(str(path), "utf-16-le").lines())


def test_references_in_columns_become_files(tmp_path: Path):
    file = TextFile(put(tmp_path / "refs", "a\tb\nc\t\n"))
    assert [list(each.lines()) for each in reference_columns(file, 2)] == [["a", "c"], ["b", ""]]
    with pytest.raises(InputError, match="line 2: 1 tab-separated references, 2"):
        reference_columns(TextFile(put(tmp_path / "few", "a\tb\nc\n")), 2)


def test_systems_in_columns_are_numbered(tmp_path: Path):
    file = TextFile(put(tmp_path / "x", "a\tb\nc\t\nd\te\t\n"))
    rows = system_columns(file, baseline=False)
    assert [each.name for each in rows] == ["System 1", "System 2"]
    assert [row.translation for row in rows[1].rows()] == ["b", "", "e"]
    names = [each.name for each in system_columns(file, baseline=True)]
    assert names == ["Baseline", "System 1"]


@pytest.mark.parametrize("line", ["c", "c\td\te"], ids=repr)
def test_a_line_of_another_width_is_refused(tmp_path: Path, line: str):
    file = TextFile(put(tmp_path / "x", f"a\tb\n{line}\n"))
    with pytest.raises(InputError, match=r"x, line 2: .* instead of 2, as line 1 has"):
        system_columns(file, baseline=False)


@pytest.fixture
def spec(tmp_path: Path) -> InputSpec:
    corpus = Corpus(
        "two sets",
        (put(tmp_path / "s1", "1\n2\n"), put(tmp_path / "s2", "3\n")),
        ((put(tmp_path / "r1", "I\nII\n"), put(tmp_path / "r2", "III\n")),),
        (True, False, True),
    )
    return InputSpec(None, (put(tmp_path / "x", "a\nb\nc\n"),), corpus=corpus)


def rows(inputs: Inputs) -> list[tuple[int, str, str, str | None]]:
    return [(s.index, s.source, s.translation, s.reference) for s in inputs.segments()]


def test_a_subset_keeps_its_rows_of_all_texts(spec: InputSpec):
    inputs = open_spec(spec)
    assert rows(inputs) == [(0, "1", "a", "I"), (1, "3", "c", "III")]
    assert (inputs.n_rows, inputs.total, inputs.n_whole) == (2, 2, 3)
    assert list(inputs.row_numbers) == [0, 2]
    assert list(inputs.translations("x")) == ["a", "c"]
    assert list(inputs.translations("x", whole=True)) == ["a", "b", "c"]
    assert list(inputs.references("x", whole=True)) == [("I",), ("II",), ("III",)]


@pytest.mark.parametrize(
    ("kept", "message"),
    [((True, False), "not whole"), ((False,) * 3, "no sentence is in the subset")],
    ids=["too few rows", "no row"],
)
def test_a_subset_that_does_not_fit_is_refused(spec: InputSpec, kept, message: str):
    assert spec.corpus is not None
    with pytest.raises(InputError, match=message):
        open_spec(replace(spec, corpus=replace(spec.corpus, kept=kept)))


def test_a_system_is_checked_against_the_whole_set(spec: InputSpec, tmp_path: Path):
    short = put(tmp_path / "short", "a\nc\n")
    with pytest.raises(InputError, match="not parallel: the sources of two sets has 3 lines"):
        open_spec(replace(spec, systems=(short,)))


def test_a_table_keeps_its_rows_of_a_subset_too(spec: InputSpec, tmp_path: Path):
    table = put(tmp_path / "t.tsv", "1\ta\n2\tb\n3\tc\n")
    assert rows(open_spec(replace(spec, systems=(table,)))) == rows(open_spec(spec))


@pytest.mark.parametrize(
    ("names", "label"), [(None, "folder/x.txt"), (("own",), "own")], ids=["path", "name"]
)
def test_a_table_of_results_calls_a_system_by_its_path_or_its_given_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names, label: str
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    put(tmp_path / "folder" / "x.txt", "a\n")
    put(tmp_path / "s", "a\n")
    [system] = open_spec(InputSpec("s", ("folder/x.txt",), names=names)).systems
    assert (system.label, system.name) == (label, names[0] if names else "x")


def test_sources_are_needed_only_where_they_are_needed(tmp_path: Path):
    system, reference = put(tmp_path / "x", "a\n"), put(tmp_path / "r", "b\n")
    spec = InputSpec(None, (system,), (reference,), need_sources=False)
    inputs = open_spec(spec)
    assert list(inputs.references("x")) == [("b",)]
    with pytest.raises(InputError, match="translations only"):
        open_spec(replace(spec, need_sources=True))


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_of_references_is_at_least_one(tmp_path: Path, n: int):
    with pytest.raises(ConfigError, match="-nr"):
        open_spec(InputSpec(None, (str(tmp_path / "x"),), ("r",), num_refs=n))
