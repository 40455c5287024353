"""Input files: every line arrives as it stands in the file, or the run does not start."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.input_spec import InputSpec
from mmad_metric.files.inputs import Inputs, open_inputs, open_spec, sample_rows
from mmad_metric.files.lines import TextFile

BOM = b"\xef\xbb\xbf"


def put(path: Path, content: bytes | str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def put_jsonl(path: Path, *rows: dict[str, Any]) -> str:
    return put(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read(tmp_path: Path, content: bytes, name: str = "hyp.txt") -> list[str]:
    return list(TextFile(put(tmp_path / name, content)).lines())


def pairs(inputs: Inputs) -> list[tuple[str, str]]:
    return [(segment.source, segment.translation) for segment in inputs.segments()]


def refused(*arguments: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        open_inputs(*arguments, **options)
    return str(caught.value)


# Lines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        # A1: U+2028 and U+0085 end no line, nor does a CR that no LF follows.
        (
            "Eins\u2028zwei\nDrei\u0085vier\na\rb\n".encode(),
            ["Eins\u2028zwei", "Drei\u0085vier", "a\rb"],
        ),
        (
            "a\vb\nc\fd\ne\x1cf\x1dg\x1eh\ni\u2029j\n".encode(),
            ["a\vb", "c\fd", "e\x1cf\x1dg\x1eh", "i\u2029j"],
        ),
        (b"one\r\ntwo\r\r\nthree\n", ["one", "two\r", "three"]),
        (b"one\r", ["one\r"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\n\n", ["one", ""]),
        (b"\n", [""]),
        (b"\r\n", [""]),
        (b"", []),
        # A5: the BOM goes at the start of the file, once, and stays anywhere else.
        (BOM + b"Haus rot\n", ["Haus rot"]),
        (BOM + BOM + b"Haus\n", ["\ufeffHaus"]),
        (b"rot\n" + BOM + b"Haus\n", ["rot", "\ufeffHaus"]),
        (BOM, []),
        (BOM + b"\n", [""]),
        # A11, A13, and nothing is stripped.
        (b"NA\nnull\nnan\nNone\n", ["NA", "null", "nan", "None"]),
        (b"[No translation supplied]\n", ["[No translation supplied]"]),
        (b"  Haus rot \t\n\x00\n", ["  Haus rot \t", "\x00"]),
        ("\u00a0x\u3000\n".encode(), ["\u00a0x\u3000"]),
    ],
)
def test_lines_end_at_lf_alone_and_keep_everything_else(
    tmp_path: Path, content: bytes, lines: list[str]
) -> None:
    assert read(tmp_path, content) == lines


@pytest.mark.parametrize("name", ["hyp.de.gz", "HYP.GZ", "hyp.de"])
@pytest.mark.parametrize("content", [BOM + b"a\rb\r\n\nc", b""])
def test_gzip_reads_as_the_plain_file_does_whatever_its_name(
    tmp_path: Path, name: str, content: bytes
) -> None:
    assert read(tmp_path, gzip.compress(content, mtime=0), name) == read(tmp_path, content)


@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"))))
def test_any_lines_written_with_lf_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    content = "".join(f"{line}\r\n" for line in lines).encode()
    path = tmp_path_factory.mktemp("lines")
    expected = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    assert read(path, content) == expected


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        # A7: cp1252 bytes are no UTF-8. "ok\nM" comes before: byte 4 of the file, 1 of the line.
        (
            "hyp.txt",
            b"ok\nM\xfcller\n",
            ["hyp.txt, line 2", "0xfc", "offset 1 of the line", "4 of the file"],
        ),
        (
            "hyp.txt",
            BOM + b"\xfc\n",
            ["line 1", "0xfc", "offset 0 of the line", "3 of the file"],
        ),
        ("hyp.txt", b"a\n\xed\xa0\xbd\n", ["line 2", "0xed"]),  # a surrogate in "UTF-8"
        ("hyp.txt", b"a\n\xe4\xbd", ["line 2", "0xe4"]),  # cut off within a character
        ("hyp.txt", "ja\n".encode("utf-16"), ["hyp.txt", "UTF-16"]),
        ("hyp.txt", b"\xfe\xff" + "ja\n".encode("utf-16-be"), ["hyp.txt", "UTF-16"]),
        ("hyp.txt", b"\x00\x00\xfe\xff" + "ja\n".encode("utf-32-be"), ["UTF-32"]),
        # A8: what calls itself gzip must be.
        ("hyp.gz", b"plain\n", ["hyp.gz", "not gzip"]),
        ("hyp.gz", b"", ["hyp.gz", "not gzip"]),
        ("hyp.gz", gzip.compress(b"a\n" * 9, mtime=0)[:-4], ["hyp.gz", "cut off"]),
        ("hyp.gz", gzip.compress(b"a\n" * 9, mtime=0) + b"junk", ["hyp.gz", "gzip"]),
        ("hyp.gz", gzip.compress(b"ok\nM\xfcller\n", mtime=0), ["hyp.gz, line 2", "4 of the file"]),
    ],
)
def test_bytes_that_are_no_utf8_text_are_refused_by_file_line_and_byte(
    tmp_path: Path, name: str, content: bytes, parts: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, name)
    for part in parts:
        assert part in str(caught.value)


def test_files_that_cannot_be_opened_are_refused_by_name(tmp_path: Path) -> None:
    sources = put(tmp_path / "src.txt", "a\n")
    assert "absent.txt" in refused(sources, [str(tmp_path / "absent.txt")])
    assert "is a directory" in refused(sources, [str(tmp_path)])
    assert "not a path" in refused(sources, ["a\0b"])
    assert "src.txt/x" in refused(sources, [f"{sources}/x"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_is_read_once_and_streamed_twice(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=Path(pipe).write_bytes, args=(b"x\ny\n",))
    writer.start()
    inputs = open_inputs(put(tmp_path / "src.txt", "a\nb\n"), [pipe])
    writer.join()
    assert pairs(inputs) == pairs(inputs) == [("a", "x"), ("b", "y")]


# Standard input and locales ---------------------------------------------------------------------

SHOW = """
import sys
from mmad_metric.files.inputs import open_inputs
inputs = open_inputs({sources!r}, ["-"])
rows = [(s.source, s.translation) for s in inputs.segments()]
again = [(s.source, s.translation) for s in inputs.segments()]
sys.stdout.buffer.write(repr((inputs.systems[0].name, rows, again == rows)).encode())
"""


def in_ascii_locale(code: str, stdin: bytes, *flags: str) -> Any:
    """Runs Python as on a machine whose locale knows ASCII only."""
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, *flags, "-c", code],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=root,
        env={
            **os.environ,
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONPATH": str(root),
        },
    )
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


def test_standard_input_is_utf8_whatever_the_locale_and_can_be_streamed_twice() -> None:
    """A6: and nothing here opens a file with the locale's encoding (A7)."""
    strict = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning")
    stdin = "Müller\t– 你好\r\n".encode()
    shown = in_ascii_locale(SHOW.format(sources=None), stdin, *strict)
    assert shown == "('stdin', [('Müller', '– 你好')], True)"


