"""Slices on tracks for a trace viewer: Chrome trace JSON, and Perfetto's protobuf.

Both forms are described by the Perfetto project (docs/getting-started/other-formats,
docs/reference/synthetic-track-event). A trace begins at 0, because a viewer keeps time stamps as
doubles of microseconds; the exact counter values stand in the arguments of each slice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..util.atomic_write import write_whole
from ..util.optional import need

__all__ = ["Slice", "Trace", "write_trace"]

#: Endings of a file name that ask for the protobuf form.
PROTOBUF = (".pftrace", ".perfetto-trace", ".pb")


@dataclass(frozen=True)
class Slice:
    """One bar: a name and a span on a track.

    Parameters
    ----------
    group, track : str
        The process and the thread of the viewer: a boot and a program, a port and a channel.
    name : str
    start, end : Fraction
        Nanoseconds on the clock of the group; `end` is not before `start`.
    args : mapping of str to int, float or str
        Shown when the slice is chosen: exact ticks, lines, addresses.
    flow : int or None
        Slices of one number are joined by arrows in the order of their starts.
    """

    group: str
    track: str
    name: str
    start: Fraction
    end: Fraction
    args: Mapping[str, Any] = field(default_factory=dict)
    flow: int | None = None


@dataclass(frozen=True)
class _Placed:
    """A slice in the lane of its track where it overlaps no other, in whole ns from 0."""

    of: Slice
    lane: int
    start: int
    end: int


class Trace:
    """Slices of one or more groups, ready to be written.

    Parameters
    ----------
    slices : iterable of Slice

    Notes
    -----
    Each group begins at 0: clocks of different boots have no common origin. Slices of one track
    that overlap without nesting are laid into lanes ("driver", "driver 2"), because a viewer
    draws only nested slices on one track.
    """

    def __init__(self, slices: Iterable[Slice]) -> None:
        self.slices: tuple[Slice, ...] = tuple(slices)

    def __len__(self) -> int:
        return len(self.slices)

    def _placed(self) -> list[_Placed]:
        origin: dict[str, Fraction] = {}
        for one in self.slices:
            origin[one.group] = min(one.start, origin.get(one.group, one.start))
        tracks: dict[tuple[str, str], list[_Placed]] = {}
        open_ends: dict[tuple[str, str], list[list[int]]] = {}  # of each lane: the ends still open
        for one in sorted(self.slices, key=lambda s: (s.group, s.track, s.start, -s.end)):
            key = (one.group, one.track)
            start = round(one.start - origin[one.group])
            end = max(start, round(one.end - origin[one.group]))
            lanes = open_ends.setdefault(key, [])
            for ends in lanes:
                while ends and ends[-1] <= start:
                    ends.pop()
            lane = next((i for i, e in enumerate(lanes) if not e or e[-1] >= end), len(lanes))
            if lane == len(lanes):
                lanes.append([])
            lanes[lane].append(end)
            tracks.setdefault(key, []).append(_Placed(one, lane, start, end))
        return [placed for key in self._track_order() for placed in tracks[key]]

    def _track_order(self) -> list[tuple[str, str]]:
        """Groups and tracks in the order in which they were given."""
        groups = list(dict.fromkeys(one.group for one in self.slices))
        tracks = list(dict.fromkeys((one.group, one.track) for one in self.slices))
        return sorted(tracks, key=lambda key: groups.index(key[0]))

    # ---- Chrome ---------------------------------------------------------------------------------

    def to_chrome(self) -> str:
        """Chrome trace JSON: complete events (``ph: X``) and flow arrows.

        Returns
        -------
        str
            One document; Perfetto's page and the viewer that was chrome://tracing open it.

        Examples
        --------
        >>> from fractions import Fraction
        >>> one = Slice("boot 0", "driver", "smc", Fraction(1000), Fraction(1500), {"line": 7})
        >>> import json
        >>> json.loads(Trace([one]).to_chrome())["traceEvents"][-1]["dur"]
        0.5
        """
        placed = self._placed()
        numbers = _Numbers()
        events: list[dict[str, Any]] = []
        for one in placed:
            pid, tid = numbers.of(one.of.group, one.of.track, one.lane)
            events.append(
                {
                    "ph": "X",
                    "pid": pid,
                    "tid": tid,
                    "ts": one.start / 1000,
                    "dur": (one.end - one.start) / 1000,
                    "name": one.of.name,
                    "args": dict(one.of.args),
                }
            )
        for flow, steps in _flows(placed).items():
            for i, one in enumerate(steps):
                pid, tid = numbers.of(one.of.group, one.of.track, one.lane)
                phase = "s" if i == 0 else "f" if i == len(steps) - 1 else "t"
                event = {"ph": phase, "id": flow, "pid": pid, "tid": tid, "cat": "flow"}
                event |= {"ts": one.start / 1000, "name": "flow"}
                if phase == "f":
                    event["bp"] = "e"
                events.append(event)
        return json.dumps({"traceEvents": [*numbers.names(), *events], "displayTimeUnit": "ns"})

    # ---- Perfetto -------------------------------------------------------------------------------

    def to_perfetto(self) -> bytes:
        """Perfetto's protobuf (the ``perfetto`` extra): time stamps are whole nanoseconds.

        Returns
        -------
        bytes

        Raises
        ------
        MissingExtra
        """
        builder = need("perfetto.trace_builder.proto_builder", "perfetto").TraceProtoBuilder()
        event = need("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "perfetto").TrackEvent
        placed = self._placed()
        numbers = _Numbers()
        for one in placed:
            numbers.of(one.of.group, one.of.track, one.lane)
        for uuid, parent, name in numbers.tracks():
            descriptor = builder.add_packet().track_descriptor
            descriptor.uuid, descriptor.name = uuid, name
            if parent is not None:
                descriptor.parent_uuid = parent
        flows = {id(one): flow for flow, steps in _flows(placed).items() for one in steps}
        edges = []  # at one instant ends come first, then outer slices before inner ones
        for i, one in enumerate(placed):
            edges.append((one.start, 1, -(one.end - one.start), i, one))
            edges.append((one.end, 0 if one.end > one.start else 2, -i, i, one))
        for time, kind, _, _, one in sorted(edges, key=lambda edge: edge[:4]):
            packet = builder.add_packet()
            packet.timestamp, packet.trusted_packet_sequence_id = time, 1
            packet.track_event.track_uuid = numbers.uuid(one.of.group, one.of.track, one.lane)
            if kind != 1:
                packet.track_event.type = event.TYPE_SLICE_END
                continue
            packet.track_event.type = event.TYPE_SLICE_BEGIN
            packet.track_event.name = one.of.name
            if id(one) in flows:
                packet.track_event.flow_ids.append(flows[id(one)])
            for name, value in one.of.args.items():
                note = packet.track_event.debug_annotations.add()
                note.name = name
                if isinstance(value, int):
                    note.int_value = value
                elif isinstance(value, float):
                    note.double_value = value
                else:
                    note.string_value = str(value)
        data: bytes = builder.serialize()
        return data


class _Numbers:
    """Numbers of groups and lanes, given in the order of their first use."""

    def __init__(self) -> None:
        self.groups: dict[str, int] = {}
        self.lanes: dict[tuple[str, str, int], int] = {}

    def of(self, group: str, track: str, lane: int) -> tuple[int, int]:
        """The pid and tid of a lane."""
        pid = self.groups.setdefault(group, len(self.groups) + 1)
        return pid, self.lanes.setdefault((group, track, lane), len(self.lanes) + 1)

    def uuid(self, group: str, track: str, lane: int) -> int:
        """The number of a lane among all tracks: groups take the even ones."""
        return 2 * self.of(group, track, lane)[1] + 1

    @staticmethod
    def _title(track: str, lane: int) -> str:
        return track if lane == 0 else f"{track} {lane + 1}"

    def names(self) -> list[dict[str, Any]]:
        """The metadata events of Chrome's form."""
        events: list[dict[str, Any]] = []
        for group, pid in self.groups.items():
            for name, args in (
                ("process_name", {"name": group}),
                ("process_sort_index", {"sort_index": pid}),  # else by name: boot 10 before boot 2
            ):
                events.append({"ph": "M", "pid": pid, "name": name, "args": args})
        for (group, track, lane), tid in self.lanes.items():
            pid = self.groups[group]
            for name, args in (
                ("thread_name", {"name": self._title(track, lane)}),
                ("thread_sort_index", {"sort_index": tid}),
            ):
                events.append({"ph": "M", "pid": pid, "tid": tid, "name": name, "args": args})
        return events

    def tracks(self) -> list[tuple[int, int | None, str]]:
        """Number, parent and name of every track of Perfetto's form."""
        rows: list[tuple[int, int | None, str]] = [(2 * p, None, g) for g, p in self.groups.items()]
        for (group, track, lane), tid in self.lanes.items():
            rows.append((2 * tid + 1, 2 * self.groups[group], self._title(track, lane)))
        return rows


