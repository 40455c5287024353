"""Small made-up language pairs: matrices, and folders in mt-metrics-eval's layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mmad_metric.metaeval.matrices import Gold, MetricScores
from mmad_metric.metaeval.meta_score import LanguagePairScores


def gold_of(segment, lp="en-de", documents=None):
    segment = np.array(segment, dtype=float)
    systems = tuple(f"S{place}" for place in range(len(segment)))
    items = np.arange(segment.shape[1])
    numbers = None if documents is None else np.array(documents)
    return Gold(lp, systems, items, segment, np.nanmean(segment, axis=1), numbers)


def metric_of(segment, name="M"):
    segment = np.array(segment, dtype=float)
    return MetricScores(name, segment, np.nanmean(segment, axis=1))


def noisy_pair(noises, *, systems=6, items=40, lp="en-de", seed=0, missing=0.0):
    """A pair whose metrics are the gold with more or less noise. noises: by metric name."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(-3, 0, systems)[:, None]
    gold = np.round(quality + rng.normal(0, 2, (systems, items)))
    metrics = {}
    for name, noise in noises.items():
        scores = gold + rng.normal(0, noise, gold.shape)
        scores[rng.random(gold.shape) < missing] = np.nan
        metrics[name] = metric_of(scores, name)
    return LanguagePairScores(gold_of(gold, lp, np.arange(items) // 4), metrics)


def write_folder(folder: Path, lp="en-de"):
    """Three systems, a reference and an outlier on four segments of two documents."""
    texts = {
        "sources": [f"source {row}" for row in range(4)],
        "A": [f"alpha {row}" for row in range(4)],
        "B": [f"beta {row}" for row in range(4)],
        "C": [f"gamma {row}" for row in range(4)],
        "refA": [f"reference {row}" for row in range(4)],
        "synthetic_ref": [f"synthetic {row}" for row in range(4)],
    }
    gold = {
        "A": [0, -1, None, -5],
        "B": [-1, -1, None, -6],
        "C": [-5, -2, None, -25],
        "refA": [0, 0, None, 0],
        "synthetic_ref": [-1, 0, None, 0],
    }
    for name in ("sources", "human-scores", "documents", "references", f"system-outputs/{lp}",
                 f"metric-scores/{lp}"):  # fmt: skip
        (folder / name).mkdir(parents=True, exist_ok=True)
    lines(folder / "sources" / f"{lp}.txt", texts["sources"])
    for system in gold:
        lines(folder / "system-outputs" / lp / f"{system}.txt", texts[system])
    for reference in ("refA", "synthetic_ref"):
        lines(folder / "references" / f"{lp}.{reference}.txt", texts[reference])
    lines(folder / "documents" / f"{lp}.docs", ["news\td1", "news\td1", "talk\td1", "talk\td1"])
    seg_score(folder / "human-scores" / f"{lp}.mqm.seg.score", gold)
    means = {"A": -2.0, "B": -8 / 3, "C": -32 / 3, "refA": 0.0, "synthetic_ref": -0.5}
    lines(folder / "human-scores" / f"{lp}.mqm.sys.score",
          [f"{name}\t{score}" for name, score in means.items()])  # fmt: skip
    seg_score(
        folder / "metric-scores" / lp / "Good-refA.seg.score",
        {"A": [1, 0.9, 0.5, 0.5], "B": [0.9, 0.8, 0.5, 0.4], "C": [0.1, 0.2, 0.5, 0.0]},
    )
    return folder


def seg_score(path: Path, scores):
    lines(path, [f"{name}\t{score}" for name, row in scores.items() for score in row])


def lines(path: Path, rows):
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
