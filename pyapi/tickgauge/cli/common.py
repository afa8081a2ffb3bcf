"""Code that all verbs share: options, the answer and how it is written, exit status, errors."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Error, NotComparableError, NotEnoughData
from ..frame.screen import fitted, screen
from ..util.interrupts import interrupted
from ..util.text import clean

if TYPE_CHECKING:
    from ..frame.answer import Answer

__all__ = [
    "BAD",
    "DONE",
    "INTERRUPTED",
    "NOTHING",
    "USAGE",
    "add_verb",
    "emit",
    "guarded",
    "say",
    "worst",
]

DONE, BAD, USAGE, NOTHING, INTERRUPTED = 0, 1, 2, 3, 130

FORMATS = ("text", "json", "csv", "md", "rst")


#: One command for each verb, shown below its options.
EXAMPLES = {
    "audit": "tickgauge audit docs/perf/data/juno",
    "axi": "tickgauge axi before.csv after.csv",
    "batch": "tickgauge batch logs/ -o results --by folder",
    "bisect": "tickgauge bisect good/ --bad bad/ -- ./boot-board.sh",
    "boot": "tickgauge boot before.log after.log --plot boots.png",
    "calls": "tickgauge calls --together ree.log tee.log client.txt",
    "compare": "tickgauge compare 'old/*.log' 'new/*.log' --margin 5%%",
    "completion": "tickgauge completion bash --install",
    "plan": "tickgauge plan 'first/*.log' --see 10%",
    "gate": "tickgauge gate base.json 'new/*.log' --format junit -o gate.xml",
    "report": "tickgauge report 'old/*.log' 'new/*.log' -o report.html",
    "runs": "tickgauge runs v2018.2.log v2019.1.log",
    "show": "tickgauge show console.log --problems",
    "snapshot": "tickgauge snapshot 'boots/*.log' -o base.json",
    "table": "tickgauge table docs/perf/data/juno/current juno.log --into docs/perf/data/juno",
    "trend": "tickgauge trend 'docs/perf@v2.10..v2.15' --board juno",
    "versions": "tickgauge versions",
    "watch": "tickgauge watch /dev/ttyUSB0 --baseline base.json",
}


def worst(*codes: int) -> int:
    """The exit status of several parts: 2 before 1 before 3 before 0."""
    return next((code for code in (USAGE, BAD, NOTHING) if code in codes), DONE)


def say(message: str) -> None:
    """Diagnostics on standard error; control bytes are escaped. A terminal gets whole words."""
    lines = [clean(line) for line in f"tickgauge: {message}".split("\n")]
    if sys.stderr.isatty():
        columns = shutil.get_terminal_size().columns
        lines = [part for line in lines for part in _in_columns(line, columns)]
    sys.stderr.write("\n".join(lines) + "\n")


def _in_columns(line: str, columns: int) -> list[str]:
    """The line in parts that fit; one that is set off, as a template above its mark, stays."""
    if line.startswith(" ") or len(line) <= columns:
        return [line]
    return textwrap.wrap(
        line, columns, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )


# ---- options ----------------------------------------------------------------------------------


def add_verb(
    subparsers: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    description: str,
    *,
    output: bool = True,
    trace: bool = False,
    forms: Sequence[str] = (),
) -> argparse.ArgumentParser:
    """A verb's parser with the options that all verbs have.

    Parameters
    ----------
    subparsers
        As given to the verb's ``add``.
    name : str
    run : callable
        Takes the parsed arguments, gives the exit status.
    description : str
        Its question; the first sentence stands in ``tickgauge --help``.
    output : bool
        Whether ``--format`` and ``-o`` make sense for it.
    trace : bool
        Whether its answer can be drawn by a trace viewer (``--trace``).
    forms : sequence of str
        Further words of ``--format`` that this verb writes itself.
    """
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=description.split(". ", maxsplit=1)[0].rstrip("."),
        description=description,
        epilog=f"example: {EXAMPLES[name]}",
    )
    if output:
        group = parser.add_argument_group("output")
        group.add_argument(
            "--format",
            choices=(*FORMATS, *forms),
            metavar="FORM",
            default="text",
            help=f"form of the answer: {', '.join((*FORMATS, *forms))} (default: text)",
        )
        group.add_argument(
            "-o", "--output", metavar="FILE", help="write there instead of standard output"
        )
    if trace:
        group.add_argument(
            "--trace", metavar="FILE", help="write slices for a trace viewer: .json or .pftrace"
        )
    parser.add_argument(
        "--wide", action="store_true",
        help="all columns of tables, also where they do not fit the terminal",
    )  # fmt: skip
    parser.add_argument(
        "--debug", action="store_true", help="show where in the program an error came from"
    )
    parser.set_defaults(run=run)
    return parser


def emit(args: argparse.Namespace, answer: Answer | str) -> None:
    """Write the answer where ``--format`` and ``-o`` say.

    A file is written beside its place and moved there when it is whole. A reader that closed
    the pipe is no error: the rest is dropped.
    """
    if isinstance(answer, str):
        text = answer
    else:
        text = answer.render(args.format)
        if args.format == "csv":
            for note in answer.notes:
                say(note)
    target = getattr(args, "output", None)
    if target not in (None, "-"):
        from ..util.atomic_write import write_whole

        write_whole(target, text.encode("utf-8", "replace"))
        return
    write_text(text)


def write_text(text: str) -> None:
    """Write to standard output; a reader that closed the pipe is no error."""
    now = screen()
    text = text if now is None else now.finish(text)
    out = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else None
    try:
        if out is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            out.write(text.encode("utf-8", "replace"))
            out.flush()
    except BrokenPipeError:
        drop_stdout()


def drop_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


# ---- errors -----------------------------------------------------------------------------------


def guarded(args: argparse.Namespace) -> int:
    """Run the chosen verb; every failure becomes one line and an exit status."""
    try:
        with fitted(_columns(args)):
            code: int = args.run(args)
        sys.stdout.flush()  # a closed pipe shows here, not in the interpreter's last flush
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        drop_stdout()
        return DONE
    except (NotEnoughData, NotComparableError) as error:
        return _failed(args, str(error), NOTHING)
    except Error as error:
        return _failed(args, str(error), USAGE)
    except OSError as error:
        what = error.strerror or str(error)
        named = error.filename if error.filename is not None else None
        return _failed(args, f"{named}: {what}" if named is not None else what, USAGE)
    except MemoryError:
        return _failed(args, "out of memory", USAGE)
    except Exception as error:
        if interrupted(error):
            return INTERRUPTED
        kind = type(error).__name__
        return _failed(args, f"{kind}: {error} (--debug shows where)", USAGE)


def _columns(args: argparse.Namespace) -> int | None:
    """Columns of the terminal that the answer goes to; None: all, as in a file or a pipe."""
    to_file = getattr(args, "output", None) not in (None, "-")
    if getattr(args, "wide", False) or to_file or getattr(args, "format", "text") != "text":
        return None
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _failed(args: argparse.Namespace, message: str, code: int) -> int:
    if getattr(args, "debug", False):
        import traceback

        traceback.print_exc()
    else:
        say(message)
    return code
