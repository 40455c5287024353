from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmad_metric.cli import main
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.hub.push import Push as Wanted
from mmad_metric.hub.push import push, script_name
from mmad_metric.hub.space import RECORD, read_record, space_files
from tests.cli.conftest import Ran
from tests.hub.loopback_hub import TOKEN, LoopbackHub, Refusal, Space

constants = pytest.importorskip("huggingface_hub.constants")

OURS = {"README.md", "mmad.py", "app.py", "requirements.txt", RECORD}
SPACE = "somebody/mmad"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """A Hub of ours, with a token that it knows and an empty cache."""
    with LoopbackHub() as running:
        monkeypatch.setattr(constants, "ENDPOINT", running.url)
        template = running.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield running


@pytest.fixture
def mmad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    """Runs the command line in an empty folder; nothing that it prints holds the token."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        status = main(arguments)
        captured = capfd.readouterr()
        assert TOKEN not in captured.out + captured.err
        return Ran(status, captured.out, captured.err)

    return run


def test_a_space_that_is_missing_is_made_and_given_all_files(mmad, hub: LoopbackHub):
    ran = mmad("hub", "push", SPACE)
    assert (ran.status, ran.out) == (0, f"{hub.url}/spaces/{SPACE}\n")
    space = hub.spaces[SPACE]
    assert (space.asked["type"], space.asked["sdk"]) == ("space", "gradio")
    assert not space.private
    assert set(space.files) == {*OURS, ".gitattributes"}
    assert {name: space.files[name] for name in OURS} == space_files()
    assert f"evaluate.load('{SPACE}')" in ran.err


def test_pushing_again_writes_the_same_files_and_makes_nothing(mmad, hub: LoopbackHub):
    mmad("hub", "push", SPACE)
    before = dict(hub.spaces[SPACE].files)
    hub.asked.clear()
    assert mmad("hub", "push", SPACE).status == 0
    assert hub.spaces[SPACE].files == before
    assert "POST /api/repos/create" not in hub.asked


def test_private_message_and_pull_request_reach_the_hub(mmad, hub: LoopbackHub):
    mmad("hub", "push", SPACE, "--private", "--message", "First words")
    assert hub.spaces[SPACE].private
    assert hub.commits[-1]["summary"] == "First words"
    before = dict(hub.spaces[SPACE].files)
    ran = mmad("hub", "push", SPACE, "--create-pr")
    assert (ran.out, ran.status) == (f"{hub.url}/spaces/{SPACE}/discussions/1\n", 0), ran.err
    assert hub.spaces[SPACE].files == before


def test_what_is_to_be_private_is_not_put_into_a_public_space(mmad, hub: LoopbackHub):
    mmad("hub", "push", SPACE)
    commits = len(hub.commits)
    ran = mmad("hub", "push", SPACE, "--private")
    assert ran.status == 1
    assert "this Space is public already" in ran.err
    assert len(hub.commits) == commits


def test_a_token_that_no_header_may_hold_is_refused_unseen(
    mmad, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_TOKEN", "hf_\u00e9")
    ran = mmad("hub", "push", SPACE)
    assert (ran.status, hub.spaces) == (1, {})
    assert "characters that no HTTP header may hold" in ran.err
    assert "hf_" not in ran.err


def test_a_pull_request_to_a_space_that_is_missing_is_refused(mmad, hub: LoopbackHub):
    ran = mmad("hub", "push", SPACE, "--create-pr")
    assert (ran.status, ran.out) == (1, "")
    assert "no such Space" in ran.err
    assert hub.spaces == {}


def test_the_script_has_the_name_that_evaluate_looks_for(mmad, hub: LoopbackHub):
    mmad("hub", "push", "somebody/mmad-metric")
    files = hub.spaces["somebody/mmad-metric"].files
    assert "mmad.py" not in files
    assert files["mmad-metric.py"] == space_files()["mmad.py"]


def test_a_wheel_of_an_earlier_release_goes(mmad, hub: LoopbackHub):
    mmad("hub", "push", SPACE)
    files = hub.spaces[SPACE].files
    files["mmad_metric-0.0.1-py3-none-any.whl"] = b"old"
    files["notes.txt"] = b"the owner's own"
    mmad("hub", "push", SPACE)
    assert set(files) == {*OURS, ".gitattributes", "notes.txt"}


def test_a_foreign_space_is_left_alone_unless_forced(mmad, hub: LoopbackHub):
    hub.spaces[SPACE] = Space({"README.md": b"mine", "app.py": b"mine", RECORD: b'{"files": {}}'})
    ran = mmad("hub", "push", SPACE)
    assert (ran.status, ran.out) == (1, "")
    assert "app.py" in ran.err
    assert "--force" in ran.err
    assert hub.spaces[SPACE].files["app.py"] == b"mine"
    assert mmad("hub", "push", SPACE, "--force").status == 0
    assert hub.spaces[SPACE].files["app.py"] == space_files()["app.py"]


def test_a_space_that_the_hub_has_just_made_is_ours_to_fill(mmad, hub: LoopbackHub):
    hub.spaces[SPACE] = Space({"README.md": b"of the Hub", ".gitattributes": b""})
    assert mmad("hub", "push", SPACE).status == 0
    assert set(hub.spaces[SPACE].files) >= OURS


def test_one_who_makes_the_space_at_the_same_time_does_no_harm(mmad, hub: LoopbackHub):
    """Looked for and not found, then there: the Hub answers 409."""

    def appears(method: str, path: str) -> None:
        if path == "/api/repos/create":
            hub.spaces.setdefault(SPACE, Space())

    hub.refuse = appears
    assert mmad("hub", "push", SPACE).status == 0
    assert set(hub.spaces[SPACE].files) == OURS


REFUSALS = [
    (401, "/api/spaces/", "log in again"),
    (403, "/api/repos/create", "may not write"),
    (402, "/api/repos/create", "paid plan"),
    (409, "/commit/", "try again"),
    (429, "/api/repos/create", "slow down"),
    (418, "/api/repos/create", "could not do this"),
]


@pytest.mark.parametrize(("status", "where", "said"), REFUSALS, ids=[str(r[0]) for r in REFUSALS])
def test_a_refusal_is_told_with_its_meaning_status_and_reason(
    mmad, hub: LoopbackHub, status: int, where: str, said: str
):
    # A server may repeat what it was sent.
    reason = f"because of Bearer {TOKEN}"
    hub.refuse = lambda method, path: Refusal(status, reason) if where in path else None
    ran = mmad("hub", "push", SPACE)
    assert (ran.status, ran.out) == (1, "")
    assert said in ran.err
    assert f"HTTP {status}" in ran.err
    assert "because of" in ran.err


def test_a_token_that_the_hub_does_not_know_is_refused(
    mmad, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    ran = mmad("hub", "push", SPACE)
    assert ran.status == 1
    assert "log in again" in ran.err
    assert "hf_other" not in ran.err
    assert hub.spaces == {}


def test_metadata_that_the_hub_does_not_take_is_told(mmad, hub: LoopbackHub):
    hub.refuse = lambda method, path: Refusal(400) if path == "/api/validate-yaml" else None
    ran = mmad("hub", "push", SPACE)
    assert ran.status == 1
    assert "Invalid metadata in README.md" in ran.err


def test_a_hub_that_is_down_is_told(mmad, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    ran = mmad("hub", "push", SPACE)
    assert (ran.status, ran.out) == (1, "")
    assert f"{SPACE}: the Hub cannot be reached" in ran.err


def test_offline_mode_is_told(mmad, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    ran = mmad("hub", "push", SPACE)
    assert ran.status == 1
    assert "offline" in ran.err
    assert hub.asked == []


def test_without_a_token_nothing_is_asked(mmad, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HF_TOKEN")
    ran = mmad("hub", "push", SPACE)
    assert (ran.status, ran.out) == (1, "")
    assert "hf auth login" in ran.err
    assert hub.asked == []


NO_NAMES = [
    "mmad", "", "/", "a/", "/mmad", "a/b/mmad", "a b/mmad", "a/mmad.py", "a/app",
    "a/App", "a/mmad_metric", "a/gradio", "a/json",
    "-a/mmad", "a/mmad-", "a/..", "https://huggingface.co/spaces/a/mmad", "a/m\nmad", "ä/mmad",
    "a/" + "m" * 97,
]  # fmt: skip


@pytest.mark.parametrize("repo", NO_NAMES, ids=[repr(name)[:30] for name in NO_NAMES])
def test_a_name_that_cannot_be_is_refused_before_anything(
    mmad, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, repo: str
):
    monkeypatch.delenv("HF_TOKEN")
    ran = mmad("hub", "push", "--", repo)
    assert (ran.status, ran.out) == (1, "")
    assert "USER/" in ran.err
    assert hub.asked == []


def test_names_of_users_and_spaces_may_hold_marks():
    assert script_name("some.body_1/mmad_2") == "mmad_2.py"


def test_without_huggingface_hub_the_command_to_install_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r'pip install "mmad-metric\[hub\]"'):
        push({}, Wanted(SPACE))
    with pytest.raises(InputError):
        push({}, Wanted("nonsense"))


def test_a_record_names_plain_files_only():
    record = read_record(b'{"written_by": "mmad hub", "files": {"a.whl": "1", "../b.whl": "2"}}')
    assert record == {"a.whl": "1"}
    for strange in (b"", b"[]", b"{}", b"\xff", b'{"written_by": "mmad hub", "files": 3}'):
        assert read_record(strange) is None
