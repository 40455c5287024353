"""Speed of what is done with each reply and segment: reading, placing, writing.

Run it with `python -m benchmarks.bench_text`.
"""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mmad_metric.chat import UnreadableReply
from mmad_metric.files.run_file import RunWriter
from mmad_metric.mqm import Annotation, Category, Severity
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.replies.shapes import dimension_annotations
from mmad_metric.spans import place

LONG = "Der Mieter darf die Wohnung nicht ohne Grund kündigen. " * 364  # 20,020 characters
TEXTS = ("The red house is old.", "Das rote Maus ist alt.")
ITEM = {
    "error_span": "Maus",
    "category": "accuracy/mistranslation",
    "severity": "major",
    "is_source_error": False,
}


def timed(name: str, work: Callable[[], object], times: int) -> None:
    """Print the CPU time of one of `times` runs."""
    begun = time.process_time()
    for _ in range(times):
        work()
    print(f"{name}: {(time.process_time() - begun) / times * 1e6:.0f} µs of CPU")


def main() -> None:
    """Print a line a task."""
    schema = dimension_annotations("accuracy")
    clean = json.dumps({"annotations": [ITEM] * 3})
    timed("read a clean reply with three annotations", lambda: schema.read(clean, TEXTS), 5000)
    for name, junk in (
        ("200,000 opening braces", "{" * 200_000),
        ("200,000 quotation marks", '"' * 200_000),
        ("an answer broken 10,000 times", '{"annotations": x} ' * 10_000),
    ):
        timed(f"refuse {name}", lambda junk=junk: _refuse(schema.read, junk), 3)  # type: ignore[misc]
    absent = [
        Annotation(f"steht nicht da {n}", Category("accuracy", "omission"), Severity.MINOR)
        for n in range(30)
    ]
    # A number in front, since what is worked out about a text is remembered for a while.
    new = itertools.count()
    timed(
        "look for 30 absent spans in 20,000 characters",
        lambda: place(absent, f"{next(new)} {LONG}", f"{next(new)} {LONG}"),
        5,
    )
    found = [Annotation("Maus", Category("accuracy", "mistranslation"), Severity.MAJOR)]
    timed(
        "place a span in a sentence",
        lambda: place(found, TEXTS[0], f"{next(new)} {TEXTS[1]}"),
        5000,
    )
    rating = SegmentRating(Segment(*TEXTS), Status.SCORED, -5.0, place(found, *TEXTS))
    with tempfile.TemporaryDirectory() as folder, RunWriter(Path(folder) / "run.jsonl") as writer:
        timed("write a line of a run file", lambda: writer.write_rating(rating), 5000)


def _refuse(read: Callable[[str, tuple[str, str]], object], junk: str) -> None:
    try:
        read(junk, TEXTS)
    except UnreadableReply:
        return
    raise AssertionError("junk was read")


if __name__ == "__main__":
    main()
