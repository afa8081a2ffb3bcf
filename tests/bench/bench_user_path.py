"""The user's path: tickgauge as it is installed, against a plain Python loop in the same run.

Every job is a child process of its own; its processor time counts, user and system, so that other
work on the machine disturbs little. Each job is run in turns with its peer, and the best of the
passes is kept. A ratio is net: without the start of the interpreter and its imports, which have
rows of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import user_inputs as inputs
import user_peers as peers

PYTHON = sys.executable
MB = 1_000_000

READ = """
import sys
import tickgauge as tg
from tickgauge.errors import InputError
try:
    print(len(tg.read(sys.argv[1]).readings), "readings")
except InputError as error:
    print("none:", str(error)[-60:])
"""
READ_COLUMNS = (
    peers.COLUMNS
    + """
import numpy as np
import tickgauge as tg
data = tg.from_columns(np.array(value), unit="tick", clock="50MHz", metric="latency",
                       boot=np.array(boot), core=np.array(core))
print(len(data.readings), "readings")
"""
)

#: Megabytes of each input.
FULL = {
    "smc": 60, "rt": 60, "optee": 50, "ftrace": 40, "suspend": 60, "hist": 20, "sparse": 400,
    "none": 200, "vcd": 80,
}  # fmt: skip
QUICK = {
    "smc": 16, "rt": 16, "optee": 12, "ftrace": 6, "suspend": 16, "hist": 6, "sparse": 80,
    "none": 80, "vcd": 24,
}  # fmt: skip

Command = list[Any]


class Job(NamedTuple):
    """One row: our command, the peer's, and how many times the peer's time is the goal."""

    name: str
    ours: Command
    peer: Command
    goal: float


def child(command: Command, folder: Path) -> float:
    """Processor seconds of a command, user and system."""
    words = [str(part) for part in command]
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 3):  # 1 and 3 are answers
        raise RuntimeError(f"{words[:3]}: {said[-400:].decode('utf-8', 'replace')}")
    return used.ru_utime + used.ru_stime


def best(
    commands: dict[str, Command], folder: Path, passes: int, budget: float
) -> dict[str, float]:
    """The best of several passes of each, run in turns; fewer once `budget` seconds are spent."""
    found: dict[str, float] = {}
    begin = time.monotonic()
    for n in range(passes):
        if n and time.monotonic() - begin > budget:
            break
        for name, command in commands.items():
            found[name] = min(found.get(name, 1e9), child(command, folder))
    return found


def files(folder: Path, quick: bool) -> dict[str, Path]:
    """The inputs, made in the folder."""
    size = {name: n * MB for name, n in (QUICK if quick else FULL).items()}
    later: Callable[[int], str] = lambda k: inputs.smc(k + 10_000)  # noqa: E731
    made: dict[str, Iterator[bytes]] = {
        "small": inputs.blocks(lambda k: inputs.BANNERS.format(n=k), 3000),
        "smc": inputs.blocks(inputs.smc, size["smc"]),
        "smc_new": inputs.blocks(later, size["smc"]),
        "rt": inputs.blocks(inputs.rt_instr, size["rt"]),
        "optee": inputs.blocks(inputs.optee, size["optee"]),
        "ftrace": inputs.blocks(inputs.ftrace, size["ftrace"]),
        "suspend": inputs.blocks(inputs.suspend, size["suspend"]),
        "hist": inputs.blocks(inputs.histogram, size["hist"]),
        "sparse": inputs.blocks(inputs.sparse, size["sparse"]),
        "none": inputs.blocks(inputs.kernel, size["none"]),
        "vcd": inputs.vcd_text(size["vcd"]),
    }
    for name, pieces in made.items():
        with (folder / name).open("wb") as file:
            file.writelines(pieces)
    return {name: folder / name for name in made}


def jobs(at: dict[str, Path], folder: Path, quick: bool) -> list[Job]:
    """Every job, those of start-up first."""
    tool = [Path(PYTHON).with_name("tickgauge")]
    py: Callable[..., Command] = lambda code, *given: [PYTHON, "-c", code, *given]  # noqa: E731
    reads = {
        "smc": (peers.PEER_SMC, 0.20), "rt": (peers.PEER_RT, 0.20),
        "optee": (peers.PEER_OPTEE, 0.35), "ftrace": (peers.PEER_FTRACE, 0.30),
        "suspend": (peers.PEER_SUSPEND, 0.35), "hist": (peers.PEER_HISTOGRAM, 0.35),
        "sparse": (peers.PEER_RT, 0.15), "none": (peers.PEER_RT, 0.08),
    }  # fmt: skip
    both = [at["smc"], at["smc_new"]]
    n = 100_000 if quick else MB
    made, page = folder / "made.json", folder / "made.html"
    return [
        Job("start: import tickgauge", py("import tickgauge"), py("pass"), 2.5),
        Job("start: tickgauge --version", [*tool, "--version"], py("pass"), 2.5),
        Job("start: tickgauge --help", [*tool, "--help"], py("pass"), 4.0),
        Job("start: show of 3 kB", [*tool, "show", at["small"]], py("import re, json"), 7.0),
        *(
            Job(f"read {name}", py(READ, at[name]), py(peer, at[name]), goal)
            for name, (peer, goal) in reads.items()
        ),
        Job("calls optee", [*tool, "calls", at["optee"]], py(peers.PEER_OPTEE, at["optee"]), 0.45),
        Job(
            "snapshot smc", [*tool, "snapshot", at["smc"], "-o", made],
            py(peers.PEER_SNAPSHOT, at["smc"], folder / "peer.json"), 0.25,
        ),
        Job("compare smc", [*tool, "compare", *both], py(peers.PEER_COMPARE, *both), 0.35),
        Job(
            "report smc", [*tool, "report", *both, "-o", page], py(peers.PEER_COMPARE, *both), 0.80
        ),
        Job("axi vcd", [*tool, "axi", at["vcd"]], py(peers.PEER_VCD, at["vcd"]), 0.10),
        Job("from_columns", py(READ_COLUMNS, n), py(peers.PEER_COLUMNS, n), 1.0),
    ]  # fmt: skip


def measure(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """One row a job: seconds, and the ratio to the peer's."""
    n = 100_000 if quick else MB
    base = best(
        {
            "python": [PYTHON, "-c", "import re, sys"],
            "tickgauge": [PYTHON, "-c", "import numpy, tickgauge as tg; tg.read, tg.from_columns"],
            "columns": [PYTHON, "-c", peers.COLUMNS, n],
        },
        folder, 5, 60,
    )  # fmt: skip
    run = partial(best, folder=folder, budget=4 if quick else 300)
    rows = []
    for job in jobs(files(folder, quick), folder, quick):
        start = job.name.startswith("start")
        found = run({"ours": job.ours, "peer": job.peer}, passes=5 if start else 3)
        ours, peer = found["ours"], found["peer"]
        if not start:
            made = base["columns"] - base["python"] if job.name == "from_columns" else 0.0
            ours = max(ours - base["tickgauge"] - made, 1e-3)
            peer = max(peer - base["python"] - made, 1e-3)
        ratio = ours / peer
        rows.append(
            {
                "name": job.name,
                "value": round(found["ours"], 3),
                "unit": "s",
                "ratio": round(ratio, 2),
                "peer": f"{'bare Python' if start else 'Python loop'} {found['peer']:.3f} s",
                "goal": f"{job.goal:g}x: {'reached' if ratio <= job.goal else 'missed'}",
            }
        )
    return rows
