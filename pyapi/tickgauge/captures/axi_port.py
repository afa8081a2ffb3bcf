"""AXI ports of a capture: transactions, channel cycles, reads against writes, two ports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import NotComparableError
from ..frame.frame import Column, Frame
from ..frame.grid import Grid
from ..frame.readings import Readings
from ..util.text import number

if TYPE_CHECKING:
    from .capture import Capture

__all__ = ["CLASS_BITS", "FLAGS", "Port", "Transactions", "compare_ports"]

#: Two transactions are of one address class when their addresses agree above these bits (1 MiB).
CLASS_BITS = 20

#: Bits of a transaction's flags.
FLAGS = {
    "uncertain": 1,
    "protocol": 2,
    "start unknown": 4,
    "lower bound": 8,
    "data first": 16,
    "counted": 32,
}

#: Spans of each direction that become readings, and what they are.
METRICS = {
    "read": {
        "address_wait": "ARVALID to its acceptance",
        "first_data": "acceptance to the first R beat",
        "last_data": "acceptance to the last R beat",
        "span": "ARVALID to the last R beat, as Vivado's transaction row",
    },
    "write": {
        "address_wait": "AWVALID to its acceptance",
        "last_data": "acceptance to the last W beat",
        "response": "acceptance to B",
        "after_data": "last W beat to B",
        "span": "AWVALID to B, as Vivado's transaction row",
    },
}

_ENDINGS = {
    "nothing": "no write beat while a read was open",
    "too few": "too few cycles to tell",
    "independent": "reads and writes are independent",
    "slowed": "reads move less while writes flow",
    "blocked": "reads wait for writes",
}


_STORIES = {
    "nothing": "No data was written while a read was open: nothing to tell about blocking.",
    "too few": "Too few clocks to tell whether writes hold reads up.",
    "independent": "Writes do not hold reads up.",
    "slowed": "Reads move less while writes flow.",
    "blocked": "Reads are blocked while writes flow.",
}


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


class Transactions(Frame):
    """Reads and writes of one port, one a row.

    Stamps (``ax_valid ax_accept data_valid data_first data_last b_valid b_accept``) are samples;
    spans (``address_wait first_data last_data response after_data span data_phase queue``) are
    clocks. ``status`` is complete, incomplete (an end lies outside the capture or its window) or
    orphan (data or a response whose command does); ``why`` says more. ``counted`` ones are in the
    statistics: complete, with neither an unknown sample nor a protocol error in them.
    """

    def flagged(self, name: str) -> npt.NDArray[np.bool_]:
        """Which rows carry a flag of `FLAGS`."""
        flags: npt.NDArray[np.bool_] = (self.column("flags").data & FLAGS[name]) != 0
        return flags

    @property
    def counted(self) -> Transactions:
        """Those that are in the statistics."""
        rows: Transactions = self[self.flagged("counted")]
        return rows

    @property
    def reads(self) -> Transactions:
        """The reads."""
        rows: Transactions = self[self["direction"] == "read"]
        return rows

    @property
    def writes(self) -> Transactions:
        """The writes."""
        rows: Transactions = self[self["direction"] == "write"]
        return rows

    @property
    def efficiency(self) -> npt.NDArray[np.float64]:
        """Beats per clock of each data phase, NaN where a burst is not whole."""
        phase, seen = self.column("data_phase"), self.column("seen")
        out = np.full(len(self), np.nan)
        there = np.ones(len(self), "?") if phase.valid is None else phase.valid
        out[there] = seen.data[there] / phase.data[there]
        return out

    @property
    def triggered(self) -> Transactions:
        """Those at a trigger."""
        rows: Transactions = self[self.column("trigger").data.astype("?")]
        return rows

    def slowest(self, n: int = 10) -> Transactions:
        """The `n` counted transactions with the longest span, longest first."""
        part = self.counted
        order = np.argsort(-part.column("span").data, kind="stable")[:n]
        rows: Transactions = part[order]
        return rows

    def within(self, first: int, last: int) -> Transactions:
        """Those whose address lies in ``first .. last``."""
        addr = self.column("addr")
        valid = np.ones(len(self), "?") if addr.valid is None else addr.valid
        keep = valid & (addr.data >= np.uint64(first)) & (addr.data <= np.uint64(last))
        rows: Transactions = self[keep]
        return rows

    def lines(self, clock: int | None = None) -> Grid:
        """What a person reads of them: address in hex, the main stamps and spans."""
        names = ["direction", "addr", "beats", "bytes", "ax_valid", "ax_accept", "data_first"]
        names += ["data_last", "b_accept", "span", "first_data", "blocked", "note"]
        rows: list[list[Any]] = []
        for r in self:
            cells: list[Any] = [r.get(n) for n in names[:-1]]
            cells[1] = None if cells[1] is None else f"0x{cells[1]:x}"
            note = [r["why"]] if r["why"] else [] if r["status"] == "complete" else [r["status"]]
            note += ["trigger"] if r["trigger"] else []
            note += ["uncertain"] if r["flags"] & FLAGS["uncertain"] else []
            rows.append([*cells, ", ".join(note) or None])
        if clock:
            names.append("us")
            for row in rows:
                row.append(None if row[9] is None else float(row[9] * 1e6 / clock))
        return Grid(names, rows, digits={"us": 3}, wide=[*names[3:9], "blocked"])


class Port:
    """The analysis of one AXI interface; see `Capture.port`.

    Attributes
    ----------
    row : dict
        Its row in ``Capture.interfaces``.
    figures : dict
        Cycles and counts; a read is open in cycle c when accept < c <= last beat. ``blocked``
        counts write beats with a read open and RVALID low, ``master_stall`` those with RVALID
        high and RREADY low; ``expected_blocked`` is what independent ports would give.
    transactions : Transactions
    channels, outstanding, blocks, problems : Frame
    """

    def __init__(
        self,
        capture: Capture,
        core: _core.Capture,
        interface: int,
        kind: str,
        assume: tuple[tuple[str, int], ...],
        ignore_gaps: bool,
        max_transactions: int = 0,
    ) -> None:
        self._core = core
        self._how: dict[str, Any] = {
            "kind": kind,
            "assume": assume,
            "ignore_gaps": ignore_gaps,
            "max_transactions": max_transactions,
        }
        self._interface = interface
        self.capture = capture
        self.row: dict[str, Any] = capture.interfaces.row(interface)
        found = core.axi(interface, **self._how)
        self.figures: dict[str, Any] = found["figures"]
        self.kind: str = self.figures["kind"]
        self.transactions = Transactions(found["transactions"], "transactions")
        self.channels = Frame(found["channels"], "channels (cycles)")
        self.outstanding = Frame(found["outstanding"], "changes of what is outstanding")
        self.blocks = Frame(found["blocks"], "spans with a read open, W beats and no R beat")
        self.problems = Frame(found["problems"], "orphans and protocol errors")

    @property
    def name(self) -> str:
        """Slot and prefix."""
        slot = self.row["slot"]
        return f"slot {slot} {self.row['prefix']}" if slot is not None else str(self.row["prefix"])

    def lanes(self, first: int, last: int) -> Frame:
        """States of each channel in samples ``first .. last``: channel, state, first, last."""
        found = self._core.axi(self._interface, lanes=(first, last), **self._how)
        return Frame(found["lanes"], "lanes")

    # ---- reads against writes ---------------------------------------------------------------

    @property
    def blocking(self) -> Frame:
        """Reads against writes, as name and value."""
        f = self.figures
        names = ["read_open", "r_and_w", "r_only", "w_only", "neither", "blocked", "master_stall"]
        values = [float(f[n]) for n in names]
        names += ["expected_blocked", "p_given_w", "p_given_no_w"]
        values += [f["expected_blocked"], f["p_given_w"], f["p_given_no_w"]]
        return Frame(
            [Column.of("figure", names), Column.of("value", np.array(values, "f8"))], "figures"
        )

    @property
    def finding(self) -> str:
        """One sentence of fixed form, decided by the contrast, never by the cycles alone.

        Notes
        -----
        With a read open, P(R beat | W beat) is set against P(R beat | no W beat): at most a tenth
        of it is "reads wait for writes", less than three quarters "reads move less while writes
        flow", else they are independent; fewer than 32 cycles on either side tell nothing.
        """
        f = self.figures
        w = f["r_and_w"] + f["w_only"]
        expected = f["expected_blocked"]
        shown = "-" if math.isnan(expected) else f"{expected:.0f}"
        text = (
            f"reads blocked while writing: {f['blocked']} of {w} write beats; "
            f"independent ports: {shown}; {_ENDINGS[f['verdict']]}"
        )
        if f["master_stall"] > f["blocked"]:
            text += f"; in {f['master_stall']} of them the master itself waits (RREADY low)"
        return text

    @property
    def contrast(self) -> str:
        """The two probabilities that decide the finding."""
        f = self.figures

        def shown(p: float) -> str:
            return "-" if math.isnan(p) else f"{p:.3f}".lstrip("0") or "0"

        return (
            f"P(R beat | W beat) {shown(f['p_given_w'])} against P(R beat | no W beat) "
            f"{shown(f['p_given_no_w'])}, a read open"
        )

    # ---- for a person -----------------------------------------------------------------------

    def story(self) -> list[str]:
        """What was found, in sentences: reads against writes, the slowest read and write.

        Shares are of write beats with a read open and of the clocks of the capture; a time is the
        sample at which VALID rose, in us from the first sample where the clock is known.
        """
        f = self.figures
        w, n = f["r_and_w"] + f["w_only"], f["cycles"]
        lines = [_STORIES[f["verdict"]]]
        if w and n:
            lines[0] += (
                f" In {f['blocked']} of the {w} clocks with a write beat and a read open "
                f"({_share(f['blocked'], w)}) no read data was offered; that is "
                f"{_share(f['blocked'], n)} of the capture's {n} clocks{self._in_us(f['blocked'])}"
            )
            expected = f["expected_blocked"]
            by_chance = "" if math.isnan(expected) else f", and would be {expected:.0f} by chance"
            lines[0] += f"{by_chance}."
        for direction in ("read", "write"):
            part = self.transactions.counted
            slowest: Transactions = part[part["direction"] == direction]
            if len(slowest):
                lines.append(self._described(slowest.slowest(1).row(0), self.spans(direction)))
        return lines

    def _described(self, row: dict[str, Any], spans: npt.NDArray[np.int64]) -> str:
        """One sentence on the slowest transaction of a direction."""
        where = "" if row["addr"] is None else f" at 0x{row['addr']:x}"
        size = "" if row["bytes"] is None else f", {row['bytes']} bytes"
        middle = int(spans[(len(spans) + 1) // 2 - 1])
        times = f", {ratio_text(row['span'] / middle)} the median" if middle else ""
        text = (
            f"The slowest {row['direction']}{where}{size}: {row['span']} clocks"
            f"{self._in_us(row['span'])}{times}; asked for at sample {row['ax_valid']}"
            f"{self._in_us(row['ax_valid'])}"
        )
        if row["direction"] == "read" and row["span"]:
            held = row["blocked"] or 0
            text += f"; in {held} of its clocks ({_share(held, row['span'])}) a write held it up"
        return text + "."

    def _in_us(self, clocks: int) -> str:
        hz = self.capture.clock
        return f" ({clocks * 1e6 / hz:.3f} us)" if hz else ""

    def headline(self) -> list[str]:
        """How many transactions, their spans, the finding."""
        f = self.figures
        lines = [
            f"{self.kind} {self.name}: {f['complete_reads']} of {f['reads']} reads and "
            f"{f['complete_writes']} of {f['writes']} writes complete"
            + (f", {f['orphans']} orphans" if f["orphans"] else "")
            + (f", {f['protocol']} protocol errors" if f["protocol"] else "")
        ]
        for direction in ("read", "write"):
            spans = self.spans(direction)
            if len(spans):
                at = (len(spans) + 1) // 2 - 1
                text = f"{direction} span: median {spans[at]} clocks"
                lines.append(f"{text} ({spans[0]} to {spans[-1]}, n={len(spans)})")
        for t in self.transactions.triggered:
            where = "" if t["addr"] is None else f" at 0x{t['addr']:x}"
            span = f"{t['span']} clocks" if t["span"] is not None else t["why"]
            lines.append(f"at the trigger: {t['direction']}{where}, {span}")
        lines.append(self.finding)
        return lines

    def spans(self, direction: str) -> npt.NDArray[np.int64]:
        """Spans of the counted transactions of a direction, sorted."""
        part = self.transactions.counted
        keep = part["direction"] == direction
        spans: npt.NDArray[np.int64] = np.sort(part.column("span").data[keep])
        return spans

    def explain(self) -> str:
        """Everything in lines: transactions, channels, overlap, blocking, throughput."""
        f, n = self.figures, self.figures["cycles"]
        lines = [*self.headline(), self.contrast]
        if f["tail_n"]:
            lines.append(
                f"after the last W beat of a blocked span R is silent for {f['tail_median']} "
                f"clocks (median of {f['tail_n']} spans)"
            )
        if n and f["reads"] and f["read_open"] < n:
            idle = n - f["read_open"]
            lines.append(f"no read open in {idle} of {n} cycles: the master asks for none")
        lines += self.throughput()
        beats = dict(zip(self.channels["channel"], self.channels["beat"], strict=True))
        either = int(beats.get("R", 0)) + int(beats.get("W", 0)) - f["any_r_and_w"]
        lines.append(
            f"R and W beat together in {f['any_r_and_w']} of {either} cycles with a beat; open at "
            f"once: {f['max_reads']} reads, {f['max_writes']} writes"
        )
        lines.append(self.channels.grid().to_text())
        return "\n".join(lines)

    def throughput(self) -> list[str]:
        """Bytes per clock of each direction over the capture; MB/s with the clock."""
        n = self.figures["cycles"]
        lines = []
        for direction in ("read", "write"):
            rows = self.transactions[self.transactions["direction"] == direction]
            if not n or not len(rows):
                continue
            column = rows.column("bytes")
            data = column.data if column.valid is None else column.data[column.valid]
            total = int(data.sum())
            text = f"{direction}: {total} bytes in {n} clocks, {total / n:.2f} bytes per clock"
            if self.capture.clock:
                text += f", {total / n * self.capture.clock / 1e6:.1f} MB/s"
            lines.append(text)
        return lines

    def __repr__(self) -> str:
        return self.explain()

    # ---- readings ---------------------------------------------------------------------------

    @cached_property
    def keys(self) -> Frame:
        """What the readings measure: direction, address class, bytes, span."""
        return self._measured[0]

    @cached_property
    def readings(self) -> Readings:
        """One reading a counted transaction and span; the run is its window."""
        keys, readings = self._measured
        return Readings.join(readings, keys)

    @cached_property
    def _measured(self) -> tuple[Frame, Frame]:
        rows = np.flatnonzero(self.transactions.flagged("counted"))
        part = self.transactions[rows]
        group, names = _grouped(part, CLASS_BITS)
        keys: list[tuple[str, str, str]] = []
        columns: list[npt.NDArray[np.int64]] = []
        for g, (direction, where, size) in enumerate(names):
            labels = f"bytes={'?' if size is None else size}"
            labels = labels if where is None else f"addr=0x{where:x} {labels}"
            for metric in METRICS[direction]:
                column = part.column(metric)
                here = group == g
                here &= np.ones(len(part), "?") if column.valid is None else column.valid
                if here.any():
                    at = np.flatnonzero(here)
                    stamps = part.column("ax_valid").data[at].astype("i8")
                    key = np.full(len(at), len(keys))
                    window = part.column("window").data[at].astype("i8")
                    columns.append(
                        np.stack([key, window, rows[at], column.data[at], stamps], axis=1)
                    )
                    keys.append((direction, metric, labels))
        table = np.concatenate(columns) if columns else np.zeros((0, 5), "i8")
        order = np.lexsort((table[:, 0], table[:, 2]))
        return _keys_frame(keys, self.capture.clock), _readings_frame(table[order])


def _grouped(
    part: Transactions, bits: int
) -> tuple[npt.NDArray[np.int64], list[tuple[str, int | None, int | None]]]:
    """The group of each transaction, and each group's direction, address class and bytes."""
    write = (part["direction"] == "write").astype("u8")
    fields = [write]
    for name in ("addr", "bytes"):
        column = part.column(name)
        valid = np.ones(len(part), "?") if column.valid is None else column.valid
        data = column.data >> np.uint64(bits if name == "addr" else 0)
        fields += [valid.astype("u8"), np.where(valid, data, 0).astype("u8")]
    code = np.zeros(len(part), "i8")
    for values in fields:  # one code for each distinct row, column after column
        distinct, inverse = np.unique(values, return_inverse=True)
        code = code * max(1, len(distinct)) + inverse.reshape(-1)
        code = np.unique(code, return_inverse=True)[1].reshape(-1).astype("i8")
    _, first = np.unique(code, return_index=True)
    names: list[tuple[str, int | None, int | None]] = []
    for row in first:
        w, has_addr, addr, has_bytes, size = (int(values[row]) for values in fields)
        where = addr << bits if has_addr else None
        names.append(("write" if w else "read", where, size if has_bytes else None))
    return code, names


