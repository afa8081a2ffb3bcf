"""``tickgauge gate``: pass, regressed, or not enough data, for CI."""

from __future__ import annotations

import argparse
from typing import Any

from . import common, statistics


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "gate",
        run,
        "May NEW pass: exit status 0 pass, 1 regressed, 3 not enough data, 2 usage or input. One "
        "line of reason for each key that fails; a missing key is never a pass.",
    )
    parser.add_argument("old", metavar="OLD", help="the baseline")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument(
        "--confirm", metavar="SRC", help="further new boots: regressed only where both say so"
    )
    parser.add_argument(
        "--fail-undecided", action="store_true",
        help="an undecided key is not enough data, though its test could have seen the margin",
    )  # fmt: skip
    statistics.add_comparison_options(parser)


def run(args: argparse.Namespace) -> int:
    """Decide."""
    from ..comparison.gate import gate

    sides = [statistics.side(args, source) for source in (args.old, args.new)]
    confirm = None if args.confirm is None else statistics.side(args, args.confirm)
    inputs_say = statistics.status_of(args, *sides, confirm)
    made = gate(
        *sides, confirm=confirm, fail_undecided=args.fail_undecided, **statistics.options_of(args)
    )
    statistics.emit(args, made, *sides)
    return common.worst(inputs_say, made.exit_status)
