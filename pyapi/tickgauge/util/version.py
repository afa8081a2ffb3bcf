"""The version, as the build wrote it beside the modules."""

from __future__ import annotations

__all__ = ["built_version"]


def built_version() -> str:
    """The version of this package; "" where it was not built but runs from its sources."""
    try:
        with open(f"{__file__.rpartition('util')[0]}VERSION", encoding="ascii") as file:  # noqa: PTH123
            return file.read().strip()
    except OSError:
        return ""