def _keys_frame(keys: Sequence[tuple[str, str, str]], clock: int | None) -> Frame:
    n = len(keys)
    none = np.zeros(n, "?")
    text = {
        "format": ["axi"] * n,
        "test": ["axi"] * n,
        "metric": [k[1] for k in keys],
        "operation": [k[0] for k in keys],
        "place": [""] * n,
        "labels": [k[2] for k in keys],
        "unit": ["cycle"] * n,
        "exchange": ["none"] * n,
    }
    columns = [Column.of(k, v, none if k == "place" else None) for k, v in text.items()]
    ids = np.zeros(n, "u4")
    columns += [Column.of(k, ids, none) for k in ("cluster", "core", "cpu")]
    columns += [
        Column.of("exp10", np.zeros(n, "i8")),
        Column.of("clock_hz", np.full(n, clock or 0, "u8"), None if clock else none),
        Column.of("origin", ["option"] * n, None if clock else none),
        Column.of("resolution", np.ones(n, "u8")),
        Column.of("better", ["lower"] * n),
    ]
    return Frame(columns, "keys")


def _readings_frame(rows: npt.NDArray[np.int64]) -> Frame:
    table = rows
    zero, none = np.zeros(len(rows), "u8"), np.zeros(len(rows), "?")
    return Frame(
        [
            Column.of("key", table[:, 0].astype("u4")),
            Column.of("source", np.zeros(len(rows), "u4")),
            Column.of("boot", np.zeros(len(rows), "u4"), none),
            Column.of("run", table[:, 1].astype("u4")),
            Column.of("block", table[:, 2].astype("u4")),
            Column.of("value", table[:, 3]),
            Column.of("line", zero, none),
            Column.of("offset", zero, none),
            Column.of("sample", table[:, 4].astype("u8")),
        ],
        "readings",
    )


