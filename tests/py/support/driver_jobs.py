"""What the tests of drivers have done: importable, so that a new process can have it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path


def square(item: int) -> int:
    if item == 13:
        raise ValueError("thirteen")
    return item * item


def merge(parts: Sequence[bytes]) -> bytes:
    """A merge that any order and grouping gives the same: the sorted set of the lines."""
    return b"\n".join(sorted({line for part in parts for line in part.split(b"\n")}))


class Killer:
    """Kills its process at one item: always, or only the first time."""

    def __init__(self, item: int, once: Path | None = None) -> None:
        self.item = item
        self.once = once

    def __call__(self, item: int) -> int:
        if item == self.item and not (self.once and self.once.exists()):
            if self.once:
                self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item


def setting(name: str) -> str | None:
    """What the environment of the process that works says."""
    return os.environ.get(name)
