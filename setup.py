"""The compiled parts: one static C core, linked into two extension modules.

``tickgauge._core`` uses the NumPy C API. ``_tickgauge_legacy`` serves the drop-in script and
needs neither NumPy nor the package. Everything else about the project is in pyproject.toml.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_py import build_py

SANITIZE = os.environ.get("TICKGAUGE_SANITIZE", "")
COVERAGE = os.environ.get("TICKGAUGE_COVERAGE", "")
#: The core as a library that is compiled already (the Makefile's); empty: it is compiled here.
CORE = os.environ.get("TICKGAUGE_CORE", "")


def files(folder: str, pattern: str) -> list[str]:
    """The files below a folder that match, as setuptools wants them: relative, sorted."""
    return sorted(path.as_posix() for path in Path(folder).glob(pattern))


HEADERS = files("csrc/include", "tickgauge/*.h") + files("csrc/src", "**/*.h")
CORE_SOURCES = files("csrc/src", "**/*.c")
BINDING_HEADERS = files("pyapi/binding", "*.h")
LEGACY_SOURCES = files("pyapi/binding", "legacy_*.c")
BINDING_SOURCES = sorted(set(files("pyapi/binding", "*.c")) - set(LEGACY_SOURCES))
INCLUDES = ["csrc/include", "csrc/src", "pyapi/binding"]

CFLAGS = ["-std=c11", "-O2", "-fvisibility=hidden", "-fstack-protector-strong", "-fno-plt"]
DEFINES: list[tuple[str, str | None]] = []
# One wheel serves every CPython from 3.11 on (abi3). A free-threaded one has no such ABI, and the
# objects of the binding are guarded against a second thread under the GIL only.
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(
        "tickgauge does not support the free-threaded build of CPython: use the usual build of "
        f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    )
PY_DEFINES: list[tuple[str, str | None]] = [("Py_LIMITED_API", "0x030b0000")]
LINK: list[str] = []
if SANITIZE:
    CFLAGS = [
        "-std=c11",
        "-O1",
        "-g",
        "-fno-omit-frame-pointer",
        "-fvisibility=hidden",
        f"-fsanitize={SANITIZE}",
    ]
    LINK = [f"-fsanitize={SANITIZE}"]
elif COVERAGE:
    CFLAGS = ["-std=c11", "-O0", "-g", "-fvisibility=hidden", "--coverage"]
    LINK = ["--coverage"]
else:
    DEFINES = [("_FORTIFY_SOURCE", "2")]
    if sys.platform.startswith("linux"):
        LINK = ["-Wl,-z,relro,-z,now"]


def extension(name: str, sources: list[str], includes: list[str]) -> Extension:
    """One extension on top of the static core; rebuilt when anything it is made of changed."""
    return Extension(
        name,
        sources=sources,
        include_dirs=INCLUDES + includes,
        depends=HEADERS + BINDING_HEADERS + ([CORE] if CORE else CORE_SOURCES),
        extra_objects=[CORE] if CORE else [],
        define_macros=[*DEFINES, *PY_DEFINES, ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        extra_compile_args=CFLAGS,
        extra_link_args=LINK,
        py_limited_api=True,
    )


def extensions() -> list[Extension]:
    found = []
    if BINDING_SOURCES:
        found.append(extension("tickgauge._core", BINDING_SOURCES, [numpy.get_include()]))
    if LEGACY_SOURCES:
        found.append(extension("_tickgauge_legacy", LEGACY_SOURCES, []))
    return found


class Build(build_py):
    """The modules, and beside them forms that load faster: the version, TOML tables as JSON."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "tickgauge"
        (package / "VERSION").write_text(self.distribution.get_version() + "\n")
        for path in package.rglob("*.toml"):
            path.with_suffix(".json").write_text(json.dumps(tomllib.loads(path.read_text("utf-8"))))


def build_options() -> dict[str, dict[str, str]]:
    """Where objects and metadata are left; wheels are abi3.

    A build leaves nothing in the checkout. TICKGAUGE_BUILD names a folder that keeps the objects
    for the next one; instrumented builds have one of their own.
    """
    kind = "sanitize" if SANITIZE else "coverage" if COVERAGE else ""
    base = os.environ.get("TICKGAUGE_BUILD") or (f"build/{kind}-py" if kind else "")
    if base:
        Path(base).mkdir(parents=True, exist_ok=True)
    else:
        base = tempfile.mkdtemp(prefix="tickgauge-build-")
        atexit.register(shutil.rmtree, base, ignore_errors=True)
    return {
        "build": {"build_base": base},
        "egg_info": {"egg_base": base},
        "bdist_wheel": {"py_limited_api": "cp311"},
    }


def libraries() -> list[tuple[str, dict[str, object]]]:
    how = {
        "sources": CORE_SOURCES,
        "obj_deps": {"": HEADERS},
        "include_dirs": INCLUDES,
        "cflags": CFLAGS,
        "macros": DEFINES,
    }
    return [] if CORE else [("tickgauge_static", how)]


setup(
    libraries=libraries(),
    ext_modules=extensions(),
    options=build_options(),
    cmdclass={"build_py": Build},
    # A script and no entry point: an installer's own wrapper imports before it can be guarded.
    scripts=["pyapi/bin/tickgauge", "pyapi/performance_analysis.py"],
)
