"""Which human translation of a language pair is the standard reference, and so no system."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.files.lines import readable
from mmad_metric.names import nearest

OUTLIERS = ("synthetic_ref",)  # WMT23, en-de and zh-en
_USUAL_SET = "wmt23"
# Where mt-metrics-eval's table of test sets (its meta_info.py, `std_ref`) names another reference
# than the first. By test set, which there is the folder's name.
_EXCEPTIONS = {
    "wmt21.news": {"en-de": "refC", "zh-en": "refB"},
    "wmt21.tedtalks": {"zh-en": "refB"},
    "wmt22": {"cs-en": "refB", "en-cs": "refB"},
    _USUAL_SET: {"he-en": "refB", "en-he": "refB"},
}


def chosen_reference(choices: Sequence[str], lp: str) -> str | None:
    """What `NAME` or `LP=NAME` choose for a pair, the latter going first; None: nothing.

    Raises ConfigError where two choices of one kind differ in nothing but the name.
    """
    found: dict[str, str] = {}
    for choice in choices:
        pair, sign, name = choice.rpartition("=")
        if not name or (sign and not pair) or found.setdefault(pair, name) != name:
            raise ConfigError(
                f"reference: {choice!r}: one NAME for all language pairs, or LP=NAME for one"
            )
    return found.get(lp, found.get(""))


def check_pairs(choices: Sequence[str], lps: Collection[str]) -> None:
    """Raises ConfigError for a choice about a language pair that is not asked for."""
    for choice in choices:
        pair, sign, _ = choice.rpartition("=")
        if sign and pair not in lps:
            raise ConfigError(
                f"reference {choice!r}: {pair!r} is not one of {', '.join(lps)}"
                f"{nearest(pair, list(lps))}"
            )


def standard_reference(
    folder: str, lp: str, references: Collection[str], chosen: str | None = None
) -> str | None:
    """The reference that metrics may have seen; others of the pair are scored as systems.

    The chosen one, else the one that mt-metrics-eval has for this pair in the test set that the
    folder is named after (WMT23 for any other name), else the first by name; None without
    references. Raises InputError for a chosen name that the folder does not have.
    """
    people = sorted(name for name in references if name not in OUTLIERS)
    if chosen is not None:
        if chosen not in references:
            raise InputError(
                f"{readable(folder)}: no reference {chosen!r} for {lp}; there is "
                f"{', '.join(sorted(references)) or 'none'}{nearest(chosen, people)}"
            )
        return chosen
    name = os.path.basename(os.path.abspath(folder)).lower()
    usual = _EXCEPTIONS.get(name, _EXCEPTIONS[_USUAL_SET]).get(lp)
    return usual if usual in people else next(iter(people), None)
