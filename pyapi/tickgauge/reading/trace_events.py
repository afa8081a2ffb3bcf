"""Events of a trace that no rule read, counted by kind."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

from ..dataset.dataset import Dataset

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
        A source of it that is a plain file; of all others nothing is known.

    Returns
    -------
    Counter
        Name of the event -> lines, among the first million. Empty where no event of a trace was
        read: then the source is no trace.
    """
    info = data.infos[source]
    path = Path(info.name)
    if "ftrace" not in " ".join(info.formats) and "kernel_trace" not in info.formats:
        return Counter()
    if info.compression or not path.is_file():
        return Counter()
    read = np.unique(
        np.concatenate(
            [frame["line"][frame["source"] == source] for frame in data.records.values()]
            or [np.zeros(0, "u8")]
        )
    )
    known = set(read.tolist())
    found: Counter[str] = Counter()
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number > MOST_LINES:
                break
            if number not in known and (match := _EVENT.search(line)):
                found[match[1].decode()] += 1
    return found
