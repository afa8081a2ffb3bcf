"""An AXI port of a capture: transactions, channel cycles, reads against writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from ..frame.frame import Column, Frame
from ..frame.grid import Grid, page_of
from ..frame.readings import Readings
from ..sources.digest import Digest
from ..util.text import counted
from . import findings
from .transactions import CLASS_BITS, FLAGS, Transactions, grouped

__all__ = ["Owner", "Port"]

#: Spans of each direction that become readings, with their meaning.
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


class Owner(Protocol):
    """The capture that a port belongs to."""

    name: str
    identity: Digest | None
    clock: int | None
    notes: tuple[str, ...]

    @property
    def form(self) -> str: ...

    @property
    def samples(self) -> int: ...

    @property
    def interfaces(self) -> Frame: ...

    @property
    def problems(self) -> Frame: ...


class Port:
    """The analysis of one AXI interface; see `Capture.port`.

    Attributes
    ----------
    row : dict
        Its row in ``Capture.interfaces``.
    figures : dict
        Cycles and counts; a read is open in cycle c when accept < c <= last beat. ``blocked``
        counts write beats with a read open and RVALID low, ``master_stall`` those with RVALID
        high and RREADY low; ``expected_blocked`` is the figure of independent ports.
    transactions : Transactions
    channels, outstanding, blocks, problems : Frame
    starts : Frame
        How many were open where matching begins anew, and why that is known.
    packets : Frame
        Of an AXI4-Stream, which has packets where others have transactions.
    """

    def __init__(
        self,
        capture: Owner,
        core: _core.Capture,
        interface: int,
        kind: str,
        assume: tuple[tuple[str, int], ...],
        ignore_gaps: bool,
        max_transactions: int = 0,
        idle_start: bool = False,
    ) -> None:
        self._core = core
        self._how: dict[str, Any] = {
            "kind": kind,
            "assume": assume,
            "ignore_gaps": ignore_gaps,
            "max_transactions": max_transactions,
            "idle_start": idle_start,
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
        self.packets = Frame(found["packets"], "packets")
        self.starts = Frame(found["starts"], "how many were open where matching begins anew")

    @property
    def name(self) -> str:
        """Slot and prefix."""
        slot, prefix = self.row["slot"], str(self.row["prefix"]) or "(no prefix)"
        return f"slot {slot} {prefix}" if slot is not None else prefix

    @property
    def samples(self) -> int:
        """Samples on the interface's own clock."""
        first = self.starts.row(0)["sample"] if len(self.starts) else 0
        return int(self.figures["cycles"]) + int(first)

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
        flow", else they are independent; fewer than 32 cycles on either side tell nothing. The
        same is asked of ARVALID that waits for ARREADY. Clocks with an unknown level are left out
        on both sides, and reads that take as long with write beats as without are independent.
        """
        return self.story()[0] if self.is_stream else findings.finding(self)

    @property
    def contrast(self) -> str:
        """The two probabilities that decide the finding on read data."""
        return findings.contrast(self)

    # ---- for a person -----------------------------------------------------------------------

    @property
    def clock(self) -> int | None:
        """Clock of the interface in Hz, as the caller has named it."""
        return self.capture.clock

    def story(self) -> list[str]:
        """The findings in sentences: reads against writes, the slowest read and write.

        Shares are of known clocks with a write beat and a read open, and of the clocks of the
        capture; a time is the sample at which VALID rose, in us from the first sample where the
        clock is known. Spans that are lower bounds say so.
        """
        if self.is_stream:
            return findings.stream_story(self, self.channels.row(0), self.packets)
        return findings.story(self)

    @property
    def is_stream(self) -> bool:
        """Is it an AXI4-Stream?"""
        return self.kind == "AXI-Stream"

    def headline(self) -> list[str]:
        """How many transactions, their spans, the finding."""
        f = self.figures
        if self.is_stream:
            return [f"{self.kind} {self.name}", *self.story()]
        proven = "proven complete" if f["bound_reads"] + f["bound_writes"] else "complete"
        lines = [
            f"{self.kind} {self.name}: {f['complete_reads']} of {f['reads']} reads and "
            f"{f['complete_writes']} of {f['writes']} writes {proven}"
            + (f", {counted(f['orphans'], 'orphan')}" if f["orphans"] else "")
            + (f", {counted(f['protocol'], 'protocol error')}" if f["protocol"] else "")
        ]
        if self.row["clock"] is not None:
            lines.append(f"{f['cycles']} samples at the rising edges of {self.row['clock']}")
        for direction in ("read", "write"):
            spans = self.spans(direction)
            if len(spans):
                at = (len(spans) + 1) // 2 - 1
                text = f"{direction} span: median {counted(int(spans[at]), 'clock')}"
                lines.append(f"{text} ({spans[0]} to {spans[-1]}, n={len(spans)})")
        lines += findings.bounds(self) + findings.exclusive(self)
        for t in self.transactions.triggered:
            where = "" if t["addr"] is None else f" at 0x{t['addr']:x}"
            least = "at least " if t["flags"] & FLAGS["lower bound"] else ""
            span = t["why"] if t["span"] is None else f"{least}{counted(t['span'], 'clock')}"
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
        f = self.figures
        if self.is_stream:
            return "\n".join([*self.headline(), self.channels.grid().to_text()])
        lines = [*self.headline(), self.contrast]
        if f["tail_n"]:
            lines.append(
                f"after the last W beat of a blocked span R is silent for "
                f"{counted(f['tail_median'], 'clock')} (median of {counted(f['tail_n'], 'span')})"
            )
        lines += findings.waits(self)
        lines += self.throughput()
        beats = dict(zip(self.channels["channel"], self.channels["beat"], strict=True))
        lines += findings.together(self, beats)
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
            if ("R" if direction == "read" else "W") not in str(self.row["channels"]).split():
                lines.append(f"{direction}: bytes -, its data channel is not in the capture")
                continue
            column = rows.column("bytes")
            data = column.data if column.valid is None else column.data[column.valid]
            if not len(data):
                lines.append(f"{direction}: bytes -, the size of its beats is not in the capture")
                continue
            total = int(data.sum())
            text = f"{direction}: {total} bytes in {n} clocks, {total / n:.2f} bytes per clock"
            if self.capture.clock:
                text += f", {total / n * self.capture.clock / 1e6:.1f} MB/s"
            lines.append(text)
        return lines

    def __repr__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return page_of(self.explain().split("\n"), Grid((), ())) + self.transactions._repr_html_()

    # ---- readings ---------------------------------------------------------------------------

    @cached_property
    def keys(self) -> Frame:
        """The keys of the readings: direction, address class, bytes, span."""
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
        group, names = grouped(part, CLASS_BITS)
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
        Column.of("observation", ["run"] * n),
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
