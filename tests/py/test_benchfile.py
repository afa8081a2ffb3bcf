"""Stamp files of OP-TEE's benchmark framework: shapes, calls, what rings lose."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.reading.optee_ts import parse


def yaml(stamps, indent=""):
    """The file that the framework writes for (core, counter, component) or longer tuples."""
    out = ["timestamps:"]
    for core, counter, component, *address in stamps:
        out += [
            f"{indent}- core: {core}",
            f"{indent}  counter: {counter}",
            f"{indent}  address: 0x{address[0] if address else counter:x}",
            f"{indent}  component: {component}",
        ]
    return "\n".join([*out, "...", ""]).encode()


def read(tmp_path, data, **options):
    path = tmp_path / "app.ts"
    path.write_bytes(data)
    return tg.read(path, **options)


INVOKE = [
    (0, 640 * (i + 1), c)
    for i, c in enumerate(["libteec", "kmodule", "core", "core", "kmodule", "libteec"])
]


def test_the_documented_example(tmp_path):
    # The first two stamps of the framework's own commit message, and a call around them.
    start = 5818871168
    stamps = [
        (0, start, "libteec", 0x3E64),
        (0, 5818945152, "kmodule", 0xFFFF0000087A21D0),
        (0, 5818945216, "core"),
        (0, 5818945344, "core"),
        (0, 5818945600, "kmodule"),
        (0, 5818946112, "libteec"),
    ]
    for indent in ("", "    "):
        data = read(tmp_path, yaml(stamps, indent))
        row = data.ts_calls.row(0)
        assert row["client_to_driver"] == 73984
        assert (row["driver_to_tee"], row["tee"], row["tee_to_driver"]) == (64, 128, 256)
        assert (row["driver_to_client"], row["round_trip"], row["smc"]) == (512, 74944, 448)
        assert data.infos[0].form == "ts"
        assert data.keys["unit"].tolist() == ["cycle"] * len(data.keys)
    with pytest.raises(tg.InputError, match="clock"):
        _ = data.readings.ns  # cycles without a frequency
    data = read(tmp_path, yaml(stamps), clock="1GHz")
    assert max(data.readings.ns) == 74944.0


def test_the_lines_of_2017(tmp_path):
    lines = "".join(f"{c}\t{n}\t0x{n:x}\t{w}\n" for c, n, w in INVOKE)
    data = read(tmp_path, lines.encode())
    assert data.ts_calls["operation"].tolist() == ["invoke"]
    assert data.ts_calls["round_trip"].tolist() == [3200]


def test_rpcs_and_what_a_first_invoke_does_besides(tmp_path):
    words = "L kk kCCk k C kk kk C k kk L kk L k C C k L".replace(" ", "")
    names = {"L": "libteec", "k": "kmodule", "C": "core"}
    stamps = [(1, 64 * (i + 1), names[w]) for i, w in enumerate(words)]
    data = read(tmp_path, yaml(stamps))
    calls = data.ts_calls
    assert calls["operation"].tolist() == ["invoke", "other smc", "invoke"]
    assert calls["rpcs"].tolist() == [2, 0, 0]
    first = calls.row(0)
    # libteec at 1; kk kCCk; the SMC's kmodule at 8; core 9, RPCs 10-11 and 12-13, core 14, 15.
    assert first["client_to_driver"] == 64 * 7
    assert (first["driver_to_tee"], first["tee"], first["rpc"]) == (64, 320, 128)
    assert (first["tee_to_driver"], first["driver_to_client"]) == (64, 192)
    assert calls.row(2)["first"] is False or not calls.row(2)["first"]
    assert len(data.problems) == 0


def test_cores_are_taken_apart(tmp_path):
    second = [(1, 9_000_000 + n, w) for _, n, w in INVOKE]
    mixed = [stamp for pair in zip(INVOKE, second, strict=True) for stamp in pair]
    calls = read(tmp_path, yaml(mixed)).ts_calls
    assert calls["core"].tolist() == [0, 1]
    assert calls["round_trip"].tolist() == [3200, 3200]


ENTER, RETURN = 0x3E64, 0x3F10


def wandering(seed, share, calls=400):
    """One task that moves between two cores of unrelated counters; the true round trips."""
    chance = random.Random(seed)
    clock = [64_000, 9_000_000_000]
    core, stamps, truth = 0, [], []
    for _ in range(calls):
        came_from, start, home = len(stamps), None, core
        whole = True
        for name, address, pause in (
            ("libteec", ENTER, 10), ("kmodule", 0xA21D0, 10), ("core", 0x100, 10),
            ("core", 0x180, 40), ("kmodule", 0xA21F8, 10), ("libteec", RETURN, 10),
        ):  # fmt: skip
            if chance.random() < share:
                core = 1 - core
            whole = whole and core == home if start is not None else True
            home = core if start is None else home
            step = 64 * (pause + chance.randrange(5))
            clock = [c + step for c in clock]  # both run, from where they began
            stamps.append((core, clock[core], name, address))
            start = clock[core] if start is None else start
        if whole:
            truth.append((home, stamps[came_from][1], clock[core] - start))
        clock = [c + 64 * chance.randrange(2000, 9000) for c in clock]
    rings = sorted(stamps, key=lambda stamp: stamp[0])
    return yaml(rings), truth


@pytest.mark.parametrize("share", [0.0, 0.003, 0.05])
@pytest.mark.parametrize("seed", range(4))
def test_a_call_that_moved_between_cores_gives_no_time(tmp_path, seed, share):
    data, truth = wandering(seed, share)
    calls = read(tmp_path, data).ts_calls
    rows = [calls.row(i) for i in range(len(calls))]
    got = {(r["core"], r["start"], r["round_trip"]) for r in rows if r["round_trip"] is not None}
    assert got <= set(truth)  # no round trip that never was
    assert len(got) >= 0.85 * len(truth)
    if share == 0:
        assert not calls["moved"].any()


def test_both_calls_of_a_task_that_went_and_came_back_moved():
    data = tg.read(Path(__file__).parents[1] / "data" / "suspend" / "01_ts_task_moved.ts")
    assert data.ts_calls["operation"].tolist() == ["invoke", "invoke"]
    assert data.ts_calls["moved"].tolist() == [True, True]
    assert len(data.readings) == 0
    assert data.problems["reason"].tolist() == ["moved", "moved"]


def test_an_overrun_ring(tmp_path):
    # 36 stamps in a ring of 32: the oldest 4 are replaced by copies of the newest 4.
    stamps = [(0, 640 * i + n, w) for i in range(0, 36, 6) for _, n, w in INVOKE]
    ring = [stamps[32 + i] if i < 4 else stamps[i] for i in range(32)] + stamps[32:]
    data = read(tmp_path, yaml(ring))
    assert data.problems["reason"].tolist() == ["overflow", "incomplete"]
    assert len(data.ts_calls) == 5  # the first lost four of its stamps, the others are whole
    assert data.ts_calls["round_trip"].tolist() == [3200] * 5


def test_stale_slots_cut_digits_and_time_that_goes_back(tmp_path):
    big = 18446744073709551552  # printed through 20 characters: the last digit is lost
    stamps = [
        *INVOKE,
        (0, 0, "'-'", 0),
        (0, 10_000_000, "libteec"),
        (0, 9_000_000, "kmodule"),
        (1, big // 10 - big // 10 % 64 - 128, "libteec"),
        (1, big // 10 - big // 10 % 64 - 64, "kmodule"),
        (1, big // 10, "kmodule"),
    ]
    data = read(tmp_path, yaml(stamps))
    assert set(data.problems["reason"].tolist()) == {
        "stale", "time-back", "digits-cut", "incomplete",
    }  # fmt: skip
    assert len(data.ts_calls) == 1


def test_nothing_was_recorded(tmp_path, capsys):
    path = tmp_path / "empty.ts"
    path.write_bytes(b"timestamps: []\n...\n")
    data = tg.read(path)
    assert len(data.readings) == 0
    assert data.infos[0].message == "no stamp was recorded"
    assert main(["calls", str(path)]) == 3
    assert "no stamp was recorded" in capsys.readouterr().err


def test_any_other_shape_is_an_error_with_its_line():
    good = yaml(INVOKE[:1])
    for broken in (
        good.replace(b"  counter", b"  count"),
        good.replace(b"component: libteec", b"component:"),
        good.replace(b"...", b"- core: x"),
    ):
        with pytest.raises(tg.InputError) as caught:
            parse(broken, "x.ts")
        assert caught.value.line in (2, 6)
        assert caught.value.path == "x.ts"


def test_calls_shows_a_stamp_file(tmp_path, capsys):
    path = tmp_path / "app.ts"
    path.write_bytes(yaml(INVOKE))
    assert main(["calls", str(path), "--clock", "640MHz", "--skip-first", "0"]) == 0
    out = capsys.readouterr().out
    assert "ts      invoke     round_trip" in out
    assert "5.00    5.00" in out and "us\n" in out  # 3200 cycles at 640 MHz