def test_standard_input_is_plain_lines_where_sources_are_given(tmp_path: Path) -> None:
    sources = put(tmp_path / "src.txt", "ä\nb\n")
    shown = in_ascii_locale(SHOW.format(sources=sources), BOM + "tab\tbed\nü\n".encode())
    assert shown == "('stdin', [('ä', 'tab\\tbed'), ('b', 'ü')], True)"


def test_a_file_name_beyond_the_locale_still_names_its_system(tmp_path: Path) -> None:
    put(tmp_path / "ü.txt", "x\n")
    put(tmp_path / "src", "a\n")
    code = f"""
import os, sys
from mmad_metric.files.inputs import open_inputs
os.chdir({str(tmp_path)!r})
name = [n for n in os.listdir() if n.endswith(".txt")][0]
sys.stdout.buffer.write(open_inputs("src", [name]).systems[0].name.encode())
"""
    assert in_ascii_locale(code, b"") == "ü"


@pytest.mark.parametrize("content", [b"", b"x\ny\n" * 40_000])
@pytest.mark.parametrize("packed", [False, True])
def test_two_readings_of_standard_input_do_not_disturb_each_other(
    monkeypatch: pytest.MonkeyPatch, content: bytes, packed: bool
) -> None:
    stdin = io.BytesIO(gzip.compress(content, mtime=0) if packed else content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin, "ascii"))
    file = TextFile("-")
    both = list(zip(file.lines(), file.lines(), strict=True))
    assert both == [(line, line) for line in content.decode().split("\n")[:-1]]


