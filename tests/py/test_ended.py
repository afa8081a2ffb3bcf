"""Batches and release steps ended at random moments: no traceback, nothing half written."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tfa_pages as pages

LOGS = pages.DATA / "console"

#: As the command's script: Ctrl-C is guarded before the first import, and "up" comes behind that.
RUN = """
import _signal, os, sys
_signal.signal(_signal.SIGINT, lambda *_: os._exit(130))
print("up", flush=True)
from tickgauge.__main__ import main
sys.exit(main())
"""


def ended(command: list[str], name: signal.Signals, after: float) -> tuple[int, str]:
    """Exit status and messages of the command, to which the signal comes after that time."""
    running = subprocess.Popen(
        [sys.executable, "-c", RUN, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    time.sleep(after)
    running.send_signal(name)
    _, said = running.communicate(timeout=60)
    return running.returncode, said


def _allowed(name: signal.Signals) -> tuple[int, ...]:
    """Done before the signal came, or ended by it.

    Killed by SIGINT, which a shell calls 130 as well: it came when Python was already leaving.
    """
    return (0, 130, -signal.SIGINT) if name is signal.SIGINT else (0, -signal.SIGKILL)


def _times(count: int, longest: float) -> list[float]:
    rng = random.Random(count)
    return [rng.uniform(0, longest) for _ in range(count)]


@pytest.mark.noasan
@pytest.mark.parametrize(
    ("name", "count"),
    [
        (signal.SIGINT, 4), (signal.SIGKILL, 4),
        pytest.param(signal.SIGINT, 60, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, 50, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_batch_that_is_ended_goes_on_with_the_same_result(
    name: signal.Signals, count: int, tmp_path: Path
) -> None:
    logs, clean, out = (tmp_path / one for one in ("logs", "clean", "out"))
    logs.mkdir()
    for number in range(12):
        text = (LOGS / "example_console.log").read_bytes() * 5 + b"\n" * number
        (logs / f"{number}.log").write_bytes(text)
    whole = ["batch", str(logs), "--jobs", "2", "--no-rows", "-o"]
    subprocess.run([sys.executable, "-c", RUN, *whole, str(clean)], check=True, capture_output=True)
    want = (clean / "snapshot.json").read_bytes()
    for after in _times(count, 1.0):
        status, said = ended([*whole, str(out)], name, after)
        assert status in _allowed(name), said
        assert "Traceback" not in said
        if (out / "snapshot.json").exists():
            assert (out / "snapshot.json").read_bytes() == want
    done = subprocess.run(
        [sys.executable, "-c", RUN, *whole, str(out)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (out / "snapshot.json").read_bytes() == want
    left = [path.name for path in out.rglob("*") if path.name.startswith(".")]
    assert left == []


@pytest.mark.noasan
@pytest.mark.parametrize(
    ("name", "count"),
    [
        (signal.SIGINT, 4), (signal.SIGKILL, 4),
        pytest.param(signal.SIGINT, 60, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, 50, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_release_step_that_is_ended_leaves_one_whole_set(
    name: signal.Signals, count: int, tmp_path: Path
) -> None:
    board, log = tmp_path / "juno", tmp_path / "new.log"
    old = pages.cells("94276a569", "juno", "v2.9")
    log.write_bytes(pages.console(pages.cells("94276a569", "juno", "v2.10")))
    pages.write_folder(tmp_path / "old", old, quoted=True)

    def state(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    before = state(tmp_path / "old")
    after: dict[str, bytes] = {}
    for moment in [9.0, *_times(count, 0.5)]:
        shutil.rmtree(board, ignore_errors=True)
        shutil.copytree(tmp_path / "old", board / "current")
        status, said = ended(
            ["table", str(board / "current"), str(log), "--into", str(board)], name, moment
        ) if moment < 9 else (subprocess.run(
            [sys.executable, "-c", RUN, "table", str(board / "current"), str(log), "--into",
             str(board)], capture_output=True).returncode, "")  # fmt: skip
        assert status in _allowed(name), said
        assert "Traceback" not in said
        if not after:
            after = state(board / "current")
            assert after != before
        # the next step finishes, or clears away, what this one left
        subprocess.run(
            [sys.executable, "-c", RUN, "table", str(tmp_path / "old"), str(log), "--into",
             str(board)], capture_output=True,
        )  # fmt: skip
        assert state(board / "current") == after
        assert sorted(path.name for path in board.iterdir()) == ["current", "previous"]
