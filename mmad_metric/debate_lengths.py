"""The calls of one debate by strategy, and how long they are in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Call = tuple[str, int, int]  # role, tokens of the prompt, tokens of the reply


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of the prompts of a debate. sides: a debater's chat up to its opening; frame: of
    a message that brings it something; check, asking, verdict: of those who end the debate;
    replies: by role."""

    sides: Mapping[str, int]
    frame: int
    check: int
    asking: int
    verdict: int
    replies: Mapping[str, int]


def consensus(lengths: Lengths, rounds: int, *, full: bool) -> list[Call]:
    """full: the last of the rounds is a whole one."""
    reply, calls = lengths.replies["pro"], []
    for number in range(1, rounds + 1):
        # Each earlier round left the other's turn and the own answer in the chat.
        history = (2 * number - 1) * reply + number * lengths.frame
        calls.append(("pro", lengths.sides["pro"] + history, reply))
        if number == rounds and not full:
            break
        calls.append(("con", lengths.sides["con"] + history, reply))
        check = lengths.check + 2 * reply
        calls.append(("consensus", check, lengths.replies["consensus"]))
    return calls


def _exchanges(lengths: Lengths, rounds: int, between: int) -> list[Call]:
    """The debaters' turns; between: what a round adds to a chat beside the turns."""
    reply = lengths.replies["pro"]
    return [
        (side, start + (2 * number - 1) * reply + number * lengths.frame + number * between, reply)
        for number in range(1, rounds + 1)
        for side, start in lengths.sides.items()
    ]


def deliberation(lengths: Lengths, rounds: int) -> list[Call]:
    """A judge reads all that was said."""
    read = lengths.verdict + 2 * (rounds + 1) * lengths.replies["pro"]
    judge = ("dimension-judge", read, lengths.replies["dimension-judge"])
    return [*_exchanges(lengths, rounds, 0), judge]


def interactive_review(lengths: Lengths, rounds: int) -> list[Call]:
    """After each round questions to both sides and their answers; who asks decides."""
    reply, asked = lengths.replies["pro"], lengths.replies["interrogator"]
    frame = lengths.frame
    calls = _exchanges(lengths, rounds, frame + asked + reply)
    for number in range(1, rounds + 1):
        heard = lengths.asking + number * (2 * reply + frame)
        heard += (number - 1) * (2 * reply + asked)
        calls.append(("interrogator", heard, asked))
        for side, start in lengths.sides.items():
            said = 2 * number * (reply + frame) + number * (asked + reply)
            calls.append((side, start + said, reply))
    whole = lengths.asking + rounds * (4 * reply + asked + frame)
    return [*calls, ("interrogator", whole, lengths.replies["dimension-judge"])]


def consultancy_review(lengths: Lengths, rounds: int) -> list[Call]:
    """Questions to each side alone, and its answers; who asks decides."""
    reply, asked = lengths.replies["pro"], lengths.replies["interrogator"]
    calls: list[Call] = []
    for number in range(1, rounds + 1):
        history = number * (asked + lengths.frame) + (number - 1) * reply
        for _ in lengths.sides:
            said = lengths.asking + number * (reply + lengths.frame) + (number - 1) * asked
            calls.append(("interrogator", said, asked))
        calls += [(side, start + history, reply) for side, start in lengths.sides.items()]
    read = lengths.verdict + 2 * rounds * (reply + asked) + 2 * reply
    return [*calls, ("interrogator", read, lengths.replies["dimension-judge"])]
