"""``tickgauge versions``: the versions that run here."""

from __future__ import annotations

import argparse
from typing import Any

from . import common


def add(subparsers: Any) -> None:
    """Add the verb."""
    common.add_verb(
        subparsers,
        "versions",
        run,
        "What runs here: versions of the program and of what it uses, for bug reports.",
        output=False,
    )


def run(args: argparse.Namespace) -> int:
    """Print the versions."""
    from ..util.versions import show_versions

    show_versions()
    return common.DONE
