"""Which columns of a data set hold the texts, nested ones included, and what may stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mmad_metric.errors import ConfigError, InputError
from mmad_metric.names import nearest
from mmad_metric.rating import Segment

_TEXT_TYPES = ("string", "large_string", "string_view")


@dataclass(frozen=True, slots=True)
class Column:
    """A column that holds texts. option: the argument that names it; path: the column, and the
    fields to go down where it holds a mapping, as in translation.de."""

    option: str
    name: str
    path: tuple[str, ...]

    def text(self, row: Mapping[str, Any], index: int, missing: str | None = None) -> str:
        """The row's text, as it is; missing: what stands for None. Raises InputError naming the
        row (0-based) and column."""
        value: Any = row
        for part in self.path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None and missing is not None:
            return missing
        if not isinstance(value, str):
            shown = repr(value) if value is None else f"{type(value).__name__} {value!r:.60}"
            raise InputError(f"row {index}, column {self.name!r}: expected a string, not {shown}")
        return str(value)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The columns of sources and translations, and of what is shown beside them, if anything."""

    source: Column
    translation: Column
    reference: Column | None = None
    doc: Column | None = None

    @classmethod
    def of(cls, shape: Mapping[str, Any], source: Any, translation: Any) -> TextColumns:
        """Find the columns in a data set's features, or in a first row. Raises ConfigError,
        InputError naming the columns that there are."""
        if source == translation:
            raise ConfigError(f"source_column and translation_column are both {source!r}")
        return cls(
            find_column(shape, "source_column", source),
            find_column(shape, "translation_column", translation),
        )

    def heads(self) -> list[str]:
        """The data set's own columns that are read."""
        read = [self.source, self.translation, self.reference, self.doc]
        return list(dict.fromkeys(column.path[0] for column in read if column is not None))

    def segments(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Segment]:
        for index, row in enumerate(rows):
            yield self.segment(row, index)

    def segment(self, row: Mapping[str, Any], index: int) -> Segment:
        """Raises InputError for what is no string. A reference may be missing."""
        return Segment(
            self.source.text(row, index),
            self.translation.text(row, index),
            index=index,
            doc=None if self.doc is None else self.doc.text(row, index),
            reference=None
            if self.reference is None
            else self.reference.text(row, index, missing=""),
        )


def find_column(shape: Mapping[str, Any], option: str, name: Any) -> Column:
    """The column called `name`, or the field of a column that holds mappings ("column.field").

    Raises ConfigError when `name` is no text; InputError when there is no such column (with the
    nearest) or it holds no texts.
    """
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{option}: expected a column's name, not {name!r}")
    path = _path(shape, name)
    if path is None:
        known = list(_names(shape))
        columns = f"the columns are {', '.join(known)}" if known else "there are no columns"
        raise InputError(f"{option}: no column {name!r} ({columns}){nearest(name, known)}")
    found: Any = shape
    for part in path:
        found = _fields(found)[part]
    inside = _fields(found)
    if inside:
        example = f"{name}.{next(iter(inside))}"
        raise InputError(
            f"{option}: column {name!r} holds {', '.join(inside)}: name one of them, "
            f"such as {option}={example!r}"
        )
    kind = getattr(found, "dtype", None)  # a first row's own values are looked at row by row
    if kind is not None and kind not in _TEXT_TYPES:
        raise InputError(f"{option}: column {name!r} holds {kind}, expected strings")
    return Column(option, name, path)


def _path(shape: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """The whole name as a column, else its parts between dots, else None. A column's own name
    may hold dots."""
    fields = _fields(shape)
    if name in fields:
        return (name,)
    for field, inner in fields.items():
        if name.startswith(f"{field}."):
            rest = _path(inner, name[len(field) + 1 :])
            if rest is not None:
                return (field, *rest)
    return None


def _fields(shape: Any) -> Mapping[str, Any]:
    """What a mapping, or a feature that stands for one, has inside; {} for anything else."""
    if isinstance(shape, Mapping):
        return shape
    languages = getattr(shape, "languages", None)  # datasets.Translation
    if languages and type(shape).__name__ == "Translation":
        return dict.fromkeys(languages)
    return {}


def _names(shape: Any, prefix: str = "") -> Iterator[str]:
    for name, inner in _fields(shape).items():
        if _fields(inner):
            yield from _names(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def check_free(columns: Iterable[str], wanted: Iterable[str], prefix: str) -> None:
    """Raises ConfigError when a result would overwrite a column."""
    taken = [name for name in wanted if name in set(columns)]
    if taken:
        raise ConfigError(
            f"prefix {prefix!r}: the data set has a column {taken[0]!r} already; give another "
            f"prefix, or drop it before: dataset.remove_columns({taken!r})"
        )
