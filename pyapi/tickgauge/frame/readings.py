"""Readings: one measured value a row, with its key's columns beside it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..units import ns_factor
from .column import Items
from .frame import Column, Frame

__all__ = ["Readings", "convert", "counts_of", "ns_factors", "summary", "widths_of"]

#: Columns of a key, in the order in which readings show them.
KEY_COLUMNS = (
    "format",
    "test",
    "metric",
    "operation",
    "place",
    "cluster",
    "core",
    "cpu",
    "labels",
)


def ns_factors(keys: Frame) -> list[Fraction | None]:
    """`ns_factor` of every key."""
    columns = (keys.column(name).cells() for name in ("unit", "clock_hz", "exp10"))
    return [ns_factor(unit, hz, exp10 or 0) for unit, hz, exp10 in zip(*columns, strict=True)]


def convert(values: npt.NDArray[np.int64], factor: Fraction) -> npt.NDArray[np.float64]:
    """values * factor, each product rounded once, to the nearest double.

    Parameters
    ----------
    values : ndarray of int64, shape (n,)
    factor : Fraction
        Exact.

    Returns
    -------
    ndarray of float64, shape (n,)

    Notes
    -----
    Where value * numerator stays below 2^53 both operands of the division are exact doubles, so
    that IEEE division rounds the exact quotient. Larger products go through Python's integers,
    whose true division is correctly rounded, too, once for each distinct value.
    """
    num, den = factor.numerator, factor.denominator
    limit = (1 << 53) // num if den < 1 << 53 else 0
    small = (values <= limit) & (values >= -limit)
    if small.all():
        return values * np.int64(num) / np.float64(den)
    out = np.empty(len(values))
    out[small] = values[small] * np.int64(num) / np.float64(den)
    distinct, back = np.unique(values[~small], return_inverse=True)
    out[~small] = np.array([v * num / den for v in distinct.tolist()])[back]
    return out


def _key_of(readings: Frame) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    column = readings.column("key")
    return column.data, column.valid


class Readings(Frame):
    """Measured values, one a row.

    Columns: the key's (``format test metric operation place cluster core cpu labels``), where it
    was measured (``boot`` is a row of the data set's boots, ``run`` and ``block`` count inside
    the source), ``value`` (the stored integer: times ``10**exp10`` it is in ``unit``), ``ns``
    (a converted copy), and where it stands (``source``, ``line``, ``offset``). ``key`` is a row
    of `keys`.

    Attributes
    ----------
    keys : Frame
        The measured keys, one row each, with unit, clock, resolution and direction.
    """

    keys: Frame

    @classmethod
    def join(cls, readings: Frame, keys: Frame) -> Readings:
        """Put the key's columns beside each reading.

        Parameters
        ----------
        readings : Frame
            Columns key, source, boot, run, block, value, line, offset.
        keys : Frame
            As the core makes it.
        """
        for name, frame in (("readings", readings), ("keys", keys)):
            if not isinstance(frame, Frame):
                raise TypeError(f"{name} is a Frame, not {type(frame).__name__}")

        def of_key(name: str) -> Column:
            column = keys.column(name)
            return _late(column, readings)

        own = {name: readings.column(name) for name in readings.columns}
        columns = [of_key(name) for name in KEY_COLUMNS]
        columns += [own.pop(name) for name in ("boot", "run", "block", "value")]
        columns += [of_key("exp10"), of_key("unit"), _ns_column(readings, keys)]
        columns += [own.pop(name) for name in ("source", "line", "offset", "key")]
        new = cls([*columns, *own.values()], "readings")
        new.keys = keys
        return new

    def renumbered(self) -> Readings:
        """The same readings with only their own keys, numbered anew."""
        column = self.column("key")
        used, back = np.unique(column.data, return_inverse=True)
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._table = None
        numbers = back.ravel().astype("u4")
        new._columns = {**self._columns, "key": Column.of("key", numbers, column.valid, "u32")}
        new.keys = self.keys[used]
        return new

    def spread(self, most: int = 1_000_000) -> Readings:
        """The same with each row as often as it counts: rows of histograms one by one.

        Parameters
        ----------
        most : int
            Rows that come out at most, or one a row that counts: beyond it all counts are scaled
            down alike, so that shares stay and rare values are kept.
        """
        counts = counts_of(self)
        if counts is None or (counts <= 1).all():
            return self
        total = int(counts.sum())
        if total > most:
            counts = np.maximum(counts // np.uint64(-(-total // most)), (counts > 0).astype("u8"))
        spread = self._rows(np.repeat(np.arange(len(self)), counts.astype("i8")))
        assert isinstance(spread, Readings)
        return spread

    @property
    def ticks(self) -> npt.NDArray[np.int64]:
        """The values as counter ticks: the int64 column itself, not a copy.

        Raises
        ------
        InputError
            Some of the readings are not in ticks.
        """
        units = self._units()
        if len(self) and units != ["tick"]:
            raise InputError(
                f"not all readings are in ticks (units: {', '.join(units)}): .value has the "
                "stored integers, .ns converts, .select(...) chooses"
            )
        return self.column("value").data

    @property
    def ns(self) -> npt.NDArray[np.float64]:
        """The values in nanoseconds: a float64 copy, NaN where no conversion is known.

        Raises
        ------
        InputError
            None of the readings can be converted; the message says which fact is missing.
        """
        column = self.column("ns")
        if column.valid is None:
            return column.data
        if len(self) and not column.valid.any():
            raise InputError(
                f"no clock is known for these readings (units: {', '.join(self._units())}): "
                "read them with clock=HZ (--clock HZ)"
            )
        return np.where(column.valid, column.data, np.nan)

    def _units(self) -> list[str]:
        column = self.column("unit")
        used = column.data if column.valid is None else column.data[column.valid]
        return sorted(str(column.texts[i]) for i in np.unique(used))

    def _grid_cells(self, name: str) -> list[Any]:
        """Values are shown as the decimals they are."""
        cells = super()._grid_cells(name)
        if name != "value":
            return cells
        exponents = super()._grid_cells("exp10")
        return [
            v if v is None or not e else Decimal(v).scaleb(e)
            for v, e in zip(cells, exponents, strict=True)
        ]

    def _shown_columns(self) -> list[str]:
        """A repr leaves out columns that the value already states, and ids."""
        return [n for n in super()._shown_columns() if n not in ("exp10", "key", "offset")]


def _late(column: Column, readings: Frame) -> Column:
    """A key's column at every reading, gathered when first asked for."""

    def gather(rows: npt.NDArray[Any] | None = None) -> Items:
        index, present = _key_of(readings)
        if rows is not None:
            index, present = index[rows], None if present is None else present[rows]
        taken = column.take(index, present)
        return taken.data, taken.valid

    words = (lambda: column.words) if column.type == "text" else None
    return Column(column.name, column.type, gather, words, column.exp10, gather)


