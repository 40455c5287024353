"""Gold experiment: agents that answer with the human errors give the human scores.

Run it with `python -m benchmarks.gold [--rows N] [--list]`.

Rates the rated segments of all 13 systems of WMT23 en-de through the command line, all three
stages, against a loopback server that answers from the human ratings, under --weights wmt;
compares each segment's score with the published gold and lists every kind of difference.
Needs MMAD_WMT23_DIR (default ../shared/wmt23).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.wmt_gold import GoldSegment, read_gold
from mmad_metric.cli import main as mmad
from mmad_metric.files.run_file import read_run
from mmad_metric.merging import merge
from mmad_metric.rating import SegmentRating
from mmad_metric.scoring import SCHEMES
from tests.annotator import Annotator, Item
from tests.loopback import LoopbackServer

LP, RATINGS = "en-de", "en-de.mqm.merged.seg.rating"
TOLERANCE = 1e-9


def data_folder() -> Path:
    return Path(os.environ.get("MMAD_WMT23_DIR", "../shared/wmt23"))


def rate_gold(gold: Sequence[GoldSegment], folder: Path) -> list[SegmentRating]:
    """Rate the segments through the command line; the server answers from their ratings.

    A run a system, each with a server of its own: where two systems gave the same translation,
    people rated it twice, and seldom alike. The results come in the order of `gold`.
    """
    by_system: dict[str, list[GoldSegment]] = {}
    for each in gold:
        by_system.setdefault(each.system, []).append(each)
    ratings: list[SegmentRating] = []
    for system, rows in by_system.items():
        _write(folder / f"{system}.jsonl", rows)
        ratings += _rate_system(system, rows, folder)
    return ratings


def _rate_system(system: str, rows: Sequence[GoldSegment], folder: Path) -> list[SegmentRating]:
    table: dict[tuple[str, str], Sequence[Item]] = {}
    for each in rows:
        table.setdefault((each.source, each.translation), each.items)
    run = folder / f"{system}.run.jsonl"
    with LoopbackServer(
        Annotator(lambda *pair: table[pair], con_yields=True), record=False
    ) as server:
        status = mmad(
            ["-i", str(folder / f"{system}.jsonl"), "-l", LP, "--base-url", server.url,
             "--model", "gold", "--weights", "wmt", "--concurrency", "64", "-b", "-q",
             "-o", str(run), "--cache", str(folder / f"{system}.cache")]
        )  # fmt: skip
    if status != 0:
        raise SystemExit(f"{system}: the run ended with status {status}")
    return list(read_run(run).ratings())


def _write(path: Path, rows: Sequence[GoldSegment]) -> None:
    """JSON Lines: one output file begins with a byte-order mark that the human offsets count,
    and that a reader of plain lines drops."""
    with path.open("w", encoding="utf-8") as out:
        for each in rows:
            out.write(json.dumps({"source": each.source, "translation": each.translation}) + "\n")


def kind_of_difference(gold: GoldSegment, rating: SegmentRating, rated_first: bool) -> str:
    """Why a segment's score is not the gold score, in a few words; "agrees" where it is."""
    if rating.score is None:
        return f"unscored: {rating.reason}"
    if gold.score is not None and abs(rating.score - gold.score) < TOLERANCE:
        return "agrees"
    if not rated_first:
        return "the same pair stands in an earlier row and was rated otherwise there"
    scheme = SCHEMES["wmt"]
    merged = scheme.segment_score(merge(gold.errors))
    if abs(merged - rating.score) < TOLERANCE:
        return "errors on one and the same span: the judge's rule keeps the most severe"
    return "words that occur earlier too: several errors land on one span and merge"


def compare(
    gold: Sequence[GoldSegment], ratings: Sequence[SegmentRating]
) -> list[tuple[GoldSegment, SegmentRating, str]]:
    """Each segment with its kind of difference."""
    first: dict[tuple[str, str, str], GoldSegment] = {}
    rows = []
    for each, rating in zip(gold, ratings, strict=True):
        if (rating.segment.system, rating.segment.translation) != (each.system, each.translation):
            raise ValueError(f"{each.system} {each.index} is not where it should be")
        owner = first.setdefault((each.system, each.source, each.translation), each)
        kind = kind_of_difference(each, rating, owner.items == each.items)
        rows.append((each, rating, kind))
    return rows


def main() -> None:
    """Run the experiment; print what agrees and every kind of what does not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, help="the first N rated rows of each system only")
    parser.add_argument("--list", action="store_true", help="list every segment that differs")
    options = parser.parse_args()
    gold = list(read_gold(data_folder(), LP, RATINGS))
    if options.rows is not None:
        rows = sorted({each.index for each in gold})[: options.rows]
        gold = [each for each in gold if each.index in set(rows)]
    direct = sum(
        abs(SCHEMES["wmt"].segment_score(each.errors) - (each.score or 0.0)) < TOLERANCE
        for each in gold
    )
    print(f"straight from the ratings: {direct} of {len(gold)} equal the gold score")
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        rows_compared = compare(gold, rate_gold(gold, Path(folder)))
    kinds = Counter(kind for _, _, kind in rows_compared)
    print(f"through all three stages: {kinds['agrees']} of {len(gold)} equal the gold score "
          f"({time.perf_counter() - begun:.0f} s)")  # fmt: skip
    for kind, count in kinds.most_common():
        if kind != "agrees":
            print(f"{count:6d}  {kind}")
    if options.list:
        for each, rating, kind in rows_compared:
            if kind != "agrees":
                print(f"{each.system}\t{each.index}\t{each.score}\t{rating.score}\t{kind}")


if __name__ == "__main__":
    main()
