"""``tickgauge gate``: pass, regressed, or not enough data, for CI."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import common, statistics

if TYPE_CHECKING:
    from ..comparison.gate_result import Gate


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "gate",
        run,
        "May NEW pass: exit status 0 pass, 1 regressed, 3 not enough data, 2 usage or input. One "
        "error of 5 % for the whole run, whatever the number of keys; a pass says what it guards "
        "against. 3 v 3, 5 v 2 or 19 v 1 boots are the least that can be red. Several NEW sides "
        "share the error, and the worst status counts.",
        forms=("junit", "github", "squad", "bmf", "gitlab", "lava"),
    )
    parser.add_argument("old", metavar="OLD", help="the baseline")
    parser.add_argument("new", metavar="NEW", nargs="+")
    group = parser.add_argument_group("decision")
    group.add_argument(
        "--confirm", metavar="SRC",
        help="further new boots: they join NEW, and both parts must be slower by themselves",
    )  # fmt: skip
    group.add_argument(
        "--bisect", action="store_true",
        help="exit statuses of `git bisect run`: 0 good, 1 bad, 125 not decidable, 128 an error",
    )  # fmt: skip
    group.add_argument(
        "--guard", type=statistics.margin, metavar="P%",
        help="status 3 unless enough keys would be red after a change of P",
    )  # fmt: skip
    group.add_argument(
        "--guard-share", type=float, default=0.75, metavar="X",
        help="enough keys for --guard, as a share (default: 0.75)",
    )  # fmt: skip
    group.add_argument(
        "--deterministic", action="store_true",
        help="all boots of a side are identical: a difference is a fact",
    )  # fmt: skip
    group.add_argument(
        "--strict-undecided", action="store_true",
        help="status 3 where a key is not shown to be equivalent",
    )  # fmt: skip
    group.add_argument(
        "--allow-missing", action="store_true", help="keys of OLD may be missing in NEW"
    )
    group.add_argument("--verbose", action="store_true", help="name the keys not guarded")
    statistics.add_comparison_options(parser)


def run(args: argparse.Namespace) -> int:
    """Decide."""
    from ..comparison.gate import gate_all

    several = len(args.new) > 1
    given = (("--confirm", args.confirm), ("--bisect", args.bisect))
    alone = [name for name, there in given if there]
    if args.format not in ("text", *common.FORMATS):
        alone.append(f"--format {args.format}")
    if several and alone:
        common.say(f"{alone[0]} takes one NEW, not {len(args.new)}")
        return common.USAGE
    sides = [statistics.side(args, source) for source in (args.old, *args.new)]
    confirm = None if args.confirm is None else statistics.side(args, args.confirm)
    inputs_say = statistics.status_of(args, *sides, confirm)
    gates = gate_all(
        sides[0],
        sides[1:],
        confirm=confirm,
        guard=args.guard,
        guard_share=args.guard_share,
        deterministic=args.deterministic,
        strict_undecided=args.strict_undecided,
        allow_missing=args.allow_missing,
        **statistics.options_of(args),
    )
    made = gates[0]
    if several:
        return common.worst(inputs_say, _emit_several(args, gates, sides))
    if args.format == "text" and args.verbose:
        common.emit(args, statistics.coloured(args, made.to_text(None, verbose=True)))
    elif args.format in ("text", *common.FORMATS):
        statistics.emit(args, made, *sides)
    else:
        _emit_for_ci(args, made, sides[1])
    return common.worst(inputs_say, made.exit_status)


def _emit_several(args: argparse.Namespace, gates: list[Gate], sides: list[Any]) -> int:
    """Write the gates of several new sides; the worst of their statuses."""
    status = common.worst(*(one.exit_status for one in gates))
    named = zip(args.new, gates, strict=True)
    worst = next(one for one in gates if one.exit_status == status)
    extra = {"outcome": worst.outcome, "exit_status": status}
    order = [f"{name}: {one.outcome}" for name, one in named]
    if args.format == "text" and args.verbose:
        parts = [f"== {name}\n{one.to_text(None, verbose=True)}"
                 for name, one in zip(args.new, gates, strict=True)]  # fmt: skip
        common.emit(args, statistics.coloured(args, "\n".join(parts)))
    else:
        statistics.emit_all(args, gates, args.new, *sides, order=order, extra=extra)
    return status


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
