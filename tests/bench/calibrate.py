"""How often the judgement errs: false alarms, coverage, power; the tables of docs/judgement.md.

    python tests/bench/calibrate.py [--runs N] [SNAPSHOT ...]

Boots of one firmware are split at random into an old and a new side: nothing changed, so every
red gate is a false alarm. Then one key of the new side is made slower by what a pass guards
against. The boots come from the given snapshots (by default those of the tests, 15 boots of an
emulated board a firmware) and from simulations: a log-normal core, heavy tails (t with 3 degrees),
boots that share a factor, two modes, keys of unlike scatter; ticks of 16 ns.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from tickgauge import _core
from tickgauge.comparison.inputs import side_of
from tickgauge.comparison.pack import pack

DATA = Path(__file__).resolve().parents[1] / "data" / "stats"
NOISY = 12  # keys of 60 that scatter more than the others
FEW = 10  # runs with a guard, below which no share of them is told
SPLITS = ((3, 3), (5, 2), (5, 5), (10, 2), (7, 7), (10, 5), (19, 1))


def real_boots(path: str) -> np.ndarray:
    """Boots x keys of a snapshot, in steps of 1 ns; keys that some boot lacks are left out."""
    packed = pack(side_of(path), "boot")
    n = len(packed.shown)
    scale = [float(k.scale[0]) for k in packed.shown]
    one = np.ones(n, "u8")
    samples = packed.samples(range(n), one, one, one)
    unit = _core.collapse(samples)
    start = samples[3].astype("i8")
    whole = [k for k in range(n) if start[k + 1] - start[k] == packed.units]
    return np.array([np.rint(unit[start[k] : start[k + 1]] * scale[k]) for k in whole], "i8").T


def simulated(rng: np.random.Generator, boots: int, kind: str, keys: int = 60) -> np.ndarray:
    """Boots x keys of one firmware."""
    base = np.exp(rng.uniform(np.log(5e3), np.log(5e5), keys))
    if kind == "heavy tails":
        noise = 0.3 * rng.standard_t(3, (boots, keys))
    elif kind == "shared factor":
        noise = 0.1 * rng.standard_normal((boots, 1)) + 0.1 * rng.standard_normal((boots, keys))
    elif kind == "two modes":
        noise = 0.02 * rng.standard_normal((boots, keys))
        noise += 0.4 * (rng.random((boots, keys)) < 0.2)
    elif kind == "cluster factor":
        noise = np.repeat(0.1 * rng.standard_t(3, (boots, 6)), keys // 6, axis=1)
        noise += 0.03 * rng.standard_normal((boots, keys))
    elif kind == "unlike scatter":
        noise = rng.standard_normal((boots, keys)) * np.where(np.arange(keys) < NOISY, 0.2, 0.01)
    else:
        noise = 0.05 * rng.standard_normal((boots, keys))
    value = base * np.exp(np.minimum(noise, 20))
    return np.maximum(16 * np.floor(value / 16), 16).astype("i8")


def packed(boots: np.ndarray, step: int = 16):
    """The arrays of the core for boots x keys, in steps of `step`."""
    n, keys = boots.shape
    one = np.ones(keys, "u8")
    return (
        np.ascontiguousarray(boots.T).reshape(-1), None, np.arange(n * keys + 1, dtype="u8"),
        np.arange(keys + 1, dtype="u8") * n, one, one, one * step,
        np.tile(np.arange(n, dtype="u4"), keys),
    )  # fmt: skip


def red(table) -> np.ndarray:
    """Which rows of a gate are regressed."""
    return table.column("found") > 0


def guard_of(table, gated: int, modes: int) -> tuple[float, np.ndarray]:
    """The change of the guard line, and the keys guarded against it; `modes` keys lie in two."""
    keys = gated - modes
    guard = np.where(table.valid("guard"), table.column("guard"), np.inf)
    for percent in (5, 10, 20, 50, 100, 200, 500, 1000):
        if 2 * keys >= gated and 4 * (guard <= percent).sum() >= 3 * keys:
            return percent, np.flatnonzero(guard <= percent)
    return np.inf, np.zeros(0, int)


def gates(draw, old: int, new: int, runs: int, rng: np.random.Generator) -> dict[str, float]:
    """Shares of `runs` splits: red without a change, red after a step of the guarded size."""
    alarms = found = tried = guarded = 0
    sizes = []
    for _ in range(runs):
        boots = draw(old + new)
        x, y = packed(boots[:old]), boots[old:]
        table, whole = _core.gate(x, packed(y))
        alarms += red(table).any()
        modes = int((_core.compare(x, packed(y)).column("flags") & 512 > 0).sum())
        percent, keys = guard_of(table, whole["gated"], modes)
        guarded += len(keys) > 0
        sizes.append(percent)
        if not len(keys):
            continue
        key = int(rng.choice(keys))
        slower = y.copy()
        slower[:, key] = np.rint(slower[:, key] * (1 + percent / 100))
        tried += 1
        found += bool(red(_core.gate(x, packed(slower))[0])[key])
    return {
        "red": alarms / runs,
        "guard": float(np.median(sizes)),
        "guarded": guarded / runs,
        "found": found / tried if tried >= FEW else float("nan"),
    }


def gate_table(sources, runs: int, rng: np.random.Generator) -> None:
    print("| boots | split | red, nothing changed | guard (median) | step of that size red |")
    print("| --- | --- | --- | --- | --- |")
    for name, draw, most in sources:
        for old, new in SPLITS:
            if old + new > most:
                continue
            got = gates(draw, old, new, runs, rng)
            guard = "none" if np.isinf(got["guard"]) else f"+{got['guard']:.0f} %"
            found = "-" if np.isnan(got["found"]) else f"{100 * got['found']:.0f} %"
            print(f"| {name} | {old} v {new} | {100 * got['red']:.1f} % | {guard} | {found} |")


def coverage_table(runs: int, rng: np.random.Generator) -> None:
    """Intervals of the ratio of medians: how often they hold the truth, readings in ticks."""
    print("| scatter | tick | boots a side | interval holds the truth | visible change seen |")
    print("| --- | --- | --- | --- | --- |")
    for kind in ("normal", "t, 3 degrees", "exponential"):
        for tick in (0.001, 1.0):
            for n in (5, 8, 15):
                inside = seen = told = 0
                for _ in range(runs):
                    x, y, z = (_scatter(rng, kind, n, tick) for _ in range(3))
                    row = _one(x, y)
                    inside += row["lo"] <= 0 <= row["hi"]
                    if not np.isnan(row["visible"]):
                        told += 1
                        again = _one(x, np.rint(z * (1 + row["visible"] / 100)).astype("i8"))
                        seen += again["lo"] > 0
                share = "-" if not told else f"{100 * seen / told:.0f} %"
                print(f"| {kind} | {tick:g} sd | {n} | {100 * inside / runs:.1f} % | {share} |")


def _scatter(rng, kind: str, n: int, tick: float) -> np.ndarray:
    noise = {
        "normal": rng.standard_normal,
        "t, 3 degrees": lambda size: rng.standard_t(3, size),
        "exponential": lambda size: rng.standard_exponential(size),
    }[kind](n)
    sd = 1000 if tick < 1 else 1  # the reading is an integer: its step is a tick
    value = (40 + noise) * sd + rng.random(n)
    return np.maximum(np.floor(value), 1).astype("i8")


def _one(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    table = _core.compare(packed(x[:, None], 1), packed(y[:, None], 1))

    def cell(name: str) -> float:
        return float(table.column(name)[0]) if table.valid(name)[0] else float("nan")

    return {"lo": cell("lo"), "hi": cell("hi"), "visible": cell("visible")}


def noisiest(boots: np.ndarray) -> np.ndarray:
    """The fifth of the keys that scatters most, by all boots there are."""
    scatter = np.log(boots).std(0)
    return np.argsort(scatter)[-len(scatter) // 5 :]


def single_table(sources, runs: int, rng: np.random.Generator) -> None:
    """One new boot: share of keys called regressed though nothing changed."""
    print("| boots | old boots | keys called regressed | of the noisiest fifth | runs with one |")
    print("| --- | --- | --- | --- | --- |")
    for name, draw, most in sources:
        for old in (3, 5, 10, 14):
            if old + 1 > most:
                continue
            noisy = noisiest(draw(most))
            wrong = np.zeros((runs, len(draw(1)[0])), bool)
            for run in range(runs):
                boots = draw(old + 1)
                table = _core.compare(packed(boots[:old]), packed(boots[old:]))
                wrong[run] = [word == "regressed" for word in words(table)]
            print(
                f"| {name} | {old} | {100 * wrong.mean():.2f} % | "
                f"{100 * wrong[:, noisy].mean():.2f} % | {100 * wrong.any(1).mean():.0f} % |"
            )


def words(table) -> list[str]:
    """The verdicts of a comparison."""
    return [table.words("verdict")[i].decode() for i in table.column("verdict")]


def parts_table(runs: int, rng: np.random.Generator) -> None:
    """The rules that were reasoned before they were tried."""
    rows = {
        "gate, values about 0 (steps), 5 v 5: runs red": _additive,
        "gate, 5 old, 1 new, 1 that confirms: runs red": _confirm,
        "gate, 30 keys with 40 readings a boot and their p90, 5 v 5: runs red": _quantiles,
        "8 boots of one firmware, 1 v 1: keys regressed": lambda r: _noise(r, 1),
        "8 boots of one firmware, 2 v 2: keys regressed": lambda r: _noise(r, 2),
        "boots needed for +20 %, from 6 v 6: seen then": _needed,
    }
    print("| rule | share |")
    print("| --- | --- |")
    for name, one in rows.items():
        hits = [hit for _ in range(runs) for hit in one(rng)]
        print(f"| {name} | {100 * float(np.mean(hits)):.1f} % of {len(hits)} |")


def _additive(rng) -> list[bool]:
    boots = np.rint(20 * rng.standard_t(3, (10, 30))).astype("i8")
    return [bool(red(_core.gate(packed(boots[:5], 1), packed(boots[5:], 1))[0]).any())]


def _confirm(rng) -> list[bool]:
    boots = simulated(rng, 7, "heavy tails", 30)
    table, _ = _core.gate(packed(boots[:5]), packed(boots[5:]), confirm_from=1)
    return [bool(red(table).any())]


def _readings(boots: int, keys: int, rng):
    """Keys x boots of 40 readings each; boots scatter, and readings inside them."""
    level = 1e5 * np.exp(0.05 * rng.standard_normal((keys, boots, 1)))
    value = level * np.exp(0.1 * rng.standard_exponential((keys, boots, 40)))
    one = np.ones(keys, "u8")
    return (
        np.rint(value).astype("i8").reshape(-1), None,
        np.arange(keys * boots + 1, dtype="u8") * 40, np.arange(keys + 1, dtype="u8") * boots,
        one, one, one * 16, np.tile(np.arange(boots, dtype="u4"), keys),
    )  # fmt: skip


def _quantiles(rng) -> list[bool]:
    return [bool(red(_core.gate(_readings(5, 30, rng), _readings(5, 30, rng))[0]).any())]


def _noise(rng, side: int) -> list[bool]:
    boots = simulated(rng, 8 + 2 * side, "shared factor", 30)
    table = _core.compare(
        packed(boots[8 : 8 + side]), packed(boots[8 + side :]), noise=packed(boots[:8])
    )
    return [word == "regressed" for word in words(table)]


def _needed(rng) -> list[bool]:
    scatter = rng.choice([0.02, 0.05, 0.08])

    def draw(n: int, factor: float = 1.0) -> np.ndarray:
        value = 1e6 * factor * np.exp(scatter * rng.standard_normal((n, 1)))
        return np.rint(value).astype("i8")

    table = _core.compare(packed(draw(6), 1), packed(draw(6), 1), margin=0.1)
    if not table.valid("needed")[0] or table.column("needed")[0] <= 6:
        return []
    n = int(table.column("needed")[0])
    more = _core.compare(packed(draw(n), 1), packed(draw(n, 1.2), 1), margin=0.1)
    return [words(more)[0] == "regressed"]


def trend_kinds(boots: np.ndarray) -> np.ndarray:
    """The kinds of the steps over releases that are boots, their keys of three metrics."""
    n, keys = boots.shape
    one = np.ones(keys, "u8")
    _, steps = _core.trend(
        np.ascontiguousarray(boots.T).reshape(-1), np.tile(np.arange(n, dtype="u4"), keys),
        np.arange(keys + 1, dtype="u8") * n, one, one, one * 16, margin=0.1,
        group=(np.arange(keys) * 3 // keys).astype("u4"),
    )  # fmt: skip
    return np.asarray(steps.column("kind"))


def trend_table(sources, runs: int) -> None:
    """Releases that are boots of one firmware: share of runs with a step."""
    print("| boots | releases | confirmed step | any step | up and back |")
    print("| --- | --- | --- | --- | --- |")
    for name, draw, most in sources:
        for releases in (6, 7, 12, 15):
            if releases > most:
                continue
            found = [trend_kinds(draw(releases)) for _ in range(runs)]
            shares = [
                100 * float(np.mean([np.isin(kinds, wanted).any() for kinds in found]))
                for wanted in ((0,), (0, 1, 3), (4,))
            ]
            print(f"| {name} | {releases} | " + " | ".join(f"{s:.1f} %" for s in shares) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--only", help="gate, coverage, single, parts or trend")
    parser.add_argument("snapshots", nargs="*")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    paths = args.snapshots or [str(DATA / f"tfa-2.{n}.json.gz") for n in (12, 14)]
    sources = []
    for path in paths:
        boots = real_boots(path)

        def split(n: int, boots: np.ndarray = boots) -> np.ndarray:
            return boots[rng.permutation(len(boots))[:n]]

        sources.append((Path(path).name.split(".json")[0], split, len(boots)))
    for kind in ("log-normal", "heavy tails", "shared factor", "two modes", "unlike scatter"):
        sources.append((kind, lambda n, kind=kind: simulated(rng, n, kind), 99))
    cluster = ("cluster factor", lambda n: simulated(rng, n, "cluster factor"), 99)
    tables = {
        "gate": lambda: gate_table(sources, args.runs, rng),
        "coverage": lambda: coverage_table(5 * args.runs, rng),
        "single": lambda: single_table(sources, args.runs, rng),
        "parts": lambda: parts_table(args.runs, rng),
        "trend": lambda: trend_table([*sources, cluster], args.runs),
    }
    for name, make in tables.items():
        if args.only in (None, name):
            begin = time.perf_counter()
            print(f"\n## {name}\n")
            make()
            print(f"\n{args.runs} runs a row, {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
