"""Published release tables as a source: the same tables of readings as a console gives.

A release is a boot (one run on one board), a table a test, a cell a reading that points at its
line. Where the clock of the board is known the values are ticks, so that they stand beside those
of a console.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..boards.platforms import choose
from ..dataset.dataset import Part, SourceInfo
from ..frame.frame import Column, Frame
from ..sources.digest import Digest
from ..sources.form import Bundle, Match
from .history import revisions
from .model import Release, Table, distinct, exchange_class
from .pages import Place, bundle, is_member, is_published, published_folders, read_text

__all__ = ["bundles", "load", "releases_of", "revisions", "sniff"]


def sniff(head: bytes, source: Any) -> Match:
    """How well the source fits a release table."""
    if is_published(head, source.name):
        return Match(90, "tables of PSCI latencies per cpu")
    return Match(0, "")


def bundles(folder: Path) -> Iterator[Bundle]:
    """The folders at and below one that hold the CSV files of a release; each is one source."""
    for place in published_folders(folder):
        files = frozenset(file for file in place.glob("*.csv") if is_member(file))
        yield Bundle(place, files, partial(_open_bundle, place))


def _open_bundle(folder: Path) -> io.BytesIO:
    return io.BytesIO(bundle(folder))


def releases_of(source: Any, options: Any) -> tuple[list[Release], bytes]:
    """The releases of a source, and its bytes."""
    known, name = choose(options.platform)
    data = source.read_bytes(options.limits)
    place = Place(source.name, source.path, known, known[name] if name else None)
    found = read_text(data, place)
    if source.release is not None:
        found = [r for r in found if source.release in (r.label, r.name)]
    return found, data


class _Unit(NamedTuple):
    """How a column is stored: unit, clock (0: none), ns of a stored step, resolution in steps."""

    unit: str
    clock_hz: int
    step_ns: int
    resolution: int


def _unit_of(release: Release, table: Table, metric: str) -> _Unit:
    """Ticks where all values of the release are whole ticks, else ns."""
    resolution = release.resolution[table.test, metric]
    tick = release.platform.tick_ns if release.platform else None
    hz = release.platform.clock_hz if release.platform else None
    on_grid = bool(tick) and all(c.ns % (tick or 1) == 0 for _, _, _, c in release.cells())
    if tick and hz and on_grid:
        return _Unit("tick", hz, tick, max(1, resolution // tick))
    return _Unit("ns", 0, 1, resolution)


class _Rows:
    """Rows of a table under construction: one list per column, None is a missing value."""

    def __init__(self, **types: str) -> None:
        self.types = types
        self.values: dict[str, list[Any]] = {name: [] for name in types}

    def add(self, **cells: Any) -> int:
        for name, column in self.values.items():
            column.append(cells.get(name))
        return len(next(iter(self.values.values()))) - 1

    def frame(self, title: str) -> Frame:
        columns = []
        for name, kind in self.types.items():
            values = self.values[name]
            valid = np.array([v is not None for v in values], bool)
            if kind == "text":
                data = np.array(["" if v is None else v for v in values], "O")
            else:
                data = np.array([0 if v is None else v for v in values], kind)
            columns.append(Column.of(name, data, None if valid.all() else valid))
        return Frame(columns, title)


def _tables() -> dict[str, _Rows]:
    return {
        "boots": _Rows(
            source="u4", boot="u4", first_line="u8", first_offset="u8", reason="text",
            chain="text", version="text", platform="text", build="text", built="text",
            clock_hz="u8",
        ),
        "keys": _Rows(
            format="text", test="text", metric="text", operation="text", place="text",
            labels="text", unit="text", exchange="text", cluster="u4", core="u4", cpu="u4",
            exp10="i8", clock_hz="u8", origin="text", resolution="u8", better="text",
            observation="text",
        ),
        "readings": _Rows(
            key="u4", source="u4", boot="u4", run="u4", block="u4", value="i8", line="u8",
            offset="u8",
        ),
        "tests": _Rows(
            source="u4", boot="u4", block="u4", test="text", title="text", suite="text",
            verdict="text", reason="text", records="u4", expected="u4", partial="?",
            cpus="text", channel="text", first_line="u8", first_offset="u8", last_line="u8",
        ),
        "problems": _Rows(
            source="u4", line="u8", offset="u8", rule="text", reason="text", detail="text",
            excerpt="text",
        ),
    }  # fmt: skip


def _add_table(rows: dict[str, _Rows], keys: dict[tuple[Any, ...], int], release: Release,
               table: Table, boot: int, block: int) -> None:  # fmt: skip
    expected = len(release.platform.cpus) if release.platform and release.platform.cpus else None
    rows["tests"].add(
        source=0, boot=boot, block=block, test=table.test, title=table.caption or None,
        records=len(table.rows), expected=expected,
        partial=len(table.rows) < expected if expected else None, cpus=table.identity.how,
        first_line=table.line, last_line=table.rows[-1].line,
    )  # fmt: skip
    for metric in table.metrics:
        unit = _unit_of(release, table, metric)
        for at, row in enumerate(table.rows):
            cell = row.cells.get(metric)
            if cell is None:
                continue
            place = {"cluster": row.cpu.cluster, "core": row.cpu.core} if row.cpu else {
                "cpu": at, "place": row.label}  # fmt: skip
            key = (table.test, metric, *sorted(place.items()), unit)
            if key not in keys:
                keys[key] = rows["keys"].add(
                    format="tftf", test=table.test, metric=metric, unit=unit.unit,
                    exchange=exchange_class(table.test, metric), exp10=0,
                    clock_hz=unit.clock_hz or None,
                    origin="platform" if unit.clock_hz else None,
                    resolution=unit.resolution, better="lower", observation="boot", **place,
                )  # fmt: skip
            rows["readings"].add(
                key=keys[key], source=0, boot=boot, block=block, value=cell.ns // unit.step_ns,
                line=cell.line,
            )  # fmt: skip


def part_of(releases: list[Release], info: SourceInfo) -> Part:
    """The tables of readings of the releases of one source."""
    rows = _tables()
    keys: dict[tuple[Any, ...], int] = {}
    block = 0
    for number, release in enumerate(releases):
        board = release.platform
        boot = rows["boots"].add(
            source=0, boot=number, first_line=min(t.line for t in release.tables.values()),
            reason=f"published as {release.label}", version=release.label,
            platform=board.name if board else None, clock_hz=board.clock_hz if board else None,
        )  # fmt: skip
        for table in release.tables.values():
            _add_table(rows, keys, release, table, boot, block)
            block += 1
        for line, detail in release.problems:
            rows["problems"].add(
                source=0, line=line, rule="published", reason="cell", detail=detail
            )
    info.problems = len(rows["problems"].values["line"])
    info.records = len(rows["readings"].values["key"])
    info.formats = ("tftf",)
    return Part([info], {name: table.frame(name) for name, table in rows.items()})


def load(source: Any, options: Any) -> Part:
    """Read a source as release tables."""
    releases, data = releases_of(source, options)
    info = SourceInfo(source.name, form="published", bytes=len(data))
    info.identity = Digest.of(data)
    info.lines = data.count(b"\n")
    sets = distinct(releases)
    releases = [first for first, _ in sets]
    for first, reprints in sets:
        info.why += first.assumptions()
        if reprints:
            info.why.append(f"{first.name}: printed {len(reprints) + 1} times, one data set")
    if not releases:
        info.state = "not recognised"
        info.message = f"{os.fspath(source.name)}: no release table could be read"
    return part_of(releases, info)
