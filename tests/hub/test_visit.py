from __future__ import annotations

import asyncio
import gzip
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mmad_metric.config import MMADConfig
from mmad_metric.hub import visit as visit_module
from mmad_metric.hub.visit import Wanted, visit
from mmad_metric.rating import Segment
from mmad_metric.session import Plan, open_session
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import BAD, SOURCES
from tests.loopback import LoopbackServer
from tests.loopback_replies import Scripted

KEY = "visitor-key-4711"


@pytest.fixture
def wanted(server: LoopbackServer) -> Wanted:
    return Wanted(
        sources="\n".join(SOURCES) + "\n",
        translations="\n".join(BAD) + "\n",
        lp="en-de",
        model="m",
        base_url=server.url,
    )


def states(wanted: Wanted) -> list[str]:
    async def all_of() -> list[str]:
        return [html async for html in visit(wanted)]

    found = asyncio.run(all_of())
    assert all(KEY not in html for html in found)
    return found


def keys(server: LoopbackServer) -> set[str | None]:
    return {call.headers.get("Authorization") for call in server.calls}


def test_pasted_text_is_rated_and_shown(wanted: Wanted):
    # Major 5 and minor 1 in the first, none in the second, minor 1 in the third: mean -7/3.
    html = states(wanted)[-1]
    assert "-2.33" in html
    assert "3 of 3 scored, 1 major, 2 minor" in html
    assert ">Maus</mark>" in html
    assert "lp:en-de|model:m" in html


def test_progress_comes_first(wanted: Wanted, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(visit_module, "UPDATE_EVERY", -1.0)
    found = states(wanted)
    assert "0 of 3 segments rated" in found[0]
    assert ["2 of 3" in html for html in found].count(True) == 1
    assert "segments rated" not in found[-1]


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_files_are_read_as_the_command_line_reads_them(wanted: Wanted, tmp_path: Path):
    rows = list(zip(SOURCES, BAD, strict=True))
    lines = write(tmp_path / "a.txt", "\n".join(BAD) + "\n")
    table = write(tmp_path / "b.tsv", "".join(f"{s}\t{t}\n" for s, t in rows))
    objects = [json.dumps({"source": s, "translation": t}) for s, t in rows]
    jsonl = write(tmp_path / "c.jsonl", "\n".join(objects))
    sources = write(tmp_path / "src.txt", "\n".join(SOURCES) + "\n")
    for source, translation in ((sources, lines), (None, table), (None, jsonl)):
        html = states(replace(wanted, source_file=source, translation_file=translation))[-1]
        assert "-2.33" in html


def test_several_systems_of_a_file_have_a_score_each(wanted: Wanted, tmp_path: Path):
    rows = [
        {"source": s, "translation": t, "system": name}
        for name, texts in (("good & co", ["Guten Morgen."] * 3), ("bad", BAD))
        for s, t in zip(SOURCES, texts, strict=True)
    ]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)))
    html = states(replace(wanted, translation_file=path))[-1]
    assert "<bdi>good &amp; co</bdi></span><strong>0.00" in html
    assert "<bdi>bad</bdi></span><strong>-2.33" in html


def test_a_limit_rates_a_sample_and_says_what_was_left_out(wanted: Wanted, server: LoopbackServer):
    html = states(replace(wanted, rows=1))[-1]
    assert "1 of 1 scored" in html
    assert "2 left out of the sample" in html
    assert "sample:1" in html
    assert html.count('class="mmad-segment"') == 1
    # A limit that leaves nothing out is no sample.
    assert "sample:" not in states(replace(wanted, rows=3))[-1]


BAD_FORMS: list[tuple[dict[str, Any], str]] = [
    ({"sources": ""}, "paste a text"),
    ({"sources": " \n\n"}, "paste a text"),
    ({"translations": "one"}, "3 lines of source but 1 of translation"),
    ({"lp": ""}, "language pair is needed"),
    ({"lp": "en-xxzz"}, "unknown language code"),
    ({"model": " "}, "name of a model"),
    ({"model": "local"}, "command line"),
    ({"model": "local:/etc/passwd"}, "command line"),
    ({"prompts": "/etc"}, "prompts: '/etc' is not one of"),
    ({"weights": "/etc/passwd"}, "weights: '/etc/passwd' is not one of"),
    ({"rounds": 0}, "rounds: 0"),
    ({"rounds": 10}, "rounds: 10"),
    ({"rows": 0}, "segments: 0"),
    ({"rows": 10**6}, "segments: 1000000"),
    ({"base_url": "ftp://x"}, "http://"),
    ({"base_url": "file:///etc/passwd"}, "http://"),
    ({"source_file": "x.txt"}, "needs a file of translations"),
    ({"translation_file": "/no/such/file.tsv"}, "file.tsv: cannot be read"),
    ({"key": "schlüssel"}, "API key holds characters"),
]


