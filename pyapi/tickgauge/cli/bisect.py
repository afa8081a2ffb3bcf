"""``tickgauge bisect``: one commit of a bisection, boot by boot."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError
from . import common, statistics

#: A command that ends with such a status stops the bisection, as `git bisect run` has it.
STOPS = 128


class CannotTest(Exception):
    """The command gave no boot of this commit: a build that fails, a board that hangs."""


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "bisect",
        run,
        "Is this commit good or bad: for `git bisect run`. COMMAND makes one more boot and prints "
        "its log; it runs until the change against GOOD lies above or below the margin. Exit "
        "status: 0 good, 1 bad, 125 not decidable or COMMAND failed, 128 and above an error.",
        output=False,
    )
    parser.add_argument("good", metavar="GOOD", help="boots of a good commit: logs or a snapshot")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="behind --; {} is a file "
                        "that it writes in place of standard output")  # fmt: skip
    group = parser.add_argument_group("bisection")
    group.add_argument("--bad", metavar="SRC", help="boots of a bad commit: they name the key")
    group.add_argument("--key", action="append", default=[], metavar="WORDS",
                       help="follow the keys whose label has these words")  # fmt: skip
    group.add_argument("--boots", type=int, default=27, metavar="N",
                       help="boots of a commit at most (default: 27)")  # fmt: skip
    group.add_argument("--keep", metavar="DIR", help="keep the log of every boot there")
    statistics.add_comparison_options(parser)


def run(args: argparse.Namespace) -> int:
    """Judge the commit that is checked out."""
    from ..comparison.options import NEXT_BOOTS
    from ..comparison.sequential import LOOKS, decide, keys_to_follow

    looks = [n for n in LOOKS if n <= args.boots] or [args.boots]
    if args.boots < 2:
        raise InputError("--boots: 2 or more")
    options = {n: v for n, v in statistics.options_of(args).items() if n != "noise"}
    good = statistics.side(args, args.good)
    bad = None if args.bad is None else statistics.side(args, args.bad)
    keys = keys_to_follow(good, bad, args.key, **options)
    common.say(f"following {', '.join(keys)}")
    try:
        made = decide(good, _boots(args), keys, looks=looks, tell=common.say, **options)
    except CannotTest as error:
        common.say(f"{error}: this commit is skipped")
        return common.NOTHING
    print(f"{made.outcome} after {made.boots} boots")
    if made.outcome == "undecided":
        common.say(f"not decided: {NEXT_BOOTS}")
    return {"good": common.DONE, "bad": common.BAD}.get(made.outcome, common.NOTHING)


def _boots(args: argparse.Namespace) -> Iterator[Any]:
    """One more boot at each step: the log that the command gives, read."""
    from ..reading.read import read
    from . import inputs

    number = 0
    with tempfile.TemporaryDirectory(prefix="tickgauge-") as folder:
        keep = Path(args.keep or folder)
        keep.mkdir(parents=True, exist_ok=True)
        while True:
            number += 1
            log = keep / f"boot-{number:03}.log"
            _make(args.command, log)
            yield read(log, **inputs.reading_arguments(args))


def _make(command: list[str], log: Path) -> None:
    to_file = any("{}" in word for word in command)
    words = [word.replace("{}", str(log)) for word in command]
    try:
        with log.open("wb") as out:
            status = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=None if to_file else out
            ).returncode
    except FileNotFoundError as error:
        raise InputError(f"{words[0]}: no such command") from error
    if status < 0 or status >= STOPS:
        raise InputError(f"{words[0]} ended with status {status}: the bisection stops")
    if status:
        raise CannotTest(f"{words[0]} ended with status {status}")
    if not log.exists() or not log.stat().st_size:
        raise CannotTest(f"{words[0]} left no log")
