"""A source and its stream: something with a name that can be opened and gives decompressed bytes.

Compression is told by the first bytes, never by the name.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import Error, LimitError
from ..limits import LIMITS, Limits
from .decompress import Budget, Unpacked

__all__ = ["HEAD", "Pieces", "Source", "Stream", "broken"]

#: Bytes that the dispatcher may look at before it decides.
HEAD = 1 << 16


class Source:
    """One text: it has a name and can be opened, once or (files, memory) again.

    Parameters
    ----------
    name : str
        How messages call it.
    opener : callable
        Gives a binary file object. It pickles where the source has a path or is a URL, so that
        another process opens just this source.
    path : path, optional
        Where it lies, if it is a file.
    release : str, optional
        The one release of a published page that is meant (``page.rst@v2.9``).
    lasting : bool
        A file that can be opened again for the same bytes.
    skipped : str
        Why it is not opened; empty for a source that is.
    """

    def __init__(
        self,
        name: str,
        opener: Callable[[], Any],
        path: Path | None = None,
        release: str | None = None,
        lasting: bool = False,
        skipped: str = "",
    ) -> None:
        self.lasting = lasting
        self.skipped = skipped
        self.name = name
        self.path = path
        self.release = release
        self._opener = opener

    def __repr__(self) -> str:
        return f"Source({self.name!r})"

    def open(self, limits: Limits = LIMITS) -> Stream:
        """Open it, look at the first bytes, and decompress if they ask for it."""
        return Stream(self, self._opener(), limits)

    def again(self, limits: Limits = LIMITS) -> Source:
        """A source of the same bytes that can be opened more than once.

        Returns
        -------
        Source
            This one if it is a regular file, a folder's member or a URL; a pipe is read whole and
            held in memory.

        Raises
        ------
        LimitError
            A pipe is longer than ``limits.whole``.
        """
        if "://" in self.name or (self.path is not None and not self.path.is_fifo()):
            return self
        pieces, size = [], 0
        with self._opener() as raw:
            while piece := raw.read(HEAD):
                pieces.append(piece)
                size += len(piece)
                if size > limits.whole:
                    text = f"more than {limits.whole} bytes from a pipe (--limit whole=N)"
                    raise LimitError(text, path=self.name)
        data = b"".join(pieces)
        return Source(self.name, lambda: io.BytesIO(data), release=self.release)

    def read_bytes(self, limits: Limits = LIMITS) -> bytes:
        """All of it, decompressed.

        Raises
        ------
        LimitError
            It is longer than ``limits.whole``.
        """
        parts, size = [], 0
        with self.open(limits) as stream:
            for piece in stream:
                size += len(piece)
                if size > limits.whole:
                    text = (
                        f"more than {limits.whole} bytes, and this form is read as a whole "
                        "(--limit whole=N)"
                    )
                    raise LimitError(text, path=self.name)
                parts.append(piece)
        return b"".join(parts)


class Stream:
    """The decompressed bytes of an open source: `head` first, then all of them by iterating.

    Attributes
    ----------
    head : bytes
        The first bytes after decompression, at least `HEAD` if there are so many; they come again
        when iterating.
    compression : str
        ``"gz" "bz2" "xz" "zstd"``, several in each other from outside in with a blank between
        them, or ``""``.
    expected : int or None
        Size of an uncompressed regular file when it was opened.
    raw : file object
        At its beginning only where the source can be opened again.
    status : os.stat_result or None
        Of the regular file that was opened.
    """

    def __init__(
        self, source: Source, raw: Any, limits: Limits = LIMITS, budget: Budget | None = None
    ) -> None:
        self.source = source
        self.raw = raw
        self._budget = budget
        self._first: list[bytes] = []
        self._error: Exception | None = None
        self._unpacked = Unpacked(io.BytesIO())
        self.head = b""
        self.status = _status_of(raw)
        try:
            self._take_head(limits)
        except BaseException:
            raw.close()
            raise
        self.compression = " ".join(self._unpacked.layers)
        self.expected = None if self.compression or self.status is None else self.status.st_size

    def _take_head(self, limits: Limits) -> None:
        """The head; trouble in it is told when the rest is read."""
        size = 0
        try:
            self._unpacked = Unpacked(self.raw, self.source.name, limits, self._budget)
            while size < HEAD and (piece := next(iter(self._unpacked), None)) is not None:
                self._first.append(piece)
                size += len(piece)
        except (Error, OSError) as error:
            self._error = error
        self.head = b"".join(self._first)

    def packed(self) -> int:
        """Bytes of the open file: all of a file, else those read so far."""
        read = self._unpacked.packed
        return read if self.status is None else max(read, self.status.st_size)

    def check_head(self) -> None:
        """Raise the `OSError` that cut the head short, if there was one.

        For those who decide by the head alone, and read no further.
        """
        if isinstance(self._error, OSError):
            raise self._error

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file (standard input stays open)."""
        self._unpacked.close()
        self.raw.close()

    def restart(self, file: Any) -> None:
        """Iterate over `file`, a copy of the bytes that were taken already, from its beginning."""
        self._first = []
        self._unpacked = Unpacked(file, self.source.name)

    def __iter__(self) -> Iterator[bytes]:
        """Pieces of at most 1 MiB; once.

        Raises
        ------
        InputError
            Compressed data is damaged or ends too early: after all that it gives.
        LimitError
            It unfolds into more than is allowed.
        OSError
            Reading failed.
        """
        while self._first:
            yield self._first.pop(0)
        if self._error is not None:
            raise self._error
        yield from self._unpacked
        if self._unpacked.damage is not None:
            raise self._unpacked.damage


def _status_of(raw: IO[bytes]) -> os.stat_result | None:
    try:
        status = os.fstat(raw.fileno())
    except (OSError, AttributeError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


class Pieces(io.RawIOBase):
    """The bytes of a stream as a file that can be read once; closing it leaves the stream open."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self._pieces = iter(stream)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1) -> bytes:
        """At most `n` bytes, of one piece."""
        if not self._left:
            self._left = memoryview(next(self._pieces, b""))
        end = len(self._left) if n < 0 else n
        data = bytes(self._left[:end])
        self._left = self._left[end:]
        return data


class _Raising(io.RawIOBase):
    """A file that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, n: int = -1) -> bytes:
        raise self._error


def broken(name: str, error: Exception) -> Stream:
    """A stream that gives nothing but its error."""
    return Stream(Source(name, lambda: _Raising(error)), _Raising(error))