def test_standard_input_is_given_once_and_must_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not several" in refused("-", ["-"])
    assert "not several" in refused(None, ["-"], references=["-"])
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input" in refused(put(tmp_path / "src", "a\n"), ["-"])


# Plain lines ------------------------------------------------------------------------------------


def test_row_i_of_every_system_carries_row_i_of_its_own_texts(tmp_path: Path) -> None:
    """A17."""
    sources = put(tmp_path / "src.txt", "s0\ns1\ns2\n")
    first = put(tmp_path / "a" / "out.txt", "a0\na1\na2\n")
    second = put(tmp_path / "b" / "out.txt", "b0\nb1\nb2\n")
    references = [put(tmp_path / f"r{k}", f"r{k}0\nr{k}1\nr{k}2\n") for k in (1, 2)]
    inputs = open_inputs(sources, [first, second], references=references)
    assert [(system.name, system.n_segments) for system in inputs.systems] == [
        ("a/out", 3),
        ("b/out", 3),
    ]
    assert (inputs.n_rows, inputs.total) == (3, 6)
    assert [
        (s.system, s.index, s.source, s.translation, s.reference) for s in inputs.segments()
    ] == [
        (f"{system}/out", row, f"s{row}", f"{system}{row}", f"r1{row}")
        for system in "ab"
        for row in range(3)
    ]
    assert list(inputs.references("b/out")) == [(f"r1{row}", f"r2{row}") for row in range(3)]


def test_without_references_segments_have_none(tmp_path: Path) -> None:
    inputs = open_inputs(put(tmp_path / "s", "a\n"), [put(tmp_path / "h", "b\n")])
    assert [segment.reference for segment in inputs.segments()] == [None]
    assert list(inputs.references("h")) == [()]


def test_empty_files_are_no_segments(tmp_path: Path) -> None:
    inputs = open_inputs(put(tmp_path / "s", ""), [put(tmp_path / "h", BOM)])
    assert (inputs.total, inputs.n_rows, list(inputs.segments())) == (0, 0, [])


@pytest.mark.parametrize(
    ("sources", "translations", "hint"),
    [
        ("a\nb\nc\n", "x\n\ny\nz\n", "line 2 of {hyp} is blank"),  # A2
        ("a\nb\n", "x\n \n\t\ny\n", "2 lines of {hyp} are blank, the first is line 2"),
        ("a\n\nb\n", "x\ny\n", "line 2 of {src} is blank"),
        ("a\nb\n", "x\n", None),
        ("", "x\n", None),
    ],
)
def test_files_of_unequal_length_are_refused_with_names_and_counts(
    tmp_path: Path, sources: str, translations: str, hint: str | None
) -> None:
    src, hyp = put(tmp_path / "src.txt", sources), put(tmp_path / "hyp.txt", translations)
    message = refused(src, [hyp])
    counts = [text.count("\n") for text in (sources, translations)]
    for path, count in zip((src, hyp), counts, strict=True):
        assert f"{path} has {count} line" in message
    assert (hint.format(src=src, hyp=hyp) in message) if hint else ("blank" not in message)


