"""``tickgauge calls``: calls into the secure world, hop by hop."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..frame.answer import Answer, Section
from ..frame.grid import Grid
from ..frame.scaled import scaled
from . import common, inputs

if TYPE_CHECKING:
    from ..dataset.dataset import Dataset
    from ..frame.frame import Frame

#: Problems that are listed in text.
FEW = 10


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "calls",
        run,
        "OP-TEE calls and their hops. For every operation and hop the distribution over many "
        "calls, the first call of each boot apart; calls with missing or doubtful stamps counted.",
        trace=True,
    )
    parser.add_argument("sources", nargs="+", metavar="SRC", help="consoles, traces, or -")
    parser.add_argument("--each", action="store_true", help="list every call")
    parser.add_argument(
        "--all", action="store_true", help="also show the hops of calls without a client's line"
    )
    parser.add_argument(
        "--skip-first",
        metavar="N",
        type=int,
        default=1,
        help="leave the first N calls of each operation of a boot out (default 1; 0 keeps all)",
    )
    parser.add_argument(
        "--baud", metavar="UART", type=int, help="show the print time inside each hop"
    )
    inputs.add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    """Show the calls."""
    from ..dataset import calls

    if args.skip_first < 0:
        common.say("--skip-first counts calls: it is not negative")
        return common.USAGE
    data = inputs.load_dataset(args, args.sources)
    inputs.say_troubles(data)
    if args.trace:
        from ..exports import trace, tracks

        trace.write_trace(tracks.of_calls(data), args.trace)
    hops = calls.hop_statistics(data, skip_first=args.skip_first, baud=args.baud)
    rows = _each(data) if args.each else hops.grid()
    common.emit(
        args,
        Answer(
            "calls",
            rows,
            sections=_sections(args, data, hops),
            sources=inputs.source_rows(data),
            problems=inputs.problem_rows(data),
            notes=[*inputs.other_notes(data), *_notes(args, data, hops)],
        ),
    )
    status = inputs.status(args, data)
    return common.worst(status, common.DONE if len(hops) else common.NOTHING)


def _sections(args: argparse.Namespace, data: Dataset, hops: Frame) -> list[Section]:
    from ..dataset import calls

    out = [Section(data.headline())]
    counts = calls.call_counts(data)
    if len(counts):
        out.append(Section("calls", _filled(counts)))
    else:
        out.append(Section("no calls in it; tickgauge show SRC says what there is"))
    kinds = {
        "client": "hops",
        "first": "the first call of each boot, apart",
        "no client": "calls without a client's line",
        "no client, first": "the first of them in each boot, apart",
    }
    there = hops["calls"].tolist()
    with_client = "client" in there or "first" in there
    for kind, title in kinds.items():
        if kind not in there or (kind.startswith("no client") and with_client and not args.all):
            continue
        part = hops[[i for i, k in enumerate(there) if k == kind]]
        out.append(Section(title, _filled(part, drop=("calls",))))
    if args.each:
        out.append(Section("every call", _filled_grid(_each(data))))
    if len(data.problems):
        shown = data.problems[:FEW].only("source", "line", "rule", "reason", "detail")
        more = f" (the first {FEW})" if len(data.problems) > FEW else ""
        out.append(Section(f"problems: {len(data.problems)}{more}", _filled(shown)))
    return out


def _filled(frame: Frame, drop: tuple[str, ...] = ()) -> Grid:
    """The columns that hold anything, times in one unit."""
    names = [n for n in frame.columns if n not in drop]
    return scaled(_filled_grid(frame.only(*names).grid()))


def _filled_grid(grid: Grid) -> Grid:
    """The same without columns in which every value is missing."""
    kept = [
        i for i, _ in enumerate(grid.names) if any(row[i] is not None for row in grid.rows)
    ] or list(range(len(grid.names)))
    names = [grid.names[i] for i in kept]
    digits = dict.fromkeys(names, 0)
    return Grid(names, [[row[i] for i in kept] for row in grid.rows], digits=digits)


def _each(data: Dataset) -> Grid:
    """Every call: its stamps and intervals."""
    for name in ("calls", "trace_calls", "ts_calls"):
        if name in data.tables and len(data.table(name)):
            table = data.table(name)
            places = ("_source", "_offset")
            shown = [
                n for n in table.columns if not n.endswith(places) and n not in ("clock_hz", "cmd")
            ]
            return table.only(*shown).grid()
    return Grid(("operation",), [])


def _notes(args: argparse.Namespace, data: Dataset, hops: Frame) -> list[str]:
    """Notes that a reader of the figures needs."""
    from ..dataset import calls

    notes = []
    clocks = _clocks(data)
    for hz in clocks:
        off = calls.floored_error(hz)
        what = "exact" if off == 0 else f"{float(off) * 100:.3f} % off"
        notes.append(
            f"clock {hz} Hz, a tick is {1e9 / hz:.6g} ns; floored to whole ns as in 2015: {what}"
        )
    if len(hops) and "tick" in hops["unit"].tolist():
        names = _without_clock(data) if clocks else []
        of = f" of {', '.join(names)}" if names else ""
        notes.append(f"no clock is known{of}: figures are ticks; --clock HZ converts them")
    if args.baud is not None:
        notes.append(
            f"uart: time that the line printed inside the hop takes at {args.baud} baud, in ns, "
            "without its prefix: on a UART of that speed the hop includes it"
        )
    elif "calls" in data.tables and len(data.calls):
        notes.append(
            "each stamp's line is printed inside the hop that follows: --baud UART shows how long "
            "that takes (57 characters at 115200 baud are 5 ms)"
        )
    if not args.together and len(data.infos) > 1 and not _any_complete(data):
        notes.append(
            f"{len(data.infos)} sources were read as boots of their own: --together joins consoles "
            "of the same boots"
        )
    absent = _absent(data)
    if absent:
        notes.append(f"no call is complete: no line of these in the sources: {', '.join(absent)}")
    hidden = any(k.startswith("no client") for k in hops["calls"].tolist())
    if hidden and not args.all and any(k in ("client", "first") for k in hops["calls"].tolist()):
        notes.append("calls without a client's line are counted above; --all shows their hops")
    return notes


def _without_clock(data: Dataset) -> list[str]:
    """The sources of which no boot has a clock."""
    clock, source = data.boots.column("clock_hz"), data.boots["source"].tolist()
    known = {s for boot, s in enumerate(source) if clock.cell(boot) is not None}
    return [info.name for number, info in enumerate(data.infos) if number not in known]


def _any_complete(data: Dataset) -> bool:
    return "calls" in data.tables and bool(data.calls["complete"].any())


def _absent(data: Dataset) -> list[str]:
    """The stamps that no call has, where none is complete: whose console is missing."""
    if "calls" not in data.tables or not len(data.calls) or data.calls["complete"].any():
        return []
    stamps = ("client_start", "driver_start", "tee_receive", "ta_enter")  # and their way back
    columns = {name: data.calls.column(name).valid for name in stamps}
    return [name for name, valid in columns.items() if valid is not None and not valid.any()]


def _clocks(data: Dataset) -> list[int]:
    columns = (data.readings.keys.column(name).cells() for name in ("format", "clock_hz"))
    found = {hz for form, hz in zip(*columns, strict=True) if form == "optee" and hz}
    return sorted(found)
