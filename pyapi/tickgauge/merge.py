"""Tables of several sources put together: ids shifted, keys made one, rows copied by NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .frame import Column, Frame, concat

__all__ = ["merge_keys", "merge_tables", "shifted"]

#: Columns that hold a row number of another table: what is added when tables are put together.
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
        The distinct keys, in order of first use.
    ids : list of ndarray of uint32
    """
    if len(parts) == 1:
        return parts[0], [np.arange(len(parts[0]), dtype="u4")]
    everything = concat(parts, "keys")
    seen: dict[bytes, int] = {}
    first: list[int] = []
    codes = np.empty(len(everything), "u4")
    for number, row in enumerate(_rows_as_bytes(everything)):
        code = seen.setdefault(row, len(seen))
        if code == len(first):
            first.append(number)
        codes[number] = code
    bounds = np.cumsum([0, *map(len, parts)])
    ids = [codes[a:b] for a, b in itertools.pairwise(bounds)]
    return everything[np.array(first, "i8")], ids


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
    parts: Sequence[Mapping[str, Frame]], first_source: Sequence[int]
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
    made: dict[str, list[Frame]] = {name: [] for name in names}
    for part, source in zip(parts, first_source, strict=True):
        own = next(ids_of) if "keys" in part else np.zeros(0, "u4")
        for name, frame in part.items():
            if name != "keys":
                made[name].append(_moved(name, frame, source, own, offsets))
        for name in offsets:
            offsets[name] += len(part.get(name, ()))
    out = {name: concat(frames, name) for name, frames in made.items() if frames}
    if keys is not None:
        out["keys"] = keys
    return out


def _moved(
    table: str,
    frame: Frame,
    source: int,
    ids: npt.NDArray[Any],
    offsets: Mapping[str, int],
) -> Frame:
    """A part's table with its ids as they are in the data set."""
    columns = []
    for name in frame.columns:
        column = frame.column(name)
        if name == "source" or name.endswith("_source"):
            column = shifted(column, source)
        elif name == "key":
            column = _mapped(column, ids)
        elif name in ROW_OF and ROW_OF[name] != table:
            column = shifted(column, offsets[ROW_OF[name]])
        columns.append(column)
    return Frame(columns, table)
