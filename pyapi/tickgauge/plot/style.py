"""Code that all plots share: axes, units, colours that survive colour blindness and print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..util.optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

#: Okabe and Ito's palette without its yellow, which print loses; dark and light alternate so that
#: neighbours differ in grey as well.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: A verdict's colour; the word always stands beside it, so colour is never the only sign.
VERDICT_COLOURS = {
    "regressed": "#D55E00",
    "improved": "#009E73",
    "equivalent": "#0072B2",
    "changed": "#E69F00",
    "inconclusive": "#7F7F7F",
    "unreplicated": "#7F7F7F",
}

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "\N{MICRO SIGN}s"), (1.0, "ns"))


@dataclass(frozen=True)
class Series:
    """One set of readings to draw.

    Parameters
    ----------
    label : str
        Text of the legend.
    values : float64 array, shape (n,)
        In nanoseconds, or in the unit that `unit` names.
    resolution : float
        Step the values move in, in the same unit; 0 where it is unknown.
    group : str
        Series of one group share a colour (a cluster, say).
    unit : str
        "ns" is scaled for the axis; any other word is used as it is.
    """

    label: str
    values: Floats
    resolution: float = 0.0
    group: str = ""
    unit: str = "ns"
    boots: npt.NDArray[np.int64] | None = field(default=None, compare=False)


def new_axes(ax: Axes | None) -> Axes:
    """The given Axes, or new ones; nothing is shown and no rcParams are changed.

    Raises
    ------
    MissingExtra
        Where matplotlib is missing; the text says which extra brings it.
    """
    if ax is not None:
        return ax
    plt = need("matplotlib.pyplot", "plot")
    figure = plt.figure(layout="constrained")
    axes: Axes = figure.add_subplot()
    return axes


def scale_of(series: Sequence[Series], log: bool = False) -> tuple[float, str]:
    """Divisor and unit word in which the axis of these series reads well.

    A linear axis takes the unit of its largest value, a logarithmic one that of the median.
    """
    unit = series[0].unit if series else "ns"
    if unit != "ns":
        return 1.0, unit
    filled = [np.abs(s.values) for s in series if s.values.size]
    if not filled:
        return _UNITS[-1]
    size = float(np.median(np.concatenate(filled)) if log else max(v.max() for v in filled))
    for divisor, word in _UNITS:
        if size >= divisor:
            return divisor, word
    return _UNITS[-1]


def wants_log(series: Sequence[Series], log: bool | None) -> bool:
    """`log` itself, or where it is None: all positive and over more than a factor of 30."""
    if log is not None:
        return log
    filled = [s.values for s in series if s.values.size]
    if not filled:
        return False
    low = min(float(v.min()) for v in filled)
    high = max(float(v.max()) for v in filled)
    return low > 0 and high > 30 * low


def require(series: Sequence[Series]) -> None:
    """A clear error where there is nothing to draw or where units would be mixed.

    Raises
    ------
    ValueError
        No readings at all, or two units on one axis.
    """
    if not any(s.values.size for s in series):
        raise ValueError("nothing to plot: the selection has no readings")
    units = {s.unit for s in series}
    if len(units) > 1:
        raise ValueError(f"one axis cannot show {', '.join(sorted(units))}: select one unit")


def colour_of(groups: Sequence[str]) -> dict[str, str]:
    """A colour for each distinct group, in order of first use."""
    distinct = dict.fromkeys(groups)
    return {group: COLOURS[i % len(COLOURS)] for i, group in enumerate(distinct)}


def legend(ax: Axes, **options: Any) -> None:
    """A frameless legend, left out where one entry would only repeat the title."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) > 1 or (labels and not ax.get_title()):
        ax.legend(handles, labels, frameon=False, fontsize="small", **options)


def finish(ax: Axes, *, grid: str = "both") -> Axes:
    """The last touches of every plot: light grid behind the data, no upper and right frame."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid == "both":
        ax.grid(True, linewidth=0.5, alpha=0.4)
    elif grid:
        ax.grid(True, axis="x" if grid == "x" else "y", linewidth=0.5, alpha=0.4)
    ax.set_axisbelow(True)
    return ax


def counted(label: str, n: int) -> str:
    """The label with its number of readings, as every legend and axis shows it."""
    return f"{label} (n={n})"


def whole_numbers(ax: Axes) -> None:
    """Only whole numbers as marks of the x axis: boots, ranks."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def log_axis(ax: Axes, which: str) -> None:
    """A logarithmic axis ("x" or "y") with plain numbers at 1, 2 and 5 of each decade."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(LogLocator(base=10, subs=(1.0,), numticks=12))
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    ax.autoscale_view(scalex=which == "x", scaley=which == "y")  # limits of before may be below 0
    low, high = sorted(ax.get_xlim() if which == "x" else ax.get_ylim())
    subs = (1.0, 2.0, 5.0) if high < 2000 * low else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=20))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())
