"""``tickgauge watch``: a console while it is being written."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..frame.answer import SCHEMA, SCHEMA_VERSION
from ..live import recorder as live
from ..live.watch import Watch
from ..reading.read import read_side
from ..util.atomic_write import name_full
from ..util.text import clean, counted
from . import common, inputs

#: Keys of the verdict that are shown, the largest changes first.
SHOWN = 12

#: A look at the log may take this share of the time.
SHARE = 0.1


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "watch",
        run,
        "A console while it is being written: a running table of all keys, and a verdict against "
        "a baseline as boots complete. The raw log is kept; unplugging, rotation and truncation "
        "are survived. Ends with Ctrl-C, or as the options say.",
        output=False,
    )
    parser.add_argument(
        "device",
        metavar="DEVICE",
        help="serial device, file that grows, named pipe, URL of pyserial, or - for a pipe",
    )
    parser.add_argument("--baud", type=int, default=115200, help="default: 115200")
    parser.add_argument(
        "--log",
        metavar="FILE",
        help="where the raw log is kept, appended to (default for devices: NAME-TIME.log; what a "
        "file or pipe gives is kept only if asked for)",
    )
    parser.add_argument("--baseline", metavar="SRC", help="compare complete boots with this")
    parser.add_argument("--boots", type=int, metavar="N", help="end after N complete boots")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after this time")
    parser.add_argument(
        "--refresh", type=float, default=1.0, metavar="S", help="time between looks (default: 1)"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="json: one document a line, at each complete boot and at the end",
    )
    parser.add_argument(
        "--margin",
        type=_margin,
        default=0.05,
        metavar="X%",
        help="relative change against the baseline that matters (default: 5%%)",
    )
    inputs.add_reading_options(parser, together=False)


def _margin(text: str) -> float:
    from ..comparison.compare import parse_margin

    try:
        return parse_margin(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(args: argparse.Namespace) -> int:
    """Watch until told to end."""
    options = {**inputs.reading_arguments(args), "progress": False}
    baseline = None if args.baseline is None else read_side(args.baseline, **options)
    with _raw_log(args) as (path, write_end, read_end, begin):
        if path is not None:
            common.say(f"the raw log is {path}")
        screen = _Screen(args)
        watch = Watch(read_end, options, baseline, args.margin)
        recorder = live.Recorder(lambda: live.open_port(args.device, args.baud), write_end, begin)
        interrupted = False
        with recorder:
            try:
                _follow(args, recorder, watch, screen)
            except KeyboardInterrupt:
                interrupted = True
        screen.show(watch, watch.look(recorder.written, last=True), recorder, end=True)
    if recorder.error is not None:
        if path is not None:
            name_full(recorder.error, path)
        raise recorder.error
    return common.INTERRUPTED if interrupted else _status(args, watch, screen)


def _follow(
    args: argparse.Namespace, recorder: live.Recorder, watch: Watch, screen: _Screen
) -> None:
    """Look at the log as it grows, until an option or the end of the input says so."""
    begin = time.monotonic()
    seen = -1
    pause = args.refresh
    while not recorder.ended:
        left = pause
        if args.seconds is not None:
            left = min(left, args.seconds - (time.monotonic() - begin))
            if left <= 0:
                return
        next_look = time.monotonic() + left
        written = recorder.wait(seen, left)
        if written > seen:
            started = time.monotonic()
            screen.show(watch, watch.look(written), recorder)
            pause = max(args.refresh, (time.monotonic() - started) / SHARE)
            seen = written
            if args.boots is not None and watch.complete >= args.boots:
                return
        while (left := next_look - time.monotonic()) > 0 and not recorder.ended:
            recorder.wait_for_notes(len(recorder.notes) + 1, left)


def _status(args: argparse.Namespace, watch: Watch, screen: _Screen) -> int:
    """1 for regressions (and torn lines, where that is strict), 3 where there is no reading."""
    regressed = screen.verdict is not None and screen.verdict.counts.get("regressed", 0)
    torn = args.strict and watch.problems
    nothing = watch.total is None
    return common.worst(
        common.BAD if regressed or torn else common.DONE,
        common.NOTHING if nothing else common.DONE,
    )


@contextlib.contextmanager
def _raw_log(args: argparse.Namespace) -> Iterator[tuple[Path | None, int, int, int]]:
    """The raw log: its path (None: not kept), descriptors to write and to read, bytes in it."""
    path = None if args.log is None else Path(args.log)
    if path is None and args.device != "-" and not Path(args.device).is_file():
        name = Path(args.device.rpartition("/")[2]).name or "console"
        path = Path(f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.log")
    if path is None:
        with tempfile.TemporaryFile() as file:
            yield None, file.fileno(), file.fileno(), 0
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    made = not path.exists()
    fd = os.open(path, flags, 0o666)
    try:
        yield path, fd, fd, os.fstat(fd).st_size
    finally:
        if made and os.fstat(fd).st_size == 0:  # the device never was there, or said nothing
            path.unlink(missing_ok=True)
        os.close(fd)


class _Screen:
    """Shows what is known: in place on a terminal, else at every complete boot and at the end."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._json = args.format == "json"
        self._place = sys.stdout.isatty() and not self._json
        self._lines = 0
        self._noted = 0
        self.verdict: Any = None

    def show(self, watch: Watch, look: Any, recorder: live.Recorder, end: bool = False) -> None:
        """Show the state; `look` is what is new."""
        if look.verdict is not None:
            self.verdict = look.verdict
        for note in recorder.notes[self._noted :]:
            at = time.strftime("%H:%M:%S", time.localtime(note.time))
            common.say(f"{at} byte {note.offset}: {note.text}")
            self._noted += 1
            self._lines = 0
        if not (self._place or end or look.boots):
            return
        if self._json:
            text = json.dumps(self._document(watch, recorder, end)) + "\n"
        else:
            text = self._text(watch, recorder)
        if self._place and self._lines:
            sys.stdout.write(f"\x1b[{self._lines}F\x1b[J")
        sys.stdout.write(text)
        sys.stdout.flush()
        self._lines = text.count("\n")

    def _text(self, watch: Watch, recorder: live.Recorder) -> str:
        running = watch.current is not None
        boots = f"{counted(watch.complete, 'boot')} complete" + (", one running" if running else "")
        problems = f", {counted(watch.problems, 'problem')}" if watch.problems else ""
        lines = [f"{recorder.written} bytes, {boots}{problems}"]
        table = watch.table()
        if len(table):
            grid = table.grid()
            lines.append(grid.to_text("  "))
        elif recorder.written:
            lines.append(
                "no readings so far; tickgauge show --why tells what the lines are taken for"
            )
        if self.verdict is not None:
            lines += [clean(line) for line in self.verdict.to_text(SHOWN).splitlines()]
        return "\n".join(lines) + "\n\n"

    def _document(self, watch: Watch, recorder: live.Recorder, end: bool) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "version": SCHEMA_VERSION,
            "command": "watch",
            "end": end,
            "bytes": str(recorder.written),
            "boots": watch.complete,
            "rows": watch.table().grid().to_records(),
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "problems": watch.problems,
            "notes": [
                {"time": note.time, "offset": str(note.offset), "text": note.text}
                for note in recorder.notes
            ],
        }
