"""The page as a file: rendered piece by piece, so that memory does not grow with the run."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import IO, Any

import jinja2

from mmad_metric.addresses import without_secrets
from mmad_metric.errors import RunStopped
from mmad_metric.files.lines import readable
from mmad_metric.filtering import has_histories
from mmad_metric.layouts import DEFAULT_WIDTH, number
from mmad_metric.rating import Segment
from mmad_metric.report.cards import card_of
from mmad_metric.report.overview import (
    dimensions,
    heading,
    notes,
    scale_of,
    score_hint,
    settings,
    severities,
    system_lines,
)
from mmad_metric.report.runs import open_runs
from mmad_metric.report.survey import (
    Choice,
    RowKey,
    Selection,
    Survey,
    rows_of,
    select,
    survey,
)
from mmad_metric.report.target import GENERATOR
from mmad_metric.report.text import Html, shown
from mmad_metric.version import __version__

_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a report. shown: rows on the page, of so many rated ones; selection: which."""

    shown: int
    rated: int
    selection: Selection


def write_report(paths: Sequence[str], target: str, choice: Choice) -> Written:
    """Writes the runs at these paths as one page, which appears whole or not at all.

    Raises InputError, ConfigError for runs that cannot be shown (see `open_runs`, `survey`),
    RunStopped where the disk fails.
    """
    found = survey(open_runs(paths), choice)
    selection = select(found, choice)
    target = os.path.realpath(target)  # a link stays one
    part = f"{target}.part"
    try:
        with tempfile.TemporaryFile() as spool, open(part, "wb") as out:
            out.writelines(map(_encoded, _pieces(found, selection, choice, _Spool(spool))))
        os.replace(part, target)
    except OSError as error:
        reason = error.strerror or error
        raise RunStopped(f"{readable(target)}: cannot be written: {reason}") from error
    finally:
        if os.path.isfile(part):
            os.unlink(part)
    return Written(len(selection.keys), len(found.rows), selection)


def _encoded(piece: str) -> bytes:
    """A lone surrogate cannot be written; browsers read such a reference as U+FFFD."""
    return piece.encode("utf-8", "xmlcharrefreplace")


@dataclass
class _Spool:
    """Rendered cards of rows, put away until their row is written: runs go system by system, the
    page goes row by row."""

    file: IO[bytes]
    places: dict[RowKey, list[tuple[int, int, int]]] = field(default_factory=dict)

    def put(self, key: RowKey, place: int, card: str) -> None:
        data = _encoded(card)
        self.places.setdefault(key, []).append((place, self.file.tell(), len(data)))
        self.file.write(data)

    def take(self, key: RowKey) -> Iterator[Html]:
        """The row's cards, in the order of the systems."""
        for _, start, length in sorted(self.places[key]):
            self.file.seek(start)
            yield Html(self.file.read(length).decode("utf-8"))


def _pieces(found: Survey, selection: Selection, choice: Choice, spool: _Spool) -> Iterator[str]:
    page = _environment()
    heads = _put_cards(page, found, selection, choice, spool)
    yield from page.get_template("head.html.j2").generate(
        **_overview(found, selection, choice), **_guarded()
    )
    row = page.get_template("row.html.j2")
    for order, key in enumerate(selection.keys, 1):
        ratings = found.rows[key]
        yield row.render(
            number=order,
            head=heads[key],
            alone=_is_alone(found, key),
            lp=found.systems[ratings[0].place].run.lp,
            cards=spool.take(key),
        )
    yield page.get_template("tail.html.j2").render(
        n_rows=len(selection.keys),
        version=__version__,
        has_errors=scale_of(found).has_errors,
        script=_guarded()["script"],
    )


def _is_alone(found: Survey, key: RowKey) -> bool:
    """Whether a row has one rating, beside which its source can stand."""
    return sum(each.repeats for each in found.rows[key]) == 1


def _put_cards(
    page: jinja2.Environment, found: Survey, selection: Selection, choice: Choice, spool: _Spool
) -> dict[RowKey, Segment]:
    """Renders the chosen rows' ratings in the order of the files; returns what stands above each
    row."""
    template = page.get_template("card.html.j2")
    wanted = set(selection.keys)
    heads: dict[RowKey, Segment] = {}
    for run in found.runs:
        for place, row in rows_of(run, found.systems, choice.errors):
            segment = row.given.segment
            key = (segment.index, segment.source)
            if key not in wanted or place not in {each.place for each in found.rows[key]}:
                continue
            heads.setdefault(key, segment)
            alone, label = _is_alone(found, key), found.systems[place].label
            card = template.render(
                card=card_of(place, row, alone=alone),
                alone=alone,
                label=label,
                lp=run.lp,
                has_histories=has_histories(run.method),
            )
            spool.put(key, place, card)
    return heads


def _overview(found: Survey, selection: Selection, choice: Choice) -> dict[str, Any]:
    return {
        "names": ", ".join(run.name for run in found.runs),
        "pairs": list(dict.fromkeys(run.lp for run in found.runs)),
        "notes": notes(found, selection, choice),
        "lines": system_lines(found),
        "dimensions": dimensions(found),
        "severities": severities(found),
        "kind": heading(found.runs),
        "hint": score_hint(found.runs),
        "has_errors": scale_of(found).has_errors,
        "has_histories": any(has_histories(run.method) for run in found.runs),
        "filtered": not choice.errors.keeps_all,
        "runs": found.runs,
        "generator": f"{GENERATOR} {__version__}",
    }


def _guarded() -> dict[str, Any]:
    """Style and script, and the policy under which these two alone are obeyed."""
    style, script = _resource("style.css"), _resource("script.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return {"style": Html(style), "script": Html(script), "policy": Html(policy)}


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _resource(name: str) -> str:
    return (files("mmad_metric.report") / "page" / name).read_text(encoding="utf-8")


def _environment() -> jinja2.Environment:
    page = jinja2.Environment(
        loader=jinja2.FunctionLoader(_resource),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters |= {
        "shown": shown,
        "points": _points,
        "dollars": _dollars,
        "words": lambda text: text.replace("_", " "),
        "public": without_secrets,
        "settings": settings,
    }
    return page


def _points(score: float | None) -> str:
    """A score for people."""
    return "none" if score is None else number(score, DEFAULT_WIDTH).replace("-", _MINUS)


def _dollars(cost: float | None) -> str:
    return "not known" if cost is None else f"${cost:.4f}"
