"""JSON that a model got nearly right, put right only where there is one way to read it.

Two rooms: `mend` rewrites quotation marks, Python's literals, stray backslashes and trailing
commas by itself; `repair` asks json_repair for the rest and then doubts every word of the answer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import json_repair

_MAX_DEPTH = 64
_MAX_REPAIR = 20_000  # characters; json_repair is not linear in them

_QUOTES = "\"'\u201c\u201d\u201e\u2018\u2019"
_CLOSERS = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d\u201c",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
}
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[{}\[\],:])|(?P<quote>[\"'\u201c\u201e\u2018])"
    r"|(?P<word>null|None|true|True|false|False)\b|(?P<number>-?\d+(?:\.\d+)?)(?![\w.]))"
)
_WORDS = {"None": "null", "True": "true", "False": "false"}
_KEY = rf"[{_QUOTES}]\w[\w -]{{0,40}}[{_QUOTES}]\s*:"
# What follows the quotation mark that really ends a value, by where the value stands.
_AFTER_ROOT_VALUE = re.compile(rf"\s*,\s*{_KEY}|\s*,?\s*\}}[ \t]*(?:\n|```|\Z)")
_AFTER_VALUE = re.compile(rf"\s*,\s*{_KEY}|\s*,?\s*\}}\s*(?:,\s*\{{|,?\s*[\]}}]|,\s*{_KEY})")
_AFTER_ELEMENT = re.compile(rf"\s*,\s*[{_QUOTES}{{]|\s*,?\s*\]")
_STRING_MARK = {
    quote: re.compile(rf"\\.|[{closers}]", re.DOTALL) for quote, closers in _CLOSERS.items()
}
# What a string must not hold if its end was guessed: it may have swallowed its neighbours.
_NEIGHBOUR = {
    quote: re.compile(rf"[{closers}]\s*(?::|,\s*[{_QUOTES}])")
    for quote, closers in _CLOSERS.items()
}
_GOES_ON = re.compile(rf"\s*[{_QUOTES}]\s*[,:\]}}]")
_ESCAPE = re.compile(
    r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|.)", re.DOTALL
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "", "/": "/"}


@dataclass(frozen=True, slots=True)
class Mended:
    """Proper JSON for `text[start:end]`."""

    json: str
    end: int


def mend(text: str, start: int, *, guess: bool) -> Mended | None:
    """The JSON value that begins at `start`, in proper JSON; None where it cannot be read.

    Without `guess` a string ends at its first unescaped quotation mark, as in Python. With it,
    a string ends at the first quotation mark that the rest of the object can go on after, so
    that quotation marks inside a quotation stay inside. Nothing is ever executed.
    """
    out: list[str] = []
    opened: list[str] = []
    position = start
    while (token := _TOKEN.match(text, position)) is not None:
        position = token.end()
        if token["quote"]:
            end = _string_end(text, position, token["quote"], _end_rule(opened, out, guess=guess))
            if end is None:
                return None
            body = text[position:end]
            if guess and _NEIGHBOUR[token["quote"]].search(body):
                return None
            out.append(_json_string(body))
            position = end + 1
        elif token["mark"]:
            if not _take_mark(token["mark"], opened, out):
                return None
        else:
            word = token["word"] or token["number"]
            out.append(_WORDS.get(word, word))
        if not opened:
            return None if goes_on(text, position) else Mended("".join(out), position)
    return None


def goes_on(text: str, end: int) -> bool:
    """Whether the text shows that a value did not end there after all."""
    return _GOES_ON.match(text, end) is not None


def _take_mark(mark: str, opened: list[str], out: list[str]) -> bool:
    """Keep the book of brackets; False if they do not fit or are too deep."""
    if mark in "{[":
        opened.append(mark)
    elif mark in "}]":
        if out and out[-1] == ",":
            out.pop()
        if not opened or opened.pop() + mark not in ("{}", "[]"):
            return False
    out.append(mark)
    return len(opened) <= _MAX_DEPTH


def _end_rule(opened: list[str], out: list[str], *, guess: bool) -> re.Pattern[str] | None:
    """What has to follow the end of the string that begins now; None: anything."""
    is_key = bool(opened) and opened[-1] == "{" and out[-1] in ("{", ",")
    if not guess or not opened or is_key:
        return None
    if opened[-1] == "[":
        return _AFTER_ELEMENT
    return _AFTER_ROOT_VALUE if len(opened) == 1 else _AFTER_VALUE


def _string_end(text: str, start: int, quote: str, rule: re.Pattern[str] | None) -> int | None:
    for found in _STRING_MARK[quote].finditer(text, start):
        if found.group()[0] != "\\" and (rule is None or rule.match(text, found.end())):
            return found.start()
    return None


def _json_string(body: str) -> str:
    return json.dumps(_ESCAPE.sub(_unescaped, body))


def _unescaped(match: re.Match[str]) -> str:
    """The character that is meant; a backslash that escapes nothing stays one."""
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    if code in _QUOTES or code == "\\":
        return code
    return _ESCAPED.get(code, match[0])


def repair(raw: str, known_keys: Collection[str]) -> object | None:
    """What json_repair makes of it, or None if it had to make something up.

    Accepted only if the model closed every list itself, and the repaired value has known keys
    alone and exactly the strings that stood in the reply between quotation marks, with nothing
    left over: no half span, no lost item, no invented label. Marks of structure are all that
    may have been put right.
    """
    if len(raw) > _MAX_REPAIR or not _lists_are_closed(raw):
        return None
    try:
        value: object = json_repair.loads(raw, skip_json_loads=True)
        known = has_only_keys(value, known_keys)
        kept = Counter(_inventory(value))
    except Exception:  # noqa: BLE001 - whatever a foreign parser does with garbage, it failed
        return None
    return value if known and kept == Counter(_said(raw)) else None


_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRING_OR_BRACKET = re.compile(rf'{_STRING}|["{{}}\[\]]', re.DOTALL)
_STRING_OR_COMMENT = re.compile(
    rf"(?P<string>{_STRING}|\u201c[^\u201c\u201d]*[\u201c\u201d])|//[^\n]*|/\*.*?\*/|#[^\n]*",
    re.DOTALL,
)
_PIECE = re.compile(r"(?P<opener>[{\[])|[\s}\],:]|(?P<word>[\w.+-]+)|(?P<other>.)")
_SCALARS = re.compile(r"[Tt]rue|[Ff]alse|null|None|-?\d+(?:\.\d+)?")


def _lists_are_closed(raw: str) -> bool:
    """Whether the reply ended in its own time: a list or string left open was cut off."""
    opened: list[str] = []
    for match in _STRING_OR_BRACKET.finditer(raw):
        mark = match.group()
        if mark == '"':
            return False
        if mark in "{[":
            opened.append(mark)
            if len(opened) > _MAX_DEPTH:
                return False
        elif mark in ("}", "]") and (not opened or opened.pop() + mark not in ("{}", "[]")):
            return False
    return "[" not in opened


def has_only_keys(value: object, known_keys: Collection[str]) -> bool:
    """Whether every key is a known one, and every list holds objects alone, however deep."""
    if isinstance(value, dict):
        return all(
            key in known_keys and has_only_keys(inner, known_keys) for key, inner in value.items()
        )
    if isinstance(value, list):
        return all(isinstance(each, dict) and has_only_keys(each, known_keys) for each in value)
    return True


def _inventory(value: object) -> Iterator[str]:
    """What a value is made of, one entry each: strings and keys, objects, lists, scalars."""
    if isinstance(value, str):
        yield f'"{value}'
    elif isinstance(value, dict):
        yield "{"
        for key, inner in value.items():
            yield f'"{key}'
            yield from _inventory(inner)
    elif isinstance(value, list):
        yield "["
        for inner in value:
            yield from _inventory(inner)
    else:
        yield "scalar"


def _said(raw: str) -> Iterator[str]:
    """The same for broken JSON; what is no part of JSON is named as itself, so fits nothing."""
    for token in _STRING_OR_COMMENT.finditer(raw):
        if token["string"]:
            yield '"' + json.loads(_json_string(token["string"][1:-1]))
    for piece in _PIECE.finditer(_STRING_OR_COMMENT.sub(" ", raw)):
        word = piece["word"]
        if word:
            yield "scalar" if _SCALARS.fullmatch(word) else word
        elif piece["opener"] or piece["other"]:
            yield piece.group()
