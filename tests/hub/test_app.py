"""The app in a real browser: the exported folder's app.py, served by itself on this machine."""

from __future__ import annotations

import contextlib
import io
import os
import re
import socket
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mmad_metric.hub.folder import export
from mmad_metric.hub.space import space_files
from mmad_metric.hub.wheel import requirements
from tests.annotator import Annotator, by_words
from tests.browser import chromium
from tests.loopback import LoopbackServer
from tests.loopback_replies import Scripted

pytest.importorskip("gradio")

PATIENCE = 90.0  # seconds; machines are shared
KEY = "visitor-key-4711"
SCRIPT = "<script>window.obeyed=1</script>"
HOSTILE = f"Zweite {SCRIPT} ${{window.obeyed=2}} {{{{#if x}}}} <img src=x onerror=window.obeyed=3>"
KNOWN = by_words(
    {
        "geschlossen": ("accuracy/mistranslation", "major"),
        SCRIPT: ("fluency/spelling", "minor"),
    }
)

# All that a page can keep in a browser, as text.
KEPT = """async () => {
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const kept = [localStorage, sessionStorage, document.cookie];
  for (const {name} of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name));
    for (const store of database.objectStoreNames)
      kept.push(name, await done(database.transaction(store).objectStore(store).getAll()));
    database.close();
  }
  return JSON.stringify(kept);
}"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass
class Visit:
    """A browser's page, and what it complained of or asked of the world outside."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def rate(self, source: str, translation: str, url: str) -> None:
        page = self.page
        page.get_by_label("Source, one segment a line").fill(source)
        page.get_by_label("Translation, one segment a line").fill(translation)
        page.get_by_label("Base URL").fill(url)
        page.get_by_label("Model", exact=True).fill("m")
        page.get_by_label("Key").fill(KEY)
        page.get_by_role("button", name="Rate").click()


