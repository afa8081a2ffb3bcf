"""What importing the package loads, and that every public name can be had."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import tickgauge


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_import_loads_numpy_and_nothing_else_of_others():
    loaded = json.loads(
        python("import sys, tickgauge, json; print(json.dumps(sorted(sys.modules)))")
    )
    tops = {name.partition(".")[0] for name in loaded}
    assert "numpy" in tops
    others = {"matplotlib", "pandas", "polars", "pyarrow", "scipy", "jinja2", "tqdm", "fsspec"}
    assert not tops & others
    assert [m for m in loaded if m.startswith("tickgauge.")] == []


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
