"""The Space's app: paste a source and its translation, see the errors in the text.

`python app.py` serves it on this machine alone, at http://127.0.0.1:7860; a Space tells it
otherwise by the environment. It needs gradio.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

# Before the package is published, the Space brings it along.
sys.path[:0] = [str(wheel) for wheel in Path(__file__).parent.glob("mmad_metric-*.whl")]
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

try:
    import gradio as gr
except ImportError:
    sys.exit('this app needs gradio: pip install "gradio>=6.31"')

from mmad_metric.hub.page import STYLE
from mmad_metric.hub.visit import MOST_ROUNDS, MOST_ROWS, PACKS, WEIGHTS, Wanted, visit

ABOUT = """\
# MMAD: machine translation rated by debate

A language model looks for MQM errors in four dimensions (accuracy, fluency, terminology, style),
debates the severe ones and judges. No reference is needed. A segment takes 4 to 33 calls to the
server that you name, which may cost you money. Your texts go to that server; neither they nor
your key are kept here.
"""
SOURCE = "The museum stays open until nine on Thursdays."
TRANSLATION = "Das Museum hat donnerstags bis neun geschlossen."
FILES = ("source_file", "translation_file")
FIELDS = (
    *("sources", "translations", *FILES, "lp", "model", "base_url", "key"),
    *("rounds", "prompts", "weights", "rows"),
)
# No font of somebody else's server: the page needs no network beyond its own app.
FONT = ["system-ui", "sans-serif"]
CODE_FONT = ["ui-monospace", "monospace"]
CSS = STYLE + ".gradio-container { max-width: 1100px !important; margin: 0 auto; }"
UPLOADS = 5 * 2**20  # bytes a file may have
VISITORS = 4  # rated at a time; others wait


async def rate(*values: Any) -> AsyncIterator[str]:
    """States of the result for what the form holds, in the order of FIELDS."""
    given = dict(zip(FIELDS, values, strict=True))
    # An emptied field may come as None, a number as a float.
    given |= {name: given[name] or "" for name in FIELDS if name not in FILES}
    given |= {name: int(given[name] or 0) for name in ("rounds", "rows")}
    # Stopped or left, the visit ends here and now, with its calls.
    async with aclosing(visit(Wanted(**given))) as states:
        async for html in states:
            yield html


def build() -> Any:
    """The page, as a gradio app that can be launched."""
    # Uploads are looked for every ten minutes and removed when they are an hour old.
    with gr.Blocks(title="MMAD", analytics_enabled=False, delete_cache=(600, 3600)) as blocks:
        gr.Markdown(ABOUT)
        with gr.Row():
            with gr.Column(scale=3):
                texts = _texts()
            with gr.Column(scale=2):
                settings = _settings()
        with gr.Row():
            start = gr.Button("Rate", variant="primary", elem_id="rate")
            stop = gr.Button("Stop", elem_id="stop")
        result = gr.HTML(elem_id="result")
        running = start.click(
            rate,
            [*texts, *settings],
            result,
            api_visibility="private",
            show_progress="minimal",
            concurrency_limit=VISITORS,
        )
        stop.click(None, cancels=[running], api_visibility="private")
    blocks.queue(api_open=False, max_size=50)
    return blocks


def _texts() -> list[Any]:
    with gr.Tab("Text"):
        fields = [
            gr.Textbox(value, label=f"{label}, one segment a line", lines=5, max_lines=15,
                       max_length=100_000, elem_id=label.lower())
            for label, value in (("Source", SOURCE), ("Translation", TRANSLATION))
        ]  # fmt: skip
    with gr.Tab("Files"):
        gr.Markdown(
            "Translations as lines (with a file of sources), `.tsv` (source, translation) or "
            "`.jsonl`. A file goes before the text."
        )
        fields += [
            gr.File(label=label, file_types=[".txt", ".tsv", ".jsonl"], elem_id=name, height=160)
            for label, name in (
                ("Sources, if they are in a file of their own", "source-file"),
                ("Translations", "translation-file"),
            )
        ]
    return fields


def _settings() -> list[Any]:
    private = gr.InputHTMLAttributes(autocomplete="off", spellcheck=False)
    fields = [
        gr.Textbox("en-de", label="Language pair", elem_id="lp"),
        gr.Textbox("gpt-4o-mini", label="Model", elem_id="model"),
        gr.Textbox(label="Base URL", info="of an OpenAI-compatible server; empty: OpenAI",
                   elem_id="base-url"),
        gr.Textbox(label="Key", type="password", info="sent to that server and not kept",
                   elem_id="key", html_attributes=private),
    ]  # fmt: skip
    with gr.Accordion("More", open=False):
        fields += [
            gr.Slider(1, MOST_ROUNDS, MOST_ROUNDS, step=1, label="Rounds of debate at most"),
            gr.Dropdown(list(PACKS), value=PACKS[0], label="Prompts"),
            gr.Dropdown(list(WEIGHTS), value=WEIGHTS[0], label="Weights"),
            gr.Slider(1, MOST_ROWS, 50, step=1, label="Segments at most (a fixed sample)"),
        ]
    return fields


def launch() -> None:
    """Serve the page; returns when it is stopped."""
    theme = gr.themes.Default(font=FONT, font_mono=CODE_FONT)
    build().launch(
        theme=theme,
        css=CSS,
        share=False,
        # Off: it is there to keep what was typed in the browser's storage, and a key was typed.
        run_history=False,
        footer_links=["gradio"],
        ssr_mode=False,
        mcp_server=False,
        pwa=False,
        enable_monitoring=False,
        max_file_size=UPLOADS,
    )


if __name__ == "__main__":
    launch()
