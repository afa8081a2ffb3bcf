"""The examples of docstrings run and give the output they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tickgauge

MODULES = [
    found.name
    for found in pkgutil.walk_packages(tickgauge.__path__, "tickgauge.")
    if not found.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"an extra is missing: {error}")
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = [importlib.import_module(name) for name in MODULES]
    assert sum(len(case.examples) for m in modules for case in finder.find(m)) > 10
