"""A baseline's prompt pack: pack.toml, templates and demonstrations, checked as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jinja2

from mmad_metric.errors import PackError
from mmad_metric.labels import OwnLabels
from mmad_metric.method_space import EAPROMPT, GEMBA_DA, GEMBA_MQM
from mmad_metric.pack_files import compile_files, environment, open_pack, template_files
from mmad_metric.pack_parts import (
    ALL_DIMENSIONS,
    Demo,
    Dimension,
    digest,
    own_labels,
    read_all_demos,
    required_text,
)
from mmad_metric.packs import read_dimensions

_ANNOTATE = ("annotate_system", "annotate_user")
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    GEMBA_MQM: _ANNOTATE,
    EAPROMPT: (*_ANNOTATE, "count_user"),
    GEMBA_DA: ("score_system", "score_user"),
}
_DEMOS = "demos/"


@dataclass(frozen=True)
class BaselinePack:
    """A loaded pack of one method.

    dimensions: the typology, empty where no errors are asked for; templates: files by the names
    of TEMPLATES; demos: by language pair, in the order of pack.toml; digest: of every file.
    """

    method: str
    name: str
    version: str
    digest: str
    dimensions: tuple[Dimension, ...]
    templates: Mapping[str, str]
    files: Mapping[str, str] = field(repr=False)
    demos: Mapping[str, tuple[Demo, ...]] = field(repr=False)

    @property
    def identity(self) -> str:
        """Name, version and content hash, as the signature shows them."""
        return f"{self.name}.{self.version}@{self.digest[:12]}"

    @property
    def own_labels(self) -> OwnLabels:
        """Dimensions with labels beyond the typology; they are read as the pack has them."""
        return own_labels(self.dimensions)

    def environment(self) -> jinja2.Environment:
        return environment(self.files)


def load_baseline_pack(name_or_folder: str, method: str) -> BaselinePack:
    """A shipped pack by name, or a user's by folder. Raises ConfigError, PackError."""
    label, files, table = open_pack(name_or_folder, method, TEMPLATES[method])
    where = f"{label}/pack.toml"
    templates = template_files(table, files, where, TEMPLATES[method])
    dimensions: tuple[Dimension, ...] = ()
    demos: dict[str, tuple[Demo, ...]] = {}
    if method == GEMBA_DA:
        _refuse_errors(table, files, label)
    else:
        dimensions = read_dimensions(table, files, label, guided=False)
        demos = _demos(table, files, label, dimensions)
    sources = {path: text for path, text in files.items() if path.endswith(".j2")}
    compile_files(sources, sources, label)
    return BaselinePack(
        method=method,
        name=required_text(table, "name", label),
        version=required_text(table, "version", label),
        digest=digest(files),
        dimensions=dimensions,
        templates=templates,
        files=sources,
        demos=demos,
    )


def _refuse_errors(table: Mapping[str, Any], files: Mapping[str, str], label: str) -> None:
    """What speaks of errors would be left unused."""
    for key in ("dimensions", "demos"):
        if key in table:
            raise PackError(f"{label}/pack.toml: method {GEMBA_DA} asks for no errors: no {key}")
    for path in files:
        if path.startswith(_DEMOS):
            raise PackError(f"{label}/{path}: method {GEMBA_DA} shows no demonstrations")


def _demos(
    table: Mapping[str, Any],
    files: Mapping[str, str],
    label: str,
    dimensions: tuple[Dimension, ...],
) -> dict[str, tuple[Demo, ...]]:
    """In the order that pack.toml tells; a file that it does not name is a mistake."""
    found = read_all_demos(files, label, (*dimensions, ALL_DIMENSIONS), _DEMOS)
    where = f"{label}/pack.toml: demos"
    order = table.get("demos")
    if not isinstance(order, list) or not order:
        raise PackError(f"{where} is a list of language pairs, each a file in {_DEMOS}")
    for pair in order:
        if pair not in found:
            raise PackError(f"{where}: there is no {_DEMOS}{pair}.jsonl")
        if order.count(pair) > 1:
            raise PackError(f"{where}: {pair} is named twice")
    for pair in found:
        if pair not in order:
            raise PackError(f"{where}: {_DEMOS}{pair}.jsonl is not named")
    return {pair: found[pair] for pair in order}
