"""A published release: tables of cells, one row per cpu, whole nanoseconds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..boards.platforms import Cpu, Identity, Platform

__all__ = ["METRICS", "TESTS", "Cell", "Release", "Row", "Table", "distinct", "exchange_class"]

# Test -> how pages caption it: the operation, the way it is run. In the order of the suite.
TESTS = {
    "susp_deep_parallel": ("``CPU_SUSPEND`` latencies ({u}) to deepest power level in parallel"),
    "susp_deep_serial": ("``CPU_SUSPEND`` latencies ({u}) to deepest power level in serial"),
    "cpu_susp_parallel": ("``CPU_SUSPEND`` latencies ({u}) to power level 0 in parallel"),
    "cpu_susp_serial": ("``CPU_SUSPEND`` latencies ({u}) to power level 0 in serial"),
    "cpu_off_serial": ("``CPU_OFF`` latencies ({u}) on all non-lead CPUs"),
    "psci_version_parallel": ("``CPU_VERSION`` latency ({u}) in parallel on all cores"),
}
METRICS = {
    "powerdown": "Powerdown",
    "wakeup": "Wakeup",
    "cache_flush": "Cache Flush",
    "latency": "Latency",
}


def exchange_class(test: str, metric: str) -> str:
    """Among which cpus the readings of a test may be interchanged: none, cluster or all.

    In parallel tests the order in which locks are taken decides which cpu waits. The powerdown
    path queues over all cpus (one channel to the SCP), the rest within a cluster.
    """
    if not test.endswith("_parallel"):
        return "none"
    return "all" if metric == "powerdown" else "cluster"


@dataclass(frozen=True)
class Cell:
    """One value: the number as printed, in ns, and the printed change (None: no bracket)."""

    text: str
    ns: int
    delta: str | None
    line: int


@dataclass(frozen=True)
class Row:
    """One cpu: the label as printed, its cpu (None: undecided), cells by metric."""

    printed: tuple[int, ...]
    cpu: Cpu | None
    cells: Mapping[str, Cell]
    line: int

    @property
    def label(self) -> str:
        """The label as printed."""
        return ",".join(map(str, self.printed))


@dataclass(frozen=True)
class Table:
    """One test of a release: rows in printed order, the unit of each metric's column."""

    test: str
    rows: tuple[Row, ...]
    units: Mapping[str, str]
    caption: str
    identity: Identity
    source: str
    line: int

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in printed order."""
        return tuple(self.units)


@dataclass
class Release:
    """The tables of one release of one platform, as one place published them.

    ``unit_stated`` is False where the cells were handed down in ns whatever the page printed.
    """

    label: str
    platform: Platform | None
    source: str
    form: str
    tables: dict[str, Table] = field(default_factory=dict)
    resolution: dict[tuple[str, str], int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    unit_stated: bool = True

    @property
    def unit(self) -> str:
        """The unit of most columns, ``"ns"`` or ``"us"``: the page's unit."""
        units = [u for t in self.tables.values() for u in t.units.values()]
        return max(("ns", "us"), key=units.count) if units else "ns"

    @property
    def name(self) -> str:
        """Platform and label, for a person."""
        return f"{self.platform.name if self.platform else 'unknown platform'} {self.label}"

    def cells(self) -> Iterator[tuple[Table, Row, str, Cell]]:
        """Every cell, in printed order."""
        for table in self.tables.values():
            for row in table.rows:
                for metric, cell in row.cells.items():
                    yield table, row, metric, cell

    def __len__(self) -> int:
        return sum(1 for _ in self.cells())

    def digest(self) -> str:
        """Equal for reprints: platform, tests, cpus (or labels) and values, not their order."""
        lines = sorted(
            f"{table.test} {row.cpu or f'row {at}'} {metric} {cell.ns}"
            for table in self.tables.values()
            for at, row in enumerate(table.rows)
            for metric, cell in row.cells.items()
        )
        name = self.platform.name if self.platform else ""
        return hashlib.sha256("\n".join([name, *lines]).encode()).hexdigest()

    def assumptions(self) -> list[str]:
        """The assumptions of reading it, one sentence each."""
        found = [f"{self.name}: {note}" for note in self.notes]
        seen = {t.identity.note: None for t in self.tables.values() if t.identity.note}
        return found + [f"{self.name}: {note}" for note in seen]


def distinct(releases: Iterable[Release]) -> list[tuple[Release, list[Release]]]:
    """The data sets, each with its reprints (same platform, cpus and values) in given order."""
    sets: dict[str, list[Release]] = {}
    for release in releases:
        sets.setdefault(release.digest(), []).append(release)
    return [(group[0], group[1:]) for group in sets.values()]
