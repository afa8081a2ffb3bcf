"""Options of the verbs that read sources, and how their results are described."""

from __future__ import annotations

import argparse
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..limits import LIMITS, Limits, largest
from . import common

if TYPE_CHECKING:
    from ..dataset.dataset import Dataset

__all__ = ["add_reading_options", "load", "problem_rows", "reading_arguments", "source_rows"]


def add_reading_options(parser: argparse.ArgumentParser, *, together: bool = True) -> None:
    """``--rules --clock --platform --tee-offset --repair --strict`` and ``--together``."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--rules", metavar="FILE", action="append", help="own line rules (TOML); may be repeated"
    )
    group.add_argument("--clock", metavar="HZ", help="ticks per second, for example 62.5MHz")
    group.add_argument("--platform", metavar="NAME", help="the board, where the log does not say")
    group.add_argument(
        "--tee-offset", metavar="TICKS", type=int, help="added to every secure-world stamp"
    )
    group.add_argument(
        "--repair", action="store_true", help="take apart what two worlds wrote into one line"
    )
    if together:
        group.add_argument(
            "--together",
            action="store_true",
            help="the sources are consoles of the same boots, not independent boots",
        )
    group.add_argument(
        "--strict", action="store_true", help="exit status 1 where the input has problems"
    )
    group.add_argument("--progress", action="store_true", help="show a progress bar")
    add_limit_option(group)


#: The names of ``--limit``, their default and unit.
LIMIT_WORDS = {
    "line": ("1M", "bytes of a console line"),
    "size": ("1T", "bytes that a source is decompressed into, an archive all in all"),
    "ratio": ("5000", "decompressed bytes for each packed one"),
    "entries": ("100k", "members of an archive, those of archives in it too"),
    "path": ("4K", "bytes of a member's name"),
    "layers": ("4", "archives and compressions in each other"),
    "whole": ("256M", "bytes of a form that is held in memory: snapshot, .ila, rules"),
    "records": ("4G", "records of a source"),
    "problems": ("1M", "problems that are listed one by one"),
    "label": ("4K", "bytes of a text in a record"),
    "keys": ("128K", "keys of a source"),
    "distinct": ("64K", "values of a key in a snapshot"),
    "rules": ("4K", "rules"),
    "template": ("4K", "bytes of a rule's template"),
    "signals": ("4M", "signals of a capture"),
    "width": ("1K", "bits of a stored value of a capture"),
    "row": ("64M", "bytes of a row or word of a capture"),
    "scope": ("2K", "bytes of the path of a VCD's scope"),
    "transactions": ("4M", "AXI transactions of a port"),
}


def add_limit_option(group: Any) -> None:
    """``--limit``, of every verb that reads."""
    group.add_argument(
        "--limit",
        metavar="NAME=N",
        action=_LimitAction,
        default=[],
        help="refuse larger input, for example line=16M; --limit list shows the names",
    )


class _LimitAction(argparse.Action):
    """Collects limits; ``list`` prints their names and ends the program."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
        option_string: str | None = None,
    ) -> None:  # fmt: skip
        if values == "list":
            rows = [f"  {n:13}{d:>5}  {w}\n" for n, (d, w) in LIMIT_WORDS.items()]
            print("--limit NAME=N: more than N is refused\n" + "".join(rows), end="")
            parser.exit(0)
        try:
            limit = _limit(values)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), limit])


