"""Calls into the secure world, hop by hop: distributions over many calls.

Readings come from the OP-TEE counter lines (``optee``), from tracepoints (``ftrace``) and from
benchmark files (``ts``); each is a difference of two stamps of one call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import codes, samples
from ..errors import InputError
from ..frame.frame import Column, Frame
from ..frame.readings import ns_factors
from .dataset import Dataset

__all__ = ["COLUMNS", "call_counts", "floored_error", "hop_statistics", "uart_time"]

#: Formats whose readings are calls.
FORMATS = ("optee", "ftrace", "ts")

#: Hops in the order of time, then sums over several of them.
HOPS = (
    "client_to_driver",
    "driver_to_tee",
    "tee_to_ta",
    "ta_to_tee",
    "tee_to_driver",
    "driver_to_client",
    "to_os",
    "to_ta",
    "secure",
    "interrupt",
    "rpc",
    "wait",
    "one_way",
    "round_trip",
    "smc",
    "tee",
    "total",
)

#: Columns of `hop_statistics`.
COLUMNS = (
    "format",
    "operation",
    "hop",
    "calls",
    "n",
    "min",
    "median",
    "p90",
    "p99",
    "max",
    "mean",
    "unit",
    "uart",
)

# The line printed just after a stamp was read, so that its print time falls into the hop: its
# characters beside the digits of cmd and counter.
_PRINTED = {
    "driver_to_tee": ("driver_start", "TEEDriver: do smc call, cmd=, cntvct=0x\r\n"),
    "tee_to_ta": ("tee_receive", "TEECore: receiving smc call, cmd=, cntvct=0x\r\n"),
    "tee_to_driver": ("tee_finish", "TEECore: finish smc call, cmd=, cntvct=0x\r\n"),
    "driver_to_client": ("driver_finish", "TEEDriver: finish smc call, cmd=, cntvct=0x\r\n"),
}
_BITS = 10  # of a character: start, 8 data, stop


def floored_error(clock_hz: int) -> Fraction:
    """How far the resolution of 2015, floored to whole ns, is off: relative, never positive.

    Parameters
    ----------
    clock_hz : int
        Ticks per second.

    Examples
    --------
    >>> float(floored_error(24_000_000))
    -0.016
    """
    return Fraction(10**9 // clock_hz * clock_hz, 10**9) - 1


def uart_time(data: Dataset, baud: int) -> dict[str, float]:
    """Time that printing takes inside each hop, in ns.

    Parameters
    ----------
    data : Dataset
    baud : int
        Bits per second; a character takes ten.

    Returns
    -------
    dict of str to float
        Median over the calls, for the hops in which a line is printed. Prefixes of the line
        (time stamps, levels) are not counted: the true time is longer.

    Notes
    -----
    The counter is read before its line is printed, so the line's time falls into the hop that
    follows. 57 characters at 115200 baud are 5 ms.
    """
    if baud <= 0:
        raise InputError(f"baud is a positive number of bits per second, not {baud}")
    out: dict[str, float] = {}
    if "calls" not in data.tables:
        return out
    calls = data.calls
    commands = calls.column("cmd").data.tolist()
    for hop, (stamp, text) in _PRINTED.items():
        digits = [
            len(text) + len(str(command)) + len(f"{value:x}")
            for command, value in zip(commands, calls.column(stamp).cells(), strict=True)
            if value is not None
        ]
        if not digits:
            continue
        out[hop] = float(np.median(digits)) * _BITS * 1e9 / baud
    return out


def hop_statistics(data: Dataset, *, skip_first: int = 1, baud: int | None = None) -> Frame:
    """Distribution of every hop, for each operation.

    Parameters
    ----------
    data : Dataset
    skip_first : int
        So many calls of each operation at the start of each boot are left out of the
        distribution. The first call (a TA is loaded, caches are cold) is shown apart if it is
        left out; 0 counts it with the others.
    baud : int, optional
        Adds the column ``uart``, see `uart_time`.

    Returns
    -------
    Frame
        One row an operation, hop and kind of call: ``calls`` is "client" (a client's line
        belongs to it), "no client" or "first" (of its boot). ``min median p90 p99 max mean`` are
        float64 in ``unit``: ns where the clock is known, else ticks. Quantiles are values that
        occurred (inverted CDF); p90 is given from 10 calls, p99 from 100.
    """
    readings, keys = data.readings, data.readings.keys
    uart = uart_time(data, baud) if baud is not None else {}
    rows = sorted(_groups(readings, keys, skip_first), key=_place)
    lines = [[*row[:4], *_figures(row[4], row[5]), row[6], uart.get(row[2])] for row in rows]
    if baud is None:
        lines = [line[:-1] for line in lines]
    names = COLUMNS if baud is not None else COLUMNS[:-1]
    return Frame([_column(n, [line[i] for line in lines]) for i, n in enumerate(names)], "hops")


def _column(name: str, cells: list[Any]) -> Column:
    if name == "n":
        return Column.of(name, np.array(cells, "u8"))
    if name in ("format", "operation", "hop", "calls", "unit"):
        return Column.of(name, np.array(cells, "O"))
    valid = np.array([c is not None for c in cells], "?")
    return Column.of(name, np.array([0.0 if c is None else c for c in cells], "f8"), valid)


def _place(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Order of the rows: kind of call, operation as it comes, hop in the order of time."""
    kind = ("client", "first", "no client", "no client, first").index(row[3])
    hop = HOPS.index(row[2]) if row[2] in HOPS else len(HOPS)
    return (kind, row[7], hop)


