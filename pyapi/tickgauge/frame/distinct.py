"""Distinct rows of integer columns: a code for each row, without a sort of rows.

Neighbours are often equal (readings come boot after boot), so runs are taken together first. A row
then becomes one integer in mixed radix; a table numbers them where their range is small, a sort of
plain integers elsewhere. Rows are sorted as rows only where 62 bits do not hold one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["distinct_rows", "order_of"]

I64 = npt.NDArray[np.int64]

#: A table may be so many times as long as there are rows, and this much longer.
TABLE, SPARE = 4, 1 << 12


def distinct_rows(columns: Sequence[npt.NDArray[np.integer]]) -> tuple[I64, I64]:
    """The distinct rows of columns of integers, in the order of ``np.unique(axis=0)``.

    Parameters
    ----------
    columns : sequence of integer arrays, shape (n,)
        At least one; the first column orders first.

    Returns
    -------
    first : ndarray of int64, shape (m,)
        The first row of each distinct one.
    code : ndarray of int64, shape (n,)
        The distinct row that each row is.
    """
    given = [np.asarray(column).astype("i8", copy=False) for column in columns]
    n = len(given[0])
    if n == 0:
        return np.zeros(0, "i8"), np.zeros(0, "i8")
    new = np.zeros(n, "?")
    new[0] = True
    for column in given:
        np.logical_or(new[1:], column[1:] != column[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    if 2 * len(starts) > n:
        return _numbered(given)
    first, code = _numbered([column[starts] for column in given])
    return starts[first], np.repeat(code, np.diff(np.append(starts, n)))


def _numbered(columns: Sequence[I64]) -> tuple[I64, I64]:
    mixed = _mixed(columns)
    if mixed is None:
        rows = np.stack(columns, axis=1)
        _, first, code = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return first, code.reshape(-1)
    n = len(mixed)
    span = int(mixed.max()) + 1
    if span > TABLE * n + SPARE:
        _, first, code = np.unique(mixed, return_index=True, return_inverse=True)
        return first, code.reshape(-1)
    place = np.full(span, n, "i8")
    place[mixed[::-1]] = np.arange(n - 1, -1, -1)  # the last one written is the first row
    used = place < n
    rank: I64 = np.cumsum(used) - 1
    return place[used], rank[mixed]


def _mixed(columns: Sequence[I64]) -> I64 | None:
    """One integer a row, ordered as the rows are; None where it may pass 62 bits."""
    whole = 1
    out: I64 | None = None
    for column in columns:
        low, high = int(column.min()), int(column.max())
        span = high - low + 1
        whole *= span
        if whole >= 1 << 62:
            return None
        if span == 1 and out is not None:
            continue
        digit = column - low
        out = digit if out is None else out * span + digit
    return out


def order_of(code: I64) -> I64:
    """The rows in the order of their codes, rows of one code as they come.

    Parameters
    ----------
    code : ndarray of int64, shape (n,)
        From 0.
    """
    if bool((code[1:] >= code[:-1]).all()):
        return np.arange(len(code))
    small = code.astype("u2") if int(code.max()) < 1 << 16 else code  # NumPy sorts these by radix
    order: I64 = np.argsort(small, kind="stable")
    return order
