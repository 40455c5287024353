"""Errors as servers word them, and what each one means."""

from __future__ import annotations

from typing import Any

import pytest

from mmad_metric.servers.refusals import Kind, read_problem, understand


def oai(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **fields}}


PARTS = [
    (
        400,
        oai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
        ),
        "max_tokens",
    ),
    (
        422,
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "max_completion_tokens"],
                    "msg": "Extra inputs are not permitted",
                    "input": 5,
                }
            ]
        },
        "max_tokens",
    ),
    (
        400,
        oai("Unsupported value: 'temperature' does not support 0 with this model."),
        "temperature",
    ),
    (400, {"message": "temperature must be strictly positive"}, "temperature"),
    (
        400,
        oai(
            "Invalid schema for response_format 'x': In context=(), 'required' is required",
            param="response_format",
            code="invalid_json_schema",
        ),
        "response_format",
    ),
    (400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}, "response_format"),
    (400, oai("This response_format type is unavailable now"), "response_format"),
    (
        400,
        oai(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of "
            "type 'json_object'.",
            param="messages",
        ),
        "response_format",
    ),
    (400, {"detail": "JSON mode is not supported"}, "response_format"),
    (
        500,
        {"error": {"code": 500, "message": "failed to parse grammar", "type": "server_error"}},
        "response_format",
    ),
    (501, oai("structured output is not implemented"), "response_format"),
    (400, {"object": "error", "message": "System role not supported", "code": 400}, "system"),
    (400, oai("Conversation roles must alternate user/assistant/user/assistant/..."), "system"),
    (
        400,
        oai(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            param="messages[0].role",
            code="unsupported_value",
        ),
        "system",
    ),
    (400, oai("Only user and assistant roles are supported!"), "system"),
]


@pytest.mark.parametrize(("status", "payload", "part"), PARTS)
def test_the_refused_part_is_recognised(status: int, payload: Any, part: str) -> None:
    trouble = understand(read_problem(status, payload))
    assert (trouble.kind, trouble.part) == (Kind.PART, part)


KINDS = [
    (400, oai("filtered", code="content_filter"), Kind.FILTERED),
    (
        400,
        {"error": {"message": "blocked", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        Kind.FILTERED,
    ),
    (400, oai("Content Exists Risk"), Kind.FILTERED),
    (403, oai("Your chosen model requires moderation and your input was flagged"), Kind.FILTERED),
    (
        400,
        oai(
            "'max_tokens' is too large: 4096. This model's maximum context length is 4096 tokens "
            "and your request has 1000 input tokens"
        ),
        Kind.TOO_LONG,
    ),
    (413, "Request Entity Too Large", Kind.TOO_LONG),
    (500, oai("the request exceeds the available context size"), Kind.TOO_LONG),
    (429, oai("You exceeded your current quota"), Kind.OUT_OF_MONEY),
    (429, oai("You exceeded your current quota. Please retry in 31s."), Kind.BUSY),
    (429, oai("no", code="insufficient_quota"), Kind.OUT_OF_MONEY),
    (429, oai("no", type="insufficient_quota", code="limit"), Kind.OUT_OF_MONEY),
    (402, None, Kind.OUT_OF_MONEY),
    (400, oai("Your credit balance is too low to access the API"), Kind.OUT_OF_MONEY),
    (429, oai("Request too large for m on tokens per min (TPM): Limit 30000"), Kind.BUSY),
    (401, oai("Incorrect API key"), Kind.NO_ENTRY),
    (403, "<html><title>Forbidden</title></html>", Kind.NO_ENTRY),
    (404, {"detail": "Not Found"}, Kind.NOT_FOUND),
    (405, None, Kind.NOT_FOUND),
    (307, None, Kind.NOT_FOUND),
    (400, oai("no such model", code="model_not_found"), Kind.NOT_FOUND),
    (400, oai("max_tokens: must be <= 8192", param="max_tokens"), Kind.VALUE),
    (400, oai("Bad Request"), Kind.VAGUE),
    (400, None, Kind.VAGUE),
    (422, [], Kind.VAGUE),
    (400, oai("Cannot read: the temperature fell", param="messages[1]"), Kind.BAD),
    (400, oai("x" * 700 + " temperature is not supported"), Kind.VAGUE),
    (400, oai("wrong", param="messages[3].content"), Kind.BAD),
    (415, None, Kind.BAD),
    (500, oai("The server had an error"), Kind.BROKEN),
    (529, oai("overloaded"), Kind.BROKEN),
    (408, None, Kind.BROKEN),
]


@pytest.mark.parametrize(("status", "payload", "kind"), KINDS)
def test_every_error_has_one_kind(status: int, payload: Any, kind: Kind) -> None:
    assert understand(read_problem(status, payload)).kind is kind


def test_when_to_retry_means_a_limit_and_no_used_up_quota() -> None:
    payload = oai("You exceeded your current quota")
    assert understand(read_problem(429, payload, try_later=True)).kind is Kind.BUSY


@pytest.mark.parametrize(
    "payload",
    [
        oai("Unrecognized request argument supplied: top_k"),
        oai("no", param="top_k"),
        {"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs are not permitted"}]},
        {
            "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'top_k'), "
            "'msg': 'Extra inputs are not permitted'}]"
        },
    ],
)
def test_a_field_of_the_users_own_is_named(payload: Any) -> None:
    trouble = understand(read_problem(400, payload), ("seed", "top_k"))
    assert (trouble.kind, trouble.part) == (Kind.EXTRA, "top_k")


@pytest.mark.parametrize(
    "payload",
    [
        None,
        5,
        [],
        [1],
        "",
        {},
        {"error": None},
        {"error": []},
        {"error": {"message": None}},
        {"error": {"message": {"detail": [None, {"loc": None, "msg": 3}]}}},
        {"detail": [[]]},
        {"code": 7, "param": 3, "message": ["a"]},
        {"message": {}},
    ],
)
def test_any_payload_is_some_problem(payload: Any) -> None:
    assert isinstance(understand(read_problem(400, payload)).kind, Kind)


def test_what_a_validator_echoes_is_not_read() -> None:
    """The user's own text about temperature must not cost the temperature."""
    payload = {
        "detail": [
            {
                "loc": ["body", "messages", 1],
                "msg": "Field required",
                "input": "The temperature is not supported",
            }
        ]
    }
    trouble = understand(read_problem(422, payload))
    assert (trouble.kind, trouble.text) == (Kind.BAD, "messages.1: Field required")
