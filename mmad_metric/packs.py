"""Loading and checking a prompt pack: pack.toml, templates, demonstrations.

A broken pack fails here, before the first call, with the file and the reason.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import jinja2.sandbox

from mmad_metric.errors import ConfigError, PackError
from mmad_metric.labels import parse_category, parse_severity
from mmad_metric.languages import LanguagePair, base_language
from mmad_metric.mqm import NON_TRANSLATION, WHOLE_SEGMENT, Annotation

if TYPE_CHECKING:
    from importlib.abc import Traversable

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the same module under its older name
    import tomli as tomllib

TEMPLATE_NAMES = (
    "annotate_system",
    "annotate_user",
    "debate_system",
    "debate_user",
    "debate_turn",
    "consensus_system",
    "consensus_user",
    "judge_system",
    "judge_user",
)
OPENING_NAMES = ("pro", "con", "con_non_translation", "con_no_error")
DEFAULT_PAIR = "en-de"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One MQM dimension of a pack and the file with its guidance."""

    name: str
    title: str
    subcategories: tuple[str, ...]
    guidance: str


@dataclass(frozen=True, slots=True)
class Demo:
    """A demonstration: a pair and what the agent of its dimension should answer."""

    dimension: str
    source: str
    translation: str
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class Pack:
    """A loaded pack. `digest` covers every file that can reach a prompt."""

    name: str
    version: str
    digest: str
    dimensions: tuple[Dimension, ...]
    templates: Mapping[str, str]
    openings: Mapping[str, str]
    files: Mapping[str, str] = field(repr=False)
    demos: Mapping[str, tuple[Demo, ...]] = field(repr=False)

    @property
    def identity(self) -> str:
        """Name, version and content hash, as the signature shows them."""
        return f"{self.name}.{self.version}@{self.digest[:12]}"

    def environment(self) -> jinja2.Environment:
        """A sandboxed environment over the pack's own files; an undefined name is an error."""
        return jinja2.sandbox.SandboxedEnvironment(
            loader=jinja2.DictLoader(dict(self.files)),
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )


def load_pack(name_or_folder: str) -> Pack:
    """A shipped pack by name, or a user's pack by folder. Raises PackError."""
    root, label = _locate(name_or_folder)
    files = _read_files(root, label)
    if "pack.toml" not in files:
        raise PackError(f"{label}: no pack.toml in this folder")
    table = _read_toml(files["pack.toml"], f"{label}/pack.toml")
    dimensions = _dimensions(table, files, label)
    templates = _templates(table, files, label)
    demos = {
        _demo_pair(path, label): _read_demos(text, f"{label}/{path}", dimensions)
        for path, text in files.items()
        if path.startswith("demos/")
    }
    if not demos:
        raise PackError(f"{label}: no demonstrations in demos/")
    pack = Pack(
        name=_text(table, "name", label),
        version=_text(table, "version", label),
        digest=_digest(files),
        dimensions=dimensions,
        templates=templates,
        openings=_openings(table, label),
        files={path: text for path, text in files.items() if path.endswith(".j2")},
        demos=demos,
    )
    _compile(pack, label)
    return pack


def fallback_order(lp: LanguagePair, pairs: Collection[str]) -> list[str]:
    """Demonstration pairs from nearest to farthest: the pair itself (regions ignored), then the
    same target, then the same source, then en-de, then the rest, each in alphabetical order."""

    def distance(pair: str) -> tuple[int, str]:
        source, target = (base_language(tag) for tag in pair.split("-", 1))
        same_source = source == base_language(lp.source)
        same_target = target == base_language(lp.target)
        if same_source and same_target:
            return (0, pair)
        if same_target:
            return (1, pair)
        if same_source:
            return (2, pair)
        return (3 if pair == DEFAULT_PAIR else 4, pair)

    return sorted(pairs, key=distance)


def _locate(name_or_folder: str) -> tuple[Traversable, str]:
    shipped = resources.files("mmad_metric.prompts")
    if "/" not in name_or_folder and not name_or_folder.startswith("."):
        candidate = shipped / name_or_folder
        if candidate.is_dir():
            return candidate, name_or_folder
    folder = Path(name_or_folder)
    if folder.is_dir():
        return folder, str(folder)
    names = sorted(entry.name for entry in shipped.iterdir() if (entry / "pack.toml").is_file())
    raise ConfigError(
        f"prompts {name_or_folder!r}: no shipped pack ({', '.join(names)}) and no such folder"
    )


def _read_files(root: Traversable, label: str, prefix: str = "") -> dict[str, str]:
    files: dict[str, str] = {}
    for entry in sorted(root.iterdir(), key=lambda item: item.name):
        path = prefix + entry.name
        if entry.is_dir():
            if not entry.name.startswith((".", "__")):
                files |= _read_files(entry, label, path + "/")
        elif entry.name.endswith((".toml", ".j2", ".jsonl")):
            try:
                files[path] = entry.read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise PackError(f"{label}/{path}: not readable as UTF-8 ({error})") from None
    return files


