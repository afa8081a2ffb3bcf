"""Code that the verbs of statistics share: sides, their options, colour."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import Any

from ..comparison.options import EXCHANGES, UNITS, parse_margin
from ..errors import InputError
from ..util.text import clean
from . import common

__all__ = ["add_side_options", "coloured", "options_of", "side", "status_of"]

_COLOURS = {
    "regressed": "31;1",
    "improved": "32",
    "changed": "33",
    "inconclusive": "33",
    "unreplicated": "36",
    "equivalent": "2",
    "not enough data": "33;1",
    "pass": "32",
}
_WORD = re.compile(
    r"(?<=  )(" + "|".join(_COLOURS) + r")(?=  |$)|^(" + "|".join(_COLOURS) + r")(?=:)",
    re.MULTILINE,
)


def margin(text: str) -> float:
    """A relative margin as an argument: ``5%`` or ``0.05``."""
    try:
        return parse_margin(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _length(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"a length in ns is 0 or more: {text!r}")
    return value


def add_side_options(parser: argparse.ArgumentParser, default: str = "5%") -> None:
    """``--margin --margin-ns --unit --exchange`` and how sources are read."""
    from . import inputs

    group = parser.add_argument_group("statistics")
    group.add_argument(
        "--margin", type=margin, default=margin(default), metavar="X%",
        help=f"relative change that matters (default: {default.replace('%', '%%')})",
    )  # fmt: skip
    group.add_argument(
        "--margin-ns", type=_length, default=0.0, metavar="NS",
        help="absolute change that matters, too; a regression exceeds both (default: 0)",
    )  # fmt: skip
    group.add_argument("--unit", choices=UNITS, help="what counts as one independent observation")
    group.add_argument(
        "--exchange", choices=EXCHANGES,
        help="which cpus may be interchanged (default: as the format says)",
    )  # fmt: skip
    group.add_argument(
        "--board", metavar="NAME", help="only boots of this platform, where a source holds several"
    )
    inputs.add_reading_options(parser, together=False)


def add_comparison_options(parser: argparse.ArgumentParser) -> None:
    """Options that `compare` and `gate` have in common."""
    add_side_options(parser)
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--noise", metavar="FILE", help="boots of one firmware: the scatter for one or two a side"
    )
    group.add_argument(
        "--anyway", action="store_true", help="compare also other platforms and build types"
    )


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of `tickgauge.compare`."""
    noise = getattr(args, "noise", None)
    return {
        "margin": args.margin,
        "margin_ns": args.margin_ns,
        "unit": args.unit,
        "exchange": args.exchange,
        "anyway": args.anyway,
        "board": args.board,
        "noise": None if noise is None else side(args, noise),
    }


def side(args: argparse.Namespace, source: str) -> Any:
    """One argument of the command, read as told.

    A data set, a snapshot (of many files one), a capture, or a list where a folder or glob holds
    several of these.
    """
    from ..reading.read import read_side
    from . import inputs

    found = read_side(source, **inputs.reading_arguments(args) | inputs.named(args))
    for one in _parts_of(found):
        if not hasattr(one, "readings") and not hasattr(one, "to_side"):
            raise InputError(f"is a {type(one).__name__}: not for this verb", path=source)
    return found


def _parts_of(*sides: Any) -> list[Any]:
    """The data sets, snapshots and captures of which sides are made."""
    return [one for side in sides for one in (side if isinstance(side, list) else [side])]


def status_of(args: argparse.Namespace, *sides: Any) -> int:
    """The exit status as far as the inputs decide it; messages of sources go to stderr."""
    from ..dataset.dataset import Dataset
    from . import inputs

    codes = [common.DONE]
    for one in _parts_of(*sides):
        if isinstance(one, Dataset):
            for info in one.infos:
                if info.message:
                    common.say(f"{info.name}: {info.message}")
            codes.append(inputs.status(args, one))
    return common.worst(*codes)


def problems_of(*sides: Any) -> list[dict[str, Any]]:
    """The problems of the sides as the JSON envelope has them."""
    from ..dataset.dataset import Dataset
    from . import inputs

    read = [one for one in _parts_of(*sides) if isinstance(one, Dataset)]
    return [row for one in read for row in inputs.problem_rows(one)]


def coloured(args: argparse.Namespace, text: str) -> str:
    """The text with its verdicts in colour, where a person reads it and wants colour."""
    to_file = getattr(args, "output", None) not in (None, "-")
    if to_file or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    if not sys.stdout.isatty():
        return text
    return _WORD.sub(lambda m: f"\x1b[{_COLOURS[m[0]]}m{m[0]}\x1b[0m", text)


def emit_all(
    args: argparse.Namespace,
    results: Any,
    names: Any,
    *sides: Any,
    order: Any = (),
    extra: dict[str, Any] | None = None,
) -> None:
    """Write several comparisons with one baseline: below each other, or one JSON document.

    Parameters
    ----------
    args : argparse.Namespace
    results, names : sequence
        Of each new side.
    *sides
    order : sequence of str
        Lines on the order of the sides, behind all.
    extra : dict, optional
        Members of the document for all of them together.
    """
    if args.format == "text":
        limit = None if getattr(args, "all", False) else 12
        parts = [
            f"== {name}\n{result.to_text(limit)}"
            for name, result in zip(names, results, strict=True)
        ]
        if order:
            parts.append("\n".join(["== in order", *map(clean, order), ""]))
        common.emit(args, coloured(args, "\n".join(parts)))
        return
    form = f"to_{args.format}"
    if args.format in ("md", "rst") and all(hasattr(one, form) for one in results):
        tail = "".join(f"\n{clean(line)}\n" for line in order)
        common.emit(args, "\n".join(getattr(one, form)() for one in results) + tail)
        return
    answers = [result.answer() for result in results]
    first = answers[0]
    first.rows = _below_each_other(answers, names)
    first.problems = problems_of(*sides)
    first.extra = {
        **first.extra,
        "comparisons": [{"new": n, **a.extra} for n, a in zip(names, answers, strict=True)],
        **(extra or {}),
    }
    first.notes = [*first.notes, *order]
    common.emit(args, first)


def _below_each_other(answers: Any, names: Any) -> Any:
    """The rows of several answers as one table, with the side in front."""
    columns = ["side", *answers[0].rows.names]
    rows = [
        (name, *row)
        for name, answer in zip(names, answers, strict=True)
        for row in answer.rows.rows
    ]
    return type(answers[0].rows)(columns, rows)


def emit(args: argparse.Namespace, result: Any, *sides: Any) -> None:
    """Write a result in the form asked for."""
    if args.format == "text":
        common.emit(args, coloured(args, result.to_text()))
    elif args.format in ("md", "rst") and hasattr(result, f"to_{args.format}"):
        common.emit(args, getattr(result, f"to_{args.format}")())
    else:
        answer = result.answer()
        answer.problems = problems_of(*sides)
        common.emit(args, answer)
