"""The parts of a prompt pack: dimensions with their labels, and demonstrations as they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mmad_metric.errors import ConfigError, PackError
from mmad_metric.labels import OwnLabels, parse_category, parse_severity
from mmad_metric.languages import LanguagePair
from mmad_metric.mqm import NON_TRANSLATION, TYPOLOGY, WHOLE_SEGMENT, Annotation

COUPLED = "coupled"  # the name of what is annotated and debated as a whole, without stage 1


@dataclass(frozen=True, slots=True)
class Dimension:
    """One MQM dimension of a pack and the file with its guidance, "" where it has none."""

    name: str
    title: str
    subcategories: tuple[str, ...]
    guidance: str

    @property
    def is_coupled(self) -> bool:
        """Whether this is all dimensions at once."""
        return self.name == COUPLED

    @property
    def home(self) -> str | None:
        """The dimension that settles labels giving a subcategory alone, if any."""
        return None if self.is_coupled else self.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories to choose from, e.g. "accuracy/omission"."""
        return tuple(f"{self.name}/{each}" for each in self.subcategories)


# All dimensions as one, for an agent that annotates the whole typology.
ALL_DIMENSIONS = Dimension(COUPLED, "Translation", (), "")


@dataclass(frozen=True, slots=True)
class Demo:
    """A demonstration: a pair and what the agent of its dimension should answer."""

    dimension: str
    source: str
    translation: str
    annotations: tuple[Annotation, ...]


def own_labels(dimensions: Sequence[Dimension]) -> OwnLabels:
    """Those of the dimensions that are not in the typology, or go beyond it."""
    return tuple(
        (each.name, each.subcategories)
        for each in dimensions
        if not set(each.subcategories) <= set(TYPOLOGY.get(each.name, ()))
    )


def digest(files: Mapping[str, str]) -> str:
    """A hash of files by their paths."""
    content = hashlib.sha256()
    for path in sorted(files):
        for part in (path, files[path]):
            data = part.encode()
            content.update(len(data).to_bytes(8, "big") + data)
    return content.hexdigest()


def required_text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise PackError(f"{where}: {key} is missing or not text")
    return value


def read_all_demos(
    files: Mapping[str, str], label: str, dimensions: tuple[Dimension, ...], folder: str
) -> dict[str, tuple[Demo, ...]]:
    return {
        _demo_pair(path, folder, label): _read_demos(text, f"{label}/{path}", dimensions)
        for path, text in files.items()
        if path.startswith(folder)
    }


def _demo_pair(path: str, folder: str, label: str) -> str:
    name = path.removeprefix(folder).removesuffix(".jsonl")
    try:
        return str(LanguagePair.parse(name))
    except ConfigError as error:
        raise PackError(f"{label}/{path}: the file's name is no language pair ({error})") from None


def _read_demos(text: str, where: str, dimensions: tuple[Dimension, ...]) -> tuple[Demo, ...]:
    demos = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            demos.append(_demo(line, f"{where}:{number}", dimensions))
    coupled = ALL_DIMENSIONS in dimensions
    for name in [COUPLED] if coupled else [dimension.name for dimension in dimensions]:
        if not any(demo.dimension == name for demo in demos):
            raise PackError(f"{where}: no demonstration for dimension {name!r}")
    return tuple(demos)


def _demo(line: str, where: str, dimensions: tuple[Dimension, ...]) -> Demo:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise PackError(f"{where}: not JSON ({error})") from None
    if not isinstance(data, dict) or not isinstance(data.get("annotations"), list):
        raise PackError(f"{where}: expected an object with a list of annotations")
    dimension = required_text(data, "dimension", where).strip().lower()  # as in pack.toml
    by_name = {each.name: each for each in dimensions}
    if dimension not in by_name and dimension != NON_TRANSLATION:
        raise PackError(f"{where}: dimension {dimension!r} is not in pack.toml")
    own = own_labels([each for each in dimensions if not each.is_coupled])
    home = by_name[dimension].home if dimension in by_name else None
    source, translation = (
        required_text(data, "source", where),
        required_text(data, "translation", where),
    )
    annotations = tuple(
        _demo_annotation(
            item, f"{where}: annotations[{number}]", (source, translation), (home, own)
        )
        for number, item in enumerate(data["annotations"])
    )
    for annotation in annotations:
        category = annotation.category
        if category.dimension != dimension and not (
            dimension == COUPLED and (category.dimension in by_name or category.is_non_translation)
        ):
            raise PackError(f"{where}: {category} is not of dimension {dimension!r}")
        listed = dict(own).get(category.dimension)
        if listed is not None and category.subcategory not in listed:
            raise PackError(f"{where}: {category} is no category of pack.toml")
    return Demo(dimension, source, translation, annotations)


def _demo_annotation(
    item: object, where: str, texts: tuple[str, str], asking: tuple[str | None, OwnLabels]
) -> Annotation:
    if not isinstance(item, dict):
        raise PackError(f"{where}: expected an object")
    span, in_source = required_text(item, "error_span", where), item.get("is_source_error")
    parsed = parse_category(item.get("category"), *asking)
    severity, raw_severity, _ = parse_severity(item.get("severity"))
    if parsed is None or parsed[2] or raw_severity is not None:
        raise PackError(
            f"{where}: {item.get('category')!r}, {item.get('severity')!r} are no known labels"
        )
    if not isinstance(in_source, bool):
        raise PackError(f"{where}: is_source_error is true or false")
    whole = parsed[0].is_non_translation and span == WHOLE_SEGMENT
    if not whole and span not in texts[0 if in_source else 1]:
        side = "source" if in_source else "translation"
        raise PackError(f"{where}: {span!r} does not occur in the {side}")
    return Annotation(span, parsed[0], severity, in_source)
