"""Chat completions as bytes: text, usage, or why not."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from mmad_metric.chat import Usage
from mmad_metric.errors import Reason
from mmad_metric.servers.completions import (
    Completion,
    PromptWatch,
    read_completion,
    read_usage,
    shortcoming,
)
from mmad_metric.servers.refusals import Problem


def read(message: Any, finish: Any = "stop", **fields: Any) -> Completion | Problem:
    choice = {"message": message, "finish_reason": finish}
    return read_completion(json.dumps({"choices": [choice], **fields}).encode())


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{}", "{}"),
        (None, ""),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "a"},
                {"type": "text", "text": "b"},
                3,
            ],
            "ab",
        ),
        (7, ""),
    ],
)
def test_content_is_the_answers_text_alone(content: Any, text: str) -> None:
    found = read({"content": content})
    assert isinstance(found, Completion)
    assert found.text == text


@pytest.mark.parametrize(
    ("message", "finish", "reason"),
    [
        ({"content": "{}"}, "stop", None),
        ({"content": "{}"}, None, None),
        ({"content": "{}", "refusal": ""}, "tool_calls", None),
        ({"content": "{}"}, "length", Reason.CUT_SHORT),
        ({"content": ""}, "length", Reason.CUT_SHORT),
        ({"content": "\n", "reasoning_content": "hm"}, "length", Reason.CUT_SHORT),
        ({"content": "\n \n"}, "length", Reason.EMPTY_REPLY),
        ({"content": " "}, "stop", Reason.EMPTY_REPLY),
        ({"content": None, "reasoning": "{}"}, "stop", Reason.EMPTY_REPLY),
        ({"content": None, "refusal": "no"}, "stop", Reason.REFUSAL),
        ({"content": "{}"}, "content_filter", Reason.CONTENT_FILTER),
        (None, "stop", Reason.EMPTY_REPLY),
    ],
)
def test_what_makes_a_reply_unusable(message: Any, finish: Any, reason: Reason | None) -> None:
    found = read(message, finish)
    assert isinstance(found, Completion)
    fault = shortcoming(found)
    assert (fault and fault[0]) == reason


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 502),
        (b"<html></html>", 502),
        (b"\xff\xfe", 502),
        (b"[" * 100_000, 502),
        (b"null", 502),
        (b'{"choices": null}', 502),
        (b'{"choices": [null]}', 502),
        (b'{"error": {"code": 429, "message": "slow down"}}', 429),
        (b'{"error": "overloaded"}', 502),
        (b'{"choices": [{"error": {"code": 503, "message": "upstream"}}]}', 503),
        (b'{"choices": [{"message": {"content": "ha"}, "finish_reason": "error"}]}', 502),
    ],
)
def test_a_200_that_is_no_completion_is_a_problem(raw: bytes, status: int) -> None:
    found = read_completion(raw)
    assert isinstance(found, Problem)
    assert found.status == status
    assert found.text


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            Usage(1, 9, 4, 2),
        ),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(1, 9, 0, 0)),
        ({"prompt_tokens": "9", "completion_tokens": -2}, Usage(1)),
        ({"prompt_tokens": 9.0, "completion_tokens": float("nan")}, Usage(1, 9)),
        ({"prompt_tokens": True}, Usage(1)),
        (None, Usage(1)),
        ([], Usage(1)),
        ("many", Usage(1)),
    ],
)
def test_usage_is_zero_where_the_server_says_nothing_sensible(usage: Any, expected: Usage) -> None:
    assert read_usage(usage) == expected


@pytest.mark.parametrize(
    ("seen", "warnings"),
    [
        ([(20_000, 1024)] * 5, 1),
        ([(6_000, 4096), (9_000, 4096), (12_000, 4096), (12_000, 4096)], 1),
        ([(9_000, 4096)] * 5, 0),
        ([(6_000, 1500), (9_000, 2300), (7_000, 1500)], 0),
        ([(20_000, 0)] * 5, 0),
        ([(300, 5)] * 5, 0),
    ],
)
def test_cut_prompts_are_noticed_once(
    seen: list[tuple[int, int]], warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    """E9: far too few tokens, or the same count for different prompts."""
    watch = PromptWatch()
    with caplog.at_level(logging.WARNING):
        for letters, tokens in seen:
            watch.see(letters, tokens)
    assert len(caplog.records) == warnings
