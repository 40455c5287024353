"""Text files as lines, the one way this package reads them.

A line ends at LF and nowhere else; one CR right before that LF belongs to the line end; a BOM
at the very start of the file is dropped; everything else is kept. UTF-8 whatever the locale,
unless another encoding is named. Files may be gzipped (by magic number, with or without
`.gz`), may be standard input or a pipe, and are streamed: memory holds one line.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import stat
import sys
import tempfile
import threading
import weakref
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, getincrementaldecoder
from codecs import lookup as lookup_codec
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple, cast

from mmad_metric.errors import ConfigError, InputError

STDIN = "-"
UTF8 = "utf-8"
_GZIP_MAGIC = b"\x1f\x8b"  # not the start of any UTF-8 text


class RawLine(NamedTuple):
    """A line as bytes.

    number: from 1; offset: of `data` in the (uncompressed) file, bytes; data: with its LF,
    which only the last line of a file may lack.
    """

    number: int
    offset: int
    data: bytes


class TextFile:
    """A readable file of lines, named as people know it, to be read any number of times.

    What can be read only once (standard input for the path "-", pipes) is copied to an
    unnamed temporary file here and now. encoding: of `lines()`, a name that Python knows.
    Raises InputError for what cannot be read at all, ConfigError for an unknown encoding.
    """

    def __init__(self, path: str, encoding: str = UTF8) -> None:
        self.path = path
        self.name = "standard input" if path == STDIN else readable(path)
        self._encoding = text_encoding(encoding)
        self._spool = _spooled(path, self.name) if _reads_once(path, self.name) else None

    def raw_lines(self, *, torn: bool = False) -> Iterator[RawLine]:
        """The lines as bytes, without the BOM.

        torn: end quietly where a gzip stream was cut off, instead of raising InputError.
        """
        offset = 0
        try:
            with _reading(self.name), self._open() as handle:
                for number, data in enumerate(handle, 1):
                    start = offset
                    offset += len(data)
                    if number == 1:
                        _refuse_utf16(data, self.name)
                        if data.startswith(BOM_UTF8):
                            start, data = len(BOM_UTF8), data[len(BOM_UTF8) :]  # noqa: PLW2901
                        if not data:
                            return
                    yield RawLine(number, start, data)
        except _CutOffError:
            if not torn:
                raise

    def lines(self) -> Iterator[str]:
        """The lines as text, without their ends. Raises InputError on bytes that are not text in
        the file's encoding."""
        if self._encoding == UTF8:
            for raw in self.raw_lines():
                yield decoded(raw, self.name)
        else:
            yield from self._foreign_lines()

    @property
    def marked(self) -> str | None:
        """The name of the file where it begins with a BOM, which its lines are without."""
        mark = "\ufeff".encode(self._encoding, "ignore")
        with _reading(self.name), self._open() as handle:
            return self.name if mark and handle.read(len(mark)) == mark else None

    def _foreign_lines(self) -> Iterator[str]:
        try:
            # What ends a line must be known as text: in UTF-16 a byte 0x0A may be half a letter.
            with (
                _reading(self.name),
                self._open() as handle,
                io.TextIOWrapper(handle, encoding=self._encoding, newline="\n") as reader,
            ):
                for number, line in enumerate(reader, 1):
                    text = line.removesuffix("\r\n" if line.endswith("\r\n") else "\n")
                    yield text.removeprefix("\ufeff") if number == 1 else text
        except UnicodeError:
            raise self._not_text() from None

    def _not_text(self) -> InputError:
        """The error that names the first place that is not text in the file's encoding, found
        byte by byte: a reader of whole blocks does not tell."""
        decoder = getincrementaldecoder(self._encoding)()
        line = offset = 1
        with _reading(self.name), self._open() as handle:
            while byte := handle.read(1):
                try:
                    line += decoder.decode(byte).count("\n")
                except UnicodeError:
                    break
                offset += 1
        return InputError(
            f"{self.name}, line {line}: not {self._encoding} at byte {offset} of the file"
        )

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        # A buffer far above the default: a line then costs its own bytes and little else.
        raw = _SpoolView(self._spool) if self._spool else io.FileIO(self.path)
        with io.BufferedReader(raw, buffer_size=1 << 16) as handle:
            if handle.peek(2)[:2] == _GZIP_MAGIC:
                with gzip.GzipFile(fileobj=handle) as unzipped:
                    yield cast("IO[bytes]", unzipped)
            elif self.path.lower().endswith(".gz"):
                raise InputError(f"{self.name}: named .gz, but the content is not gzip")
            else:
                yield cast("IO[bytes]", handle)


