"""Which options of `mmad meta-eval` go together: one that would change nothing is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

# For each option that only serves others: these, and what it does for them.
_SERVES: dict[str, tuple[tuple[str, ...], str]] = {
    "unit": (("confidence",), "says what the intervals' samples draw"),
    "samples": (
        ("confidence", "significance", "ranks", "raters"),
        "is a number of resamples or exchanges",
    ),
    "seed": (
        ("confidence", "significance", "ranks", "raters", "select"),
        "seeds what is drawn at random",
    ),
    "folds": (("select",), "says how many parts are dealt"),
    "split": (("select",), "says what is dealt"),
    "seeds": (("select",), "says how often it is dealt"),
    "plot_format": (("plots",), "says what kind of charts"),
    "spans": (("runs",), "needs run files: score files have no spans"),
}
_FOR_THE_TABLE = "is for the table of metrics"
# What is not looked at where another question is asked than that of the table, and why.
_TABLE_ALONE = dict.fromkeys(
    ("unit", "significance", "ranks", "spans", "plots", "plot_format"), _FOR_THE_TABLE
)
_UNUSED: dict[str, dict[str, str]] = {
    "select": {
        **_TABLE_ALONE,
        "raters": "is another question",
        "confidence": _FOR_THE_TABLE,
        "samples": "resamples nothing there: --seeds is the number of deals",
        "metrics": "chooses nothing there: the configurations are those that --select names",
    },
    "raters": {
        **_TABLE_ALONE,
        "confidence": "says nothing there: its intervals come unasked",
        "folds": "is for --select",
        "split": "is for --select",
        "seeds": "is for --select",
        "reference": "leaves none out there: all is shown that every rater rated",
        "exclude": "leaves nothing out there: all is shown that every rater rated",
        "meta_set": "chooses nothing there: its measures are always the same",
        "measures": "chooses nothing there: its measures are always the same",
    },
}


def misuse(given: Mapping[str, Any]) -> str | None:
    """What is wrong with the options given, by name (`plot_format`), or None."""
    for question, unused in _UNUSED.items():
        for name, why in unused.items():
            if question in given and name in given:
                return f"{flag(name)} with {flag(question)}: it {why}"
    for name, (served, what) in _SERVES.items():
        if name in given and not given.keys() & set(served):
            return f"{flag(name)} without {_one_of(served)}: it {what}"
    if "raters" in given and "metrics" not in given:
        for name in ("runs", "scores"):
            if name in given:
                return (
                    f"{flag(name)} with --raters: name the metrics to hold beside the raters "
                    "with --metrics"
                )
    if "measures" in given and "meta_set" in given:
        return "--meta-set with --measures: the measures stand in its place"
    return _of_values(given)


def _of_values(given: Mapping[str, Any]) -> str | None:
    for name in ("significance", "ranks"):
        if name in given and len(set(given.get("metrics", ()))) == 1:
            return f"{flag(name)} compares metrics: --metrics names one alone"
    if given.get("format") == "latex":
        for name, what in (("raters", "text or json"), ("select", "text or json"),
                           ("spans", "text or json beside the table")):  # fmt: skip
            if name in given:
                return f"-f latex with {flag(name)}: it prints {what}"
    return None


def flag(name: str) -> str:
    """The option as it is written."""
    return "--" + name.replace("_", "-")


def _one_of(names: Collection[str]) -> str:
    *most, last = map(flag, names)
    return f"{', '.join(most)} or {last}" if most else last
