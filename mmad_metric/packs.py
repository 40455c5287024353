"""Loading and checking a prompt pack: pack.toml, templates, demonstrations.

A broken pack fails here, before the first call, with the file and the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import jinja2
import jinja2.meta

from mmad_metric.errors import PackError
from mmad_metric.labels import OwnLabels
from mmad_metric.languages import LanguagePair, base_language
from mmad_metric.method_space import MMAD
from mmad_metric.mqm import NON_TRANSLATION
from mmad_metric.pack_files import (
    VARIANTS,
    compile_files,
    environment,
    open_pack,
    read_toml,
    template_files,
)
from mmad_metric.pack_parts import (
    ALL_DIMENSIONS,
    COUPLED,
    Demo,
    Dimension,
    digest,
    own_labels,
    read_all_demos,
    required_text,
)

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
# What stands apart, in variants.toml and VARIANTS/: templates that default settings never send.
VARIANT_TEMPLATE_NAMES = (
    "coupled_system",
    "coupled_user",
    "coupled_judge_system",
    "debate_system",
    "answer",
    "consensus_system",
    "interrogator_system",
    "interrogator_user",
    "verdict_system",
    "verdict_user",
)
VARIANT_TOPICS = ("category", "free")
VARIANT_OPENING_NAMES = ("pro", "con", "con_non_translation")
# What the agents are told of material beside a segment, if the pack has words for it.
MATERIAL = "material.j2"
_NO_NAME = "/=,<>"
DEFAULT_PAIR = "en-de"


@dataclass(frozen=True)
class Pack:
    """A loaded pack.

    digest: of every file that can reach a prompt of the default strategy and topic;
    full_digest: of every file but MATERIAL, material_digest: of that, "" where there is none;
    variants: templates for other settings by name, empty where the pack has none;
    variant_openings: by topic; coupled_demos: for all dimensions at once.
    """

    name: str
    version: str
    digest: str
    dimensions: tuple[Dimension, ...]
    templates: Mapping[str, str]
    openings: Mapping[str, str]
    files: Mapping[str, str] = field(repr=False)
    demos: Mapping[str, tuple[Demo, ...]] = field(repr=False)
    full_digest: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)
    variant_openings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    coupled_demos: Mapping[str, tuple[Demo, ...]] = field(default_factory=dict, repr=False)
    material_digest: str = ""

    def identity_with(self, *, variants: bool = False, material: bool = False) -> str:
        """Name, version and content hash, as the signature shows them. variants: for settings
        whose prompts come from the pack's variants; material: for those that show some."""
        content = self.full_digest if variants else self.digest
        if material:
            content = digest({"prompts": content, "material": self.material_digest})
        return f"{self.name}.{self.version}@{content[:12]}"

    @property
    def identity(self) -> str:
        """That of the default settings."""
        return self.identity_with()

    @property
    def own_labels(self) -> OwnLabels:
        """Dimensions with labels beyond the typology; they are read as the pack has them."""
        return own_labels(self.dimensions)

    def openings_on(self, topic: str) -> Mapping[str, str]:
        """What each side says with its opening annotations in a debate on a topic."""
        return self.openings if topic == "severity" else self.variant_openings[topic]

    def environment(self) -> jinja2.Environment:
        """A sandboxed environment over the pack's own files; an undefined name is an error."""
        return environment(self.files)


def load_pack(name_or_folder: str) -> Pack:
    """A shipped pack by name, or a user's pack by folder. Raises PackError."""
    label, files, table = open_pack(name_or_folder, MMAD, TEMPLATE_NAMES)
    dimensions = read_dimensions(table, files, label)
    templates = template_files(table, files, f"{label}/pack.toml", TEMPLATE_NAMES)
    demos = read_all_demos(files, label, dimensions, "demos/")
    if not demos:
        raise PackError(f"{label}: no demonstrations in demos/")
    base = {path: text for path, text in files.items() if not _stands_apart(path)}
    full = {path: text for path, text in files.items() if path != MATERIAL}
    pack = Pack(
        name=required_text(table, "name", label),
        version=required_text(table, "version", label),
        digest=digest(base),
        dimensions=dimensions,
        templates=templates,
        openings=_openings(table, f"{label}/pack.toml", "openings", OPENING_NAMES),
        files={path: text for path, text in files.items() if path.endswith(".j2")},
        demos=demos,
        full_digest=digest(full),
        material_digest=digest({MATERIAL: files[MATERIAL]}) if MATERIAL in files else "",
        **_variants(files, label, dimensions),
    )
    _compile(pack, label)
    return pack


