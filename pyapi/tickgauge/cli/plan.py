"""``tickgauge plan``: in which order to take boots, and how many are needed."""

from __future__ import annotations

import argparse
from typing import Any

from . import common, statistics


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "plan",
        run,
        "In which order to take boots, and how many show a change. From a few first boots of both "
        "sides, or of one firmware alone.",
        forms=("matrix",),
    )
    parser.add_argument("old", metavar="OLD", help="first boots, or boots of one firmware")
    parser.add_argument("new", metavar="NEW", nargs="?")
    parser.add_argument("--boots", type=int, metavar="N", help="boots a side of the order")
    parser.add_argument(
        "--see", type=statistics.margin, default=0.1, metavar="P%",
        help="the change to be seen (default: 10%%)",
    )  # fmt: skip
    statistics.add_side_options(parser)


def run(args: argparse.Namespace) -> int:
    """Plan."""
    from ..comparison.plan import plan

    sources = [args.old] if args.new is None else [args.old, args.new]
    sides = [statistics.side(args, source) for source in sources]
    inputs_say = statistics.status_of(args, *sides)
    try:
        made = plan(
            *sides, boots=args.boots, see=args.see, margin=args.margin, margin_ns=args.margin_ns,
            unit=args.unit, exchange=args.exchange, board=args.board,
        )  # fmt: skip
    except ValueError as error:
        common.say(str(error))
        return common.USAGE
    if args.format == "matrix":
        common.emit(args, made.to_matrix())
    else:
        statistics.emit(args, made, *sides)
    return common.worst(inputs_say, common.DONE if made.needed else common.NOTHING)
