"""Several files at once: a thread for each processor, results in the order of the files."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

from ..sources.source import Source
from ..util.late import futures

__all__ = ["in_order"]

#: Mean bytes of a file from which on threads gain: below it Python's own work outweighs the core's.
THREADS_FROM = 1 << 18

T = TypeVar("T")
Advance = Callable[[int], Any]


class _Stopped(Exception):
    """Nobody waits for the other sources any more."""


def in_order(
    sources: Sequence[Source],
    read: Callable[[Source, bool, Advance], Iterator[T]],
    advance: Advance,
) -> Generator[T, None, None]:
    """The content of every source, in the order of the sources.

    Parameters
    ----------
    sources : sequence of Source
        Large files are read several at once; small ones, and anything but a file (standard input, a
        URL), one after the other.
    read : callable
        Reads a source, is told whether it is the only one at work, and calls its second argument
        with the number of bytes after each piece.
    advance : callable
        Told the number of bytes after each piece, by one thread at a time.

    Yields
    ------
    object
        The items of `read`. Close the iterator to end the threads: they stop at the next piece.

    Raises
    ------
    Exception
        The exception of the first source that fails, behind all that came before it.
    """
    workers = min(os.cpu_count() or 1, len(sources))
    if workers < 2 or not _are_large_files(sources):
        for source in sources:
            yield from read(source, True, advance)
        return
    lock = threading.Lock()
    stop = threading.Event()

    def count(n: int) -> None:
        if stop.is_set():
            raise _Stopped
        with lock:
            advance(n)

    def work(source: Source) -> list[T]:
        return [] if stop.is_set() else list(read(source, False, count))

    with futures.ThreadPoolExecutor(workers, "read") as pool:
        try:
            for made in pool.map(work, sources):
                yield from made
        finally:
            stop.set()


def _are_large_files(sources: Sequence[Source]) -> bool:
    paths = [source.path for source in sources if source.path is not None]
    if len(paths) < len(sources):
        return False
    with contextlib.suppress(OSError):  # to be told when it is opened
        return sum(path.stat().st_size for path in paths) >= THREADS_FROM * len(paths)
    return False
