"""`mmad prompts` for the baselines: what each call would send, and is the pack sound."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from mmad_metric.baselines.packs import load_baseline_pack
from mmad_metric.baselines.prompts import BaselinePrompts
from mmad_metric.chat import Message
from mmad_metric.cli.prompt_text import texts_given
from mmad_metric.errors import ConfigError
from mmad_metric.languages import LanguagePair
from mmad_metric.mqm import Annotation
from mmad_metric.pack_files import pack_method

_OF_MMAD = ("stage", "strategy", "topic", "skip_stage", "dimension")
# What is shown where a pack has no demonstrations to take it from.
_SAMPLE = ("The museum is open until nine.", "Das Museum hat bis neun geschlossen.")


def check_baseline(folder: str) -> str:
    """What a sound pack holds, for people. Raises ConfigError, PackError."""
    pack = load_baseline_pack(folder, pack_method(folder))
    for pair in (*pack.demos, "en-de"):
        BaselinePrompts(pack, LanguagePair.parse(pair)).check()
    text = f"{pack.identity}: sound; method {pack.method}"
    if pack.dimensions:
        text += f"; dimensions {', '.join(each.name for each in pack.dimensions)}"
    if pack.demos:
        text += f"; demonstrations {', '.join(pack.demos)}"
    return text


def baseline_messages(
    options: argparse.Namespace,
) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """Role and messages of each call, as the options want them. Raises ConfigError, PackError."""
    for name in _OF_MMAD:
        if getattr(options, name) is not None:
            raise ConfigError(
                f"--{name.replace('_', '-')}: method {options.method} has neither M-MAD's stages "
                "nor a debate"
            )
    if options.beside:
        raise ConfigError(f"--beside: method {options.method} shows its agent the segment alone")
    pack = load_baseline_pack(options.prompts or options.method, options.method)
    prompts = BaselinePrompts(pack, LanguagePair.parse(options.lp))
    prompts.check()
    shown, listed = _shown(prompts)
    texts = texts_given(options, shown)
    yield from prompts.calls(texts, listed if texts == shown else ())


def _shown(prompts: BaselinePrompts) -> tuple[tuple[str, str], tuple[Annotation, ...]]:
    """Texts of the first demonstration that is shown, and the errors listed for them."""
    for pair in prompts.shown_pairs:
        demo = prompts.pack.demos[pair][0]
        return (demo.source, demo.translation), demo.annotations
    return _SAMPLE, ()
