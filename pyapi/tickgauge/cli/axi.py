"""``tickgauge axi``: AXI transactions of a capture, the cause of waits, two captures compared."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..frame.answer import Answer, Section
from ..frame.grid import Grid
from ..util.text import counted, number
from . import common
from .inputs import add_limit_option, limits_of

if TYPE_CHECKING:
    from ..captures.capture import Capture
    from ..captures.port import Port


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "axi",
        run,
        "AXI transactions of a capture: spans in clocks, stalls, and whether reads are blocked "
        "while writes flow. A second capture is matched by direction, address class and size.",
        trace=True,
    )
    parser.add_argument("capture", help="ILA CSV, plain CSV, VCD, FST or .ila; - reads a pipe")
    parser.add_argument("other", nargs="?", help="a second capture, the newer one")
    group = parser.add_argument_group("which interface")
    group.add_argument("--slot", type=int, metavar="N", help="the interface of slot_N")
    group.add_argument("--prefix", help="the interface whose prefix has this in it")
    group.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="SIGNAL=COLUMN",
        help="put a column on an AXI signal (arvalid=u0/foo); wins over names; repeatable",
    )
    group.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="SIGNAL=0|1",
        help="level of a VALID or READY that is not in the capture; repeatable",
    )
    group.add_argument("--kind", choices=("axi4", "axi3", "lite"), help="instead of what it looks")
    group = parser.add_argument_group("how it was sampled")
    group.add_argument("--clock", metavar="HZ", help="clock of the interface: 250MHz, 249999998")
    group.add_argument(
        "--sample-on",
        action="append",
        metavar="[PORT=]SIGNAL",
        help="VCD: the signal whose rising edges sample, of all interfaces or of those with PORT "
        'in their prefix; "" takes every time unit; repeatable',
    )
    group.add_argument("--samples", type=int, default=0, metavar="N", help="depth of a VCD")
    group.add_argument("--ignore-gaps", action="store_true", help="go on across gaps")
    group.add_argument(
        "--idle-start",
        action="store_true",
        help="you know that nothing is open at the first sample (else the capture has to show it)",
    )
    add_limit_option(group)
    group = parser.add_argument_group("what is shown")
    group.add_argument("--slowest", type=int, metavar="N", help="the N longest transactions")
    group.add_argument("--addr", metavar="FIRST[-LAST]", help="transactions of these addresses")
    group.add_argument(
        "--log",
        metavar="LOG",
        help="the run's log: its time against reads one after the other (you say they belong "
        "together; the files do not)",
    )
    group.add_argument("--all", action="store_true", help="every transaction")
    group.add_argument("--interfaces", action="store_true", help="only list the interfaces")


def _pairs(words: Iterable[str], what: str) -> dict[str, str]:
    out = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise InputError(f"{what} {word!r}: SIGNAL=VALUE is needed")
        out[name.lower()] = value
    return out


def parse_hz(text: str | None) -> int | None:
    """A frequency as ``250MHz``, ``62.5 MHz`` or ``249999998``."""
    if text is None:
        return None
    word = text.strip().lower().removesuffix("hz").strip()
    scale = {"k": 10**3, "m": 10**6, "g": 10**9}.get(word[-1:], 1)
    try:
        hz = round(float(word[:-1] if scale > 1 else word) * scale)
    except (ValueError, OverflowError):
        hz = 0
    if hz <= 0:
        raise InputError(f"--clock {text!r}: a frequency such as 250MHz is needed")
    return hz


def parse_addr(text: str) -> tuple[int, int]:
    """``0x70106000`` (that address), ``0x70100000-0x70164000`` (a range, both ends in it)."""
    first, dash, last = text.partition("-")
    try:
        low = int(first, 0)
        high = int(last, 0) if dash else low
    except ValueError:
        low, high = 1, 0
    if not 0 <= low <= high < 1 << 64:
        raise InputError(f"--addr {text!r}: an address or FIRST-LAST is needed")
    return low, high


def _open(args: argparse.Namespace, path: str) -> Capture:
    from ..captures.files import read_capture

    assume = _pairs(args.assume, "--assume")
    if any(level not in ("0", "1") for level in assume.values()):
        raise InputError("--assume takes SIGNAL=0 or SIGNAL=1")
    return read_capture(
        sys.stdin.buffer if path == "-" else path,
        name="<stdin>" if path == "-" else None,
        sample_on=None if args.sample_on is None else "\n".join(args.sample_on),
        map=_pairs(args.map, "--map"),
        samples=args.samples,
        clock=parse_hz(args.clock),
        slot=args.slot,
        prefix=args.prefix,
        kind=args.kind,
        assume={name: int(level) for name, level in assume.items()},
        ignore_gaps=args.ignore_gaps,
        idle_start=args.idle_start,
        limits=limits_of(args),
    )


def run(args: argparse.Namespace) -> int:
    """Show one capture, or compare two."""
    try:
        captures = [_open(args, path) for path in (args.capture, args.other) if path]
        if args.interfaces:
            common.emit(args, _listing(captures))
            return common.DONE
        empty = [c for c in captures if c.samples == 0]
        for capture in empty:
            told = [str(r["detail"]) for r in capture.problems if r["reason"] == "clock"]
            why = told[0] if told else "armed, nothing captured (0 samples)"
            common.say(f"{capture.name}: {why}")
        if empty:
            return common.NOTHING
        ports = [capture.port() for capture in captures]
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error)) from error
    if args.trace:
        from ..exports import trace, tracks

        slices = [one for port in ports for one in tracks.of_port(port).slices]
        trace.write_trace(trace.Trace(slices), args.trace)
    answer = _one(args, ports[0]) if len(ports) == 1 else _two(args, ports[0], ports[1])
    common.emit(args, answer)
    names = ("complete_reads", "complete_writes", "bound_reads", "bound_writes")
    counted: list[int] = [
        len(p.packets) or int(p.channels.row(0)["beat"])
        if p.is_stream
        else sum(p.figures[n] for n in names)
        for p in ports
    ]
    return common.DONE if all(counted) else common.NOTHING


def _sources(ports: Iterable[Port]) -> list[dict[str, Any]]:
    return [
        {
            "digest": p.capture.identity or "",
            "format": p.capture.form,
            "boots": 0,
            "name": p.capture.name,
        }
        for p in ports
    ]


def _listing(captures: Iterable[Capture]) -> Answer:
    names = ("source", "prefix", "slot", "kind", "channels", "missing", "usable", "why")
    rows = [[c.name, *(r[n] for n in names[1:])] for c in captures for r in c.interfaces]
    return Answer("axi", Grid(names, rows))


def _rows(args: argparse.Namespace, port: Port) -> tuple[str, Grid]:
    """The transactions asked for: a heading and their table."""
    rows = port.transactions
    title = "transactions"
    if args.addr:
        rows = rows.within(*parse_addr(args.addr))
        title += f" at {args.addr}"
    if args.slowest is not None:
        rows = rows.slowest(max(0, args.slowest))
        title = f"{len(rows)} slowest {title}"
    return title, rows.lines(port.capture.clock)


def _one(args: argparse.Namespace, port: Port) -> Answer:
    asked = args.addr or args.slowest is not None or args.all
    if asked or args.format != "text":
        title, grid = _rows(args, port)
    else:
        title, grid = "", Grid((), ())
    capture = port.capture
    if port.is_stream:
        title, grid = "packets", port.packets.grid()
    head = f"{capture.name}: {capture.form}, {port.figures['cycles']} samples"
    sections = [
        Section(head, lines=port.story()),
        Section("figures", lines=port.explain().splitlines()),
    ]
    if port.is_stream:
        sections[1:] = [Section("channel", port.channels.grid())]
    left_out = _left_out(port)
    if asked:
        sections.append(Section(title, grid))
    elif len(left_out):
        shown = port.transactions[left_out[:20]].lines(capture.clock)
        sections.append(Section(f"{len(left_out)} not in the statistics", shown))
    if len(port.problems):
        sections.append(Section(counted(len(port.problems), "problem"), port.problems.grid(20)))
    if args.log:
        from ..captures.run_logs import bridge
        from ..reading.read import read

        sections.append(Section(f"against {args.log}", lines=bridge(port, read(args.log))))
    problems = [dict(r) for r in capture.problems]
    notes = [f"note: {note}" for note in capture.notes]
    notes += [f"problem: {r['detail']}" for r in problems[:10]]
    return Answer(
        "axi",
        grid,
        sections,
        _sources([port]),
        problems,
        notes,
        unit="reading",
        extra={"finding": port.finding, "story": port.story(), "figures": _finite(port.figures)},
    )


def _left_out(port: Port) -> list[int]:
    """Rows of the transactions that are not in the statistics, or have something said of them."""
    why = port.transactions.column("why")
    counted = port.transactions.flagged("counted").tolist()
    return [i for i, ok in enumerate(counted) if not ok or why.cell(i) is not None]


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and v != v else v for k, v in figures.items()}


def _trigger_line(old: Port, new: Port) -> list[str]:
    """The triggered transactions side by side, where both captures have the same one."""
    from ..captures.transactions import percent_text, ratio_text

    for x in old.transactions.triggered:
        for y in new.transactions.triggered:
            same = x["direction"] == y["direction"] and x["addr"] == y["addr"]
            if same and x["span"] and y["span"]:
                change = 100 * (y["span"] - x["span"]) / x["span"]
                return [
                    f"at the trigger: {x['direction']} at 0x{x['addr'] or 0:x}, {x['span']} -> "
                    f"{y['span']} clocks ({percent_text(change)}, "
                    f"{ratio_text(y['span'] / x['span'])})"
                ]
    return []


def _labels(old: Port, new: Port) -> tuple[str, str]:
    """The names of two captures in one sentence: their files' names where these differ."""
    a, b = (PurePath(p.capture.name).name.partition(".")[0] for p in (old, new))
    return (a, b) if a and b and a != b else ("old", "new")


