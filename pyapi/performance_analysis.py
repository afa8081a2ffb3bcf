#!/usr/bin/env python3
"""Latency of the OP-TEE calls in one console log, in the report of the 2015 script.

Usage: ``performance_analysis.py LOG``. Standard output, the exit status and the last line on
stderr are those of the script of the same name in optee_benchmark, for any input. This file works
from anywhere, given a Python in which tickgauge is installed; importing it runs nothing.
"""

import os
import sys

RULE = "=" * 64
LINE = "-" * 64
CALL_ROWS = (
    "Client Start Command",
    "Driver Start SMC Call",
    "TEE OS Receive SMC Call",
    "TA Enter Command",
    "TEE OS Finish SMC Call",
    "Driver Finish SMC Call",
    "Client Return From Command",
)
SYSCALL_ROWS = (
    "TA Invoke System Call",
    "Secure OS Receive System Call",
    "TA Return From System Call",
)
CALL_HEAD = "When                           Counter Value    Interval(ns)"
SYSCALL_HEAD = "When                             Counter Value    Interval(ns)"
CALL_SUMMARY = (
    ("Client -> TA (one way trip)   ", 0, 3),
    ("Client -> Client (round trip) ", 0, 6),
    ("SMC Call Send To Secure OS    ", 1, 2),
    ("SMC Call Return From Secure OS", 4, 5),
)
SYSCALL_SUMMARY = (("TA -> OS", 0, 1), ("OS -> TA", 1, 2), ("TA -> TA", 0, 2))
UNKNOWN = "Unknown SMC call command = "
NANOSECONDS = 10**9
NARROW = 1024  # bits of a number that prints under any limit on the digits of an int


def section(title, head, width, names, ticks, resolution, summary):
    """The lines of one block: a row per stamp, then intervals between chosen stamps.

    `ticks` are the stamps in counter ticks, `resolution` the ns of a tick; `summary` holds labels,
    each with the two rows an interval lies between.
    """
    lines = [RULE, title, RULE, head, LINE]
    before = ticks[0]
    for name, now in zip(names, ticks, strict=True):
        lines.append(f"{name:<{width}}{now:16d}{resolution * (now - before):16d}")
        before = now
    lines += ["", LINE, "Summary", LINE]
    for label, begin, end in summary:
        lines.append(f"{label} = {resolution * (ticks[end] - ticks[begin]):10d} (ns)")
    return [*lines, "", ""]


def report(values):
    """The report on the 18 values of a log, without its last line end.

    Raises ZeroDivisionError where no line told the frequency, or the last one told 0.
    """
    frequency = values[0]
    if frequency == 0:
        raise ZeroDivisionError("long division or modulo by zero")
    resolution = NANOSECONDS // frequency
    lines = [f"Counter resolution (ns) = {resolution}", ""]
    for call, title in enumerate(("Open Session", "Invoke Command")):
        start, enter, back = values[1 + 3 * call : 4 + 3 * call]
        do, done, receive, finish = values[10 + call : 18 : 2]
        ticks = (start, do, receive, enter, finish, done, back)
        lines += section(title, CALL_HEAD, 28, CALL_ROWS, ticks, resolution, CALL_SUMMARY)
    title = "Secure System Call (TEE_GetPropertyAsBinaryBlock)"
    ticks = values[7:10]
    lines += section(title, SYSCALL_HEAD, 30, SYSCALL_ROWS, ticks, resolution, SYSCALL_SUMMARY)
    return "\n".join(lines) + "\n"


def report_of_any_width(values):
    """`report` for numbers of any length: the interpreter's limit on digits is lifted for it."""
    if max(value.bit_length() for value in values) <= NARROW:
        return report(values)
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return report(values)
    finally:
        sys.set_int_max_str_digits(limit)


def analyse(path, write):
    """Read the log at `path` and hand the text of the original's stdout to `write`, in pieces.

    Raises ZeroDivisionError as `report` does, after the lines that the original prints before it.
    """
    from _tickgauge_legacy import read

    def unknown(commands):
        write(UNKNOWN + ("\n" + UNKNOWN).join(commands) + "\n")

    values, whole = read(path, unknown)
    if not whole:
        write("can not open file\n")
    write(report_of_any_width(values) + "\n")


def run(argv):
    """Run on `argv` with all of its output written, and return the exit status."""
    out = sys.stdout
    if out is None:
        raise OSError(9, "Bad file descriptor")  # as the original says when stdout is closed
    status = 0
    if len(argv) < 2:
        usage = b"Usage: %b <filename>\n" % os.fsencode(argv[0])
        if hasattr(out, "buffer"):
            out.buffer.write(usage)  # the name may be any bytes
        else:
            out.write(os.fsdecode(usage))
    else:
        try:
            analyse(argv[1], out.write)
        except ZeroDivisionError as error:
            print(f"no CounterTimerFrequency line above 0 in {argv[1]!r}", file=sys.stderr)
            print(f"ZeroDivisionError: {error}", file=sys.stderr)
            status = 1
    out.flush()
    return status


def main(argv=None):
    """Run on `argv` (default: `sys.argv`), tell a failure in a line, return the exit status."""
    try:
        return run(sys.argv if argv is None else argv)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", file=sys.stderr)
    except ModuleNotFoundError:
        print(f"tickgauge is not installed for {sys.executable}", file=sys.stderr)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"OSError: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the rest is not tried again
    return 1


if __name__ == "__main__":
    sys.exit(main())
