"""Consoles of whole boots, stamped as their lines arrive, and where each clock really begins.

Lines after TF-A (pmf.c), U-Boot (bootstage.c, bootm.c), the kernel (init/main.c) and systemd
(manager.c), as grabserial writes them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

CLOCK = 50_000_000


@dataclass
class Truth:
    """The zeros of the clocks on the host's, in ns, and the wholes that hold no step."""

    zero: dict[str, int] = field(default_factory=dict)
    lone: frozenset[str] = frozenset({"to the kernel", "userspace"})


def boot_log(
    seed: int, boots: int, slower: Mapping[str, float] | None = None, late: int = 2_000_000
) -> tuple[str, list[Truth]]:
    """A console of several boots, and the truth about each.

    Parameters
    ----------
    seed, boots : int
    slower : mapping, optional
        Milliseconds that a stage takes more.
    late : int
        Nanoseconds that a line takes to the host, at most.
    """
    chance = random.Random(seed)
    lines: list[tuple[int, str]] = []
    truths = []
    begin = 1_000_000_000_000
    for _ in range(boots):
        made, truth = _boot(chance, begin, slower or {}, late)
        lines += made
        truths.append(truth)
        begin += 20_000_000_000
    out, last = [], lines[0][0]
    for at, text in lines:
        now = max(at, last) // 1000 * 1000 + 1000
        out.append(f"[{now / 1e9:.6f} {(now - last) / 1e9:.6f}] {text}\n")
        last = now
    return "".join(out), truths


def _boot(
    chance: random.Random, begin: int, slower: Mapping[str, float], late: int
) -> tuple[list[tuple[int, str]], Truth]:
    lines: list[tuple[int, str]] = []

    def say(at: float, text: str) -> None:
        lines.append((begin + round(at * 1e9) + chance.randrange(late + 1), text))

    def takes(stage: str, ms: float) -> float:
        return (ms * (1 + 0.01 * chance.random()) + slower.get(stage, 0)) / 1e3

    now, stamps = 0.05, []
    for name, ms in (("BL1", 60), ("BL2", 200), ("BL31", 90)):
        say(now + 0.002, f"NOTICE:  {name}: v2.12(release):v2.12.0")
        stamps += [now, now + takes(name, ms)]
        now = stamps[-1] + 0.003
    for tid, at in enumerate(stamps):
        say(now - 0.002, f"PMF:cpu 0\ttid {tid}\tts {round(at * CLOCK)}")
    marks = [("reset", 0.0), ("board_init_f", now + takes("gap", 40))]
    for name, ms in (("board_init_r", 400), ("main_loop", 700), ("start_kernel", 120)):
        marks.append((name, marks[-1][1] + takes(name, ms)))
    left = marks[-1][1]
    say(marks[1][1] + 0.003, "U-Boot 2024.01 (Jan 08 2024 - 15:37:48 +0000)")
    say(left, "Starting kernel ...")
    say(left + 0.001, "Timer summary in microseconds (5 records):")
    say(left + 0.001, "       Mark    Elapsed  Stage")
    before = 0
    for name, at in marks:
        us = round(at * 1e6)
        say(left + 0.002, f"{us:>11,}{us - before:>11,}  {name}")
        before = us
    say(left + 0.003, "")
    zero = left + takes("to kernel", 300)
    _kernel(lambda at, text: say(zero + at, text), takes)
    start = begin + round(zero * 1e9)
    clocks = {"counter": begin, "U-Boot": begin, "kernel": start, "systemd": start}
    return lines, Truth(clocks)


def _kernel(say: Callable[[float, str], None], takes: Callable[[str, float], float]) -> None:
    """Lines of the kernel and of systemd, by the kernel's clock."""

    def log(at: float, text: str) -> None:
        say(at, f"[{at:12.6f}] {text}")

    log(0, "Booting Linux on physical CPU 0x0000000000 [0x410fd034]")
    log(0, "arch_timer: cp15 timer(s) running at 50.00MHz (phys).")
    at = 0.12
    for name, ms in (("pl011_init", 12), ("mmc_init", 150), ("wlan_init", 80), ("usb_init", 60)):
        us = round(takes(name, ms) * 1e6)
        at += 0.03 + us / 1e6
        log(at, f"initcall {name}+0x0/0x30 returned 0 after {us} usecs")
    init = at + 0.12
    log(init, "Run /sbin/init as init process")
    user = takes("user", 2500)
    log(
        init + user,
        f"systemd[1]: Startup finished in {init:.3f}s (kernel) + {user:.3f}s (userspace) "
        f"= {init + user:.3f}s.",
    )
    say(init + user + 0.1, "board login: ")