def test_every_file_is_counted_also_the_last_reference(tmp_path: Path) -> None:
    good = put(tmp_path / "good", "a\nb\n")
    bad = put(tmp_path / "bad", "a\n")
    for arguments in (
        {"systems": [good, good, bad], "names": ["x", "y", "z"]},
        {"systems": [good], "references": [good, bad]},
    ):
        message = refused(good, **arguments)
        assert f"{good} has 2 lines" in message
        assert f"{bad} has 1 line" in message


def test_the_last_line_of_every_file_is_checked_before_the_first_segment(tmp_path: Path) -> None:
    good = put(tmp_path / "good", "a\n" * 3)
    bad = put(tmp_path / "bad", b"a\na\n\xff\n")
    for arguments in (
        {"sources": bad, "systems": [good]},
        {"sources": good, "systems": [good, bad], "names": ["x", "y"]},
        {"sources": good, "systems": [good], "references": [bad]},
    ):
        assert f"{bad}, line 3" in refused(**arguments)


@pytest.mark.parametrize("changed", ["s", "h"])
@pytest.mark.parametrize("content", ["a\n", ""])
def test_a_file_that_shrinks_after_the_check_stops_the_stream(
    tmp_path: Path, changed: str, content: str
) -> None:
    inputs = open_inputs(put(tmp_path / "s", "a\nb\n"), [put(tmp_path / "h", "a\nb\n")])
    put(tmp_path / changed, content)
    with pytest.raises(InputError, match="changed"):
        list(inputs.segments())


def test_files_that_grow_together_after_the_check_stop_the_stream(tmp_path: Path) -> None:
    inputs = open_inputs(put(tmp_path / "s", "a\n"), [put(tmp_path / "h", "a\n")])
    put(tmp_path / "s", "a\nb\n")
    put(tmp_path / "h", "a\nb\n")
    stream = inputs.segments()
    assert next(stream).index == 0
    with pytest.raises(InputError, match="changed"):
        next(stream)


def test_what_does_not_make_an_input_is_refused(tmp_path: Path) -> None:
    lines = put(tmp_path / "lines.txt", "a\n")
    table = put(tmp_path / "table.tsv", "a\tb\n")
    objects = put_jsonl(tmp_path / "o.jsonl.gz", {"source": "a", "translation": "b"})
    assert "no system" in refused(lines, [])
    assert "translations only" in refused(None, [lines])
    assert "plain lines" in refused(table, [lines])
    assert "plain lines" in refused(lines, [lines], references=[objects])


# TSV --------------------------------------------------------------------------------------------


def test_tsv_quotes_are_text(tmp_path: Path) -> None:
    """A10, A11: both rows survive byte for byte, and `NA` is a word."""
    path = put(tmp_path / "x.tsv", '"Hi\t"Hallo\nBye\tTschüss\n"a""b"\tNA\n')
    assert pairs(open_inputs(None, [path])) == [
        ('"Hi', '"Hallo'),
        ("Bye", "Tschüss"),
        ('"a""b"', "NA"),
    ]


@pytest.mark.parametrize("name", ["x.TSV", "x.tsv.gz", "x"])
def test_tsv_is_known_by_extension_or_on_request(tmp_path: Path, name: str) -> None:
    content = b"a\tb\tr\r\n \t\t\n"
    path = put(tmp_path / name, gzip.compress(content, mtime=0) if name.endswith("gz") else content)
    inputs = open_inputs(None, [path], tsv="." not in name)
    assert [(s.source, s.translation, s.reference) for s in inputs.segments()] == [
        ("a", "b", "r"),
        (" ", "", ""),
    ]
    assert inputs.systems[0].name == "x"


def test_jsonl_stays_jsonl_among_tsv_files(tmp_path: Path) -> None:
    objects = put_jsonl(tmp_path / "o.jsonl", {"source": "a", "translation": "b"})
    assert pairs(open_inputs(None, [objects], tsv=True)) == [("a", "b")]


