"""A sweep of five strategies by one to three rounds over a simulated annotator: calls saved.

Run it with `python -m benchmarks.bench_sweep [--rows N] [--systems N] [--alone]`.

No model takes part: a loopback server answers as the simulated annotator of `bench_strategies`
does, over real HTTP. The server counts the calls, and those of stage 1 by segment and dimension.
With --alone each setting is also run by itself with a cache of its own, for comparison.
Needs MMAD_WMT23_DIR (default ../shared/wmt23).
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.bench_strategies import Manners, Simulation, Texts, home_asked, usable
from benchmarks.gold import LP, RATINGS, data_folder
from benchmarks.wmt_gold import GoldSegment, read_gold
from mmad_metric.chat import ChatRequest, Message, ReplySchema
from mmad_metric.cli import main as mmad
from tests.annotator import Item, texts_of
from tests.loopback import LoopbackServer
from tests.loopback_replies import ReceivedCall

GRID = Path(__file__).resolve().parent.parent / "examples" / "strategies.toml"
MANNERS = Manners(inflates=0.5, yields=0.3, discerns=0.5)
_ROLES = {
    "dimension_annotations": "annotate", "consensus_check": "consensus",
    "interrogation": "interrogator", "dimension_verdict": "dimension-judge",
    "final_judgement": "judge",
}  # fmt: skip


class SimulatedServer:
    """A script for the loopback server. asked: calls of stage 1 by texts and dimension."""

    def __init__(self, truth: Mapping[Texts, Sequence[Item]], manners: Manners = MANNERS) -> None:
        self._agents = Simulation(truth, manners, "sweep")
        self.asked: Counter[tuple[Texts, str]] = Counter()

    def __call__(self, call: ReceivedCall) -> str:
        messages = tuple(Message(each["role"], each["content"]) for each in call.messages)
        contents = [message.content for message in messages]
        role = _ROLES.get(call.schema)
        if role is None:
            role = "con" if "against the first annotator" in contents[1] else "pro"
        texts = texts_of(contents)
        if role == "annotate":
            self.asked[texts, home_asked("\n".join(contents[1:]))] += 1
        schema = ReplySchema(call.schema, {}, lambda text, _: text)
        return self._agents(ChatRequest(role, messages, schema, texts))


def rectangle(folder: Path, rows: int, systems: int) -> list[GoldSegment]:
    """Real segments: the first rows that so many systems, the same for all rows, translated each
    in its own way, with ratings that can be told apart; system by system."""
    by_row: dict[int, dict[str, GoldSegment]] = {}
    names: dict[str, None] = {}
    for each in usable(read_gold(folder, LP, RATINGS)):
        if each.system in names or len(names) < systems:
            names[each.system] = None
            by_row.setdefault(each.index, {})[each.system] = each
    whole = [row for row in sorted(by_row) if len(by_row[row]) == systems][:rows]
    return [by_row[row][name] for name in names for row in whole]


def write_inputs(gold: Sequence[GoldSegment], folder: Path) -> list[str]:
    """The segments as files of lines, and the options that name them."""
    by_system: dict[str, list[GoldSegment]] = {}
    for each in gold:
        by_system.setdefault(each.system, []).append(each)
    sources = [each.source for each in next(iter(by_system.values()))]
    (folder / "src.txt").write_text("\n".join([*sources, ""]), encoding="utf-8")
    for name, rows in by_system.items():
        lines = [each.translation for each in rows]
        (folder / f"{name}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    files = [str(folder / f"{name}.txt") for name in by_system]
    return ["-s", str(folder / "src.txt"), "-i", *files, "-l", LP]


def truth_of(gold: Sequence[GoldSegment]) -> dict[Texts, Sequence[Item]]:
    return {(each.source, each.translation): each.items for each in gold}


def _calls_alone(gold: Sequence[GoldSegment], inputs: list[str], folder: Path) -> int:
    """Calls of all settings when each is run by itself, by the server's count."""
    calls = 0
    runs = sorted((folder / "runs").glob("*.jsonl"))
    for number, run in enumerate(runs):
        with run.open(encoding="utf-8") as file:
            config = json.loads(next(file))["config"]
        options = ["--strategy", config["strategy"], "--weights", "wmt"]
        if config["strategy"] != "none":
            options += ["--rounds", str(config["rounds"])]
        with LoopbackServer(SimulatedServer(truth_of(gold)), record=False) as server:
            with redirect_stdout(io.StringIO()):
                mmad([*inputs, *options, "--model", "simulated", "--base-url", server.url, "-q",
                      "--cache", str(folder / f"cache-{number}")])  # fmt: skip
            calls += server.call_count
    return calls


def main() -> None:
    """Run the sweep; print its table and what the server counted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--alone", action="store_true", help="run each setting alone too")
    options = parser.parse_args()
    gold = rectangle(data_folder(), options.rows, options.systems)
    script = SimulatedServer(truth_of(gold))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = write_inputs(gold, folder)
        begun = time.perf_counter()
        with LoopbackServer(script, record=False) as server:
            status = mmad(
                ["sweep", str(GRID), *inputs, "--model", "simulated", "--base-url", server.url,
                 "--cache", str(folder / "cache"), "-o", str(folder / "runs"), "-f", "text"]
            )  # fmt: skip
        print(f"status {status}, {time.perf_counter() - begun:.0f} s, {len(gold)} segments; the "
              f"server counted {server.call_count} calls, {sum(script.asked.values())} of stage 1, "
              f"{max(script.asked.values())} at most for one segment and dimension")  # fmt: skip
        if options.alone:
            print(f"each setting alone: {_calls_alone(gold, inputs, folder)} calls")


if __name__ == "__main__":
    main()
