"""``tickgauge trend``: steps over releases."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import NotEnoughData
from . import common, statistics


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "trend",
        run,
        "Where keys step over releases: one line a step with the releases between which it lies. "
        "Releases are given in order, each a log, a folder of boots, a table or a snapshot; a "
        "single one is taken apart by the versions of its boots.",
    )
    parser.add_argument("releases", nargs="+", metavar="RELEASE")
    parser.add_argument(
        "--labels", metavar="A,B,...", help="names of the releases, separated by commas"
    )
    statistics.add_side_options(parser, default="10%")


def run(args: argparse.Namespace) -> int:
    """Find the steps."""
    from ..comparison.trend import trend

    sides = [statistics.side(args, source) for source in args.releases]
    inputs_say = statistics.status_of(args, *sides)
    labels = None if args.labels is None else args.labels.split(",")
    if labels is not None and len(sides) > 1 and len(labels) != len(sides):
        common.say(f"{len(labels)} labels for {len(sides)} releases")
        return common.USAGE
    try:
        made = trend(
            sides, margin=args.margin, margin_ns=args.margin_ns, unit=args.unit,
            exchange=args.exchange, labels=labels, board=args.board,
        )  # fmt: skip
    except NotEnoughData as error:  # of what could be read
        common.say(str(error))
        return common.worst(inputs_say, common.NOTHING)
    if args.format == "text":
        common.emit(args, made.to_text(None))
    else:
        statistics.emit(args, made, *sides)
    return common.worst(inputs_say, common.DONE if len(made.series) else common.NOTHING)
