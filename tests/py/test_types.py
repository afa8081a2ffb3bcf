"""What a type checker says of a user's script, and of the stub of the C module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tickgauge as tg

#: A user's script, with the types that it relies on.
SCRIPT = """
from typing import assert_type

import tickgauge as tg

data = tg.read("console.log", clock="62.5MHz")
assert_type(data, tg.Dataset)
print(data.readings.ns, len(data.problems), data.calls)
assert_type(tg.read("a.csv", form="capture"), tg.Capture)
base = tg.read("base.json", form="snapshot")
assert_type(base, tg.Snapshot)
assert_type(tg.read_together("ree.log", "tee.log"), tg.Dataset)
comparison = tg.compare(base, data, margin="5%")
assert_type(comparison, tg.Comparison)
gate = tg.gate(base, data)
status: int = gate.exit_status
made = tg.snapshot(data)
made.save("new.json")
assert_type(tg.trend([data, data]), tg.Trend)
rule = tg.Rule("fft {n:uint} points: {t:uint} usec", value="t", unit="us")
more = tg.read("fft.log", rules=[rule], limits=tg.Limits(keys=1000))
for row in more.keys.grid().to_records():
    print(row)
part = data.readings.select(metric="wakeup")
print(part["value"].max())
tables = tg.tables("old", "new", summary=True)
print(tables.to_rst(), tables.faults, tg.audit("pages").exit_status)
try:
    tg.read("nothing")
except (tg.InputError, tg.LimitError) as error:
    print(error.path, error.line)
batch = tg.batch("logs", by="folder")
print(batch.snapshot, batch.failed)
"""

WRONG = """
import tickgauge as tg

tg.read("console.log", clocks=1)
number: int = tg.read("a.csv", form="capture")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "use.py"
    path.write_text(SCRIPT)
    return path


def _run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    environment = {k: v for k, v in os.environ.items() if k not in ("MYPYPATH", "PYTHONPATH")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.noasan
def test_mypy_strict_takes_a_users_script(script: Path) -> None:
    pytest.importorskip("mypy")
    done = _run(script.parent, "mypy", "--strict", script)
    assert done.returncode == 0, done.stdout + done.stderr
    script.write_text(WRONG)
    done = _run(script.parent, "mypy", "--strict", script)
    assert "use.py:4: error: " in done.stdout and "use.py:5: error: " in done.stdout


@pytest.mark.noasan
def test_pyright_takes_a_users_script(script: Path) -> None:
    pytest.importorskip("basedpyright", reason="the extra 'dev' is not installed")
    (script.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    done = _run(script.parent, "basedpyright", "--pythonpath", sys.executable, script)
    assert "0 errors" in done.stdout, done.stdout
    script.write_text(WRONG)
    done = _run(script.parent, "basedpyright", "--pythonpath", sys.executable, script)
    assert "2 errors" in done.stdout, done.stdout


@pytest.mark.noasan
def test_the_stub_of_the_core_is_true(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\n[mypy-docutils.*]\nignore_missing_imports = True\n")
    done = _run(
        tmp_path, "mypy.stubtest", "tickgauge._core", "--concise", "--mypy-config-file", config
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_form_that_is_asked_for_is_given_or_refused() -> None:
    capture = Path(__file__).parent.parent / "data" / "zynq" / "A.csv.xz"
    assert isinstance(tg.read(capture, form="capture"), tg.Capture)
    with pytest.raises(tg.InputError, match="is a capture, not a dataset"):
        tg.read(capture, form="dataset")
    with pytest.raises(ValueError, match="form is one of dataset, capture, snapshot"):
        tg.read(capture, form="table")  # type: ignore[call-overload]
