"""OP-TEE calls and tracepoint calls, against an independent look at the same bytes."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import random
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tickgauge as tg
from tickgauge.cli import main
from tickgauge.dataset.calls import call_counts, floored_error, hop_statistics, uart_time

DATA = Path(__file__).parent.parent / "data"
CASES = os.environ.get("TICKGAUGE_CASES")
REE, TEE, LOOP = (DATA / "optee" / f"{n}.gz" for n in ("ree.log", "tee.log", "loop200.txt"))
STAMPS = [
    "client_start",
    "driver_start",
    "tee_receive",
    "ta_enter",
    "tee_finish",
    "driver_finish",
    "client_return",
]


# ---- an independent count, by windows instead of pairs ----------------------------------------


def text_of(*paths):
    """The bytes of the files, decompressed, one after the other."""
    parts = []
    for path in map(Path, paths):
        raw = path.read_bytes()
        parts.append(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    return b"\n".join(parts)


def oracle(*paths):
    """The seven stamps of every client's call that has one candidate for each of them."""
    data = text_of(*paths)
    smc = [
        (m[1], int(m[2]), int(m[3], 16))
        for m in re.finditer(
            rb"TEE(Driver: do|Driver: finish|Core: receiving|Core: finish) smc call, "
            rb"cmd=(\d+), cntvct=0x([0-9a-f]+)(?![0-9A-Za-z_.])",
            data,
        )
    ]
    certain, doubtful = set(), 0
    for m in re.finditer(
        rb"Client(OpenSession|InvokeCommand): start=0x([0-9a-f]+), enter_ta=0x([0-9a-f]+), "
        rb"return=0x([0-9a-f]+)",
        data,
    ):
        cmd = 0 if m[1] == b"OpenSession" else 1
        start, enter, end = (int(m[i], 16) for i in (2, 3, 4))

        def within(kind, low, high, cmd=cmd):
            return [t for k, c, t in smc if k == kind and c == cmd and low <= t <= high]

        do, done = within(b"Driver: do", start, enter), within(b"Driver: finish", enter, end)
        low = do[0] if len(do) == 1 else start
        high = done[0] if len(done) == 1 else end
        into, out = within(b"Core: receiving", low, enter), within(b"Core: finish", enter, high)
        if max(map(len, (do, done, into, out))) > 1:
            doubtful += 1
            continue
        one = [x[0] if x else None for x in (do, into, out, done)]
        certain.add((start, one[0], one[1], enter, one[2], one[3], end))
    return certain, doubtful


def stamps_of(calls):
    """The stamps of our calls of clients, missing as None."""
    columns = [np.ma.masked_array(calls[n]).tolist() for n in STAMPS]
    return {row for row in zip(*columns, strict=True) if row[0] is not None}


def no_interval_is_negative(calls):
    hops = [n for n in calls.columns if calls.column(n).type == "i64"]
    assert len(hops) == 6
    return all((np.ma.masked_array(calls[n]).compressed() >= 0).all() for n in hops)


# ---- the shipped boot ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def boot():
    return tg.read_together(REE, TEE)


def test_every_client_run_of_the_boot_is_found_whole(boot):
    want, doubtful = oracle(REE, TEE)
    assert len(want) == 8
    assert doubtful == 0
    assert stamps_of(boot.calls) == want
    assert int(boot.calls["complete"].sum()) == 8
    assert no_interval_is_negative(boot.calls)
    assert len(boot.boots) == 1
    assert boot.boots["clock_hz"].tolist() == [24_000_000]


def test_a_third_console_joins_the_same_boot():
    data = tg.read_together(LOOP, TEE, REE)
    want, doubtful = oracle(LOOP, TEE, REE)
    assert (len(want), doubtful) == (209, 0)
    assert stamps_of(data.calls) == want
    assert len(data.boots) == 1


def test_both_consoles_in_one_source_in_either_order(boot, tmp_path):
    for name, order in (("a", (REE, TEE)), ("b", (TEE, REE))):
        path = tmp_path / name
        path.write_bytes(text_of(*order))
        assert stamps_of(tg.read(path).calls) == stamps_of(boot.calls)


def test_two_clients_at_once_are_told_apart_or_marked():
    data = tg.read(DATA / "optee" / "two-clients.log.gz")
    want, doubtful = oracle(DATA / "optee" / "two-clients.log.gz")
    assert (len(want), doubtful) == (47, 11)
    got = stamps_of(data.calls)
    assert want <= got
    assert no_interval_is_negative(data.calls)
    overlap = [f for f in data.calls["flags"].tolist() if f and "overlap" in str(f)]
    assert len(overlap) >= doubtful


