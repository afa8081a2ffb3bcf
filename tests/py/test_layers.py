"""The layers of the Python package: imports go down, never round in a circle, never hidden.

The rules are those of CONTRIBUTING. They are read off the syntax trees, so imports for type
checkers count like all others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[2] / "pyapi" / "tickgauge"

#: Layer of each package and module at the top of the package; an import goes to a lower number.
LAYERS = {
    "__main__": 13,
    "cli": 11,
    "tfa": 10, "batches": 10, "live": 10, "report": 10, "exports": 10, "runs": 10,
    "comparison": 9, "captures": 9,
    "reading": 8, "calls": 8,
    "dataset": 7,
    "plot": 6,
    "sources": 5, "frame": 5,
    "rules": 4, "boards": 4,
    "util": 3,
    "limits": 2, "units": 2,
    "errors": 1,
    "_core": 0,
}  # fmt: skip

#: Where imports inside functions save start-up time: the commands, and the lazy public names.
LATE = ("cli", "__init__", "__main__")
#: Packages that only make sense with an optional extra: imported when it is used.
EXTRAS = ("plot",)
MOST_AT_THE_TOP = 24


class Import(NamedTuple):
    """One imported module, and the place of the import."""

    module: str
    line: int
    inside: bool
    own: bool


def _imports(tree: ast.AST, package: list[str], modules: set[str]) -> Iterator[Import]:
    def walk(node: ast.AST, inside: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, child.lineno, inside, False)
            elif isinstance(child, ast.ImportFrom) and not child.level:
                yield Import(child.module or "", child.lineno, inside, False)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1]
                base += child.module.split(".") if child.module else []
                for alias in child.names:
                    full = ".".join([*base, alias.name])
                    target = full if full in modules else ".".join(base)
                    yield Import(target, child.lineno, inside, True)
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from walk(child, inside or function)

    return walk(tree, False)


def faults(sources: Mapping[str, str]) -> list[str]:
    """Everything in a package that breaks the rules.

    Parameters
    ----------
    sources : mapping
        The path of each file below the package, and its text.
    """
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
             for path in sources}  # fmt: skip
    modules = {*names, "_core"}
    edges: dict[str, set[str]] = {}
    found = []
    for name, path in names.items():
        parts = name.split(".")
        package = [] if path == "__init__.py" else parts
        if not path.endswith("__init__.py"):
            package = parts[:-1]
        top = parts[0]
        for one in _imports(ast.parse(sources[path]), package, modules):
            head = one.module.partition(".")[0]
            if one.inside and top not in LATE and not _is_extra(one):
                found.append(f"{path}:{one.line}: {one.module} is imported inside a function")
            if not one.own or name == "__init__" or (not one.module and top in LATE):
                continue
            edges.setdefault(name, set()).add(one.module)
            if head != top and LAYERS[head] >= LAYERS[top]:
                found.append(f"{path}:{one.line}: {top} imports {head}, which is not below it")
    return found + [f"a circle: {' -> '.join(circle)}" for circle in _circles(edges)]


def _is_extra(one: Import) -> bool:
    head = one.module.partition(".")[0]
    if one.own:
        return head in EXTRAS
    return head not in sys.stdlib_module_names or head == "compression"  # zstd: Python 3.14


def _circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """One circle for each import that leads back to a module still being walked."""
    done: set[str] = set()
    found = []

    def walk(name: str, path: list[str]) -> None:
        if name in path:
            found.append([*path[path.index(name) :], name])
            return
        if name in done:
            return
        for target in sorted(edges.get(name, ())):
            walk(target, [*path, name])
        done.add(name)

    for name in edges:
        walk(name, [])
    return found


def test_imports_go_down_and_never_in_a_circle() -> None:
    files = {str(path.relative_to(PACKAGE)): path.read_text() for path in PACKAGE.rglob("*.py")}
    assert faults(files) == []


def test_the_top_of_the_package_fits_on_a_screen() -> None:
    here = [p.name for p in PACKAGE.iterdir() if p.name not in ("__pycache__", "py.typed")]
    entries = {n.removesuffix(".py") for n in here if not n.endswith((".pyi", ".so"))}
    assert len(entries) <= MOST_AT_THE_TOP, sorted(entries)
    modules = {p.stem for p in PACKAGE.glob("*.py")} - {"__init__"}
    packages = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    assert modules | packages | {"_core"} == {*LAYERS}


SOUND = {
    "__init__.py": "def __getattr__(name):\n    from .reading import read\n",
    "errors.py": "import enum\n",
    "reading/__init__.py": "",
    "reading/read.py": "import io\nfrom .. import errors\nfrom ..dataset.dataset import D\n",
    "dataset/__init__.py": "",
    "dataset/dataset.py": "from .._core import Table\ndef plot():\n    import matplotlib.pyplot\n",
    "dataset/calls.py": "from .dataset import Dataset\n",
}


def test_a_sound_package_has_no_fault() -> None:
    assert faults(SOUND) == []


@pytest.mark.parametrize(
    ("path", "line", "fault"),
    [
        ("dataset/dataset.py", "from ..reading.read import read\n", "not below it"),
        ("dataset/dataset.py", "from ..reading import read\n", "not below it"),
        ("errors.py", "from .reading.read import read\n", "not below it"),
        ("dataset/dataset.py", "from .calls import calls\n", "a circle"),
        ("dataset/dataset.py", "if TYPE_CHECKING:\n    from .calls import x\n", "a circle"),
        ("reading/read.py", "def f():\n    import json\n", "inside a function"),
        ("reading/read.py", "def f():\n    from ..errors import Error\n", "inside a function"),
        (
            "reading/read.py",
            "f = lambda: __import__\nclass A:\n  def g(s):\n    import io\n",
            "inside",
        ),
    ],
)
def test_one_wrong_import_is_found(path: str, line: str, fault: str) -> None:
    found = faults({**SOUND, path: SOUND[path] + line})
    assert len(found) >= 1
    assert fault in " ".join(found)
