"""What docs/evaluate.md shows runs as it stands, offline, with a server of our own."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import evaluate
import pytest

from mmad_metric.metric_options import PRESETS
from mmad_metric.registration import register
from tests.annotator import Annotator, by_words
from tests.loopback import LoopbackServer
from tests.metric_scripts import write_metric

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "evaluate.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(SUITE,) = (block for block in BLOCKS if "class Suite" in block)


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    """A folder to run in, the metric registered, and a server that $OPENAI_BASE_URL names."""
    monkeypatch.chdir(tmp_path)
    register()
    # Stands for the metric that the page combines with: a script in the current folder comes first.
    write_metric(tmp_path / "chrf" / "chrf.py", '{"score": 90.0, "char_order": 6}')
    (tmp_path / "suite.py").write_text(SUITE)
    with LoopbackServer(Annotator(by_words({"Abend": ("accuracy/mistranslation", "major")}))) as up:
        monkeypatch.setenv("OPENAI_BASE_URL", up.url)
        yield up


@pytest.mark.filterwarnings("ignore:references are not used")
@pytest.mark.parametrize("number", [n for n, block in enumerate(BLOCKS) if block != SUITE])
def test_every_block_runs(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "block.py").write_text(BLOCKS[number])
    runpy.run_path(str(tmp_path / "block.py"))
    assert capsys.readouterr().out.strip()


def by_rote(texts: list[str], **options: Any) -> list[dict[str, str]]:
    known = {"Good morning.": "Guten Abend.", "Thank you.": "Danke."}
    return [{"translation_text": known[text]} for text in texts]


def test_the_suite_runs_and_gives_the_metric_its_sources(tmp_path: Path) -> None:
    suite = evaluate.EvaluationSuite.load(str(tmp_path / "suite.py"))
    (result,) = suite.run(by_rote)
    assert (result["scores"], result["score"]) == ([-5.0, 0.0], -2.5)
    assert result["total_time_in_seconds"] >= 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_model_of_transformers_is_evaluated(tmp_path: Path) -> None:
    """A tiny random one: what it writes means nothing, that it is rated is the point."""
    transformers = pytest.importorskip("transformers")
    shown = runpy.run_path(str(tmp_path / "suite.py"))
    model = transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=384, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2,
            decoder_start_token_id=0,
        )
    )  # fmt: skip
    translate = shown["translator"](transformers.ByT5Tokenizer(), model)
    (result,) = shown["Suite"]("tiny").run(lambda texts, **kw: translate(texts, **kw, max_length=8))
    assert (result["n_segments"], len(result["scores"])) == (2, 2)


def test_the_page_lists_every_preset() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", PAGE.split("stands for")[1], re.MULTILINE)
    listed = dict(rows[: len(PRESETS)])
    assert list(listed) == list(PRESETS)
    for name, options in PRESETS.items():
        for option, value in options.items():
            assert f"{option}={value!r}".replace("'", '"') in listed[name]