def _ns_column(readings: Frame, keys: Frame) -> Column:
    def gather(rows: npt.NDArray[Any] | None = None) -> Items:
        factors = ns_factors(keys)
        distinct = sorted({f for f in factors if f is not None})
        which = np.array([-1 if f is None else distinct.index(f) for f in factors], "i8")
        index, present = _key_of(readings)
        column = readings.column("value")
        data, known = column.data, column.valid
        if rows is not None:
            index, data = index[rows], data[rows]
            present, known = (None if v is None else v[rows] for v in (present, known))
        row = which[index] if len(which) else np.full(len(index), -1)
        if present is not None:
            row = np.where(present, row, -1)
        if len(distinct) == 1 and (row == 0).all():
            return convert(data, distinct[0]), known
        out = np.zeros(len(row))
        for i, factor in enumerate(distinct):
            here = row == i
            out[here] = convert(data[here], factor)
        valid = row >= 0
        if known is not None:
            valid &= known
        return out, None if valid.all() else valid

    return Column("ns", "f64", gather, gather=gather)


#: Width of a range of values without an end: values beyond the last bucket of a histogram.
NO_END = (1 << 63) - 1


def counts_of(readings: Frame) -> npt.NDArray[np.uint64] | None:
    """How many readings each row stands for; None where each is one."""
    if "count" not in readings.columns:
        return None
    column = readings.column("count")
    counts = column.data if column.valid is None else np.where(column.valid, column.data, 1)
    return counts.astype("u8")


