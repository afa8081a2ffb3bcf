"""The reader against wc, cat, ripgrep, a Python regex loop and polars, on three generated logs.

Run alone (``python tests/bench/bench_speed.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``. Every ratio is to a peer timed in turns
with ours in this run, the best of several passes each, files in the page cache. What runs on one
thread is measured in seconds of processor time, user and system, so that other work on the
machine does not count; threads and compressed input by the clock.

The core's own figures come from ``core.c``, compiled here with the core's sources: reading to
columns with all built-in rules and, where valgrind is there, instructions a byte, which repeat to
the digit on any machine.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOISE = (
    "FLW TEE-CORE:tee_svc_trace_syscall:53: syscall #{}",
    "[ {:5d}.123456] usb 1-1: new high-speed USB device number 3 using dwc2",
    "DBG TEE-CORE:tee_ta_init_session_with_signed_ta:1242:    Load dynamic TA {}",
    "D/TC:0 0 tee_entry_std:552 call {}",
    "I/TA: has been called (session opened with the Simple TA) {}",
)
RECORD = "<RT_INSTR:test_rt_instr_susp_deep_parallel\t{}\t{}\t{}\t{}\t{}/>"
PATTERN = r"<RT_INSTR:(\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/>"
#: Name, bytes, a record every so many lines.
LOGS = (("sparse", 400_000_000, 35), ("mixed", 200_000_000, 3), ("dense", 200_000_000, 1))


def make_log(path: Path, size: int, every: int) -> None:
    """Write at least `size` bytes of console, one line in `every` a record."""
    rng = random.Random(every)
    lines, total = [], 0
    while total < 4 << 20:
        if len(lines) % every == 0:
            times = (rng.randrange(n) * 20 for n in (50_000, 15_000, 8_000))
            line = RECORD.format(rng.randrange(2), rng.randrange(4), *times)
        else:
            line = rng.choice(NOISE).format(rng.randrange(1000))
        lines.append(line)
        total += len(line) + 1
    block = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as out:
        for _ in range(-(-size // len(block))):
            out.write(block)


def build_core(folder: Path) -> Path:
    """The bench program with the core in it."""
    program = folder / "core"
    sources = sorted(map(str, (ROOT / "csrc" / "src").rglob("*.c")))
    include = [f"-I{ROOT / 'csrc' / part}" for part in ("include", "src")]
    command = [os.environ.get("CC", "cc"), "-std=c11", "-O2", "-g", *include]
    here = str(Path(__file__).with_name("core.c"))
    subprocess.run([*command, here, *sources, "-lm", "-lpthread", "-o", program], check=True)
    return program


def timed(command: list[Any]) -> float:
    """Wall seconds of a command, its output dropped."""
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def worked(command: list[Any]) -> float:
    """Seconds of processor time of a command, its output dropped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def turns(runs: dict[str, Callable[[], float]], passes: int) -> dict[str, float]:
    """The fastest of several passes of each, taken in turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(passes):
        for name, run in runs.items():
            best[name] = min(best[name], run())
    return best


def regex_loop(log: Path) -> float:
    """What a person would write: one compiled pattern, line by line, numbers converted."""
    search = re.compile(PATTERN.encode()).search
    begin = time.process_time()
    found = []
    with log.open("rb") as lines:
        for line in lines:
            if match := search(line):
                found.append([match[1], *map(int, match.groups()[1:])])
    return time.process_time() - begin


def polars_extract(log: Path) -> float:
    """The same columns by polars: lines as a column, `str.extract_groups`."""
    import polars as pl

    begin = time.process_time()
    lines = pl.Series("line", log.read_bytes().decode().split("\n")).to_frame()
    lines.select(pl.col("line").str.extract_groups(PATTERN)).drop_nulls().unnest("line")
    return time.process_time() - begin


def tags() -> list[str]:
    """What the built-in rules look for."""
    from tickgauge import _core

    reader = _core.Reader(_core.RuleSet([]))
    return [tag.decode() for tag, *_ in reader.finish().ledger()]


def row(name: str, value: float, unit: str, peer: str, ratio: float | None, goal: str) -> Any:
    """One figure."""
    rounded = None if ratio is None else round(ratio, 2)
    values = (name, round(value, 4), unit, peer, rounded, goal)
    return dict(zip(("name", "value", "unit", "peer", "ratio", "goal"), values, strict=True))


def _reading(program: Path, log: Path, name: str, head: Path, passes: int) -> list[Any]:
    """The core on one log against every peer; slow peers see the head of it, scaled up."""
    needles = [f"-e{tag}" for tag in tags()]
    scale = log.stat().st_size / head.stat().st_size
    best = turns(
        {
            "core": lambda: worked([program, "read", log]),
            "wc": lambda: worked(["wc", "-l", log]),
            "cat": lambda: worked(["cat", log]),
            "rg": lambda: worked(["rg", "-c", "-F", *needles, log]),
        },
        passes,
    )
    loop, polars = regex_loop(head) * scale, polars_extract(head) * scale
    core, goals = best["core"], ["-", "-", "-"]
    if name == "sparse":
        goals = ["at most 1.3x", "at least 3x", "-"]
    elif name == "dense":
        goals = ["at most 3x", "-", "at least 40x"]
    what = f"{name} log to columns, {log.stat().st_size / 1e6:.0f} MB"
    return [
        row(what, core, "s", f"wc -l {best['wc']:.3f} s", core / best["wc"], goals[0]),
        row(what, core, "s", f"cat {best['cat']:.3f} s", core / best["cat"], "-"),
        row(what, core, "s", f"rg -c {best['rg']:.3f} s", best["rg"] / core, goals[1]),
        row(what, core, "s", f"Python regex loop {loop:.1f} s", loop / core, goals[2]),
        row(what, core, "s", f"polars extract {polars:.1f} s", polars / core, "-"),
    ]


def _whole(log: Path, name: str, core: float) -> Any:
    """`tg.read`: digest, near misses, boots, readings and all."""
    code = (
        "import sys,time,tickgauge as tg;begin=time.process_time();tg.read(sys.argv[1]);"
        "print(time.process_time()-begin)"
    )
    out = subprocess.run([sys.executable, "-c", code, log], capture_output=True, text=True)
    took = float(out.stdout or "nan")
    return row(f"tg.read of the {name} log", took, "s", f"core {core:.3f} s", took / core, "-")


def _threads(log: Path, files: int) -> Any:
    """Many files over a pool of one and two threads; the GIL is free while they are read."""
    from tickgauge import _core

    rule_sets = [_core.RuleSet([]) for _ in range(2)]

    def one(rules: Any) -> None:
        reader = _core.Reader(rules)
        with log.open("rb") as file:
            while reader.feed_fd(file.fileno(), 1 << 24) == 1 << 24:
                pass
        reader.finish()

    def many(threads: int) -> float:
        begin = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            share = files // threads
            list(pool.map(lambda k: [one(rule_sets[k]) for _ in range(share)], range(threads)))
        return time.perf_counter() - begin

    best = turns({"1": lambda: many(1), "2": lambda: many(2)}, 3)
    name = f"{files} files of {log.stat().st_size / 1e6:.0f} MB, 2 threads"
    peer = f"1 thread {best['1']:.3f} s"
    return row(name, best["2"], "s", peer, best["1"] / best["2"], "at least 1.8x")


def _gzip(log: Path, folder: Path) -> Any:
    """Compressed input against zcat."""
    packed = folder / "mixed.log.gz"
    with log.open("rb") as plain, gzip.open(packed, "wb", compresslevel=6) as out:
        shutil.copyfileobj(plain, out, 1 << 20)
    code = "import sys,tickgauge as tg;tg.read(sys.argv[1])"
    runs = {
        "ours": lambda: timed([sys.executable, "-c", code, packed]),
        "zcat": lambda: timed(["zcat", packed]),
    }
    best = turns(runs, 2)
    name = f"tg.read of gz, {packed.stat().st_size / 1e6:.0f} MB packed"
    peer = f"zcat {best['zcat']:.2f} s"
    return row(name, best["ours"], "s", peer, best["zcat"] / best["ours"], "at least 0.95x")


def _instructions(program: Path, head: Path, name: str) -> list[Any]:
    """Instructions a byte by callgrind: the figure that repeats."""
    if shutil.which("valgrind") is None:
        return []
    out = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "read", head],
        capture_output=True,
        text=True,
        check=True,
    )
    counted = re.search(r"Collected : (\d+)", out.stderr)
    each = int(counted[1]) / head.stat().st_size if counted else float("nan")
    return [row(f"{name} log, instructions a byte", each, "", "-", None, "-")]


def _peak(program: Path, log: Path) -> Any:
    """Peak resident memory of the core beyond what it hands over."""
    time_it = ["/usr/bin/env", "python3", "-c"]
    code = (
        "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss/1024)"
    )
    command = [*time_it, code, program, "read", log]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    name = f"peak memory, sparse log of {log.stat().st_size / 1e6:.0f} MB"
    records = subprocess.run([program, "read", log], capture_output=True, text=True).stdout
    result = int(records.split()[1]) * 88 / 1e6  # bytes of a record's columns and its place
    peer = f"columns {result:.0f} MB"
    return row(name, float(out.stdout), "MB", peer, None, "columns + 32 MB")


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `folder` takes the generated logs."""
    program = build_core(folder)
    passes = 3 if quick else 7
    rows: list[dict[str, Any]] = []
    for name, size, every in LOGS:
        log, head = folder / f"{name}.log", folder / f"{name}.head"
        make_log(log, size // 10 if quick else size, every)
        with log.open("rb") as whole:
            head.write_bytes(whole.read(8_000_000).rpartition(b"\n")[0] + b"\n")
        found = _reading(program, log, name, head, passes)
        rows += found
        rows.append(_whole(log, name, found[0]["value"]))
        rows += _instructions(program, head, name)
        if name == "sparse":
            rows.append(_peak(program, log))
        if name == "mixed":
            small = folder / "twenty.log"
            make_log(small, 2_000_000 if quick else 20_000_000, every)
            rows.append(_threads(small, 40))
            rows.append(_gzip(log, folder))
        log.unlink()
    return rows


def main() -> None:
    """Measure in a scratch folder and print a row per figure."""
    with tempfile.TemporaryDirectory() as folder:
        for one in measure(Path(folder), quick="--quick" in sys.argv):
            ratio = "" if one["ratio"] is None else f"{one['ratio']}x"
            value = f"{one['value']} {one['unit']}"
            print(f"{one['name']:<44}{value:>14}{ratio:>9}   {one['peer']:<34}{one['goal']}")


if __name__ == "__main__":
    main()