@pytest.mark.parametrize(
    ("content", "line", "columns"),
    [
        ("a\tb\nc\n", 2, 1),
        ("a\tb\nc\td\te\n", 2, 3),
        ("a\tb\tr\nc\td\n", 2, 2),
        ("a\tb\n\nc\td\n", 2, 1),
        ("a\n", 1, 1),
        ("a\tb\tc\td\n", 1, 4),
    ],
)
def test_tsv_rows_of_another_width_are_refused_by_line(
    tmp_path: Path, content: str, line: int, columns: int
) -> None:
    path = put(tmp_path / "x.tsv", content)
    assert f"{path}, line {line}: {columns} column" in refused(None, [path])


def test_an_empty_tsv_is_no_segments(tmp_path: Path) -> None:
    assert open_inputs(None, [put(tmp_path / "x.tsv", "")]).total == 0


# JSONL ------------------------------------------------------------------------------------------


def test_jsonl_keeps_newlines_tabs_and_length(tmp_path: Path) -> None:
    """A12."""
    long = "Kapitel\n" * 2_500
    rows: list[dict[str, Any]] = [
        {
            "source": "a\tb",
            "translation": "Titel\nKapitel 1",
            "id": 7,
            "doc": "d",
            "reference": "r",
        },
        {"source": "\u2028", "hypothesis": long, "id": "x", "doc": None},
        {"source": "", "prediction": "NA", "other": [1.5, {"a": None}]},
    ]
    inputs = open_inputs(None, [put_jsonl(tmp_path / "sys.A.jsonl", *rows)])
    assert [
        (s.system, s.index, s.source, s.translation, s.id, s.doc, s.reference)
        for s in inputs.segments()
    ] == [
        ("sys.A", 0, "a\tb", "Titel\nKapitel 1", "7", "d", "r"),
        ("sys.A", 1, "\u2028", long, "x", None, None),
        ("sys.A", 2, "", "NA", None, None, None),
    ]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ('{"source": "a", "translation": NaN}', ["NaN"]),  # C12
        ('{"source": "a", "translation": "b", "x": -Infinity}', ["-Infinity"]),
        ('{"source": "a", "translation": 5}', ["'translation'", "a number"]),
        ('{"source": ["a"], "translation": "b"}', ["'source'", "an array"]),
        ('{"source": "a", "translation": "b", "reference": ["r"]}', ["'reference'", "an array"]),
        ('{"source": "a", "translation": "b", "id": true}', ["'id'", "a boolean"]),
        ('{"source": "a", "translation": "b", "doc": 1.5}', ["'doc'", "a number"]),
        ('{"source": "a", "translation": "b", "system": {}}', ["'system'", "an object"]),
        ('{"source": "a", "translation": null}', ["'translation'", "null"]),
        ('{"source": null, "translation": "b"}', ["'source'", "null"]),
        ('{"translation": "b"}', ["'source'"]),
        ('{"source": "a"}', ["'translation'", "'hypothesis'"]),
        ('{"source": "a", "target": "b"}', ["'target'", "reference"]),
        ('{"source": "a", "translation": "b", "hypothesis": "c"}', ["'translation'", "differ"]),
        ('{"source": "a", "source": "b", "translation": "c"}', ["'source'", "twice"]),
        ('{"source": "a", "translation": "b"', ["not JSON", "column"]),
        ("{'source': 'a'}", ["not JSON"]),
        ('{"source": "a"} {"source": "b"}', ["not JSON"]),
        ('["a", "b"]', ["an array"]),
        ('"a"', ["a string"]),
        ("", ["blank"]),
        ("[" * 100_000, ["nested"]),
        ('{"id": ' + "9" * 5_000 + "}", ["digits"]),
    ],
)
def test_jsonl_faults_are_named_by_line_and_key(tmp_path: Path, row: str, parts: list[str]) -> None:
    good = '{"source": "a", "translation": "b", "hypothesis": "b"}'
    path = put(tmp_path / "x.jsonl", f"{good}\n{row}\n{good}\n")
    message = refused(None, [path])
    for part in (f"{path}, line 2", *parts):
        assert part in message


