"""Transactions of an AXI port: one row a read or write, with stamps and spans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..frame.frame import Frame
from ..frame.grid import Grid
from ..util.text import number

__all__ = [
    "CLASS_BITS",
    "FLAGS",
    "Addressed",
    "Transactions",
    "grouped",
    "percent_text",
    "ratio_text",
]

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


class Addressed(Frame):
    """A frame whose column ``addr`` is shown in hex."""

    def _grid_cells(self, name: str) -> list[Any]:
        cells = super()._grid_cells(name)
        return cells if name != "addr" else [c if c is None else f"0x{c:x}" for c in cells]


class Transactions(Addressed):
    """Reads and writes of one port, one a row.

    Stamps (``ax_valid ax_accept data_valid data_first data_last b_valid b_accept``) are samples;
    spans (``address_wait first_data last_data response after_data span data_phase queue``) are
    clocks. ``status`` is complete, incomplete (an end lies outside the capture or its window) or
    orphan (data or a response whose command does); ``why`` says more. ``counted`` ones are in the
    statistics: complete, with neither an unknown sample nor a protocol error in them, and known to
    answer their own command: ``Port.starts`` says how many were open when the capture began, and
    why that is known. The spans of ``bounds`` are lower bounds.
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
    def bounds(self) -> Transactions:
        """Complete ones whose spans are lower bounds; they are in no statistic."""
        whole = self["status"] == "complete"
        rows: Transactions = self[whole & self.flagged("lower bound")]
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
        """The columns for a person: address in hex, the main stamps and spans."""
        names = ["direction", "addr", "beats", "bytes", "ax_valid", "ax_accept", "data_first"]
        names += ["data_last", "b_accept", "span", "first_data", "blocked", "note"]
        rows: list[list[Any]] = []
        for r in self:
            cells: list[Any] = [r.get(n) for n in names[:-1]]
            cells[1] = None if cells[1] is None else f"0x{cells[1]:x}"
            note = [r["why"]] if r["why"] else [] if r["status"] == "complete" else [r["status"]]
            note += [_outcome(r)] if r["lock"] not in (None, "normal") else []
            note += ["trigger"] if r["trigger"] else []
            note += ["uncertain"] if r["flags"] & FLAGS["uncertain"] else []
            bound = r["flags"] & FLAGS["lower bound"] and r["status"] == "complete"
            note[:1] = ["lower bound"] if bound and r["why"] else note[:1]
            rows.append([*cells, ", ".join(note) or None])
        if clock:
            names.append("us")
            for row in rows:
                row.append(None if row[9] is None else float(row[9] * 1e6 / clock))
        return Grid(names, rows, digits={"us": 3}, wide=[*names[3:9], "blocked"])


def _outcome(row: Mapping[str, Any]) -> str:
    """``exclusive, failed``: of an exclusive write its outcome, where it is in the statistics."""
    words = {"EXOKAY": ", done", "OKAY": ", failed"}
    told = row["direction"] == "write" and row["flags"] & FLAGS["counted"]
    return str(row["lock"]) + (words.get(row["resp"], "") if told else "")


def grouped(
    part: Transactions, bits: int
) -> tuple[npt.NDArray[np.int64], list[tuple[str, int | None, int | None]]]:
    """The group of each transaction, and the direction, address class and bytes of each group."""
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


def percent_text(value: float | None) -> str:
    """A change as ``+102.9 %``."""
    return "-" if value is None else f"{value:+.1f} %"


def ratio_text(value: float | None) -> str:
    """A ratio as ``x2.03``."""
    return "-" if value is None else f"x{number(value, 3)}"
