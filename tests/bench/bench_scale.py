"""Compressed input against ``zcat``, many logs on a dask cluster against plain processes.

Run alone (``python tests/bench/bench_scale.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

UNPACK = """
import sys
from tickgauge.sources.expand import expand
from tickgauge.sources.opening import opened
for stream in opened(expand(sys.argv[1])):
    print(sum(map(len, stream)))
"""
READ = "import sys, tickgauge as tg; print(len(tg.read(sys.argv[1]).readings))"


def log_maker() -> Any:
    """The bench of the drop-in, for its log."""
    path = Path(__file__).with_name("bench_dropin.py")
    spec = importlib.util.spec_from_file_location("bench_dropin", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def median_seconds(run: Callable[[], Any], repeats: int) -> float:
    """The median of so many runs."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def command(line: list[Any], repeats: int) -> float:
    """Median wall time of a command with its output dropped."""
    return median_seconds(
        lambda: subprocess.run(line, stdout=subprocess.DEVNULL, check=True), repeats
    )


def gz_rows(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """Unpacking and reading a gzip file beside zcat."""
    log = folder / "log"
    log_maker().make_log(log, 20_000_000 if quick else 200_000_000)
    packed = folder / "log.gz"
    with packed.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as out:
        out.write(log.read_bytes())
    size = log.stat().st_size / 1e6
    repeats = 3
    zcat = command(["zcat", packed], repeats)
    rows = []
    for what, code in (("unpacked", UNPACK), ("read", READ)):
        ours = command([sys.executable, "-c", code, packed], repeats)
        rows.append(
            {
                "name": f"gzip of {size:.0f} MB, {what}",
                "value": round(ours, 3),
                "unit": "s",
                "peer": f"zcat >/dev/null {zcat:.2f} s",
                "ratio": round(zcat / ours, 2),
                "goal": "at least 0.95x",
            }
        )
    return rows


def read_all(paths: list[str]) -> int:
    """What a process of one's own would do: read, keep the statistics."""
    import tickgauge as tg

    return sum(len(tg.snapshot(tg.read(path)).to_bytes()) for path in paths)


OWN = """
import os, sys, tickgauge as tg
from pathlib import Path
paths = sorted(map(str, Path(sys.argv[1]).iterdir()))
tg.batch(paths[:2], jobs=1)
before = sum(os.times()[:4])
tg.batch(paths, jobs=2)
print(sum(os.times()[:4]) - before)
"""


def many_logs(folder: Path, count: int) -> list[str]:
    """So many logs of 1 MB."""
    console = folder / "logs"
    console.mkdir()
    block = folder / "block"
    log_maker().make_log(block, 1_000_000)
    body = block.read_bytes()[:1_000_000]
    body = body[: body.rfind(b"\n") + 1]
    for i in range(count):
        (console / f"{i:04d}.log").write_bytes(body + b"log %d\n" % i)
    return sorted(map(str, console.iterdir()))


def batch_rows(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """Many logs of 1 MB: own processes against two plain ones by the clock."""
    import tickgauge as tg

    count = 60 if quick else 2000
    paths = many_logs(folder, count)
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(read_all, [paths[:1], paths[1:2]]))
        plain = median_seconds(lambda: list(pool.map(read_all, [paths[::2], paths[1::2]])), 1)
    own = median_seconds(lambda: tg.batch(paths, jobs=2), 1)
    return [
        {
            "name": f"batch of {count} logs of 1 MB, jobs=2",
            "value": round(own, 2),
            "unit": "s",
            "peer": f"two plain processes {plain:.2f} s",
            "ratio": round(own / plain, 2),
            "goal": "at most 1.15x",
        }
    ]


def with_children(pid: int) -> list[int]:
    """A process and all below it."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [
        pid,
        *(p for task in tasks for k in task.read_text().split() for p in with_children(int(k))),
    ]


def processor_seconds(pids: list[int]) -> float:
    """What they have used so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def cluster_rows(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """All that a scheduler, two workers and the client use, against own processes.

    Run in pairs, in turns, so that a busy machine is busy for both.
    """
    import distributed

    import tickgauge as tg

    folder = folder / "cluster"
    folder.mkdir()
    paths = many_logs(folder, 100)
    settings = Path(__file__).parents[2] / "docs" / "examples" / "dask.yaml"
    env = os.environ | {"DASK_CONFIG": str(settings)}
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    scheduler_file = folder / "scheduler.json"
    words += ["--port", "0", "--no-dashboard", "--scheduler-file", str(scheduler_file)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    worker += ["--no-dashboard", "--scheduler-file", str(scheduler_file)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": env}
    started = [subprocess.Popen(line, **silent) for line in (words, worker, worker)]
    own, cluster = [], []
    try:
        with distributed.Client(scheduler_file=str(scheduler_file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            tg.batch(paths[:40], client=client)
            pids = [os.getpid(), *(p for one in started for p in with_children(one.pid))]
            for i in range(4 if quick else 10):
                for what in ("own", "cluster") if i % 2 == 0 else ("cluster", "own"):
                    if what == "own":
                        line = [sys.executable, "-c", OWN, str(folder / "logs")]
                        own.append(float(subprocess.run(line, stdout=-1, check=True).stdout))
                    else:
                        before = processor_seconds(pids)
                        tg.batch(paths, client=client)
                        cluster.append(processor_seconds(pids) - before)
    finally:
        for one in reversed(started):
            one.terminate()
            one.wait(30)
    ratios = [b / a for a, b in zip(own, cluster, strict=True)]
    return [
        {
            "name": "batch of 100 logs of 1 MB on a dask cluster of two, processor time",
            "value": round(statistics.median(cluster), 2),
            "unit": "s",
            "peer": f"own processes {statistics.median(own):.2f} s",
            "ratio": round(statistics.median(ratios), 2),
            "goal": "at most 1.2x",
        }
    ]


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `folder` takes what is generated."""
    return [*gz_rows(folder, quick), *batch_rows(folder, quick), *cluster_rows(folder, quick)]


def main() -> None:
    """Measure in a scratch folder and print JSON."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), quick="--quick" in sys.argv), indent=1))


if __name__ == "__main__":
    main()