def test_a_lone_surrogate_in_jsonl_keeps_its_place_as_a_replacement_character(
    tmp_path: Path,
) -> None:
    """C21: and a proper pair is one character."""
    line = r'{"source":"a","translation":"x\ud83dy\ud83d\ude00"}'
    path = put(tmp_path / "x.jsonl", f"{line}\n")
    assert pairs(open_inputs(None, [path])) == [("a", "x\ufffdy\U0001f600")]


def jsonl_row(system: str, row: int, **more: Any) -> dict[str, Any]:
    return {"system": system, "source": f"s{row}", "translation": f"{system}{row}", **more}


@pytest.mark.parametrize("order", ["aaabbb", "ababab", "abbbaa", "baabab"])
def test_systems_in_one_jsonl_come_in_order_of_appearance_with_rows_in_file_order(
    tmp_path: Path, order: str
) -> None:
    rows = [jsonl_row(name, order[:at].count(name)) for at, name in enumerate(order)]
    inputs = open_inputs(None, [put_jsonl(tmp_path / "x.jsonl", *rows)])
    names = list(dict.fromkeys(order))
    assert [(system.name, system.n_segments) for system in inputs.systems] == [
        (name, 3) for name in names
    ]
    assert [(s.system, s.index, s.source, s.translation) for s in inputs.segments()] == [
        (name, row, f"s{row}", f"{name}{row}") for name in names for row in range(3)
    ]


def test_jsonl_systems_that_are_not_parallel_are_refused(tmp_path: Path) -> None:
    a0, a1, b0, b1 = (jsonl_row(name, row) for name in "ab" for row in (0, 1))
    fewer = put_jsonl(tmp_path / "fewer.jsonl", a0, b0, a1)
    message = refused(None, [fewer])
    assert "2 rows of system 'a'" in message
    assert "1 row of system 'b'" in message
    shuffled = put_jsonl(tmp_path / "shuffled.jsonl", a0, b1, a1, b0)
    message = refused(None, [shuffled])
    assert "line 1" in message
    assert "line 2" in message
    unnamed = put_jsonl(tmp_path / "unnamed.jsonl", a0, {"source": "s0", "translation": "x"})
    assert "line 2" in refused(None, [unnamed])


def test_sources_given_twice_must_agree(tmp_path: Path) -> None:
    sources = put(tmp_path / "src.txt", "s0\ns1\n")
    bare = put_jsonl(tmp_path / "bare.jsonl", {"translation": "x"}, {"translation": "y"})
    agreed = put(tmp_path / "agreed.tsv", "s0\tx\ns1\ty\n")
    other = put(tmp_path / "other.tsv", "s0\tx\nS1\ty\n")
    inputs = open_inputs(sources, [bare, agreed])
    assert pairs(inputs) == [("s0", "x"), ("s1", "y")] * 2
    assert f"{other}, line 2" in refused(sources, [bare, other])
    assert "line 1: no 'source'" in refused(None, [bare])


def test_references_given_twice_must_agree(tmp_path: Path) -> None:
    system = put(tmp_path / "x.tsv", "s0\tx\tr0\ns1\ty\tr1\n")
    agreed = put(tmp_path / "agreed", "r0\nr1\n")
    other = put(tmp_path / "other", "r0\nR1\n")
    inputs = open_inputs(None, [system], references=[other, agreed])
    assert list(inputs.references("x")) == [("r0", "r0"), ("R1", "r1")]
    assert list(open_inputs(None, [system]).references("x")) == [("r0",), ("r1",)]
    assert f"{system}, line 2" in refused(None, [system], references=[other])


