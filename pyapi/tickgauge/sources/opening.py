"""Open sources one after the other, and look into archives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import LimitError
from ..limits import LIMITS, Limits
from .archives import members
from .decompress import Budget
from .source import Source, Stream, broken

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
    inside = members(stream, limits, budget)
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