def _groups(readings: Frame, keys: Frame, skip_first: int) -> Iterator[tuple[Any, ...]]:
    """(format, operation, hop, kind, values, factor, unit, order) of each row."""
    key = readings.column("key").data
    value = readings.column("value").data
    factors = ns_factors(keys)
    columns = [keys[n] for n in ("format", "operation", "metric", "labels", "unit")]
    operations: dict[str, int] = {}
    merged: dict[tuple[Any, ...], list[npt.NDArray[np.int64]]] = {}
    late = _rank(readings, keys) >= skip_first
    of_keys, _, rows, edges, _, _ = samples(key, None, value, n_keys=len(keys))
    for k, (form, operation, metric, labels, unit) in enumerate(zip(*columns, strict=True)):
        if form not in FORMATS:
            continue
        words = set() if labels is None else set(str(labels).split())
        first = "call=first" in words
        kind = "no client" if "client=none" in words else "client"
        if first and skip_first > 0:
            kind = "first" if kind == "client" else "no client, first"
        mine = of_keys[edges[k] : edges[k + 1]]
        if not (first and skip_first > 0):
            mine = mine[late[rows[edges[k] : edges[k + 1]]]]
        order = operations.setdefault(str(operation), len(operations))
        where = (form, operation, metric, kind, factors[k], unit, order)
        merged.setdefault(where, []).append(mine)
    for (form, operation, metric, kind, factor, unit, order), parts in merged.items():
        values = np.concatenate(parts)
        if len(values):
            shown = unit if factor is None else "ns"
            yield (form, operation, metric, kind, values, factor, shown, order)


def _rank(readings: Frame, keys: Frame) -> npt.NDArray[np.int64]:
    """The place of each reading's call among those of its operation in its boot, from 0."""
    n = len(readings)
    block = readings.column("block")
    kind: dict[tuple[str, str, bool], int] = {}
    number = np.zeros(len(keys), "i8")
    for k, pair in enumerate(zip(keys["format"], keys["operation"], keys["labels"], strict=True)):
        none = "client=none" in str(pair[2])
        number[k] = kind.setdefault((str(pair[0]), str(pair[1]), none), len(kind))
    if n == 0:
        return np.zeros(0, "i8")
    group, boot = number[readings.column("key").data], readings.column("boot").data
    code, first = codes([group, boot, block.data])  # in the order of the rows' ids
    same = (group[first[1:]] == group[first[:-1]]) & (boot[first[1:]] == boot[first[:-1]])
    start = np.flatnonzero(np.concatenate([[True], ~same]))
    rank = np.arange(len(first)) - np.repeat(start, np.diff([*start.tolist(), len(first)]))
    out: npt.NDArray[np.int64] = rank[code]
    if block.valid is not None:  # readings that belong to no call are never left out
        out = np.where(block.valid, out, np.int64(2**62))
    return out