def test_each_stamp_can_be_traced_to_its_line(boot):
    lines = [text_of(REE), text_of(TEE)]
    row = boot.calls.select(operation="open", complete=True).row(0)
    for stamp, place in (("driver_start", "driver_start"), ("tee_finish", "tee_finish")):
        source, offset = row[f"{place}_source"], row[f"{place}_offset"]
        line = lines[source][offset:].split(b"\n")[0]
        assert line == lines[source].split(b"\n")[row[f"{place}_line"] - 1][-len(line) :]
        assert f"{row[stamp]:x}".encode() in line


def test_the_syscall_owns_the_second_invoke(boot):
    links = boot.syscalls["call"].tolist()
    assert len(links) == 4
    assert [boot.calls.row(i)["operation"] for i in links] == ["syscall-invoke"] * 4


# ---- lossy consoles -----------------------------------------------------------------------------


def damaged(lines, rng, lose, cut):
    """The lines with some lost, and some counters without some of their digits."""
    out = []
    for line in lines:
        if b"0x" in line and rng.random() < lose:
            continue
        counter = re.search(rb"cntvct=0x([0-9a-f]+)", line)
        if counter and rng.random() < cut:
            digits = counter[1]
            n = rng.randrange(1, len(digits))
            at = rng.randrange(0, len(digits) - n + 1)
            digits = digits[:at] + digits[at + n :]
            line = line[: counter.start(1)] + digits + line[counter.end(1) :]
        out.append(line)
    return b"\n".join(out)


@pytest.mark.parametrize(
    ("paths", "lose", "cut"),
    [
        ((REE, TEE, LOOP), 0.01, 0.0),
        ((REE, TEE, LOOP), 0.05, 0.02),
        ((REE, TEE, LOOP), 0.2, 0.1),
        ((DATA / "optee" / "two-clients.log.gz",), 0.01, 0.02),
        ((DATA / "optee" / "two-clients.log.gz",), 0.05, 0.0),
    ],
)
def test_a_lossy_console_gives_fewer_calls_but_no_wrong_ones(paths, lose, cut):
    """A call that says claimed has the stamps that it has on the whole console, or none."""
    whole = {row[0]: row for row in stamps_of(read_all([text_of(p) for p in paths]).calls)}
    rng = random.Random(f"{lose} {cut} {len(paths)}")
    claimed = 0
    for _ in range(6):
        parts = [damaged(text_of(p).split(b"\n"), rng, lose, cut) for p in paths]
        calls = read_all(parts).calls.select(state="claimed")
        for row in stamps_of(calls):
            kept = [b for a, b in zip(row, whole[row[0]], strict=True) if a is not None]
            assert [a for a in row if a is not None] == kept
            claimed += 1
    assert claimed > 20


def read_all(parts):
    """The texts as consoles of the same boots."""
    if len(parts) == 1:
        return tg.read(parts[0])
    return tg.read_together(*(io.BytesIO(part) for part in parts))


# ---- figures ------------------------------------------------------------------------------------


def test_statistics_are_those_of_the_calls():
    data = tg.read_together(REE, TEE, LOOP)
    hops = hop_statistics(data, skip_first=0)
    row = hops.select(operation="invoke", hop="round_trip", calls="client").row(0)
    calls = [c for c in stamps_of(data.calls) if c[6] - c[0] < 10**9]
    invoke = data.calls.select(operation="invoke")
    ticks = sorted(
        int(b) - int(a)
        for a, b in zip(invoke["client_start"], invoke["client_return"], strict=True)
        if a is not np.ma.masked
    )
    assert len(calls) == 209
    n = len(ticks)
    ns = [Fraction(t * 10**9, 24_000_000) for t in ticks]
    assert row["n"] == n == 204
    assert row["min"] == float(ns[0])
    assert row["median"] == float(ns[math.ceil(n / 2) - 1])
    assert row["p90"] == float(ns[math.ceil(n * 9 / 10) - 1])
    assert row["p99"] == float(ns[math.ceil(n * 99 / 100) - 1])
    assert row["max"] == float(ns[-1])
    assert row["mean"] == float(sum(ns) / n)


