"""TFTF consoles through `tickgauge.read`: every record of real consoles, and nothing else."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge import _core

DATA = Path(__file__).parent.parent / "data" / "tfa" / "console"
CASES = os.environ.get("TICKGAUGE_CASES")
needs_cases = pytest.mark.skipif(not CASES, reason="TICKGAUGE_CASES names no folder")
METRICS = ("powerdown", "wakeup", "cache_flush")

Record = tuple[str, int, int, str, int, int, tuple[int, ...]]


def _stored(log: str) -> Path:
    return DATA / (log.replace("/", "-") + ".gz")


def _listed(file: Path, log: str) -> list[Record]:
    """The records that an independent script counted: boot, line, test, row, labels, values."""
    found = []
    with file.open() as lines:
        for row in csv.DictReader(lines):
            if row["log"] == log:
                values = tuple(int(row[v]) for v in ("v1_ns", "v2_ns", "v3_ns") if row[v])
                found.append(
                    (int(row["boot"]), int(row["line"]), row["test"], int(row["row"]),
                     int(row["cluster"]), int(row["core"]), values)
                )  # fmt: skip
    return found


def _read(path: Path) -> list[Record]:
    """The same of what `tickgauge.read` gives, in the order of the source."""
    data = tg.read(path)
    readings = data.readings
    pick = readings["format"] == "tftf"
    boots = data.boots["boot"]
    found: dict[tuple[int, int], dict[str, int]] = {}
    about: dict[tuple[int, int], tuple[int, str, int, int]] = {}
    rows: dict[int, int] = {}
    for at in np.flatnonzero(pick):
        place = int(readings["line"][at]), int(readings["offset"][at])
        boot = int(readings["boot"][at])
        if place not in found:
            rows[boot] = rows.get(boot, 0) + 1
            about[place] = (
                int(boots[boot]) + 1,
                str(readings["test"][at]),
                int(readings["cluster"][at]),
                int(readings["core"][at]),
            )
            found[place] = {"row": rows[boot]}
        found[place][str(readings["metric"][at])] = round(float(readings["ns"][at]))
    out = []
    for place, values in found.items():
        boot, test, cluster, core = about[place]
        names = ("latency",) if "latency" in values else METRICS
        out.append(
            (boot, place[0], f"test_rt_instr_{test}", values["row"], cluster, core,
             tuple(values[n] for n in names))
        )  # fmt: skip
    return out


SHIPPED = [
    "multi/reset-3boots.log",
    "multi/append-2versions.log",
    "stamped/ts-HMS.log",
    "stamped/ts-ss.log",
    "debug-head/boot-01-hang.log",
]


@pytest.mark.parametrize("log", SHIPPED)
def test_every_record_of_shipped_consoles(log: str) -> None:
    assert _read(_stored(log)) == _listed(DATA / "records.csv", log)


@needs_cases
def test_every_record_of_all_consoles() -> None:
    folder = Path(str(CASES)) / "tfa" / "real"
    logs = sorted(p.relative_to(folder).as_posix() for p in folder.glob("*/*.log"))
    total = 0
    for log in logs:
        want = _listed(folder / "records.csv", log)
        assert _read(folder / log) == want, log
        total += len(want)
    assert total == 989


def test_boots_apart() -> None:
    reset = tg.read(_stored("multi/reset-3boots.log"))
    assert [int(n) for n in reset.boots["first_line"]] == [1, 83, 165]
    assert [str(r) for r in reset.boots["reason"]] == ["first banner", "PMF tid 0", "PMF tid 0"]
    assert len(reset.tests) == 12
    two = tg.read(_stored("multi/append-2versions.log"))
    old, new = "v2.12.0-dirty", "v2.15.0-619-g6a164dda7-dirty"
    assert [str(v) for v in two.boots["version"]] == [old, new, old]
    assert {str(p) for p in two.boots["platform"]} == {"qemu_virt"}


def test_one_session_in_four_forms() -> None:
    raw = (DATA / "example_console.log").read_bytes()
    minicom = b"".join(
        b"[2026-05-18 09:31:02.%03d] " % (k % 1000) + line
        for k, line in enumerate(raw.splitlines(keepends=True))
    )
    sources = {
        "raw console": raw,
        "LAVA text": (DATA / "example_lava.log").read_bytes(),
        "LAVA YAML": (DATA / "example_lava_raw.yaml.gz").read_bytes(),
        "minicom": minicom,
    }
    found = {}
    for name, source in sources.items():
        data = tg.read(source)
        columns = ("format", "test", "metric", "operation", "cluster", "core", "cpu", "value",
                   "unit", "boot", "block")  # fmt: skip
        found[name] = [
            tuple(str(data.readings[c][at]) for c in columns) for at in range(len(data.readings))
        ]
        assert len(data.problems) == 0, name
        assert [str(v) for v in data.tests["verdict"]] == ["Passed"] * 6
    assert len(found["raw console"]) == 101
    for name, rows in found.items():
        assert rows == found["raw console"], name


def test_values_are_exact_ticks_of_the_platform() -> None:
    data = tg.read(DATA / "example_console.log")
    cell = data.readings.select(test="susp_deep_parallel", metric="powerdown", cluster=1, core=3)
    assert cell.ticks.tolist() == [49339] and cell.ns.tolist() == [986780.0]
    (clock,) = {int(c) for c in data.keys["clock_hz"]}
    assert clock == 50_000_000
    plain = tg.read(b"<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t41/>\n")
    assert str(plain.keys["unit"][0]) == "ns"
    (note,) = plain.notes
    assert "no clock is known" in note and "--platform NAME or --clock HZ" in note
    known = tg.read(b"<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t83/>\n", clock="24MHz")
    assert known.readings.ticks.tolist() == [2]


def test_platform_file_of_a_user(tmp_path: Path) -> None:
    title = b"CPU off on all non-lead cores in sequence and suspend lead to deepest power level"
    log = (
        b"> Executing '"
        + title
        + b"'\n"
        + b"".join(
            b"<RT_INSTR:test_rt_instr_cpu_off_serial\t%d\t0\t%d\t20\t20/>\n"
            % (k % 2, 100 * (k + 1))
            for k in range(4)
        )
    )
    unknown = tg.read(log)
    assert [str(r) for r in unknown.problems["reason"]] == ["cpu-unknown"]
    assert sorted(set(unknown.readings["cpu"].tolist())) == [0, 1, 2, 3]
    file = tmp_path / "board.toml"
    file.write_text(
        '[mine]\nnames = ["mine"]\nclock_hz = 50000000\nclusters = [{cores = 2}, {cores = 2}]\n'
        '[[mine.labels]]\nprinted = ["0,0", "1,0", "0,0", "1,0"]\n'
        'cpus = ["1,1", "1,0", "0,1", "0,0"]\n'
    )
    data = tg.read(log, platform=str(file))
    first = data.readings.select(metric="powerdown")
    places = list(zip(first["cluster"].tolist(), first["core"].tolist(), strict=True))
    assert places == [(1, 1), (1, 0), (0, 1), (0, 0)]
    assert first.ticks.tolist() == [5, 10, 15, 20]
    with pytest.raises(tg.InputError, match="no platform 'nowhere'"):
        tg.read(log, platform="nowhere")


def test_smc_series_with_their_printed_means() -> None:
    data = tg.read(_stored("perf-head/boot-01.log"))
    assert [int(n) for n in data.series["n"]] == [1000, 1000]
    assert [int(n) for n in data.series["printed_cycles"]] == [2311, 7047]
    assert data.series["agrees"].tolist() == [True, True]
    samples = data.readings.select(format="smc", test="PSCI_VERSION latency")
    assert len(samples) == 1000
    assert samples.ticks.sum() // 1000 == 2311  # as printed: "Average number of cycles: 2311"
    assert samples.ns.min() == 4512 and samples.ns.max() == 32038352
    assert str(data.keys["origin"][0]) in ("log", "platform")


def test_stages_of_each_boot() -> None:
    data = tg.read(_stored("multi/reset-3boots.log"))
    whole = [(int(b), str(s)) for b, s, state in zip(
        data.stages["boot"], data.stages["stage"], data.stages["state"], strict=True
    ) if state == "complete"]  # fmt: skip
    assert [s for b, s in whole if b == 0] == [
        "BL1", "BL1 authentication", "BL2", "BL2 authentication", "BL31",
    ]  # fmt: skip
    assert [s for b, s in whole if b == 2] == ["BL1", "BL1 authentication"]


def test_skips_and_crashes() -> None:
    skipped = tg.read(_stored("skipped-head/boot-01.log"))
    assert [str(v) for v in skipped.tests["verdict"]] == ["Skipped"] * 6
    assert len(skipped.readings) == 0
    crash = tg.read(_stored("crash-2.12stock/boot-01.log"))
    assert crash.tests["verdict"].tolist() == [None]
    assert re.match("plat/qemu", str(crash.tests["reason"][0]))


GOOD = ("b", ("b",), 50_000_000, ((0, 0),), ((0, 0),), ((((0, 0),), ((0, 0),)),))


@pytest.mark.parametrize(
    "bad",
    [
        5,
        [5],
        [("b",)],
        [(*GOOD[:1], (5,), *GOOD[2:])],
        [(*GOOD[:2], -1, *GOOD[3:])],
        [(*GOOD[:3], ((0,),), *GOOD[4:])],
        [(*GOOD[:3], [(0, 0)], *GOOD[4:])],
        [(*GOOD[:4], ((0, "x"),), GOOD[5])],
        [(*GOOD[:5], (5,))],
        [(*GOOD[:5], ((((0, 0),), ()),))],
        [GOOD, (*GOOD[:5], ((((0, 0),), ((0,),)),))],
    ],
)
def test_platforms_of_another_form_are_refused(bad: object) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        _core.reduce([], topology=bad)  # type: ignore[arg-type]


def test_platforms_of_the_right_form() -> None:
    assert "boots" in _core.reduce([], topology=[GOOD, GOOD])
    assert "boots" in _core.reduce([], topology=None)


def test_every_reading_has_the_key_of_its_line_however_many_tests_and_cpus_take_turns():
    """More tests and cpus than keys are remembered, in an order that never repeats soon."""
    step, lines, expected = 7919, [], []
    for k in range(6000):
        name, cpu = f"test_rt_instr_t{k * step % 601}_parallel", k * step % 8
        numbers = (cpu // 4, cpu % 4, 3 * k, 3 * k + 1, 3 * k + 2)
        lines.append(f"<RT_INSTR:{name}\t" + "\t".join(map(str, numbers)) + "/>")
        for i, metric in enumerate(METRICS):
            test = name.removeprefix("test_rt_instr_")
            expected.append((test, metric, cpu // 4, cpu % 4, 3 * k + i))
    part = tg.read(("\n".join(lines) + "\n").encode(), platform="juno").parts[0]
    keys, readings = part.tables["keys"], part.tables["readings"]
    of = [keys[name] for name in ("test", "metric", "cluster", "core")]
    found = [
        (*(column[k] for column in of), value)
        for k, value in zip(readings["key"], readings["value"], strict=True)
    ]
    assert found == expected
    assert len(set(zip(*of, strict=True))) == len(keys) == len({row[:4] for row in expected})


def test_a_record_torn_by_the_next_one_is_told_at_every_cut(tmp_path: Path) -> None:
    first = "<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t44832\t154608\t16352/>"
    second = "<RT_INSTR:test_rt_instr_cpu_susp_deep\t0\t1\t43120\t162960\t13536/>"
    log = tmp_path / "torn.log"
    log.write_text("".join(f"{first[:cut]}{second}\r\n" for cut in range(len(first))))
    data = tg.read(log)
    assert set(data.readings["test"].tolist()) == {"cpu_susp_deep"}
    assert data.readings["value"].tolist() == [43120, 162960, 13536] * len(first)
    told = {row["line"] for row in data.problems}
    assert told == set(range(1 + len("<RT_INSTR:"), 1 + len(first)))


def test_a_line_of_many_tags_costs_one_look_and_its_whole_record_counts(tmp_path: Path) -> None:
    log = tmp_path / "tags.log"  # 20000 looks at so long a line took 10 s
    whole = "<RT_INSTR:test_rt_instr_cpu_susp_deep\t0\t1\t43120\t162960\t13536/>\n"
    log.write_text("<RT_INSTR:" * 20000 + whole)
    data = tg.read(log)
    assert data.readings["value"].tolist() == [43120, 162960, 13536]
    assert set(data.problems["line"].tolist()) == {1}
