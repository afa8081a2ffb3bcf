"""Tables of the package: TOML files, and their built forms."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .late import tomllib

__all__ = ["shipped_table"]


def shipped_table(path: Path) -> dict[str, Any]:
    """A TOML file of the package, from the JSON twin that the build made of it where there is one.

    Raises
    ------
    ValueError
        It is no TOML.
    """
    twin = path.with_suffix(".json")
    if os.path.exists(twin):  # noqa: PTH110
        table: dict[str, Any] = json.loads(twin.read_bytes())
        return table
    return tomllib.loads(path.read_text("utf-8"))
