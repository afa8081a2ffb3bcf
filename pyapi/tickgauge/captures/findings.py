"""The findings of an AXI port: sentences that all follow from one verdict and its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ..frame.frame import Frame
from ..util.text import counted
from .transactions import Transactions, ratio_text

__all__ = [
    "Told",
    "contrast",
    "exclusive",
    "finding",
    "missing",
    "story",
    "stream_story",
    "together",
    "waits",
]

#: The verdict at the end of the fixed sentence.
ENDINGS = {
    "unseen": "nothing can be told",
    "nothing": "no write beat while a read was asked for",
    "too few": "too few cycles to tell",
    "independent": "reads and writes are independent",
    "slowed": "reads move less while writes flow",
    "blocked": "reads wait for writes",
}

_STORIES = {
    "unseen": "Nothing can be told about blocking",
    "nothing": "No data was written while a read was asked for: nothing to tell about blocking.",
    "too few": "Too few clocks to tell whether writes hold reads up.",
    "independent": "Writes do not hold reads up.",
    "slowed": "Reads move less while writes flow.",
    "blocked": "Reads are blocked while writes flow.",
}

#: Verdicts that say writes hold reads up.
HELD = ("slowed", "blocked")


class Told(Protocol):
    """Of a port, as far as it is told."""

    figures: dict[str, Any]
    row: dict[str, Any]
    transactions: Transactions

    @property
    def clock(self) -> int | None:
        """Clock of the interface in Hz."""
        ...


def share(part: int, whole: int) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.1f} %"


def in_us(clocks: int, hz: int | None) -> str:
    """Clocks as microseconds in brackets, where the clock is known."""
    return f" ({clocks * 1e6 / hz:.3f} us)" if hz else ""


def missing(port: Told) -> str:
    """Why nothing can be told: a channel, one of its signals, or levels that are unknown."""
    f = port.figures
    there = str(port.row["channels"] or "").split()
    lacking = str(port.row["missing"] or "").upper().split()
    gone = [c for c in ("AR", "R", "W") if c not in there]
    gone = [next((w for w in lacking if w.startswith(c)), f"the {c} channel") for c in gone]
    if gone:
        return f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} not in the capture"
    return (
        f"R or W is unknown in {f['read_unknown']} of the {f['read_open']} clocks with a read open"
    )


def _data_share(port: Told) -> str:
    """The clocks that the contrast rests on, in one sentence; empty where there are none."""
    f = port.figures
    w, n = f["r_and_w"] + f["w_only"], f["cycles"]
    if not w or not n:
        return ""
    text = (
        f" In {f['blocked']} of the {w} clocks with a write beat and a read open "
        f"({share(f['blocked'], w)}) no read data was offered; that is "
        f"{share(f['blocked'], n)} of the capture's {n} clocks{in_us(f['blocked'], port.clock)}"
    )
    expected = f["expected_blocked"]
    return text + ("." if math.isnan(expected) else f", and would be {expected:.0f} by chance.")


def _address_share(port: Told) -> str:
    f = port.figures
    part = share(f["address_held_w"], f["address_held"])
    return (
        f" ARVALID waits for ARREADY in {counted(f['address_held'], 'clock')}, in "
        f"{f['address_held_w']} of them ({part}) a write beat goes."
    )


def _first_line(port: Told) -> str:
    f = port.figures
    verdict = f["verdict"]
    if verdict == "unseen":
        return f"{_STORIES[verdict]}: {missing(port)}."
    text = _STORIES[verdict]
    if verdict == "too few":
        return text
    if verdict in HELD and f["where"] == "address":
        return f"{text} They wait in the address channel.{_address_share(port)}"
    text += _data_share(port)
    if verdict in HELD and "address" in f["where"]:
        text += _address_share(port)
    if f["read_unknown"]:
        text += f" Left out: {counted(f['read_unknown'], 'clock')} with an unknown level of R or W."
    return text


def story(port: Told) -> list[str]:
    """Reads against writes, the slowest read and write, and the evidence of the figures.

    Shares are of known clocks with a write beat and a read open, and of all clocks; a time is the
    sample at which VALID rose, in us from the first sample where the clock is known.
    """
    lines = [_first_line(port)]
    for direction in ("read", "write"):
        lines += _slowest(port, direction)
    return lines + bounds(port)


def bounds(port: Told) -> list[str]:
    """A line for each direction whose spans are lower bounds."""
    lines = []
    for direction in ("read", "write"):
        n = port.figures[f"bound_{direction}s"]
        if n:
            lines.append(
                f"{n} {direction}{'s have' if n > 1 else ' has'} no proven span: how many "
                f"{direction}s were open when the capture began is not known, so each span is a "
                "lower bound, and in no statistic (--idle-start where you know that none was)."
            )
    return lines


def exclusive(port: Told) -> list[str]:
    """Exclusive and locked accesses in a line each; none where there are none."""
    f, lines = port.figures, []
    if f["exclusive_writes"]:
        rest = f["exclusive_writes"] - f["exclusive_done"] - f["exclusive_failed"]
        lines.append(
            f"{counted(f['exclusive_writes'], 'exclusive write')}: {f['exclusive_done']} done "
            f"(EXOKAY), {f['exclusive_failed']} failed (OKAY: nothing is written)"
            + (f", {rest} of unknown outcome" if rest else "")
            + f"; {f['exclusive_pairs']} with their exclusive read in the capture"
        )
    if f["exclusive_reads"]:
        lines.append(
            f"{counted(f['exclusive_reads'], 'exclusive read')}, {f['exclusive_refused']} of them "
            "answered with OKAY: no exclusive access there"
            if f["exclusive_refused"]
            else counted(f["exclusive_reads"], "exclusive read")
        )
    if f["locked"]:
        lines.append(f"{f['locked']} locked access{'es' if f['locked'] > 1 else ''} (AXI3)")
    return lines


def _slowest(port: Told, direction: str) -> list[str]:
    """The slowest transaction of a direction; of lower bounds, where there is nothing better."""
    part = port.transactions.counted
    part = part[part["direction"] == direction]
    if len(part):
        spans = np.sort(part.column("span").data)
        middle = int(spans[(len(spans) + 1) // 2 - 1])
        return [_described(port, part.slowest(1).row(0), middle)]
    part = port.transactions.bounds
    part = part[part["direction"] == direction]
    if not len(part):
        return []
    longest = int(np.argmax(part.column("span").data))
    return [_described(port, part.row(longest), None)]


def _described(port: Told, row: Mapping[str, Any], middle: int | None) -> str:
    """One sentence on a transaction; `middle`: the median span, None for a lower bound."""
    where = "" if row["addr"] is None else f" at 0x{row['addr']:x}"
    size = "" if row["bytes"] is None else f", {row['bytes']} bytes"
    least = "at least " if middle is None else ""
    longer = middle is not None and row["span"] > 1.05 * middle > 0
    times = f", {ratio_text(row['span'] / middle)} the median" if middle and longer else ""
    text = (
        f"The slowest {row['direction']}{where}{size}: {least}{counted(row['span'], 'clock')}"
        f"{in_us(row['span'], port.clock)}{times}; asked for at sample {row['ax_valid']}"
        f"{in_us(row['ax_valid'], port.clock)}"
    )
    f = port.figures
    if row["direction"] == "read" and row["span"] and f["verdict"] in HELD:
        if "data" in f["where"]:
            held = row["blocked"] or 0
            text += f"; in {held} of its clocks ({share(held, row['span'])}) a write held it up"
        if "address" in f["where"]:
            text += f"; {row['address_wait']} of its clocks it waited for ARREADY"
    return text + "."


def finding(port: Told) -> str:
    """The sentence of fixed form: the clocks, the figure of chance, the verdict."""
    f = port.figures
    ending = ENDINGS[f["verdict"]]
    if f["verdict"] == "unseen":
        return f"reads blocked while writing: -; {ending}, {missing(port)}"
    w = f["r_and_w"] + f["w_only"]
    expected = f["expected_blocked"]
    shown = "-" if math.isnan(expected) else f"{expected:.0f}"
    parts = [f"reads blocked while writing: {f['blocked']} of {w} write beats"]
    parts.append(f"independent ports: {shown}")
    if f["where"] == "address":  # nothing of read data is said to wait
        parts.clear()
    if "address" in f["where"]:
        parts.append(
            f"ARVALID held while writing: {f['address_held_w']} of the {f['address_held']} clocks "
            "that it waits"
        )
    text = "; ".join([*parts, ending])
    if f["master_stall"] > f["blocked"]:
        text += f"; in {f['master_stall']} of them the master itself waits (RREADY low)"
    return text


def contrast(port: Told) -> str:
    """The two probabilities that decide the verdict on read data."""
    f = port.figures

    def shown(p: float) -> str:
        return "-" if math.isnan(p) else f"{p:.3f}".lstrip("0") or "0"

    return (
        f"P(R beat | W beat) {shown(f['p_given_w'])} against P(R beat | no W beat) "
        f"{shown(f['p_given_no_w'])}, a read open"
    )


def waits(port: Told) -> list[str]:
    """Where reads spend their clocks: the address channel, first data, gaps inside bursts."""
    f, n = port.figures, port.figures["cycles"]
    lines: list[str] = []
    if not n or not f["reads"]:
        return lines
    if f["read_asked"] < n:
        idle = n - f["read_asked"]
        lines.append(f"the master asks for no read in {idle} of {counted(n, 'clock')}")
    parts = [
        ("in the address channel", f["address_held"], f["address_held_w"]),
        ("for first data", f["first_wait"], f["first_wait_w"]),
        ("inside bursts", f["gap_wait"], f["gap_wait_w"]),
    ]
    words = [f"{count} {where} ({with_w} with a W beat)" for where, count, with_w in parts if count]
    if words and f["verdict"] != "unseen":
        lines.append("clocks in which reads wait: " + ", ".join(words))
    return lines


def together(port: Told, beats: Mapping[str, int]) -> list[str]:
    """R and W beats in one clock, and how many were open at once; what is not seen is not told."""
    f, there = port.figures, str(port.row["channels"] or "").split()
    lines, parts = [], []
    if "R" in there and "W" in there:
        either = int(beats["R"]) + int(beats["W"]) - f["any_r_and_w"]
        lines.append(f"R and W beat together in {f['any_r_and_w']} of {either} clocks with a beat")
    for direction, channels in (("read", "AR R"), ("write", "AW B")):
        seen = all(c in there for c in channels.split())
        if seen and f[f"{direction}s"] and not f["unknown"]:
            least = "at least " if f[f"bound_{direction}s"] else ""
            parts.append(least + counted(f[f"max_{direction}s"], direction))
    return lines + (["open at once: " + ", ".join(parts)] if parts else [])


def stream_story(port: Told, channel: Mapping[str, Any], packets: Frame) -> list[str]:
    """An AXI4-Stream in sentences: throughput, who waits for whom, packets."""
    n = port.figures["cycles"]
    if not n:
        return ["No sample was taken."]
    beats, total = channel["beat"], port.figures["stream_bytes"]
    text = f"{beats} beats in {n} clocks ({share(beats, n)})"
    if port.figures["stream_has_bytes"]:
        text += f", {total} bytes, {total / n:.2f} bytes per clock"
        if port.clock:
            text += f", {total / n * port.clock / 1e6:.1f} MB/s"
    lines = [
        text + ".",
        f"The receiver holds the stream up (TVALID, no TREADY) in {channel['stall']} clocks "
        f"({share(channel['stall'], n)}); the sender has nothing (TREADY, no TVALID) in "
        f"{channel['starve']} clocks ({share(channel['starve'], n)}), "
        f"{port.figures['stream_gap']} of them inside a packet.",
    ]
    if channel["unknown"]:
        lines.append(f"TVALID or TREADY is unknown in {channel['unknown']} clocks.")
    whole = packets[packets["whole"]]
    if len(whole):
        sizes = np.sort(whole.column("beats").data)
        times = np.sort(whole.column("last").data - whole.column("first").data + np.uint64(1))
        at = (len(whole) + 1) // 2 - 1
        lines.append(
            f"{len(whole)} whole packets: median {sizes[at]} beats ({sizes[0]} to {sizes[-1]}) in "
            f"{times[at]} clocks ({times[0]} to {times[-1]})."
        )
    elif len(packets):
        lines.append("No packet is whole: its first beat or its TLAST lies outside the capture.")
    return lines
