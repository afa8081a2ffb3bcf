"""Consoles, traces and a capture of any size, made by formula: the same bytes in every run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

BANNERS = (
    "NOTICE:  Booting Trusted Firmware\r\n"
    "NOTICE:  BL1: v2.12.0(release):v2.12.0-{n}\r\n"
    "NOTICE:  BL1: Built : 11:36:41, Nov 30 2024\r\n"
    "NOTICE:  BL1: Booting BL2\r\n"
    "NOTICE:  BL2: v2.12.0(release):v2.12.0-{n}\r\n"
    "NOTICE:  BL1: Booting BL31\r\n"
    "NOTICE:  BL31: v2.12.0(release):v2.12.0-{n}\r\n"
    "NOTICE:  Booting trusted firmware test framework\r\n"
    "NOTICE:  Starting a new test session\r\n"
    "Running test suite 'Performance tests'\r\n"
)
NOISE = (
    "usb 1-1: new high-speed USB device number {} using dwc2",
    "mmc0: card {:04x} is ready, bus width 4",
    "thermal zone {} registered, trip at 95 C",
    "eth0: link up, 1000 Mbps, full duplex, lane {}",
    "regulator vdd_{}: supplied by vsys",
    "pci 0000:00:{:02x}.0: bridge window [mem 0x10000000-0x101fffff]",
    "random: crng init done, {} bits of entropy",
)


def blocks(make: Callable[[int], str], size: int) -> Iterator[bytes]:
    """`make(k)` again and again up to `size` bytes."""
    total = k = 0
    while total < size:
        text = make(k).encode()
        total += len(text)
        k += 1
        yield text


def smc(k: int) -> str:
    """A boot of a TFTF console with three SMC latency tests of 1000 readings each."""
    rng = random.Random(k)
    out = [BANNERS.format(n=k)]
    for test in ("PSCI_VERSION latency", "Standard Service Call UID latency", "SMCCC latency"):
        ticks = [rng.randrange(20, 9000) for _ in range(1000)]
        out.append(f"> Executing '{test}'\r\nNOTICE:  Raw results:\r\n")
        out += [f"NOTICE:  {t} cycles\t{t * 16} ns\r\n" for t in ticks]
        mean = sum(ticks) // 1000
        out.append(f"Average number of cycles: {mean}\r\n")
        out.append(
            f"Average time: {mean * 16} ns "
            f"(ranging from {min(ticks) * 16} to {max(ticks) * 16})\r\n"
        )
        out.append("  TEST COMPLETE                                                 Passed\r\n")
    return "".join(out)


def rt_instr(k: int) -> str:
    """A boot of a TFTF console with RT_INSTR records of eight processors."""
    rng = random.Random(k)
    out = [BANNERS.format(n=k)]
    for test in ("susp_deep_parallel", "susp_deep_serial", "susp_stdby_parallel", "cpu_off_serial"):
        out.append(f"> Executing 'Runtime instrumentation {test}'\r\n")
        for _run in range(25):
            for cpu in range(8):
                t = [rng.randrange(n) * 20 for n in (50_000, 15_000, 8_000)]
                out.append(
                    f"<RT_INSTR:test_rt_instr_{test}\t{cpu // 4}\t{cpu % 4}"
                    f"\t{t[0]}\t{t[1]}\t{t[2]}/>\r\n"
                )
        out.append("  TEST COMPLETE                                                 Passed\r\n")
    return "".join(out)


def suspend(k: int) -> str:
    """A cycle of suspend and resume of forty devices, each called in six phases."""
    rng = random.Random(k)
    now = 100_000_000 + k * 30_000_000
    out = []

    def say(text: str) -> None:
        nonlocal now
        now += rng.randrange(1, 300)
        out.append(f"[{now // 10**6:5d}.{now % 10**6:06d}] {text}\n")

    say("PM: suspend entry (deep)")
    down, back = ("", "late ", "noirq "), ("noirq ", "early ", "")
    for phase in [*(f"{part}suspend" for part in down), *(f"{part}resume" for part in back)]:
        for device in range(40):
            say(f"i2c-x {device}-0068: PM: calling platform_pm+0x0/0x5c @ 9, parent: x")
            us = rng.randrange(9999)
            say(f"i2c-x {device}-0068: PM: platform_pm+0x0/0x5c returned 0 after {us} usecs")
        say(f"PM: {phase} of devices complete after {rng.randrange(999)}.{us % 1000:03d} msecs")
    say("PM: suspend exit")
    return "".join(out)


def histogram(k: int) -> str:
    """The table of cyclictest -h 1000 with eight threads."""
    rng = random.Random(k)
    rows = "".join(
        f"{us:06d} " + "\t".join(f"{rng.randrange(999):06d}" for _ in range(8)) + "\n"
        for us in range(1000)
    )
    return f"# Histogram\n{rows}# Histogram Overflow at cycle number:\n"


def optee(k: int) -> str:
    """1000 calls of a client on one console of both worlds, all stamps there."""
    rng = random.Random(k)
    t = 0x4A848828 + k * 0x4000000
    out = ["CounterTimerFrequency: 0x3b9aca0\n"] if k == 0 else []
    for _ in range(1000):
        steps = [t]
        for _ in range(6):
            steps.append(steps[-1] + rng.randrange(500, 9000))
        a, d1, c1, ta, c2, d2, b = steps
        for at, text in (
            (d1, f"optee: TEEDriver: do smc call, cmd=1, cntvct=0x{d1:x}"),
            (0, f"M/TC: TEECore: receiving smc call, cmd=1, cntvct=0x{c1:09x}"),
            (0, f"M/TC: TEECore: finish smc call, cmd=1, cntvct=0x{c2:09x}"),
            (d2, f"optee: TEEDriver: finish smc call, cmd=1, cntvct=0x{d2:x}"),
            (0, f"ClientInvokeCommand: start=0x{a:x}, enter_ta=0x{ta:x}, return=0x{b:x}"),
        ):
            us = at * 16 // 1000
            out.append(f"[{us // 10**6:5d}.{us % 10**6:06d}] {text}\n" if at else text + "\n")
        t = b + rng.randrange(100, 3000)
    return "".join(out)


def ftrace(k: int) -> str:
    """1000 SMCs of the OP-TEE driver as tracefs prints them."""
    rng = random.Random(k)
    t = 55_034_467 + k * 4_000_000
    out = ["# tracer: nop\n#\n# entries-in-buffer/entries-written: 99/99   #P:2\n#\n"] * (k == 0)
    for _ in range(1000):
        cpu, pid, param = rng.randrange(2), rng.randrange(200, 260), rng.getrandbits(32)
        head = f"             lat-{pid}     [{cpu:03d}] ....."
        at = f"{t // 10**6:5d}.{t % 10**6:06d}"
        out.append(
            f"{head} {at}: optee_invoke_fn_begin: param={param:016x} "
            "(32000013, ffff5901, 21c5b980, 0, 0, 0, 0, 0)\n"
        )
        t += rng.randrange(100, 3000)
        at = f"{t // 10**6:5d}.{t % 10**6:06d}"
        out.append(
            f"{head} {at}: optee_invoke_fn_end: param={param:016x} ret (ffff0005, 0, 0, 0)\n"
        )
        t += rng.randrange(10, 300)
    return "".join(out)


def kernel(k: int) -> str:
    """40 000 lines of a kernel, none of them a record."""
    rng = random.Random(k % 4)
    return "".join(
        f"[{i // 100:5d}.{rng.randrange(10**6):06d}] {NOISE[i % 7].format(rng.randrange(99))}\n"
        for i in range(40_000)
    )


def sparse(k: int) -> str:
    """A boot with 800 records, then 40 000 lines of a kernel."""
    return rt_instr(k) + kernel(k)


def vcd_text(size: int) -> Iterator[bytes]:
    """A capture of an AXI read channel of 128 bits: bursts of 16 beats, a stall now and then."""
    head = (
        "$timescale 1ns $end\n$scope module top $end\n"
        + "".join(
            f"$var wire {width} {code} S_AXI_{name} {bits}$end\n"
            for width, code, name, bits in (
                (40, "a", "araddr", "[39:0] "), (8, "l", "arlen", "[7:0] "),
                (3, "z", "arsize", "[2:0] "), (1, "v", "arvalid", ""), (1, "r", "arready", ""),
                (128, "d", "rdata", "[127:0] "), (2, "s", "rresp", "[1:0] "),
                (1, "w", "rvalid", ""), (1, "x", "rready", ""), (1, "t", "rlast", ""),
            )
        )
        + "$var wire 1 c aclk $end\n$upscope $end\n$enddefinitions $end\n"
        "#0\n0c\n0v\n1r\n0w\n1x\n0t\nb0 a\nb1111 l\nb100 z\nb0 d\nb0 s\n"
    )  # fmt: skip
    yield head.encode()
    total, t, n = len(head), 0, 0
    rng = random.Random(3)

    def clock(changes: str) -> str:
        nonlocal t
        t += 4
        return f"#{t}\n1c\n{changes}#{t + 2}\n0c\n"

    while total < size:
        out = []
        for _ in range(400):
            out.append(clock(f"1v\nb{n * 256:b} a\n"))
            out.append(clock("0v\n"))
            out += [clock("") for _ in range(rng.randrange(2, 20))]
            for beat in range(16):
                last = "1t\n" if beat == 15 else ""
                out.append(clock(f"1w\nb{rng.getrandbits(128):b} d\n{last}"))
                if rng.random() < 0.1:
                    out.append(clock("0w\n"))
                    out.append(clock(""))
            out.append(clock("0w\n0t\n"))
            n += 1
        text = "".join(out).encode()
        total += len(text)
        yield text
