"""From the text of one table to cells: its subject, its unit, which cpus its rows are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from ..boards.platforms import Platform, identify
from .model import TESTS, Cell, Release, Row, Table
from .rst import RawTable

__all__ = ["NUMBER", "Cells", "Draft", "draft_of", "finish", "label_of", "test_of"]

Cells = dict[str, tuple[str, str | None]]  # metric -> number as printed, printed change
_HEADERS = {
    "powerdown": "powerdown",
    "wakeup": "wakeup",
    "wakekup": "wakeup",
    "cache flush": "cache_flush",
    "latency": "latency",
    "psci_entry": "powerdown",
    "psci_exit": "wakeup",
    "cflush_overhead": "cache_flush",
    "total time": "latency",
}
#: A number of a cell: whole ns of it fit 63 bits.
NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"
_CELL = re.compile(rf"(?P<value>{NUMBER})\s*(?:\(\s*(?P<delta>[+-]{NUMBER}%|from 0)\s*\))?")
_SUMMARY = ("base", "step", "min", "max")


# ---- the subject of a table ---------------------------------------------------------------------
def test_of(text: str) -> str | None:
    text = text.lower()
    known = re.search(r"(?:test_rt_instr_)?(" + "|".join(TESTS) + r")\b", text)
    if known:
        return known[1]
    order = "parallel" if "parallel" in text else "serial"
    if "cpu_off" in text:
        return "cpu_off_serial"
    if "version" in text:
        return "psci_version_parallel"
    if "cpu_suspend" not in text or not re.search(r"parallel|serial|sequence", text):
        return None
    if "deepest" in text:
        return f"susp_deep_{order}"
    return f"cpu_susp_{order}" if "level 0" in text else None


def label_of(caption: str) -> str:
    found = re.findall(r"\((v?\d+\.\d+[^()]*(?:\([^()]*\))?[^()]*)\)", caption)
    return "" if not found else (found[-1] if found[-1].startswith("v") else "v" + found[-1])


def _unit_of(text: str) -> str | None:
    found = re.search(r"\((ns|us|[µμ]s)\)", text)
    return None if found is None else ("ns" if found[1] == "ns" else "us")


def _metric_of(header: str) -> str | None:
    name = re.sub(r"\(.*\)", "", header).replace("`", "").strip().lower()
    return _HEADERS.get(name)


@dataclass
class Draft:
    """A table whose unit and cpus are not decided yet."""

    test: str
    metrics: list[str]
    stated: dict[str, str | None]
    labels: list[tuple[int, ...]]
    cells: list[Cells]
    lines: list[int]
    caption: str
    source: str
    line: int


def draft_of(
    raw: RawTable, test: str, source: str, problems: list[tuple[int, str]]
) -> Draft | None:
    """Sorts out header, rows and summary rows of a table; None where it is no such table."""
    rows, lines = list(raw.rows), list(raw.lines)
    header: list[str] = []
    while rows and not re.match(r"[0-9]", rows[0][0] if rows[0] else ""):
        header = rows[0] if any(rows[0]) else header  # a page of 2023 has an empty row below it
        del rows[0], lines[0]
    keys = 1 if header and header[0].strip().lower() == "cpu" else 2
    names: list[str | None] = [_metric_of(h) for h in header[keys:]]
    if not header:
        width = max((len(r) for r in rows), default=0) - keys
        few = ("latency",) if width == 1 else ("powerdown", "wakeup", "cache_flush")[:width]
        names = [*few]
    metrics = [n for n in names if n is not None]
    if not metrics or len(metrics) != len(names):
        return None
    title_unit = _unit_of(raw.caption)
    draft = Draft(
        test, metrics,
        {m: _unit_of(h) or title_unit for m, h in zip(metrics, header[keys:], strict=False)}
        or dict.fromkeys(metrics, title_unit),
        [], [], [], raw.caption, source, raw.line,
    )  # fmt: skip
    for cells, line in zip(rows, lines, strict=True):
        if cells and cells[0].strip().lower() in _SUMMARY:
            continue
        if len(cells) != keys + len(metrics):
            problems.append((line, f"a row of {len(cells)} cells, expected {keys + len(metrics)}"))
            continue
        if not all(re.fullmatch(r"[0-9]{1,9}", c.strip()) for c in cells[:keys]):
            problems.append((line, f"{' '.join(cells[:keys])!r} is no cpu label"))
            continue
        found: Cells = {}
        for metric, text in zip(metrics, cells[keys:], strict=True):
            match = _CELL.fullmatch(text.strip())
            if match:
                found[metric] = (match["value"], match["delta"])
            elif text.strip() not in ("", "-"):
                problems.append((line, f"{text!r} is not a value with an optional change"))
        draft.labels.append(tuple(int(c) for c in cells[:keys]))
        draft.cells.append(found)
        draft.lines.append(line)
    return draft if draft.labels else None


# ---- units -------------------------------------------------------------------------------------
def _whole(text: str) -> bool:
    return "." not in text or not text.split(".")[1].strip("0")


def _decide_unit(texts: list[str], stated: str | None, tick_ns: int | None) -> tuple[str, str]:
    """The unit of a column over a whole release, and why (empty where the title is right).

    Firmware prints whole ns, so a fraction means us. Whole numbers that all lie on a grid of more
    than 1 ns (the counter's tick, or their common divisor) are ns; whole numbers off it are us.
    """
    values = [Decimal(t) for t in texts]
    if not all(map(_whole, texts)):
        unit, why = "us", "the values have fractions, and firmware prints whole ns"
    else:
        numbers = [int(v) for v in values]
        grid = math.gcd(*numbers)
        if tick_ns and tick_ns > 1:
            on = grid % tick_ns == 0
            why = f"every value is {'' if on else 'not '}a multiple of the tick, {tick_ns} ns"
            if not on:
                why = f"the values are whole and off the grid of {tick_ns} ns"
        else:
            on = grid > 1 and len(numbers) >= 4
            why = f"every value is a multiple of {grid}"
            if not on and stated:
                return stated, ""
        unit = "ns" if on else "us"
    if unit == stated:
        return unit, ""
    said = f"the title says {stated}" if stated else "no unit is stated"
    return unit, f"unit {unit}: {why} ({said})"


def _exact_ns(text: str, unit: str) -> int | None:
    value = Decimal(text) * (1000 if unit == "us" else 1)
    return int(value) if value == value.to_integral_value() else None


def _step(texts: Iterable[str], unit: str, tick_ns: int | None) -> int:
    """Resolution in ns: the larger of the tick and the last printed digit of the column."""
    if unit == "ns":
        return tick_ns or 1
    digits = max((len(t.split(".")[1]) if "." in t else 0 for t in texts), default=0)
    return max(tick_ns or 1, (1000, 100, 10, 1)[min(digits, 3)])


def finish(
    drafts: list[Draft], label: str, platform: Platform | None, source: str, form: str,
    problems: list[tuple[int, str]], *, true_ids: bool = False,
) -> Release:  # fmt: skip
    """Decides units and cpus over all tables of a release.

    `true_ids`: tickgauge printed them, so that labels are cpus and titles have the unit.
    """
    release = Release(label, platform, source, form, problems=problems)
    tick = platform.tick_ns if platform else None
    groups: dict[str | None, list[str]] = {}
    for draft in drafts:
        for metric in draft.metrics:
            texts = [c[metric][0] for c in draft.cells if metric in c]
            groups.setdefault(draft.stated[metric], []).extend(texts)
    units: dict[str | None, str] = {}
    for stated, texts in groups.items():
        if texts:
            own = stated if true_ids else None  # tickgauge printed it: the unit is right
            units[stated], why = (own, "") if own else _decide_unit(texts, stated, tick)
            if why:
                release.notes.append(why)
    for draft in drafts:
        chosen = {m: units.get(draft.stated[m], "ns") for m in draft.metrics}
        identity = identify(
            None if true_ids else platform, draft.labels, source="table", form=form, label=label
        )
        rows = []
        for printed, cpu, cells, line in zip(
            draft.labels, identity.cpus, draft.cells, draft.lines, strict=True
        ):
            done: dict[str, Cell] = {}
            for metric, (text, delta) in cells.items():
                ns = _exact_ns(text, chosen[metric])
                if ns is None:
                    problems.append((line, f"{text} {chosen[metric]} is no whole number of ns"))
                else:
                    done[metric] = Cell(text, ns, delta, line)
            rows.append(Row(printed, cpu, done, line))
        if draft.test in release.tables:
            problems.append((draft.line, f"a second table of {draft.test} in {label}"))
            continue
        release.tables[draft.test] = Table(
            draft.test, tuple(rows), chosen, draft.caption, identity, draft.source, draft.line
        )
        for metric in draft.metrics:
            texts = [c[metric][0] for c in draft.cells if metric in c]
            release.resolution[draft.test, metric] = _step(texts, chosen[metric], tick)
    release.tables = {t: release.tables[t] for t in TESTS if t in release.tables}
    return release
