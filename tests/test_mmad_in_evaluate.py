from __future__ import annotations

import asyncio
import doctest
import importlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluate
import evaluate.config
import numpy as np
import pytest

from mmad_metric import mmad
from mmad_metric.errors import ConfigError, InputError, RunStopped
from mmad_metric.mmad import Mmad
from mmad_metric.registration import register
from tests.annotator import NOTHING
from tests.loopback import LoopbackServer
from tests.loopback_replies import Answer, ReceivedCall, unauthorized

pytestmark = pytest.mark.slow


def in_threads(works: list[Callable[[], Any]]) -> list[Any]:
    """What each piece of work returned, or the exception it raised."""
    results: list[Any] = [None] * len(works)

    def run(number: int) -> None:
        try:
            results[number] = works[number]()
        except Exception as error:  # noqa: BLE001 - handed to the test
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


# -- where it runs


def test_it_computes_twice_inside_a_running_loop_and_in_threads(server: LoopbackServer) -> None:
    def fresh() -> Mmad:
        return Mmad(lp="en-de", base_url=server.url, use_cache=False)

    def work(number: int, metric: Mmad) -> list[float]:
        scores: list[float] = metric.compute(
            predictions=["Ja."] * number, sources=[f"Yes {i}." for i in range(number)]
        )["scores"]
        return scores

    one = fresh()

    async def notebook() -> list[float]:
        return work(1, one)

    assert work(2, one) == [0.0, 0.0]
    assert asyncio.run(notebook()) == [0.0]
    assert asyncio.run(notebook()) == [0.0]
    np.random.seed(1)  # noqa: NPY002 - the old global state is what evaluate moves
    expected = [float(number) for number in np.random.rand(3)]  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    own = in_threads([lambda n=n: work(n, fresh()) for n in (1, 2, 3)])  # type: ignore[misc]
    shared = in_threads([lambda n=n: work(n, one) for n in (1, 2, 3)])  # type: ignore[misc]
    assert own == shared == [[0.0], [0.0, 0.0], [0.0, 0.0, 0.0]]
    # Training in another thread keeps its random numbers.
    assert [float(number) for number in np.random.rand(3)] == expected  # noqa: NPY002


def ranks(server: LoopbackServer, folder: Path, **options: Any) -> list[Mmad]:
    shared: dict[str, Any] = {
        "num_process": 2,
        "cache_dir": str(folder),
        "timeout": 20,
        "base_url": server.url,
    }
    return [Mmad(lp="en-de", process_id=rank, **shared, **options) for rank in range(2)]


def test_rank_0_rates_what_all_ranks_have_and_the_others_get_none(
    server: LoopbackServer, tmp_path: Path
) -> None:
    first, second = ranks(server, tmp_path, config_name="../org/Model:7b")
    assert first.data_dir == second.data_dir
    assert Path(first.data_dir).parent == tmp_path / "mmad"  # the name is no path
    for _ in range(2):
        result, nothing = in_threads(
            [
                lambda: first.compute(predictions=["Ja."], sources=["Yes."]),
                lambda: second.compute(predictions=["Nein.", "Gut."], sources=["No.", "Good."]),
            ]
        )
        assert nothing is None
        assert result["scores"] == [0.0, 0.0, 0.0]
    assert server.call_count == 12  # four agents for three segments, paid once


def test_ranks_can_add_and_may_have_nothing_to_add(server: LoopbackServer, tmp_path: Path) -> None:
    first, second = ranks(server, tmp_path)

    def main() -> Any:
        first.add(prediction="Ja.", source="Yes.", reference="Ja!")
        first.add_batch(predictions=["Nein."], sources=["No."])
        assert len(first) == 2
        with pytest.warns(UserWarning, match="references are not used"):
            return first.compute()

    result, nothing = in_threads([main, lambda: second.compute(predictions=[], sources=[])])
    assert nothing is None
    assert result["n_segments"] == 2


def test_ranks_meet_again_after_a_run_that_stopped(tmp_path: Path) -> None:
    broken = True

    def script(call: ReceivedCall) -> Answer:
        return unauthorized() if broken else NOTHING

    with LoopbackServer(script) as server:
        pair = ranks(server, tmp_path)
        works: list[Callable[[], Any]] = [
            lambda: pair[0].compute(predictions=["Ja."], sources=["Yes."]),
            lambda: pair[1].compute(predictions=["Nein."], sources=["No."]),
        ]
        stopped, nothing = in_threads(works)
        assert isinstance(stopped, RunStopped)
        assert nothing is None
        assert list(tmp_path.rglob("*.arrow")) == []
        broken = False

        def late() -> Any:
            # The other rank waits a second for a lock that this one might still hold.
            time.sleep(2)
            return works[0]()

        result, nothing = in_threads([late, works[1]])
    assert nothing is None
    assert result["n_segments"] == 2


def test_a_rank_refuses_bad_input_by_itself(server: LoopbackServer, tmp_path: Path) -> None:
    second = ranks(server, tmp_path)[1]
    with pytest.raises(InputError, match=r"predictions\[1\]: expected a string, not None"):
        second.compute(predictions=["a", None], sources=["a", "b"])
    with pytest.raises(InputError, match=r"predictions\[1\]: not valid Unicode"):
        second.compute(predictions=["a", "\ud83d"], sources=["a", "b"])
    with pytest.raises(ConfigError, match="did you mean 'rounds'"):
        second.compute(predictions=["a"], sources=["b"], round=2)
    with pytest.raises(InputError, match="nothing to rate"):
        second.compute()


