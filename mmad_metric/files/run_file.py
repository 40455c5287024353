"""The run file (`-o run.jsonl`): a header, a line a segment, a summary, as JSON lines.

Written to `PATH.part` and renamed when complete, so that a file of the given name is always a
finished one. Its schema is docs/run-file.schema.json.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast, final

from mmad_metric.errors import ConfigError, InputError, RunStopped, quoted
from mmad_metric.files.json_lines import object_line, read_object
from mmad_metric.files.lines import RawLine, TextFile, decoded, readable
from mmad_metric.files.run_lines import parse_segment_line, segment_line
from mmad_metric.method_space import MMAD
from mmad_metric.rating import SegmentRating
from mmad_metric.scales import Scale
from mmad_metric.scoring import WeightScheme, scheme_from_table

if sys.platform != "win32":
    import fcntl

__all__ = ["RunFile", "RunWriter", "parse_segment_line", "read_run", "segment_line"]

FORMAT = "mmad-run"
VERSION = 1
_COMPRESSION = 6  # of zlib; higher levels gain little on lines flushed one by one


@final
class RunWriter:
    """Writes a run file line by line, each line flushed; `commit` gives it its name.

    Without `commit` the lines stay in `PATH.part`. A path ending in .gz is gzipped, the same
    bytes for the same lines. Raises InputError at once where the path cannot be written or
    another run is writing it, RunStopped where the disk fails later.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _real_target(os.fspath(path))
        self.part = f"{self.path}.part"
        self._raw = _locked(self.part, readable(self.path))
        self._out: IO[bytes] = self._raw
        if self.path.lower().endswith(".gz"):
            # No name and no time in the gzip header: they would make equal runs differ.
            self._out = cast(
                "IO[bytes]", gzip.GzipFile("", "wb", _COMPRESSION, fileobj=self._raw, mtime=0)
            )
        self.committed = False

    def write_header(self, header: Mapping[str, Any]) -> None:
        """The first line: the caller's fields after the format's own."""
        own = {"type": "header", "format": FORMAT, "version": VERSION}
        self.write({**own, **header, **own})

    def write_rating(self, rating: SegmentRating) -> None:
        """A segment's line."""
        self.write(segment_line(rating))

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """The last line, without which a run file counts as incomplete."""
        own = {"type": "summary"}
        self.write({**own, **summary, **own})

    def write(self, line: Mapping[str, Any]) -> None:
        """Any line. Raises ValueError, and writes nothing, for NaN and infinities."""
        data = object_line(line)
        try:
            self._out.write(data)
            self._out.flush()
        except OSError as error:
            raise _disk_failed(self.part, error) from error

    def commit(self) -> None:
        """Completes the file: on disk, under its name, replacing what had that name before."""
        try:
            if self._out is not self._raw:
                self._out.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
            if sys.platform == "win32":  # where open files cannot be renamed
                self._raw.close()
            os.replace(self.part, self.path)  # before the lock ends with the handle
            _sync_folder(self.path)
        except OSError as error:
            raise _disk_failed(self.path, error) from error
        self.committed = True
        self.close()

    def close(self) -> None:
        """Ends writing; what was not committed stays in the .part file."""
        try:
            try:
                if self._out is not self._raw:
                    self._out.close()
            finally:
                self._raw.close()
        except OSError as error:
            raise _disk_failed(self.part, error) from error

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run file as it is read: header and summary at once, ratings when asked for.

    summary: None where the run did not get to its end.
    """

    path: str
    header: dict[str, Any]
    summary: dict[str, Any] | None
    _file: TextFile
    _torn: bool

    @property
    def complete(self) -> bool:
        return self.summary is not None

    @property
    def scale(self) -> Scale:
        """What a score of this run is."""
        return Scale(self.header.get("scale", Scale.PENALTY.value))

    @property
    def config(self) -> dict[str, Any]:
        """The settings as they were written; {} where the header has none."""
        config = self.header.get("config")
        return config if isinstance(config, dict) else {}

    @property
    def method(self) -> str:
        """One of `method_space.METHODS`, as the header has it."""
        return str(self.config.get("method", MMAD))

    def weight_scheme(self) -> WeightScheme | None:
        """What the run's errors weigh; None where its scores are not made of errors. Raises
        InputError for a header without such weights."""
        if not self.scale.has_errors:
            return None
        table = self.config.get("weight_table")
        if not isinstance(table, dict):
            raise InputError(f"{self._file.name}, line 1: the header has no weight table")
        try:
            return scheme_from_table(str(self.config.get("weights")), table)
        except ConfigError as error:
            raise InputError(f"{self._file.name}, line 1: {error}") from None

    def ratings(self) -> Iterator[SegmentRating]:
        """The segments' ratings in file order, streamed, anew with each call.

        Raises InputError naming file and line for anything that is not a segment's line.
        """
        scale = self.scale
        for raw, line in _objects(self._file, torn=self._torn):
            if raw.number == 1 or line.get("type") == "summary":
                continue
            try:
                if (found := line.get("type")) != "segment":
                    raise InputError(f"a line of type {quoted(str(found))} amid the segments")
                rating = parse_segment_line(line)
                if rating.scale is not scale:
                    raise InputError(
                        f"a score on the scale {rating.scale.value} in a run on {scale.value}"
                    )
            except InputError as error:
                raise InputError(f"{self._file.name}, line {raw.number}: {error}") from None
            yield rating


def read_run(path: str | os.PathLike[str], *, allow_torn: bool = False) -> RunFile:
    """Opens a run file (also gzipped). Segments are parsed only when they are asked for.

    allow_torn: read a `.part` file whose last line was cut off, as if that line were not there.
    Raises InputError where the file cannot be read or is no run file.
    """
    file = TextFile(os.fspath(path))
    header: dict[str, Any] | None = None
    last: RawLine | None = None
    for raw in file.raw_lines(torn=allow_torn):
        if last and _is_summary(last, file):
            raise InputError(f"{file.name}, line {raw.number}: a line after the summary")
        if header is None:
            header = _header(raw, file)
        last = raw
    if header is None or last is None:
        raise InputError(f"{file.name}: is empty, not a run file")
    final = _object(last, file, torn=allow_torn) or {}
    summary = final if final.get("type") == "summary" else None
    return RunFile(file.path, header, summary, file, allow_torn)


def _header(raw: RawLine, file: TextFile) -> dict[str, Any]:
    try:
        header = _object(raw, file, torn=False) or {}
    except InputError as error:
        raise InputError(f"{error}; this is not a run file") from None
    if header.get("type") != "header" or header.get("format") != FORMAT:
        raise InputError(f"{file.name}, line 1: not the header of a run file")
    if header.get("version") != VERSION:
        raise InputError(
            f"{file.name}, line 1: version {header.get('version')!r} of the format, this "
            f"program reads version {VERSION}"
        )
    known = [scale.value for scale in Scale]
    if header.get("scale", known[0]) not in known:
        raise InputError(
            f"{file.name}, line 1: scale {header['scale']!r} is not one of {', '.join(known)}"
        )
    return header


def _is_summary(raw: RawLine, file: TextFile) -> bool:
    # The prefix spares parsing every line; our own writer puts the type first.
    if b'"summary"' not in raw.data[:64]:
        return False
    return (_object(raw, file, torn=False) or {}).get("type") == "summary"


def _objects(file: TextFile, *, torn: bool) -> Iterator[tuple[RawLine, dict[str, Any]]]:
    for raw in file.raw_lines(torn=torn):
        value = _object(raw, file, torn=torn)
        if value is not None:
            yield raw, value


def _object(raw: RawLine, file: TextFile, *, torn: bool) -> dict[str, Any] | None:
    """The line's object; None for a cut-off last line, where such a line is tolerated."""
    text_ends = raw.data.endswith(b"\n")
    try:
        text = decoded(raw, file.name)
        try:
            return read_object(text)
        except InputError as error:
            raise InputError(f"{file.name}, line {raw.number}: {error}") from None
    except InputError as error:
        if text_ends:
            raise
        if torn:
            return None
        raise InputError(f"{error}; the line is cut off, the file is incomplete") from None


