"""One large file on two threads: cut at a line end, read apart, put together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from .._core import Reader, Records
from ..errors import LimitError
from ..sources.source import Stream
from ..util.late import futures, hashlib

__all__ = ["can_halve", "read_halves"]

#: Files from this size on are read in two halves.
HALVE_FROM = 64 << 20
#: Bytes between two looks whether to stop.
SLICE = 16 << 20


class _Changed(Exception):
    """The file has changed since it was opened."""


def can_halve(stream: Stream, repair: bool) -> bool:
    """Whether a source may be read in two halves: a large plain file, and two processors.

    The repair of a shared UART looks beyond a line, so it asks for one reader.
    """
    size = stream.expected
    return (
        not repair
        and size is not None
        and size >= HALVE_FROM
        and stream.source.path is not None
        and (os.cpu_count() or 1) > 1
    )


def _cut(fd: int, size: int) -> int:
    """The place behind the first line end of the second half, or 0."""
    middle = size // 2
    at = os.pread(fd, 1 << 20, middle).find(b"\n")
    return 0 if at < 0 else middle + at + 1


def read_halves(
    stream: Stream,
    first: Reader,
    second: Reader,
    advance: Callable[[int], Any],
    hashing: bool = True,
) -> tuple[Records, str, int] | None:
    """Read a file with two readers of equal rules.

    Parameters
    ----------
    stream : Stream
        Of a file; it is not touched, the file is opened again.
    first, second : Reader
        Both are finished after this.
    advance : callable
        Told the number of bytes after each piece.
    hashing : bool
        Whether the digest is wanted; else it is "".

    Returns
    -------
    tuple of Records, str, int, or None
        The records, the digest and the number of bytes; None where the file must be read as one:
        it has no line end near its middle, a table of the log lies there, or reading failed.
    """
    path, size = stream.source.path, stream.expected
    stop = threading.Event()
    if path is None or size is None:
        return None

    def part(reader: Reader, begin: int, end: int) -> Records:
        with path.open("rb", buffering=0) as file:
            file.seek(begin)
            while begin < end and not stop.is_set():
                got = reader.feed_fd(file.fileno(), min(SLICE, end - begin))
                if got == 0:
                    raise _Changed
                begin += got
                advance(got)
        return reader.finish()

    def digest() -> str:
        if not hashing:
            return ""
        with path.open("rb", buffering=0) as file:
            state, left = hashlib.sha256(), size
            while left > 0 and not stop.is_set():
                piece = file.read(min(1 << 20, left))
                if not piece:
                    raise _Changed
                state.update(piece)
                left -= len(piece)
        return state.hexdigest()

    try:
        with path.open("rb", buffering=0) as file:
            opened, now = os.fstat(stream.raw.fileno()), os.fstat(file.fileno())
            cut = _cut(file.fileno(), size)
        if cut == 0 or cut >= size or not os.path.samestat(opened, now):
            return None
        with futures.ThreadPoolExecutor(2) as pool:
            running: list[futures.Future[Any]] = []
            try:
                running += [pool.submit(digest), pool.submit(part, second, cut, size)]
                records = part(first, 0, cut)
                joined = records.append(running[1].result())
                return (records, running[0].result(), size) if joined else None
            finally:
                stop.set()
                running.clear()  # an exception of theirs holds this frame, and so both readers
    except (OSError, _Changed, LimitError):  # a limit is told by the one reader, with its line
        return None
