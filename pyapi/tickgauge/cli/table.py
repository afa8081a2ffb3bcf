"""``tickgauge table OLD NEW``: the release tables of TF-A's performance pages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, NotEnoughData
from ..frame.answer import Answer
from ..frame.grid import Grid
from . import common
from .inputs import add_limit_option, limit_arguments

if TYPE_CHECKING:
    from ..tfa.tables import ReleaseTables

__all__ = ["add", "run"]

_STYLES = {"md": "md", "rst": "rst", "csv": "tfa-csv", "text": "text"}


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "table",
        run,
        "Release tables of TF-A's runtime instrumentation, joined by cpu. OLD and NEW are "
        "consoles, snapshots or published tables (RST page, CSV folder; page.rst@v2.9 names one "
        "release).",
    )
    parser.add_argument("old", metavar="OLD", help="the release before")
    parser.add_argument("new", metavar="NEW", help="the new release")
    group = parser.add_argument_group("tables")
    group.add_argument(
        "--style", choices=("tfa-csv", "rst", "md", "html"), help="form of the tables"
    )
    group.add_argument("--release", metavar="LABEL", help="what the captions call NEW")
    group.add_argument("--commit", metavar="SHA", default="", help="its commit, in the heading")
    group.add_argument(
        "--threshold", metavar="T", default="0.02",
        help="print a change beyond this share of the larger value; none: all (default 0.02)",
    )  # fmt: skip
    group.add_argument("--page-unit", choices=("ns", "us"), help="unit that the page prints")
    group.add_argument(
        "--join", choices=("cpu", "row"), default="cpu",
        help="pair by cluster and core, or by row as the pages did (default: cpu)",
    )  # fmt: skip
    group.add_argument("--boot", metavar="N", type=int, help="this boot of NEW, from 0")
    group.add_argument(
        "--stat", choices=("median-low",), help="over the boots of NEW: a value that occurred"
    )
    group.add_argument(
        "--anyway", action="store_true",
        help="also where platform, clock or build type differ, a test failed or hung, or a cpu is "
        "missing; such tables are marked",
    )  # fmt: skip
    group.add_argument(
        "--summary", action="store_true",
        help="rows over all cpus of a parallel test: base and step of the lock ladder, min, max",
    )  # fmt: skip
    group.add_argument(
        "--into", metavar="DIR",
        help="the release step: DIR/current becomes DIR/previous, the new tables DIR/current",
    )  # fmt: skip
    group.add_argument("--platform", metavar="NAME", help="the board, or FILE.toml of boards")
    group.add_argument("--clock", metavar="HZ", help="ticks per second, for example 62.5MHz")
    add_limit_option(group)


def _threshold(text: str) -> float | None:
    if text == "none":
        return None
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise InputError(f"--threshold {text}: a share such as 0.02 or 2%, or none")
    return value


def _same(args: argparse.Namespace, what: Any, current: Path, **which: Any) -> bool:
    """Whether a side holds the values of DIR/current."""
    from ..tfa.inputs import one_side

    def cells(what: Any, **options: Any) -> dict[tuple[str, str], dict[str, int]]:
        side = one_side(what, platform=args.platform, **limit_arguments(args), **options)
        return {
            (test, str(row.cpu or at)): dict(row.values)
            for test, table in side.tables.items()
            for at, row in enumerate(table.rows)
        }

    return cells(what, clock=args.clock, stat=args.stat, **which) == cells(str(current))


def _into(args: argparse.Namespace, made: ReleaseTables) -> int:
    """The release step; nothing where the folder holds NEW already, so that twice is as once."""
    from ..tfa.install import install

    current = Path(args.into) / "current"

    def wanted() -> bool:
        if not any(current.iterdir()) or args.anyway:
            return True
        if _same(args, args.new, current, boot=args.boot):
            common.say(f"{current}: holds the values of NEW already, nothing to do")
            return False
        if not _same(args, args.old, current):
            raise InputError(
                f"OLD is not what {current} holds: the release step moves that folder "
                "(--anyway does it all the same)"
            )
        return True

    for line in install(args.into, made.to_csv(), wanted):
        common.say(line)
    for note in made.notes:
        common.say(note)
    if args.style == "rst":
        common.emit(args, made.to_page(f"data/{Path(args.into).resolve().name}"))
    return common.DONE


def _check_faults(made: ReleaseTables) -> None:
    """Refuse tables that a maintainer would not publish if he read the log."""
    if made.faults:
        raise NotEnoughData(
            f"{made.new} is not to be published: {'; '.join(made.faults)} (--anyway makes the "
            "tables all the same, and marks them)"
        )


def run(args: argparse.Namespace) -> int:
    """Run the verb."""
    from ..tfa.api import tables

    style = args.style or _STYLES.get(args.format, "text")
    if args.into is not None and style in ("md", "html"):
        raise InputError(
            f"--into writes the CSV files of a data folder, which have no captions: --style "
            f"{style} goes to standard output or -o FILE, --style rst gives the page's directives"
        )
    made = tables(
        args.old,
        args.new,
        release=args.release,
        commit=args.commit,
        threshold=_threshold(args.threshold),
        unit=args.page_unit,
        join=args.join,
        boot=args.boot,
        stat=args.stat,
        platform=args.platform,
        clock=args.clock,
        anyway=args.anyway,
        summary=args.summary,
        **limit_arguments(args),
    )
    if not args.anyway and (args.into is not None or args.style is not None):
        _check_faults(made)
    if args.into is not None:
        return _into(args, made)
    if args.style is None and args.format == "json":
        records = made.to_records()
        grid = Grid(tuple(records[0]), [tuple(r.values()) for r in records])
        extra = {
            "old": made.old, "new": made.new, "commit": made.commit, "page_unit": made.unit,
            "threshold": made.threshold,
            "summary": [
                {"test": t.test, "row": row[0], **dict(zip(t.headers[2:], row[2:], strict=True))}
                for t in made.tables
                for row in t.summary
            ],
        }  # fmt: skip
        common.emit(args, Answer("table", grid, notes=made.notes, extra=extra))
        return common.DONE
    if style == "tfa-csv":
        for note in made.notes:
            common.say(note)
    common.emit(args, made.text(style))
    return common.DONE
