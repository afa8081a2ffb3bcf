"""Tables of several sources put together: ids shifted, keys made one, rows copied by NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..frame.frame import Column, Frame, concat

__all__ = ["merge_keys", "merge_tables", "shifted"]

#: Columns that hold a row number of another table: raised when tables are put together.
ROW_OF = {"boot": "boots", "call": "calls", "span": "spans"}


def shifted(column: Column, by: int) -> Column:
    """The column with `by` added to every value."""
    if by == 0:
        return column

    def load() -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        return column.data + column.data.dtype.type(by), column.valid

    return Column(column.name, column.type, load, exp10=column.exp10)


def _mapped(column: Column, ids: npt.NDArray[Any]) -> Column:
    """The column with every value replaced by ``ids[value]``."""

    def load() -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        data = column.data
        if column.valid is not None:
            data = np.where(column.valid, data, 0)
        return (ids[data] if len(ids) else data), column.valid

    return Column(column.name, column.type, load)


def merge_keys(parts: Sequence[Frame]) -> tuple[Frame, list[npt.NDArray[Any]]]:
    """One table of keys, and for each part the row that each of its keys has there.

    Parameters
    ----------
    parts : sequence of Frame
        Tables of keys with the same columns.

    Returns
    -------
    keys : Frame
        The distinct keys, in order of first use. Keys that differ in their resolution are one,
        of the coarsest.
    ids : list of ndarray of uint32
    """
    if len(parts) == 1:
        return parts[0], [np.arange(len(parts[0]), dtype="u4")]
    none = np.zeros(0, "u4")
    everything = _stacked(
        "keys", [_Move(part, 0, none, dict.fromkeys(ROW_OF.values(), 0)) for part in parts]
    )
    seen: dict[bytes, int] = {}
    first: list[int] = []
    codes = np.empty(len(everything), "u4")
    names = [name for name in everything.columns if name != "resolution"]
    for number, row in enumerate(_rows_as_bytes(everything.only(*names))):
        code = seen.setdefault(row, len(seen))
        if code == len(first):
            first.append(number)
        codes[number] = code
    bounds = np.cumsum([0, *map(len, parts)])
    ids = [codes[a:b] for a, b in itertools.pairwise(bounds)]
    merged = everything[np.array(first, "i8")]
    if "resolution" not in everything.columns or len(first) == len(everything):
        return merged, ids
    coarsest = np.zeros(len(first), "u8")
    np.maximum.at(coarsest, codes, everything.column("resolution").data)
    columns = [
        Column.of(name, coarsest) if name == "resolution" else merged.column(name)
        for name in merged.columns
    ]
    return Frame(columns, "keys"), ids


#: Rows that are laid side by side at a time: memory stays small however many there are.
BLOCK = 4096


def _rows_as_bytes(frame: Frame) -> Iterator[bytes]:
    """Each row as bytes that are the same where all cells are; texts as they are shown."""
    columns = [_comparable(frame.column(name)) for name in frame.columns]
    form = np.dtype([(f"f{i}", column.dtype) for i, column in enumerate(columns)])
    for begin in range(0, len(frame), BLOCK):
        block = np.empty(min(BLOCK, len(frame) - begin), form)
        for name, column in zip(block.dtype.names or (), columns, strict=True):
            block[name] = column[begin : begin + BLOCK]
        data = block.tobytes()
        yield from (data[i : i + form.itemsize] for i in range(0, len(data), form.itemsize))


def _comparable(column: Column) -> npt.NDArray[Any]:
    """The column as items that have the same bytes where its cells are equal."""
    data = column.data
    if column.type == "text":
        codes: dict[str, int] = {}
        same = np.array([codes.setdefault(text, len(codes)) for text in column.texts], "u4")
        data = same[data] if len(same) else np.zeros(len(data), "u4")
    elif column.type == "f64":
        data = data + 0.0  # -0.0 is 0.0
    if column.valid is None:
        return data
    items = np.zeros(len(data), [("there", "?"), ("item", data.dtype)])
    items["there"] = column.valid
    items["item"] = np.where(column.valid, data, 0)
    return items


def merge_tables(
    parts: Sequence[Mapping[str, Frame]], first_source: Sequence[int], copied: bool = False
) -> dict[str, Frame]:
    """The tables of several parts as those of one data set.

    Parameters
    ----------
    parts : sequence of mappings
        The tables of each part by name. A column ``source`` counts the part's own sources,
        ``key`` is a row of its ``keys``, ``boot`` of its ``boots`` (except in ``boots`` itself,
        where it counts in the source), ``call`` of its ``calls``.
    first_source : sequence of int
        The number that the first source of each part has in the data set.
    copied : bool
        Copy everything at once, so that the tables of the parts can be let go.

    Returns
    -------
    dict
    """
    if len(parts) == 1 and first_source[0] == 0:
        return dict(parts[0])
    names = dict.fromkeys(name for part in parts for name in part)
    with_keys = [part["keys"] for part in parts if "keys" in part]
    keys, ids = merge_keys(with_keys) if with_keys else (None, [])
    ids_of = iter(ids)
    offsets = dict.fromkeys(ROW_OF.values(), 0)
    made: dict[str, list[_Move]] = {name: [] for name in names}
    for part, source in zip(parts, first_source, strict=True):
        own = next(ids_of) if "keys" in part else np.zeros(0, "u4")
        for name, frame in part.items():
            if name != "keys":
                made[name].append(_Move(frame, source, own, dict(offsets)))
        for name in offsets:
            offsets[name] += len(part.get(name, ()))
    stacked = _copied if copied else _stacked
    out = {name: stacked(name, moves) for name, moves in made.items() if moves}
    if keys is not None:
        out["keys"] = Frame(keys.to_core(), "keys") if copied else keys
    return out


class _Move(NamedTuple):
    """A part's table, and its ids in the data set: offsets, rows of keys."""

    frame: Frame
    source: int
    ids: npt.NDArray[Any]
    offsets: Mapping[str, int]

    def by(self, table: str, name: str) -> int:
        """The offset of every value of a column."""
        if name == "source" or name.endswith("_source"):
            return self.source
        if name in ROW_OF and ROW_OF[name] != table:
            return self.offsets[ROW_OF[name]]
        return 0


