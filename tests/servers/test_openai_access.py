"""Keys and addresses: what is sent where, and what never shows."""

from __future__ import annotations

import logging
import traceback

import pytest

from mmad_metric.errors import ConfigError, RunStopped
from mmad_metric.servers.openai_chat import OpenAIChat
from tests import loopback_replies as replies
from tests.asking import EMPTY, KEY, an_endpoint, ask
from tests.loopback import LoopbackServer


def test_the_key_shows_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = replies.error(
        401,
        f"Incorrect API key provided: {KEY}, or sk-proj-****wxyz; see "
        "https://me:hunter22@host/?token=hush-hush",
    )
    with LoopbackServer(echo) as server:
        url = server.url.replace("//", "//me:hunter22@") + "?token=hush-hush&api-version=1"
        endpoint = an_endpoint(url, max_retries=0)
        shown = repr(endpoint) + repr(OpenAIChat(endpoint))
        with pytest.raises(RunStopped) as caught:
            ask(url, max_retries=0)
    shown += "".join(traceback.format_exception(caught.value)) + repr(caught.value.__context__)
    shown += caplog.text
    assert "does not accept the API key" in shown
    for secret in (KEY, "wxyz", "hunter22", "hush-hush"):
        assert secret not in shown


def test_a_key_is_needed_for_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """E18."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        OpenAIChat(an_endpoint("", base_url=None, api_key=None))
    with LoopbackServer(EMPTY) as server:
        assert ask(server, api_key=None).text == EMPTY
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment\n")
        assert ask("", base_url=None, api_key=None).text == EMPTY
    assert server.calls[1].headers["Authorization"] == "Bearer from-the-environment"


def test_a_server_that_wants_a_key_says_which_to_set() -> None:
    refusal = replies.error(401, "Unauthorized")
    with LoopbackServer(refusal) as server, pytest.raises(RunStopped, match="set OPENAI_API_KEY"):
        ask(server, api_key=None)


def test_queries_users_and_azure_shapes_of_a_base_url() -> None:
    """E11."""
    with LoopbackServer(EMPTY) as server:
        root = server.url.removesuffix("/v1")
        ask(server.url + "/?team=a%20b", default_query={"x": "1"})
        ask(server.url.replace("//", "//me:pass@"))
        ask(root + "/openai?api-version=2024-10-21", model="my judge")
        ask(root + "/openai/deployments/d1/?api-version=2024-10-21")
    plain, basic, azure, deployed = server.calls
    assert (plain.path, plain.query) == ("/v1/chat/completions", "team=a b&x=1")
    assert basic.headers["Authorization"] == "Basic bWU6cGFzcw=="
    assert azure.path == "/openai/deployments/my judge/chat/completions"
    assert (azure.query, azure.headers["api-key"]) == ("api-version=2024-10-21", KEY)
    assert "Authorization" not in azure.headers
    assert deployed.path == "/openai/deployments/d1/chat/completions"


def test_the_client_tells_servers_nothing_of_the_machine_it_runs_on() -> None:
    with LoopbackServer(EMPTY) as server:
        ask(server)
    assert not [name for name in server.calls[0].headers if name.lower().startswith("x-stainless")]


@pytest.mark.parametrize("end", ["", "/", "//", "/chat/completions"])
def test_a_404_names_the_url_tried_and_the_model(end: str) -> None:
    """E11: with and without final slash."""
    with LoopbackServer(replies.not_found()) as server, pytest.raises(RunStopped) as caught:
        ask(server.url + end)
    assert f"no model 'judge-1' at {server.url}/chat/completions" in str(caught.value)
    assert [call.path for call in server.calls] == ["/v1/chat/completions"]


def test_a_proxy_of_the_environment_is_not_asked_for_a_server_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(EMPTY) as server:
        assert ask(server, max_retries=0).text == EMPTY
