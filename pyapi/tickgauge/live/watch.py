"""The state of a growing raw log: boots that are complete, and the one that is not.

The log is read again from where its last boot begins, so that a look costs as much as one boot
however long the board has been talking.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..comparison.compare import compare
from ..comparison.lock_groups import group_title
from ..comparison.make_snapshot import snapshot
from ..comparison.pack import Group
from ..dataset.dataset import Dataset
from ..errors import InputError
from ..frame.frame import Column, Frame
from ..reading.read import read

__all__ = ["Look", "Watch", "running_table"]

#: Text without a record that is kept before it is passed over.
BARREN = 1 << 24


@dataclass
class Look:
    """The findings of one look at the log.

    Attributes
    ----------
    boots : int
        Boots that became complete since the look before.
    verdict : Comparison or None
        If there are such, all complete boots so far against the baseline, if there is one.
    """

    boots: int = 0
    verdict: Any = None


class Watch:
    """Follows a raw log that somebody else writes.

    Parameters
    ----------
    log : int
        Descriptor of the raw log, open for reading.
    options : mapping
        For `tickgauge.read`.
    baseline : data set, snapshot or path, optional
        The baseline of complete boots.
    margin : float or str
        As in `tickgauge.compare`.

    Attributes
    ----------
    complete : int
        Boots that are complete.
    total : Snapshot or None
        Their statistics.
    current : Dataset or None
        The boot that is not complete yet.
    problems : int
        Lines of complete boots that should have been records and were not.
    """

    def __init__(
        self,
        log: int,
        options: Mapping[str, Any] | None = None,
        baseline: Any = None,
        margin: float | str = 0.05,
    ) -> None:
        self._log = log
        self._options = dict(options or {})
        self._baseline = baseline
        self._margin = margin
        self._begin = 0  # of the boot that is not complete
        self.complete = 0
        self.total: Any = None
        self.current: Any = None
        self.problems = 0

    def look(self, end: int, last: bool = False) -> Look:
        """Read the log up to `end` bytes.

        Parameters
        ----------
        end : int
            Bytes of the log that are there.
        last : bool
            Nothing more will come: the boot at the end is complete, too.

        Notes
        -----
        The boot that is not complete is read anew at every look, all others once more when they
        are; the cost of a look is linear in the text since the last complete boot, whatever the
        number of boots in it. A boot of 50 MB takes 0.6 s of a processor, and `tickgauge watch`
        looks so seldom that looking takes a tenth of the time: a table is at most 6 s old then
        (a serial line of 115200 baud brings 50 MB in 72 minutes).
        """
        text = _pread(self._log, end - self._begin, self._begin)
        self.current = self._read(text)
        if self.current is None:
            if len(text) > BARREN:
                self._begin += text.rfind(b"\n") + 1
            return Look()
        cuts = _later_boots(self.current, text)
        parts = [self._read(text[a:b]) for a, b in itertools.pairwise([0, *cuts])]
        if cuts:
            self.current = self._read(text[cuts[-1] :])
        if last:
            parts.append(self.current)
            self.current = None
        self._begin += len(text) if last else cuts[-1] if cuts else 0
        found = Look(self._take([data for data in parts if data is not None]))
        if found.boots and self._baseline is not None and self.total is not None:
            found.verdict = compare(self._baseline, self.total, margin=self._margin)
        return found

    def _take(self, boots: Sequence[Any]) -> int:
        """Add complete boots to the known ones; returns their number."""
        self.complete += len(boots)
        self.problems += sum(len(data.problems) for data in boots)
        made = [
            snapshot(data, limits=self._options.get("limits"))
            for data in boots
            if len(data.readings)
        ]
        if made:
            self.total = (made[0] if self.total is None else self.total).merge(*made)
        return len(boots)

    def _read(self, text: bytes) -> Any:
        try:
            made = read(text, **self._options) if text else None
        except InputError:
            return None  # nothing known in it yet
        if made is not None and not isinstance(made, Dataset):
            kind = type(made).__name__.lower()
            verb = {"capture": "axi", "snapshot": "show"}.get(kind, "show")
            raise InputError(f"it is a {kind}, which is read when it is whole: tickgauge {verb}")
        return made

    def table(self) -> Frame:
        """One row a key: n, and quantiles of all readings so far, the current boot's included."""
        parts = [] if self.total is None else [self.total]
        if self.current is not None and len(self.current.readings):
            parts.append(snapshot(self.current, limits=self._options.get("limits")))
        return running_table(parts[0].merge(*parts[1:]) if parts else None)


def _pread(fd: int, size: int, offset: int) -> bytes:
    """So many bytes of a file, or all there are; one call may give less."""
    parts = []
    while size > 0 and (part := os.pread(fd, size, offset)):
        parts.append(part)
        size -= len(part)
        offset += len(part)
    return b"".join(parts)


def _later_boots(data: Any, text: bytes) -> list[int]:
    """Where the lines begin with which the second and every later boot does, rising."""
    found = [text.rfind(b"\n", 0, int(at)) + 1 for at in data.boots["first_offset"][1:]]
    return sorted({at for at in found if at > 0})


def running_table(made: Any) -> Frame:
    """The keys of a snapshot with quantiles of their readings.

    Parameters
    ----------
    made : Snapshot or None

    Returns
    -------
    Frame
        ``key n min median p90 max unit``, ns where the clock or the unit gives them. A quantile
        is the inverted CDF: a value that occurred.
    """
    names: list[str] = []
    units: list[str] = []
    counts: list[int] = []
    figures: dict[str, list[float]] = {name: [] for name in ("min", "median", "p90", "max")}
    side: Any = None if made is None else made.to_side()
    for number, key in enumerate([] if side is None else side.keys):
        rows = np.flatnonzero(side.key == number)
        value = side.value[rows]
        order = np.argsort(value, kind="stable")
        weight = np.ones(len(rows), "u8") if side.weight is None else side.weight[rows]
        upto = np.cumsum(weight[order])
        scale, unit = key.scale
        n = int(upto[-1])
        for name, numerator in zip(figures, (0, 50, 90, 100), strict=True):
            rank = max(1, -(-n * numerator // 100))
            at = value[order[np.searchsorted(upto, rank)]]
            figures[name].append(float(int(at) * scale))
        where = [w for w in key.where[1:] if w is not None]
        title = group_title(Group(key.subject, None, ""))
        names.append(f"{title} {','.join(map(str, where))}".strip())
        units.append(unit)
        counts.append(n)
    columns = [Column.of("key", np.array(names, "O")), Column.of("n", np.array(counts, "u8"))]
    columns += [Column.of(name, np.array(column)) for name, column in figures.items()]
    columns.append(Column.of("unit", np.array(units, "O")))
    return Frame(columns, "so far")
