"""Plots (the ``plot`` extra): functions on plain series, and accessors on result objects.

Every function takes ``ax`` (matplotlib Axes, or None for new ones) and returns the Axes. Nothing
here calls ``show()`` or touches rcParams. Units and the number of readings are on every plot.
"""

from __future__ import annotations

from typing import Any

from ..errors import InputError

__all__ = ["accessor"]

# Which module serves which result object: class name -> (module, accessor class).
_ACCESSORS = {
    "Dataset": ("dataset", "DatasetPlot"),
    "Comparison": ("comparison", "ComparisonPlot"),
    "Trend": ("comparison", "TrendPlot"),
}


def accessor(result: Any) -> Any:
    """The plots of a result object: what its ``.plot`` gives.

    Raises
    ------
    InputError
        Nothing is known about plotting such an object.
    """
    from importlib import import_module

    for cls in type(result).__mro__:
        if cls.__name__ in _ACCESSORS:
            module, name = _ACCESSORS[cls.__name__]
            return getattr(import_module(f".{module}", __name__), name)(result)
    raise InputError(f"no plots for {type(result).__name__}")
