"""Boots as strips of bars on one axis of time, of one version or of two above each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from .style import COLOURS, finish, ink, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_boots"]

#: Hatches of the sides: the first is plain, so that print tells them apart.
HATCHES = ("", "////", "....")
#: Gaps have a colour that no service has.
GAP = COLOURS[3]
#: A row that is not shown: samples of the legend lie there.
OUTSIDE = -10


class BarLike(Protocol):
    """A stage or a gap of a boot."""

    @property
    def name(self) -> str: ...

    @property
    def service(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def ns(self) -> int: ...

    @property
    def whole(self) -> bool: ...

    @property
    def gap(self) -> bool: ...


class StripLike(Protocol):
    """Stages on one axis."""

    @property
    def length(self) -> int: ...

    def shown(self, share: float = 0.01) -> Sequence[BarLike]: ...


def plot_boots(sides: Sequence[tuple[str, StripLike]], ax: Axes | None = None) -> Axes:
    """Draw one boot, or the boots of two versions above each other in each row.

    Parameters
    ----------
    sides : sequence of (str, Strip)
        A name, and the stages of a boot on one axis.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        A row a stage, in the order of the first side; a colour a service. Gaps that nobody claims
        are red; their time is written behind them.
    """
    rows = list(dict.fromkeys(_label(bar) for _, strip in sides for bar in strip.shown()))
    order = _order(sides, rows)
    ax = new_axes(ax, order)
    services = [bar.service for _, strip in sides for bar in strip.shown() if not bar.gap]
    others = [colour for colour in COLOURS if colour != GAP]
    distinct = list(dict.fromkeys(services))
    colours = {name: others[i % len(others)] for i, name in enumerate(distinct)}
    height = 0.8 / len(sides)
    longest = max(strip.length for _, strip in sides)
    for k, (_, strip) in enumerate(sides):
        for bar in strip.shown():
            y = order.index(_label(bar)) - 0.4 + height * (k + 0.5)
            colour = GAP if bar.gap else colours[bar.service]
            ax.barh(
                y, bar.ns / 1e6, height * 0.9, bar.start / 1e6, color=colour,
                alpha=0.45 if bar.whole else 1.0, hatch=HATCHES[k % len(HATCHES)],
                edgecolor="white", linewidth=0.3,
            )  # fmt: skip
            left = bar.start + bar.ns > 0.85 * longest
            ax.annotate(
                f"{bar.ns / 1e6:.4g}", ((bar.start if left else bar.start + bar.ns) / 1e6, y),
                (-2 if left else 2, 0), textcoords="offset points", fontsize=6, va="center",
                ha="right" if left else "left", color=ink(),
            )  # fmt: skip
    ax.set_yticks(range(len(order)), order, fontsize="small")
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set_xlabel("since the first stage began [ms]")
    _explained(ax, sides, colours)
    return finish(ax, grid="x")


def _label(bar: BarLike) -> str:
    return f"({bar.name})" if bar.gap else f"{bar.service}: {bar.name}"


def _order(sides: Sequence[tuple[str, StripLike]], rows: list[str]) -> list[str]:
    """Rows by the part of their boot at which they begin."""
    begins: dict[str, float] = {}
    for _, strip in sides:
        for bar in strip.shown():
            begins.setdefault(_label(bar), bar.start / strip.length)
    return sorted(rows, key=lambda row: begins[row])


def _explained(ax: Axes, sides: Sequence[tuple[str, StripLike]], colours: dict[str, str]) -> None:
    """A legend of services, gaps and sides."""
    for service, colour in colours.items():
        ax.barh(OUTSIDE, 0, color=colour, label=service)
    ax.barh(OUTSIDE, 0, color=GAP, label="nobody")
    for k, (name, _) in enumerate(sides):
        if len(sides) > 1:
            hatch = HATCHES[k % len(HATCHES)]
            ax.barh(OUTSIDE, 0, color="white", edgecolor=ink(), hatch=hatch, label=name)
    legend(ax)