def _real_target(path: str) -> str:
    """The path to rename to. Raises InputError where that would not do what is meant."""
    name = readable(path)
    if path in ("", "-"):
        raise InputError(f"{name!r}: the run file needs a path; the result goes to standard output")
    target = os.path.realpath(path) if os.path.islink(path) else path
    if os.path.isdir(target):
        raise InputError(f"{name}: is a directory, not a file to write")
    if os.path.exists(target) and not os.path.isfile(target):
        # Renaming would put a plain file in the place of a device or pipe.
        raise InputError(f"{name}: is not a regular file")
    if not os.path.isdir(os.path.dirname(target) or "."):
        raise InputError(f"{name}: there is no folder {readable(os.path.dirname(target))}")
    return target


def _locked(part: str, name: str) -> IO[bytes]:
    """The .part file, empty and ours alone until it is closed."""
    while True:
        try:
            handle = open(part, "ab")  # noqa: SIM115 - appending: not truncated before the lock
        except OSError as error:
            raise _unwritable(name, error) from None
        try:
            if _is_ours(handle, part, name):
                handle.truncate(0)
                return handle
        except OSError as error:  # not a file that can be emptied
            handle.close()
            raise _unwritable(name, error) from None
        except InputError:
            handle.close()
            raise
        handle.close()  # its last writer committed it between our opening and locking it


def _is_ours(handle: IO[bytes], path: str, name: str) -> bool:
    """Locks the file, and tells whether it is still the one at the path."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{name}: another run is writing it") from None
    except OSError:
        return True  # a file system without locks
    return _is_still(handle, path)


def _unwritable(name: str, error: OSError) -> InputError:
    return InputError(f"{name}: cannot be written: {error.strerror or error}")


def _is_still(handle: IO[bytes], path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _sync_folder(path: str) -> None:
    """Makes the new name last through a crash, where folders can be synced."""
    if sys.platform == "win32":
        return
    folder = os.open(Path(path).parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:
        pass
    finally:
        os.close(folder)


def _disk_failed(path: str, error: OSError) -> RunStopped:
    return RunStopped(f"{readable(path)}: cannot be written: {error.strerror or error}")