def _read_toml(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PackError(f"{where}: {error}") from None


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise PackError(f"{where}: {key} is missing or not text")
    return value


def _dimensions(
    table: Mapping[str, Any], files: Mapping[str, str], label: str
) -> tuple[Dimension, ...]:
    where = f"{label}/pack.toml"
    entries = table.get("dimensions")
    if not isinstance(entries, list) or not entries:
        raise PackError(f"{where}: at least one [[dimensions]] entry is needed")
    dimensions = []
    for number, entry in enumerate(entries):
        place = f"{where}: dimensions[{number}]"
        if not isinstance(entry, dict):
            raise PackError(f"{place}: expected a table")
        subcategories = entry.get("subcategories")
        if not isinstance(subcategories, list) or not subcategories:
            raise PackError(f"{place}: subcategories is a list of names")
        guidance = _text(entry, "guidance", place)
        if guidance not in files:
            raise PackError(f"{place}: guidance file {guidance!r} does not exist")
        dimensions.append(
            Dimension(
                _text(entry, "name", place).lower(),
                _text(entry, "title", place),
                tuple(str(name) for name in subcategories),
                guidance,
            )
        )
    names = [dimension.name for dimension in dimensions]
    if len(set(names)) < len(names):
        raise PackError(f"{where}: two dimensions have the same name")
    return tuple(dimensions)


def _templates(table: Mapping[str, Any], files: Mapping[str, str], label: str) -> dict[str, str]:
    where = f"{label}/pack.toml: [templates]"
    entries = table.get("templates")
    if not isinstance(entries, dict):
        raise PackError(f"{where} is missing")
    for name in TEMPLATE_NAMES:
        if _text(entries, name, where) not in files:
            raise PackError(f"{where}: {name} file {entries[name]!r} does not exist")
    return {name: entries[name] for name in TEMPLATE_NAMES}


def _openings(table: Mapping[str, Any], label: str) -> dict[str, str]:
    where = f"{label}/pack.toml: [openings]"
    entries = table.get("openings")
    if not isinstance(entries, dict):
        raise PackError(f"{where} is missing")
    return {name: _text(entries, name, where) for name in OPENING_NAMES}


def _demo_pair(path: str, label: str) -> str:
    name = path.removeprefix("demos/").removesuffix(".jsonl")
    try:
        return str(LanguagePair.parse(name))
    except ConfigError as error:
        raise PackError(f"{label}/{path}: the file's name is no language pair ({error})") from None


def _read_demos(text: str, where: str, dimensions: tuple[Dimension, ...]) -> tuple[Demo, ...]:
    known = {dimension.name for dimension in dimensions}
    demos = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            demos.append(_demo(line, f"{where}:{number}", known))
    for name in known:
        if not any(demo.dimension == name for demo in demos):
            raise PackError(f"{where}: no demonstration for dimension {name!r}")
    return tuple(demos)


def _demo(line: str, where: str, known: set[str]) -> Demo:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise PackError(f"{where}: not JSON ({error})") from None
    if not isinstance(data, dict) or not isinstance(data.get("annotations"), list):
        raise PackError(f"{where}: expected an object with a list of annotations")
    dimension = _text(data, "dimension", where)
    if dimension not in known | {NON_TRANSLATION}:
        raise PackError(f"{where}: dimension {dimension!r} is not in pack.toml")
    source, translation = _text(data, "source", where), _text(data, "translation", where)
    annotations = tuple(
        _demo_annotation(item, f"{where}: annotations[{number}]", (source, translation))
        for number, item in enumerate(data["annotations"])
    )
    for annotation in annotations:
        if annotation.category.dimension != dimension:
            raise PackError(f"{where}: {annotation.category} is not of dimension {dimension!r}")
    return Demo(dimension, source, translation, annotations)


def _demo_annotation(item: object, where: str, texts: tuple[str, str]) -> Annotation:
    if not isinstance(item, dict):
        raise PackError(f"{where}: expected an object")
    span, in_source = _text(item, "error_span", where), item.get("is_source_error")
    parsed = parse_category(item.get("category"), None)
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


def _digest(files: Mapping[str, str]) -> str:
    content = hashlib.sha256()
    for path in sorted(files):
        for part in (path, files[path]):
            data = part.encode()
            content.update(len(data).to_bytes(8, "big") + data)
    return content.hexdigest()


def _compile(pack: Pack, label: str) -> None:
    environment = pack.environment()
    for path in pack.files:
        try:
            environment.get_template(path)
        except jinja2.TemplateSyntaxError as error:
            raise PackError(f"{label}/{path}:{error.lineno}: {error.message}") from None
