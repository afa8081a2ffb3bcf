"""Open sources one after the other, and look into archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..errors import LimitError
from ..limits import LIMITS, Limits
from ..util.late import late
from .decompress import Budget
from .source import Source, Stream, broken

if TYPE_CHECKING:
    from . import archives
else:  # with tarfile and zipfile, which most sources do not need
    archives = late(f"{__package__}.archives")

__all__ = ["opened"]


def opened(sources: Iterable[Source], limits: Limits = LIMITS) -> Iterator[Stream]:
    """Open sources one after the other; an archive of texts gives its members instead.

    Parameters
    ----------
    sources : iterable of Source
    limits : Limits

    Yields
    ------
    Stream
        To be read before the next one is asked for, and closed by then. A lost part of an
        archive comes as a stream that raises the reason when it is read.

    Raises
    ------
    OSError
        A source cannot be opened.
    """
    for source in sources:
        stream = source.open(limits)
        budget = Budget(source.name, limits, stream.packed)
        try:
            yield from _looked_into(stream, limits, limits.layers, budget)
        finally:
            stream.close()


def _looked_into(stream: Stream, limits: Limits, layers: int, budget: Budget) -> Iterator[Stream]:
    inside = _members(stream, limits, budget)
    if inside is None:
        yield stream
        return
    if layers == 0:
        text = f"more than {limits.layers} archives in each other (--limit layers=N)"
        yield broken(stream.source.name, LimitError(text, path=stream.source.name))
        return
    for member in inside:
        try:
            yield from _looked_into(member, limits, layers - 1, budget)
        finally:
            member.close()


def _members(stream: Stream, limits: Limits, budget: Budget) -> Iterator[Stream] | None:
    """The members of an archive, whose `budget` counts all that is in them.

    None where the stream is no archive: then it is as it was.
    """
    if _is_tar(stream.head):
        return archives.of_tar(stream, limits, budget)
    if stream.head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return archives.of_zip(stream, limits, budget)
    return None


def _is_tar(head: bytes) -> bool:
    """A header with the magic and a right sum of its bytes, in which the sum counts as blanks."""
    header = head[:512]
    if len(header) < 512 or header[257:262] != b"ustar":
        return False
    try:
        told = int(header[148:156].strip(b" \0"), 8)
    except ValueError:
        return False
    return told == sum(header[:148]) + 8 * 32 + sum(header[156:])
