"""A bad day of a server: whatever it does, every segment ends scored or unscored with a reason."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from mmad_metric.files.run_file import read_run
from tests.annotator import KNOWN, Annotator
from tests.cli.conftest import Mmad
from tests.loopback import LoopbackServer
from tests.loopback_replies import (
    Answer,
    ReceivedCall,
    Scripted,
    cut_short,
    dropped,
    malformed,
    rate_limited,
)

QUICK = {"retry-after-ms": "5"}


def troubles() -> list[Answer]:
    return [
        rate_limited(5),
        Scripted(status=500, body=b'{"error": {"message": "oops"}}', headers=QUICK),
        dropped("before"),
        dropped("mid"),
        cut_short(),
        malformed(),
        "I think there are [no] errors {here}.",
        '{"annotations": null}',
        '{"annotations": [{"error_span": "Mau',
        "",
    ]


def moody(good: Annotator, share: float, seed: int) -> Callable[[ReceivedCall], Answer]:
    chance = random.Random(seed)

    def script(call: ReceivedCall) -> Answer:
        return chance.choice(troubles()) if chance.random() < share else good(call)

    return script


def test_with_a_third_of_the_calls_going_wrong_no_segment_is_perfect_by_accident(
    mmad: Mmad, files: Path
):
    rows = 40
    (files / "src.txt").write_text("".join(f"Red house {n}.\n" for n in range(rows)))
    (files / "out.txt").write_text("".join(f"Das rote Maus {n}.\n" for n in range(rows)))
    with LoopbackServer(moody(Annotator(KNOWN), 0.3, seed=1)) as server:
        ran = mmad("-s", "src.txt", "-i", "out.txt", "-l", "en-de", "--base-url", server.url,
                   "--model", "m", "--concurrency", "32", "-o", "run.jsonl")  # fmt: skip
    result = json.loads(ran.out)
    ratings = list(read_run(files / "run.jsonl").ratings())
    assert len(ratings) == rows
    for rating in ratings:
        assert (rating.score == -6.0) or (rating.score is None and rating.reason is not None)
    assert result["n_scored"] + result["n_unscored"] == rows
    assert result["n_scored"] > rows / 2
    assert ran.status == (3 if result["n_unscored"] else 0)
