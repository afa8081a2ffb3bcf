"""Calls, boot stages and AXI transactions as slices of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import count
from typing import Any

from ..dataset.timeline import Clock, timeline
from ..frame.frame import Frame
from .trace import Slice, Trace

__all__ = ["of_calls", "of_port", "of_stages"]

#: Track, first and last stamp of the layers of an OP-TEE call, the outer ones first.
_LAYERS = (
    ("client", "client_start", "client_return"),
    ("driver", "driver_start", "driver_finish"),
    ("TEE core", "tee_receive", "tee_finish"),
    ("TA", "ta_enter", "tee_finish"),
)


def _records(frame: Frame) -> Iterator[dict[str, Any]]:
    return iter(frame)


def _known(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names if row.get(name) is not None}


def of_calls(data: Any) -> Trace:
    """OP-TEE calls: one track each for client, driver, TEE core and TA of a boot.

    Parameters
    ----------
    data : Dataset
        With ``calls`` (stamps of both consoles) or ``trace_calls`` (kernel tracepoints).

    Returns
    -------
    Trace
        A layer is drawn where both its stamps are there; arrows lead from the client to the TA.
        A call of a kernel trace is one slice on the track of its task. Stamps without a clock
        are drawn with one nanosecond a tick, and the group says so.
    """
    slices: list[Slice] = []
    flows = count(1)
    if "calls" in data.tables:
        for row in _records(data.calls):
            slices += _call(row, next(flows))
    if "trace_calls" in data.tables:
        for row in _records(data.trace_calls):
            if row["start"] is None or row["total"] is None:
                continue
            group = f"boot {row['boot']}" if row["boot"] is not None else "trace"
            start = Fraction(row["start"])
            args = _known(row, "state", "cpu", "secure", "interrupt", "rpc", "wait", "first_line")
            track = f"{row['task']} {row['tid']}"
            end = start + row["total"]
            slices.append(Slice(group, track, row["operation"], start, end, args))
    return Trace(slices)


def _call(row: Mapping[str, Any], flow: int) -> Iterator[Slice]:
    group, tick = _clocked(f"boot {row['boot']}", row["clock_hz"])
    for track, first, last in _LAYERS:
        if row[first] is None or row[last] is None or row[last] < row[first]:
            continue
        args = {"first tick": row[first], "last tick": row[last], "state": row["state"]}
        args |= _known(row, "cmd", "run", f"{first}_line", f"{last}_line")
        start, end = row[first] * tick, row[last] * tick
        yield Slice(group, track, row["operation"], start, end, args, flow)


def _clocked(group: str, clock_hz: int | None) -> tuple[str, Fraction]:
    """The name of a group and the nanoseconds of its tick."""
    if clock_hz:
        return group, Fraction(10**9, clock_hz)
    return f"{group} (clock unknown: 1 ns stands for a tick)", Fraction(1)


def of_stages(data: Any) -> Trace:
    """The stages of each boot, one track a service and cpu.

    Parameters
    ----------
    data : Dataset
        With ``stages``: PMF and bootstage records.

    Returns
    -------
    Trace
        Clocks that `tickgauge boot` joins are one group with one axis; clocks that nothing ties
        are groups of their own, for side by side they would tell an order that nobody knows.
        Where the zero of a clock is known within bounds only, its arguments say by how much its
        stages may lie earlier.
    """
    slices: list[Slice] = []
    places: dict[Any, dict[str, tuple[str, Clock]]] = {}
    for row in _records(data.stages) if "stages" in data.tables else ():
        if row["start"] is None or row["finish"] is None or row["finish"] < row["start"]:
            continue
        boot = row["boot"]
        if boot not in places:
            places[boot] = _places(data, boot)
        group, clock = places[boot].get(row["axis"], (f"boot {boot}", Clock("", 0)))
        group, tick = _clocked(group, row["clock_hz"])
        track = row["service"] if row["cpu"] is None else f"{row['service']} cpu {row['cpu']}"
        args = {"first tick": row["start"], "last tick": row["finish"]}
        args |= _known(row, "start_line", "finish_line")
        if clock.name:
            args["clock"] = clock.name
        if clock.early:
            args["may lie earlier by ns"] = clock.early
        start, end = (clock.zero + row[end] * tick for end in ("start", "finish"))
        slices.append(Slice(group, str(track), str(row["stage"]), start, end, args))
    return Trace(slices)


def _places(data: Any, boot: int | None) -> dict[str, tuple[str, Clock]]:
    """The group and the zero of each clock of a boot."""
    strips = timeline(data, boot)[0] if boot is not None else []
    found: dict[str, tuple[str, Clock]] = {}
    for strip in strips:
        names = ", ".join(clock.name for clock in strip.clocks)
        group = f"boot {boot}" if len(strips) == 1 else f"boot {boot}: {names}"
        found |= {clock.name: (group, clock) for clock in strip.clocks}
    return found


def of_port(port: Any) -> Trace:
    """The transactions of an AXI port: one track a channel, arrows from address to data.

    Parameters
    ----------
    port : Port

    Returns
    -------
    Trace
        One clock lasts ``1e9 / clock`` ns. Address channels are drawn from VALID to the
        handshake, data channels from the first to the last beat, B for its beat. Transactions
        whose ends are not both in the capture are left out.
    """
    group, tick = _clocked(str(port.name or "port"), port.capture.clock)
    flows = count(1)
    slices = []
    for row in _records(port.transactions):
        if row["status"] != "complete":
            continue
        read = row["direction"] == "read"
        spans = [("AR" if read else "AW", "ax_valid", "ax_accept")]
        spans.append(("R" if read else "W", "data_first", "data_last"))
        if not read:
            spans.append(("B", "b_valid", "b_accept"))
        flow = next(flows)
        name = f"{row['addr']:#x}" if row["addr"] is not None else row["direction"]
        for track, first, last in spans:
            if row[first] is None or row[last] is None:
                continue
            args = {"first clock": row[first], "last clock": row[last]}
            args |= _known(row, "direction", "beats", "bytes", "id", "span", "blocked", "resp")
            start, end = row[first] * tick, (row[last] + 1) * tick
            slices.append(Slice(group, track, name, start, end, args, flow))
    return Trace(slices)
