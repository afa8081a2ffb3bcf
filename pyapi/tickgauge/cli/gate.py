"""``tickgauge gate``: pass, regressed, or not enough data, for CI."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import common, statistics

if TYPE_CHECKING:
    from ..comparison.gate import Gate


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "gate",
        run,
        "May NEW pass: exit status 0 pass, 1 regressed, 3 not enough data, 2 usage or input. One "
        "line of reason for each key that fails; a missing key is never a pass.",
        forms=("junit", "github", "squad", "bmf", "gitlab", "lava"),
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
    parser.add_argument(
        "--bisect", action="store_true",
        help="exit statuses of `git bisect run`: 0 good, 1 bad, 125 not decidable, 128 an error",
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
    if args.format in ("text", *common.FORMATS):
        statistics.emit(args, made, *sides)
    else:
        _emit_for_ci(args, made, sides[1])
    return common.worst(inputs_say, made.exit_status)


def _emit_for_ci(args: argparse.Namespace, made: Gate, new: Any) -> None:
    """Write the form of a dashboard; on GitHub the summary goes where the runner wants it."""
    from ..exports import ci, findings

    unit = made.comparison.unit
    boots = findings.boot_values(new, unit, args.exchange) if args.format == "squad" else None
    found = findings.findings_of(made, boots)
    text = ci.FORMS[args.format](made, found)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if args.format == "github" and summary and args.output is None:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text)
    else:
        common.emit(args, text)
    if args.format == "github" and os.environ.get("GITHUB_ACTIONS") == "true":
        for line in ci.workflow_commands(made, found):
            print(line)
