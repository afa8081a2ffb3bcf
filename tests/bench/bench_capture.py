"""Captures against pywellen, vcdvcd and pandas: a generated AXI port, as VCD and as ILA CSV.

Run alone (``python tests/bench/bench_capture.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``. All run on one core. The peers load the
signals that the analysis needs, and nothing is analysed by them; ours ends with the transactions.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHANNELS = {
    "ar": ("addr 40", "id 4", "len 8", "size 3", "burst 2", "valid 1", "ready 1"),
    "r": ("data 128", "id 4", "resp 2", "last 1", "valid 1", "ready 1"),
    "aw": ("addr 40", "id 4", "len 8", "size 3", "burst 2", "valid 1", "ready 1"),
    "w": ("data 128", "strb 16", "last 1", "valid 1", "ready 1"),
    "b": ("id 4", "resp 2", "valid 1", "ready 1"),
}
SIGNALS = [
    (channel + leaf.split()[0], int(leaf.split()[1]))
    for channel, leaves in CHANNELS.items()
    for leaf in leaves
]
WIDTH = dict(SIGNALS)
NEEDED = [name for name, _ in SIGNALS if not name.endswith(("data", "strb"))]
PREFIX = "S_AXI_HPC0_"

# Each prints the processor seconds of the work alone: imports are not counted, nor what else the
# machine does meanwhile.
OURS = """
import sys, time
from tickgauge.captures.files import read_capture
begin = time.process_time()
port = read_capture(sys.argv[1]).port()
assert port.figures["complete_reads"] > 0
print(time.process_time() - begin)
"""
PYWELLEN = """
import sys, time, pywellen
begin = time.process_time()
wave = pywellen.Waveform(sys.argv[1], multi_threaded=False)
signals = [v.signal for v in wave.all_vars() if v.name.startswith("aclk")
           or not v.name.endswith(("data", "strb"))]
print(time.process_time() - begin)
"""
VCDVCD = """
import sys, time, vcdvcd
names = sys.argv[2].split(",")
begin = time.process_time()
vcdvcd.VCDVCD(sys.argv[1], signals=["tb." + n for n in names])
print(time.process_time() - begin)
"""
PANDAS = """
import sys, time, pandas as pd
names = sys.argv[2].split(",")
begin = time.process_time()
pd.read_csv(sys.argv[1], usecols=names, skiprows=[1], dtype=str)
print(time.process_time() - begin)
"""


def traffic(seed: int = 20190813) -> Iterator[dict[str, int]]:
    """What changes in each clock: 4 KiB reads and writes, data in 6 to 7 of 10 clocks."""
    rng = random.Random(seed)
    yield {"arready": 1, "awready": 1, "wready": 1, "rready": 1, "bready": 1} | {
        f"a{c}{leaf}": v for c in "rw" for leaf, v in (("size", 4), ("burst", 1), ("len", 255))
    }
    address = 0x70100000
    while True:
        yield {"arvalid": 1, "araddr": address, "awvalid": 1, "awaddr": address + 0x400000}
        yield {"arvalid": 0, "awvalid": 0}
        address = 0x70100000 + ((address + 4096) & 0xFFFFF)
        yield from ({} for _ in range(20))
        reads = writes = 0
        while reads < 256 or writes < 256:
            change = {"rvalid": 0, "rlast": 0, "wvalid": 0, "wlast": 0}
            if reads < 256 and rng.random() < 0.7:
                reads += 1
                change |= {"rvalid": 1, "rdata": rng.getrandbits(128), "rlast": int(reads == 256)}
            if writes < 256 and rng.random() < 0.6:
                writes += 1
                change |= {"wvalid": 1, "wdata": rng.getrandbits(128), "wlast": int(writes == 256)}
            yield change
        yield {"rvalid": 0, "rlast": 0, "wvalid": 0, "wlast": 0, "bvalid": 1}
        yield {"bvalid": 0}


def make_vcd(path: Path, size: int) -> None:
    """A simulator's VCD: a clock of 4 ns, values change with the falling edge."""
    ids = {name: chr(33 + i) for i, (name, _) in enumerate(SIGNALS)}
    lines = ["$timescale 1ps $end", "$scope module tb $end", "$var wire 1 ~ aclk $end"]
    for name, width in SIGNALS:
        bits = f" [{width - 1}:0]" if width > 1 else ""
        lines.append(f"$var wire {width} {ids[name]} {PREFIX}{name}{bits} $end")
    lines += ["$upscope $end", "$enddefinitions $end", "#0", "$dumpvars", "0~"]
    lines += [f"0{ids[n]}" if w == 1 else f"b0 {ids[n]}" for n, w in SIGNALS] + ["$end"]
    value = dict.fromkeys(WIDTH, 0)
    written = time = 0
    with path.open("w") as out:
        for change in traffic():
            for name, new in change.items():
                if value[name] != new:
                    value[name] = new
                    one = WIDTH[name] == 1
                    lines.append(f"{new}{ids[name]}" if one else f"b{new:b} {ids[name]}")
            lines += [f"#{time + 2000}", "1~", f"#{time + 4000}", "0~"]
            time += 4000
            if len(lines) > 50_000:
                text = "\n".join(lines) + "\n"
                written += out.write(text)
                lines = []
                if written >= size:
                    return


