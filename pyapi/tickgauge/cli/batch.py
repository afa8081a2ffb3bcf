"""``tickgauge batch``: many logs, on all cores or a cluster."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import Any

from ..frame.answer import Answer
from ..util.text import clean
from . import common, inputs


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "batch",
        run,
        "Statistics of many logs, on all cores or a cluster. With -o DIR the results are kept "
        "there, and another run reads only what is new or changed. The statistics are the same "
        "bytes with any number of workers.",
        output=False,
    )
    parser.add_argument(
        "sources", nargs="+", metavar="SRC", help="files, globs, folders, archives, URLs"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="keep snapshot.json, readings/*.parquet and the index of what is done in DIR",
    )
    parser.add_argument(
        "--jobs", type=_positive, metavar="N", help="processes (default: all cores)"
    )
    parser.add_argument(
        "--dask", metavar="ADDRESS", help="scheduler of a dask.distributed cluster, or 'local'"
    )
    parser.add_argument(
        "--by",
        metavar="HOW",
        help="statistics per group: 'folder', 'file', or a regular expression that finds the "
        "group in the path",
    )
    parser.add_argument(
        "--no-rows", action="store_true", help="no Parquet files, also where pyarrow is installed"
    )
    parser.add_argument(
        "--format", choices=common.FORMATS, default="text", help="form of the list of files"
    )
    inputs.add_reading_options(parser, together=False)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on: {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Run the batch."""
    from ..batches.batch import batch

    options = inputs.reading_arguments(args)
    progress = options.pop("progress")
    options = {name: value for name, value in options.items() if value}
    with _client(args.dask) as client:
        made = batch(
            args.sources,
            args.by,
            client=client,
            jobs=args.jobs,
            progress=progress,
            out=args.output,
            rows=False if args.no_rows else None,
            **options,
        )
    for status in made.failed:
        common.say(f"{status.path}: {status.message}")
    for status in made.statuses:
        if status.state in ("not taken", "skipped"):
            common.say(f"{status.path}: {status.message}")
    _write(args, made)
    return _status(args, made)


def _client(address: str | None) -> Any:
    """The client of a cluster as a context; None without an address."""
    if address is None:
        return nullcontext()
    if address == "local":
        from ..batches.executors import local_client

        return local_client()
    from ..util.optional import need

    return need("distributed", "dask").Client(address)


def _write(args: argparse.Namespace, made: Any) -> None:
    target, args.output = args.output, None  # `emit` would take the folder for a file
    problems = [
        {"source": source.name, "reason": source.state, "detail": source.message}
        for status in made.statuses
        for source in status.sources
        if source.message
    ]
    groups = [f"{clean(name) or 'all'}: {said}" for name, said in made.told()]
    notes = [made.headline(), *groups]
    unknown = any(status.state in ("not recognised", "failed") for status in made.statuses)
    if unknown and args.format == "text":
        notes.append("why files were not taken: --format csv lists every file")
    if target is not None:
        notes.append(f"the results are in {target}")
    if args.format == "text":
        sys.stdout.write("".join(clean(note) + "\n" for note in notes))
        return
    sources = [
        {"name": s.name, "digest": s.digest, "format": " ".join(s.formats), "boots": s.boots}
        for status in made.statuses
        for s in status.sources
    ]
    answer = Answer("batch", made.files.grid(), sources=sources, problems=problems, notes=notes)
    common.emit(args, answer)


def _status(args: argparse.Namespace, made: Any) -> int:
    """2 where a file could not be read; with ``--strict`` 1 for problems; 3 without readings."""
    torn = args.strict and any(s.problems for status in made.statuses for s in status.sources)
    return common.worst(
        common.USAGE if made.failed else common.DONE,
        common.BAD if torn else common.DONE,
        common.NOTHING if not made.texts else common.DONE,
    )
