"""`tickgauge.tables` and `tickgauge.audit`: the release step and its check, from Python."""

from __future__ import annotations

from typing import Any

from ..limits import Limits
from . import audit as auditing
from .delta import DEFAULT_THRESHOLD
from .inputs import one_side, releases_in
from .join import join as join_sides
from .model import Release
from .tables import ReleaseTables, build

__all__ = ["audit", "tables"]


def tables(
    old: Any,
    new: Any,
    *,
    release: str | None = None,
    commit: str = "",
    threshold: float | None = DEFAULT_THRESHOLD,
    unit: str | None = None,
    join: str = "cpu",
    boot: int | None = None,
    stat: str | None = None,
    platform: str | None = None,
    clock: int | float | str | None = None,
    anyway: bool = False,
    summary: bool = False,
    max_line: int = 0,
    limits: Limits | None = None,
) -> ReleaseTables:
    """The release tables of TF-A's runtime instrumentation: `new` against `old`.

    Parameters
    ----------
    old, new
        Consoles, published tables, snapshots or data sets; OLD comes first. ``"page.rst@v2.9"``
        names one of the releases on a page.
    release, commit
        The name of the new release in captions.
    threshold : float or None
        A change is printed where it exceeds this share of the larger value; None prints all.
    unit : {"ns", "us"}, optional
        The page's unit, in which the change is computed; by default us where both sides were
        published in us.
    join : {"cpu", "row"}
        By cluster and core, or by position as the pages were.
    boot, stat
        Which boot of `new` (counted from 0), or ``"median-low"``: the lower median over its
        boots, a value that occurred.
    platform, clock, max_line, limits
        As for `read`, for both sides.
    anyway : bool
        Compare sides that differ in platform, clock or build type.
    summary : bool
        Add rows over all cpus to parallel tests: ``base`` and ``step`` (least squares through the
        sorted values), ``min`` and ``max``; which cpu waits there is the order of locks.

    Returns
    -------
    ReleaseTables
        Its ``faults`` say why the tables of `new` should not be published: a test that failed,
        hung, or lacks a cpu.

    Raises
    ------
    NotComparableError
        The sides differ, or the labels of a side do not say which cpu they mean.
    InputError
        `new` has several boots and neither `boot` nor `stat` is given, or a console was not read
        to its end.

    Notes
    -----
    Change: ``(new-old)/old`` in binary64 from the numbers as the page prints them.
    """
    how: dict[str, Any] = {
        "stat": stat, "platform": platform, "clock": clock, "max_line": max_line, "limits": limits,
    }  # fmt: skip
    first = one_side(old, **how)
    second = one_side(new, boot=boot, **how)
    joined = join_sides(first, second, join, anyway=anyway)
    return build(
        joined, release=release, commit=commit, threshold=threshold, unit=unit, summary=summary
    )


def audit(*sources: Any, platform: str | None = None) -> auditing.Audit:
    """Recompute every printed change of published release tables.

    Parameters
    ----------
    *sources
        Pages, CSV folders or files, the long CSV, or releases already read. The release before
        must be among them.
    platform : str, optional
        The board, where the tables do not say it; or a TOML file of platforms.

    Returns
    -------
    Audit
        Its ``exit_status`` is 1 where a change is wrong, 3 where no given table explains them.

    Raises
    ------
    InputError
        A source is no release table.
    """
    releases: list[Release] = []
    for source in sources:
        releases += [source] if isinstance(source, Release) else releases_in(source, platform)
    return auditing.audit_releases(releases)
