"""Instructions the core takes for each line, counted by callgrind: no clock, so no noise.

python tests/bench/instructions.py CORE [--write]

CORE is ``core.c`` linked with the core (``make instructions`` does both). Small logs are made by
formula, read, and reduced; a figure that is more than a tenth above the committed one of
``instructions.json`` is an error. The figures belong to a compiler: with another one they are shown
and not judged. ``--write`` commits the figures at hand.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

FIGURES = Path(__file__).with_name("instructions.json")
WORSE = 1.10
LINES = 3000
STEPS = {"read": "tg_reader_feed", "reduce": "tg_reduce"}


def smc(i: int, rng: random.Random) -> str:
    """A row of a latency test of SMCs; a new test begins every thousand rows."""
    ticks = rng.randrange(20, 9000)
    head = f"> Executing 'PSCI latency {i}'\r\nNOTICE:  Raw results:\r\n" if i % 1000 == 0 else ""
    return f"{head}NOTICE:  {ticks} cycles\t{ticks * 16} ns\r\n"


def rt_instr(i: int, rng: random.Random) -> str:
    """A record of the runtime instrumentation."""
    times = "\t".join(str(rng.randrange(n) * 20) for n in (50_000, 15_000, 8_000))
    return f"<RT_INSTR:test_rt_instr_cpu_off_serial\t{i // 4 % 2}\t{i % 4}\t{times}/>\r\n"


def optee(i: int, rng: random.Random) -> str:
    """A line of a call: five make one."""
    at = [0x4A848828 + (i // 5) * 60_000 + k * 7_000 + rng.randrange(3_000) for k in range(7)]
    us = at[1] * 16 // 1000
    stamp = f"[{us // 10**6:5d}.{us % 10**6:06d}] optee: TEEDriver:"
    return (
        f"{stamp} do smc call, cmd=1, cntvct=0x{at[1]:x}\n",
        f"M/TC: TEECore: receiving smc call, cmd=1, cntvct=0x{at[2]:09x}\n",
        f"M/TC: TEECore: finish smc call, cmd=1, cntvct=0x{at[4]:09x}\n",
        f"{stamp} finish smc call, cmd=1, cntvct=0x{at[5]:x}\n",
        f"ClientInvokeCommand: start=0x{at[0]:x}, enter_ta=0x{at[3]:x}, return=0x{at[6]:x}\n",
    )[i % 5]


def ftrace(i: int, rng: random.Random) -> str:
    """An event of the OP-TEE driver as tracefs prints it."""
    tail = ("begin: param=%016x (32000013, ffff5901, 0, 0)", "end: param=%016x ret (ffff0005, 0)")
    us = 55_034_467 + i * 2_000 + rng.randrange(1_000)
    return (
        f"             lat-{200 + i // 2 % 60}     [{i // 2 % 2:03d}] ..... "
        f"{us // 10**6:5d}.{us % 10**6:06d}: optee_invoke_fn_{tail[i % 2] % (i // 2)}\n"
    )


NOISE = (
    "usb 1-1: new high-speed USB device number %d using dwc2",
    "mmc0: card %04x is ready, bus width 4",
    "thermal zone %d registered, trip at 95 C",
    "eth0: link up, 1000 Mbps, full duplex, lane %d",
    "regulator vdd_%d: supplied by vsys",
    "pci 0000:00:%02x.0: bridge window [mem 0x10000000-0x101fffff]",
    "random: crng init done, %d bits of entropy",
)


def kernel(i: int, rng: random.Random) -> str:
    """A line of a kernel without a record."""
    return f"[{i // 100:5d}.{rng.randrange(10**6):06d}] {NOISE[i % 7] % (i % 99)}\n"


KINDS: tuple[Callable[[int, random.Random], str], ...] = (smc, rt_instr, optee, ftrace, kernel)


def count(core: str, step: str, log: Path, out: Path) -> float:
    """Instructions a line inside the function of that step."""
    subprocess.run(
        [
            "valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
            f"--toggle-collect={STEPS[step]}", f"--callgrind-out-file={out}",
            core, "reduce", str(log),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "TICKGAUGE_SIMD": "ssse3"},
    )  # fmt: skip
    total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    assert total is not None, out
    return round(int(total[1]) / log.read_bytes().count(b"\n"), 1)


def measured(core: str) -> dict[str, float]:
    """Every figure, by its name."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in KINDS:
            rng = random.Random(7)
            log = folder / f"{kind.__name__}.log"
            log.write_text("".join(kind(i, rng) for i in range(LINES)), newline="")
            for step in STEPS:
                if kind is not kernel or step == "read":
                    found[f"{step} {kind.__name__}"] = count(core, step, log, folder / "out")
    return found


def compiler() -> str:
    """The compiler and machine that the figures belong to: "gcc 12 x86_64"."""
    text = subprocess.run(
        [os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True
    ).stdout
    version = re.search(r" (\d+)\.\d+", text.splitlines()[0])
    name = "clang" if "clang" in text else "gcc"
    return f"{name} {version[1] if version else '?'} {platform.machine()}"


def main() -> int:
    """Count, compare, or write."""
    parser = argparse.ArgumentParser(description="Instructions for each line, by callgrind.")
    parser.add_argument("core")
    parser.add_argument("--write", action="store_true", help="commit the figures")
    args = parser.parse_args()
    if shutil.which("valgrind") is None or platform.machine() != "x86_64":
        print("instructions: skipped, there is no valgrind on this machine, or it is no x86-64")
        return 0
    found = measured(args.core)
    if args.write:
        FIGURES.write_text(json.dumps({"compiler": compiler(), "a line": found}, indent=1) + "\n")
    kept = json.loads(FIGURES.read_text())
    judged = kept["compiler"] == compiler()
    worse = []
    for name, now in found.items():
        before = kept["a line"].get(name)
        print(f"{name:<16}{now:>9.1f} instructions a line, committed {before}")
        if judged and (before is None or now > before * WORSE):
            worse.append(name)
    if not judged:
        print(f"instructions: not judged, the figures are of {kept['compiler']}")
    for name in worse:
        print(f"instructions: {name} is more than a tenth above its committed figure")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
