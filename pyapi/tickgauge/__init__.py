"""Latency of firmware and boards, read off their consoles.

>>> import tickgauge as tg
>>> data = tg.read("console.log")                  # doctest: +SKIP
>>> data.readings.select(metric="wakeup").ns       # doctest: +SKIP

Importing the package does no work; each name below is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as of `typing`, which takes as long to import as all of this

# Where each public name lives: one line for a new one, here and in the imports for type
# checkers below. No module may bear the name of its export: the import system would put
# the module in its place.
_NAMES = {
    "Batch": "batches.batch",
    "Capture": "captures.capture",
    "Comparison": "comparison.result",
    "Dataset": "dataset.dataset",
    "Error": "errors",
    "Frame": "frame.frame",
    "Gate": "comparison.gate_result",
    "InputError": "errors",
    "LimitError": "errors",
    "Limits": "limits",
    "MissingExtra": "errors",
    "NotComparableError": "errors",
    "NotEnoughData": "errors",
    "Readings": "frame.readings",
    "Rule": "rules.rule",
    "RuleError": "errors",
    "Snapshot": "comparison.snapshot",
    "Status": "errors",
    "Trend": "comparison.trend",
    "UnknownName": "errors",
    "audit": "tfa.api",
    "batch": "batches.batch",
    "build_info": "util.versions",
    "compare": "comparison.compare",
    "changes_of": "comparison.ordered",
    "compare_all": "comparison.compare",
    "compare_ports": "captures.two_ports",
    "compare_runs": "captures.run_logs",
    "gate": "comparison.gate",
    "gate_all": "comparison.gate",
    "plan": "comparison.plan",
    "from_columns": "dataset.from_columns",
    "load_rules": "rules.rule",
    "read": "reading.read",
    "read_capture": "captures.files",
    "read_together": "reading.read",
    "show_versions": "util.versions",
    "snapshot": "comparison.make_snapshot",
    "tables": "tfa.api",
    "summarize": "comparison.summary",
    "trend": "comparison.trend",
}

__all__ = [*_NAMES]

if TYPE_CHECKING:
    from typing import Any, Literal, Unpack, overload

    from .batches.batch import Batch as Batch
    from .batches.batch import batch as batch
    from .captures.capture import Capture as Capture
    from .captures.files import read_capture as read_capture
    from .captures.run_logs import compare_runs as compare_runs
    from .captures.two_ports import compare_ports as compare_ports
    from .comparison.compare import compare as compare
    from .comparison.compare import compare_all as compare_all
    from .comparison.gate import gate as gate
    from .comparison.gate import gate_all as gate_all
    from .comparison.gate_result import Gate as Gate
    from .comparison.make_snapshot import snapshot as snapshot
    from .comparison.ordered import changes_of as changes_of
    from .comparison.plan import plan as plan
    from .comparison.result import Comparison as Comparison
    from .comparison.snapshot import Snapshot as Snapshot
    from .comparison.summary import summarize as summarize
    from .comparison.trend import Trend as Trend
    from .comparison.trend import trend as trend
    from .dataset.dataset import Dataset as Dataset
    from .dataset.from_columns import from_columns as from_columns
    from .errors import Error as Error
    from .errors import InputError as InputError
    from .errors import LimitError as LimitError
    from .errors import MissingExtra as MissingExtra
    from .errors import NotComparableError as NotComparableError
    from .errors import NotEnoughData as NotEnoughData
    from .errors import RuleError as RuleError
    from .errors import Status as Status
    from .errors import UnknownName as UnknownName
    from .frame.frame import Frame as Frame
    from .frame.readings import Readings as Readings
    from .limits import Limits as Limits
    from .reading.options import ReadOptions
    from .reading.read import read_together as read_together
    from .rules.rule import Rule as Rule
    from .rules.rule import load_rules as load_rules
    from .tfa.api import audit as audit
    from .tfa.api import tables as tables
    from .util.versions import build_info as build_info
    from .util.versions import show_versions as show_versions

    @overload
    def read(
        *sources: Any, form: Literal["dataset"] | None = None, **options: Unpack[ReadOptions]
    ) -> Dataset: ...
    @overload
    def read(
        *sources: Any, form: Literal["capture"], **options: Unpack[ReadOptions]
    ) -> Capture: ...
    @overload
    def read(
        *sources: Any, form: Literal["snapshot"], **options: Unpack[ReadOptions]
    ) -> Snapshot: ...
    def read(*sources: Any, form: str | None = None, **options: Any) -> Any:
        """Read sources; see `reading.read.read`."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from .util.version import built_version

        found = built_version()
        if not found:
            from .util.versions import version

            found = version()
        return found
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_NAMES[name]}", __name__)
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *_NAMES, "__version__"})  # no modules, which only get in the way of Tab
