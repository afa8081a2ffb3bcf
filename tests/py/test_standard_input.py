"""``-`` is a source wherever a verb takes one file: a pipe says the same as the file in it."""

from __future__ import annotations

import html
import subprocess
import sys
from pathlib import Path

import pytest

from tickgauge.cli import VERBS

DATA = Path(__file__).resolve().parents[1] / "data"
#: Names from `DATA` on: the place of a checkout may hold blanks, and a long name is shortened.
CONSOLE = Path("tfa/console/example_console.log")
BOOT = Path("tfa/console/perf-head-boot-01.log.gz")
PAGE = Path("tfa/psci-performance-n1sdp.rst")
OLD, NEW = (Path("stats") / f"tfa-{v}.json.gz" for v in ("2.12", "2.14"))
ZYNQ = Path("zynq")

#: The words of a call, {} for the file, and the file.
CALLS = [
    ("show {}", CONSOLE),
    ("show --format gobench {}", OLD),
    ("boot {}", BOOT),
    (f"boot {BOOT} {{}}", BOOT),
    ("calls {}", Path("optee/loop200.txt.gz")),
    (f"compare {OLD} {{}}", NEW),
    (f"compare {{}} {NEW}", OLD),
    (f"gate {OLD} {{}}", NEW),
    (f"gate {OLD} {{}} --format junit", NEW),
    ("plan {}", OLD),
    ("bisect {} --key nothing -- true", OLD),
    (f"trend {OLD} {{}}", NEW),
    ("snapshot {}", CONSOLE),
    ("axi {}", ZYNQ / "B.csv.xz"),
    ("axi {}", ZYNQ / "B.vcd.xz"),
    ("axi {}", ZYNQ / "interleave.fst"),
    (f"axi {ZYNQ / 'A.csv.xz'} {{}}", ZYNQ / "B.csv.xz"),
    (f"table {CONSOLE} {{}}", CONSOLE),
    ("audit {}", PAGE),
    ("runs {}", ZYNQ / "v2019.1.log"),
    (f"runs {ZYNQ / 'v2018.2.log'} {{}}", ZYNQ / "v2019.1.log"),
    (f"report {OLD} {{}} -o -", NEW),
]
#: Verbs that take no source; one whose files other processes open; one that waits for more of a
#: file, so that a file and a pipe differ (`test_watch`).
WITHOUT = {"completion", "versions", "batch", "watch"}


def told(call: str, word: str, pipe: Path | None, name: str) -> tuple[int, str]:
    """Status and output, without the names of the source and the space they take."""
    words = [part.replace("{}", word) for part in call.split()]
    run = [sys.executable, "-m", "tickgauge", *words]
    given = subprocess.DEVNULL if pipe is None else subprocess.PIPE
    with subprocess.Popen(
        run, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=DATA
    ) as process:
        out, err = process.communicate(None if pipe is None else pipe.read_bytes(), timeout=120)
    assert b"Traceback" not in err
    text = html.unescape(out.decode())
    for one in (word, name, "<stdin>", Path(name).name, Path(name).name.partition(".")[0]):
        text = text.replace(one, "@") if one not in ("", "-") else text
    lines = [" ".join(line.replace("-", " ").split()) for line in text.splitlines()]
    return process.returncode, "\n".join(lines)


@pytest.mark.parametrize(("call", "path"), CALLS, ids=[call for call, _ in CALLS])
def test_a_pipe_says_the_same_as_its_file(call: str, path: Path) -> None:
    from_file = told(call, str(path), None, str(path))
    from_pipe = told(call, "-", DATA / path, str(path))
    assert from_pipe == from_file
    assert from_file[0] in (0, 1, 125)
    assert from_file[1] or call.startswith("bisect")


def test_every_verb_is_here() -> None:
    assert {call.split()[0] for call, _ in CALLS} | WITHOUT == set(VERBS)


def test_a_batch_says_why_it_takes_no_pipe() -> None:
    run = [sys.executable, "-m", "tickgauge", "batch", "-"]
    done = subprocess.run(run, input=b"x", capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"no name that another process could open" in done.stderr
