"""``tickgauge snapshot``: a baseline that lives in git."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..comparison.options import EXCHANGES
from . import common, statistics


def add(subparsers: Any) -> None:
    """Add the verb."""
    from . import inputs

    parser = common.add_verb(
        subparsers,
        "snapshot",
        run,
        "Exact counts of the sources in a small, stable, mergeable file. It stands wherever a "
        "source does; snapshots among the sources are merged, equal sources count once.",
        output=False,
    )
    parser.add_argument("sources", nargs="+", metavar="SRC")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there (default: stdout)")
    parser.add_argument("--exchange", choices=EXCHANGES, help="for which cpus blocks are kept")
    parser.add_argument(
        "--noise",
        action="store_true",
        help="the sources are A/A boots of one firmware: name the keys that cannot serve as a "
        "noise model, and ask for 4 boots or more",
    )
    parser.add_argument(
        "--anyway", action="store_true", help="also of sources that could not be read whole"
    )
    inputs.add_reading_options(parser, together=False)
    parser.set_defaults(digest=True)  # a snapshot names its sources: it is made while reading


def run(args: argparse.Namespace) -> int:
    """Write a snapshot."""
    from ..comparison.make_snapshot import snapshot
    from .inputs import limits_of

    sides = [statistics.side(args, source) for source in args.sources]
    inputs_say = statistics.status_of(args, *sides)
    if inputs_say == common.USAGE and not args.anyway:
        common.say("no snapshot of sources that were not read whole; --anyway makes one")
        return common.USAGE
    made = snapshot(*sides, exchange=args.exchange, limits=limits_of(args))
    code = common.DONE
    if args.noise:
        code = _check_noise(made)
    if args.output in (None, "-"):
        common.emit(args, made.to_bytes().decode("ascii"))
    else:
        made.save(args.output)
        sys.stderr.write(f"{made!r}\n")
    return common.worst(inputs_say, code)


def _check_noise(made: Any) -> int:
    """Say which keys cannot serve as a noise model."""
    from ..comparison.noise import unfit

    code = common.DONE
    for key, reason in unfit(made):
        common.say(f"no noise model for {key}: {reason}")
        if reason.startswith("fewer"):
            code = common.NOTHING
    return code