@pytest.mark.parametrize(
    ("change", "said"),
    BAD_FORMS,
    ids=[f"{n}-{next(iter(f))}" for n, (f, _) in enumerate(BAD_FORMS)],
)
def test_a_form_that_cannot_be_is_refused_before_any_call(
    wanted: Wanted, server: LoopbackServer, change: dict[str, Any], said: str
):
    html = states(replace(wanted, **change))[-1]
    assert 'role="alert"' in html
    assert said.replace("'", "&#x27;") in html
    assert server.call_count == 0


def test_a_message_names_the_file_without_the_folder_it_was_kept_in(wanted: Wanted, tmp_path: Path):
    path = write(tmp_path / "rows.tsv", "one column\n")
    html = states(replace(wanted, translation_file=path))[-1]
    assert "rows.tsv, line 1" in html
    assert str(tmp_path) not in html


def test_a_packed_file_is_not_unpacked(wanted: Wanted, tmp_path: Path):
    path = tmp_path / "rows.tsv"
    path.write_bytes(gzip.compress(b"a\tb\n" * 1000))
    assert "is packed" in states(replace(wanted, translation_file=str(path)))[-1]


def test_too_many_systems_for_the_limit_are_refused(wanted: Wanted, tmp_path: Path):
    rows = [{"source": "a", "translation": "b", "system": f"s{n}"} for n in range(3)]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)))
    assert "3 systems" in states(replace(wanted, translation_file=path, rows=2))[-1]


def test_an_empty_file_is_told(wanted: Wanted, tmp_path: Path):
    path = write(tmp_path / "x.tsv", "")
    assert "x.tsv: holds no segment" in states(replace(wanted, translation_file=path))[-1]


def test_a_server_that_refuses_the_key_is_told_without_the_key(wanted: Wanted):
    def refuse(call: Any) -> Scripted:
        body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "bad"}}
        return Scripted(status=401, body=json.dumps(body).encode())

    with LoopbackServer(refuse) as server:
        html = states(replace(wanted, base_url=server.url, key=KEY))[-1]
    assert 'role="alert"' in html
    assert "Incorrect API key" in html


def test_what_was_rated_before_the_run_ended_is_still_shown(wanted: Wanted):
    annotator = Annotator(KNOWN)

    def until_cold(call: Any) -> Any:
        if "cold" in str(call.messages):
            return Scripted(status=401, body=b'{"error": {"message": "expired"}}', delay=1.0)
        return annotator(call)

    with LoopbackServer(until_cold) as server:
        html = states(replace(wanted, base_url=server.url))[-1]
    assert 'role="alert"' in html
    assert ">Maus</mark>" in html


# Whose key goes where ---------------------------------------------------------------------------


def test_a_visitors_key_goes_to_the_visitors_server(wanted: Wanted, server: LoopbackServer):
    states(replace(wanted, key=f" {KEY}\n"))
    assert keys(server) == {f"Bearer {KEY}"}


def test_the_apps_own_key_never_goes_to_a_visitors_server(
    wanted: Wanted, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-owner")
    assert "-2.33" in states(wanted)[-1]
    assert "sk-of-the-owner" not in str([call.headers for call in server.calls])


def test_the_apps_own_key_goes_to_its_own_server_when_the_visitor_has_none(
    wanted: Wanted, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-owner")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    states(replace(wanted, base_url=""))
    assert keys(server) == {"Bearer sk-of-the-owner"}


def test_without_any_key_openai_is_not_asked(wanted: Wanted):
    assert "fill in Key" in states(replace(wanted, base_url=""))[-1]


def test_a_role_with_a_server_of_its_own_does_not_get_the_key(server: LoopbackServer):
    async def judged(judge: LoopbackServer) -> None:
        config = MMADConfig.of(
            "en-de", model="m", base_url=server.url, role_models=[f"judge=j@{judge.url}"]
        )
        async with open_session(Plan.of(config), api_key=KEY) as session:
            async for rating in session.rate([Segment(SOURCES[0], BAD[0])], 1):
                assert rating.score == -6.0

    with LoopbackServer(Annotator(KNOWN)) as judge:
        asyncio.run(judged(judge))
        assert keys(server) == {f"Bearer {KEY}"}
        assert judge.call_count == 1
        assert KEY not in str(judge.calls[0].headers)


def test_nothing_is_kept(wanted: Wanted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MMAD_CACHE", str(tmp_path / "cache"))
    states(replace(wanted, key=KEY))
    assert not list(tmp_path.rglob("*"))
    assert KEY not in repr(replace(wanted, key=KEY))


def test_in_a_space_no_request_goes_into_its_own_network(
    wanted: Wanted, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SPACE_ID", "somebody/mmad")

    def look_up(host: str, *args: Any, **options: Any) -> list[Any]:
        if host == "nowhere.example":
            raise OSError("unknown")
        address = {"inner.example": "10.0.0.1", "[::1]": "::1"}.get(host, host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    for url in (server.url, "http://inner.example/v1", "http://169.254.169.254/", "http://[::1]/"):
        assert "not on the public internet" in states(replace(wanted, base_url=url))[-1]
    assert "no address is known" in states(replace(wanted, base_url="http://nowhere.example"))[-1]
    assert server.call_count == 0
