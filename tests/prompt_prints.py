"""Prints of all that the shipped packs can send: a changed byte shows in them.

`python -m tests.prompt_prints` writes tests/golden/prompts.json anew, for a change on purpose.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from itertools import product
from pathlib import Path
from unittest.mock import patch

from mmad_metric.cli.prompts import run_prompts
from mmad_metric.config import MMADConfig
from mmad_metric.method_space import STRATEGIES, TOPICS
from mmad_metric.packs import load_pack

GOLDEN = Path(__file__).resolve().parent / "golden" / "prompts.json"
PACKS = ("mmad", "brief")


def prints() -> dict[str, str]:
    """A hash of what is sent without any material, and the pack's identity, by settings."""
    found = {}
    loaded = {name: load_pack(name) for name in PACKS}  # once, which is most of the time
    for pack, topic, stages in product(PACKS, TOPICS, ((), (1,))):
        for strategy in STRATEGIES if topic == "severity" else ("consensus", "interactive-review"):
            name = " ".join([pack, strategy, topic, *(f"without {n}" for n in stages)])
            shown = io.StringIO()
            arguments = ["show", "--prompts", pack, "--strategy", strategy, "--topic", topic]
            with (
                contextlib.redirect_stdout(shown),
                patch("mmad_metric.cli.prompts.load_pack", loaded.get),
            ):
                run_prompts([*arguments, *(f"--skip-stage={n}" for n in stages)])
            config = MMADConfig.of(
                "en-de", prompts=pack, strategy=strategy, topic=topic, skip_stages=list(stages)
            )
            print_ = hashlib.sha256(shown.getvalue().encode()).hexdigest()[:16]
            identity = loaded[pack].identity_with(variants=config.uses_variants())
            found[name] = f"{print_} {identity}"
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(prints(), indent=1) + "\n", encoding="utf-8")
