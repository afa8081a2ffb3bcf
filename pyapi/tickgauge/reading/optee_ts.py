"""Stamp files of OP-TEE's benchmark framework (``.ts``, OP-TEE 2.5 to 4.1).

A file lists stamps of the client library, the kernel driver and the TEE core, popped from one
ring a core. Nothing says which call a stamp belongs to; the order within a core does. Counters
are cycles of a core (PMCCNTR times 64) without a frequency, and those of two cores are unrelated.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..dataset.dataset import Part, SourceInfo
from ..errors import InputError
from ..frame.frame import Column, Frame
from ..sources.digest import Digest
from ..sources.form import Match

__all__ = ["Stamp", "load", "parse", "sniff"]

#: The counter is read through a divider by 64.
STEP = 64

_ITEM = re.compile(
    rb"[ \t]*- core: (\d{1,9})\r?\n[ \t]+counter: (\d{1,19})\r?\n"
    rb"[ \t]+address: 0x([0-9a-fA-F]{1,16})\r?\n"
    rb"[ \t]+component: '?([^'\r\n]+?)'?[ \t]*(?:\r?\n|$)"
)
_TSV = re.compile(rb"(\d{1,9})\t(-?\d{1,19})\t0x([0-9a-fA-F]{1,16})\t([^\t\r\n]+)\r?(?:\n|$)")
_TOKENS = {"libteec": "L", "kmodule": "k", "core": "C"}

# One call on one core: the client library's stamps around it (E enters, R returns, L may be
# either); pairs of the driver and an invoke of its own, which a first invoke does besides; the SMC
# with its RPCs inside; pairs behind it. A task that moves leaves the begin of a call on one core
# (`left`) and its end on another (`came`).
_CALLS = re.compile(
    r"(?P<invoke>[EL](?:k(?:k|C(?:kk)*Ck))*?kC(?:kk)*Ck(?:kk)*[RL])"
    r"|(?P<left>E[kC]*(?=[EX]|$))"
    r"|(?P<kernel>kC(?:kk)*Ck)|(?P<pair>kk)"
    r"|(?P<came>C?k?R)|(?P<odd>[ERLkC])"
)

#: A step of a call that is this part of the shortest stay of the task on another core may be one.
MOVED = 4


@dataclass
class Stamp:
    """One stamp of the file."""

    core: int
    counter: int
    address: int
    component: str
    line: int
    offset: int


@dataclass
class _Found:
    """Rows under construction."""

    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"ts_calls": [], "readings": [], "problems": []}
    )
    keys: dict[tuple[str, str, str], int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def problem(self, stamp: Stamp, reason: str, detail: str) -> None:
        self.rows["problems"].append(
            {
                "source": 0,
                "line": stamp.line,
                "offset": stamp.offset,
                "rule": "ts",
                "reason": reason,
                "detail": detail,
            }
        )


def sniff(head: bytes, source: Any) -> Match:
    """How well the form fits."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if re.match(rb"timestamps:[ \t]*(\[\]|\r?\n[ \t]*- core:)", text):
        return Match(95, "begins with timestamps: and a list of stamps")
    if re.match(rb"\d+\t-?\d+\t0x[0-9a-f]+\t(core|kmodule|libteec|libutee|-)\r?\n", text):
        return Match(90, "begins with core, counter, address, component between tabs")
    return Match(0, "")


def parse(data: bytes, name: str = "") -> list[Stamp]:
    """The stamps of a file, in its order.

    Parameters
    ----------
    data : bytes
        YAML as the framework wrote it from 2017-09 on, or the tab-separated lines before.
    name : str
        For messages.

    Raises
    ------
    InputError
        Any other shape, with the line at which it begins.
    """
    start = re.match(rb"[\xef\xbb\xbf\s]*(?:timestamps:[ \t]*(?:\[\])?[ \t]*\r?\n)?", data)
    at = start.end() if start else 0
    item = _ITEM if b"timestamps:" in data[:at] else _TSV
    line = data.count(b"\n", 0, at) + 1
    stamps = []
    while at < len(data):
        match = item.match(data, at)
        if match is None:
            rest = data[at : at + 80].strip()
            if not rest or rest.startswith(b"..."):
                break
            raise InputError(
                f"not a stamp of the benchmark framework: {rest.splitlines()[0][:60]!r}; expected "
                "core, counter, address and component",
                path=name or None,
                line=line,
                offset=at,
            )
        component = match[4].decode("utf-8", "replace")
        stamps.append(Stamp(int(match[1]), int(match[2]), int(match[3], 16), component, line, at))
        at = match.end()
        line += data.count(b"\n", match.start(), at)
    return stamps


