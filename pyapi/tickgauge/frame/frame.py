"""Frame: the Python face of a table of the core.

A frame is a list of named columns of one length, read-only. Its columns are the core's own
memory where they come from one table, and are gathered with NumPy, when they are first asked
for, where rows were selected or sources merged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import UnknownName
from ..util.atomic_write import replacing, write_whole
from ..util.optional import need
from ..util.text import clean
from .column import DTYPES, Column
from .grid import Grid
from .labelled import labelled

__all__ = ["Column", "Frame", "concat"]

#: Rows that become Python objects at a time where a frame is iterated.
CHUNK = 1 << 12

#: Rows that a repr shows at most.
SHOWN = 20


class Frame:
    """Named columns of one length, read-only.

    ``frame["value"]`` and ``frame.value`` give a column as an array, ``frame[10:20]`` and
    ``frame[mask]`` give rows, ``frame.select(core=0)`` rows by value. It shows itself, and
    leaves for NumPy, pandas, polars, pyarrow, DuckDB and files by its ``to_...`` methods and the
    Arrow PyCapsule interface.

    Parameters
    ----------
    columns : iterable of Column, or a core table
    title : str
        The name of the rows, in the plural.
    """

    def __init__(self, columns: Iterable[Column] | _core.Table, title: str = "rows") -> None:
        self._table: _core.Table | None = None
        self._made: dict[str, Column] | None = None
        if isinstance(columns, _core.Table):
            self._table = columns
        else:
            self._columns = {column.name: column for column in columns}
        self._title = title

    @property
    def _columns(self) -> dict[str, Column]:
        """The columns by name; those of a core table are made when they are first needed."""
        if self._made is None:
            assert self._table is not None
            self._made = {column.name: column for column in Column.all_of(self._table)}
        return self._made

    @_columns.setter
    def _columns(self, columns: dict[str, Column]) -> None:
        self._made = columns

    def __getstate__(self) -> dict[str, Any]:
        """Pickled as one core table."""
        return {**self.__dict__, "_made": None, "_table": self.to_core()}

    # ---- looking ------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    @property
    def _form(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]:
        """Names, types and powers of ten of the columns."""
        if self._table is not None:
            return self._table.names, self._table.types, self._table.exponents
        all_of = self._columns.values()
        return tuple(self._columns), tuple(c.type for c in all_of), tuple(c.exp10 for c in all_of)

    def column(self, name: str) -> Column:
        """The column object: data, validity, words, power of ten."""
        try:
            return self._columns[name]
        except KeyError:
            raise UnknownName(
                f"no column {clean(repr(name))} in {self._title}; there are: "
                + ", ".join(self._columns)
            ) from None

    def __len__(self) -> int:
        if self._table is not None:
            return len(self._table)
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __getitem__(self, what: Any) -> Any:
        if isinstance(what, str):
            return self.column(what).values()
        if isinstance(what, (int, np.integer)):
            return self.row(int(what))
        if isinstance(what, slice):
            return self._rows(np.arange(len(self))[what])
        index = np.asarray(what)
        if not index.size:  # an empty list has no type of its own
            index = np.zeros(0, np.intp)
        if index.dtype == np.bool_:
            if len(index) != len(self):
                raise IndexError(f"a mask of {len(index)} for {len(self)} rows")
            index = np.flatnonzero(index)
        return self._rows(index)

    def row(self, index: int) -> dict[str, Any]:
        """One row as a dict of plain Python objects, None where missing."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return {name: column.cell(index) for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names, columns = list(self._columns), list(self._columns.values())
        for begin in range(0, len(self), CHUNK):
            parts = (column.part(begin, begin + CHUNK) for column in columns)
            for cells in zip(*parts, strict=True):
                yield dict(zip(names, cells, strict=True))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        columns = self._columns
        if name in columns:
            return columns[name].values()
        raise AttributeError(
            f"no column {name!r} in {self._title}; there are: " + ", ".join(columns),
            name=name,
            obj=self,
        )

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in self._columns if n.isidentifier())})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._columns)

    # ---- choosing -----------------------------------------------------------------------

    def _rows(self, index: npt.NDArray[Any]) -> Frame:
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._table = None
        new._columns = {name: column.take(index) for name, column in self._columns.items()}
        return new

    def select(self, **where: Any) -> Any:
        """The rows whose columns hold the given values.

        Parameters
        ----------
        **where
            ``column=value``; a list, tuple, set, range or array means any of these, None a
            missing value.

        Returns
        -------
        Frame
            Of the same kind.

        Raises
        ------
        UnknownName
            No such column, or no row has that value; the message lists those that exist.
        """
        return self._rows(self._where(where))

    def _where(self, where: Mapping[str, Any], must: bool = True) -> npt.NDArray[np.intp]:
        """The rows that `select` means."""
        keep = np.ones(len(self), "?")
        for name, wanted in where.items():
            keep &= self.column(name).matching(wanted, must)
        return np.flatnonzero(keep)

    def head(self, n: int = 10) -> Any:
        """The first `n` rows."""
        return self[:n]

    def only(self, *names: str) -> Frame:
        """The named columns, in that order, as a plain frame."""
        return Frame([self.column(name) for name in names], self._title)

    # ---- showing ------------------------------------------------------------------------

    def grid(self, limit: int | None = None) -> Grid:
        """The cells of the first `limit` rows (all if None) as a `Grid`."""
        part = self if limit is None or limit >= len(self) else self[:limit]
        return part._grid_of(self.columns)

    def _grid_of(self, names: Sequence[str]) -> Grid:
        cells = [self._grid_cells(name) for name in names]
        wide = [name for name in names if self._columns[name].type == "u64"]
        return Grid(names, zip(*cells, strict=True), wide=wide)

    def _grid_cells(self, name: str) -> list[Any]:
        """A column as plain Python objects (decimals as such), None where missing."""
        return self._columns[name].cells()

    def _shown_columns(self) -> list[str]:
        """The columns of a repr: those that hold anything."""
        return [n for n, c in self._columns.items() if c.valid is None or c.valid.any()]

    def _shown_grid(self) -> tuple[Grid, str]:
        part = self if len(self) <= SHOWN else self[:SHOWN]
        more = f"... {len(self) - SHOWN} more" if len(self) > SHOWN else ""
        return part._grid_of(part._shown_columns()), more

    def __repr__(self) -> str:
        head = f"{len(self)} {self._title}"
        if not len(self):
            return f"{head}; columns: {', '.join(self._columns)}"
        grid, more = self._shown_grid()
        return "\n".join(part for part in (head, grid.to_text("  "), more) if part)

    def _repr_html_(self) -> str:
        grid, more = self._shown_grid()
        return grid.to_html(f"{len(self)} {self._title}") + (f"<p>{more}</p>" if more else "")

    # ---- leaving ------------------------------------------------------------------------

    def to_core(self) -> _core.Table:
        """The frame as one core table (made once)."""
        if self._table is None:
            self._table = _core.table_from_columns([c.spec() for c in self._columns.values()])
        return self._table

    def __arrow_c_schema__(self) -> object:
        return self.to_core().__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.to_core().__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_core().__arrow_c_stream__(requested_schema)

    def structured_dtype(self) -> np.dtype[Any]:
        """The dtype of `to_structured`: packed, in column order, ``valid`` last."""
        names = [*self._columns, "valid"]
        formats = [*(DTYPES[c.type] for c in self._columns.values()), np.dtype("u8")]
        sizes = [f.itemsize for f in formats]
        offsets = [sum(sizes[:i]) for i in range(len(sizes))]
        return np.dtype(
            {"names": names, "formats": formats, "offsets": offsets, "itemsize": sum(sizes)}
        )

    def to_structured(self) -> npt.NDArray[np.void]:
        """A packed structured array, one item a row: a copy.

        Returns
        -------
        ndarray, shape (n,)
            One field a column, without padding: ``<u8 i8 u4 f8 ?``, text as ``u4`` codes into
            ``frame.column(name).words``. The last field ``valid`` (u8) has bit c set where
            column c has a value.
        """
        out: npt.NDArray[np.void] = np.empty(len(self), dtype=self.structured_dtype())
        mask = np.zeros(len(self), "u8")
        for i, (name, column) in enumerate(self._columns.items()):
            out[name] = column.data
            bit = np.uint64(1 << i)
            mask |= bit if column.valid is None else np.where(column.valid, bit, np.uint64(0))
        out["valid"] = mask
        return out

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a frame has one array a column: a structured array is a copy")
        out = self.to_structured()
        return out if dtype is None else out.astype(dtype)

    def to_pandas(self) -> Any:
        """A pandas DataFrame; text is categorical, integers with gaps are nullable."""
        pd = need("pandas", "pandas")
        return pd.DataFrame({name: _pandas(pd, c) for name, c in self._columns.items()})

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        return need("polars", "polars").DataFrame(self)

    def to_xarray(self, *dims: str) -> Any:
        """A Dataset of xarray (the ``xarray`` extra).

        Parameters
        ----------
        *dims : str
            Columns that become dimensions, such as ``"test", "metric", "core"``; without any, rows
            stay rows. Combinations that no row has are NaN, or an empty text.

        Raises
        ------
        InputError
            Two rows have the same place on the grid: name more dimensions, or select first.
        UnknownName
            No such column.
        """
        for name in dims:
            self.column(name)
        return labelled(self._columns, dims)

    def to_arrow(self) -> Any:
        """A pyarrow Table."""
        return need("pyarrow", "arrow").table(self)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file (by pyarrow)."""
        parquet = need("pyarrow.parquet", "arrow")
        table = self.to_arrow()
        with replacing(path) as file:
            parquet.write_table(table, file)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """CSV as text, or into a file."""
        return _write(self.grid().to_csv(), path)

    def to_md(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """A Markdown table as text, or into a file."""
        return _write(self.grid().to_md() + "\n", path)

    def to_rst(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """An RST table as text, or into a file."""
        return _write(self.grid().to_rst() + "\n", path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """An HTML table (escaped) as text, or into a file."""
        return _write(self.grid().to_html() + "\n", path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """A JSON list of rows as text, or into a file; u64 columns are strings."""
        return _write(json.dumps(self.grid().to_records(), indent=1) + "\n", path)


def _write(text: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return text
    write_whole(path, text.encode("utf-8", "replace"))
    return None


def _pandas(pd: Any, column: Column) -> Any:
    """One column as pandas likes it."""
    if column.type == "text":
        texts = list(dict.fromkeys(column.texts))
        place = {text: i for i, text in enumerate(texts)}
        back = np.array([place[text] for text in column.texts], "i8")
        codes = back[column.data] if len(column.words) else np.full(len(column), -1)
        if column.valid is not None:
            codes = np.where(column.valid, codes, -1)
        return pd.Categorical.from_codes(codes, categories=texts)
    if column.valid is None:
        return column.data
    if column.type == "f64":
        return np.where(column.valid, column.data, np.nan)
    kind = pd.arrays.BooleanArray if column.type == "bool" else pd.arrays.IntegerArray
    return kind(column.data.copy(), ~column.valid)


def concat(frames: Sequence[Frame], title: str | None = None) -> Frame:
    """Frames below each other; a column that a frame lacks is missing there.

    Columns of one name must have one type and one power of ten. Text dictionaries are merged,
    rows are copied with NumPy.
    """
    if len(frames) == 1:
        one = frames[0]
        held = one._columns.values() if one._table is None else one._table
        return Frame(held, title or one._title)
    names = dict.fromkeys(name for frame in frames for name in frame._columns)
    columns = [_joined(name, frames) for name in names]
    return Frame(columns, title or (frames[0]._title if frames else "rows"))


def _joined(name: str, frames: Sequence[Frame]) -> Column:
    parts = [(frame._columns.get(name), len(frame)) for frame in frames]
    first = next(column for column, _ in parts if column is not None)
    kind, exp10 = first.type, first.exp10
    for column, _ in parts:
        if column is not None and (column.type, column.exp10) != (kind, exp10):
            raise ValueError(f"column {name} is {kind} in one part and {column.type} in another")

    merged: dict[bytes, int] = {}

    def words() -> Sequence[bytes]:
        for column, _ in parts:
            for word in column.words if column is not None else ():
                merged.setdefault(word, len(merged))
        return tuple(merged)

    def load() -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        data, valid = [], []
        if kind == "text":
            words()
        for column, n in parts:
            if column is None:
                data.append(np.zeros(n, DTYPES[kind]))
                valid.append(np.zeros(n, "?"))
                continue
            items = column.data
            if kind == "text" and len(column.words):
                items = np.array([merged[word] for word in column.words], "u4")[items]
            data.append(items)
            valid.append(np.ones(n, "?") if column.valid is None else column.valid)
        all_valid = np.concatenate(valid)
        return np.concatenate(data), None if all_valid.all() else all_valid

    return Column(name, kind, load, words if kind == "text" else None, exp10)
