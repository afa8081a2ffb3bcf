"""``tickgauge runs``: run logs of an accelerator, one or two side by side."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import InputError
from ..frame.answer import Answer, Section
from ..frame.grid import Grid
from . import common
from .inputs import add_limit_option, limit_arguments, not_read_whole, say_troubles


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "runs",
        run,
        "Run logs of an accelerator (unit_test of QCONV-STRIP): every run with its parameters, or "
        "two logs compared by row and by key. TABLE.csv@COMMIT names a column of the published "
        "times.",
    )
    parser.add_argument("log", help="a log, or TABLE.csv@COMMIT")
    parser.add_argument("new", nargs="?", help="the newer one")
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="LOG",
        help="a log whose --sync totals are set beside; repeatable",
    )
    add_limit_option(parser)


def _read(args: argparse.Namespace, name: str) -> Any:
    from ..captures.run_logs import published
    from ..reading.read import read

    path, at, commit = name.rpartition("@")
    if at and path.partition(".csv")[1]:
        tables = published(path)
        if commit not in tables:
            raise InputError(f"no commit {commit!r}; there are: {', '.join(tables)}", path=path)
        return tables[commit]
    return read(name, **limit_arguments(args))


def run(args: argparse.Namespace) -> int:
    """Show one log's runs, or two compared."""
    from ..captures.run_logs import compare_runs, sync_notes

    old = _read(args, args.log)
    if not hasattr(old, "runs"):
        raise InputError("holds no run of unit_test", path=args.log)
    others = [_read(args, name) for name in args.others]
    new = None if args.new is None else _read(args, args.new)
    inputs_say = _say_troubles([old, new, *others])
    if new is None:
        return common.worst(inputs_say, _show(args, old, others))
    comparison = compare_runs(old, new)
    notes = [*comparison.lines(), *sync_notes(new, *others)]
    sources = [
        {"digest": "", "format": " ".join(data.infos[0].formats), "boots": 0, "name": name}
        for data, name in ((old, args.log), (new, args.new))
    ]
    common.emit(
        args,
        Answer(
            "runs",
            comparison.grid,
            sources=sources,
            notes=notes,
            unit="run",
            extra={
                "geometric_mean": {
                    "by_row": comparison.mean_by_row,
                    "by_key": comparison.mean_by_key,
                }
            },
        ),
    )
    return inputs_say


def _say_troubles(logs: list[Any]) -> int:
    """Name the logs that were not read whole; the exit status for that."""
    from ..dataset.dataset import Dataset

    code = common.DONE
    for data in logs:
        if isinstance(data, Dataset):
            say_troubles(data)
            if not_read_whole(data):
                code = common.USAGE
    return code


_SHOWN = (
    "run",
    "shape",
    "kernel",
    "th",
    "type",
    "sync",
    "device_us",
    "exec_us",
    "total_us",
    "verdict",
    "counted",
    "why",
)


def _show(args: argparse.Namespace, data: Any, others: list[Any]) -> int:
    from ..captures.run_logs import sync_notes

    runs = data.runs
    grid = Grid(_SHOWN, [[r[n] for n in _SHOWN] for r in runs])
    counted = sum(bool(r["counted"]) for r in runs)
    notes = [f"{counted} of {len(runs)} runs are in the statistics", *sync_notes(data, *others)]
    if any(r["cpu_us"] is not None for r in runs):
        notes.append(
            '"Cache sync for cpu time" is no measurement (the program subtracts a later start): '
            "left out"
        )
    problems = [dict(r) for r in data.problems]
    name = "<stdin>" if args.log == "-" else args.log
    common.emit(args, Answer("runs", grid, [Section(name, grid)], (), problems, notes, "run"))
    return common.DONE if counted else common.NOTHING
