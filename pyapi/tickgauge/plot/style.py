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
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: A verdict's colour and mark: each is told apart by the mark alone.
VERDICT_COLOURS = {
    "regressed": "#D55E00",
    "improved": "#009E73",
    "equivalent": "#0072B2",
    "changed": "#E69F00",
    "inconclusive": "#7F7F7F",
    "unreplicated": "#7F7F7F",
}
VERDICT_MARKERS = {
    "regressed": "^",
    "improved": "v",
    "equivalent": "s",
    "changed": "D",
    "inconclusive": "o",
    "unreplicated": "P",
}

#: Inches of a row of text, and of what stands above and below all rows.
ROW, AROUND = 0.22, 1.3
#: Inches of a letter of a label.
LETTER = 0.07
#: The label of figures that were made here, and may grow with their legend.
OWN = "tickgauge"
#: Points of one series that are drawn one by one; beyond it equal ones are drawn once.
MANY = 20_000

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


def new_axes(ax: Axes | None, labels: Sequence[str] = ()) -> Axes:
    """The given Axes, or new ones with room for so many rows and for their labels.

    Nothing is shown and no rcParams are changed.

    Raises
    ------
    MissingExtra
        Where matplotlib is missing; the text says which extra brings it.
    """
    if ax is not None:
        return ax
    plt = need("matplotlib.pyplot", "plot")
    figure = plt.figure(layout="constrained")
    width, height = figure.get_size_inches()
    width += LETTER * max(map(len, labels), default=0)
    figure.set_size_inches(width, max(height, ROW * len(labels) + AROUND))
    figure.set_label(OWN)
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


def ink() -> Any:
    """The colour of text, which stands out on the background whatever the style sheet."""
    return need("matplotlib", "plot").rcParams["text.color"]


def legend(ax: Axes, *, always: bool = False) -> None:
    """A legend beside the data, so that none of its marks looks like a reading.

    It is left out where one entry would only repeat the title. In a figure whose layout makes no
    room for it, it stands inside, in a frame.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not (always or len(labels) > 1 or (labels and not ax.get_title())):
        return
    figure: Any = ax.figure
    if figure.get_label() == OWN:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + LETTER * max(map(len, labels)) + 0.4, height)
    if figure.get_layout_engine() is None:
        ax.legend(handles, labels, fontsize="small", framealpha=0.9)
    else:
        ax.legend(
            handles, labels, frameon=False, fontsize="small", loc="upper left",
            bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0,
        )  # fmt: skip


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Points of which those that would cover each other are drawn once.

    Up to `MANY` all of them; beyond, one for each x and each of 1024 levels of y.
    """
    if y.size <= MANY:
        return x, y
    low, high = float(y.min()), float(y.max())
    level = ((y - low) * (1023 / (high - low if high > low else 1.0))).astype(np.int64)
    place = np.unique(x, return_inverse=True)[1] if x[0] != x[-1] or np.ptp(x) else 0
    kept = np.unique(place * 1024 + level, return_index=True)[1]
    return x[kept], y[kept]


def time_text(ns: float) -> str:
    """A time with its SI unit: ``500 ns``, ``1 ms``.

    >>> time_text(1e6), time_text(2500.0)
    ('1 ms', '2.5 µs')
    """
    for divisor, word in _UNITS:
        if abs(ns) >= divisor * (1 - 1e-9):
            size = ns / divisor
            return f"{size:.0f} {word}" if abs(size) >= 1e4 else f"{size:.4g} {word}"
    return f"{ns:.4g} ns"


def axis_label(quantity: str, unit: str, log: bool = False) -> str:
    """The label of an axis; a logarithmic one of times has the unit at each mark."""
    return quantity if log and any(unit == word for _, word in _UNITS) else f"{quantity} [{unit}]"


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


def log_axis(ax: Axes, which: str, divisor: float = 1.0, unit: str = "") -> None:
    """A logarithmic axis ("x" or "y") with marks at each decade, over few decades at 2 and 5 too.

    Values of a unit of time (`divisor` ns) have it at each mark, so that no mark needs an exponent.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(LogLocator(base=10, subs=(1.0,), numticks=12))
    (ax.set_xscale if which == "x" else ax.set_yscale)("log")
    ax.autoscale_view(scalex=which == "x", scaley=which == "y")  # limits of before may be below 0
    low, high = sorted(ax.get_xlim() if which == "x" else ax.get_ylim())
    subs = (1.0, 2.0, 5.0) if high < 60 * low else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=20))
    timed = any(unit == word for _, word in _UNITS)
    axis.set_major_formatter(
        FuncFormatter(lambda v, _: time_text(v * divisor) if timed else f"{v:.6g}")
    )
    axis.set_minor_formatter(NullFormatter())
