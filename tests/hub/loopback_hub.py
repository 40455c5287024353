"""As much of the Hugging Face Hub as a Space needs, on 127.0.0.1: made, written, read back."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "hf_LoopbackTokenThatNobodyMaySee"
COMMIT = "c" * 40
README_OF_THE_HUB = b"---\nsdk: gradio\n---\n"


@dataclass
class Space:
    """A Space of the Hub: its files, and what was asked when it was made."""

    files: dict[str, bytes] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    private: bool = False


@dataclass
class Refusal:
    """An answer in place of the Hub's usual one."""

    status: int
    message: str = ""


class LoopbackHub:
    """A server in a thread of its own.

    spaces: by USER/NAME; asked: method and path of each request; commits: their headers;
    pull_requests: what was to be written by them; refuse: from (method, path) to a Refusal, or
    None for the usual answer.
    """

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}
        self.asked: list[str] = []
        self.commits: list[dict[str, Any]] = []
        self.pull_requests: dict[str, dict[str, bytes]] = {}
        self.refuse: Callable[[str, str], Refusal | None] = lambda method, path: None
        hub = self

        class Handler(_Handler):
            owner = hub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> LoopbackHub:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: LoopbackHub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._handle()

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def log_message(self, *args: Any) -> None:
        pass

    def _handle(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        self.owner.asked.append(f"{self.command} {path}")
        refusal = self.owner.refuse(self.command, path)
        if refusal is not None:
            self._json({"error": refusal.message}, refusal.status)
        elif path.startswith("/api/"):
            if path == "/api/validate-yaml":
                self._json({"errors": [], "warnings": []})
            elif self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._json({"error": "Invalid credentials in Authorization header"}, 401)
            else:
                self._api(path, raw)
        else:
            self._resolve(path)

    def _api(self, path: str, raw: bytes) -> None:
        if path == "/api/repos/create":
            self._create(json.loads(raw))
            return
        found = re.fullmatch(r"/api/spaces/([^/]+/[^/]+)(/.*)?", path)
        space = self.owner.spaces.get(found[1]) if found else None
        if found is None or space is None:
            self._json({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
        elif (found[2] or "").startswith("/preupload/"):
            names = [each["path"] for each in json.loads(raw)["files"]]
            files = [{"path": n, "uploadMode": "regular", "shouldIgnore": False} for n in names]
            self._json({"files": files})
        elif (found[2] or "").startswith("/commit/"):
            self._commit(found[1], space, raw)
        elif (found[2] or "").startswith("/tree/"):
            sizes = {name: len(content) for name, content in space.files.items()}
            self._json([{"type": "file", "path": n, "size": sizes[n], "oid": "0"} for n in sizes])
        else:
            siblings = [{"rfilename": name} for name in space.files]
            about: dict[str, Any] = {
                "id": found[1],
                "private": space.private,
                "sha": COMMIT,
                "tags": [],
            }
            self._json({**about, "siblings": siblings, "likes": 0})

    def _create(self, asked: dict[str, Any]) -> None:
        name = f"{asked['organization']}/{asked['name']}"
        url = f"{self.owner.url}/spaces/{name}"
        if name in self.owner.spaces:
            self._json({"error": "You already created this space repo", "url": url}, 409)
            return
        files = {"README.md": README_OF_THE_HUB, ".gitattributes": b""}
        private = bool(asked.get("private")) or asked.get("visibility") == "private"
        self.owner.spaces[name] = Space(files, asked, private)
        self._json({"url": url, "name": name})

    def _commit(self, name: str, space: Space, raw: bytes) -> None:
        lines = [json.loads(line) for line in raw.splitlines() if line.strip()]
        query = parse_qs(urlsplit(self.path).query)
        answer = {"success": True, "commitOid": COMMIT}
        answer["commitUrl"] = f"{self.owner.url}/spaces/{name}/commit/{COMMIT}"
        target = space.files
        if query.get("create_pr"):
            answer["pullRequestUrl"] = f"{self.owner.url}/spaces/{name}/discussions/1"
            target = self.owner.pull_requests.setdefault(name, {})
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                self.owner.commits.append(value)
            elif line["key"] == "file":
                target[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                target.pop(value["path"], None)
        self._json(answer)

    def _resolve(self, path: str) -> None:
        found = re.fullmatch(r"/spaces/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        space = self.owner.spaces.get(found[1]) if found else None
        if found is None or space is None or found[2] not in ("main", COMMIT):
            self._json({"error": "not found"}, 404, {"X-Error-Code": "RevisionNotFound"})
        elif found[3] not in space.files:
            self._json({"error": "not found"}, 404, {"X-Error-Code": "EntryNotFound"})
        else:
            content = space.files[found[3]]
            self._send(200, content, {"ETag": f'"{hash(content):x}"', "X-Repo-Commit": COMMIT})

    def _json(self, data: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(data).encode(), {**(headers or {}), "Content-Type": JSON})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


JSON = "application/json"
