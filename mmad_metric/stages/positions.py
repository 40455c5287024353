"""Where a debate begins: what can be disputed, what con opens with, when two sets are equal."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mmad_metric.labels import UNKNOWN_CATEGORY
from mmad_metric.mqm import OTHER, Annotation, Category, Severity

# What con says of a category that it contests without proposing another yet. No known label: if
# it came back from a model, it would be an unknown one of the dimension.
CONTESTED = "contested"


def is_disputed(annotations: Sequence[Annotation], dispute: str, topic: str = "severity") -> bool:
    """Whether a first result can be debated.

    On severity: dispute "major": it holds a major (or critical) error or non-translation; "any":
    any error. On the other topics: any error.
    """
    if dispute == "any" or topic != "severity":
        return bool(annotations)
    return any(each.severity.is_severe or each.category.is_non_translation for each in annotations)


def counter_position(
    annotations: Sequence[Annotation], topic: str = "severity"
) -> tuple[Annotation, ...]:
    """Con's opening; it never holds non-translation.

    On severity: every major made minor, the severity alone; where nothing is severe (dispute
    "any") no errors at all. On categories: the same spans and severities, every label contested.
    On anything (free): no errors at all.
    """
    if topic == "free" or any(each.category.is_non_translation for each in annotations):
        return ()
    if topic == "category":
        return tuple(map(_contested, annotations))
    if not any(each.severity.is_severe for each in annotations):
        return ()
    return tuple(
        replace(each, severity=Severity.MINOR) if each.severity.is_severe else each
        for each in annotations
    )


def _contested(annotation: Annotation) -> Annotation:
    return replace(
        annotation,
        category=Category(OTHER),
        raw_category=CONTESTED,
        flags=tuple(dict.fromkeys((*annotation.flags, UNKNOWN_CATEGORY))),
    )


def counter_words(annotations: Sequence[Annotation], topic: str = "severity") -> str:
    """Which of the pack's openings goes with `counter_position`."""
    if any(each.category.is_non_translation for each in annotations):
        return "con_non_translation"
    if topic != "severity" or any(each.severity.is_severe for each in annotations):
        return "con"
    return "con_no_error"


def same_annotations(one: Sequence[Annotation], other: Sequence[Annotation]) -> bool:
    """Equal as sets with repetition: quoted words (Unicode form, case and blanks aside),
    category, severity and side."""
    return Counter(map(annotation_key, one)) == Counter(map(annotation_key, other))


def annotation_key(annotation: Annotation) -> tuple[str, str, Severity, bool]:
    """What makes two annotations the same one."""
    label = annotation.to_reply()["category"]
    side = annotation.is_source_error
    return quoted_key(annotation.span), label, annotation.severity, side


def quoted_key(words: str) -> str:
    """Quoted words without what quoting may change: Unicode form, case, blanks."""
    return " ".join(unicodedata.normalize("NFC", words).casefold().split())
