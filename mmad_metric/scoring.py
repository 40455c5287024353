"""From errors to a score: weight schemes, caps, means. Pure arithmetic, done in decimals.

A segment's score is minus its penalty: 0 is perfect, lower is worse, unbounded below unless
the scheme has a cap. A system's score is the mean over its scored segments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from mmad_metric.errors import ConfigError
from mmad_metric.labels import OwnLabels, parse_category
from mmad_metric.mqm import (
    NON_TRANSLATION,
    OTHER,
    SOURCE_ISSUE,
    TYPOLOGY,
    MQMError,
    Severity,
)

HEAVIEST = 1_000_000  # points; more is a slip of the hand, and far more no longer adds up
LOCALE = "locale convention"


@dataclass(frozen=True, slots=True)
class WeightRule:
    """An exception to a scheme's severities. `label` is a dimension or `dimension/subcategory`;
    `severity` None means any. The first rule that fits an error decides its weight."""

    label: str
    severity: Severity | None
    weight: Decimal

    def fits(self, error: MQMError) -> bool:
        if self.severity is not None and self.severity is not error.severity:
            return False
        return self.label in (str(error.category), error.category.dimension)


@dataclass(frozen=True, slots=True)
class WeightScheme:
    """Penalty points per error. `cap` bounds a segment's penalty (None: no bound).

    An unknown severity was read as minor (and flagged) long before it comes here.
    """

    name: str
    major: Decimal = Decimal(5)
    minor: Decimal = Decimal(1)
    critical: Decimal = Decimal(5)
    neutral: Decimal = Decimal(0)
    rules: tuple[WeightRule, ...] = ()
    cap: Decimal | None = None

    def __post_init__(self) -> None:
        numbers = [self.major, self.minor, self.critical, self.neutral]
        numbers += [rule.weight for rule in self.rules]
        if any(not number.is_finite() or number < 0 for number in numbers):
            raise ConfigError(f"weights {self.name!r}: a weight is a number of at least 0")
        if self.cap is not None and not (self.cap.is_finite() and self.cap > 0):
            raise ConfigError(f"weights {self.name!r}: the cap is a number above 0")
        if self.critical < self.major:
            raise ConfigError(f"weights {self.name!r}: critical weighs less than major")

    @property
    def identity(self) -> str:
        """For signatures: a shipped scheme's name, else the points themselves, such as
        major=5,minor=1,critical=5,neutral=0,fluency/punctuation[minor]=0.1. Two schemes that
        weigh alike have the same, whatever file or mapping they came from."""
        for name, shipped in SCHEMES.items():
            if replace(self, name=name) == shipped:
                return name
        points = [(name, getattr(self, name)) for name in ("major", "minor", "critical", "neutral")]
        for rule in self.rules:
            severity = f"[{rule.severity.value}]" if rule.severity else ""
            points.append((rule.label + severity, rule.weight))
        if self.cap is not None:
            points.append(("cap", self.cap))
        return ",".join(f"{name}={number.normalize():f}" for name, number in points)

    def weight(self, error: MQMError) -> Decimal:
        """The penalty points of one error, at least 0."""
        for rule in self.rules:
            if rule.fits(error):
                return rule.weight
        return {
            Severity.MAJOR: self.major,
            Severity.MINOR: self.minor,
            Severity.CRITICAL: self.critical,
            Severity.NEUTRAL: self.neutral,
        }[error.severity]

    def segment_score(self, errors: Iterable[MQMError]) -> float:
        """Minus the summed penalty (at most the cap), independent of the errors' order."""
        penalty = sum((self.weight(error) for error in errors), Decimal(0))
        if self.cap is not None:
            penalty = min(penalty, self.cap)
        return -float(penalty) if penalty else 0.0


def _non_translation(points: int) -> WeightRule:
    return WeightRule(NON_TRANSLATION, None, Decimal(points))


# METHOD, "Weight schemes"; `wmt` reproduces the gold scores of WMT23 from its ratings.
SCHEMES: dict[str, WeightScheme] = {
    "mmad": WeightScheme("mmad", rules=(_non_translation(5),)),
    "wmt": WeightScheme(
        "wmt",
        rules=(
            _non_translation(25),
            WeightRule(SOURCE_ISSUE, None, Decimal(0)),
            WeightRule("accuracy/creative reinterpretation", None, Decimal(0)),
            WeightRule("fluency/punctuation", Severity.MINOR, Decimal("0.1")),
        ),
    ),
    "gemba": WeightScheme(
        "gemba", critical=Decimal(25), rules=(_non_translation(25),), cap=Decimal(25)
    ),
}


