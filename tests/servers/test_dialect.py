"""Requests in a server's dialect, without a server."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mmad_metric.servers.dialect import (
    FORMAT,
    SYSTEM,
    TEMPERATURE,
    TOKENS,
    Dialect,
    encode,
    first_dialect,
    folded,
    probes,
    request_bytes,
    request_fields,
    without,
)
from mmad_metric.servers.endpoint import Endpoint
from tests.asking import a_request

START = Dialect("json_schema", ("max_tokens", "max_completion_tokens"), True, False)


@pytest.mark.parametrize("part", [FORMAT, TEMPERATURE, TOKENS, SYSTEM])
def test_the_same_lesson_learnt_twice_changes_nothing_more(part: str) -> None:
    """Calls in flight are refused for what an earlier one was already refused for."""
    once = without(START, START, part)
    assert once is not None
    assert once != START
    assert without(once, START, part) == once


def test_lessons_only_ever_take_away_and_come_to_an_end() -> None:
    for part, steps in ((FORMAT, 2), (TEMPERATURE, 1), (TOKENS, 2), (SYSTEM, 1)):
        dialect: Dialect | None = START
        count = -1
        while dialect is not None:
            dialect, count = without(dialect, dialect, part), count + 1
        assert count == steps


def test_what_is_learnt_about_one_part_keeps_the_others() -> None:
    lower = replace(START, level="text", temperature=False)
    assert without(lower, START, FORMAT) == lower
    assert without(lower, START, TOKENS) == replace(lower, token_names=START.token_names[1:])


def test_nothing_to_leave_out_is_no_lesson() -> None:
    assert without(START, START, "logprobs") is None
    bare = Dialect("text", (), False, True)
    assert [without(bare, bare, part) for part in (FORMAT, TEMPERATURE, TOKENS, SYSTEM)] == [
        None
    ] * 4


@pytest.mark.parametrize("has_system", [True, False])
def test_probes_are_few_and_all_different(has_system: bool) -> None:
    found = probes(START, has_system=has_system)
    assert START not in found
    assert len(set(found)) == len(found) <= 6
    assert any(one.fold_system for one in found) is has_system
    assert probes(Dialect("text", ("max_tokens",), False, False), has_system=False) == ()


def test_a_temperature_left_to_the_server_is_no_adaptation() -> None:
    endpoint = Endpoint("m", temperature=None)
    dialect = first_dialect(endpoint, own_server=True)
    request = a_request()
    assert "temperature" not in request_fields(endpoint, dialect, request.schema, request.room)
    assert dialect.adapted(dialect) == ()


def test_folding_without_a_system_message_changes_nothing() -> None:
    messages = a_request(system="").messages
    assert folded(messages) == list(messages)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("\ud83d", "\ufffd"),
        ("a\ude00b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\ud83d", "\ufffd\ufffd"),
        ('"\\{}\u2028\x00é', '"\\{}\u2028\x00é'),
    ],
)
def test_every_text_can_be_sent(text: str, sent: str) -> None:
    assert json.loads(encode({"content": text})) == {"content": sent}


@pytest.mark.parametrize("fold_system", [False, True])
def test_the_body_is_the_fields_and_the_messages_whatever_was_encoded_before(
    fold_system: bool,
) -> None:
    endpoint = Endpoint("m", extra_body={"top_k": 1})
    dialect = Dialect("json_schema", ("max_tokens",), True, fold_system)
    for system, room in (("be brief", 1), ('be\n"brief" \ud83d', 2), ("be brief", 2)):
        request = replace(a_request(system=system), room=room)
        messages = folded(request.messages) if fold_system else request.messages
        expected = request_fields(endpoint, dialect, request.schema, room)
        expected["messages"] = [
            {"role": each.role, "content": each.content.replace("\ud83d", "\ufffd")}
            for each in messages
        ]
        assert json.loads(request_bytes(endpoint, dialect, request)) == expected
        assert expected["max_tokens"] == endpoint.max_tokens * room