def _figures(values: npt.NDArray[np.int64], factor: Fraction | None) -> list[Any]:
    """n, min, median, p90, p99, max, mean; None where there are too few values."""
    ordered = np.sort(values)
    n = len(ordered)
    scale = Fraction(1) if factor is None else factor

    def quantile(num: int, den: int) -> float:
        value = int(ordered[max(0, -(-n * num // den) - 1)])
        return float(value * scale)

    # Two halves, so that the sum of 64-bit values is exact.
    total = (int((ordered >> 32).sum()) << 32) + int((ordered & 0xFFFFFFFF).sum())
    return [
        n,
        quantile(0, 1),
        quantile(1, 2),
        quantile(9, 10) if n >= 10 else None,
        quantile(99, 100) if n >= 100 else None,
        float(int(ordered[-1]) * scale),
        float(Fraction(total, n) * scale),
    ]


def call_counts(data: Dataset) -> Frame:
    """How many calls of each operation there are, and their states.

    Returns
    -------
    Frame
        Columns ``operation calls complete missing ambiguous offset unclaimed flagged``:
        ``missing`` counts calls of a client that lack stamps or moved between cores,
        ``unclaimed`` calls without a client's line, ``flagged`` those with any flag.
    """
    rows: dict[str, list[int]] = {}
    for operation, state, complete, flags, n in _kinds_of_calls(data):
        row = rows.setdefault(operation, [0] * 7)
        lacks = state in ("claimed", "unpaired", "no start", "no end", "lost", "moved")
        row[0] += n
        row[1] += n * complete
        row[2] += n * (lacks and not complete)
        row[3] += n * (state == "ambiguous")
        row[4] += n * (state == "offset?")
        row[5] += n * (state == "unclaimed")
        row[6] += n * (flags not in ("", "syscall"))
    names = ("calls", "complete", "missing", "ambiguous", "offset", "unclaimed", "flagged")
    columns = [Column.of("operation", np.array(list(rows), "O"))]
    columns += [
        Column.of(name, np.array([row[i] for row in rows.values()], "u8"))
        for i, name in enumerate(names)
    ]
    return Frame(columns, "calls")


def _kinds_of_calls(data: Dataset) -> Iterable[tuple[str, str, bool, str, int]]:
    """Operation, state, complete and flags of calls, and how many there are, as they come."""
    if "calls" in data.tables:
        names = ("operation", "state", "complete", "flags")
        for op, state, complete, flags, n in _counted(data.calls, names):
            yield str(op), str(state), bool(complete), _text(flags), n
    if "trace_calls" in data.tables:
        for op, state, n in _counted(data.trace_calls, ("operation", "state")):
            yield _text(op) or "unknown", str(state), str(state) == "complete", "", n
    if "ts_calls" in data.tables:
        for op, moved, n in _counted(data.ts_calls, ("operation", "moved")):
            yield str(op), "moved" if moved else "complete", not moved, "", n


def _counted(table: Frame, names: Iterable[str]) -> list[tuple[Any, ...]]:
    """The distinct cells of the columns with how often they occur, in the order of first use."""
    columns = [table.column(name) for name in names]
    ids = [
        c.data.astype("i8") if c.valid is None else np.where(c.valid, c.data.astype("i8"), -1)
        for c in columns
    ]
    code, first = codes(ids)
    count = np.bincount(code, minlength=len(first))
    return [
        (*(column.cell(int(first[k])) for column in columns), int(count[k]))
        for k in np.argsort(first).tolist()
    ]


def _text(value: Any) -> str:
    return "" if value is None else str(value)
