"""The versions that run here: of the package, of Python, and of the optional libraries."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any

from .._core import build_info as core_build_info
from .version import built_version

__all__ = ["build_info", "show_versions", "version"]

_OPTIONAL = (
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "jinja2",
    "distributed",
    "fsspec",
    "pyserial",
    "backports.zstd",
    "tqdm",
    "docutils",
    "zlib-ng",
)


def _of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def version() -> str:
    """The version of this package."""
    return built_version() or _of("tickgauge") or "unknown"


def build_info() -> dict[str, Any]:
    """How the extension was built.

    Returns
    -------
    dict
        compiler, byte_order, c_standard, python_headers, numpy_c_api, address_sanitizer.
    """
    return core_build_info()


def show_versions() -> None:
    """Print the facts that a bug report needs: versions, platform, how the extension was built."""
    rows = [
        ("tickgauge", version()),
        ("python", sys.version.split()[0] + " " + platform.python_implementation()),
        ("platform", platform.platform()),
        ("numpy", _of("numpy") or "-"),
        *((name, _of(name) or "-") for name in _OPTIONAL),
        *((f"build: {name}", str(value)) for name, value in build_info().items()),
    ]
    width = max(len(name) for name, _ in rows)
    print("\n".join(f"{name:<{width}}  {value}" for name, value in rows))
