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


def _with_source(table: _core.Table, source: int | None, title: str) -> Frame:
    """A table of the core with the number of its source behind its columns; not a copy."""
    frame = Frame(table, title)
    if source is None:
        return frame
    number = Column("source", "u32", lambda: (np.full(len(table), source, "u4"), None))
    return Frame([*(frame.column(name) for name in frame.columns), number], title)


def _of_sources(tables: list[_core.Table], title: str) -> Frame:
    """Tables of several sources below each other, with the number of each: a copy."""
    if not any(map(len, tables)):
        return Frame(_without_rows(tables[0].names, tables[0].types, tables[0].exponents), title)
    return Frame(_core.stack(tables, [], np.arange(len(tables), dtype="u4")), title)


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
        For each rule the number of a source and its records; None where they have a column
        ``source`` already.
    """

    def __init__(self, tables: Mapping[str, list[tuple[int | None, _core.Table]]]) -> None:
        self._tables = tables

    def __getitem__(self, rule: str) -> Frame:
        return concat([_with_source(table, i, rule) for i, table in self._tables[rule]], rule)

    def tables(self, rule: str) -> list[tuple[int | None, _core.Table]]:
        """The core tables of a rule, with the numbers of their sources."""
        return self._tables[rule]

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
    problems = [_of_sources([r.problems() for r in records], "problems")]
    problems += [tables["problems"]] if "problems" in tables else []
    problems += [_trouble(i, info) for i, info in enumerate(infos) if info.message]
    tables["problems"] = concat([p for p in problems if len(p)] or problems[:1], "problems")
    tables["near"] = _of_sources([r.near() for r in records], "near misses")
    kept: dict[str, list[tuple[int | None, _core.Table]]] = {}
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
