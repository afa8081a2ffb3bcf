"""``tickgauge report``: a comparison as one HTML file to send."""

from __future__ import annotations

import argparse
from typing import Any

from . import common, statistics
from .inputs import limits_of


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "report",
        run,
        "A comparison as one HTML file: what changed, where readings lie, each figure with its "
        "source and line. The file asks nothing of any other place.",
        output=False,
    )
    parser.add_argument("old", metavar="OLD", help="the baseline")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the HTML file")
    parser.add_argument("--title", default="", help="its title (default: the two versions)")
    statistics.add_comparison_options(parser)
    parser.set_defaults(digest=True)  # the page names its sources


def run(args: argparse.Namespace) -> int:
    """Compare two sides and write the page."""
    from ..comparison.compare import compare
    from ..comparison.make_snapshot import snapshot
    from ..report import report

    sides = [statistics.side(args, source) for source in (args.old, args.new)]
    inputs_say = statistics.status_of(args, *sides)
    made = compare(*sides, **statistics.options_of(args))
    limits = limits_of(args)
    old, new = (snapshot(*s, limits=limits) if isinstance(s, list) else s for s in sides)
    common.emit(args, report(old, new, made, args.title))
    if args.output != "-":
        common.say(f"wrote {args.output}: {made.header[1]}")
    return common.worst(inputs_say, common.DONE if len(made) else common.NOTHING)
