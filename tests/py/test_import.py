"""What importing the package loads, and that every public name can be had."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import tickgauge
from tickgauge.cli import VERBS


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def loaded(*arguments: str) -> list[str]:
    """The modules that a run of Python with these arguments loads."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in lines]


def test_importing_the_package_loads_nothing_else():
    found = loaded("-c", "import tickgauge")
    assert [m for m in found if m.startswith("tickgauge.")] == []
    assert not {m.partition(".")[0] for m in found} & {"numpy", "typing", "json", "argparse"}


def test_the_commands_that_tell_of_the_program_start_at_once():
    allowed = {"tickgauge.__main__", "tickgauge.util", "tickgauge.cli"}
    allowed |= {"tickgauge.util.version", "tickgauge.util.interrupts"}
    for option in ("--version", "--help"):
        found = loaded("-m", "tickgauge", option)
        assert "tickgauge" in found
        assert {m for m in found if m.startswith("tickgauge.")} <= allowed
        assert "numpy" not in found


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_needs_no_numpy(verb):
    found = loaded("-m", "tickgauge", verb, "--help")
    assert "tickgauge.cli.common" in found
    assert "numpy" not in found


def test_a_console_is_read_without_what_other_forms_need(tmp_path):
    (tmp_path / "a.log").write_text("<RT_INSTR:t\t0\t1\t20\t50\t60/>\n")
    found = loaded("-m", "tickgauge", "show", str(tmp_path / "a.log"))
    assert "tickgauge.reading.read" in found
    for other in ("tickgauge.tfa", "tickgauge.comparison", "tickgauge.captures", "numpy.ma"):
        assert other not in found


def test_the_version_is_the_one_that_was_built():
    assert tickgauge.__version__ == version("tickgauge")
    command = [sys.executable, "-m", "tickgauge", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"tickgauge {tickgauge.__version__}\n"


def test_the_twins_of_shipped_tables_say_the_same():
    package = Path(tickgauge.__file__).parent
    tables = list(package.rglob("*.toml"))
    assert len(tables) > 5
    for path in tables:
        twin = json.loads(path.with_suffix(".json").read_text())
        assert twin == tomllib.loads(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("error", "status"),
    [("KeyboardInterrupt", 130), ("MemoryError", 2), ("ImportError('x')", 2), ("SystemError", 2)],
)
def test_a_failure_while_importing_has_its_own_status_and_no_traceback(tmp_path, error, status):
    (tmp_path / "argparse.py").write_text(f"raise {error}\n")  # found before the library's
    done = subprocess.run(
        [sys.executable, "-m", "tickgauge", "show"], capture_output=True, text=True, timeout=60,
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == status
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", tickgauge.__all__)
def test_every_public_name_is_there(name):
    assert getattr(tickgauge, name) is not None
    assert name in dir(tickgauge)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tickgauge.nothing


def test_no_module_bears_the_name_of_what_it_exports():
    """Importing tickgauge.x would otherwise replace the function tickgauge.x by the module."""
    for name in tickgauge.__all__:
        assert tickgauge._NAMES[name] != name


def test_a_missing_extra_says_what_to_install():
    from tickgauge.util.optional import need

    with pytest.raises(ImportError, match=r"pip install 'tickgauge\[plot\]'"):
        need("no_such_library_here.part", "plot")


def test_tab_offers_what_is_public_and_no_modules():
    shown = [name for name in dir(tickgauge) if not name.startswith("__")]
    assert sorted(shown) == sorted(tickgauge.__all__)
