"""Finished ratings kept beside the replies, so that a finished run replays at once.

A rating is taken from here only when nothing that made it has changed: texts, settings, prompts,
weights, servers, and this package's own code. Otherwise it is made anew from the kept replies.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from mmad_metric.calls.cache import ReplyStore
from mmad_metric.files.run_lines import parse_segment_line, segment_line
from mmad_metric.rating import Segment, SegmentRating, Status
from mmad_metric.version import __version__

_NOBODY = Segment("", "")


@dataclass(frozen=True, slots=True)
class RatingMemory:
    """Ratings by texts and by what was shown beside them. identity names all else that a rating
    depends on."""

    store: ReplyStore
    identity: bytes

    def recall(self, segment: Segment) -> SegmentRating | None:
        """The kept rating of these texts, for this row; None when there is none."""
        line = self.store.get_rating(self._key(segment))
        if line is None:
            return None
        known = json.loads(line)
        # The texts are the segment's own: kept once, in the key.
        known |= {"source": segment.source, "translation": segment.translation}
        return replace(parse_segment_line(known), segment=segment)

    def keep(self, rating: SegmentRating) -> None:
        """Keep a scored rating that took calls; a failed one is tried again by the next run."""
        if rating.status is not Status.SCORED or not rating.usage:
            return
        line = segment_line(replace(rating, segment=_NOBODY))
        self.store.put_rating(self._key(rating.segment), json.dumps(line, ensure_ascii=True))

    def _key(self, segment: Segment) -> bytes:
        parts = [self.identity]
        parts += [
            text.encode("utf-8", "surrogatepass") for text in (segment.source, segment.translation)
        ]
        if (segment.repeat or 1) > 1:
            parts.append(str(segment.repeat).encode())
        if segment.material.key:
            parts.append(segment.material.key)
        lengths = array("Q", map(len, parts)).tobytes()
        return hashlib.blake2b(lengths + b"".join(parts), digest_size=24).digest()


def memory_identity(parts: dict[str, Any]) -> bytes:
    """All that a rating depends on besides its texts; the package's code is added here."""
    stamped = {**parts, "version": __version__, "code": _code_stamp()}
    return json.dumps(stamped, sort_keys=True, default=str).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=1)
def _code_stamp() -> str:
    """Changes whenever a module of this package is another one than before."""
    root = Path(__file__).parent
    stamp = hashlib.blake2b(digest_size=16)
    for path in sorted(root.rglob("*.py")):
        stat = path.stat()
        stamp.update(f"{path.relative_to(root)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return stamp.hexdigest()
