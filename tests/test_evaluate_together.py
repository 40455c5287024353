"""The metric with the rest of `evaluate`: combined, saved, pickled, in suites, on ranks."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import datasets
import evaluate
import evaluate.config
import filelock
import pytest
from evaluate.evaluator.utils import DatasetColumn

from mmad_metric import mmad
from mmad_metric.config import MMADConfig
from mmad_metric.errors import ConfigError, InputError
from mmad_metric.metric_options import PRESETS
from mmad_metric.mmad import Mmad
from mmad_metric.rating import Segment
from mmad_metric.registration import modules_cache, register
from tests.annotator import NOTHING
from tests.loopback import LoopbackServer
from tests.metric_scripts import write_metric

pytestmark = pytest.mark.slow

TEXTS: dict[str, Any] = {"predictions": ["Ja.", "Nein."], "sources": ["Yes.", "No."]}


@pytest.fixture
def metric(server: LoopbackServer) -> Mmad:
    return Mmad(lp="en-de", base_url=server.url)


# -- evaluate.combine and evaluate.save


@pytest.fixture
def exact(tmp_path: Path) -> str:
    """The share of predictions that are their reference, as a metric of somebody else's."""
    equal = "sum(map(str.__eq__, predictions, references)) / len(predictions)"
    return write_metric(tmp_path / "exact.py", f'{{"score": {equal}}}')


def test_it_combines_with_a_metric_of_references_alone(metric: Mmad, exact: str) -> None:
    both = evaluate.combine([metric, evaluate.load(exact, keep_in_memory=True)])
    # What a module does not take is left out of what is added, but not of what is computed.
    both.add_batch(**TEXTS, references=["Ja.", "Doch."])
    both.add(prediction="Gut.", reference="Gut.", sources="Good.")
    with pytest.warns(UserWarning, match="references are not used"):
        result = both.compute()
    assert result["mmad_score"] == 0.0
    assert result["exact_score"] == pytest.approx(2 / 3)
    assert (result["scores"], result["n_segments"]) == ([0.0] * 3, 3)


def test_combined_under_names_of_ones_own(server: LoopbackServer, exact: str) -> None:
    judges = {name: Mmad(lp="en-de", model=name, base_url=server.url) for name in ("a", "b")}
    result = evaluate.combine(judges, force_prefix=True).compute(**TEXTS)
    assert {result["a_score"], result["b_score"]} == {0.0}
    assert "model:a|" in result["a_signature"]
    assert "model:b|" in result["b_signature"]


def test_its_result_is_saved_as_it_is(metric: Mmad, tmp_path: Path) -> None:
    result = metric.compute(**TEXTS, return_debates=True)
    path = evaluate.save(tmp_path / "results" / "run.json", **result, system="mine")
    saved = json.loads(Path(path).read_text())
    assert {name: saved[name] for name in result} == result
    assert saved["system"] == "mine"


# -- presets


def test_a_preset_sets_what_it_says_and_an_option_is_stronger(server: LoopbackServer) -> None:
    def shown(*name: str, **options: Any) -> list[str]:
        loaded = Mmad(*name, lp="en-de", base_url=server.url, **options)
        signature: str = loaded.compute(**TEXTS)["signature"]
        return signature.split("|")

    assert "strategy:none" in shown("no-debate")
    assert "weights:wmt" in shown("wmt")
    small = shown("small-model")
    assert small[3].startswith("prompts:brief.")
    assert {"rounds:1", "max_tokens:256"} < set(small)
    assert "rounds:2" in shown("small-model", rounds=2)
    assert "model:own" in shown("wmt", model="own")
    assert shown("default") == shown()
    assert {call.body["model"] for call in server.calls} == {"gpt-4o-mini", "own"}


