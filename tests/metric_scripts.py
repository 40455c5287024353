"""Scripts of other metrics, for what `evaluate` does with several of them."""

from __future__ import annotations

from pathlib import Path

_SCRIPT = '''
import datasets
import evaluate

class {name}(evaluate.Metric):
    """A metric of two columns of text."""

    def _info(self):
        text = datasets.Value("string")
        features = datasets.Features({{"predictions": text, "references": text}})
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=features
        )

    def _compute(self, predictions, references):
        return {result}
'''


def write_metric(path: Path, result: str) -> str:
    """Write a metric script whose result is a Python expression; returns the path that
    `evaluate.load` takes."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(_SCRIPT.format(name=path.stem.capitalize(), result=result), encoding="utf-8")
    return str(path)
