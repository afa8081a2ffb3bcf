"""Latency of firmware and boards, read off their consoles.

>>> import tickgauge as tg
>>> data = tg.read("console.log")                  # doctest: +SKIP
>>> data.readings.select(metric="wakeup").ns       # doctest: +SKIP

Importing the package does no work; each name below is loaded when it is first used.
"""

# ruff: noqa: F401  (the imports below are for type checkers)

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy  # the one thing that importing the package loads

# Where each public name lives: one line for a new one, here and in the imports for type
# checkers below. No module may bear the name of what it exports: the import system would put
# the module in its place.
_NAMES = {
    "Batch": "fleet.run",
    "Capture": "capture",
    "Comparison": "comparison",
    "Dataset": "dataset",
    "Error": "errors",
    "Frame": "frame",
    "Gate": "gating",
    "InputError": "errors",
    "LimitError": "errors",
    "Limits": "unpack",
    "MissingExtra": "errors",
    "NotComparableError": "errors",
    "NotEnoughData": "errors",
    "Readings": "readings",
    "Rule": "rules",
    "RuleError": "errors",
    "Snapshot": "snapshots",
    "Status": "errors",
    "Trend": "trends",
    "UnknownName": "errors",
    "audit": "release.api",
    "batch": "fleet.run",
    "build_info": "versions",
    "compare": "comparing",
    "compare_ports": "axi",
    "compare_runs": "runs",
    "gate": "gating",
    "from_columns": "columns",
    "load_rules": "rules",
    "read": "reading",
    "read_capture": "capture_files",
    "read_together": "reading",
    "show_versions": "versions",
    "snapshot": "snapshots",
    "tables": "release.api",
    "summarize": "summaries",
    "trend": "trends",
}

__all__ = [*_NAMES]

if TYPE_CHECKING:
    from .axi import compare_ports
    from .capture import Capture
    from .capture_files import read_capture
    from .columns import from_columns
    from .comparing import compare
    from .comparison import Comparison
    from .dataset import Dataset
    from .errors import (
        Error,
        InputError,
        LimitError,
        MissingExtra,
        NotComparableError,
        NotEnoughData,
        RuleError,
        Status,
        UnknownName,
    )
    from .fleet.run import Batch, batch
    from .frame import Frame
    from .gating import Gate, gate
    from .reading import read, read_together
    from .readings import Readings
    from .release.api import audit, tables
    from .rules import Rule, load_rules
    from .runs import compare_runs
    from .snapshots import Snapshot, snapshot
    from .summaries import summarize
    from .trends import Trend, trend
    from .unpack import Limits
    from .versions import build_info, show_versions


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .versions import version

        return version()
    try:
        module = importlib.import_module(f".{_NAMES[name]}", __name__)
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *_NAMES, "__version__"})  # no modules, which only get in the way of Tab