def test_the_first_calls_stand_apart_and_more_can_be_skipped(boot):
    one = hop_statistics(boot).select(operation="open", hop="round_trip")
    assert one.select(calls="first")["n"].tolist() == [1]
    assert one.select(calls="client")["n"].tolist() == [3]
    three = hop_statistics(boot, skip_first=3).select(operation="open", hop="round_trip")
    assert three.select(calls="client")["n"].tolist() == [1]
    none = hop_statistics(boot, skip_first=0).select(operation="open", hop="round_trip")
    assert none["n"].tolist() == [4]
    assert one.select(calls="client")["p90"].mask.tolist() == [True]  # too few for a quantile


def test_the_floored_resolution_of_2015():
    # Percent off, from the published clocks: 41 ns for 24 MHz, 18 for 54, 52 for 19.2, 83 for 12.
    table = {24e6: -1.6, 54e6: -2.8, 19.2e6: -0.16, 12e6: -0.4, 62.5e6: 0, 50e6: 0, 1e9: 0}
    for hz, percent in table.items():
        assert float(floored_error(int(hz))) * 100 == pytest.approx(percent, abs=1e-9)


def test_print_time_of_a_line(boot):
    # 57 characters at 115200 baud are 4.948 ms; these lines have 48 to 53 without their prefix.
    times = uart_time(boot, 115200)
    assert set(times) == {"driver_to_tee", "tee_to_ta", "tee_to_driver", "driver_to_client"}
    shown = b"TEEDriver: do smc call, cmd=1, cntvct=0x1aa236d1\r\n"
    assert times["driver_to_tee"] == pytest.approx((len(shown) - 0) * 10e9 / 115200, rel=0.03)
    assert times["driver_to_tee"] * 2 == pytest.approx(uart_time(boot, 57600)["driver_to_tee"])
    with pytest.raises(tg.InputError):
        uart_time(boot, 0)


# ---- the verb -----------------------------------------------------------------------------------


def run(capsys, *args):
    code = main(["calls", *map(str, args)])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_calls_prints_counts_hops_and_what_to_know(capsys):
    code, out, err = run(capsys, "--together", REE, TEE)
    assert (code, err) == (0, "")
    assert re.search(r"open +29 +4 +0 +0 +0 +25 +0", out)
    assert "24000000 Hz" in out
    assert "-1.600 % off" in out
    assert "57 characters at 115200 baud" in out
    assert "uart" in run(capsys, "--together", "--baud", "115200", REE, TEE)[1]


def test_calls_as_json_and_each(capsys):
    code, out, _ = run(capsys, "--together", "--format", "json", "--each", REE, TEE)
    document = json.loads(out)
    assert code == 0
    assert document["command"] == "calls"
    assert len(document["rows"]) == 705
    whole = [row for row in document["rows"] if row["complete"]]
    assert len(whole) == 8
    assert isinstance(whole[0]["client_start"], str)  # 64 bits do not fit a JSON number


def test_calls_of_nothing(capsys, tmp_path):
    path = tmp_path / "log"
    path.write_text("hello\n")
    assert run(capsys, path)[0] == 2
    path.write_text("[    0.000000] Booting Linux on physical CPU 0x0\n")
    assert run(capsys, path)[0] == 3
    assert run(capsys, "--skip-first", "-1", path)[0] == 2


def test_a_shift_is_reported_and_taken_back(capsys, tmp_path):
    shifted = tmp_path / "tee.log"
    text = text_of(TEE)
    moved = re.sub(
        rb"cntvct=0x([0-9a-f]+)", lambda m: b"cntvct=0x%x" % (int(m[1], 16) - 123_456_789), text
    )
    shifted.write_bytes(moved)
    data = tg.read_together(REE, shifted)
    problem = data.problems.select(reason="offset?").row(0)["detail"]
    low, high = map(int, re.search(r"(-?\d+)\.\.(-?\d+) ticks", problem).groups())
    assert low <= 123_456_789 <= high
    assert not data.calls["complete"].any()


# ---- tracepoints --------------------------------------------------------------------------------


def trace_oracle(data):
    """Begins of calls, ends of calls, returns into RPC, in the order of the text."""
    begin = re.findall(rb"optee_invoke_fn_begin: +param=(\w+) \(([0-9a-f]+)", data)
    end = re.findall(rb"optee_invoke_fn_end: +param=(\w+) ret \(([0-9a-f]+)", data)
    calls = sum(1 for _, a0 in begin if a0 != b"32000003")
    limits = sum(1 for _, r in end if r == b"1")
    rpcs = sum(1 for _, r in end if r.startswith(b"ffff") and r != b"ffff0004")
    interrupts = sum(1 for _, r in end if r == b"ffff0004")
    return calls - limits, rpcs, interrupts, limits


