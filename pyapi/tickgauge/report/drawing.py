"""Pictures of a report as SVG text: distribution functions and shifts with their intervals.

They show the same as `tickgauge.plot` does, drawn without a plotting library: a page of them takes
milliseconds, has no font in it, and is the same bytes on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from ..plot.deltas import Shift
from ..plot.distributions import inverted_cdf
from ..plot.style import COLOURS, VERDICT_COLOURS, Floats, Series, counted, scale_of, wants_log
from ..util.text import clean, clip

__all__ = ["ecdf", "forest"]

#: Width of a picture in its own units, about pixels of a page.
WIDTH = 720
#: Size of text, and the width of a character of it, about.
TEXT, CHARACTER = 12, 6.4
#: Quantiles that are marked, where there are readings enough.
QUANTILES = (0.5, 0.9, 0.99)
#: Characters of a key beside its row.
LABEL = 48
#: Percent up to which an axis of shifts is linear where it is logarithmic beyond.
LINEAR = 20.0

#: Corners of the marks, about their middle.
SHAPES = {
    "dot": [(3.6 * math.cos(k * math.pi / 8), 3.6 * math.sin(k * math.pi / 8)) for k in range(16)],
    "square": [(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)],
    "up": [(0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)],
    "down": [(0.0, 4.4), (4.2, -3.2), (-4.2, -3.2)],
    "diamond": [(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)],
}
#: The mark of each verdict; of all others the dot.
VERDICT_SHAPES = {
    "regressed": "up",
    "improved": "down",
    "changed": "diamond",
    "equivalent": "square",
}

Scale = Callable[[float], float]


class _Canvas:
    """Shapes as SVG elements, in the order in which they are drawn."""

    def __init__(self, height: float) -> None:
        self.height = height
        self.shapes: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> None:
        self.shapes.append(
            f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>'
        )

    def path(self, points: Sequence[tuple[float, float]], colour: str) -> None:
        text = "L".join(f"{x:.2f} {y:.2f}" for x, y in points)
        self.shapes.append(f'<path d="M{text}" fill="none" stroke="{colour}" stroke-width="1.5"/>')

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.shapes.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0):.2f}" height="{height:.2f}" '
            f'fill="{colour}"/>'
        )

    def mark(self, x: float, y: float, colour: str, shape: str, hollow: bool = False) -> None:
        """A mark; its shape tells as much as its colour does."""
        corners = "L".join(f"{x + dx:.2f} {y + dy:.2f}" for dx, dy in SHAPES[shape])
        self.shapes.append(
            f'<path class="mark" d="M{corners}Z" fill="{"#ffffff" if hollow else colour}" '
            f'stroke="{colour}" stroke-width="1.5"/>'
        )

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", turn: bool = False
    ) -> None:
        turned = f' transform="rotate(-90 {x:.2f} {y:.2f})"' if turn else ""
        self.shapes.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}"{turned}>'
            f"{escape(clean(text))}</text>"
        )

    def svg(self, caption: str) -> str:
        """The whole picture; `caption` is its accessible name."""
        return (
            f'<svg role="img" aria-label="{escape(clean(caption))}" '
            f'viewBox="0 0 {WIDTH} {self.height:.0f}" xmlns="http://www.w3.org/2000/svg" '
            f'font-family="sans-serif" font-size="{TEXT}" fill="#222222">{"".join(self.shapes)}'
            "</svg>"
        )


# ---- axes ---------------------------------------------------------------------------------------


def _marks(low: float, high: float, most: int = 8) -> list[float]:
    """Round numbers from `low` to `high`, at most `most` of them."""
    span = high - low
    if span <= 0 or not math.isfinite(span):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(k * power for k in (1, 2, 5, 10, 20) if span / (k * power) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_marks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade, or only its 1 where there are many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1.0,) if len(decades) > 5 else (1.0, 2.0, 5.0)
    found = [digit * 10.0**decade for decade in decades for digit in digits]
    return [mark for mark in found if low <= mark <= high] or [low]


def _apart(marks: Sequence[float], scale: Scale, texts: Sequence[str]) -> list[int]:
    """Numbers of the marks whose texts do not touch: the one nearest to 0 first."""
    kept: list[int] = []
    for i in sorted(range(len(marks)), key=lambda i: (abs(marks[i]), i)):
        room = [CHARACTER * (len(texts[i]) + len(texts[j])) / 2 + 8 for j in kept]
        if all(
            abs(scale(marks[i]) - scale(marks[j])) >= r for j, r in zip(kept, room, strict=True)
        ):
            kept.append(i)
    return sorted(kept)


def _x_axis(
    canvas: _Canvas, marks: Sequence[float], scale: Scale, top: float, bottom: float, sign: str = ""
) -> None:
    texts = [f"{mark:{sign}g}" if mark else "0" for mark in marks]
    for i in _apart(marks, scale, texts):
        x = scale(marks[i])
        canvas.line(x, top, x, bottom, "#dddddd", 0.7)
        canvas.text(x, bottom + 16, texts[i], "middle")


def _linear(low: float, high: float, left: float, right: float) -> Scale:
    span = high - low or 1.0
    return lambda value: left + (value - low) / span * (right - left)


# ---- distribution functions ----------------------------------------------------------------------


def ecdf(series: Sequence[Series], caption: str) -> str:
    """Empirical distribution functions of a few series, with marked quantiles.

    Parameters
    ----------
    series : sequence of Series
        Of one unit, each with values.
    caption : str

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    left, right, top, bottom = 56.0, WIDTH - 16.0, 14.0 + 18 * len(series), 280.0 + 18 * len(series)
    canvas = _Canvas(bottom + 44)
    log = wants_log(series, None)
    divisor, unit = scale_of(series, log)
    low = min(float(one.values.min()) for one in series) / divisor
    high = max(float(one.values.max()) for one in series) / divisor
    if log:
        plain = _linear(math.log10(low), math.log10(high), left + 8, right - 8)
        x_of: Scale = lambda value: plain(math.log10(value))  # noqa: E731
        marks = _log_marks(low, high)
    else:
        margin = (high - low) * 0.02 or abs(high) * 0.02 or 1.0
        x_of = _linear(low - margin, high + margin, left, right)
        marks = _marks(low - margin, high + margin)
    y_of = _linear(0.0, 1.0, bottom, top)
    _x_axis(canvas, marks, x_of, top, bottom)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        canvas.line(left, y_of(share), right, y_of(share), "#dddddd", 0.7)
        canvas.text(left - 6, y_of(share) + 4, f"{share:g}", "end")
    canvas.line(left, bottom, right, bottom, "#222222", 1)
    canvas.line(left, top, left, bottom, "#222222", 1)
    for i, one in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        shape = ("dot", "square")[i % 2]
        ordered = np.sort(one.values) / divisor
        canvas.path(_steps(ordered, x_of, y_of), colour)
        for p in QUANTILES:
            if ordered.size * (1 - p) >= 1 - 1e-9:
                canvas.mark(x_of(inverted_cdf(ordered, p)), y_of(p), colour, shape)
        y = 12.0 + 18 * i
        canvas.mark(left + 6, y, colour, shape)
        canvas.text(left + 16, y + 4, counted(clip(one.label, 90), ordered.size))
    canvas.text((left + right) / 2, bottom + 36, f"latency [{unit}]", "middle")
    canvas.text(14, (top + bottom) / 2, "share of readings", "middle", turn=True)
    return canvas.svg(caption)