def _stacked(table: str, moves: Sequence[_Move]) -> Frame:
    """The parts' tables below each other, with their ids as they are in the data set."""
    forms = [move.frame._form for move in moves]
    first = {form: n for n, form in reversed(list(enumerate(forms)))}
    # an archive of many small members has many tables without a row
    kept = [m for n, m in enumerate(moves) if len(m.frame) or n in first.values()]
    cores = [move.frame._table for move in kept]
    known = [core for core in cores if core is not None]
    if len(first) > 1 or len(known) < len(kept):
        return concat([_moved(table, move) for move in kept], table)
    described = enumerate(zip(*forms[0], strict=True))
    return Frame([_stacked_column(table, kept, known, i, *how) for i, how in described], table)


def _copied(table: str, moves: Sequence[_Move]) -> Frame:
    """The same as one table of the core."""
    tables = [move.frame.to_core() for move in moves]
    if len({move.frame._form for move in moves}) > 1:
        return Frame(_stacked(table, moves).to_core(), table)
    renumber: list[tuple[int, npt.NDArray[Any], npt.NDArray[Any] | None]] = []
    for index, name in enumerate(tables[0].names):
        if name == "key":
            ends = np.cumsum([len(move.ids) for move in moves], dtype="u8")
            begins = np.concatenate([np.zeros(1, "u8"), ends[:-1]])
            renumber.append((index, begins, np.concatenate([move.ids for move in moves])))
            continue
        by = np.array([move.by(table, name) for move in moves], "u8")
        if by.any():
            renumber.append((index, by, None))
    return Frame(_core.stack(tables, renumber, None), table)


def _stacked_column(
    table: str,
    moves: Sequence[_Move],
    cores: Sequence[_core.Table],
    index: int,
    name: str,
    kind: str,
    exp10: int,
) -> Column:
    """A column of core tables of one form, without an object for each table's column."""
    merged: dict[bytes, int] = {}

    def words() -> Sequence[bytes]:
        for core in cores:
            for word in core.words(index) or ():
                merged.setdefault(word, len(merged))
        return tuple(merged)

    def load() -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        items = [core.column(index) for core in cores]
        valid = [core.valid(index) for core in cores]
        if kind == "text":
            words()
            items = [_renamed(i, c.words(index), merged) for i, c in zip(items, cores, strict=True)]
        elif name == "key":
            ids = [move.ids for move in moves]
            masked = [np.where(v, i, 0) for v, i in zip(valid, items, strict=True)]
            items = [d[i] if len(d) else i for d, i in zip(ids, masked, strict=True)]
        data, there = np.concatenate(items), np.concatenate(valid)
        by = np.array([move.by(table, name) for move in moves], data.dtype)
        if kind != "text" and by.any():
            data = data + np.repeat(by, [len(i) for i in items])
        return data, None if there.all() else there

    return Column(name, kind, load, words if kind == "text" else None, exp10)


def _renamed(
    items: npt.NDArray[Any], words: Sequence[bytes] | None, codes: Mapping[bytes, int]
) -> npt.NDArray[Any]:
    return np.array([codes[word] for word in words], "u4")[items] if words else items


def _moved(table: str, move: _Move) -> Frame:
    """A part's table with its ids as they are in the data set."""
    columns = []
    for name in move.frame.columns:
        column = move.frame.column(name)
        if name == "key":
            columns.append(_mapped(column, move.ids))
        else:
            columns.append(shifted(column, move.by(table, name)))
    return Frame(columns, table)