def test_presets_are_settings_that_go_together() -> None:
    for options in PRESETS.values():
        MMADConfig.of("en-de", **options)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("no_debate", "no-debate"), ("WMT", "wmt"), ("smal-model", "small-model")],
)
def test_a_misspelt_preset_is_no_model(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'. For a model of that name"):
        Mmad(name)
    assert Mmad(name, model=name).config_name == name


@pytest.mark.parametrize("name", [5, "", " "])
def test_a_config_name_is_a_name(name: Any) -> None:
    with pytest.raises(ConfigError, match="expected a preset or a model's name"):
        Mmad(name)


# -- how it is found


def test_neither_its_folder_nor_an_installation_is_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    register(undo=True)
    for name in (str(Path(mmad.__file__).parent), "mmad"):
        with pytest.raises(FileNotFoundError):
            evaluate.load(name)


@pytest.mark.parametrize("name", ["Mmad", "MMAD"])
def test_the_class_gives_the_metric_its_name(name: str, metric: Mmad) -> None:
    assert type(name, (Mmad,), {})(lp="en-de").name == metric.name == "mmad"


@pytest.mark.parametrize("status", [401, 404])
def test_it_is_found_where_the_hub_has_none(
    status: int, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_HEAD  # noqa: N815 - the base class's name

        def log_message(self, *arguments: Any) -> None:
            """Nothing on stderr."""

    monkeypatch.chdir(tmp_path)
    register()
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as hub:
        thread = Thread(target=hub.serve_forever)
        thread.start()
        address = (
            f"http://127.0.0.1:{hub.server_port}/spaces/{{path}}/resolve/{{revision}}/{{name}}"
        )
        monkeypatch.setattr(evaluate.config, "HUB_EVALUATE_URL", address)
        monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", False)
        monkeypatch.setattr(evaluate.config, "HF_UPDATE_DOWNLOAD_COUNTS", False)
        try:
            metric = evaluate.load("mmad", lp="en-de", base_url=server.url)
        finally:
            hub.shutdown()
            thread.join()
    assert asked[0].startswith("/spaces/evaluate-metric/mmad/")
    assert type(metric) is Mmad  # the installed class, not a copy
    assert metric.compute(**TEXTS)["scores"] == [0.0, 0.0]


def test_it_is_found_where_the_network_refuses_at_once(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    register()
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/{{path}}/{{revision}}/{{name}}"
        monkeypatch.setattr(evaluate.config, "HUB_EVALUATE_URL", address)
        monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", False)
        monkeypatch.setattr(evaluate.config, "HF_UPDATE_DOWNLOAD_COUNTS", False)
        assert type(evaluate.load("mmad", lp="en-de", base_url=server.url)) is Mmad


def test_a_script_in_the_current_folder_comes_first(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    register()
    (tmp_path / "mmad").mkdir()
    (tmp_path / "mmad" / "mmad.py").write_text(
        "import mmad_metric.mmad\n\nclass Mmad(mmad_metric.mmad.Mmad):\n    mine = True\n"
    )
    assert evaluate.load("mmad", lp="en-de", base_url=server.url).mine


def test_a_lock_that_somebody_holds_does_not_hold_up_what_is_registered(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = register().parent.parent
    with filelock.FileLock(f"{folder}.lock"):
        assert evaluate.load("mmad", lp="en-de", base_url=server.url).name == "mmad"
    assert (modules_cache() / "evaluate_modules").is_dir()


# -- to other processes

UNPICKLE = """
import json, pickle, sys
metric = pickle.load(sys.stdin.buffer)
result = metric.compute(predictions=["Gut."], sources=["Good."])
print(json.dumps([type(metric).__module__, result["n_segments"], result["signature"]]))
"""


@pytest.mark.parametrize("config_name", [None, "some/model", "no-debate", "wmt"])
def test_a_pickled_metric_keeps_its_name_and_settings(config_name: str | None) -> None:
    loaded = Mmad(config_name, lp="en-de", sample=9, experiment_id="mine", keep_in_memory=True)
    back = pickle.loads(pickle.dumps(loaded))  # noqa: S301 - our own bytes
    for name in ("config_name", "_options", "experiment_id", "keep_in_memory", "timeout"):
        assert getattr(back, name) == getattr(loaded, name)


def test_a_loaded_metric_reaches_another_process_with_settings_and_segments(
    server: LoopbackServer, tmp_path: Path
) -> None:
    loaded = evaluate.load(mmad.__file__, "some/model", lp="en-de", base_url=server.url, sample=9)
    loaded.add_batch(**TEXTS)
    done = subprocess.run(
        [sys.executable, "-c", UNPICKLE],
        input=pickle.dumps(loaded),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    result = loaded.compute(predictions=["Gut."], sources=["Good."])
    assert json.loads(done.stdout) == ["mmad_metric.mmad", 3, result["signature"]]


def test_settings_and_segments_travel_by_themselves() -> None:
    for value in (MMADConfig.of("en-de", weights={"major": 5, "minor": 1}), Segment("a", "b")):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


RANK = """
import json, sys
from mmad_metric.mmad import Mmad
rank, url, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
metric = Mmad(lp="en-de", base_url=url, num_process=2, process_id=rank, cache_dir=folder,
              timeout=120)
texts = [f"Satz {rank}.{number}" for number in range(2)]
result = metric.compute(predictions=texts, sources=["Sentence."] * 2)
print(json.dumps(result and [result["n_segments"], result["scores"]]))
"""


def test_of_real_processes_rank_0_alone_calls_and_gets_the_result(tmp_path: Path) -> None:
    """F2. Each rank has a server of its own, so that it is seen who calls."""
    servers = [LoopbackServer(NOTHING) for _ in range(2)]
    for each in servers:
        each.__enter__()
    try:
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", RANK, str(rank), each.url, str(tmp_path / "shared")],
                env={**os.environ, "MMAD_CACHE": str(tmp_path / f"cache-{rank}")},
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for rank, each in enumerate(servers)
        ]
        told = [process.communicate() for process in processes]
    finally:
        for each in servers:
            each.__exit__(None, None, None)
    results = [json.loads(output) if output else errors for output, errors in told]
    assert results == [[4, [0.0] * 4], None]
    assert [each.call_count for each in servers] == [16, 0]  # four agents, four segments


def test_segments_of_ranks_stay_where_they_are(server: LoopbackServer, tmp_path: Path) -> None:
    rank = Mmad(
        lp="en-de", base_url=server.url, num_process=2, process_id=1, cache_dir=str(tmp_path)
    )
    assert pickle.loads(pickle.dumps(rank)).process_id == 1  # noqa: S301 - our own bytes
    rank.writer = object()
    with pytest.raises(InputError, match="num_process"):
        pickle.dumps(rank)
    rank.writer = None


# -- evaluate's evaluators; docs/evaluate.md tells how to use them, tests/test_evaluate_docs.py
# runs that


def test_the_lazy_columns_of_evaluators_are_taken(metric: Mmad) -> None:
    data = datasets.Dataset.from_dict({"text": TEXTS["sources"], "label": TEXTS["predictions"]})
    result = metric.compute(
        sources=DatasetColumn(data, "text"), predictions=DatasetColumn(data, "label")
    )
    assert result["scores"] == [0.0, 0.0]


def test_an_evaluator_without_sources_is_told_what_is_missing(metric: Mmad) -> None:
    """It hands over predictions and references alone; see docs/evaluate.md."""
    with pytest.raises(InputError, match="sources are missing"):
        metric.compute(predictions=["Ja."], references=["Ja."])
