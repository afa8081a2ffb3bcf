"""OP-TEE consoles of known truth, damage to their lines, and a count of what came out wrong.

A boot is a list of lines for each console. Truth is read off the undamaged lines: the stamps of a
call are those that nest, and no two lines of a boot share a stamp.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import tickgauge as tg

HOPS = (
    "client_start",
    "driver_start",
    "tee_receive",
    "ta_enter",
    "tee_finish",
    "driver_finish",
    "client_return",
)
#: Each reading as the two stamps it is the difference of.
METRICS = {
    "client_to_driver": (0, 1),
    "driver_to_tee": (1, 2),
    "tee_to_ta": (2, 3),
    "ta_to_tee": (3, 4),
    "tee_to_driver": (4, 5),
    "driver_to_client": (5, 6),
    "one_way": (0, 3),
    "round_trip": (0, 6),
    "smc": (1, 5),
    "tee": (2, 4),
}
STAMPED = re.compile(r"cntvct=0x|Client(?:OpenSession|InvokeCommand):")
HEX = re.compile(r"(?<=0x)[0-9a-f]{6,}")


@dataclass
class Boot:
    """Consoles of one boot, and the calls of its clients: seven stamps each."""

    consoles: dict[str, list[str]]
    calls: list[tuple[int, ...]] = field(default_factory=list)
    #: Every pair of stamps that belongs together, by metric.
    pairs: dict[str, set[tuple[int, int]]] = field(default_factory=dict)


def smc(side: str, word: str, cmd: int, ticks: int) -> str:
    """A stamped line of the driver or of the core."""
    if side == "ree":
        return f"[    1.0] optee: TEEDriver: {word} smc call, cmd={cmd}, cntvct=0x{ticks:x}"
    return f"M/TC: TEECore: {word} smc call, cmd={cmd}, cntvct=0x{ticks:09x}"


def client(stamps: tuple[int, ...], cmd: int = 1) -> str:
    """A client's line."""
    word = "ClientInvokeCommand" if cmd else "ClientOpenSession"
    return f"{word}: start=0x{stamps[0]:x}, enter_ta=0x{stamps[3]:x}, return=0x{stamps[6]:x}"


def generated(
    seed: int, n: int = 60, clients: int = 1, first: int = 0x10000000, idle: int = 1
) -> Boot:
    """A boot of `clients` clients, `n` calls each; the more `idle`, the fewer calls overlap."""
    rng = random.Random(seed)
    calls, events = [], []
    for _ in range(clients):
        now = first + rng.randrange(1, 0x4000)
        for _ in range(n):
            steps = [rng.randrange(0x200, 0x1800) for _ in HOPS]
            stamps = []
            for step in steps:
                now += step
                stamps.append(now)
            calls.append(tuple(stamps))
            now += idle * rng.randrange(0x400, 0x3000)
    for call in calls:
        events += [
            (call[1], "ree", smc("ree", "do", 1, call[1])),
            (call[2], "tee", smc("tee", "receiving", 1, call[2])),
            (call[4], "tee", smc("tee", "finish", 1, call[4])),
            (call[5], "ree", smc("ree", "finish", 1, call[5])),
        ]
    consoles = {"ree": ["NOTICE:  BL1: v2.10(release):x"], "tee": [], "client": []}
    for _, side, line in sorted(events):
        consoles[side].append(line)
    consoles["client"] = ["CounterTimerFrequency: 0x3b9aca0"]
    consoles["client"] += [client(call) for call in sorted(calls, key=lambda c: c[6])]
    return with_pairs(Boot(consoles, calls))


def with_pairs(boot: Boot) -> Boot:
    boot.pairs = {m: {(c[a], c[b]) for c in boot.calls} for m, (a, b) in METRICS.items()}
    return boot


def real(texts: dict[str, str]) -> Boot:
    """A real boot: its truth is what the undamaged lines give."""
    consoles = {name: text.replace("\r", "").splitlines() for name, text in texts.items()}
    boot = Boot(consoles)
    data = read(consoles)
    rows = data.calls
    boot.calls = [
        tuple(int(rows[h][i]) for h in HOPS) for i in range(len(rows)) if rows["complete"][i]
    ]
    boot.pairs = {metric: set(pairs_of(data, metric)) for metric in METRICS}
    return boot