json_texts = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(json_texts, json_texts), max_size=8), st.booleans())
def test_any_texts_survive_jsonl(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "x.jsonl"
    lines = (json.dumps({"source": s, "translation": t}, ensure_ascii=ascii_only) for s, t in rows)
    inputs = open_inputs(None, [put(path, "".join(f"{line}\n" for line in lines))])
    assert pairs(inputs) == rows


# Names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("wmt22.ende.Online-A.de", "wmt22.ende.Online-A.de"),  # A19
        ("Online-A.1574.txt", "Online-A.1574"),
        ("Online-A.1574.TXT.gz", "Online-A.1574"),
        ("hyp.de.gz", "hyp.de"),
        ("x.txt.txt", "x.txt"),
        ("x.tsv.txt", "x.tsv"),
        ("deep/er/GPT4-5shot.txt", "GPT4-5shot"),
        (".txt", ".txt"),
        ("a b", "a b"),
    ],
)
def test_a_system_is_called_after_its_file_less_a_known_extension(
    tmp_path: Path, path: str, name: str
) -> None:
    content = gzip.compress(b"x\n", mtime=0) if path.endswith(".gz") else b"x\n"
    inputs = open_inputs(put(tmp_path / "src", "a\n"), [put(tmp_path / path, content)])
    assert inputs.systems[0].name == name


def test_explicit_names_win_and_fit(tmp_path: Path) -> None:
    sources = put(tmp_path / "src", "s0\n")
    one, two = put(tmp_path / "a" / "out", "x\n"), put(tmp_path / "b" / "out", "y\n")
    named = put_jsonl(tmp_path / "n.jsonl", jsonl_row("a", 0), jsonl_row("b", 0))
    chosen = open_inputs(sources, [one, two, named], names=["Q.1", "Q.2", "Q.3", "Q.4"])
    assert [system.name for system in chosen.systems] == ["Q.1", "Q.2", "Q.3", "Q.4"]
    assert "names given: 1, systems: 2" in refused(sources, [one, two], names=["Q"])
    assert "'Q'" in refused(sources, [one, two], names=["Q", "Q"])
    assert "''" in refused(sources, [one], names=[""])
    assert "no name" in refused(sources, [one], names=["a\tb"])


def test_systems_that_would_share_a_name_are_refused(tmp_path: Path) -> None:
    """A17."""
    sources = put(tmp_path / "src", "s0\n")
    one = put(tmp_path / "a" / "out.txt", "x\n")
    message = refused(sources, [one, one])
    assert "'out'" in message
    assert one in message
    named = put_jsonl(tmp_path / "n.jsonl", jsonl_row("a", 0))
    renamed = put_jsonl(tmp_path / "m.jsonl", jsonl_row("a", 0))
    assert "'a'" in refused(None, [named, renamed])


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ("a/out b/out b/best", "a/out b/out best"),
        ("a/out.txt a/out", "out.txt out"),
        ("x.jsonl x.tsv", "x.jsonl x.tsv"),
        ("a/x.jsonl b/x.tsv", "a/x b/x"),
        ("a/b/x.txt b/b/x.txt b/b/x", "a/b/x b/b/x.txt b/b/x"),
        ("e1/dev/out.txt e2/dev/out.txt z/out.txt", "e1/dev/out e2/dev/out z/out"),
        ("dev/out.txt e/dev/out.txt", "{tmp}/dev/out e/dev/out"),
    ],
)
def test_files_of_one_name_are_told_apart_by_extension_or_folders(
    tmp_path: Path, files: str, names: str
) -> None:
    sources = put(tmp_path / "src", "s0\n")
    paths = tuple(put(tmp_path / path, "x\n") for path in files.split())
    systems = open_spec(InputSpec(sources, paths, lines=True)).systems
    wanted = names.format(tmp=tmp_path.name).split()
    assert [system.name for system in systems] == wanted


