"""Column: one column of a frame, its data gathered when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import UnknownName
from ..util.text import clean

__all__ = ["DTYPES", "Column"]

DTYPES: dict[str, np.dtype[Any]] = {
    "u64": np.dtype("u8"),
    "i64": np.dtype("i8"),
    "u32": np.dtype("u4"),
    "f64": np.dtype("f8"),
    "bool": np.dtype("?"),
    "text": np.dtype("u4"),
}

#: Data of rows, and which of them have a value; None means all.
Items = tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]
Loader = Callable[[], Items]


class Column:
    """One column: data, which rows have a value, and the words of a text column.

    Parameters
    ----------
    name : str
    type : {"u64", "i64", "u32", "f64", "bool", "text"}
    load : callable
        Gives ``(data, valid)`` when first asked for; `valid` None means that every row has a
        value.
    words : sequence of bytes, or a callable that gives it
        Text only: row i reads ``words[data[i]]``.
    exp10 : int
        A value is ``data * 10**exp10``.
    gather : callable, optional
        Gives ``(data, valid)`` of the rows of an index, so that a few rows of a column that was not
        loaded cost no more than these.
    length : int, optional
        Rows, where they are known before the data.
    """

    __slots__ = (
        "_data", "_gather", "_length", "_load", "_texts", "_valid", "_words", "exp10", "name",
        "type",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        type: str,
        load: Loader,
        words: Sequence[bytes] | Callable[[], Sequence[bytes]] | None = None,
        exp10: int = 0,
        gather: Callable[[npt.NDArray[Any]], Items] | None = None,
        length: int | None = None,
    ) -> None:
        self.name = name
        self.type = type
        self.exp10 = exp10
        self._gather = gather
        self._length = length
        self._load: Loader | None = load
        self._words = words
        self._texts: npt.NDArray[np.object_] | None = None
        self._data: npt.NDArray[Any] | None = None
        self._valid: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        data: npt.ArrayLike,
        valid: npt.NDArray[np.bool_] | None = None,
        type: str | None = None,
        exp10: int = 0,
    ) -> Column:
        """A column from values: integers, floats, booleans or strings (None = missing)."""
        array: npt.NDArray[Any]
        if isinstance(data, (list, tuple)) and any(isinstance(v, (str, bytes)) for v in data):
            array = np.empty(len(data), dtype="O")  # a NumPy str would lose trailing NULs
            array[:] = data
        else:
            array = np.asarray(data)
        if array.dtype.kind in "OUST":
            return cls._of_text(name, array, valid)
        kinds = {"u": "u64", "i": "i64", "f": "f64", "b": "bool"}
        kind = type or ("u32" if array.dtype == np.uint32 else kinds[array.dtype.kind])
        array = np.ascontiguousarray(array, dtype=DTYPES[kind])
        return cls(name, kind, lambda: (array, valid), exp10=exp10)

    @classmethod
    def late(cls, name: str, texts: Callable[[], Sequence[str]]) -> Column:
        """A text column whose values are worked out when it is first asked for."""

        @cache
        def made() -> Column:
            return cls.of(name, np.array(texts(), "O"))

        return cls(name, "text", lambda: (made().data, made().valid), lambda: made().words)

    @classmethod
    def _of_text(
        cls, name: str, array: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None
    ) -> Column:
        given = [None if v is None else v if isinstance(v, bytes) else str(v) for v in array]
        codes: dict[bytes, int] = {}
        data = np.zeros(len(given), "u4")
        present = np.ones(len(given), "?") if valid is None else valid.copy()
        for i, value in enumerate(given):
            if value is None:
                present[i] = False
                continue
            word = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
            data[i] = codes.setdefault(word, len(codes))
        return cls(name, "text", lambda: (data, present), tuple(codes))

    @classmethod
    def all_of(cls, table: _core.Table) -> list[Column]:
        """The columns of a core table: its memory, not a copy."""
        described = zip(table.names, table.types, table.exponents, strict=True)
        return [cls._of_table(table, i, *what) for i, what in enumerate(described)]

    @classmethod
    def _of_table(cls, table: _core.Table, index: int, name: str, kind: str, exp10: int) -> Column:
        def load() -> Items:
            valid = table.valid(index)
            return table.column(index), None if valid.all() else valid

        words = (lambda: table.words(index) or ()) if kind == "text" else None
        return cls(name, kind, load, words, exp10)

    def _loaded(self) -> None:
        load = self._load
        if load is None:
            return
        data, valid = load()  # two threads may both do it, with one result
        data = data.view()
        data.flags.writeable = False
        self._data, self._valid = data, valid
        self._load = self._gather = None

    @property
    def data(self) -> npt.NDArray[Any]:
        """The stored items, read-only; an item in a row without a value means nothing."""
        self._loaded()
        assert self._data is not None
        return self._data

    @property
    def valid(self) -> npt.NDArray[np.bool_] | None:
        """Which rows have a value; None means all."""
        self._loaded()
        return self._valid

    @property
    def words(self) -> Sequence[bytes]:
        """The distinct words of a text column, else empty."""
        if callable(self._words):
            self._words = self._words()
        return self._words or ()

    @property
    def texts(self) -> npt.NDArray[np.object_]:
        """The words as str (invalid UTF-8 replaced)."""
        if self._texts is None:
            texts = np.empty(len(self.words), dtype=object)
            texts[:] = [word.decode("utf-8", "replace") for word in self.words]
            self._texts = texts
        return self._texts

    def __len__(self) -> int:
        return len(self.data) if self._length is None else self._length

    def values(self) -> npt.NDArray[Any]:
        """The column as one uses it.

        Returns
        -------
        ndarray
            Numbers: the stored items themselves (a masked array over them where some are
            missing). Text: an object array of str, None where missing.
        """
        if self.type == "text":
            return self._text_values()
        if self.valid is None:
            return self.data
        masked: npt.NDArray[Any] = np.ma.MaskedArray(self.data, mask=~self.valid, copy=False)
        return masked

    def _text_values(self) -> npt.NDArray[np.object_]:
        if len(self.words) == 0:
            return np.full(len(self), None, dtype=object)
        out: npt.NDArray[np.object_] = self.texts[self.data]
        if self.valid is not None:
            out[~self.valid] = None
        return out

    def cell(self, row: int) -> Any:
        """One value as a plain Python object, None where missing."""
        if self.valid is not None and not self.valid[row]:
            return None
        if self.type == "text":
            return self.texts[self.data[row]]
        return self.data[row].item()

    def part(self, begin: int, end: int) -> list[Any]:
        """The cells of the rows from `begin` to before `end`."""
        data = self.data[begin:end]
        if self.type == "text" and not len(self.words):
            return [None] * len(data)
        out: list[Any] = self.texts[data].tolist() if self.type == "text" else data.tolist()
        if self.valid is None:
            return out
        valid = self.valid[begin:end].tolist()
        return [v if ok else None for v, ok in zip(out, valid, strict=True)]

    def take(self, index: npt.NDArray[Any], present: npt.NDArray[np.bool_] | None = None) -> Column:
        """The rows of `index` (integers), gathered when first asked for.

        `present` False gives a missing value whatever the index.
        """

        def gather(rows: npt.NDArray[Any] | None = None) -> Items:
            data, valid = self.gathered(index if rows is None else index[rows])
            if present is not None and not present.all():
                there = present if rows is None else present[rows]
                valid = there if valid is None else valid & there
            return data, valid

        words = (lambda: self.words) if self.type == "text" else None
        return Column(self.name, self.type, gather, words, self.exp10, gather, len(index))

    def gathered(self, index: npt.NDArray[Any]) -> Items:
        """Data and validity of the rows of `index`; others are not loaded if they need not be."""
        gather = self._gather  # another thread may load the column now
        if gather is not None:
            return gather(index)
        if len(self) == 0:
            return np.zeros(len(index), DTYPES[self.type]), np.zeros(len(index), "?")
        return self.data[index], None if self.valid is None else self.valid[index]

    def renamed(self, name: str) -> Column:
        """The same column under another name."""
        words = (lambda: self.words) if self.type == "text" else None
        return Column(name, self.type, lambda: (self.data, self.valid), words, self.exp10)

    def spec(self) -> tuple[Any, ...]:
        """The column as `_core.table_from_columns` takes it."""
        words = self.words if self.type == "text" else None
        return (self.name, self.type, self.exp10, self.data, self.valid, words)

    def matching(self, wanted: Any, must: bool = True) -> npt.NDArray[np.bool_]:
        """Which rows hold `wanted`: a value, None (missing), or several of them.

        With `must` a value that no row has is an error.

        Raises
        ------
        UnknownName
            The column has rows, and the value is in none of them.
        """
        several = isinstance(wanted, (list, tuple, set, frozenset, range, np.ndarray))
        out = np.zeros(len(self), "?")
        for one in wanted if several else [wanted]:
            hit = self._equal(one)
            if must and len(self) and not hit.any():
                raise UnknownName(
                    f"no row has {self.name} = {clean(repr(one))}; there are: {self._inventory()}"
                )
            out |= hit
        return out

    def _equal(self, one: Any) -> npt.NDArray[np.bool_]:
        valid = np.ones(len(self), "?") if self.valid is None else self.valid
        if one is None:
            return ~valid
        if self.type != "text":
            equal: npt.NDArray[np.bool_] = valid & (self.data == one)
            return equal
        codes = np.flatnonzero(self.texts == str(one))
        hit: npt.NDArray[np.bool_] = valid & np.isin(self.data, codes)
        return hit

    def _inventory(self, limit: int = 12) -> str:
        """The distinct values, for an error message."""
        data = self.data if self.valid is None else self.data[self.valid]
        distinct = np.unique(data)
        if self.type == "text":
            shown = [repr(w) for w in sorted({self.texts[i] for i in distinct})]
        else:
            shown = [str(v) for v in distinct[: limit + 1].tolist()]
        more = max(len(distinct), len(shown)) - limit
        text = ", ".join(clean(word) for word in shown[:limit]) or "none"
        return f"{text} and {more} more" if more > 0 else text

    def cells(self) -> list[Any]:
        """All values as plain Python objects (decimals as such), None where missing."""
        if self.type == "text":
            return list(self.values())
        out: list[Any] = self.data.tolist()
        if self.exp10:
            out = [Decimal(v).scaleb(self.exp10) for v in out]
        if self.valid is None:
            return out
        return [v if ok else None for v, ok in zip(out, self.valid.tolist(), strict=True)]