def load(source: Any, options: Any) -> Part:
    """Read a source as a stamp file."""
    data = source.read_bytes(options.limits)
    stamps = parse(data, source.name)
    info = SourceInfo(source.name, form="ts", bytes=len(data), formats=("ts",))
    info.identity = Digest.of(data)
    info.lines = data.count(b"\n")
    info.records = len(stamps)
    if not stamps:
        info.message = "no stamp was recorded"
    found = _Found()
    by_core: dict[int, list[Stamp]] = {}
    for stamp in stamps:
        by_core.setdefault(stamp.core, []).append(stamp)
    rings = {core: list(_cleaned(by_core[core], found)) for core in sorted(by_core)}
    side = _call_sites(rings.values())
    parts = {core: _parts(ring, side) for core, ring in rings.items()}
    _mark_moved(parts)
    kinds = {core: {piece.kind for piece in part} for core, part in parts.items()}
    cores = Counter(kind for own in kinds.values() for kind in own)
    for core, part in parts.items():
        elsewhere = {kind for kind, n in cores.items() if n > (kind in kinds[core])}
        _core_calls(part, elsewhere, found)
    info.problems = len(found.rows["problems"])
    return Part([info], _tables(found, bool(stamps), options.clock))


# ---- faults of a ring's stamps ---------------------------------------------------------


class _Piece(NamedTuple):
    """Stamps of one core that belong together."""

    kind: str
    text: str
    stamps: list[Stamp]


def _call_sites(rings: Iterable[Sequence[Stamp | None]]) -> dict[int, str]:
    """Whether the client library's stamps at an address enter (E) or return (R).

    Two of its stamps with stamps of others between them are an enter and a return, two without are
    a return and the next enter; a task that moved tells the opposite now and then.
    """
    votes: Counter[int] = Counter()
    for ring in rings:
        before: Stamp | None = None
        between = False
        for stamp in ring:
            if stamp is None:
                before = None
            elif stamp.component != "libteec":
                between = True
            else:
                if before is not None:
                    votes[before.address] += 1 if between else -1
                    votes[stamp.address] -= 1 if between else -1
                before, between = stamp, False
    return {address: "E" if n > 0 else "R" for address, n in votes.items() if n}


def _parts(ring: Sequence[Stamp | None], side: Mapping[int, str]) -> list[_Piece]:
    """The calls of one core, whole or in part."""
    text = ""
    for stamp in ring:
        token = "X" if stamp is None else _TOKENS.get(stamp.component, "X")
        text += side.get(stamp.address, token) if stamp is not None and token == "L" else token
    return [
        _Piece(
            str(match.lastgroup),
            match.group(),
            [stamp for stamp in ring[match.start() : match.end()] if stamp is not None],
        )
        for match in _CALLS.finditer(text)
    ]


def _shortest_stay(parts: Sequence[_Piece]) -> int | None:
    """The shortest stay, in cycles, of a task that came in a call and left in one."""
    came: Stamp | None = None
    stays = []
    for piece in parts:
        if piece.kind == "came":
            came = piece.stamps[-1]
        elif piece.kind == "left" and came is not None:
            stays.append(piece.stamps[-1].counter - came.counter)
            came = None
    return min(stays, default=None)


def _mark_moved(parts: dict[int, list[_Piece]]) -> None:
    """Calls that look whole may be the halves of two, if the task may have been away in between."""
    stays = ((_shortest_stay(part), core) for core, part in parts.items())
    shortest = heapq.nsmallest(2, ((stay, core) for stay, core in stays if stay is not None))
    for core, part in parts.items():
        elsewhere = next((stay for stay, other in shortest if other != core), None)
        if elsewhere is None:
            continue
        for i, piece in enumerate(part):
            counters = [stamp.counter for stamp in piece.stamps]
            steps = (b - a for a, b in itertools.pairwise(counters))
            if piece.kind == "invoke" and max(steps) >= elsewhere // MOVED:
                part[i] = piece._replace(kind="moved")


