"""``tickgauge compare``: what changed between two sides, and whether to believe it."""

from __future__ import annotations

import argparse
from typing import Any

from . import common, statistics


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "compare",
        run,
        "What changed between two sides, by how much, and whether to believe it. A side is a "
        "log, a published table, a snapshot, or a glob or folder of these: one boot or more each.",
    )
    parser.add_argument("old", metavar="OLD", help="the baseline")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument(
        "--all", action="store_true", help="every key in the text, not only the first screen"
    )
    statistics.add_comparison_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare two sides."""
    from ..comparison.compare import compare

    sides = [statistics.side(args, source) for source in (args.old, args.new)]
    inputs_say = statistics.status_of(args, *sides)
    made = compare(*sides, **statistics.options_of(args))
    if args.format == "text" and args.all:
        common.emit(args, statistics.coloured(args, made.to_text(None)))
    else:
        statistics.emit(args, made, *sides)
    return common.worst(inputs_say, common.DONE if len(made) else common.NOTHING)