# ---- two ports -------------------------------------------------------------------------------


def _groups(port: Port, bits: int) -> dict[tuple[str, int | None, int | None], list[int]]:
    """Sorted spans by direction, address class and bytes."""
    part = port.transactions.counted
    group, names = _grouped(part, bits)
    spans = part.column("span").data
    return {name: np.sort(spans[group == g]).tolist() for g, name in enumerate(names)}


def _middle(values: Sequence[int]) -> int | None:
    """The smallest value with at least half of the values at or below it."""
    return values[(len(values) + 1) // 2 - 1] if values else None


def compare_ports(old: Port, new: Port, *, bits: int = CLASS_BITS) -> Frame:
    """Two captures side by side: transactions matched by direction, address class and size.

    Parameters
    ----------
    old, new : Port
    bits : int
        Addresses are of one class when they agree above these bits.

    Returns
    -------
    Frame
        One row a group: direction, addr (of the class), bytes, n and median span on each side
        (the inverted CDF at 1/2), delta in clocks, percent, ratio; missing where one side has
        none.

    Raises
    ------
    NotComparableError
        No group is on both sides.
    """
    a, b = _groups(old, bits), _groups(new, bits)
    order = sorted({*a, *b}, key=lambda k: (k[0], k[1] or 0, k[2] or 0))
    if a and b and not {*a} & {*b}:
        raise NotComparableError("no direction, address class and size is in both captures")
    rows = []
    for key in order:
        x, y = _middle(a.get(key, ())), _middle(b.get(key, ()))
        delta = None if x is None or y is None else y - x
        percent = None if delta is None or not x else 100 * delta / x
        ratio = None if x is None or y is None or not x else y / x
        rows.append((*key, len(a.get(key, ())), x, len(b.get(key, ())), y, delta, percent, ratio))
    return _comparison_frame(rows)


def _comparison_frame(rows: Iterable[Sequence[Any]]) -> Frame:
    names = (
        "direction",
        "addr",
        "bytes",
        "n_old",
        "old",
        "n_new",
        "new",
        "delta",
        "percent",
        "ratio",
    )
    types = ("text", "u64", "u64", "u64", "i64", "u64", "i64", "i64", "f64", "f64")
    table = list(rows)
    columns = []
    for i, (name, kind) in enumerate(zip(names, types, strict=True)):
        cells = [row[i] for row in table]
        if kind == "text":
            columns.append(Column.of(name, cells or np.zeros(0, "O")))
            continue
        valid = np.array([c is not None for c in cells], "?")
        data = np.array([0 if c is None else c for c in cells], _KINDS[kind])
        columns.append(Column.of(name, data, None if valid.all() else valid))
    return Frame(columns, "groups of transactions")


_KINDS = {"u64": "u8", "i64": "i8", "f64": "f8"}


def percent_text(value: float | None) -> str:
    """A change as ``+102.9 %``."""
    return "-" if value is None else f"{value:+.1f} %"


def ratio_text(value: float | None) -> str:
    """A ratio as ``x2.03``."""
    return "-" if value is None else f"x{number(value, 3)}"
