"""Readings: one measured value a row, with its key's columns beside it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..units import ns_factor
from .frame import Column, Frame

__all__ = ["Readings", "convert", "ns_factors", "summary"]

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
    columns = zip(keys["unit"], keys["clock_hz"], keys["exp10"], strict=True)
    return [ns_factor(unit, _int(hz), _int(exp10) or 0) for unit, hz, exp10 in columns]


def _int(value: Any) -> int | None:
    return None if value is np.ma.masked or value is None else int(value)


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
        What is measured: one row a key, with unit, clock, resolution and direction.
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
            None of the readings can be converted; the message says what would settle it.
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
        """A repr leaves out what the value already says, and ids."""
        return [n for n in super()._shown_columns() if n not in ("exp10", "key", "offset")]


def _late(column: Column, readings: Frame) -> Column:
    """A key's column at every reading, gathered when first asked for."""

    def load() -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        index, present = _key_of(readings)
        taken = column.take(index, present)
        return taken.data, taken.valid

    words = (lambda: column.words) if column.type == "text" else None
    return Column(column.name, column.type, load, words, column.exp10)


def _ns_column(readings: Frame, keys: Frame) -> Column:
    def load() -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        factors = ns_factors(keys)
        distinct = sorted({f for f in factors if f is not None})
        which = np.array([-1 if f is None else distinct.index(f) for f in factors], "i8")
        index, present = _key_of(readings)
        row = which[index] if len(which) else np.full(len(index), -1)
        if present is not None:
            row = np.where(present, row, -1)
        column = readings.column("value")
        if len(distinct) == 1 and (row == 0).all():
            return convert(column.data, distinct[0]), column.valid
        out = np.zeros(len(row))
        for i, factor in enumerate(distinct):
            here = row == i
            out[here] = convert(column.data[here], factor)
        valid = row >= 0
        if column.valid is not None:
            valid &= column.valid
        return out, None if valid.all() else valid

    return Column("ns", "f64", load)


def summary(readings: Frame, keys: Frame) -> Frame:
    """One row a key: how many readings, and where they lie.

    Parameters
    ----------
    readings : Frame
        With columns key and value.
    keys : Frame

    Returns
    -------
    Frame
        The key's columns, ``n``, ``min``, ``median``, ``max`` and their ``unit``: ns where a
        conversion is known, else the key's own.

    Notes
    -----
    The median is the inverted CDF at 1/2: the smallest value with at least half of the readings
    at or below it, a value that occurred.
    """
    key, value = readings.column("key").data, readings.column("value").data
    order = np.lexsort((value, key))
    key, value = key[order], value[order]
    used, first, n = np.unique(key, return_index=True, return_counts=True)
    part = keys[used]
    factors = ns_factors(part)
    exponents = [_int(e) or 0 for e in part["exp10"]]
    scale = [f or Fraction(10) ** e for f, e in zip(factors, exponents, strict=True)]
    own = part["unit"]
    units = ["ns" if f is not None else u for f, u in zip(factors, own, strict=True)]

    def at(place: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        pairs = zip(value[place].tolist(), scale, strict=True)
        return np.array([v * s.numerator / s.denominator for v, s in pairs], "f8")

    columns: Sequence[Column] = [
        *(part.column(name) for name in KEY_COLUMNS),
        Column.of("n", n.astype("u8")),
        Column.of("min", at(first)),
        Column.of("median", at(first + (n + 1) // 2 - 1)),
        Column.of("max", at(first + n - 1)),
        Column.of("unit", units),
    ]
    return Frame(columns, "keys")
