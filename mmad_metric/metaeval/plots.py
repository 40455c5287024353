"""Charts of a meta-evaluation as PNG or SVG; needs matplotlib (extra `report`)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mmad_metric.errors import InputError
from mmad_metric.files.lines import readable
from mmad_metric.metaeval.correlation import both_present, pearson
from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.permutation import Comparison

_INK, _SOFT = "#1f4e79", "#c55a11"
_NOT_FOR_NAMES = re.compile(r"[^\w.+-]+")


def save(figure: Figure, folder: str, name: str, ending: str) -> str:
    """Writes the chart; returns its path. ending: png or svg, the same bytes for the same chart.

    Raises InputError where the folder cannot be made or written to.
    """
    path = os.path.join(folder, f"{_NOT_FOR_NAMES.sub('_', name)}.{ending}")
    try:
        os.makedirs(folder, exist_ok=True)
        with mpl.rc_context({"svg.hashsalt": "mmad", "svg.fonttype": "none"}):
            figure.savefig(path, dpi=150, metadata={"Date": None} if ending == "svg" else None)
    except OSError as error:
        raise InputError(
            f"{readable(path)}: cannot be written: {error.strerror or error}"
        ) from None
    return path


def correlation_scatter(gold: Gold, metric: MetricScores) -> Figure:
    """Human against metric: the systems, each by its name, and all their segments."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    systems, segments = figure.subplots(1, 2)
    systems.scatter(gold.system, metric.system, color=_INK)
    for name, x, y in zip(gold.systems, gold.system, metric.system, strict=True):
        if not np.isnan(y):
            systems.annotate(name, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
    systems.margins(x=0.2)  # room for the names
    r = pearson(gold.system, metric.system)
    systems.set_title(f"systems, Pearson {r:.3f}")
    x, y = both_present(gold.segment, metric.segment)
    if x.size:
        segments.hexbin(x, y, gridsize=40, bins="log", cmap="Blues", mincnt=1)
    segments.set_title(f"segments, Pearson {pearson(x, y):.3f}, n = {x.size}")
    for axes in (systems, segments):
        axes.set_xlabel(f"human score, {gold.lp}")
        axes.set_ylabel(metric.name)
    return figure


def score_distributions(gold: Gold, metrics: Sequence[MetricScores]) -> Figure:
    """Each metric's scores of the rated segments below the human ones, one histogram a side."""
    figure = Figure(figsize=(7, 1.8 * (len(metrics) + 1)), layout="constrained")
    rows = np.atleast_1d(figure.subplots(len(metrics) + 1, 1))
    sides = [("human", gold.segment), *((each.name, each.segment) for each in metrics)]
    for axes, (name, scores) in zip(rows, sides, strict=True):
        kept = scores[~(np.isnan(scores) | np.isnan(gold.segment))]
        axes.hist(kept, bins=60, color=_SOFT if name == "human" else _INK)
        axes.set_yscale("symlog")
        axes.set_ylabel("segments")
        axes.set_title(f"{name}, {gold.lp}" if kept.size else f"{name}: no scores", fontsize=9)
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
    axes.set_xticks(range(size), names, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(size), names, fontsize=8)
    axes.set_title(title, fontsize=9)
    figure.colorbar(image, ax=axes, label="p")
    return figure
