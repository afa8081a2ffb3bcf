"""``tickgauge compare``: the changes between two sides, and whether to believe it."""

from __future__ import annotations

import argparse
from typing import Any

from . import common, statistics

#: Changes in order that a text without ``--all`` lists.
MOST = 12


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "compare",
        run,
        "What changed between two sides, by how much, and whether to believe it. A side is a "
        "log, a published table, a snapshot, or a glob or folder of these: one boot or more each. "
        "Several NEW sides are compared with OLD one by one, p_bh is adjusted over all of them, "
        "and in their order it is said at which of them a key changes.",
    )
    parser.add_argument("old", metavar="OLD", help="the baseline")
    parser.add_argument("new", metavar="NEW", nargs="+")
    parser.add_argument(
        "--all", action="store_true", help="every key in the text, and the words explained"
    )
    statistics.add_comparison_options(parser)
    parser.add_argument(
        "--paired", action="store_true", help="boots are interleaved: old 1 new 1 old 2 new 2 ..."
    )


def run(args: argparse.Namespace) -> int:
    """Compare the sides."""
    from ..comparison.compare import compare_all

    sides = [statistics.side(args, source) for source in (args.old, *args.new)]
    inputs_say = statistics.status_of(args, *sides)
    made = compare_all(sides[0], sides[1:], paired=args.paired, **statistics.options_of(args))
    if len(made) > 1:
        order, changes = _in_order(args, sides, made)
        statistics.emit_all(
            args, made, args.new, *sides, order=order, extra={"changes": changes}
        )  # fmt: skip
    elif args.format == "text" and args.all:
        common.emit(args, statistics.coloured(args, made[0].to_text(None)))
    else:
        statistics.emit(args, made[0], *sides)
    judged = common.DONE if all(len(one) for one in made) else common.NOTHING
    return common.worst(inputs_say, judged)


def _in_order(
    args: argparse.Namespace, sides: list[Any], made: list[Any]
) -> tuple[list[str], list[dict[str, Any]]]:
    """At which of the sides keys change: lines, and the same as records.

    Five sides or more that have too few boots for verdicts are followed as a trend.
    """
    from dataclasses import asdict

    from ..comparison.ordered import changes_of
    from ..comparison.trend import LEAST, trend

    names = list(map(str, args.new))
    changes = changes_of(made, names, str(args.old))
    lines = [change.sentence for change in changes]
    if not changes and len(sides) >= LEAST:
        found = trend(
            sides, margin=args.margin, margin_ns=args.margin_ns, unit=args.unit,
            exchange=args.exchange, labels=[str(args.old), *names], board=args.board,
        )  # fmt: skip
        lines = [*found.sentences(), *filter(None, [found.newest])]
        lines = lines or ["no step over the sides (tickgauge trend)"]
    elif not changes:
        lines = ["no side is shown to differ from OLD, so there is no place of a change"]
    if args.format == "text" and not args.all and len(lines) > MOST:
        lines = [*lines[:MOST], f"... {len(lines) - MOST} more (--all)"]
    return lines, [asdict(change) for change in changes]
