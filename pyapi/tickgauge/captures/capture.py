"""Captures: Vivado ILA exports (CSV, VCD, ``.ila``) and simulators' VCD, and the AXI ports in them.

>>> cap = tg.read_capture("iladata.ila")           # doctest: +SKIP
>>> cap.transactions()                             # doctest: +SKIP
>>> print(cap.finding())                           # doctest: +SKIP
reads blocked while writing: 5888 of 5888 write beats; ...; reads wait for writes
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..dataset.dataset import SourceInfo
from ..errors import InputError, NotEnoughData, UnknownName
from ..frame.frame import Column, Frame
from ..frame.grid import Grid, page_of
from ..frame.readings import Readings
from ..sources.digest import Digest
from ..util.text import clean
from .port import Port
from .transactions import Transactions

if TYPE_CHECKING:
    from ..plot.captures import CapturePlots

__all__ = ["FORMS", "Capture"]

#: Interfaces that a message lists.
LISTED = 40

#: Names that are looked through for the nearest ones, and how like they have to be.
MOST_NAMES, LIKE = 20_000, 0.75

#: The name of a form of the core.
FORMS = {"csv": "CSV", "vcd": "VCD", "dmp": "ILA dump"}


class Capture:
    """A capture: its samples, and the AXI interfaces found in it.

    Made by `read_capture` or by ``tickgauge.read``.

    Attributes
    ----------
    name : str
        The source.
    form : str
        ``"ILA CSV"``, ``"CSV"``, ``"ILA VCD"``, ``"VCD"``; of archives ``in .ila`` follows.
    identity : Digest or None
        Tells equal sources.
    samples : int
        Depth of the capture, in samples: one sample is one clock of the interface.
    clock : int or None
        Clock of the interface in Hz, as the caller names it; the files do not know it.
    notes : tuple of str
        Decisions of reading, and open questions.
    """

    def __init__(
        self,
        core: _core.Capture,
        name: str,
        *,
        identity: Digest | None = None,
        archive: str = "",
        clock: int | None = None,
        notes: Sequence[str] = (),
        wish: Mapping[str, Any] | None = None,
    ) -> None:
        self._core = core
        self._ports: dict[tuple[Any, ...], Port] = {}
        self._archive = archive
        self._wish = dict(wish or {})
        self.about: dict[str, Any] = core.about()
        self.name = name
        self.identity = identity
        self.clock = clock
        self.notes = (*notes, *self._own_notes())

    @property
    def digest(self) -> str:
        """SHA-256 of the decompressed bytes, made when it is first asked for."""
        return "" if self.identity is None else str(self.identity)

    @property
    def samples(self) -> int:
        """Depth of the capture."""
        return int(self.about["samples"])

    @property
    def form(self) -> str:
        """A description of the source."""
        form = FORMS[self.about["form"]]
        form = f"ILA {form}" if self.about["ila"] else form
        return f"{form} in .ila" if self._archive else form

    def _own_notes(self) -> list[str]:
        about, notes = self.about, []
        if about["form"] == "csv" and not about["ila"] and "HEX" in self.signals["radix"]:
            notes.append("numbers of a plain CSV that say no radix are read as hex")
        if about["form"] == "vcd" and about["clocked"]:
            clocks = {str(r["clock"]) for r in self.interfaces if r["clock"] is not None}
            names = sorted(clocks) or [str(self._core.word("clock"))]
            notes.append(f"sampled at the rising edges of {' and '.join(names[:4])}")
        elif about["form"] == "vcd" and not about["ila"]:
            notes.append("no clock was found: one time unit is taken as one sample")
        if about["form"] == "vcd" and about["samples"] and not about["depth_known"]:
            notes.append(
                f"a VCD ends at its last change: {about['samples']} samples are used, idle cycles "
                "behind them are not counted (--samples N says the depth)"
            )
        elif about["form"] == "vcd" and about["samples"] > about["seen"]:
            notes.append(
                f"depth {about['samples']} was given; the VCD itself ends at {about['seen']}"
            )
        if about["gaps"]:
            notes.append(f"{about['gaps']} gaps: nothing is matched across them")
        return notes

    # ---- tables ---------------------------------------------------------------------------

    @cached_property
    def signals(self) -> Frame:
        """All signals in file order: name, width, AXI role, interface, whether it was kept."""
        return Frame(self._core.table("signals"), "signals")

    @cached_property
    def interfaces(self) -> Frame:
        """The interfaces found, most matched signals first.

        Columns: prefix, slot, kind, channels, missing (``assume`` could settle it), bound,
        data_bits, same_as (the same wires under another name), usable, why (it is not).
        """
        return Frame(self._core.table("interfaces"), "interfaces")

    @cached_property
    def marks(self) -> Frame:
        """Where windows begin, triggers lie, and gaps are: sample, kind."""
        return Frame(self._core.table("marks"), "marks")

    @cached_property
    def problems(self) -> Frame:
        """The lines that could not be read, with offset."""
        return Frame(self._core.table("problems"), "problems")

    @cached_property
    def windows(self) -> Frame:
        """One row a window: its first and last sample, and its trigger."""
        sample, kind = self.marks["sample"], self.marks["kind"]
        first = np.asarray(sample[kind == "window"], "u8")
        triggers = np.asarray(sample[kind == "trigger"], "u8")
        last = np.append(first[1:], np.uint64(self.samples))[: len(first)] - np.uint64(1)
        at = np.searchsorted(triggers, first)
        there = at < len(triggers)
        found = triggers[np.minimum(at, max(0, len(triggers) - 1))] if len(triggers) else first
        there &= found <= last if len(triggers) else False
        return Frame(
            [
                Column.of("window", np.arange(len(first), dtype="u4")),
                Column.of("first", first),
                Column.of("last", last),
                Column.of("trigger", found, there),
            ],
            "windows",
        )

    def signal(self, name: str) -> tuple[npt.NDArray[np.uint64], npt.NDArray[Any]]:
        """The changes of one stored signal.

        Parameters
        ----------
        name : str
            As in `signals`, with or without its range. Signals that bind to no AXI role are
            stored where ``read_capture(..., keep=[name])`` asked for them.

        Returns
        -------
        samples : uint64 array, shape (n,)
            Where a value begins.
        values : array, shape (n,)
            uint64, masked where unknown; Python integers (None where unknown) beyond 64 bits.
        """
        rows = [
            i
            for i, n in enumerate(self.signals["name"])
            if name in (n, n.rpartition("[")[0].rstrip())
        ]
        if not rows:
            raise UnknownName(f"no signal {clean(repr(name))}")
        if not self.signals["stored"][rows[0]]:
            raise UnknownName(
                f"signal {clean(repr(name))} was not kept: read_capture(..., keep=[{name!r}])"
            )
        changes = Frame(self._core.changes(rows[0]), "changes")
        samples = changes.column("sample").data
        words = [changes.column(n) for n in changes.columns[1:]]
        if len(words) == 1:
            return samples, words[0].values()
        out = np.zeros(len(samples), "O")
        for i, word in enumerate(words):
            out += word.data.astype("O") << (64 * i)
        valid = words[0].valid
        if valid is not None:
            out[~valid] = None
        return samples, out

    # ---- interfaces -------------------------------------------------------------------------

    def port(
        self,
        slot: int | None = None,
        prefix: str | None = None,
        *,
        kind: str | None = None,
        assume: Mapping[str, int] | None = None,
        ignore_gaps: bool | None = None,
        idle_start: bool | None = None,
    ) -> Port:
        """The analysis of one AXI interface (made once).

        Parameters
        ----------
        slot : int, optional
            Its ``slot_N``.
        prefix : str, optional
            A part of its prefix, in any case.
        kind : {"axi4", "axi3", "lite"}, optional
            In place of the kind that its signals say.
        assume : mapping, optional
            Levels of VALIDs and READYs that are not in the capture, ``{"arready": 1}``.
        ignore_gaps : bool
            Go on across gaps; the transactions are marked as lower bounds.
        idle_start : bool
            You know that nothing is open at the first sample; otherwise that has to follow from
            the capture.

        Raises
        ------
        InputError
            No interface, or more than one and nothing chosen; the message lists them.
        LimitError
            More transactions than the limits of the reading allow.
        """
        row = self._choose(slot, prefix, assume or self._wish.get("assume"))
        kind = (kind or self._wish.get("kind") or "auto").lower().replace("-", "")
        kind = {"axi4lite": "lite", "axilite": "lite"}.get(kind, kind)
        levels = tuple(sorted((assume or self._wish.get("assume") or {}).items()))
        if ignore_gaps is None:
            ignore_gaps = bool(self._wish.get("ignore_gaps"))
        if idle_start is None:
            idle_start = bool(self._wish.get("idle_start"))
        most = self._wish.get("max_transactions", 0)
        key = (row, kind, levels, ignore_gaps, idle_start)
        if key not in self._ports:
            self._ports[key] = Port(
                self, self._core, row, kind, levels, ignore_gaps, most, idle_start
            )
        return self._ports[key]

    def _choose(self, slot: int | None, prefix: str | None, assume: Any) -> int:
        rows = list(self.interfaces)
        if slot is None and prefix is None:
            slot, prefix = self._wish.get("slot"), self._wish.get("prefix")
        open_ = [i for i, r in enumerate(rows) if r["usable"] or assume]
        usable = [i for i in open_ if rows[i]["same_as"] is None]
        fits = [
            i
            for i in usable
            if (slot is None or rows[i]["slot"] == slot)
            and (prefix is None or prefix.lower() in rows[i]["prefix"].lower())
        ]
        if not fits and prefix is not None:  # another name of wires that are listed
            fits = [i for i in open_ if prefix.lower() in rows[i]["prefix"].lower()]
        if slot is None and prefix is None:  # streams only where there is nothing else
            fits = [i for i in fits if rows[i]["kind"] != "AXI-Stream"] or fits
        exact = [i for i in fits if prefix is not None and rows[i]["prefix"] == prefix]
        mapped = [i for i in fits if rows[i]["prefix"] == "(map)"]
        fits = exact or mapped or fits
        if len(fits) == 1:
            return fits[0]
        chosen = " with that slot or prefix" if slot is not None or prefix is not None else ""
        if fits:
            what = f"{len(fits)} AXI interfaces{chosen}: choose one with slot= or prefix="
        elif usable:
            what = f"no AXI interface{chosen}"
        else:
            what = "no AXI interface that can be analysed"
        told = [f"\n  {clean(str(r['detail']))}" for r in self.problems if r["reason"] == "clock"]
        raise InputError(f"{what}{''.join(told)}\n{self.list_interfaces()}", path=self.name)

    def list_interfaces(self) -> str:
        """The interfaces as lines for a person, with the option that chooses each."""
        lines = []
        for r in self.interfaces[:LISTED]:
            slot = f"slot {r['slot']}" if r["slot"] is not None else "no slot"
            line = f"  {slot}  prefix {clean(r['prefix']) or '(none)'}  {r['kind']}"
            line += f"  channels {r['channels'] or 'none'}"
            if r["missing"]:
                line += f"  missing {r['missing']}"
            if r["same_as"] is not None:
                line += f"  the same wires as number {r['same_as'] + 1}"
            lines.append(line + (f"  ({r['why']})" if r["why"] else ""))
        if len(self.interfaces) > LISTED:
            lines.append(f"  ... {len(self.interfaces) - LISTED} more (.interfaces, --interfaces)")
        return "\n".join(lines) or "\n".join(self._nearest())

    def _nearest(self) -> list[str]:
        """Nothing has bound: the signals whose names come nearest, as options to copy."""
        lines = ["  none: no signal is named as an AXI channel's VALID and READY"]
        names = [str(n) for n in self.signals["name"][:MOST_NAMES]]
        leaves = {n: re.split(r"[./ ]", n.partition("[")[0].rstrip())[-1].lower() for n in names}
        pairs = {}
        for role in ("arvalid", "arready", "rvalid", "rready", "awvalid", "awready"):
            rank = {n: _likeness(leaf, role) for n, leaf in leaves.items() if n not in pairs}
            best = max(rank, key=lambda n: rank[n], default="")
            if best and rank[best] >= LIKE:
                pairs[best] = f"--map {role}={clean(best.partition('[')[0].rstrip())}"
        widths = dict(zip(names, self.signals["width"][:MOST_NAMES].tolist(), strict=False))
        wide = next((n for n in pairs if widths[n] > 1), None)
        if wide is not None:
            lines.append(
                f"  {clean(wide)} has {widths[wide]} bits: the ports of several interfaces in one "
                "vector are not taken apart, capture them one by one"
            )
        elif pairs:
            lines.append("  nearest names: " + " ".join(pairs.values()))
        else:
            shown = ", ".join(clean(n) for n in names[:6])
            lines.append(f"  its signals: {shown or 'none'}{' ...' if len(names) > 6 else ''}")
            lines.append("  say which is which: --map arvalid=NAME --map arready=NAME ...")
        return lines

    def transactions(self, slot: int | None = None, prefix: str | None = None) -> Transactions:
        """All reads and writes of an interface, with stamps and spans in clocks."""
        return self.port(slot, prefix).transactions

    def channels(self, slot: int | None = None, prefix: str | None = None) -> Frame:
        """Cycles of each channel: beat, stall, starve, idle."""
        return self.port(slot, prefix).channels

    def blocking(self, slot: int | None = None, prefix: str | None = None) -> Frame:
        """Reads against writes: the cycles, the contrast, and the figure of independent ports."""
        return self.port(slot, prefix).blocking

    def finding(self, slot: int | None = None, prefix: str | None = None) -> str:
        """One sentence: are reads blocked while writes flow?"""
        return self.port(slot, prefix).finding

    def explain(self, slot: int | None = None, prefix: str | None = None) -> str:
        """The evidence of the capture about an interface, in lines."""
        return self.port(slot, prefix).explain()

    @property
    def readings(self) -> Readings:
        """Spans of the only (or chosen) interface as readings, for ``tickgauge.compare``."""
        return self.port().readings

    @property
    def keys(self) -> Frame:
        """The keys of `readings`."""
        return self.port().keys

    @property
    def infos(self) -> list[SourceInfo]:
        """The source, as data sets list theirs."""
        info = SourceInfo(self.name, form="capture", formats=("axi",), identity=self.identity)
        info.problems = len(self.problems)
        return [info]

    @cached_property
    def plot(self) -> CapturePlots:
        """Pictures: ``lanes``, ``latency``, ``outstanding`` (the ``plot`` extra)."""
        from ..plot.captures import CapturePlots

        return CapturePlots(self)

    # ---- showing ----------------------------------------------------------------------------

    def _lines(self) -> list[str]:
        about = self.about
        what = f"Capture of {clean(self.name)}: {self.form}, {about['samples']} samples"
        if about["samples"]:
            what += (
                f", {_count(about['windows'], 'window')}, {_count(about['triggers'], 'trigger')}"
            )
        else:
            what += ": armed, nothing captured"
        return [what, f"{about['signals']} signals; interfaces:"]

    def _found(self) -> list[str]:
        lines = []
        if self.about["samples"]:
            try:
                lines += self.port().headline()
            except (InputError, NotEnoughData):
                lines.append("choose one: .port(slot=...), .port(prefix=...)")
        lines += [f"note: {note}" for note in self.notes]
        if len(self.problems):
            lines.append(f"{len(self.problems)} problems (.problems)")
        return lines

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), self.list_interfaces(), *self._found()])

    def _repr_html_(self) -> str:
        names = ("slot", "prefix", "kind", "channels", "missing", "why")
        rows = [[r[name] or None if name != "slot" else r[name] for name in names]
                for r in self.interfaces[:LISTED]]  # fmt: skip
        kept = [i for i in range(len(names)) if any(row[i] is not None for row in rows)]
        grid = Grid([names[i] for i in kept], [[row[i] for i in kept] for row in rows])
        told = self._found() if rows else [*self._nearest(), *self._found()]
        return page_of(self._lines(), grid, told)


def _likeness(leaf: str, role: str) -> float:
    """How near a name comes to a role: 1 is the same; the channel's letters must be in it."""
    channel, kind = (role[:2], role[2:]) if role[:2] in ("ar", "aw") else (role[:1], role[1:])
    words = [w for w in re.split(r"[^a-z0-9]+", leaf) if w]
    short = {"valid": ("valid", "vld", "val", "v"), "ready": ("ready", "rdy", "rd", "rdyn")}[kind]
    if any(w == channel for w in words) and any(w in short for w in words):
        return 1.0
    if any(w == channel + s for w in words for s in short):
        return 1.0
    return difflib.SequenceMatcher(None, leaf[-len(role) - 4 :], role).ratio()


def _count(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
