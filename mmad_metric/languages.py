"""Language pairs: from a code such as `en-de` to the names that prompts speak of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import langcodes

from mmad_metric.errors import ConfigError


@dataclass(frozen=True, slots=True)
class LanguagePair:
    """Source and target language as BCP 47 tags, e.g. LanguagePair("en", "pt-BR")."""

    source: str
    target: str

    @classmethod
    def parse(cls, text: str) -> LanguagePair:
        """Read `en-de`, `en-pt_BR` or `zh_Hans-en`: one hyphen between the two languages, an
        underscore inside one. Also takes `en-pt-BR` where only one reading names two languages.

        Raises ConfigError naming the part that is no language.
        """
        parts = text.strip().split("-")
        readings = [("-".join(parts[:cut]), "-".join(parts[cut:])) for cut in range(1, len(parts))]
        if not readings:
            raise ConfigError(
                f"language pair {text!r} needs a source and a target language, such as en-de"
            )
        known = [pair for pair in readings if language_name(pair[0]) and language_name(pair[1])]
        if len(known) > 1:
            raise ConfigError(
                f"language pair {text!r} can be read in several ways; write regions and scripts "
                "with an underscore, such as en-pt_BR"
            )
        if known:
            return cls.of(*known[0])
        return cls.of(*readings[0])

    @classmethod
    def of(cls, source: str, target: str) -> LanguagePair:
        """The pair of two codes. Raises ConfigError for a code that names no language, and for one
        language twice; a region or script makes another one of it: en_US-en_GB."""
        for code in (source, target):
            if not language_name(code):
                raise ConfigError(
                    f"unknown language code {code!r}; expected an ISO 639 / BCP 47 code such as "
                    "de, zh or pt_BR"
                )
        pair = cls(_tag(source), _tag(target))
        if pair.source == pair.target:
            raise ConfigError(
                f"language pair {pair}: source and target are the same language, "
                f"{pair.source_name}; variants of one are told apart by region or script, such as "
                "en_US-en_GB"
            )
        return pair

    @property
    def source_name(self) -> str:
        """The source language in English, e.g. "Hebrew"."""
        return language_name(self.source) or self.source

    @property
    def target_name(self) -> str:
        """The target language in English."""
        return language_name(self.target) or self.target

    def __str__(self) -> str:
        return f"{self.source.replace('-', '_')}-{self.target.replace('-', '_')}"


def base_language(tag: str) -> str:
    """The bare language of a tag: "pt" of "pt-BR"."""
    return tag.split("-", maxsplit=1)[0]


def _tag(code: str) -> str:
    return langcodes.standardize_tag(code.replace("_", "-"))


@lru_cache(maxsize=256)
def language_name(code: str) -> str | None:
    """The English name of a code, None when it names no language."""
    try:
        language = langcodes.Language.get(code.strip().replace("_", "-"))
    except (ValueError, LookupError):
        return None
    if not language.language or not language.is_valid():
        return None
    return language.display_name("en")
