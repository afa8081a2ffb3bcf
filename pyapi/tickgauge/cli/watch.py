"""``tickgauge watch``: a console while it is being written."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..comparison.options import parse_margin
from ..errors import MissingExtra
from ..frame.answer import SCHEMA, SCHEMA_VERSION
from ..frame.screen import fitted, screen
from ..util.atomic_write import name_full
from ..util.optional import need
from ..util.text import clean, counted
from . import common, inputs

if TYPE_CHECKING:
    from ..live import recorder as live
    from ..live.watch import Watch

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
    try:
        return parse_margin(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(args: argparse.Namespace) -> int:
    """Watch until told to end."""
    from ..live import recorder as live
    from ..live.watch import Watch
    from ..reading.read import read_side

    options = {**inputs.reading_arguments(args), "progress": False}
    baseline = None if args.baseline is None else read_side(args.baseline, **options)
    with _raw_log(args) as (path, write_end, read_end, begin):
        if path is not None:
            common.say(f"the raw log is {path}")
        watch = Watch(read_end, options, baseline, args.margin)
        recorder = live.Recorder(lambda: live.open_port(args.device, args.baud), write_end, begin)
        interrupted = False
        with _Screen(args) as shown:
            with recorder:
                try:
                    _follow(args, recorder, watch, shown)
                except KeyboardInterrupt:
                    interrupted = True
            shown.show(watch, watch.look(recorder.written, last=True), recorder, end=True)
    if recorder.error is not None:
        if path is not None:
            name_full(recorder.error, path)
        raise recorder.error
    return common.INTERRUPTED if interrupted else _status(args, watch, shown)


def _follow(
    args: argparse.Namespace, recorder: live.Recorder, watch: Watch, shown: _Screen
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
            shown.show(watch, watch.look(written), recorder)
            pause = max(args.refresh, (time.monotonic() - started) / SHARE)
            seen = written
            if args.boots is not None and watch.complete >= args.boots:
                return
        while (left := next_look - time.monotonic()) > 0 and not recorder.ended:
            recorder.wait_for_notes(len(recorder.notes) + 1, left)


def _status(args: argparse.Namespace, watch: Watch, shown: _Screen) -> int:
    """1 for regressions (and torn lines, where that is strict), 3 where there is no reading."""
    regressed = shown.verdict is not None and shown.verdict.counts.get("regressed", 0)
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
    """Shows the state: in place on a terminal, else at every complete boot and at the end.

    Drawing in place is rich's; where it is not installed a terminal gets the plain lines of a pipe.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._json = args.format == "json"
        self._noted = 0
        self._live: Any = None
        self.verdict: Any = None
        if sys.stdout.isatty() and not self._json:
            self._live = _live_of_rich()

    def __enter__(self) -> _Screen:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, watch: Watch, look: Any, recorder: live.Recorder, end: bool = False) -> None:
        """Show the state; `look` has the news."""
        if look.verdict is not None:
            self.verdict = look.verdict
        for note in recorder.notes[self._noted :]:
            at = time.strftime("%H:%M:%S", time.localtime(note.time))
            common.say(f"{at} byte {note.offset}: {note.text}")
            self._noted += 1
        if self._live is not None and not end:
            self._draw(watch, recorder)
            return
        if self._live is not None:  # the last picture gives way to all of it
            self._live.stop()
            self._live = None
        if self._json and (end or look.boots):
            self._write(json.dumps(self._document(watch, recorder, end)) + "\n")
        elif end or look.boots:
            text = self._text(watch, recorder) + "\n"
            now = screen()
            self._write(text if now is None else now.finish(text))

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def _draw(self, watch: Watch, recorder: live.Recorder) -> None:
        """As much as the terminal has rows for: the head first, then the count of lines left."""
        columns, rows = shutil.get_terminal_size()
        with fitted(columns) as now:
            text = self._text(watch, recorder)
            lines = (text if now is None else now.finish(text)).rstrip("\n").split("\n")
        if len(lines) > rows - 1:
            more = len(lines) - (rows - 2)
            lines = [*lines[: rows - 2], f"... {counted(more, 'more line')}"]
        plain = need("rich.text", "watch").Text("\n".join(lines), no_wrap=True, overflow="crop")
        self._live.update(plain, refresh=True)

    def _text(self, watch: Watch, recorder: live.Recorder) -> str:
        running = watch.current is not None
        boots = f"{counted(watch.complete, 'boot')} complete" + (", one running" if running else "")
        problems = f", {counted(watch.problems, 'problem')}" if watch.problems else ""
        lines = [f"{recorder.written} bytes, {boots}{problems}"]
        if self.verdict is not None:
            lines.append(clean(next(iter(self.verdict.to_text(0).splitlines()[1:2]), "")))
        table = watch.table()
        if len(table):
            lines.append(table.grid().to_text("  "))
        elif recorder.written:
            lines.append(
                "no readings so far; tickgauge show --why tells what the lines are taken for"
            )
        if self.verdict is not None:
            lines += [clean(line) for line in self.verdict.to_text(SHOWN).splitlines()]
        return "\n".join(lines) + "\n"

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


def _live_of_rich() -> Any:
    """rich's display in place, None where rich is not installed or the terminal cannot do it."""
    try:
        live_display = need("rich.live", "watch")
        console = need("rich.console", "watch").Console(file=sys.stdout, highlight=False)
    except MissingExtra:
        return None
    if not console.is_terminal or console.is_dumb_terminal:
        return None
    return live_display.Live(console=console, auto_refresh=False, transient=True)
