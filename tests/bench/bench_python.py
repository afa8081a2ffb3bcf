"""The package: what importing costs, how fast ``tg.read`` is beside a loop of regular expressions.

Run alone (``python tests/bench/bench_python.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

IMPORT = """
import time, numpy
begin = time.perf_counter()
import tickgauge
print(time.perf_counter() - begin)
"""
READ = "import sys, tickgauge as tg; print(len(tg.read(sys.argv[1]).problems))"


def dropin() -> Any:
    """The bench of the drop-in: its log and its plain reader serve here too."""
    path = Path(__file__).with_name("bench_dropin.py")
    spec = importlib.util.spec_from_file_location("bench_dropin", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def import_cost(repeats: int = 15) -> float:
    """Median seconds that ``import tickgauge`` takes after ``import numpy``."""
    command = [sys.executable, "-c", IMPORT]
    times = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    ]
    return statistics.median(times)


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `folder` takes the generated log."""
    bench = dropin()
    log = folder / "python.log"
    bench.make_log(log, 20_000_000 if quick else 200_000_000)
    megabytes = log.stat().st_size / 1e6
    plain = bench.seconds([sys.executable, "-c", bench.PLAIN, log], 1)
    ours = bench.seconds([sys.executable, "-c", READ, log], 1 if quick else 3)
    return [
        {
            "name": "import tickgauge, over import numpy",
            "value": round(1000 * import_cost(), 2),
            "unit": "ms",
            "peer": "-",
            "ratio": None,
            "goal": "at most 10 ms",
        },
        {
            "name": f"tg.read, {megabytes:.0f} MB mixed log",
            "value": round(ours, 3),
            "unit": "s",
            "peer": f"Python regex loop {plain:.2f} s",
            "ratio": round(plain / ours, 1),
            "goal": "all formats at once, calls joined",
        },
    ]


def main() -> None:
    """Measure in a scratch folder and print JSON."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), quick="--quick" in sys.argv), indent=1))


if __name__ == "__main__":
    main()