@pytest.mark.parametrize("name", ["tracefs", "trace-cmd", "perf-script", "threads"])
def test_traces_agree_with_an_independent_count(name):
    path = DATA / "ftrace" / f"{name}.txt.gz"
    calls = tg.read(path).trace_calls
    assert set(calls["state"].tolist()) == {"complete"}
    sums = tuple(int(calls[n].sum()) for n in ("rpcs", "interrupts", "waits"))
    assert (len(calls), *sums) == trace_oracle(text_of(path))
    parts = sum(calls[n].astype("i8") for n in ("secure", "interrupt", "rpc", "wait"))
    assert (parts == calls["total"]).all()


def test_times_of_a_trace_are_differences_of_its_stamps():
    path = DATA / "ftrace" / "tracefs.txt.gz"
    calls = tg.read(path).trace_calls
    lines = text_of(path).split(b"\n")
    for row in (calls.row(0), calls.row(100), calls.row(len(calls) - 1)):
        first, last = (
            round(float(re.search(rb"(\d+\.\d+):", lines[row[n] - 1])[1]) * 1e6)
            for n in ("first_line", "last_line")
        )
        assert row["total"] == (last - first) * 1000


def test_lost_events_leave_calls_out():
    data = tg.read(DATA / "ftrace" / "trace-pipe-lost.txt.gz")
    assert len(data.problems.select(reason="lost-events")) == 2
    states = data.trace_calls["state"].tolist()
    assert set(states) <= {"complete", "lost", "no start", "no end"}
    assert 0 < states.count("complete") < len(states)
    over = tg.read(DATA / "ftrace" / "overwritten.txt.gz").trace_calls
    assert "lost" in over["state"].tolist() or "no start" in over["state"].tolist()


def test_calls_shows_traces(capsys):
    code, out, _ = run(capsys, DATA / "ftrace" / "threads.txt.gz")
    assert code == 0
    assert re.search(r"call_with_regd_arg +416 +416", out)
    assert "return_from_rpc" in out
    assert call_counts(tg.read(DATA / "ftrace" / "threads.txt.gz"))["calls"].tolist() == [416]


# ---- the large real sets ------------------------------------------------------------------------


@pytest.mark.skipif(not CASES, reason="TICKGAUGE_CASES does not name the cases")
def test_all_real_boots():
    real = Path(CASES) / "optee" / "real"
    found = 0
    for folder in sorted(real.iterdir()):
        if not (folder / "ree.log").exists():
            continue
        pair = [folder / "ree.log", folder / "tee.log"]
        want, _ = oracle(*pair)
        data = tg.read_together(*pair)
        if not want:
            continue
        assert want <= stamps_of(data.calls), folder
        assert no_interval_is_negative(data.calls), folder
        found += 1
    assert found >= 6


@pytest.mark.skipif(not CASES, reason="TICKGAUGE_CASES does not name the cases")
def test_all_forms_of_one_trace_agree():
    real = Path(CASES) / "optee" / "real" / "trace2"
    columns = ("tid", "total", "secure", "interrupt", "rpc", "rpcs", "interrupts", "ret")
    forms = [sorted(real.glob(p)) for p in ("1[0-5]-tc-report*", "2[0-5]-perf-script*")]
    for paths in forms:
        assert len(paths) >= 4
        tables = [tg.read(path).trace_calls for path in paths]
        for table in tables[1:]:
            assert len(table) == len(tables[0])
            for name in columns:
                apart = np.abs(table[name].astype("i8") - tables[0][name].astype("i8"))
                # Stamps in whole us: each of the up to 100 parts of a call is off by up to 1 us.
                limit = 200_000 if name in columns[1:5] else 0
                assert apart.max() <= limit, (name, paths)


def test_a_missing_console_is_named(capsys):
    ree, tee = str(REE), str(TEE)
    said = "no call is complete: no line of these in the sources: tee_receive\n"
    main(["calls", ree])
    assert said in capsys.readouterr().out
    main(["calls", "--together", ree, tee])
    assert "no call is complete" not in capsys.readouterr().out