def _steps(ordered: Floats, x_of: Scale, y_of: Scale) -> list[tuple[float, float]]:
    """The corners of a distribution function; of the steps within half a pixel the last one."""
    distinct, first = np.unique(ordered, return_index=True)
    share = np.append(first[1:], ordered.size) / ordered.size
    x = np.array([x_of(value) for value in distinct.tolist()])
    last = np.append(np.diff(np.floor(2 * x)) > 0, True)
    corners = [(float(x[0]), y_of(0.0))]
    for at, upto in zip(x[last].tolist(), share[last].tolist(), strict=True):
        corners += [(at, corners[-1][1]), (at, y_of(upto))]
    return corners


# ---- shifts ------------------------------------------------------------------------------------


def forest(rows: Sequence[Shift], unit: str, caption: str) -> str:
    """Shift and interval of each key; the margin is a band, a mark without an interval hollow.

    Parameters
    ----------
    rows : sequence of Shift
        At least one; drawn from top to bottom.
    unit : str
        Of the statistics, for the axis.
    caption : str

    Returns
    -------
    str
        An ``<svg>`` element.
    """
    labels = [clip(row.label, LABEL) for row in rows]
    left, right = 16 + CHARACTER * max(map(len, labels)), WIDTH - 16.0
    top, pitch = 34.0, 19.0
    bottom = top + pitch * len(rows)
    canvas = _Canvas(bottom + 44)
    values = np.array([[row.percent, row.low, row.high] for row in rows])
    bands = np.array([row.margin for row in rows])
    known = values[np.isfinite(values)]
    width = float(np.max(bands[np.isfinite(bands)], initial=0.0))
    low = min(float(known.min(initial=0.0)), -width)
    high = max(float(known.max(initial=0.0)), width)
    sizes = np.abs(known[known != 0])
    wide = sizes.size > 0 and sizes.max() >= LINEAR * max(float(np.median(sizes)), 10.0)
    bent: Scale = _bent if wide else float
    margin = (bent(high) - bent(low)) * 0.03 or 1.0
    plain = _linear(bent(low) - margin, bent(high) + margin, left, right)

    def x_of(value: float) -> float:
        return plain(bent(value))

    for i, row in enumerate(rows):
        if math.isfinite(row.margin):
            x = x_of(-row.margin)
            canvas.box(x, top + pitch * i + 1, x_of(row.margin) - x, pitch - 2, "#e6e6e6")
    _x_axis(canvas, _bent_marks(low, high) if wide else _marks(low, high), x_of, top, bottom, "+")
    canvas.line(x_of(0), top, x_of(0), bottom, "#666666", 1)
    canvas.line(left, bottom, right, bottom, "#222222", 1)
    for i, row in enumerate(rows):
        y = top + pitch * (i + 0.5)
        colour = _colour(row.verdict)
        canvas.text(left - 8, y + 4, labels[i], "end")
        whole = math.isfinite(row.low) and math.isfinite(row.high)
        if whole:
            canvas.line(x_of(row.low), y, x_of(row.high), y, colour, 2)
        if math.isfinite(row.percent):
            canvas.mark(x_of(row.percent), y, colour, _shape(row.verdict), hollow=not whole)
    x = left
    for verdict in dict.fromkeys(row.verdict for row in rows):
        canvas.mark(x + 6, 14, _colour(verdict), _shape(verdict))
        canvas.text(x + 15, 18, verdict)
        x += CHARACTER * len(verdict) + 34
    shown = "shift [%]" + (f", unit {unit}" if unit else "")
    canvas.text((left + right) / 2, bottom + 36, shown, "middle")
    return canvas.svg(caption)


def _colour(verdict: str) -> str:
    return VERDICT_COLOURS.get(verdict.split()[0].rstrip(","), "#000000")


def _shape(verdict: str) -> str:
    return VERDICT_SHAPES.get(verdict.split()[0].rstrip(","), "dot")


def _bent(percent: float) -> float:
    """Linear around 0 and logarithmic beyond, without a kink in its value."""
    if abs(percent) <= LINEAR:
        return percent / LINEAR
    return math.copysign(1 + math.log10(abs(percent) / LINEAR), percent)


def _bent_marks(low: float, high: float) -> list[float]:
    sizes = [digit * 10.0**decade for decade in range(1, 9) for digit in (1.0, 2.0, 5.0)]
    return [mark for mark in (*(-s for s in sizes[::-1]), 0.0, *sizes) if low <= mark <= high]