def test_a_single_process_writes_no_file_and_needs_no_folder(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = tmp_path / "a_file"
    wall.write_text("")
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", wall / "metrics")
    metric = Mmad(lp="en-de", base_url=server.url)
    metric.download_and_prepare()
    assert metric.compute(predictions=["Ja."], sources=["Yes."])["scores"] == [0.0]
    assert list(tmp_path.iterdir()) == [wall]


def test_ranks_fall_back_to_a_temporary_folder_and_say_so(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall, substitute = tmp_path / "a_file", tmp_path / "temporary"
    wall.write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(substitute))
    with pytest.warns(UserWarning, match=r"a_file.* is not writable: .*Give cache_dir"):
        first, second = ranks(server, wall)
    assert first.data_dir == second.data_dir
    assert Path(first.data_dir).is_relative_to(substitute)
    (own,) = substitute.iterdir()
    assert own.stat().st_mode & 0o777 == 0o700
    result, _ = in_threads(
        [
            lambda: first.compute(predictions=["Ja."], sources=["Yes."]),
            lambda: second.compute(predictions=["Nein."], sources=["No."]),
        ]
    )
    assert result["scores"] == [0.0, 0.0]
    monkeypatch.setattr("tempfile.tempdir", str(wall))
    with pytest.raises(InputError, match="is not writable: give cache_dir"):
        ranks(server, wall)


# -- as evaluate loads it


def test_evaluate_reads_the_imports_of_the_script_as_python_does() -> None:
    imports = evaluate.loading.get_imports(mmad.__file__)
    assert {kind for kind, *_ in imports} == {"library"}
    for _, name, hint, _ in imports:
        assert hint == name  # no comment on an import line, which pip would be told to install
        importlib.import_module(name)
    assert {"evaluate", "datasets", "mmad_metric"} <= {name for _, name, *_ in imports}
    # A copy stands elsewhere, and keeps a second set of whatever a module keeps.
    source = Path(mmad.__file__).read_text(encoding="utf-8")
    assert "__file__" not in source
    assert "global " not in source
    # evaluate takes the first metric class that it finds in the script.
    assert [
        each
        for each in vars(mmad).values()
        if isinstance(each, type) and issubclass(each, evaluate.EvaluationModule)
    ] == [Mmad]


def test_it_loads_by_path_from_any_folder(
    server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    metric = evaluate.load(mmad.__file__, "some/model", lp="en-de", base_url=server.url)
    assert type(metric) is not Mmad  # a copy of the file
    assert (metric.name, metric.module_type) == ("mmad", "metric")
    assert metric.compute(predictions=["Ja."], sources=["Yes."])["scores"] == [0.0]
    assert server.calls[0].body["model"] == "some/model"
    with pytest.raises(ConfigError, match="did you mean 'rounds'"):
        evaluate.load(mmad.__file__, round=2)


def test_it_combines_with_itself_and_takes_sources_there(server: LoopbackServer) -> None:
    one = Mmad(lp="en-de", base_url=server.url)
    two = Mmad(lp="en-fr", base_url=server.url)
    both = evaluate.combine({"de": one, "fr": two})
    both.add(prediction="Ja.", reference=None, sources="Yes.")
    both.add_batch(predictions=["Ja."], references=None, sources=["Yes."])
    result = both.compute(predictions=["Ja."], sources=["Yes."])
    assert result["de_scores"] == result["fr_scores"] == [0.0, 0.0, 0.0]


def test_the_example_of_the_card_runs(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    register()
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    text = Mmad().inputs_description
    example = doctest.DocTestParser().get_doctest(text, {}, "card", None, 0)
    assert len(example.examples) == 4
    told: list[str] = []
    outcome = doctest.DocTestRunner().run(example, out=told.append)
    assert outcome.failed == 0, "".join(told)


BARE_NAME = """
import asyncio, json, sys
import evaluate

async def notebook():
    return metric.compute(predictions=["Ja."], sources=["Yes."])["scores"]

metric = evaluate.load("mmad", lp="en-de", base_url=sys.argv[1], use_cache=False)
print("ready", flush=True)
sys.stdin.readline()
results = [metric.compute(predictions=["Ja."] * 5, sources=["Yes."] * 5) for _ in range(3)]
by_path = evaluate.load(sys.argv[2], lp="en-de", base_url=sys.argv[1])
print(json.dumps([
    [result["scores"] for result in results], asyncio.run(notebook()),
    type(metric).__module__, type(by_path).__module__.split(".")[0],
]))
"""

UNWRITABLE = """
import sys
from mmad_metric.mmad import Mmad
metric = Mmad(lp="en-de", base_url=sys.argv[1])
print(metric.compute(predictions=["Ja."], sources=["Yes."])["scores"])
"""


def test_two_processes_at_once_load_it_by_name_offline_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder = tmp_path / "home", tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", home / "modules")
    register()
    environment = {**os.environ, "HF_HOME": str(home)}
    environment.pop("HF_MODULES_CACHE", None)
    with LoopbackServer(NOTHING, latency=0.05) as server:
        command = [sys.executable, "-c", BARE_NAME, server.url, mmad.__file__]
        processes = [
            subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
        told = [process.communicate("go\n") for process in processes]
    expected = [[[0.0] * 5] * 3, [0.0], "mmad_metric.mmad", "evaluate_modules"]
    for output, errors in told:
        assert output, errors
        assert json.loads(output) == expected
        assert "never retrieved" not in errors
        assert "Event loop is closed" not in errors
    assert not (home / "metrics").exists()


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="needs a place that not even root can write")
def test_a_home_that_cannot_be_written_does_not_matter(
    server: LoopbackServer, tmp_path: Path
) -> None:
    environment = {**os.environ, "HF_HOME": "/sys/x"}
    environment.pop("HF_MODULES_CACHE", None)
    done = subprocess.run(
        [sys.executable, "-c", UNWRITABLE, server.url],
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stdout == "[0.0]\n", done.stderr
