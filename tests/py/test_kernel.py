"""The kernel's own lines: cycles of suspend and resume, callbacks, initcalls, paired tracepoints.

Generators know the truth; an independent count reads the same lines with regular expressions.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

import tickgauge as tg
from tickgauge.cli import main

DATA = Path(__file__).parents[1] / "data" / "suspend"
DOWN = ("suspend", "late suspend", "noirq suspend")
BACK = ("noirq resume", "early resume", "resume")


def rows(data):
    return [data.readings.row(i) for i in range(len(data.readings))]


def count_by_hand(text):
    """Phases and callbacks of the kernel's lines: (metric, phase, device, value)."""
    found, waiting = Counter(), []
    for line in text.splitlines():
        call = re.search(r"call (.+?)\+ returned (?:-?\d+) after (\d+) usecs", line) or re.search(
            r" (\S+): PM: \S+ returned (?:-?\d+) after (\d+) usecs", line
        )
        if call:
            waiting.append((call[1], int(call[2])))
        phase = re.search(r"PM: (.*) of devices (?:complete|aborted) after (\d+)\.(\d+) ms", line)
        if phase:
            found.update(("callback", phase[1], device, us) for device, us in waiting)
            found["phase", phase[1], None, int(phase[2] + phase[3])] += 1
            waiting = []
    return found


def counted(data):
    found = Counter()
    for row in rows(data):
        if row["metric"] in ("phase", "callback"):
            device = re.search(r'device=(?:"([^"]*)"|(\S+))', row["labels"] or "")
            name = (device[1] or device[2]) if device else None
            place = (row["metric"], row["operation"], name)
            found[(*place, int(row["value"]))] += 1
    return found


def make_log(seed):
    """A log of some cycles, and what each has: (mode, outcome, entry to exit in us)."""
    chance = random.Random(seed)
    now = chance.randrange(10**6, 10**9)
    lines, truth = [], []

    def say(text):
        nonlocal now
        now += chance.randrange(1, 50_000)
        lines.append(f"[{now // 10**6:5d}.{now % 10**6:06d}] {text}")
        return now

    for _ in range(chance.randrange(1, 6)):
        mode = chance.choice(("deep", "s2idle"))
        fails = chance.random() < 0.3
        entry = say(f"PM: suspend entry ({mode})")
        for phase in (DOWN[:1] if fails else DOWN) + BACK:
            for k in range(chance.randrange(4)):
                us = chance.randrange(100_000)
                if chance.random() < 0.5:
                    say(f"call {'Fixed bus.' * (k == 1)}dev{k}+ returned 0 after {us} usecs")
                else:
                    ret = -chance.randrange(2)
                    say(f"drv dev{k}: PM: fn+0x0/0x10 returned {ret} after {us} usecs")
                if chance.random() < 0.3:
                    say("usb 1-1: new high-speed USB device")
            word = "aborted" if fails and phase == "suspend" else "complete"
            ms = f"{chance.randrange(900)}.{chance.randrange(1000):03d}"
            say(f"PM: {phase} of devices {word} after {ms} msecs")
        end = say("PM: suspend exit")
        truth.append((mode, "failed" if fails else "complete", end - entry))
    return "\n".join(lines) + "\n", truth


@pytest.mark.parametrize("seed", range(12))
def test_generated_logs_give_their_cycles_and_every_value(seed):
    text, truth = make_log(seed)
    data = tg.read(text.encode())
    cycles = [data.cycles.row(i) for i in range(len(data.cycles))]
    assert [(c["mode"], c["outcome"], c["duration"]) for c in cycles] == truth
    assert counted(data) == count_by_hand(text)
    runs = {row["run"] for row in rows(data)}
    assert runs == set(range(len(truth)))


@pytest.mark.parametrize("seed", range(8))
def test_a_torn_log_invents_nothing(seed):
    """Damage takes values away; all that are left stand whole before their unit."""
    chance = random.Random(seed)
    text, _ = make_log(seed)
    torn = bytearray(text.encode())
    for _ in range(20):
        at = chance.randrange(len(torn))
        del torn[at : at + chance.randrange(1, 30)]
    data = tg.read(bytes(torn))
    known = {int(us) for us in re.findall(rb"\b(\d+) usecs", torn)}
    for whole, part in re.findall(rb"\b(\d+)(?:\.(\d{1,3}))? msecs", torn):
        known.add(int(whole + part.ljust(3, b"0")))
    assert {value for *_, value in counted(data)} <= known


CYCLE = (
    (100_000_100, "PM: suspend entry (deep)"),
    (100_050_000, "PM: suspend of devices complete after 35.123 msecs"),
    (100_100_000, "PM: noirq resume of devices complete after 9.722 msecs"),
    (100_224_010, "Restarting tasks ... done."),
    (100_230_000, "PM: suspend exit"),
)


