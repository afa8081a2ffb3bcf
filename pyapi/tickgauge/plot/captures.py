"""Pictures of a capture: lanes of a time range, latency against address, outstanding over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import style
from .drawn import CaptureLike, PortLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CapturePlots", "lanes", "latency", "outstanding"]

_STATES = {"beat": "#009E73", "stall": "#D55E00", "starve": "#E69F00", "unknown": "#CC79A7"}
_DIRECTIONS = {"read": "#0072B2", "write": "#E69F00"}


def _default_range(port: PortLike, around: int = 300) -> tuple[int, int]:
    """The transaction at the trigger with a margin, else the beginning."""
    last_sample = max(0, port.capture.samples - 1)
    for t in port.transactions.triggered:
        end = t["data_last"] if t["direction"] == "read" else t["b_accept"]
        if end is not None:
            margin = max(16, (end - t["ax_valid"]) // 10)
            return max(0, t["ax_valid"] - margin), min(last_sample, end + margin)
    return 0, min(last_sample, around)


def lanes(
    port: PortLike,
    first: int | None = None,
    last: int | None = None,
    ax: Axes | None = None,
    *,
    title: str = "",
) -> Axes:
    """A lane a channel: where it beats, stalls or starves; transactions as bars below.

    Spans in which a read is open, writes flow and no read data moves are shaded.

    Parameters
    ----------
    port : tickgauge.Port
    first, last : int, optional
        Samples; by default the transaction at the trigger with a margin.
    """
    default = _default_range(port)
    first = default[0] if first is None else first
    last = default[1] if last is None else last
    frame = port.lanes(first, last)
    ax = style.new_axes(ax)
    names = [c for c in ("AR", "R", "AW", "W", "B") if c in set(frame["channel"])]
    place = {name: len(names) - 1 - i for i, name in enumerate(names)}
    channel, state = frame["channel"], frame["state"]
    starts = frame.column("first").data.astype("f8")
    widths = frame.column("last").data.astype("f8") - starts + 1
    for word, colour in _STATES.items():
        label: str | None = word
        for name in names:
            here = (channel == name) & (state == word)
            if here.any():
                spans = list(zip(starts[here], widths[here], strict=True))
                ax.broken_barh(spans, (place[name] - 0.35, 0.7), facecolors=colour, label=label)
                label = None
    _bars(ax, port, first, last, len(names))
    _shade(ax, port, first, last)
    ax.set_yticks([*place.values()], [*place])
    ax.set_xlim(first, last + 1)
    ax.set(xlabel="sample [clocks]", title=title or port.name)
    ax.legend(frameon=False, fontsize="small", ncols=4, loc="upper left", bbox_to_anchor=(0, -0.12))
    return style.finish(ax, grid="x")


def _bars(ax: Axes, port: PortLike, first: int, last: int, lanes_: int) -> None:
    """Transactions of the range as bars, reads above writes, each on the first free row."""
    rows: list[int] = []
    named: set[str] = set()
    for t in port.transactions:
        start = t["ax_valid"] if t["ax_valid"] is not None else t["data_first"]
        end = t["data_last"] if t["direction"] == "read" else t["b_accept"]
        end = port.capture.samples - 1 if end is None or t["status"] == "incomplete" else end
        if start is None or end < first or start > last:
            continue
        row = next((i for i, free in enumerate(rows) if free < start), len(rows))
        rows[row : row + 1] = [end]
        if row >= 12:
            continue
        name = f"{t['direction']} at the trigger" if t["trigger"] else t["direction"]
        ax.broken_barh(
            [(start, end - start + 1)],
            (-1.2 - 0.5 * row, 0.35),
            facecolors=_DIRECTIONS[t["direction"]],
            alpha=0.9 if t["trigger"] else 0.5,
            edgecolor="black" if t["trigger"] else "none",
            label=None if name in named else name,
        )
        named.add(name)
    ax.set_ylim(-1.2 - 0.5 * max(1, min(12, len(rows))), lanes_ - 0.3)


def _shade(ax: Axes, port: PortLike, first: int, last: int) -> None:
    label: str | None = "reads blocked"
    for block in port.blocks:
        if block["w_beats"] >= 16 and block["last"] >= first and block["first"] <= last:
            ax.axvspan(
                block["first"],
                block["last"] + 1,
                color="0.5",
                alpha=0.18,
                linewidth=0,
                label=label,
                zorder=0,
            )
            label = None


def latency(
    port: PortLike, ax: Axes | None = None, *, metric: str = "span", title: str = ""
) -> Axes:
    """A span of each counted transaction against its address.

    Parameters
    ----------
    port : tickgauge.Port
    metric : str
        A span of `Transactions`: ``"span"``, ``"first_data"``, ``"last_data"`` ...
    """
    rows = port.transactions.counted
    if not len(rows):
        raise ValueError("nothing to plot: no complete transaction")
    ax = style.new_axes(ax)
    scale = 1e6 / port.capture.clock if port.capture.clock else 1.0
    unit = "\N{MICRO SIGN}s" if port.capture.clock else "clocks"
    for i, (direction, colour) in enumerate(_DIRECTIONS.items()):
        column, addr = rows.column(metric), rows.column("addr")
        here = rows["direction"] == direction
        for c in (column, addr):
            here &= np.ones(len(rows), "?") if c.valid is None else c.valid
        if here.any():
            ax.plot(
                addr.data[here].astype("f8"),
                column.data[here] * scale,
                style.MARKERS[i],
                color=colour,
                markersize=4,
                label=style.counted(direction, int(here.sum())),
            )
    ax.xaxis.set_major_formatter(lambda x, _: f"0x{int(x):x}" if x >= 0 else "")
    ax.tick_params(axis="x", labelrotation=30)
    ax.set_ylim(bottom=0)
    ax.set(xlabel="address", ylabel=f"{metric} [{unit}]", title=title or port.name)
    style.legend(ax)
    return style.finish(ax)


def outstanding(port: PortLike, ax: Axes | None = None, *, title: str = "") -> Axes:
    """How many reads and writes are open, over the samples."""
    frame = port.outstanding
    ax = style.new_axes(ax)
    end = float(port.capture.samples)
    for name, direction in (("reads", "read"), ("writes", "write")):
        x = np.append(frame.column("sample").data.astype("f8"), end)
        y = frame.column(name).data.astype("f8")
        y = np.append(y, y[-1] if len(y) else 0.0)
        ax.step(x, y, where="post", color=_DIRECTIONS[direction], label=name)
    ax.set_ylim(bottom=0)
    ax.set(xlabel="sample [clocks]", ylabel="outstanding", title=title or port.name)
    style.legend(ax)
    return style.finish(ax)


class CapturePlots:
    """The pictures of a capture; each takes ``slot=`` and ``prefix=`` to choose the interface."""

    def __init__(self, capture: CaptureLike) -> None:
        self._capture = capture

    def _port(self, options: dict[str, Any]) -> PortLike:
        return self._capture.port(options.pop("slot", None), options.pop("prefix", None))

    def lanes(
        self,
        first: int | None = None,
        last: int | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Axes:
        """See `lanes`."""
        return lanes(self._port(options), first, last, ax, **options)

    def latency(self, ax: Axes | None = None, **options: Any) -> Axes:
        """See `latency`."""
        return latency(self._port(options), ax, **options)

    def outstanding(self, ax: Axes | None = None, **options: Any) -> Axes:
        """See `outstanding`."""
        return outstanding(self._port(options), ax, **options)