def _limit(text: str) -> tuple[str, int]:
    """``line=16M`` as a name and a number."""
    name, _, value = text.partition("=")
    match = re.fullmatch(r"([0-9]+)([kKMGT]?)", value)
    known = ["line", *(field.name for field in fields(Limits))]
    if name not in known:
        raise argparse.ArgumentTypeError(f"no limit is named {name!r}, but {', '.join(known)}")
    digits = match[1].lstrip("0") if match else ""
    if match is None or not digits:
        raise argparse.ArgumentTypeError(f"not of the form {name}=16M: {text!r}")
    scale = {"": 1, "k": 10**3, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    number = int(digits[:21]) * scale[match[2]]
    if number > largest(name):
        raise argparse.ArgumentTypeError(f"{name} is at most {largest(name)}, not {value[:40]}")
    return name, number


def limits_of(args: argparse.Namespace) -> Limits:
    """The limits that ``--limit`` asks for; the line's is the reader's."""
    return replace(LIMITS, **{name: n for name, n in args.limit if name != "line"})


def limit_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of `tickgauge.read` from ``--limit``."""
    return {"max_line": dict(args.limit).get("line", 0), "limits": limits_of(args)}


def reading_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments of `tickgauge.read` from parsed options."""
    return {
        **limit_arguments(args),
        "rules": [Path(name) for name in args.rules or ()],
        "clock": args.clock,
        "platform": args.platform,
        "tee_offset": args.tee_offset,
        "repair": args.repair,
        "progress": args.progress,
        **{name: True for name in ("why", "digest") if getattr(args, name, False)},
    }


def named(args: argparse.Namespace) -> dict[str, Any]:
    """Of an answer that names its sources by digest: made while reading, not by a second look."""
    return {"digest": True} if getattr(args, "format", "") == "json" else {}


def load(args: argparse.Namespace, sources: list[str]) -> Any:
    """Read the sources as the options say; a `Dataset`, or the object of another form."""
    from ..reading import read as reading

    together = getattr(args, "together", False)
    read = reading.read_together if together else reading.read
    return read(*sources, **reading_arguments(args) | named(args))


def load_dataset(args: argparse.Namespace, sources: list[str]) -> Dataset:
    """`load`, and an error where the sources are no `Dataset`."""
    from ..dataset.dataset import Dataset

    data = load(args, sources)
    if not isinstance(data, Dataset):
        kind = type(data).__name__.lower()
        verb = "axi" if kind == "capture" else "show"
        raise InputError(
            f"is a {kind}, which this verb does not take: tickgauge {verb}", path=sources[0]
        )
    return data


def status(args: argparse.Namespace, data: Dataset) -> int:
    """The exit status as far as the input decides it.

    2 where a source was unreadable, damaged or not recognised; 1 with ``--strict`` where there
    are problems or lines of a known program that were not read; 3 where there are no readings.
    """
    failed = not_read_whole(data) or any(i.state == "not recognised" for i in data.infos)
    unread = any(info.unread for info in data.infos)
    torn = args.strict and (len(data.problems) > 0 or unread)
    return common.worst(
        common.USAGE if failed else common.DONE,
        common.BAD if torn else common.DONE,
        common.NOTHING if not len(data.readings) else common.DONE,
    )


def not_read_whole(data: Dataset) -> list[str]:
    """Names of the sources that were not read to their end."""
    return [
        info.name
        for info in data.infos
        if info.state not in ("read", "not recognised", "skipped") and "duplicate" not in info.state
    ]


def say_troubles(data: Dataset) -> None:
    """Sources that could not be read, on standard error; other files of a folder are one line."""
    unknown = [info for info in data.infos if info.state == "not recognised"]
    for info in data.infos:
        if info.message and info not in unknown[1:]:
            common.say(f"{info.name}: {info.message}")
    if unknown[1:]:
        names = ", ".join(info.name for info in unknown[1:4])
        more = ", ..." if len(unknown) > 4 else ""
        common.say(f"{len(unknown) - 1} more not recognised: {names}{more}")


def other_notes(data: Dataset) -> list[str]:
    """The notes without those of `say_troubles`, which are among the problems as well."""
    said = {f"{info.name}: {info.message}" for info in data.infos if info.message}
    return [note for note in data.notes if note not in said]


def source_rows(data: Dataset) -> list[dict[str, Any]]:
    """The sources as the JSON envelope has them."""
    boots = data.sources["boots"].tolist()
    return [
        {
            "name": info.name,
            "digest": info.identity or "",
            "format": " ".join(info.formats) or info.form,
            "boots": n,
            "state": info.state,
        }
        for info, n in zip(data.infos, boots, strict=True)
    ]


def problem_rows(data: Dataset) -> list[dict[str, Any]]:
    """The problems as the JSON envelope has them."""
    names = [info.name for info in data.infos]
    rows: list[dict[str, Any]] = data.problems.grid().to_records()
    for row in rows:
        row["source"] = names[row["source"]] if row.get("source") is not None else None
    return rows