def test_lines_are_lines_whatever_a_file_is_called(tmp_path: Path) -> None:
    sources = put(tmp_path / "src.tsv", "s\t0\n")
    system = put(tmp_path / "x.jsonl", '{"a"\t1}\n')
    reference = put(tmp_path / "r.jsonl", "{}\n")
    spec = InputSpec(sources, (system,), (reference,), lines=True)
    [segment] = open_spec(spec).segments()
    assert (segment.source, segment.translation) == ("s\t0", '{"a"\t1}')
    assert segment.reference == "{}"
    assert "--lines" in refused(sources, [system])


# Memory -----------------------------------------------------------------------------------------


def peak_bytes(n: int, sources: str | None, systems: list[str]) -> int:
    """The smaller of two readings: what other threads take meanwhile is counted too."""
    return min(_peak_bytes(n, sources, systems) for _ in range(2))


def _peak_bytes(n: int, sources: str | None, systems: list[str]) -> int:
    tracemalloc.start()
    inputs = open_inputs(sources, systems)
    count = sum(1 for _ in inputs.segments())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == n
    return peak


def test_memory_does_not_grow_with_the_files(tmp_path: Path) -> None:
    peaks = []
    for n in (5_000, 50_000):
        sources = put(tmp_path / "src.txt", ("source " * 6 + "\n") * n)
        systems = put(tmp_path / "hyp.txt", ("target " * 6 + "\n") * n)
        peaks.append(peak_bytes(n, sources, [systems]))
    assert peaks[1] - peaks[0] < 20_000  # of 4 MB more text
    assert peaks[1] < 1_000_000


def test_memory_of_a_shuffled_jsonl_grows_by_four_bytes_a_row(tmp_path: Path) -> None:
    peaks = []
    for n in (1_000, 10_000):
        rows = (jsonl_row("ab"[row % 2], row // 2, doc="d" * 200) for row in range(n))
        peaks.append(peak_bytes(n, None, [put_jsonl(tmp_path / "x.jsonl", *rows)]))
    assert peaks[1] - peaks[0] < 9_000 * 4 * 2 + 20_000  # an array may be held twice as it grows


# Samples ----------------------------------------------------------------------------------------


def test_a_sample_is_the_same_everywhere_and_for_ever() -> None:
    """Ranks are SHA-256 digests of "seed:row", which no Python or machine changes."""
    assert sample_rows(10, 3, 0) == (4, 7, 9)
    assert sample_rows(1_000, 5, 12345) == (50, 171, 257, 572, 735)


@given(st.integers(0, 60), st.integers(1, 70), st.integers())
def test_a_sample_is_distinct_sorted_rows_and_grows_by_adding(
    n_rows: int, n: int, seed: int
) -> None:
    sample = sample_rows(n_rows, n, seed)
    assert list(sample) == sorted(set(sample))
    assert len(sample) == min(n, n_rows)
    assert set(sample) <= set(range(n_rows))
    assert set(sample) <= set(sample_rows(n_rows, n + 1, seed))


def test_seeds_choose_differently_and_rows_evenly() -> None:
    counts = [0] * 20
    for seed in range(2_000):
        for row in sample_rows(20, 5, seed):
            counts[row] += 1
    # Binomial(2000, 1/4): mean 500, standard deviation 19.4; five of them either way.
    assert all(403 <= count <= 597 for count in counts)


@pytest.mark.parametrize("n", [0, -1])
def test_a_sample_of_nothing_is_refused(n: int) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        sample_rows(10, n, 0)


def test_references_are_lines_whatever_their_file_is_called(tmp_path: Path) -> None:
    source, output = put(tmp_path / "s.txt", b"a\n"), put(tmp_path / "o.txt", b"b\n")
    reference = put(tmp_path / "r.tsv", b"c\td\n")
    inputs = open_inputs(str(source), [str(output)], references=[str(reference)])
    assert [segment.reference for segment in inputs.segments()] == ["c\td"]
