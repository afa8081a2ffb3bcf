"""Compressed input against ``zcat``, many logs on a dask cluster against plain processes.

Run alone (``python tests/bench/bench_scale.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
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


def batch_rows(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """Many logs of 1 MB: two plain processes, own processes, a dask cluster of two."""
    import distributed

    import tickgauge as tg

    count = 60 if quick else 2000
    console = folder / "logs"
    console.mkdir()
    block = folder / "block"
    log_maker().make_log(block, 1_000_000)
    body = block.read_bytes()[:1_000_000]
    body = body[: body.rfind(b"\n") + 1]
    for i in range(count):
        (console / f"{i:04d}.log").write_bytes(body + b"log %d\n" % i)
    paths = sorted(map(str, console.iterdir()))
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(read_all, [paths[:1], paths[1:2]]))
        plain = median_seconds(lambda: list(pool.map(read_all, [paths[::2], paths[1::2]])), 1)
    own = median_seconds(lambda: tg.batch(paths, jobs=2), 1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        tg.batch(paths[:4], client=client)
        dask = median_seconds(lambda: tg.batch(paths, client=client), 1)
    return [
        {
            "name": f"batch of {count} logs of 1 MB, {name}",
            "value": round(value, 2),
            "unit": "s",
            "peer": f"two plain processes {plain:.2f} s",
            "ratio": round(value / plain, 2),
            "goal": "at most 1.15x",
        }
        for name, value in (("jobs=2", own), ("dask", dask))
    ]


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `folder` takes what is generated."""
    return gz_rows(folder, quick) + batch_rows(folder, quick)


def main() -> None:
    """Measure in a scratch folder and print JSON."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), quick="--quick" in sys.argv), indent=1))


if __name__ == "__main__":
    main()