@pytest.fixture(scope="module")
def app(wheel: tuple[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of the app of an exported folder with a bundled wheel, in a process of its own."""
    folder = tmp_path_factory.mktemp("space") / "mmad"
    export(space_files(wheel, requirements(wheel[1])), str(folder))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder.parent / "app.log"
    surroundings = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    surroundings |= {"GRADIO_SERVER_PORT": str(port), "HF_HOME": str(folder.parent / "hf")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=folder, env=surroundings, stdout=out, stderr=out
        )
    try:
        _wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
    assert KEY not in log.read_text(encoding="utf-8", errors="replace")


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as knock:
            if knock.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"the app did not start: {log.read_text(encoding='utf-8', errors='replace')}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def visit(app: str, browser: Any) -> Iterator[Visit]:
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(PATIENCE * 1000)
    found = Visit(page)

    def of_the_app(url: str) -> bool:
        return urlsplit(url).hostname in ("127.0.0.1", None)

    def refuse(route: Any) -> None:
        found.outside.append(route.request.url)
        route.abort()

    def complain(message: Any) -> None:
        if message.type == "error" and of_the_app(message.location.get("url", "")):
            found.complaints.append(message.text)

    page.route(lambda url: not of_the_app(url), refuse)
    page.on("console", complain)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.goto(app)
    page.get_by_role("button", name="Rate").wait_for()
    yield found
    page.close()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Annotator(KNOWN)) as running:
        yield running


def pixels(png: bytes) -> tuple[int, int, int]:
    """Width, height and number of different lines of a PNG, by its own checksums sound."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, header = 8, b"", b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length :][:4])[0]
        header, data = (
            (body, data) if kind == b"IHDR" else (header, data + body * (kind == b"IDAT"))
        )
        at += 12 + length
    width, height = struct.unpack(">II", header[:8])
    raw = zlib.decompress(data)
    size = len(raw) // height
    return width, height, len({raw[row * size : (row + 1) * size] for row in range(height)})


def test_a_segment_is_rated_and_its_error_is_seen_in_its_place(
    visit: Visit, server: LoopbackServer, tmp_path: Path
):
    source = "The museum stays open until nine on Thursdays."
    translation = "Das Museum hat donnerstags bis neun geschlossen."
    visit.rate(f"{source}\nSecond", f"{translation}\n{HOSTILE}", server.url)
    page = visit.page
    page.locator(".mmad-signature").wait_for()
    # -5 and -1: mean -3.
    assert page.locator(".mmad-head strong").inner_text() == "-3.00"
    assert page.locator(".mmad-score").all_inner_texts() == ["-5.00", "-1.00"]
    first, second = page.locator(".mmad-translation").all()
    assert first.locator("mark").all_inner_texts() == ["geschlossen"]
    colour = "element => getComputedStyle(element).backgroundColor"
    assert first.locator("mark").evaluate(colour) == "rgb(252, 165, 165)"
    # What is hostile stands there as it was written, and nothing of it was obeyed.
    assert second.locator("mark").all_inner_texts() == [SCRIPT]
    assert second.evaluate("element => element.textContent") == HOSTILE.replace(
        SCRIPT, f"{SCRIPT}1"
    )
    assert second.locator("script, img").count() == 0
    assert page.evaluate("window.obeyed") is None
    assert "lp:en-de|model:m" in page.locator(".mmad-signature").inner_text()
    # The key was used, and is not kept in the browser.
    assert {call.headers["Authorization"] for call in server.calls} == {f"Bearer {KEY}"}
    assert page.locator("#key input").get_attribute("type") == "password"
    assert KEY not in page.evaluate(KEPT)
    picture = page.screenshot(path=os.environ.get("MMAD_SCREENSHOT"), full_page=True)
    width, height, lines = pixels(picture)
    assert width == 1200
    assert height >= 1000
    assert lines > 200  # letters and frames, not one colour
    marked = pixels(first.locator("mark").screenshot())
    assert marked[0] > 40
    assert marked[2] > 8
    assert visit.complaints == []
    assert visit.outside == []


def test_a_file_is_rated(visit: Visit, server: LoopbackServer, tmp_path: Path):
    path = tmp_path / "rows.tsv"
    path.write_text("It is closed.\tEs ist geschlossen.\nYes.\tJa.\n", encoding="utf-8")
    page = visit.page
    page.get_by_role("tab", name="Files").click()
    page.locator("#translation-file input[type=file]").set_input_files(str(path))
    page.locator("#translation-file").get_by_text("rows").first.wait_for()
    page.get_by_label("Base URL").fill(server.url)
    page.get_by_role("button", name="Rate").click()
    page.locator(".mmad-signature").wait_for()
    assert page.locator(".mmad-score").all_inner_texts() == ["-5.00", "0.00"]
    assert page.locator(".mmad-source").all_inner_texts() == ["It is closed.", "Yes."]
    assert visit.complaints == []


def test_stopping_stops_the_calls(visit: Visit):
    with LoopbackServer(Annotator(KNOWN), latency=0.5) as slow:
        lines = "\n".join(f"Satz {number}." for number in range(40))
        visit.rate(lines, lines, slow.url)
        visit.page.get_by_text("of 40 segments rated").wait_for()
        visit.page.get_by_role("button", name="Stop").click()
        time.sleep(2)  # calls in flight end
        before = slow.call_count
        time.sleep(2)
        assert slow.call_count == before < 160
    assert visit.page.locator(".mmad-signature").count() == 0


def test_what_goes_wrong_is_told_as_text(visit: Visit):
    refusing = b'{"error": {"message": "<b id=bold>no</b>"}}'
    with LoopbackServer(Scripted(status=401, body=refusing)) as server:
        visit.rate("Yes.", "Ja.", server.url)
        told = visit.page.locator(".mmad-failure")
        told.wait_for()
        assert "<b id=bold>no</b>" in told.inner_text()
    assert visit.page.locator("#bold").count() == 0
    visit.rate("a\nb", "a", "http://127.0.0.1:9/v1")
    visit.page.get_by_text("2 lines of source but 1 of translation").wait_for()
    assert visit.complaints == []


def test_the_app_is_on_this_machine_alone_and_offers_no_call_from_outside(app: str, visit: Visit):
    port = urlsplit(app).port
    with socket.socket() as knock:
        # Another address of this very machine: one that listens everywhere would answer.
        assert knock.connect_ex(("127.0.0.2", port)) != 0
    named = visit.page.evaluate("async () => (await fetch('gradio_api/info')).json()")
    assert named["named_endpoints"] == {}
    assert not re.search(r"analytics_enabled\W+true", visit.page.content())


def test_without_gradio_the_command_to_install_it_is_named(tmp_path: Path):
    export(space_files(), str(tmp_path / "mmad"))
    done = run("runpy.run_path('mmad/app.py')", tmp_path)
    assert done.returncode == 1
    assert 'pip install "gradio' in done.stderr


def test_a_bundled_wheel_goes_before_what_is_installed(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mmad_metric/__init__.py", "bundled = True")
    wheel = ("mmad_metric-9-py3-none-any.whl", content.getvalue())
    export(space_files(wheel), str(tmp_path / "mmad"))
    code = "try: runpy.run_path('mmad/app.py')\nexcept SystemExit: pass\n"
    done = run(f"{code}import mmad_metric; assert mmad_metric.bundled", tmp_path)
    assert done.returncode == 0, done.stderr


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python code in a process where gradio is not to be had."""
    hidden = "import sys, runpy; sys.modules['gradio'] = None\n"
    return subprocess.run(
        [sys.executable, "-c", hidden + code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
