"""``tickgauge audit TABLES...``: are the printed deltas of published tables right?"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from ..frame.answer import Answer
from ..frame.grid import Grid
from . import common

if TYPE_CHECKING:
    from ..tfa.delta import Interval

__all__ = ["add", "run"]

COLUMNS = (
    "platform", "release", "test", "cpu", "metric", "new", "old", "printed", "right", "sign",
    "cause", "source", "line",
)  # fmt: skip


def add(subparsers: Any) -> None:
    """Add the verb."""
    parser = common.add_verb(
        subparsers,
        "audit",
        run,
        "Recompute every printed delta of published release tables. Exit status 1: some are "
        "wrong; 3: no given table explains them.",
    )
    parser.add_argument(
        "sources", metavar="TABLES", nargs="+", help="RST pages, CSV folders or files"
    )
    parser.add_argument("--platform", metavar="NAME", help="the board, or FILE.toml of boards")


def run(args: argparse.Namespace) -> int:
    """Run the verb."""
    from ..tfa.api import audit

    result = audit(*args.sources, platform=args.platform)
    rows = [
        (
            w.platform, w.release, w.test, w.cpu, w.metric, w.value, w.old, w.printed, w.right,
            w.sign, w.cause, w.source, w.line,
        )
        for w in result.wrong
    ]  # fmt: skip
    if args.format == "text":
        common.emit(args, result.to_text())
        return result.exit_status
    extra = {
        "releases": [
            {
                "platform": r.release.platform.name if r.release.platform else None,
                "release": r.release.label,
                "state": r.state,
                "baseline": r.baseline.label if r.baseline else None,
                "paired": r.paired or None,
                "threshold": r.threshold,
                "interval": _interval(r.interval),
                "unit": r.unit,
                "cells": r.cells,
                "printed": r.printed,
                "wrong": len(r.wrong),
                "wrong_sign": r.signs,
            }
            for r in result.releases
        ]
    }
    notes = [*(r.line() for r in result.releases), *(f"assumed: {a}" for a in result.assumptions)]
    common.emit(args, Answer("audit", Grid(COLUMNS, rows), notes=notes, extra=extra))
    return result.exit_status


def _interval(found: Interval | None) -> list[float | None] | None:
    """Low and high; null for a high that nothing bounds."""
    if found is None:
        return None
    return [found.low, None if math.isinf(found.high) else found.high]
