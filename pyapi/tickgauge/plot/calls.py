"""The hops of a TEE call: one call as a waterfall, many calls as a distribution per hop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import style
from .distributions import inverted_cdf
from .style import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def waterfall(
    hops: Sequence[tuple[str, float]], ax: Axes | None = None, *, title: str = "", n: str = "1"
) -> Axes:
    """The hops of one call (or the median of each hop) as bars, each starting where the last ended.

    Parameters
    ----------
    hops : sequence of (name, nanoseconds)
        In the order of the call; NaN is a missing hop, drawn as a gap with the word "missing".
    n : str
        How many calls the figures stand for.
    """
    known = [ns for _, ns in hops if not np.isnan(ns)]
    if not known:
        raise ValueError("nothing to plot: the call has no complete hop")
    ax = style.new_axes(ax)
    total = float(np.sum(known))
    divisor, unit = style.scale_of([Series("", np.array([total]))])
    start = 0.0
    for row, (_, ns) in enumerate(hops):
        if np.isnan(ns):
            ax.text(start / divisor, row, " missing", va="center", fontsize="small", style="italic")
            continue
        colour = style.COLOURS[row % len(style.COLOURS)]
        ax.barh(row, ns / divisor, left=start / divisor, color=colour, height=0.65)
        ax.text(
            (start + ns) / divisor,
            row,
            f"  {ns / divisor:.4g} {unit} ({ns / total:.0%})",
            va="center",
            fontsize="small",
        )
        start += ns
    ax.set_yticks(range(len(hops)), [name for name, _ in hops])
    ax.invert_yaxis()
    ax.set_xlim(0, total / divisor * 1.3)
    ax.set(xlabel=f"time since the first stamp [{unit}], n={n}", title=title)
    return style.finish(ax, grid="x")


def hop_distribution(
    series: Sequence[Series], ax: Axes | None = None, *, log: bool | None = None, title: str = ""
) -> Axes:
    """Minimum, median, p90 (from ten calls on) and maximum of each hop over many calls.

    Parameters
    ----------
    series : sequence of Series
        One per hop, in the order of the call.
    """
    style.require(series)
    ax = style.new_axes(ax)
    use_log = style.wants_log(series, log)
    divisor, unit = style.scale_of(series, use_log)
    for row, one in enumerate(series):
        if not one.values.size:
            continue
        ordered = np.sort(one.values) / divisor
        low, high = ordered[0], ordered[-1]
        middle, tail = inverted_cdf(ordered, 0.5), inverted_cdf(ordered, 0.9)
        colour = style.COLOURS[row % len(style.COLOURS)]
        ax.plot([low, high], [row, row], color=colour, linewidth=1)
        if ordered.size >= 10:
            ax.plot(
                [low, tail], [row, row], color=colour, linewidth=6, solid_capstyle="butt", alpha=0.6
            )
        ax.plot(middle, row, "|", color=style.ink(), markersize=13, markeredgewidth=2)
    ax.plot([], [], "|", color=style.ink(), markersize=10, markeredgewidth=2, label="median")
    ax.plot([], [], color="0.5", linewidth=6, alpha=0.6, label="min to p90")
    ax.plot([], [], color="0.5", linewidth=1, label="to max")
    if use_log:
        style.log_axis(ax, "x", divisor, unit)
    ax.set_yticks(range(len(series)), [style.counted(s.label, s.values.size) for s in series])
    ax.invert_yaxis()
    ax.set(xlabel=style.axis_label("time", unit, use_log), title=title)
    style.legend(ax)
    return style.finish(ax, grid="x")