def _is_variant(path: str) -> bool:
    return path == f"{VARIANTS}.toml" or path.startswith(f"{VARIANTS}/")


def _stands_apart(path: str) -> bool:
    """Whether default settings never send it."""
    return path == MATERIAL or _is_variant(path)


def _variants(
    files: Mapping[str, str], label: str, dimensions: tuple[Dimension, ...]
) -> dict[str, Any]:
    """The pack's fields for other settings than the default ones; none without variants.toml."""
    name = f"{VARIANTS}.toml"
    if name not in files:
        return {}
    table = read_toml(files[name], f"{label}/{name}")
    topics = table.get("openings")
    if not isinstance(topics, dict):
        raise PackError(f"{label}/{name}: [openings] is missing")
    demos = read_all_demos(files, label, (*dimensions, ALL_DIMENSIONS), f"{VARIANTS}/demos/")
    if not demos:
        raise PackError(f"{label}: no demonstrations in {VARIANTS}/demos/")
    return {
        "variants": template_files(table, files, f"{label}/{name}", VARIANT_TEMPLATE_NAMES),
        "variant_openings": {
            topic: _openings(topics, f"{label}/{name}: openings", topic, VARIANT_OPENING_NAMES)
            for topic in VARIANT_TOPICS
        },
        "coupled_demos": demos,
    }


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


def read_dimensions(
    table: Mapping[str, Any], files: Mapping[str, str], label: str, *, guided: bool = True
) -> tuple[Dimension, ...]:
    """The pack's dimensions. guided: each has a file with its guidance."""
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
        for each in subcategories:
            if not isinstance(each, str) or not each.strip() or "/" in each:
                raise PackError(f"{place}: subcategory {each!r} is no name without a slash")
        guidance = required_text(entry, "guidance", place) if guided else ""
        if guided and guidance not in files:
            raise PackError(f"{place}: guidance file {guidance!r} does not exist")
        dimensions.append(
            Dimension(
                _dimension_name(entry, place),
                required_text(entry, "title", place),
                tuple(each.strip().lower() for each in subcategories),
                guidance,
            )
        )
    names = [dimension.name for dimension in dimensions]
    if len(set(names)) < len(names):
        raise PackError(f"{where}: two dimensions have the same name")
    return tuple(dimensions)


def _dimension_name(entry: Mapping[str, Any], place: str) -> str:
    name = required_text(entry, "name", place).strip().lower()
    if name in (NON_TRANSLATION, COUPLED):
        raise PackError(f"{place}: {name!r} cannot be the name of a dimension")
    # It stands in labels, in ROLE=MODEL, in lists of agents and in the tags of prompts.
    if not name.isprintable() or any(sign in name for sign in _NO_NAME):
        signs = " ".join(_NO_NAME)
        raise PackError(
            f"{place}: {name!r} cannot be the name of a dimension: it may not hold {signs}"
        )
    return name


def _openings(
    table: Mapping[str, Any], file: str, section: str, names: tuple[str, ...]
) -> dict[str, str]:
    where = f"{file}: [{section}]"
    entries = table.get(section)
    if not isinstance(entries, dict):
        raise PackError(f"{where} is missing")
    return {name: required_text(entries, name, where) for name in names}


def _compile(pack: Pack, label: str) -> None:
    """Compile what default settings send. The short digest leaves out what stands apart: what it
    covers may not take anything from there."""
    base = [path for path in pack.files if not _stands_apart(path)]
    compile_files(pack.files, base, label)
    for path in base:
        _keep_apart(pack, path, label)


def _keep_apart(pack: Pack, path: str, label: str) -> None:
    """Raises PackError for a template that takes anything from another one that stands apart."""
    if f"{VARIANTS}/" in pack.files[path] or MATERIAL in pack.files[path]:
        used = jinja2.meta.find_referenced_templates(pack.environment().parse(pack.files[path]))
        if any(each and _stands_apart(each) for each in used):
            raise PackError(f"{label}/{path}: takes a file from {VARIANTS}/, or {MATERIAL}")


def compile_variants(pack: Pack) -> None:
    """The same for what other settings send, which is not looked at before it is needed."""
    compile_files(pack.files, filter(_is_variant, pack.files), pack.name)


def compile_material(pack: Pack) -> None:
    """The same for what is said of material, which takes nothing either from what its hash leaves
    out."""
    compile_files(pack.files, [MATERIAL], pack.name)
    _keep_apart(pack, MATERIAL, pack.name)