def _flows(placed: Sequence[_Placed]) -> dict[int, list[_Placed]]:
    """The slices of every flow of two or more, in the order of their starts."""
    flows: dict[int, list[_Placed]] = {}
    for one in placed:
        if one.of.flow is not None:
            flows.setdefault(one.of.flow, []).append(one)
    for steps in flows.values():
        steps.sort(key=lambda one: (one.start, -one.end))
    return {flow: steps for flow, steps in flows.items() if len(steps) > 1}


def write_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a trace in the form that the file name asks for.

    Parameters
    ----------
    trace : Trace
    path : path
        ``.json`` is Chrome's form; ``.pftrace``, ``.perfetto-trace`` and ``.pb`` are Perfetto's.

    Raises
    ------
    InputError
        Another ending, or a trace without a slice.
    """
    if not len(trace):
        raise InputError("--trace: there is no span with both ends to draw", path=os.fspath(path))
    ending = Path(path).suffix
    if ending == ".json":
        write_whole(path, trace.to_chrome().encode("ascii"))
    elif ending in PROTOBUF:
        write_whole(path, trace.to_perfetto())
    else:
        raise InputError(
            f"--trace {os.fspath(path)}: the name ends in .json (Chrome's form) or in one of "
            f"{', '.join(PROTOBUF)} (Perfetto's)"
        )
