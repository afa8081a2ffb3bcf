"""Records of one console, or of consoles of the same boots, to the tables of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from .. import _core
from ..boards.platforms import choose
from ..dataset.dataset import Part, SourceInfo
from ..frame.column import DTYPES
from ..frame.frame import Column, Frame, concat
from .options import Options

__all__ = ["reduce_records"]


def _with_source(table: _core.Table, source: int, title: str) -> Frame:
    """A table of the core with the number of its source behind its columns."""
    if len(table) == 0:
        return Frame(_without_rows(table.names, table.types, table.exponents), title)
    frame = Frame(table, title)
    number = Column("source", "u32", lambda: (np.full(len(table), source, "u4"), None))
    return Frame([*(frame.column(name) for name in frame.columns), number], title)


@cache
def _without_rows(
    names: tuple[str, ...], types: tuple[str, ...], exponents: tuple[int, ...]
) -> _core.Table:
    """Such a table without a row; most sources have no problems, and no near misses."""
    described = [*zip(names, types, exponents, strict=True), ("source", "u32", 0)]
    return _core.table_from_columns(
        [
            (name, kind, exp10, np.zeros(0, DTYPES[kind]), None, () if kind == "text" else None)
            for name, kind, exp10 in described
        ]
    )


class ByRule(Mapping[str, Frame]):
    """The records of each rule; a frame is made when it is asked for, which most never are.

    Parameters
    ----------
    tables : mapping of str to list of (int, core table)
        For each rule the number of a source and its records.
    """

    def __init__(self, tables: Mapping[str, list[tuple[int, _core.Table]]]) -> None:
        self._tables = tables

    def __getitem__(self, rule: str) -> Frame:
        return concat([_with_source(table, i, rule) for i, table in self._tables[rule]], rule)

    def __contains__(self, rule: object) -> bool:
        return rule in self._tables

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def reduce_records(
    infos: list[SourceInfo], records: list[_core.Records], options: Options, together: bool
) -> Part:
    """The tables of one console, or of consoles of the same boots."""
    known, platform = choose(options.platform)
    told: dict[str, int] = {}
    tables = {
        name: Frame(table, name)
        for name, table in _core.reduce(
            records,
            clock_hz=options.clock or 0,
            tee_offset=options.tee_offset,
            together=together,
            platform=platform,
            topology=[board.for_core() for board in known.values()],
            max_keys=options.limits.keys,
            told=told,
        ).items()
    }
    _tell_keys(infos, options.limits.keys, told["left_out"])
    problems = [_with_source(r.problems(), i, "problems") for i, r in enumerate(records)]
    problems += [tables["problems"]] if "problems" in tables else []
    problems += [_trouble(i, info) for i, info in enumerate(infos) if info.message]
    tables["problems"] = concat([p for p in problems if len(p)] or problems[:1], "problems")
    near = [_with_source(r.near(), i, "near misses") for i, r in enumerate(records)]
    tables["near"] = concat(near, "near misses")
    kept: dict[str, list[tuple[int, _core.Table]]] = {}
    for i, one in enumerate(records):
        for rule, (name, count) in enumerate(zip(one.rules, one.counts(), strict=True)):
            if count:
                kept.setdefault(name, []).append((i, one.table(rule)))
    return Part(infos, tables, ByRule(kept))


def _tell_keys(infos: list[SourceInfo], most: int, left_out: int) -> None:
    """Say that there were more than `most` keys: those of `left_out` readings are not kept.

    A label that is another one on every line makes every line a key.
    """
    if left_out:
        text = f"has more than {most} keys, {left_out} readings of others are left out"
        for info in infos:
            if info.state == "read":
                info.state, info.message = "limit", f"{text} (--limit keys=N)"


def _trouble(source: int, info: SourceInfo) -> Frame:
    """A source's own misfortune as a row of problems."""
    return Frame(
        [
            Column.of("source", np.array([source], "u4")),
            Column.of("line", np.array([info.lines], "u8")),
            Column.of("offset", np.array([info.bytes], "u8")),
            Column.of("rule", [""], np.zeros(1, "?")),
            Column.of("reason", [info.state]),
            Column.of("detail", [info.message]),
            Column.of("excerpt", [""], np.zeros(1, "?")),
        ],
        "problems",
    )
