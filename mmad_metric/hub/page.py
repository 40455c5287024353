"""Ratings as a piece of HTML: every text in it is a stranger's, and is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from mmad_metric.mqm import MQMError, Placement, Side
from mmad_metric.rating import SegmentRating
from mmad_metric.results import SystemTotals
from mmad_metric.stretches import Numbered, stretches

STYLE = """
.mmad { line-height: 1.5; }
.mmad-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1rem;
  padding: .75rem 1rem; margin-bottom: .75rem; border-radius: .5rem;
  border: 1px solid var(--border-color-primary, #d4d4d8); }
.mmad-head strong { font-size: 1.75rem; font-variant-numeric: tabular-nums; }
.mmad-note, .mmad-head span, .mmad-text > span { opacity: .8; }
.mmad-segment { padding: .75rem 1rem; margin-bottom: .75rem; border-radius: .5rem;
  border: 1px solid var(--border-color-primary, #d4d4d8); overflow-wrap: anywhere; }
.mmad-segment header { display: flex; justify-content: space-between; font-weight: 600; }
.mmad-text { display: grid; grid-template-columns: 6.5rem 1fr; gap: .5rem; margin: .35rem 0; }
.mmad-text > p { margin: 0; white-space: pre-wrap; }
.mmad mark { color: #18181b; border-radius: .2rem; padding: 0 .1rem; }
.mmad-critical, .mmad-major { background: #fca5a5; border-bottom: 2px solid #b91c1c; }
.mmad-minor { background: #fde68a; border-bottom: 2px dotted #a16207; }
.mmad-neutral { background: #e4e4e7; }
.mmad-errors { margin: .5rem 0 0; padding-left: 1.5rem; list-style: decimal; }
.mmad-errors mark { padding: 0 .35rem; }
.mmad sup { user-select: none; font-size: .7em; }
.mmad-failure { padding: .75rem 1rem; margin-bottom: .75rem; border-radius: .5rem;
  color: #7f1d1d; background: #fef2f2; border: 1px solid #fca5a5; overflow-wrap: anywhere; }
.mmad-bar { height: .4rem; border-radius: .2rem; background: #e4e4e7; margin-bottom: .75rem; }
.mmad-bar > div { height: 100%; border-radius: .2rem; background: #2563eb; }
.mmad-signature { font-size: .85em; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Shown:
    """What a visitor sees. total: rows that are to be rated in all; signature: "" until the
    end; failure: why the run ended early, "" if it did not."""

    totals: Sequence[SystemTotals]
    ratings: Sequence[SegmentRating]
    total: int
    signature: str = ""
    failure: str = ""


def page(shown: Shown) -> str:
    """All of it: failure, progress, totals, segments, signature."""
    parts = []
    if shown.failure:
        parts.append(_failure(shown.failure))
    elif len(shown.ratings) < shown.total:
        parts.append(_progress(len(shown.ratings), shown.total))
    named = len(shown.totals) > 1
    parts += [_totals(each, named=named) for each in shown.totals if each.n_segments]
    parts += [_segment(rating, named=named) for rating in shown.ratings]
    if shown.signature:
        signature = escape(shown.signature)
        parts.append(f'<p class="mmad-signature mmad-note">Signature: <code>{signature}</code></p>')
    return f'<div class="mmad">{"".join(parts)}</div>'


def failure(message: str) -> str:
    """A message where there is nothing else to show."""
    return page(Shown((), (), 0, failure=message))


def marked(text: str, errors: Iterable[Numbered]) -> str:
    """The text as HTML with a `<mark>` for every stretch that the same numbered errors cover.

    A stretch looks as severe as the worst of them; a number follows where its error ends.
    """
    pieces = []
    for each in stretches(text, errors):
        piece = escape(text[each.start : each.end])
        if not piece:  # an error of no length
            continue
        if each.worst is not None:
            title = "; ".join(
                f"{error.severity.value} {error.category}" for _, error in each.covering
            )
            kind = f"mmad-{each.worst.severity.value}"
            piece = f'<mark class="{kind}" title="{escape(title)}">{piece}</mark>'
        ending = ",".join(map(str, each.ending))
        pieces.append(piece + (f"<sup>{ending}</sup>" if ending else ""))
    return "".join(pieces)


def _failure(message: str) -> str:
    return f'<div class="mmad-failure" role="alert">{escape(message)}</div>'


def _progress(done: int, total: int) -> str:
    return (
        f'<p class="mmad-note" role="status">{done} of {total} segments rated</p>'
        f'<div class="mmad-bar"><div style="width: {100 * done // total}%"></div></div>'
    )


def _totals(totals: SystemTotals, *, named: bool) -> str:
    name = f"<span><bdi>{escape(totals.name)}</bdi></span>" if named else ""
    errors = totals.errors
    counts = f"{totals.n_scored} of {totals.n_rated} scored"
    if totals.scale.has_errors:
        counts += (
            f", {errors['n_major']} major, {errors['n_minor']} minor, "
            f"{errors['n_non_translation']} non-translation"
        )
    if totals.n_not_sampled:
        counts += f"; {totals.n_not_sampled} left out of the sample"
    return (
        f'<div class="mmad-head">{name}<strong>{_number(totals.score)}</strong>'
        f"<span>mean score: {totals.scale.reading}</span><span>{counts}</span></div>"
    )


def _segment(rating: SegmentRating, *, named: bool) -> str:
    segment = rating.segment
    numbered = list(enumerate(rating.errors, 1))
    name = f"<bdi>{escape(segment.system)}</bdi> " if named else ""
    texts = [
        _text(label, text, [each for each in numbered if each[1].side is side])
        for label, text, side in (
            ("Source", segment.source, Side.SOURCE),
            ("Translation", segment.translation, Side.TRANSLATION),
        )
    ]
    listed = "".join(f"<li>{_error(error)}</li>" for _, error in numbered)
    if rating.reason is not None:
        detail = f": {rating.detail}" if rating.detail else ""
        verdict = _failure(f"not scored ({rating.reason.value}){detail}")
    elif listed:
        verdict = f'<ol class="mmad-errors">{listed}</ol>'
    else:
        note = "no error found" if rating.scale.has_errors else "scored as a whole"
        verdict = f'<p class="mmad-note">{note}</p>'
    return (
        f'<section class="mmad-segment"><header><span>{name}{segment.index + 1}</span>'
        f'<span class="mmad-score">{_number(rating.score)}</span></header>'
        f"{''.join(texts)}{verdict}</section>"
    )


def _text(label: str, text: str, errors: list[tuple[int, MQMError]]) -> str:
    return (
        f'<div class="mmad-text"><span>{label}</span>'
        f'<p dir="auto" class="mmad-{label.lower()}">{marked(text, errors)}</p></div>'
    )


def _error(error: MQMError) -> str:
    where = ""
    if error.placement is Placement.UNPLACED:
        where = " (these words were not found in the text)"
    elif error.side is Side.SOURCE:
        where = " (in the source)"
    return (
        f'<mark class="mmad-{error.severity.value}">{error.severity.value}</mark> '
        f"{escape(str(error.category))}: <bdi>{escape(error.text)}</bdi>{where}"
    )


def _number(score: float | None) -> str:
    return "no score" if score is None else f"{score + 0.0:.2f}"