def _core_calls(parts: Sequence[_Piece], elsewhere: set[str], found: _Found) -> None:
    """The calls of one core, of which those that moved have no times.

    Half a call has moved if there is another half `elsewhere`; else its stamps are lost.
    """
    left_out: list[Stamp] = []
    moved: list[Stamp] = []
    for piece in parts:
        halves = {"left": {"came", "moved"}, "came": {"left", "moved"}}.get(piece.kind)
        if piece.kind == "odd" or (halves and not halves & elsewhere):
            left_out += piece.stamps
        elif piece.kind in ("left", "moved"):
            moved.append(piece.stamps[0])
            _add_moved(piece.stamps, found)
        elif piece.kind != "came":
            _add_call(
                piece.kind, piece.text.replace("E", "L").replace("R", "L"), piece.stamps, found
            )
    if moved:
        found.problem(
            moved[0],
            "moved",
            f"core {moved[0].core}: {len(moved)} calls moved to another core or may have, and have "
            "no times: counters of two cores are unrelated; the first is here",
        )
    if left_out:
        found.problem(
            left_out[0],
            "incomplete",
            f"core {left_out[0].core}: {len(left_out)} stamps belong to calls that are not whole "
            "(lost, or the task moved to another core); the first is here",
        )


def _add_moved(part: list[Stamp], found: _Found) -> None:
    """A call of which some stamps were taken on another core."""
    found.rows["ts_calls"].append(
        {
            "source": 0,
            "boot": 0,
            "core": part[0].core,
            "operation": "invoke",
            "first": "invoke" not in found.seen,
            "moved": True,
            "start": part[0].counter,
            "first_line": part[0].line,
            "last_line": part[-1].line,
        }
    )
    found.seen.add("invoke")


def _cleaned(stamps: list[Stamp], found: _Found) -> Iterator[Stamp | None]:
    """The stamps in which nothing is wrong, None where some are lost.

    An overrun ring hands out its newest stamps in the place of the oldest, and then again: of
    equal stamps only the last is real, and before it stamps are lost.
    """
    last = {(s.counter, s.address): i for i, s in enumerate(stamps)}
    by_64 = sum(s.counter % STEP == 0 for s in stamps) * 2 > len(stamps)
    before = -1
    told: set[str] = set()

    def tell(stamp: Stamp, reason: str, detail: str) -> None:
        if reason not in told:
            found.problem(stamp, reason, f"core {stamp.core}: {detail}")
        told.add(reason)

    for i, s in enumerate(stamps):
        if s.counter == 0 and s.address == 0:
            tell(s, "stale", "an empty slot of the ring was read; a stamp is lost")
        elif last[s.counter, s.address] != i:
            tell(s, "overflow", "the ring was overrun: older stamps are lost, newer ones repeated")
        elif by_64 and s.counter % STEP and s.counter >= 10**18:
            tell(s, "digits-cut", f"counter {s.counter} lost its 20th digit")
        elif s.counter < before:
            tell(s, "time-back", f"counter {s.counter} lies before {before}")
            before = s.counter
        else:
            before = s.counter
            yield s
            continue
        yield None


# ---- calls --------------------------------------------------------------------------------------


def _hops(text: str, part: list[Stamp]) -> tuple[dict[str, int], int]:
    """Cycles of each hop of a call, and the number of its RPCs."""
    t = [s.counter for s in part]
    second = text.rfind("C")
    first = text.rfind("C", 0, second)
    hops = {
        "driver_to_tee": t[first] - t[first - 1],
        "tee": t[second] - t[first],
        "tee_to_driver": t[second + 1] - t[second],
        "smc": t[second + 1] - t[first - 1],
    }
    rpcs = (second - first) // 2
    if rpcs:
        hops["rpc"] = sum(t[i + 1] - t[i] for i in range(first + 1, second, 2))
    if text[0] == "L":
        hops["client_to_driver"] = t[first - 1] - t[0]
        hops["driver_to_client"] = t[-1] - t[second + 1]
        hops["round_trip"] = t[-1] - t[0]
    return hops, rpcs


