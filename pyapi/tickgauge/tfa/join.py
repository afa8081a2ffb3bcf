"""One side of a release table, whatever it was read from, and the join of two by cpu."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..boards.platforms import Cpu
from ..errors import InputError, NotComparableError
from .model import TESTS, Release

__all__ = ["Join", "JoinedRow", "JoinedTable", "Side", "SideRow", "SideTable", "join", "merge"]


@dataclass(frozen=True)
class SideRow:
    """One cpu of one test: the printed label, its cpu, whole ns by metric."""

    printed: str
    cpu: Cpu | None
    values: Mapping[str, int]


@dataclass(frozen=True)
class SideTable:
    """One test: rows in the order of the source, and its metrics."""

    test: str
    metrics: tuple[str, ...]
    rows: tuple[SideRow, ...]


@dataclass
class Side:
    """Tables of one release or boot, ready to be joined.

    ``kind`` is ``"table"``, ``"console"`` or ``"snapshot"``; ``build`` is ``"release"``,
    ``"debug"`` or empty; ``unit`` the unit its page prints; ``boots`` how many boots it stands for;
    ``banner`` whether its console has the line of a firmware that names itself; ``faults`` says by
    test why it should not be published: failed, hung, cpus missing.
    """

    name: str
    kind: str
    platform: str
    clock_hz: int | None
    build: str
    tables: dict[str, SideTable]
    unit: str = "ns"
    boots: int = 1
    notes: list[str] = field(default_factory=list)
    cpus: tuple[Cpu, ...] = ()
    faults: dict[str, str] = field(default_factory=dict)
    banner: bool = False

    @classmethod
    def of_release(cls, release: Release) -> Side:
        """The side that a published release is."""
        tables = {
            t.test: SideTable(
                t.test,
                t.metrics,
                tuple(
                    SideRow(r.label, r.cpu, {m: c.ns for m, c in r.cells.items()}) for r in t.rows
                ),
            )
            for t in release.tables.values()
        }
        board = release.platform
        side = cls(
            release.label, "table", board.name if board else "", board.clock_hz if board else None,
            "", tables, release.unit, notes=release.assumptions(),
            cpus=board.cpus if board else (),
        )  # fmt: skip
        coarse = {step for step in release.resolution.values() if step >= 1000}
        if coarse:
            side.notes.append(f"{release.name}: cells have a resolution of {max(coarse)} ns")
        return side


def merge(sides: Sequence[Side], stat: str) -> Side:
    """Several boots as one side: every cell the lower median of its boots, a value that occurred.

    Parameters
    ----------
    sides
        Boots of the same build; they must agree in platform, clock and build type.
    stat
        ``"median-low"``.
    """
    if stat != "median-low":
        raise ValueError(f"stat is 'median-low', not {stat!r}")
    first = sides[0]
    tables: dict[str, SideTable] = {}
    for test in dict.fromkeys(t for side in sides for t in side.tables):
        blocks = [side.tables[test] for side in sides if test in side.tables]
        cells: dict[tuple[str, Cpu | None, int], dict[str, list[int]]] = {}
        for block in blocks:
            for at, row in enumerate(block.rows):
                key = (row.printed, row.cpu, -1 if row.cpu is not None else at)
                for metric, value in row.values.items():
                    cells.setdefault(key, {}).setdefault(metric, []).append(value)
        rows = tuple(
            SideRow(key[0], key[1], {m: statistics.median_low(v) for m, v in values.items()})
            for key, values in cells.items()
        )
        tables[test] = SideTable(test, blocks[0].metrics, rows)
    return Side(
        first.name, first.kind, first.platform, first.clock_hz, first.build, tables, first.unit,
        sum(s.boots for s in sides), list(dict.fromkeys(n for s in sides for n in s.notes)),
        first.cpus, {test: fault for side in sides for test, fault in side.faults.items()},
        all(side.banner for side in sides),
    )  # fmt: skip


@dataclass(frozen=True)
class JoinedRow:
    """One cpu on both sides; None where a side has no row for it."""

    label: str
    cpu: Cpu | None
    old: SideRow | None
    new: SideRow | None


@dataclass(frozen=True)
class JoinedTable:
    """One test on both sides."""

    test: str
    metrics: tuple[str, ...]
    rows: tuple[JoinedRow, ...]
    old: SideTable | None
    new: SideTable


@dataclass
class Join:
    """Two sides joined: tables, and notes about it."""

    old: Side
    new: Side
    how: str
    tables: list[JoinedTable]
    notes: list[str]

    def faults(self) -> list[str]:
        """Reasons not to publish the tables of the new side, one sentence each."""
        found = [f"{test}: {fault}" for test, fault in self.new.faults.items()]
        for table in self.tables:
            missing = [row.label for row in table.rows if row.new is None]
            if missing and table.test not in self.new.faults:
                found.append(f"{table.test}: no reading of cpu {' '.join(missing)}")
        lost = [test for test in self.old.tables if test not in self.new.tables]
        return found + [
            f"{test}: no reading, and the release before has this table"
            for test in lost if test not in self.new.faults
        ]  # fmt: skip


def check_comparable(old: Side, new: Side) -> list[str]:
    """Why two sides should not be compared, one sentence each; empty where nothing speaks against.

    A fact that one side does not state is no difference, unless it is a console with a banner: that
    is a firmware of its own, which may differ in it. Otherwise `_unstated` names the fact.
    """
    found = []
    for what, a, b in _facts(old, new):
        mute = new if a else old
        if a and b and a != b:
            found.append(f"{what}: {old.name} has {a}, {new.name} has {b}")
        elif bool(a) != bool(b) and mute.banner and "table" not in (old.kind, new.kind):
            other = old if a else new
            found.append(f"{what}: {other.name} has {a or b}, {mute.name} does not state it")
    return found


def _facts(old: Side, new: Side) -> list[tuple[str, str | int | None, str | int | None]]:
    return [
        ("platform", old.platform, new.platform),
        ("clock", old.clock_hz, new.clock_hz),
        ("build type", old.build, new.build),
    ]


def _unstated(old: Side, new: Side) -> list[str]:
    """Facts that one of two consoles states, and the other, cut before its banner, does not."""
    if "table" in (old.kind, new.kind):
        return []
    return [
        f"{(new if a else old).name} does not state its {what}, {(old if a else new).name} has "
        f"{a or b}: not checked"
        for what, a, b in _facts(old, new)
        if bool(a) != bool(b) and not (new if a else old).banner
    ]


def _by_cpu(old: SideTable | None, new: SideTable, cpus: Iterable[Cpu]) -> list[JoinedRow]:
    before = {r.cpu: r for r in old.rows} if old else {}
    after = {r.cpu: r for r in new.rows}
    wanted = {c for c in (*before, *after) if c is not None} | set(cpus)
    return [JoinedRow(str(c), c, before.get(c), after.get(c)) for c in sorted(wanted)]


def _by_row(old: SideTable | None, new: SideTable) -> list[JoinedRow]:
    rows = []
    for at, row in enumerate(new.rows):
        before = old.rows[at] if old and at < len(old.rows) else None
        rows.append(JoinedRow(row.printed, row.cpu, before, row))
    return rows


def _decided(table: SideTable | None) -> bool:
    return table is None or all(r.cpu is not None for r in table.rows)


def join(old: Side, new: Side, how: str = "cpu", *, anyway: bool = False) -> Join:
    """Joins two sides test by test.

    Parameters
    ----------
    old, new
        The sides; a test that only the old one has is left out and said so.
    how
        ``"cpu"``: by cluster and core. Where labels do not say which cpu they mean, two consoles
        are joined by the place in the block and that is noted; with a table on either side it is
        refused. ``"row"``: by position, as the pages did.
    anyway
        Compare sides that differ in platform, clock or build type.

    Raises
    ------
    NotComparableError
        Where the sides differ and `anyway` is not given, or the cpus cannot be told.
    """
    if how not in ("cpu", "row"):
        raise ValueError(f"join is 'cpu' or 'row', not {how!r}")
    against = check_comparable(old, new)
    if against and not anyway:
        raise NotComparableError("; ".join(against) + " (--anyway compares them all the same)")
    notes = [f"compared although they differ in {a}" for a in against]
    notes += _unstated(old, new)
    notes += list(dict.fromkeys(old.notes + new.notes))
    tables: list[JoinedTable] = []
    order = [t for t in TESTS if t in new.tables] + [t for t in new.tables if t not in TESTS]
    for test in order:
        after, before = new.tables[test], old.tables.get(test)
        if before is None:
            notes.append(f"{old.name} has no {test}: its cells stand without a change")
        by = how
        if how == "cpu" and not (_decided(before) and _decided(after)):
            if before is not None and "table" in (old.kind, new.kind):
                raise NotComparableError(
                    f"{test}: the labels do not say which cpu they mean; --platform FILE names "
                    "them, --join row pairs by position"
                )
            by = "row"
            notes.append(f"{test}: cpus paired by their place in the block (unknown platform)")
        rows = _by_row(before, after) if by == "row" else _by_cpu(before, after, new.cpus)
        missing = [r.label for r in rows if r.new is None]
        if missing:
            notes.append(f"{new.name} {test}: no reading of cpu {' '.join(missing)}")
        tables.append(JoinedTable(test, after.metrics, tuple(rows), before, after))
    lost = [t for t in old.tables if t not in new.tables]
    if lost:
        notes.append(f"{new.name} has no {', '.join(lost)}")
    notes += [f"{new.name} {test}: {fault}" for test, fault in new.faults.items()]
    if not tables:
        raise InputError(f"{new.name}: no runtime-instrumentation test in it")
    return Join(old, new, how, tables, list(dict.fromkeys(notes)))
