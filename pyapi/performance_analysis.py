#!/usr/bin/env python3
"""Latency of the OP-TEE calls in one console log, in the report of the 2015 script.

Usage: ``performance_analysis.py LOG``. What goes to stdout, the exit status and the last line on
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
UNKNOWN = "Unknown SMC call command = "
NANOSECONDS = 10**9
NARROW = 1024  # bits of a number that prints under any limit on the digits of an int


def section(title, head, width, names, ticks, resolution, summary):
    """One block of the report: a row per stamp, then intervals between chosen stamps.

    `ticks` are the stamps in counter ticks, `resolution` the ns of a tick; `summary` holds a label
    and the two rows an interval lies between.
    """
    lines = [RULE, title, RULE, head, LINE]
    before = ticks[0]
    for name, now in zip(names, ticks):
        lines.append("%s%16d%16d" % (name.ljust(width), now, resolution * (now - before)))
        before = now
    lines += ["", LINE, "Summary", LINE]
    for label, begin, end in summary:
        lines.append("%s = %10d (ns)" % (label, resolution * (ticks[end] - ticks[begin])))
    return lines + ["", ""]


def report(values):
    """The report on the 18 values of a log, without its last line end.

    Raises ZeroDivisionError where no line told the frequency, or the last one told 0.
    """
    frequency = values[0]
    if frequency == 0:
        raise ZeroDivisionError("long division or modulo by zero")
    resolution = NANOSECONDS // frequency
    summary = (
        ("Client -> TA (one way trip)   ", 0, 3),
        ("Client -> Client (round trip) ", 0, 6),
        ("SMC Call Send To Secure OS    ", 1, 2),
        ("SMC Call Return From Secure OS", 4, 5),
    )
    lines = ["Counter resolution (ns) = %d" % resolution, ""]
    for call, title in enumerate(("Open Session", "Invoke Command")):
        start, enter, back = values[1 + 3 * call : 4 + 3 * call]
        do, done, receive, finish = values[10 + call : 18 : 2]
        ticks = (start, do, receive, enter, finish, done, back)
        lines += section(title, CALL_HEAD, 28, CALL_ROWS, ticks, resolution, summary)
    lines += section(
        "Secure System Call (TEE_GetPropertyAsBinaryBlock)",
        SYSCALL_HEAD,
        30,
        SYSCALL_ROWS,
        values[7:10],
        resolution,
        (("TA -> OS", 0, 1), ("OS -> TA", 1, 2), ("TA -> TA", 0, 2)),
    )
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
    """Read the log at `path` and hand the text of the original's stdout to `write`, in pieces."""
    from _tickgauge_legacy import read

    def unknown(commands):
        write(UNKNOWN + ("\n" + UNKNOWN).join(commands) + "\n")

    values, whole = read(path, unknown)
    if not whole:
        write("can not open file\n")
    write(report_of_any_width(values) + "\n")


def main(argv=None):
    """Run on `argv` (default: `sys.argv`) and return the exit status."""
    argv = sys.argv if argv is None else argv
    out = sys.stdout
    try:
        if len(argv) < 2:
            out.flush()
            usage = b"Usage: %b <filename>\n" % os.fsencode(argv[0])
            out.buffer.write(usage) if hasattr(out, "buffer") else out.write(os.fsdecode(usage))
        else:
            analyse(argv[1], out.write)
        out.flush()
    except ZeroDivisionError as error:
        out.flush()
        print("no CounterTimerFrequency line above 0 in", repr(argv[1]), file=sys.stderr)
        print(f"ZeroDivisionError: {error}", file=sys.stderr)
        return 1
    except ImportError:
        print("tickgauge is not installed for", sys.executable, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("KeyboardInterrupt", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left is dropped without a word
        return 1
    except OSError as error:
        print(f"OSError: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