def make_csv(path: Path, size: int) -> None:
    """An ILA CSV of the same traffic."""
    value = dict.fromkeys(WIDTH, 0)
    heads = [PREFIX + n + (f"[{w - 1}:0]" if w > 1 else "") for n, w in SIGNALS]
    lines = [",".join(["Sample in Buffer", "Sample in Window", "TRIGGER", *heads])]
    lines.append(",".join(["Radix - UNSIGNED", "UNSIGNED", "UNSIGNED", *["HEX"] * len(SIGNALS)]))
    written = 0
    with path.open("w") as out:
        for row, change in enumerate(traffic()):
            value |= change
            cells = [f"{value[n]:0{(w + 3) // 4}x}" for n, w in SIGNALS]
            lines.append(f"{row},{row},{int(row == 1000)},{','.join(cells)}")
            if len(lines) > 20_000:
                written += out.write("\n".join(lines) + "\n")
                lines = []
                if written >= size:
                    return


def seconds(program: str, path: Path, *args: str, repeats: int = 3) -> float:
    """The median processor time that the program prints of itself, on one core."""

    def once() -> float:
        done = subprocess.run(
            [sys.executable, "-c", program, str(path), *args],
            stdout=subprocess.PIPE,
            check=True,
            preexec_fn=_one_core,
        )
        return float(done.stdout)

    return statistics.median(once() for _ in range(repeats))


def _one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _row(name: str, ours: float, size: int, peer: str, theirs: float | None, goal: str) -> Any:
    rate = f"{ours:.3f} s, {size / ours / 1e6:.0f} MB/s"
    return {
        "name": name,
        "value": round(ours, 4),
        "unit": "s",
        "peer": "not installed" if theirs is None else f"{peer} {theirs:.2f} s",
        "ratio": None if theirs is None else round(theirs / ours, 1),
        "goal": f"{goal} ({rate})",
    }


def _peer(module: str, run: Callable[[], float]) -> float | None:
    return run() if importlib.util.find_spec(module) else None


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `folder` takes the generated files."""
    size = 20_000_000 if quick else 200_000_000
    vcd, csv, small = folder / "axi.vcd", folder / "axi.csv", folder / "small.vcd"
    make_vcd(vcd, size)
    make_csv(csv, size)
    make_vcd(small, size // 20)
    names = [PREFIX + n + (f"[{WIDTH[n] - 1}:0]" if WIDTH[n] > 1 else "") for n in NEEDED]
    joined = ",".join(names)
    wellen = _peer("pywellen", lambda: seconds(PYWELLEN, vcd))
    slow = _peer("vcdvcd", lambda: seconds(VCDVCD, small, "aclk," + joined, repeats=1))
    pandas = _peer("pandas", lambda: seconds(PANDAS, csv, joined, repeats=1 if quick else 3))
    bytes_ = [p.stat().st_size for p in (vcd, small, csv)]
    ours = [seconds(OURS, p) for p in (vcd, small, csv)]
    mb = [f"{b / 1e6:.0f} MB" for b in bytes_]
    return [
        _row(f"VCD, {mb[0]}", ours[0], bytes_[0], "pywellen", wellen, "at least 1x"),
        _row(f"VCD, {mb[1]}", ours[1], bytes_[1], "vcdvcd", slow, "-"),
        _row(f"ILA CSV, {mb[2]}", ours[2], bytes_[2], "pandas", pandas, "at least 3x"),
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
        print(f"{row['name']:<20}{value:>12}{ratio:>8}   {row['peer']:<20}{row['goal']}")


if __name__ == "__main__":
    main()