def widths_of(readings: Frame) -> npt.NDArray[np.int64] | None:
    """Width of the range of values of each row; None where all rows have one value."""
    if "width" not in readings.columns:
        return None
    column = readings.column("width")
    widths = column.data if column.valid is None else np.where(column.valid, column.data, 0)
    return widths.astype("i8") if widths.any() else None


class _Sorted:
    """Readings in the order of their keys and values, each row as often as it counts."""

    def __init__(self, readings: Frame) -> None:
        key, value = readings.column("key").data, readings.column("value").data
        order = np.lexsort((value, key))
        count, width = counts_of(readings), widths_of(readings)
        self.value = value[order]
        self.width = None if width is None else width[order]
        self.used, self.first, rows = np.unique(key[order], return_index=True, return_counts=True)
        self.last = self.first + rows - 1
        self.n = rows.astype("u8")
        self._upto = None if count is None else np.cumsum(count[order])
        if self._upto is not None:
            self._before = self._upto[self.first] - count[order][self.first]  # type: ignore[index]
            self.n = self._upto[self.last] - self._before

    @property
    def counted(self) -> bool:
        """Rows stand for more readings than one."""
        return self._upto is not None

    def quantile(self, num: int, den: int) -> npt.NDArray[np.int64]:
        """The row of each key at which num/den of its readings are reached."""
        rank = (self.n * np.uint64(num) + np.uint64(den - 1)) // np.uint64(den)
        rank = np.maximum(rank, 1)
        if self._upto is None:
            rows: npt.NDArray[np.int64] = self.first + rank.astype("i8") - 1
        else:
            rows = np.searchsorted(self._upto, self._before + rank).astype("i8")
        return rows

    def width_at(self, place: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The width of the range of values at these rows; 0: one value."""
        return np.zeros(len(place), "i8") if self.width is None else self.width[place]


def summary(readings: Frame, keys: Frame) -> Frame:
    """One row a key: how many readings, and where they lie.

    Parameters
    ----------
    readings : Frame
        With columns key and value; ``count`` and ``width`` where rows stand for many readings.
    keys : Frame

    Returns
    -------
    Frame
        The key's columns, ``n``, ``min``, ``median``, ``max`` and their ``unit``: ns where a
        conversion is known, else the key's own. Of counted readings also ``p99`` and ``p99.9``
        (from 1 / (1 - X) readings on), and where values are known as ranges ``median_below`` and
        ``max_below``: the exclusive ends of the ranges they lie in (inf for a range without an
        end), missing where the value is known. A range is stated by where it begins.

    Notes
    -----
    The median is the inverted CDF at 1/2: the smallest value with at least half of the readings
    at or below it, a value that occurred.
    """
    rows = _Sorted(readings)
    part = keys[rows.used]
    factors = ns_factors(part)
    exponents = [exp10 or 0 for exp10 in part.column("exp10").cells()]
    scale = [f or Fraction(10) ** e for f, e in zip(factors, exponents, strict=True)]
    own = part.column("unit").cells()
    units = ["ns" if f is not None else u for f, u in zip(factors, own, strict=True)]

    def scaled(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        pairs = zip(values.tolist(), scale, strict=True)
        return np.array([v * s.numerator / s.denominator for v, s in pairs], "f8")

    def at(name: str, place: npt.NDArray[Any], least: int = 1) -> Column:
        enough = rows.n >= np.uint64(least)
        valid = None if enough.all() else enough
        return Column.of(name, scaled(rows.value[place]), valid)

    def below(name: str, place: npt.NDArray[Any]) -> Column:
        width = rows.width_at(place)
        open_end = width == NO_END
        ends = scaled(rows.value[place] + np.where(open_end, 0, width))
        return Column.of(name, np.where(open_end, np.inf, ends), width > 0)

    columns: list[Column] = [
        *(part.column(name) for name in KEY_COLUMNS),
        Column.of("n", rows.n),
        at("min", rows.first),
        at("median", rows.quantile(1, 2)),
        at("max", rows.last),
    ]
    if rows.counted:
        columns.insert(-1, at("p99", rows.quantile(99, 100), 100))
        columns.insert(-1, at("p99.9", rows.quantile(999, 1000), 1000))
    if rows.width is not None:
        columns.insert(-1, below("median_below", rows.quantile(1, 2)))
        columns.append(below("max_below", rows.last))
    return Frame([*columns, Column.of("unit", units)], "keys")
