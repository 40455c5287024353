"""One process of several that train together: `RANK=0 python rank_run.py WELL REFUSING OUT`.

WELL, REFUSING: base URLs of a server that answers and of one that refuses the run. Writes what
this rank saw to OUT/rank-N.json.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from mmad_metric.errors import MMADError
from mmad_metric.integrations.ranks import from_main, is_main, n_processes

EVALUATED = 3  # on two processes of two rows each, the fourth is a repeated one


def load_example() -> Any:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
    example: Any = importlib.import_module("train_with_mmad")
    example.EVALUATED = example.EVALUATED[:EVALUATED]
    return example


def train(example: Any, url: str, folder: Path, epochs: int) -> dict[str, Any]:
    arguments = ["--model", "m", "--base-url", url, "--sample", "9", "--epochs", str(epochs)]
    trainer = example.build(example.parse(arguments), str(folder))
    trainer.train()
    state = trainer.state
    logs = [entry for entry in state.log_history if "eval_mmad_score" in entry]
    return {
        "figures": [
            {name: value for name, value in entry.items() if "mmad" in name} for entry in logs
        ],
        "best": state.best_model_checkpoint,
        "best_metric": state.best_metric,
        "rated": trainer.compute_metrics.result is not None,
    }


def failure() -> str:
    """What this rank raises when the main one's work fails."""

    def work() -> None:
        raise MMADError(f"rank {os.environ['RANK']} failed")

    try:
        from_main(work)
    except MMADError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main(well: str, refusing: str, out: str) -> None:
    rank, folder = os.environ["RANK"], Path(out)
    example = load_example()
    seen = {
        "main_before": is_main(),
        "well": train(example, well, folder / "well", 2),
        "refused": train(example, refusing, folder / "refused", 1),
        "failure": failure(),
        "processes": n_processes(),
        "main": is_main(),
    }
    (folder / f"rank-{rank}.json").write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