class MadeFile(TextFile):
    """A file made of lines, none of which has an LF; `name` is what messages call it; origin:
    the file that they were read from, if there is just one."""

    def __init__(self, name: str, lines: Iterable[str], origin: TextFile | None = None) -> None:
        self.path, self.name, self._origin = "", name, origin
        self._encoding = UTF8
        self._spool = _Spool()
        # A BOM and a CR at each end are what reading takes away: the rest comes back as it was.
        self._spool.handle.write(BOM_UTF8)
        for line in lines:
            self._spool.handle.write(line.encode() + b"\r\n")
        self._spool.handle.flush()

    @property
    def marked(self) -> str | None:
        return None if self._origin is None else self._origin.marked


class _CutOffError(InputError):
    """A gzip stream that ends too soon."""


@contextmanager
def _reading(file: str) -> Iterator[None]:
    """What can go wrong while a file is read, as InputError naming it."""
    try:
        yield
    except EOFError:
        raise _CutOffError(f"{file}: the gzip data is cut off") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{file}: broken gzip data ({error})") from None
    except OSError as error:
        raise _unreadable(file, error) from None


def text_encoding(name: str) -> str:
    """Python's name for an encoding of text. Raises ConfigError for any other name."""
    try:
        codec = lookup_codec(name)
        "".encode(name)  # base64 and its like are codecs, but not of text
    except (LookupError, ValueError):
        raise ConfigError(
            f"encoding {name!r}: no such text encoding; utf-8, utf-16, latin-1 are some"
        ) from None
    return UTF8 if codec.name in (UTF8, "utf-8-sig", "ascii") else codec.name


def decoded(raw: RawLine, file: str) -> str:
    """The line's text without its end. Raises InputError naming file, line and byte."""
    data = raw.data
    if data.endswith(b"\n"):
        data = data[: -2 if data.endswith(b"\r\n") else -1]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}, line {raw.number}: byte 0x{data[error.start]:02x} at offset {error.start} "
            f"of the line ({raw.offset + error.start} of the file) is not UTF-8 ({error.reason})"
        ) from None


def readable(path: str) -> str:
    """A path or name as people wrote it, also where the locale could not decode it."""
    try:
        path.encode("utf-8")
        return path
    except UnicodeEncodeError:
        pass
    try:
        # Under an ASCII locale Python hides a name's bytes in lone surrogates.
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace").decode("utf-8")


def _refuse_utf16(start: bytes, file: str) -> None:
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE, BOM_UTF32_BE)):
        raise InputError(
            f"{file}: starts with a UTF-16 or UTF-32 byte order mark; convert it to UTF-8 "
            "(iconv -f UTF-16 -t UTF-8), or name its encoding (-e utf-16)"
        )


def _unreadable(file: str, error: OSError) -> InputError:
    return InputError(f"{file}: cannot be read: {error.strerror or error}")


def _reads_once(path: str, name: str) -> bool:
    if path == STDIN:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise _unreadable(name, error) from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{name!r}: not a path: {error}") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{name}: is a directory, not a file")
    return not stat.S_ISREG(mode)


class _Spool:
    """An unnamed temporary copy, deleted with its last reader; reads take turns."""

    def __init__(self) -> None:
        self.handle = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115 - closed below
        self.turn = threading.Lock()
        weakref.finalize(self, self.handle.close)


class _SpoolView(io.RawIOBase):
    """A reader of a spool with a position of its own, as reopening a file would give."""

    def __init__(self, spool: _Spool) -> None:
        super().__init__()
        self._spool = spool
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        with self._spool.turn:
            self._spool.handle.seek(self._position)
            data = self._spool.handle.read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def _spooled(path: str, name: str) -> _Spool:
    spool = _Spool()
    try:
        if path == STDIN:
            shutil.copyfileobj(_stdin_bytes(), spool.handle)
        else:
            with open(path, "rb") as once:
                shutil.copyfileobj(once, spool.handle)
        spool.handle.flush()
    except OSError as error:
        raise _unreadable(name, error) from None
    return spool


def _stdin_bytes() -> IO[bytes]:
    buffer = getattr(sys.stdin, "buffer", None)  # None when the program has no standard input
    if buffer is None:
        raise InputError("standard input: there is none to read")
    return cast("IO[bytes]", buffer)
