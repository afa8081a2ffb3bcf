"""Statistics: 1000 keys at once, scipy's exact permutation test beside it, and false alarms.

Run alone (``python tests/bench/bench_stats.py [--quick]``) or through ``make bench``: `measure`
returns rows of ``{name, value, unit, peer, ratio, goal}``. The rows of false alarms are
simulations: 8 cores a boot, no change, normal scatter on a tick grid; the unit of the test is the
boot. Their goal is the attainable level of the test within Monte Carlo error, never above 5 %.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tickgauge import _core

KEYS, BOOTS, CORES = 1000, 10, 8
SMOOTH, COARSE = 20_000.0, 1.5  # ticks of scatter: next to no ties, and little else
REGRESSED = b"regressed"
POOLED = 200  # series for the wrong way beside it


def packed(unit_values: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Keys x boots as the core takes them, one reading a boot."""
    keys, boots = unit_values.shape
    n = keys * boots
    one = np.ones(keys, "u8")
    start = np.arange(n + 1, dtype="u8")
    return (
        unit_values.reshape(-1).astype("i8"),
        None,
        start,
        np.arange(0, n + 1, boots, dtype="u8"),
        16 * one,
        one,
        one,
    )


def vectors(values: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Groups x boots x cores as the core takes them."""
    groups, boots, cores = values.shape
    one = np.ones(groups, "u8")
    return values.reshape(-1).astype("i8"), boots * one, cores * one, 16 * one, one


def boots_of(
    rng: np.random.Generator, shape: tuple[int, int], icc: float, sd: float
) -> np.ndarray[Any, Any]:
    """Series x boots x cores of ticks: variance `sd`^2, of which `icc` lies between boots."""
    between = rng.standard_normal((*shape, 1)) * sd * np.sqrt(icc)
    within = rng.standard_normal((*shape, CORES)) * sd * np.sqrt(1 - icc)
    return np.floor(1000 + between + within + rng.random((*shape, 1)))


def lower_median(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The unit of the statistics: the lower median of a boot's cores."""
    return np.sort(values, axis=-1)[..., (values.shape[-1] - 1) // 2]


def best(function: Any, repeats: int) -> float:
    """CPU seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def _speed(rng: np.random.Generator, repeats: int) -> list[dict[str, Any]]:
    import scipy.stats

    old, new = (rng.integers(1000, 1060, (KEYS, BOOTS)) for _ in range(2))
    groups = [rng.integers(1000, 1060, (KEYS // CORES, BOOTS, CORES)) for _ in range(2)]
    x, y = packed(old), packed(new)

    def everything() -> None:
        _core.compare(x, y)
        _core.compare_vectors(vectors(groups[0]), vectors(groups[1]))

    seconds = best(everything, repeats)

    def statistic(a: Any, b: Any) -> Any:
        return scipy.stats.rankdata(np.concatenate([a, b]))[: len(a)].sum()

    n = 3
    peer = best(
        lambda: [
            scipy.stats.permutation_test(
                (old[k], new[k]), statistic, n_resamples=9999, vectorized=False, rng=1
            )
            for k in range(n)
        ],
        1,
    )
    per_key = peer / n * KEYS
    return [
        {
            "name": f"compare {KEYS} keys, {BOOTS} v {BOOTS} boots, {CORES} cores, one core",
            "value": seconds,
            "unit": "s of CPU",
            "peer": f"scipy.stats.permutation_test, 9999 resamples: {per_key:.0f} s "
            f"(U alone, {n} keys measured)",
            "ratio": per_key / seconds,
            "goal": "< 1 s",
        }
    ]


def _alarms(rng: np.random.Generator, series: int) -> list[dict[str, Any]]:
    """How often the test calls 5 % on sides that are equal."""
    rows = []
    for boots, attainable in ((4, 0.0286), (5, 0.0317), (6, 0.0411)):
        for icc in (0.0, 0.5):
            sides = [boots_of(rng, (series, boots), icc, SMOOTH) for _ in range(2)]
            table = _core.compare(*(packed(lower_median(side)) for side in sides), margin=0.0)
            alarm = float(np.mean(table.column("p") <= 0.05))
            error = 3 * np.sqrt(attainable * (1 - attainable) / series)
            pooled = _core.compare(
                *(packed(side[:POOLED].reshape(POOLED, -1)) for side in sides), margin=0.0
            ).column("p")
            rows.append(
                {
                    "name": f"false alarms at 5 %, {boots} v {boots} boots, ICC {icc:g}",
                    "value": 100 * alarm,
                    "unit": "%",
                    "peer": f"cores pooled as if boots: {100 * np.mean(pooled <= 0.05):.1f} %",
                    "ratio": alarm / attainable,
                    "goal": f"{100 * attainable:.2f} +- {100 * error:.2f} %, never above 5 %",
                    "held": bool(abs(alarm - attainable) <= error and alarm <= 0.05),
                }
            )
    for icc in (0.0, 0.5):  # coarse ticks: ties make other levels attainable, none above 5 %
        sides = [boots_of(rng, (series, 5), icc, COARSE) for _ in range(2)]
        table = _core.compare(*(packed(lower_median(side)) for side in sides), margin=0.0)
        alarm = float(np.mean(table.column("p") <= 0.05))
        said = float(np.mean([w == REGRESSED for w in words(table)]))
        rows.append(
            {
                "name": f"false alarms at 5 %, 5 v 5 boots within {COARSE:g} ticks, ICC {icc:g}",
                "value": 100 * alarm,
                "unit": "%",
                "peer": f"called regressed: {100 * said:.2f} %",
                "ratio": alarm / 0.05,
                "goal": "never above 5 %",
                "held": alarm <= 0.05,
            }
        )
    return rows


def words(table: Any) -> list[bytes]:
    """The verdicts of a table."""
    names = table.words("verdict")
    return [names[i] for i in table.column("verdict")]


def measure(folder: Path, quick: bool = False) -> list[dict[str, Any]]:
    """All rows; `quick` for a smoke test."""
    del folder  # nothing is written
    rng = np.random.default_rng(2026)
    rows = _speed(rng, 1 if quick else 5) + _alarms(rng, 2000 if quick else 20_000)
    for row in rows:
        row["value"], row["ratio"] = round(row["value"], 3), round(row["ratio"], 2)
        if not row.get("held", True):
            row["goal"] += " (MISSED)"
    return rows


if __name__ == "__main__":
    for row in measure(Path(), "--quick" in sys.argv):
        print(json.dumps(row))