def read(consoles: dict[str, list[str]], order: list[str] | None = None) -> tg.Dataset:
    """Several consoles together; with `order` one text of all, one behind the other."""
    texts = {name: "\n".join(lines).encode() + b"\n" for name, lines in consoles.items() if lines}
    if order is not None:
        return tg.read(b"".join(texts[name] for name in order))
    return tg.read_together(*texts.values())


def pairs_of(data: tg.Dataset, metric: str) -> list[tuple[int, int]]:
    """The two stamps of every reading of a metric."""
    a, b = (HOPS[k] for k in METRICS[metric])
    keys = data.keys
    columns = zip(keys["format"], keys["metric"], keys["operation"], strict=True)
    ids = {
        i for i, (f, m, op) in enumerate(columns) if (f, m) == ("optee", metric) and op != "syscall"
    }
    rows = data.calls
    blocks = [
        int(block)
        for key, block in zip(data.readings["key"], data.readings["block"], strict=True)
        if int(key) in ids
    ]
    start, end = rows[a], rows[b]
    return [(int(start[k]), int(end[k])) for k in blocks if k < len(rows)]


# --- damage ------------------------------------------------------------------------------------


def stamped(lines: list[str]) -> list[int]:
    return [i for i, line in enumerate(lines) if STAMPED.search(line)]


def drop(lines: list[str], share: float, rng: random.Random) -> list[str]:
    """Lines lost without a trace."""
    return [x for x in lines if not STAMPED.search(x) or rng.random() >= share]


def double(lines: list[str], share: float, rng: random.Random) -> list[str]:
    """Lines printed twice."""
    return [y for x in lines for y in ([x, x] if rng.random() < share else [x])]


def split(lines: list[str], share: float, rng: random.Random) -> list[str]:
    """Lines cut by another writer."""
    out = []
    for line in lines:
        if STAMPED.search(line) and rng.random() < share:
            at = rng.randrange(8, len(line) - 1)
            out += [line[:at] + "REE user line", line[at:]]
        else:
            out.append(line)
    return out


def lose_digit(lines: list[str], share: float, rng: random.Random) -> list[str]:
    """One hex digit of a number lost."""

    def change(match: re.Match[str]) -> str:
        text = match.group()
        if rng.random() >= share:
            return text
        at = rng.randrange(len(text))
        return text[:at] + text[at + 1 :]

    return [HEX.sub(change, x) if STAMPED.search(x) else x for x in lines]


def shuffle_near(lines: list[str], share: float, rng: random.Random) -> list[str]:
    """Neighbours printed in the other order."""
    out = list(lines)
    for i in range(len(out) - 1):
        if rng.random() < share:
            out[i], out[i + 1] = out[i + 1], out[i]
    return out


DAMAGES = {
    "drop": drop,
    "double": double,
    "split": split,
    "digit": lose_digit,
    "order": shuffle_near,
}


@dataclass
class Score:
    """Readings that are no true pair, and calls whose lines are all there and stayed complete."""

    readings: int = 0
    wrong: int = 0
    intact: int = 0
    kept: int = 0
    calls: int = 0

    def __iadd__(self, other: Score) -> Score:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    @property
    def wrong_share(self) -> float:
        return self.wrong / max(self.readings, 1)

    @property
    def kept_share(self) -> float:
        return self.kept / max(self.intact, 1)


def score(boot: Boot, damaged: dict[str, list[str]], data: tg.Dataset) -> Score:
    """Compare what was read from damaged lines with the truth of the boot."""
    out = Score()
    for metric, right in boot.pairs.items():
        got = pairs_of(data, metric)
        out.readings += len(got)
        out.wrong += sum(pair not in right for pair in got)
    whole = {line for lines in boot.consoles.values() for line in lines}
    there = {
        int(x, 16)
        for lines in damaged.values()
        for line in lines
        if line in whole
        for x in HEX.findall(line)
    }
    rows = data.calls
    complete = {
        tuple(int(rows[h][i]) for h in HOPS) for i in range(len(rows)) if rows["complete"][i]
    }
    for call in boot.calls:
        if all(stamp in there for stamp in call):
            out.intact += 1
            out.kept += call in complete
    out.calls = len(boot.calls)
    return out


def damaged(boot: Boot, kind: str, share: float, seed: int) -> dict[str, list[str]]:
    rng = random.Random(seed)
    return {name: DAMAGES[kind](lines, share, rng) for name, lines in boot.consoles.items()}


def trial(boot: Boot, kind: str, share: float, seed: int) -> Score:
    """Damage a boot, read it, count."""
    lines = damaged(boot, kind, share, seed)
    return score(boot, lines, read(lines))