def _add_call(operation: str, text: str, part: list[Stamp], found: _Found) -> None:
    if operation == "pair":
        hops, rpcs = {"smc": part[1].counter - part[0].counter}, 0
        operation = "other smc"
    else:
        hops, rpcs = _hops(text, part)
        operation = {"invoke": "invoke", "kernel": "kernel invoke"}[operation]
    rows = found.rows["ts_calls"]
    if any(abs(hop) >= 1 << 63 for hop in hops.values()):
        found.problem(part[0], "overflow", "the counters of a call are more than 2^63 apart")
        return
    first = operation not in found.seen
    found.seen.add(operation)
    block = len(rows)
    rows.append(
        {
            "source": 0,
            "boot": 0,
            "core": part[0].core,
            "operation": operation,
            "first": first,
            "moved": False,
            "start": part[0].counter,
            "finish": part[-1].counter,
            "rpcs": rpcs,
            **hops,
            "first_line": part[0].line,
            "last_line": part[-1].line,
        }
    )
    for metric, value in hops.items():
        key = (operation, metric, "call=first" if first else "")
        found.rows["readings"].append(
            {
                "key": found.keys.setdefault(key, len(found.keys)),
                "source": 0,
                "boot": 0,
                "run": 0,
                "block": block,
                "value": value,
                "line": part[-1].line,
                "offset": part[-1].offset,
            }
        )


# ---- tables -------------------------------------------------------------------------------------

_TYPES = {
    "boots": {
        "source": "u4", "boot": "u4", "first_line": "u8", "first_offset": "u8", "reason": "O",
        "chain": "O", "version": "O", "platform": "O", "build": "O", "built": "O",
        "clock_hz": "u8",
    },
    "keys": {
        "format": "O", "test": "O", "metric": "O", "operation": "O", "place": "O", "labels": "O",
        "unit": "O", "exchange": "O", "cluster": "u4", "core": "u4", "cpu": "u4", "exp10": "i8",
        "clock_hz": "u8", "origin": "O", "resolution": "u8", "better": "O",
        "observation": "O",
    },
    "readings": {
        "key": "u4", "source": "u4", "boot": "u4", "run": "u4", "block": "u4", "value": "i8",
        "line": "u8", "offset": "u8",
    },
    "ts_calls": {
        "source": "u4", "boot": "u4", "core": "u4", "operation": "O", "first": "?",
        "moved": "?", "start": "u8", "finish": "u8", "client_to_driver": "i8",
        "driver_to_tee": "i8", "tee": "i8", "rpc": "i8", "tee_to_driver": "i8",
        "driver_to_client": "i8", "smc": "i8",
        "round_trip": "i8", "rpcs": "u4", "first_line": "u8", "last_line": "u8",
    },
    "problems": {
        "source": "u4", "line": "u8", "offset": "u8", "rule": "O", "reason": "O", "detail": "O",
        "excerpt": "O",
    },
}  # fmt: skip


def _frame(name: str, rows: list[dict[str, Any]]) -> Frame:
    columns = []
    for column, dtype in _TYPES[name].items():
        cells = [row.get(column) for row in rows]
        empty: Any = "" if dtype == "O" else 0
        valid = np.array([c is not None for c in cells], "?")
        data = np.array([empty if c is None else c for c in cells], dtype)
        columns.append(Column.of(column, data, None if valid.all() else valid))
    return Frame(columns, name)


def _tables(found: _Found, any_stamp: bool, clock: int | None) -> dict[str, Frame]:
    boots = [{"source": 0, "boot": 0, "first_line": 1, "first_offset": 0, "reason": "stamp file"}]
    keys = [
        {
            "format": "ts", "metric": metric, "operation": operation, "labels": labels or None,
            "unit": "cycle", "exp10": 0, "clock_hz": clock,
            "origin": "option" if clock else None, "resolution": STEP, "better": "lower",
            "observation": "run",
        }
        for operation, metric, labels in found.keys
    ]  # fmt: skip
    rows: dict[str, list[dict[str, Any]]] = {
        "boots": boots if any_stamp else [],
        "keys": keys,
        **found.rows,
    }
    return {name: _frame(name, rows[name]) for name in _TYPES}
