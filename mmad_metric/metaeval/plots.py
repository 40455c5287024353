"""Charts of a meta-evaluation as PNG or SVG; needs matplotlib (extra `report`)."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.metaeval.correlation import both_present, pearson
from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.permutation import Comparison

_INK, _SOFT = "#1f4e79", "#c55a11"
_BLUES = ListedColormap(mpl.colormaps["Blues"](np.linspace(0.3, 1, 256)))  # none is white
_NOT_FOR_NAMES = re.compile(r"[^\w.+-]+")
# Names of metrics and systems are written with parse_math=False: two dollars make no formula.
_LONGEST = 150  # bytes of a name in a file's; file systems allow 255 in all


def prepare(folder: str) -> None:
    """Makes the folder. Raises InputError where that, or writing there, is not possible."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"{readable(folder)}: no charts can be written there: {error.strerror or error}"
        ) from None


def file_stems(names: Sequence[str]) -> dict[str, str]:
    """What each metric is called in names of files: no two alike, not even but for capitals."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = _NOT_FOR_NAMES.sub("_", name).encode()[:_LONGEST].decode(errors="ignore")
        stem, number = plain, 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{plain}_{number}"
        taken.add(stem.casefold())
        found[name] = stem
    return found


def save(figure: Figure, folder: str, name: str, ending: str) -> str:
    """Writes the chart, over an older one; returns its path. ending: png or svg, the same bytes for
    the same chart. Letters that the font lacks are boxes in PNG; SVG keeps the text.

    Raises InputError where it cannot be written.
    """
    path = os.path.join(folder, f"{name}.{ending}")
    try:
        with mpl.rc_context({"svg.hashsalt": "mmad", "svg.fonttype": "none"}), _no_glyph_warnings():
            figure.savefig(path, dpi=150, metadata={"Date": None} if ending == "svg" else None)
    except OSError as error:
        raise InputError(
            f"{readable(path)}: cannot be written: {error.strerror or error}"
        ) from None
    return path


@contextmanager
def _no_glyph_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        yield


def correlation_scatter(gold: Gold, metric: MetricScores) -> Figure:
    """Human against metric: the systems, each by its name, and all their segments."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    systems, segments = figure.subplots(1, 2)
    systems.scatter(gold.system, metric.system, color=_INK)
    for name, x, y in zip(gold.systems, gold.system, metric.system, strict=True):
        if not np.isnan(y):
            systems.annotate(
                name,
                (x, y),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=7,
                parse_math=False,
            )
    systems.margins(x=0.2)  # room for the names
    systems.set_title(f"systems, Pearson {_number(pearson(gold.system, metric.system))}")
    x, y = both_present(gold.segment, metric.segment)
    if x.size:
        segments.hexbin(x, y, gridsize=40, bins="log", cmap=_BLUES, mincnt=1)
    segments.set_title(f"segments, Pearson {_number(pearson(x, y))}, n = {x.size}")
    for axes in (systems, segments):
        axes.set_xlabel(f"human score, {gold.lp}")
        axes.set_ylabel(metric.name, parse_math=False)
    return figure


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def score_distributions(gold: Gold, metrics: Sequence[MetricScores]) -> Figure:
    """Each metric's scores of the rated segments below the human ones, one histogram a side."""
    figure = Figure(figsize=(7, 1.8 * (len(metrics) + 1)), layout="constrained")
    rows = np.atleast_1d(figure.subplots(len(metrics) + 1, 1))
    sides = [("human", gold.segment), *((each.name, each.segment) for each in metrics)]
    for axes, (name, scores) in zip(rows, sides, strict=True):
        kept = scores[~(np.isnan(scores) | np.isnan(gold.segment))]
        if kept.size:
            axes.hist(kept, bins=60, color=_SOFT if name == "human" else _INK)
            axes.set_yscale("symlog")
        axes.set_ylabel("segments")
        title = f"{name}, {gold.lp}" if kept.size else f"{name}: no scores"
        axes.set_title(title, fontsize=9, parse_math=False)
    return figure


def significance_matrix(
    names: Sequence[str], comparisons: Mapping[tuple[str, str], Comparison], title: str
) -> Figure:
    """p-values for "the row's metric is better than the column's"; names: best first."""
    size = len(names)
    values = np.full((size, size), np.nan)
    for (first, second), found in comparisons.items():
        values[names.index(first), names.index(second)] = found.p_value
    figure = Figure(figsize=(2.5 + 0.6 * size, 2 + 0.5 * size), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(values, cmap="Blues_r", vmin=0, vmax=0.5)
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        axes.text(column, row, f"{value:.3f}", ha="center", va="center", fontsize=7,
                  color="white" if value < 0.2 else "black",  # noqa: PLR2004 - dark cells
                  fontweight="bold" if value <= 0.05 else "normal")  # fmt: skip # noqa: PLR2004
    axes.set_xticks(range(size), names, rotation=60, ha="right", fontsize=8, parse_math=False)
    axes.set_yticks(range(size), names, fontsize=8, parse_math=False)
    axes.set_title(title, fontsize=9)
    figure.colorbar(image, ax=axes, label="p")
    return figure
