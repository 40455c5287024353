"""Charts of metrics with awkward names and without scores."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mmad_metric.errors import InputError
from mmad_metric.metaeval import plots
from mmad_metric.metaeval.matrices import MetricScores
from mmad_metric.metaeval.permutation import Comparison
from tests.metaeval.tiny import gold_of, metric_of, noisy_pair

NAMES = {
    "dollars": "a$b$c",
    "broken formula": "$\\frac{$",
    "underscore": "a_b",
    "angle brackets": "<b>&",
    "Chinese": "质量",
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_are_drawn_as_they_are(tmp_path: Path, kind: str):
    name = NAMES[kind]
    pair = noisy_pair({name: 1.0}, items=8)
    metric = pair.metrics[name]
    figures = {
        "scatter": plots.correlation_scatter(pair.gold, metric),
        "distributions": plots.score_distributions(pair.gold, [metric]),
        "matrix": plots.significance_matrix(
            [name, "b"], {(name, "b"): Comparison(name, "b", 0.1, 0.01)}, "p"
        ),
    }
    for chart, figure in figures.items():
        path = plots.save(figure, str(tmp_path), chart, "svg")
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", Path(path).read_text("utf-8"))
        plain = [each.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
                 for each in texts]  # fmt: skip
        assert any(name in each for each in plain), chart
        plots.save(figure, str(tmp_path), chart, "png")


def test_a_metric_without_scores_has_an_empty_chart(tmp_path: Path):
    gold = gold_of([[0, -1], [-2, -5]])
    nothing = MetricScores("nothing", np.full((2, 2), np.nan), np.full(2, np.nan))
    one = metric_of([[0.5, 0.5], [0.5, 0.5]], "one")
    for metric in (nothing, one):
        path = plots.save(plots.correlation_scatter(gold, metric), str(tmp_path), "s", "svg")
        assert "systems, Pearson -" in Path(path).read_text("utf-8")
    path = plots.save(plots.score_distributions(gold, [nothing, one]), str(tmp_path), "d", "svg")
    assert "nothing: no scores" in Path(path).read_text("utf-8")


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_chart_is_the_same_bytes_written_over_the_old_one(tmp_path: Path, ending: str):
    pair = noisy_pair({"M": 1.0}, items=20)
    written = []
    for _ in range(2):
        figure = plots.correlation_scatter(pair.gold, pair.metrics["M"])
        path = plots.save(figure, str(tmp_path), "chart", ending)
        written.append(Path(path).read_bytes())
    assert written[0] == written[1]
    assert [each.name for each in tmp_path.iterdir()] == [f"chart.{ending}"]


def test_no_two_metrics_share_a_file():
    found = plots.file_stems(["a/b", "a b", "A_B", "a_b_2", "c" * 400, "质" * 400])
    assert len({stem.casefold() for stem in found.values()}) == 6
    assert found["a/b"] == "a_b"
    assert max(len(stem.encode()) for stem in found.values()) <= 150


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_drawn(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="file/charts: no charts can be written there"):
        plots.prepare(str(tmp_path / "file" / "charts"))
    plots.prepare(str(tmp_path / "new" / "folder"))
    assert list((tmp_path / "new" / "folder").iterdir()) == []
