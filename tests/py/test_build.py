"""Building: nothing is left in the checkout, and long steps show that they run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEP = ROOT / "tests" / "tools" / "step.sh"


def step(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", str(STEP), *command], capture_output=True, text=True, timeout=60)


def test_a_step_is_quiet_unless_it_fails() -> None:
    done = step("doing", "sh", "-c", "echo noise; echo more >&2")
    assert (done.returncode, done.stdout, done.stderr) == (0, "doing\n", "")
    done = step("doing", "sh", "-c", "echo why; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "doing\n", "why\n")


def test_a_free_threaded_python_is_refused_in_words() -> None:
    """No such interpreter is needed: setup.py asks the configuration of the one that runs it."""
    pytest.importorskip("setuptools")
    code = (
        "import runpy, sysconfig\n"
        "known = sysconfig.get_config_var\n"
        "sysconfig.get_config_var = lambda name: name == 'Py_GIL_DISABLED' or known(name)\n"
        "runpy.run_path('setup.py', run_name='__main__')\n"
    )
    run = [sys.executable, "-c", code, "--version"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "does not support the free-threaded build" in done.stderr


@pytest.mark.slow
@pytest.mark.noasan
def test_building_leaves_nothing_in_the_checkout(tmp_path: Path) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no checkout with git")
    pytest.importorskip("setuptools")
    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation",
         "-w", str(tmp_path / "wheels"), "."],
        cwd=copy, check=True,
    )  # fmt: skip
    command = ["git", "status", "--porcelain", "--ignored"]
    left = subprocess.run(command, cwd=copy, check=True, capture_output=True, text=True).stdout
    assert left == ""
    assert len(list((tmp_path / "wheels").glob("tickgauge-*.whl"))) == 1