def _figures(old: Port, new: Port) -> Grid:
    from ..captures.transactions import ratio_text
    from ..captures.two_ports import side_by_side

    rows = []
    for what, x, y, ratio in side_by_side(old, new):
        cells = ["-" if v is None else f"{v:.3f}" if "P(" in what else number(v, 4) for v in (x, y)]
        rows.append([what, *cells, ratio_text(ratio)])
    return Grid(("figure", *_labels(old, new), "change"), rows)


def _two(args: argparse.Namespace, old: Port, new: Port) -> Answer:
    from ..captures.transactions import percent_text, ratio_text
    from ..captures.two_ports import compare_ports, in_short

    frame = compare_ports(old, new)
    names = (
        "direction",
        "address",
        "bytes",
        "n",
        "old",
        "n new",
        "new",
        "delta",
        "percent",
        "ratio",
    )
    rows = []
    for r in frame:
        cells = [r[n] for n in frame.columns]
        cells[1] = None if cells[1] is None else f"0x{cells[1]:x}"
        cells[-2], cells[-1] = percent_text(cells[-2]), ratio_text(cells[-1])
        rows.append(cells)
    grid = Grid(names, rows)
    short = in_short(old, new, _labels(old, new))
    sections = [
        Section(f"{old.capture.name} -> {new.capture.name}", lines=[short]),
        Section("", _figures(old, new)),
        Section("old: " + old.capture.name, lines=[*old.headline(), old.contrast]),
        Section("new: " + new.capture.name, lines=[*new.headline(), new.contrast]),
        Section("median span in clocks, by direction, address class (1 MiB) and size", grid),
    ]
    if trigger := _trigger_line(old, new):
        sections.append(Section(lines=trigger))
    notes = [f"note: {p.capture.name}: {note}" for p in (old, new) for note in p.capture.notes]
    extra = {
        "in_short": short,
        "findings": [old.finding, new.finding],
        "figures": [_finite(old.figures), _finite(new.figures)],
    }
    return Answer("axi", grid, sections, _sources([old, new]), (), notes, "reading", extra=extra)
