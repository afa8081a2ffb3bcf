"""Events of a trace that no rule read, counted by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ..dataset.dataset import Dataset
from ..limits import LIMITS
from ..sources.decode import decoder_of
from ..sources.expand import expand
from ..sources.opening import opened

__all__ = ["other_events"]

#: An event as tracefs, trace-cmd and perf print it: a stamp, perhaps a subsystem, the event's name.
_EVENT = re.compile(rb"\[\d{3,}\].*? \d+(?:\.\d+)?: (?:\[?\(?[^:\s]*:)? *([a-z_][a-z0-9_]+): ")

#: Lines that are looked at: enough to name the events that were traced.
MOST_LINES = 1_000_000


def other_events(data: Dataset, source: int) -> Counter[str]:
    """How many events of each kind gave no record.

    Parameters
    ----------
    data : Dataset
    source : int
        A source of it that is a file, compressed or not; members of archives, pipes and encoded
        consoles are not read again.

    Returns
    -------
    Counter
        Name of the event -> lines, among the first million. Empty where no event of a trace was
        read: then the source is no trace.
    """
    info = data.infos[source]
    if "ftrace" not in " ".join(info.formats) and "kernel_trace" not in info.formats:
        return Counter()
    read = np.unique(
        np.concatenate(
            [frame["line"][frame["source"] == source] for frame in data.records.values()]
            or [np.zeros(0, "u8")]
        )
    )
    known = set(read.tolist())
    found: Counter[str] = Counter()
    for number, line in enumerate(_lines(info.name), 1):
        if number > MOST_LINES:
            break
        if number not in known and (match := _EVENT.search(line)):
            found[match[1].decode()] += 1
    return found


def _lines(name: str) -> Iterator[bytes]:
    """The lines of a file as they were read; none of another kind of source."""
    if not Path(name).is_file():
        return
    for stream in opened(expand(Path(name))):
        if stream.source.name == name and decoder_of(stream.head, LIMITS) is None:
            yield from _split(stream)
        return


def _split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of pieces of text."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest
