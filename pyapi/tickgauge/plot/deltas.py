"""Changes: forest plot of shifts, heat map over releases, steps of a trend, lock ladders."""

from __future__ import annotations

import re
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
_LABEL_SPACE = 0.13


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
    ax = style.new_axes(ax, [row.label for row in rows])
    names = dict.fromkeys(row.verdict for row in rows)
    for i, row in enumerate(rows):
        colour, marker = _look_of(row.verdict)
        if np.isfinite(row.margin):
            ax.fill_betweenx(
                [i - 0.45, i + 0.45], -row.margin, row.margin, color="0.5", alpha=0.2, lw=0
            )
        if np.isfinite(row.low) and np.isfinite(row.high):
            ax.plot([row.low, row.high], [i, i], color=colour, linewidth=1.6)
        hollow = not np.isfinite(row.low)
        ax.plot(row.percent, i, marker, color=colour, markerfacecolor="none" if hollow else colour)
    for name in names:
        colour, marker = _look_of(name)
        ax.plot([], [], marker, color=colour, label=name)
    ax.axvline(0, color="0.5", linewidth=0.8)
    _percent_axis(ax, rows)
    ax.set_yticks(range(len(rows)), [row.label for row in rows], fontsize="small")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set(xlabel="shift [%]" + (f", unit {unit}" if unit else ""), title=title)
    style.legend(ax, always=True)
    return style.finish(ax, grid="x")


def _look_of(verdict: str) -> tuple[str, str]:
    """Colour and mark of a verdict."""
    word = verdict.split()[0].rstrip(",")
    return style.VERDICT_COLOURS.get(word, "#7F7F7F"), style.VERDICT_MARKERS.get(word, "o")


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
    ax = style.new_axes(ax, keys)
    shades = np.log2(np.where(ratios > 0, ratios, np.nan))
    limit = max(0.5, float(np.nanmax(np.abs(shades))))
    image = ax.imshow(
        np.ma.masked_invalid(shades), cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto"
    )
    for (i, j), ratio in np.ndenumerate(ratios):
        if np.isfinite(ratio):
            ink = "white" if abs(shades[i, j]) > 0.6 * limit else "black"
            ax.text(j, i, f"{ratio:.2f}", ha="center", va="center", fontsize="x-small", color=ink)
    _release_axis(ax, releases, np.arange(len(releases), dtype=float))
    ax.set_yticks(range(len(keys)), keys, fontsize="small")
    ax.set(title=title, xlabel="release")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("factor of the first release")
    marks = [t for t in bar.get_ticks() if -limit <= t <= limit]
    bar.set_ticks(marks, labels=[f"x{2.0**t:.2g}" for t in marks])
    ax.grid(False)
    return ax


def _places(releases: Sequence[str]) -> style.Floats:
    """Where releases stand: one apart, two where versions between them are missing."""
    at = [0.0]
    for before, after in pairwise(map(_version, releases)):
        missing = before and after and before[0] == after[0] and after[1] - before[1] > 1
        at.append(at[-1] + (2.0 if missing else 1.0))
    return np.array(at[: len(releases)])


def _version(release: str) -> tuple[int, int] | None:
    found = re.match(r"v?([0-9]{1,6})\.([0-9]{1,6})(?![0-9])", release)
    return (int(found[1]), int(found[2])) if found else None


def _release_axis(ax: Axes, releases: Sequence[str], places: style.Floats) -> None:
    """Releases as marks, long names slanted and cut."""
    names = [clip(name, 16) for name in releases]
    ax.set_xticks(places, names)
    if max(map(len, names), default=0) > 8:
        ax.tick_params(axis="x", rotation=25)
        for text in ax.get_xticklabels():
            text.set(horizontalalignment="right", rotation_mode="anchor")


def _show_gaps(ax: Axes, places: style.Floats) -> None:
    """A band where releases are missing."""
    for a, b in pairwise(places):
        if b - a > 1:
            ax.axvspan(a + 0.5, b - 0.5, color="0.5", alpha=0.12, lw=0)
            ax.text(
                (a + b) / 2, 0.98, "no data", transform=ax.get_xaxis_transform(), rotation=90,
                ha="center", va="top", fontsize="x-small", alpha=0.7,
            )  # fmt: skip


def _levels(
    y: style.Floats, edges: Sequence[int], places: style.Floats
) -> list[tuple[float, float, float]]:
    """The level of each segment as lines that end at gaps: (begin, end, level)."""
    out = []
    for a, b in pairwise(edges):
        part = y[a:b]
        if np.all(np.isnan(part)):
            continue
        level = float(np.nanmedian(part))
        begin = a
        for i in range(a, b):
            if i + 1 == b or places[i + 1] - places[i] > 1:
                out.append((float(places[begin]) - 0.3, float(places[i]) + 0.3, level))
                begin = i + 1
    return out


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
        In order. Versions that are missing between two of them are a gap, which no line crosses.
    lines : sequence of (Series, starts)
        The values, one a release (NaN = not measured: a gap, never carried forward), and the
        indices at which a new segment begins (without 0).
    """
    style.require([s for s, _ in lines])
    ax = style.new_axes(ax)
    divisor, unit = style.scale_of([Series("", s.values[~np.isnan(s.values)]) for s, _ in lines])
    places = _places(releases)
    for i, (one, starts) in enumerate(lines):
        colour = style.COLOURS[i % len(style.COLOURS)]
        marker = style.MARKERS[i % len(style.MARKERS)]
        y = one.values / divisor
        known = int(np.sum(~np.isnan(y)))
        ax.plot(places, y, marker, color=colour, ms=5, label=style.counted(one.label, known))
        for begin, end, level in _levels(y, [0, *starts, one.values.size], places):
            ax.plot([begin, end], [level, level], color=colour, linewidth=1.4, alpha=0.7)
        for at in starts:
            ax.axvline(places[at] - 0.5, color=colour, linewidth=0.8, linestyle=":")
    _show_gaps(ax, places)
    _release_axis(ax, releases, places)
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
