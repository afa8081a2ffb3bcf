"""The drop-in against a plain-Python reader of the same eight patterns, and against no work at all.

Run alone (``python tests/bench/bench_dropin.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

SCRIPT = Path(sysconfig.get_path("scripts")) / "performance_analysis.py"
SAMPLE = Path(__file__).parents[1] / "data" / "dropin" / "01-readme-sample" / "log.txt"

# What a person would write today: bytes, one line at a time, the first pattern found.
PLAIN = r"""
import re, sys
H = rb"([0-9a-f]+)"
S = rb"\ssmc\scall,\scmd=([0-9]),\scntvct=0x" + H
C = rb":\sstart=0x" + H + rb",\s%b=0x" + H + rb",\sreturn=0x" + H
patterns = [re.compile(p) for p in (
    rb"CounterTimerFrequency:\s0x" + H,
    b"ClientOpenSession" + C % b"enter_ta",
    b"ClientInvokeCommand" + C % b"enter_ta",
    b"SecureSysCall" + C % b"enter_svc",
    rb"TEEDriver:\sdo" + S, rb"TEEDriver:\sfinish" + S,
    rb"TEECore:\sreceiving" + S, rb"TEECore:\sfinish" + S)]
with open(sys.argv[1], "rb") as log:
    for line in log:
        for pattern in patterns:
            match = pattern.search(line)
            if match:
                values = [int(group, 16) for group in match.groups()]
                break
"""

NOISE = (
    "FLW TEE-CORE:tee_svc_trace_syscall:53: syscall #{}",
    "[ {:5d}.123456] usb 1-1: new high-speed USB device number 3 using dwc2",
    "DBG TEE-CORE:tee_ta_init_session_with_signed_ta:1242:    Load dynamic TA {}",
    "D/TC:0 0 tee_entry_std:552 call {}",
    "I/TA: has been called (session opened with the Simple TA) {}",
)
EVENTS = (
    "TEEDriver: do smc call, cmd={d}, cntvct=0x{a:x}",
    "TEEDriver: finish smc call, cmd={d}, cntvct=0x{a:x}",
    "MSG TEE-CORE:print_counter:328: TEECore: receiving smc call, cmd={d}, cntvct=0x{a:x}",
    "MSG TEE-CORE:print_counter:328: TEECore: finish smc call, cmd={d}, cntvct=0x{a:x}",
    "ClientInvokeCommand: start=0x{a:x}, enter_ta=0x{b:x}, return=0x{c:x}",
    "ClientOpenSession: start=0x{a:x}, enter_ta=0x{b:x}, return=0x{c:x}",
    "SecureSysCall: start=0x{a:x}, enter_svc=0x{b:x}, return=0x{c:x}",
    "CounterTimerFrequency: 0x3b9aca0",
)


def make_log(path: Path, size: int) -> None:
    """Write at least `size` bytes of console, one line in three an event."""
    rng = random.Random(20150127)
    lines = []
    counter = 0x485030C14
    total = 0
    while total < 4 << 20:
        kind = rng.choices(range(8), (3, 3, 3, 3, 2, 1, 1, 1))[0]
        counter += rng.randrange(1000, 200_000)
        event = EVENTS[kind].format(d=rng.randrange(3), a=counter, b=counter + 99, c=counter + 999)
        for text in (event, *(rng.choice(NOISE).format(rng.randrange(1000)) for _ in range(2))):
            lines.append(text)
            total += len(text) + 1
    block = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as out:
        for _ in range(-(-size // len(block))):
            out.write(block)


def seconds(command: list[Any], repeats: int) -> float:
    """The median wall time of `command`, its output dropped, once run before."""

    def once() -> float:
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begin

    once()
    return statistics.median(once() for _ in range(repeats))


def peak_megabytes(command: list[Any], log: Path, times: int) -> float:
    """The peak resident memory of `command` that reads `log` so many times over on its input.

    Taken from the live process, before its input ends: what wait4 tells includes its parent.
    """
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        for _ in range(times):
            with log.open("rb") as source:
                while chunk := source.read(1 << 20):
                    child.stdin.write(chunk)
        child.stdin.flush()
        status = Path(f"/proc/{child.pid}/status").read_text()
    assert child.returncode == 0
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `folder` takes the generated log."""
    log = folder / "dropin.log"
    size = 20_000_000 if quick else 200_000_000
    make_log(log, size)
    megabytes = log.stat().st_size / 1e6
    plain = seconds([sys.executable, "-c", PLAIN, log], 1 if quick else 3)
    ours = seconds([SCRIPT, log], 5)
    nothing = seconds([sys.executable, "-c", "pass"], 21)
    start = seconds([SCRIPT, SAMPLE], 21)

    peak = peak_megabytes([SCRIPT, "/dev/stdin"], log, 5)
    return [
        {
            "name": f"drop-in, {megabytes:.0f} MB mixed log",
            "value": round(ours, 4),
            "unit": "s",
            "peer": f"Python regex loop {plain:.2f} s",
            "ratio": round(plain / ours, 1),
            "goal": "at least 60x",
        },
        {
            "name": "drop-in, start on a 3 kB log",
            "value": round(start, 4),
            "unit": "s",
            "peer": f"python3 -c pass {nothing:.4f} s",
            "ratio": round(start / nothing, 2),
            "goal": "at most 1.5x",
        },
        {
            "name": f"drop-in, peak memory on {5 * megabytes / 1000:.1f} GB",
            "value": round(peak, 1),
            "unit": "MB",
            "peer": "-",
            "ratio": None,
            "goal": "at most 40 MB",
        },
    ]


def main() -> None:
    """Measure in a scratch folder and print a row per figure, or JSON with --json."""
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), quick="--quick" in sys.argv)
    if "--json" in sys.argv:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        ratio = "" if row["ratio"] is None else f"{row['ratio']}x"
        value = f"{row['value']} {row['unit']}"
        print(f"{row['name']:<36}{value:>12}{ratio:>8}   {row['peer']:<28}{row['goal']}")


if __name__ == "__main__":
    main()
