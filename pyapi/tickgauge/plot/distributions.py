"""Where readings lie: ECDF, histogram on the tick grid, strips per CPU, pairs, timelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import style
from .style import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID_LINES = 40
_MAX_BINS = 120


def _tick_grid(ax: Axes, series: Sequence[Series], divisor: float) -> None:
    """Faint lines at every step the values can move in, where these are few enough to see."""
    resolution = max(s.resolution for s in series)
    filled = [s.values for s in series if s.values.size]
    low = min(v.min() for v in filled)
    high = max(v.max() for v in filled)
    if resolution <= 0 or (high - low) / resolution > _GRID_LINES:
        return
    ticks = np.arange(int(low // resolution), int(high // resolution) + 2) * resolution / divisor
    whole = ax.get_xaxis_transform()
    ax.vlines(ticks, 0, 1, transform=whole, color="0.5", alpha=0.25, linewidth=0.6, zorder=0)


def inverted_cdf(ordered: style.Floats, p: float) -> float:
    """The p-quantile of sorted values that is itself a value (Hyndman and Fan's type 1)."""
    n = ordered.size
    return float(ordered[min(n - 1, max(0, int(np.ceil(p * n - 1e-9)) - 1))])


def ecdf(
    series: Sequence[Series],
    ax: Axes | None = None,
    *,
    quantiles: Sequence[float] = (0.5, 0.9, 0.99),
    log: bool | None = None,
    title: str = "",
) -> Axes:
    """Empirical distribution functions as steps, quantiles (inverted CDF) marked.

    Parameters
    ----------
    series : sequence of Series
        One line each.
    quantiles : sequence of float
        Marked where n is large enough to tell them, n >= 1/(1-p).
    log : bool, optional
        Logarithmic value axis; by default where values span more than a factor of 30.
    """
    style.require(series)
    ax = style.new_axes(ax)
    use_log = style.wants_log(series, log)
    divisor, unit = style.scale_of(series, use_log)
    if not use_log:
        _tick_grid(ax, series, divisor)
    for i, one in enumerate(s for s in series if s.values.size):
        ordered = np.sort(one.values)
        n = ordered.size
        colour = style.COLOURS[i % len(style.COLOURS)]
        x = np.concatenate([ordered[:1], ordered]) / divisor
        y = np.arange(n + 1) / n
        if n > style.MANY:  # steps that nobody could see: the last of each 1/5000
            keep = np.unique(np.r_[0, np.linspace(1, n, 5000).astype(np.int64)])
            x, y = x[keep], y[keep]
        ax.step(x, y, where="post", color=colour, label=style.counted(one.label, n))
        told = [p for p in quantiles if n * (1 - p) >= 1 - 1e-9]
        at = [inverted_cdf(ordered, p) / divisor for p in told]
        ax.plot(at, told, style.MARKERS[i % len(style.MARKERS)], color=colour, markersize=4)
    if use_log:
        style.log_axis(ax, "x", divisor, unit)
    ax.set_ylim(-0.02, 1.02)
    ax.set(
        xlabel=style.axis_label("latency", unit, use_log), ylabel="share of readings", title=title
    )
    style.legend(ax)
    return style.finish(ax)


def tick_bins(series: Sequence[Series], bins: int | None = None) -> style.Floats:
    """Bin edges that lie between ticks, each bin a whole number of ticks wide, in the series' unit.

    Without a known resolution the range is cut into equal parts.
    """
    filled = np.concatenate([s.values for s in series])
    low, high = float(filled.min()), float(filled.max())
    wanted = bins or min(_MAX_BINS, max(10, int(2 * np.sqrt(filled.size))))
    step = max(s.resolution for s in series)
    if step <= 0:
        return np.linspace(low, high if high > low else low + 1, wanted + 1)
    ticks = max(1.0, np.ceil((high - low) / step / wanted))
    first = np.floor(low / step) - 0.5
    count = int(np.floor((high / step - first) / ticks)) + 1
    edges: style.Floats = (first + ticks * np.arange(count + 1)) * step
    return edges


def _log_bins(series: Sequence[Series], bins: int | None) -> style.Floats:
    """Edges of equal ratios, moved to between ticks; those that then coincide are one."""
    filled = np.concatenate([s.values for s in series])
    low, high = float(filled.min()), float(filled.max())
    step = min((s.resolution for s in series if s.resolution > 0), default=0.0)
    edges = np.geomspace(low, high, (bins or min(60, max(12, int(2 * np.sqrt(filled.size))))) + 1)
    if step > 0:
        edges = (np.floor(edges / step) - 0.5) * step
        edges[-1] = (np.floor(high / step) + 0.5) * step
        edges[0] = max(edges[0], step / 2 if low >= step else low / 2)
    made: style.Floats = np.unique(edges)
    return made


def histogram(
    series: Sequence[Series],
    ax: Axes | None = None,
    *,
    bins: int | None = None,
    log: bool | None = None,
    title: str = "",
) -> Axes:
    """Counts in bins whose edges lie between ticks.

    On a linear axis every bin holds equally many ticks, on a logarithmic one equal ratios.

    Parameters
    ----------
    bins : int, optional
        About how many; rounded to whole ticks a bin.
    log : bool, optional
        Logarithmic value axis; by default where values span more than a factor of 30.
    """
    style.require(series)
    ax = style.new_axes(ax)
    use_log = style.wants_log(series, log)
    divisor, unit = style.scale_of(series, use_log)
    edges = _log_bins(series, bins) if use_log else tick_bins(series, bins)
    for i, one in enumerate(s for s in series if s.values.size):
        ax.hist(
            one.values / divisor,
            bins=list(edges / divisor),
            histtype="stepfilled",
            alpha=0.55,
            color=style.COLOURS[i % len(style.COLOURS)],
            edgecolor=style.COLOURS[i % len(style.COLOURS)],
            label=style.counted(one.label, one.values.size),
        )
    width = (edges[1] - edges[0]) / divisor
    each = f"bin of x{(edges[-1] / edges[-2]):.3g}" if use_log else f"{width:.4g} {unit}"
    if use_log:
        style.log_axis(ax, "x", divisor, unit)
    ax.set(
        xlabel=style.axis_label("latency", unit, use_log), ylabel=f"readings per {each}",
        title=title,
    )  # fmt: skip
    style.legend(ax)
    return style.finish(ax)


def _spread(values: style.Floats, width: float) -> style.Floats:
    """Sideways offsets that part equal values: deterministic, no random jitter."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    lengths = np.diff(np.r_[starts, values.size])
    within = np.arange(values.size) - np.repeat(starts, lengths)
    shift = (within - np.repeat((lengths - 1) / 2, lengths)) * width / max(lengths.max(), 8)
    out = np.empty_like(values)
    out[order] = shift
    return out


def strip(
    series: Sequence[Series],
    ax: Axes | None = None,
    *,
    kind: str = "strip",
    log: bool | None = None,
    title: str = "",
) -> Axes:
    """One column of points (or a violin) per CPU, coloured by cluster, the median as a bar.

    Parameters
    ----------
    series : sequence of Series
        One per CPU; `group` names its cluster.
    kind : {"strip", "violin"}
        A violin needs at least ten readings and two values; a CPU with fewer is drawn as points.
    """
    if kind not in ("strip", "violin"):
        raise ValueError(f"kind is 'strip' or 'violin', not {kind!r}")
    style.require(series)
    ax = style.new_axes(ax)
    use_log = style.wants_log(series, log)
    divisor, unit = style.scale_of(series, use_log)
    colours = style.colour_of([s.group for s in series])
    seen: set[str] = set()
    for i, one in enumerate(series):
        if not one.values.size:
            continue
        values = one.values / divisor
        colour = colours[one.group]
        label = one.group if one.group and one.group not in seen else None
        seen.add(one.group)
        if kind == "violin" and values.size >= 10 and values.min() < values.max():
            parts = ax.violinplot([values], positions=[i], widths=0.8, showextrema=False)
            for body in parts["bodies"]:  # type: ignore[attr-defined]
                body.set(facecolor=colour, alpha=0.5)
            ax.plot([], [], "s", color=colour, label=label)
        else:
            across, shown = style.thinned(i + _spread(values, 0.7), values)
            ax.plot(across, shown, "o", color=colour, alpha=0.6, ms=3.5, label=label)
        middle = inverted_cdf(np.sort(values), 0.5)
        ax.plot([i - 0.35, i + 0.35], [middle, middle], color=style.ink(), linewidth=1.2)
    if use_log:
        style.log_axis(ax, "y", divisor, unit)
    labels = [f"{s.label}\nn={s.values.size}" for s in series]
    ax.set_xticks(range(len(series)), labels, fontsize="small")
    ax.set(ylabel=style.axis_label("latency", unit, use_log), xlabel="CPU", title=title)
    style.legend(ax)
    return style.finish(ax, grid="y")


def pairs(
    x: Sequence[Series],
    y: Sequence[Series],
    ax: Axes | None = None,
    *,
    title: str = "",
    names: tuple[str, str] = ("powerdown", "wakeup"),
) -> Axes:
    """One quantity against another, reading by reading: suspend against wakeup of each CPU.

    Parameters
    ----------
    x, y : sequences of Series of equal length
        Element i of both is one CPU; values are paired in order (NaN = missing, left out).
    """
    style.require(x)
    style.require(y)
    ax = style.new_axes(ax)
    x_divisor, x_unit = style.scale_of(x)
    y_divisor, y_unit = style.scale_of(y)
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        both = ~(np.isnan(a.values) | np.isnan(b.values))
        ax.plot(
            a.values[both] / x_divisor,
            b.values[both] / y_divisor,
            style.MARKERS[i % len(style.MARKERS)],
            color=style.COLOURS[i % len(style.COLOURS)],
            alpha=0.7,
            markersize=4.5,
            label=style.counted(a.label, int(both.sum())),
        )
    x_log, y_log = style.wants_log(x, None), style.wants_log(y, None)
    if x_log:
        style.log_axis(ax, "x", x_divisor, x_unit)
    if y_log:
        style.log_axis(ax, "y", y_divisor, y_unit)
    ax.set(
        xlabel=style.axis_label(names[0], x_unit, x_log),
        ylabel=style.axis_label(names[1], y_unit, y_log),
        title=title,
    )
    style.legend(ax)
    return style.finish(ax)


def timeline(
    series: Sequence[Series], ax: Axes | None = None, *, log: bool | None = None, title: str = ""
) -> Axes:
    """Readings over boots in the order they were read; a boot without a reading is a gap.

    Parameters
    ----------
    series : sequence of Series
        `boots` holds the boot number of every value, shape (n,).
    """
    style.require(series)
    ax = style.new_axes(ax)
    use_log = style.wants_log(series, log)
    divisor, unit = style.scale_of(series, use_log)
    for i, one in enumerate(s for s in series if s.values.size):
        boots = one.boots if one.boots is not None else np.arange(one.values.size)
        colour = style.COLOURS[i % len(style.COLOURS)]
        marker = style.MARKERS[i % len(style.MARKERS)]
        ax.plot(
            *style.thinned(boots.astype(float), one.values / divisor),
            marker,
            color=colour,
            alpha=0.6,
            ms=3.5,
            label=style.counted(one.label, one.values.size),
        )
        distinct = np.unique(boots)
        middle = [inverted_cdf(np.sort(one.values[boots == b]), 0.5) / divisor for b in distinct]
        line = np.full(int(distinct[-1] - distinct[0]) + 1, np.nan)
        line[(distinct - distinct[0]).astype(np.intp)] = middle
        ax.plot(np.arange(line.size) + distinct[0], line, color=colour, linewidth=1)
    if use_log:
        style.log_axis(ax, "y", divisor, unit)
    style.whole_numbers(ax)
    ax.set(xlabel="boot", ylabel=style.axis_label("latency", unit, use_log), title=title)
    style.legend(ax)
    return style.finish(ax)