def journal(us, text):
    """The fields of an entry of the journal; journald got the line 777 us later."""
    return {
        "__CURSOR": "s=1", "__REALTIME_TIMESTAMP": f"{1_700_000_000_000_000 + us}",
        "__MONOTONIC_TIMESTAMP": f"{us + 777}", "_TRANSPORT": "kernel",
        "_SOURCE_MONOTONIC_TIMESTAMP": f"{us}", "MESSAGE": text,
    }  # fmt: skip


def exported(us, text):
    """journalctl -o export; every second message as a binary value."""
    out = b""
    for name, value in journal(us, text).items():
        if name == "MESSAGE" and us % 20_000 == 0:
            out += b"%s\n" % name.encode() + len(value).to_bytes(8, "little")
            out += value.encode() + b"\n"
        else:
            out += f"{name}={value}\n".encode()
    return out + b"\n"


#: How the kernel's lines reach a file; all of these keep its own stamp.
WAYS = {
    "dmesg": lambda us, text: f"[{us / 1e6:12.6f}] {text}\n",
    "dmesg -x": lambda us, text: f"kern  :info  : [{us / 1e6:12.6f}] {text}\n",
    "printk.caller": lambda us, text: f"[{us / 1e6:12.6f}][ T{us % 97}] {text}\n",
    "short-monotonic": lambda us, text: f"[{us / 1e6:12.6f}] board kernel: {text}\n",
    "syslog": lambda us, text: f"May 10 10:05:37 board kernel: [{us / 1e6:12.6f}] {text}\n",
    "pstore": lambda us, text: f"<6>[{us / 1e6:12.6f}] {text}\n",
    "logcat -b kernel": lambda us, text: (
        f"05-10 10:05:37.123  root     0     0 I         : [{us / 1e6:12.6f}] {text}\n"
    ),
    "grabserial": lambda us, text: f"[{us / 1e6 + 5:.6f} 0.000100] [{us / 1e6:12.6f}] {text}\n",
    "/dev/kmsg": lambda us, text: f"6,{us % 1000},{us},-;{text}\n SUBSYSTEM=x\n",
    "-o json": lambda us, text: json.dumps(journal(us, text)) + "\n",
    "-o export": exported,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_cycle_is_timed_by_the_kernels_stamps_on_every_way(way):
    parts = [WAYS[way](*line) for line in CYCLE]
    source = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    (cycle,) = tg.read(source).cycles
    assert (cycle["mode"], cycle["duration"]) == ("deep", 229_900)
    assert (cycle["suspend"], cycle["resume"]) == (49_900, 133_732)


def test_stamps_of_journald_are_not_the_kernels():
    """journald gets the lines of the way down after the way up: it gives no time between them."""
    lines = [f"Dec 01 05:13:{us / 1e6:09.6f} board kernel: {text}\n" for us, text in CYCLE]
    (cycle,) = tg.read("".join(lines).encode()).cycles
    assert (cycle["outcome"], cycle["duration"]) == ("complete", None)


def test_an_export_that_was_cut_gives_the_entries_before():
    whole = b"".join(exported(*line) for line in CYCLE)
    for cut in range(len(whole) - 200, len(whole), 7):
        data = tg.read(whole[:cut])
        assert len(data.cycles) == 1
        assert len(data.problems) == 0


def test_two_cycles_of_a_board():
    data = tg.read(DATA / "02_suspend_dmesg.txt")
    got = {}
    for row in rows(data):
        got.setdefault((row["metric"], row["operation"]), []).append(int(row["value"]))
        assert row["labels"] == "mode=deep"
    assert got["phase", "suspend"] == [35123, 36001]
    assert got["phase", "start suspend"] == [35456]
    assert got["phase", "late suspend"] == [10811, 11002]
    assert got["phase", "noirq suspend"] == [18008, 19003]
    assert got["phase", "noirq resume"] == [9722, 9999]
    assert got["phase", "early resume"] == [401, 500]
    assert got["phase", "resume"] == [123456, 223456]
    assert got["duration", "cycle"] == [229900, 229900]


def test_callbacks_of_one_device_belong_to_six_phases():
    data = tg.read(DATA / "12_callback_two_phases.txt")
    callbacks = [row for row in rows(data) if row["metric"] == "callback"]
    assert [(row["operation"], int(row["value"])) for row in callbacks] == [
        ("suspend", 22240), ("late suspend", 15273), ("noirq suspend", 0),
        ("noirq resume", 14589), ("early resume", 8), ("resume", 46076),
    ]  # fmt: skip


def test_a_callback_of_a_trace_is_a_span():
    data = tg.read(DATA / "14_device_pm_callback.txt")
    got = {row["operation"]: (row["ns"], row["labels"]) for row in rows(data)}
    assert got["dpm_suspend"][0] == 3_000_000
    assert got["callback"] == (
        480_000,
        'device=1-0068 driver=i2c err=0 event="" phase=suspend',
    )
    assert len(data.problems) == 0


def test_initcalls_and_the_start_of_init():
    data = tg.read(DATA / "08_initcall_debug.txt")
    got = {row["labels"]: row["ns"] for row in rows(data)}
    assert got == {
        "function=cpu_pm_init ret=0": 11_000,
        "function=psci_dt_init ret=0": 12_345_000,
        "function=optee_drv_init module=optee ret=-19": 97_656_000,
        "device=serial8250 ret=1": 345_000,
        "init=/sbin/init": 1.2e9,
    }


def test_the_device_that_costs_it_is_found():
    """Two kernels, ten cycles each: one device takes 80 ms more to resume."""

    def log(kernel, extra):
        chance = random.Random(kernel)
        lines = []
        for n in range(10):
            lines += [f"[{100 * n}.000000] PM: suspend entry (deep)"]
            for device in ("mmc0", "usb1", "wlan0"):
                us = 10_000 + chance.randrange(400) + (extra if device == "wlan0" else 0)
                lines += [f"[{100 * n}.100000] call {device}+ returned 0 after {us} usecs"]
            lines += [f"[{100 * n}.200000] PM: resume of devices complete after 99.000 msecs"]
            lines += [f"[{100 * n}.300000] PM: suspend exit"]
        return tg.read("\n".join([*lines, ""]).encode())

    result = tg.compare(log(1, 0), log(2, 80_000))
    verdicts = {row["labels"]: row["verdict"] for row in map(result.rows.row, range(len(result)))
                if row["metric"] == "callback"}  # fmt: skip
    assert verdicts["device=wlan0 mode=deep"] == "regressed"
    assert verdicts["device=mmc0 mode=deep"] != "regressed"


def test_a_banner_without_a_build_type_is_said_where_sides_are_compared(tmp_path):
    head = (DATA / "11_banner_no_build.log").read_text()
    block = "> Executing 'x'\n<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t0\t{}\t23400\t5840/>\n"
    sides = [tg.read((head + block.format(n)).encode()) for n in (104500, 104520)]
    assert sides[0].boots["build"].tolist() == ["unknown"]
    result = tg.compare(*sides)
    assert any("no build type" in note for note in result.notes)


#: Banners of real consoles (TF-A's version string with empty parts, vendors' words behind it).
BANNERS = {
    "v2.3:v2.3-1-g12": ("v2.3-1-g12", "unknown"),
    "v2.3": ("v2.3", "unknown"),
    "v2.3-dirty": ("v2.3-dirty", "unknown"),
    "v2.3():v2.3-639-g87bcc5dfe:derrick.huang": ("v2.3-639-g87bcc5dfe:derrick.huang", "unknown"),
    "v1.5(release):": ("v1.5", "release"),
    "v2.12.0(debug)": ("v2.12.0", "debug"),
    "v1.3(release):845ee93": ("845ee93", "release"),
    "v2.3 (Jun 5 2020)": ("v2.3", "unknown"),
    "v2.3 of a vendor": ("v2.3", "unknown"),
}


@pytest.mark.parametrize("banner", BANNERS)
def test_a_banner_that_lacks_a_part_gives_version_and_chain(banner):
    data = tg.read(f"NOTICE:  BL2: {banner}\nNOTICE:  BL31: {banner}\n".encode())
    (boot,) = data.boots
    assert (boot["version"], boot["build"]) == BANNERS[banner]
    assert boot["chain"] == "BL2 BL31"


def test_other_lines_of_a_stage_are_no_banner():
    lines = "NOTICE:  BL31: Built : x\nINFO:    BL31: vboot v2.3\nNOTICE:  BL31: vendor 2.3\n"
    assert tg.read(lines.encode()).boots["chain"].tolist() == [None]


def test_events_of_a_trace_that_are_not_read_are_counted_by_kind(tmp_path, capsys):
    trace = (DATA / "14_device_pm_callback.txt").read_text()
    other = " sh-5   [000] d..2   100.001100: sched_switch: prev_comm=a ==> next_comm=b\n"
    irq = " sh-5   [000] d.h2   100.001200: irq_handler_entry: irq=27 name=arch_timer\n"
    perf = " sh 5 [000]   100.001300: irq:softirq_entry: vec=1 [action=TIMER]\n"
    path = tmp_path / "trace.txt"
    path.write_text(trace + 3 * other + irq + perf)
    assert main(["show", str(path)]) == 0
    said = "".join(capsys.readouterr())
    assert "events that are not read: 3 sched_switch, 1 irq_handler_entry, 1 softirq_entry" in said
    packed = tmp_path / "trace.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert main(["show", str(packed)]) == 0
    assert "events that are not read: 3 sched_switch" in "".join(capsys.readouterr())
    path.write_text(trace)
    assert main(["show", str(path)]) == 0
    assert "not read" not in "".join(capsys.readouterr())
