"""Changes: forest plot of shifts, heat map over releases, steps of a trend, lock ladders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..util.text import clip
from . import style
from .style import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Share of the width of an axis that a mark like "+1000" takes.
_LABEL_SPACE = 0.075


@dataclass(frozen=True)
class Shift:
    """One row of a forest plot: percent throughout; NaN bounds mean that there is no interval."""

    label: str
    percent: float
    low: float
    high: float
    verdict: str
    margin: float = np.nan


def forest(
    rows: Sequence[Shift], ax: Axes | None = None, *, title: str = "", unit: str = ""
) -> Axes:
    """Shift and interval of every key, the margin as a band, coloured by verdict with its word.

    Parameters
    ----------
    rows : sequence of Shift
        Drawn from top to bottom.
    unit : str
        The unit of statistics for the axis label, e.g. ``boot (15 v 15)``.
    """
    if not rows:
        raise ValueError("nothing to plot: the comparison has no matched key")
    ax = style.new_axes(ax)
    names = dict.fromkeys(row.verdict for row in rows)
    for i, row in enumerate(rows):
        colour = style.VERDICT_COLOURS.get(row.verdict.split()[0].rstrip(","), "#000000")
        if np.isfinite(row.margin):
            ax.fill_betweenx([i - 0.45, i + 0.45], -row.margin, row.margin, color="0.9", lw=0)
        if np.isfinite(row.low) and np.isfinite(row.high):
            ax.plot([row.low, row.high], [i, i], color=colour, linewidth=1.6)
        hollow = not np.isfinite(row.low)
        ax.plot(row.percent, i, "o", color=colour, markerfacecolor="white" if hollow else colour)
    for name in names:
        colour = style.VERDICT_COLOURS.get(name.split()[0].rstrip(","), "#000000")
        ax.plot([], [], "o", color=colour, label=name)
    ax.axvline(0, color="0.4", linewidth=0.8)
    _percent_axis(ax, rows)
    ax.set_yticks(range(len(rows)), [row.label for row in rows], fontsize="small")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set(xlabel="shift [%]" + (f", unit {unit}" if unit else ""), title=title)
    ax.legend(frameon=False, fontsize="small", loc="best")
    return style.finish(ax, grid="x")


def _percent_axis(ax: Axes, rows: Sequence[Shift]) -> None:
    """Linear around the margin and logarithmic beyond where shifts span orders of magnitude."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    sizes = np.abs([v for row in rows for v in (row.percent, row.low, row.high)])
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if not sizes.size or sizes.max() < 20 * max(float(np.median(sizes)), 10.0):
        return
    ax.set_xscale("symlog", linthresh=20.0)
    low, high = ax.get_xlim()
    marks = np.array([1.0, 2.0, 5.0]) * 10.0 ** np.arange(1, 9)[:, None]
    marks = np.concatenate([-marks.ravel()[::-1], [0.0], marks.ravel()])
    shown = marks[(marks >= low) & (marks <= high)]
    ax.xaxis.set_major_locator(FixedLocator(_apart(ax, shown)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:+g}"))


def _apart(ax: Axes, marks: style.Floats) -> list[float]:
    """Marks whose labels do not touch: 0 first, then away from it on both sides."""
    at = ax.transAxes.inverted().transform(
        ax.transData.transform(np.column_stack([marks, np.zeros_like(marks)]))
    )[:, 0]
    kept: list[int] = []
    for i in np.argsort(np.abs(marks), kind="stable").tolist():
        if all(abs(at[i] - at[j]) >= _LABEL_SPACE for j in kept):
            kept.append(i)
    return sorted(float(marks[i]) for i in kept)


def heatmap(
    ratios: style.Floats,
    keys: Sequence[str],
    releases: Sequence[str],
    ax: Axes | None = None,
    *,
    title: str = "",
) -> Axes:
    """Every key over every release as a factor of its first value; missing cells stay empty.

    Parameters
    ----------
    ratios : float64 array, shape (len(keys), len(releases))
        value / first value of the key; NaN = missing.
    """
    if ratios.size == 0 or np.all(np.isnan(ratios)):
        raise ValueError("nothing to plot: no key has a value")
    ax = style.new_axes(ax)
    shades = np.log2(np.where(ratios > 0, ratios, np.nan))
    limit = max(0.5, float(np.nanmax(np.abs(shades))))
    image = ax.imshow(
        np.ma.masked_invalid(shades), cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto"
    )
    for (i, j), ratio in np.ndenumerate(ratios):
        if np.isfinite(ratio):
            ink = "white" if abs(shades[i, j]) > 0.6 * limit else "black"
            ax.text(j, i, f"{ratio:.2f}", ha="center", va="center", fontsize="x-small", color=ink)
    _release_axis(ax, releases)
    ax.set_yticks(range(len(keys)), keys, fontsize="small")
    ax.set(title=title, xlabel="release")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("factor of the first release")
    marks = [t for t in bar.get_ticks() if -limit <= t <= limit]
    bar.set_ticks(marks, labels=[f"x{2.0**t:.2g}" for t in marks])
    ax.grid(False)
    return ax


def _release_axis(ax: Axes, releases: Sequence[str]) -> None:
    """Releases as marks, long names slanted and cut."""
    names = [clip(name, 16) for name in releases]
    ax.set_xticks(range(len(names)), names)
    if max(map(len, names), default=0) > 8:
        ax.tick_params(axis="x", rotation=25)


def steps(
    releases: Sequence[str],
    lines: Sequence[tuple[Series, Sequence[int]]],
    ax: Axes | None = None,
    *,
    title: str = "",
) -> Axes:
    """A key over releases, the level of every segment, and where it steps.

    Parameters
    ----------
    releases : sequence of str
        In order.
    lines : sequence of (Series, starts)
        The values, one a release (NaN = not measured: a gap, never carried forward), and the
        indices at which a new segment begins (without 0).
    """
    style.require([s for s, _ in lines])
    ax = style.new_axes(ax)
    divisor, unit = style.scale_of([Series("", s.values[~np.isnan(s.values)]) for s, _ in lines])
    for i, (one, starts) in enumerate(lines):
        colour = style.COLOURS[i % len(style.COLOURS)]
        marker = style.MARKERS[i % len(style.MARKERS)]
        x = np.arange(one.values.size)
        y = one.values / divisor
        known = int(np.sum(~np.isnan(y)))
        ax.plot(x, y, marker, color=colour, ms=5, label=style.counted(one.label, known))
        edges = [0, *starts, one.values.size]
        for a, b in pairwise(edges):
            part = y[a:b]
            if np.any(~np.isnan(part)):
                level = float(np.nanmedian(part))
                ax.plot([a - 0.3, b - 0.7], [level, level], color=colour, linewidth=1.4, alpha=0.7)
        for at in starts:
            ax.axvline(at - 0.5, color=colour, linewidth=0.8, linestyle=":")
    _release_axis(ax, releases)
    ax.set(xlabel="release", ylabel=f"latency [{unit}]", title=title)
    ax.set_ylim(bottom=0)
    style.legend(ax)
    return style.finish(ax, grid="y")


def ladder(
    series: Sequence[tuple[Series, float, float]], ax: Axes | None = None, *, title: str = ""
) -> Axes:
    """Sorted readings of one block against their rank, with the line base + step * rank.

    Parameters
    ----------
    series : sequence of (Series, base, step)
        `base` and `step` in nanoseconds; ranks count from 0.
    """
    style.require([s for s, _, _ in series])
    ax = style.new_axes(ax)
    divisor, unit = style.scale_of([s for s, _, _ in series])
    for i, (one, base, step) in enumerate(series):
        colour = style.COLOURS[i % len(style.COLOURS)]
        ordered = np.sort(one.values) / divisor
        rank = np.arange(ordered.size)
        ax.plot(
            rank,
            ordered,
            style.MARKERS[i % len(style.MARKERS)],
            color=colour,
            label=style.counted(one.label, ordered.size),
        )
        ax.plot(
            rank,
            (base + step * rank) / divisor,
            color=colour,
            linewidth=1,
            label=f"{base / divisor:.4g} + {step / divisor:.4g} per rank",
        )
    style.whole_numbers(ax)
    ax.set(
        xlabel="rank (order in which the lock was taken)", ylabel=f"latency [{unit}]", title=title
    )
    style.legend(ax)
    return style.finish(ax)
