"""The Space on the Hugging Face Hub: made where it is missing, and given its files."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from mmad_metric.addresses import scrub
from mmad_metric.errors import ConfigError, InputError, RunStopped
from mmad_metric.hub.space import RECORD, SCRIPT, read_record
from mmad_metric.version import __version__

SPACE = "space"
MISSING = 'this needs huggingface_hub: pip install "mmad-metric[hub]"'
MOST_LETTERS = 96
LOOK_TIMEOUT = 30.0  # seconds that the Hub has to say whether it knows the Space
# What the Space's app imports, whether it is installed here or not.
USED_BY_THE_APP = {
    *("app", "mmad_metric", "gradio", "evaluate", "datasets", "huggingface_hub", "openai"),
    *("numpy", "pandas", "pydantic", "jinja2", "sacrebleu", "aiohttp"),
}
# What the Hub puts into a Space that it makes.
OF_THE_HUB = {".gitattributes", "README.md"}
_NAME = re.compile(r"[A-Za-z0-9](?:[\w-]|\.(?!\.))*", re.ASCII)
# What each refusal means to somebody who wants to push.
_REFUSALS = {
    HTTPStatus.UNAUTHORIZED: "the Hub does not accept the token; log in again with `hf auth login`",
    HTTPStatus.PAYMENT_REQUIRED: "the Hub wants a paid plan for this Space",
    HTTPStatus.FORBIDDEN: "the token may not write there; it needs write access to this namespace",
    HTTPStatus.NOT_FOUND: "the Hub knows no such Space or user, or does not show it to this token",
    HTTPStatus.CONFLICT: "something else is changing this Space; try again",
    HTTPStatus.TOO_MANY_REQUESTS: "the Hub asks to slow down; try again later",
}


@dataclass(frozen=True, slots=True)
class Push:
    """What to do on the Hub.

    repo: USER/NAME of the Space; private: whether a Space that is made is private; create_pr:
    open a pull request instead of writing to the main branch; message: of the commit; force:
    write into a Space that holds somebody else's files.
    """

    repo: str
    private: bool = False
    create_pr: bool = False
    message: str | None = None
    force: bool = False


@dataclass(frozen=True, slots=True)
class Pushed:
    """What happened. url: of the Space or of the pull request; created: the Space is new;
    private: what the Hub says about it, None where it did not."""

    url: str
    created: bool
    private: bool | None


def script_name(repo: str) -> str:
    """The name of the metric's script in the Space `repo`: `evaluate` takes it from there.

    Raises InputError for what is no USER/NAME that `evaluate.load` could use; asks nobody.
    """
    user, slash, name = repo.partition("/")
    if not slash or not all(
        _NAME.fullmatch(part) and len(part) <= MOST_LETTERS and part[-1] not in "-."
        for part in (user, name)
    ):
        raise InputError(f"{repo!r}: expected the Space's name as USER/NAME, such as USER/mmad")
    if "." in name or _shadows(name):
        raise InputError(
            f"{repo!r}: a Space called {name!r} could not work (its script would be {name}.py, "
            "which Python takes for something else); USER/mmad is a good name"
        )
    return SCRIPT if name == "mmad" else f"{name}.py"


def _shadows(name: str) -> bool:
    """Whether a script of this name, beside the app, would be imported in place of a module."""
    if name.lower() in USED_BY_THE_APP or name in sys.stdlib_module_names:
        return True
    return name.isidentifier() and importlib.util.find_spec(name) is not None


def push(files: Mapping[str, bytes], wanted: Push) -> Pushed:
    """Upload the Space's files, making the Space where it is missing.

    The token is huggingface_hub's own: $HF_TOKEN, or that of `hf auth login`.

    Raises ConfigError without huggingface_hub or token, InputError for a Space that is not
    ours, RunStopped when the Hub refuses or cannot be reached. No message holds the token.
    """
    script_name(wanted.repo)
    hub = _library()
    token = hub.get_token()
    if not token:
        raise ConfigError("no token for the Hub: run `hf auth login`, or set HF_TOKEN")
    if not (token.isascii() and token.isprintable()):
        raise ConfigError("the Hub's token holds characters that no HTTP header may hold")
    api = hub.HfApi(token=token, library_name="mmad-metric", library_version=__version__)
    with _translated(hub, wanted.repo, token):
        info = _look(hub, api, wanted.repo)
        names = {each.rfilename for each in getattr(info, "siblings", None) or ()}
        if info is None:
            if wanted.create_pr:
                raise InputError(f"{wanted.repo}: no such Space, so there is no pull request to it")
            api.create_repo(
                wanted.repo,
                repo_type=SPACE,
                space_sdk="gradio",
                private=wanted.private or None,
                exist_ok=True,
            )
        else:
            if wanted.private and getattr(info, "private", None) is not True:
                raise InputError(
                    f"{wanted.repo}: this Space is public already, and --private makes only a new "
                    "one private: change it in its settings first"
                )
            if not wanted.force:
                _refuse_foreign(api, wanted.repo, names)
        url = _upload(hub, api, files, wanted, names)
    shown = wanted.private if info is None else getattr(info, "private", None)
    return Pushed(url, created=info is None, private=shown)


def _library() -> Any:
    try:
        return importlib.import_module("huggingface_hub")
    except ImportError:
        raise ConfigError(MISSING) from None


def _look(hub: Any, api: Any, repo: str) -> Any:
    """What the Hub says about the Space; None when there is none."""
    try:
        return api.repo_info(repo, repo_type=SPACE, timeout=LOOK_TIMEOUT)
    except hub.errors.RepositoryNotFoundError:
        return None


def _refuse_foreign(api: Any, repo: str, names: set[str]) -> None:
    if not names - OF_THE_HUB:
        return
    if RECORD in names:
        path = api.hf_hub_download(repo, RECORD, repo_type=SPACE)
        if read_record(Path(path).read_bytes()) is not None:
            return
    shown = ", ".join(sorted(names - OF_THE_HUB)[:3])
    raise InputError(
        f"{repo}: this Space holds other files ({shown}) and was not written by `mmad hub push`; "
        "--force writes over it"
    )


def _upload(hub: Any, api: Any, files: Mapping[str, bytes], wanted: Push, names: set[str]) -> str:
    """All in one commit, so that no visitor finds half of it; returns where it can be seen."""
    changes = [hub.CommitOperationAdd(name, content) for name, content in files.items()]
    # A wheel of an earlier release would be imported beside this one's.
    changes += [
        hub.CommitOperationDelete(name)
        for name in sorted(names - set(files))
        if re.fullmatch(r"mmad_metric-[^/]*\.whl", name)
    ]
    commit = api.create_commit(
        wanted.repo,
        changes,
        repo_type=SPACE,
        commit_message=wanted.message or f"mmad-metric {__version__}",
        create_pr=wanted.create_pr or None,
    )
    return str(commit.pr_url or f"{api.endpoint}/spaces/{wanted.repo}")


@contextmanager
def _translated(hub: Any, repo: str, token: str) -> Iterator[None]:
    """Whatever the client raises as one of our errors, without the token."""
    try:
        yield
    except InputError:
        raise
    except hub.errors.HfHubHTTPError as error:
        status = int(error.response.status_code)
        said = scrub(str(error.server_message or ""), [token])
        known = status in _REFUSALS
        meaning = _REFUSALS[HTTPStatus(status)] if known else "the Hub could not do this"
        raise RunStopped(
            f"{repo}: {meaning} (HTTP {status}{f', {said}' if said else ''})"
        ) from None
    except Exception as error:  # noqa: BLE001 - the client's HTTP library changes with its releases
        why = scrub(str(error), [token]) or type(error).__name__
        raise RunStopped(f"{repo}: the Hub cannot be reached or used: {why}") from None