def load_scheme(name_or_table: str, own: OwnLabels = ()) -> WeightScheme:
    """A scheme by name (mmad, wmt, gemba), or an own one from a JSON file or its text. own: labels
    of the prompt pack, which its rules may name beside the typology's.

    The JSON is {"major": 5, "minor": 1, "critical": 10, "neutral": 0, "cap": 25,
    "rules": [{"label": "fluency/punctuation", "severity": "minor", "weight": 0.1}, …]}, all
    but major and minor optional (critical defaults to major). Raises ConfigError naming the
    file and the key.
    """
    if name_or_table in SCHEMES:
        return SCHEMES[name_or_table]
    if name_or_table.lstrip().startswith("{"):
        table = _read_table("weights", name_or_table)
        return _scheme_from_table("weights", "own", table, own)
    path = Path(name_or_table)
    if not path.is_file():
        raise ConfigError(
            f"weights {name_or_table!r}: no such scheme ({', '.join(SCHEMES)}) and no such file"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not a JSON weight table ({error})") from None
    return _scheme_from_table(str(path), path.stem, _read_table(str(path), text), own)


def _read_table(where: str, text: str) -> object:
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError as error:
        raise ConfigError(f"{where}: not a JSON weight table ({error})") from None


def scheme_from_table(name: str, table: Mapping[str, Any]) -> WeightScheme:
    """The inverse of `scheme_table`: labels stand as they are, those of a prompt pack's own too.
    Raises ConfigError naming the key that is wrong."""
    exact = json.loads(json.dumps(table), parse_float=Decimal)
    return _scheme_from_table(name, name, exact, None)


def _scheme_from_table(where: str, name: str, data: object, own: OwnLabels | None) -> WeightScheme:
    known = ("major", "minor", "critical", "neutral", "cap", "rules")
    if not isinstance(data, dict):
        raise ConfigError(f"{where}: expected an object with at least major and minor")
    for key in data:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}; known are {', '.join(known)}")
    if not {"major", "minor"} <= set(data):
        raise ConfigError(f"{where}: expected an object with at least major and minor")
    major = _number(where, "major", data["major"])
    cap = data.get("cap")
    listed = data.get("rules", [])
    if not isinstance(listed, list):
        raise ConfigError(f"{where}: rules is a list of objects")
    return WeightScheme(
        name,
        major=major,
        minor=_number(where, "minor", data["minor"]),
        critical=_number(where, "critical", data.get("critical", major)),
        neutral=_number(where, "neutral", data.get("neutral", 0)),
        cap=None if cap is None else _number(where, "cap", cap),
        rules=tuple(
            _rule(where, f"rules[{number}]", rule, own) for number, rule in enumerate(listed)
        ),
    )


def _rule(where: str, key: str, rule: object, own: OwnLabels | None) -> WeightRule:
    if not isinstance(rule, dict) or not {"label", "weight"} <= set(rule) <= {
        "label",
        "severity",
        "weight",
    }:
        raise ConfigError(f"{where}: {key} has label, weight and, if wanted, severity")
    severity = rule.get("severity")
    try:
        parsed = None if severity is None else Severity(str(severity).strip().lower())
    except ValueError:
        raise ConfigError(f"{where}: {key}.severity {severity!r} is no severity") from None
    label = _label(where, f"{key}.label", rule["label"], own)
    return WeightRule(label, parsed, _number(where, f"{key}.weight", rule["weight"]))


def _label(where: str, key: str, value: object, own: OwnLabels | None) -> str:
    """A dimension, or the canonical form of a label; own: None takes it as it is. A rule that
    fits nothing is a mistake."""
    text = str(value).strip().lower()
    if own is None or text in (*TYPOLOGY, NON_TRANSLATION, SOURCE_ISSUE, OTHER, LOCALE, *dict(own)):
        return text
    known = parse_category(text, None, own)
    if known is None or "unknown_category" in known[2]:
        raise ConfigError(f"{where}: {key} {value!r} is no label of an error")
    return str(known[0])


def _number(where: str, key: str, value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise ConfigError(f"{where}: {key} is a number, not {value!r}")
    if not 0 <= value <= HEAVIEST:
        raise ConfigError(f"{where}: {key} is a number from 0 to {HEAVIEST}, not {value}")
    return Decimal(value)


def scheme_table(scheme: WeightScheme) -> dict[str, Any]:
    """The scheme as plain numbers, for run files; `load_scheme` reads it back from a file."""
    table: dict[str, Any] = {
        name: _plain(getattr(scheme, name)) for name in ("major", "minor", "critical", "neutral")
    }
    if scheme.cap is not None:
        table["cap"] = _plain(scheme.cap)
    table["rules"] = [
        {
            "label": rule.label,
            **({"severity": rule.severity.value} if rule.severity else {}),
            "weight": _plain(rule.weight),
        }
        for rule in scheme.rules
    ]
    return table


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def mean(scores: Sequence[float]) -> float | None:
    """The mean of the scored segments, None when there are none."""
    if not scores:
        return None
    total = sum((Decimal(repr(score)) for score in scores), Decimal(0))
    return float(total / len(scores)) if total else 0.0


def count_errors(errors: Iterable[MQMError]) -> Mapping[str, int]:
    """How many majors (critical included), minors and non-translations.

    A non-translation counts as such alone, not as a major.
    """
    counts = {"n_major": 0, "n_minor": 0, "n_non_translation": 0}
    for error in errors:
        if error.category.is_non_translation:
            counts["n_non_translation"] += 1
        elif error.severity.is_severe:
            counts["n_major"] += 1
        elif error.severity is Severity.MINOR:
            counts["n_minor"] += 1
    return counts
