"""Statistics that programs of rt-tests write with ``--json``, as the tables they print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import InputError

__all__ = ["is_rt_tests", "tables_of"]

_HEAD = re.compile(rb"\A\s*\{\s*\"file_version\"\s*:.*\"rt_test_version", re.DOTALL)


def is_rt_tests(head: bytes) -> bool:
    """Whether a source that begins so is such a document."""
    return _HEAD.match(head[:4096]) is not None


def tables_of(document: Any) -> list[str]:
    """The lines of the tables.

    Parameters
    ----------
    document : dict
        With one entry in ``thread`` for each thread: ``histogram``, ``cycles``, ``min``, ``avg``,
        ``max``.

    Returns
    -------
    list of str
        The extremes of each thread, then the histogram with a column for each. Cycles that no
        bucket holds lie beyond the last one.

    Raises
    ------
    InputError
        The document has another structure.
    """
    threads = document.get("thread") if isinstance(document, dict) else None
    if not isinstance(threads, dict) or not all(isinstance(t, dict) for t in threads.values()):
        raise InputError("is JSON of rt-tests without its member 'thread'")
    try:
        named = dict(sorted(threads.items(), key=lambda item: int(item[0])))
        unit = "ns" if document.get("resolution_in_ns") else "us"
        return [*_extremes(named, unit), *_histogram(named, unit)]
    except (TypeError, ValueError) as error:
        raise InputError(f"is JSON of rt-tests with a value of another kind: {error}") from error


def _extremes(threads: Mapping[str, Any], unit: str) -> Iterator[str]:
    for name, thread in threads.items():
        if {"min", "avg", "max"} <= thread.keys():
            where = f" on cpu {int(thread['cpu'])}" if "cpu" in thread else ""
            values = f"min {int(thread['min'])} avg {thread['avg']:.2f} max {int(thread['max'])}"
            yield f"# Thread {int(name)}{where}: {values} {unit}"


def _histogram(threads: Mapping[str, Any], unit: str) -> Iterator[str]:
    counts = [
        {int(value): int(n) for value, n in (thread.get("histogram") or {}).items()}
        for thread in threads.values()
    ]
    if not any(counts):
        return
    yield "# Histogram" if unit == "us" else f"# Histogram ({unit})"
    for value in sorted(set().union(*counts)):
        yield f"{value:06d} " + "\t".join(f"{column.get(value, 0):06d}" for column in counts)
    cycles = (int(thread.get("cycles", 0)) for thread in threads.values())
    beyond = [max(0, n - sum(c.values())) for n, c in zip(cycles, counts, strict=True)]
    if any(beyond):
        yield "# Histogram Overflows: " + " ".join(f"{n:05d}" for n in beyond)
    yield "# Histogram Overflow at cycle number:"
