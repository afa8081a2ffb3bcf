"""Published release tables in: RST pages, CSV folders, and the long CSV of all releases.

A page holds one or more *releases*: six tests, one row per cpu, up to three metrics, each cell a
value and possibly the change against the release before. Values become whole nanoseconds; the unit
is decided from the numbers and stated, because pages have been titled wrongly.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from ..errors import InputError
from ..platforms import Platform, find, identify, load
from .model import TESTS, Cell, Release, Row, Table
from .rst import RawTable, page_tables

__all__ = ["is_published", "read_published"]

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
_CELL = re.compile(
    r"(?P<value>\d+(?:\.\d+)?)\s*(?:\(\s*(?P<delta>[+-]\d+(?:\.\d+)?%|from 0)\s*\))?"
)
_SUMMARY = ("base", "step", "min", "max")
_LONG = ("platform", "release_label", "test", "cluster", "core", "metric", "value_ns")
SUSPICIOUS = 16 << 20  # a page or CSV larger than this is no release table


# ---- what a table is about ---------------------------------------------------------------------
def _test_of(text: str) -> str | None:
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


def _label_of(caption: str) -> str:
    found = re.findall(r"\((v?\d+\.\d+[^()]*(?:\([^()]*\))?[^()]*)\)", caption)
    return "" if not found else (found[-1] if found[-1].startswith("v") else "v" + found[-1])


def _unit_of(text: str) -> str | None:
    found = re.search(r"\((ns|us|[µμ]s)\)", text)
    return None if found is None else ("ns" if found[1] == "ns" else "us")


def _metric_of(header: str) -> str | None:
    name = re.sub(r"\(.*\)", "", header).replace("`", "").strip().lower()
    return _HEADERS.get(name)


@dataclass
class _Draft:
    """A table whose unit and cpus are not decided yet."""

    test: str
    metrics: list[str]
    stated: dict[str, str | None]
    labels: list[tuple[int, ...]]
    cells: list[dict[str, tuple[str, str | None]]]
    lines: list[int]
    caption: str
    source: str
    line: int


def _draft(raw: RawTable, test: str, source: str, problems: list[tuple[int, str]]) -> _Draft | None:
    """Sorts out header, rows and summary rows of a table; None where it is no such table."""
    rows, lines = list(raw.rows), list(raw.lines)
    header: list[str] = []
    while rows and not re.match(r"\d", rows[0][0] if rows[0] else ""):
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
    draft = _Draft(
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
        if not all(re.fullmatch(r"\d{1,9}", c.strip()) for c in cells[:keys]):
            problems.append((line, f"{' '.join(cells[:keys])!r} is no cpu label"))
            continue
        found: dict[str, tuple[str, str | None]] = {}
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


def _finish(
    drafts: list[_Draft], label: str, platform: Platform | None, source: str, form: str,
    problems: list[tuple[int, str]], *, true_ids: bool = False,
) -> Release:  # fmt: skip
    """Decides units and cpus over all tables of a release."""
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
            units[stated], why = _decide_unit(texts, stated, tick)
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


# ---- forms -------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Boards:
    """The known boards, and the one the user named."""

    known: Mapping[str, Platform]
    named: Platform | None

    def in_text(self, text: str) -> Platform | None:
        """The one board that a text names."""
        words = set(re.findall(r"[a-z0-9_]+", text.lower()))
        found = {p.name: p for p in self.known.values() if words & {p.name.lower(), *p.names}}
        return next(iter(found.values())) if len(found) == 1 else None

    def in_path(self, path: Path) -> Platform | None:
        """The board that the innermost folder of a path names."""
        found = (find(part, self.known) for part in reversed(path.resolve().parts))
        return self.named or next((p for p in found if p), None)


def _page_label(sections: tuple[str, ...], text: str) -> str:
    """The release of a table whose caption names none: what the page says it measured."""
    old = re.search(r"TF master as of (\d\d)/(\d\d)/(\d{4})", text)
    if old and not re.search(r"TF-A\s*\[?`*v\d", text):
        return f"TF master {old[3]}-{old[2]}-{old[1]}"
    found = re.search(r"TF-A\s*\[?`*(v\d[\w.-]*)", text)
    return found[1] if found else "unlabelled"


def _read_csv_rows(text: str) -> tuple[list[list[str]], list[int], str]:
    """Rows and their lines, and the form: every field quoted is the unix dialect."""
    rows, lines = [], []
    reader = csv.reader(io.StringIO(text))
    for cells in reader:
        if any(c.strip() for c in cells) and not cells[0].startswith("#"):
            rows.append([c.strip() for c in cells])
            lines.append(reader.line_num)
    body = [ln for ln in text.splitlines() if ln.strip() and not ln.startswith("#")]
    quoted = bool(body) and all(ln.startswith('"') and ln.rstrip().endswith('"') for ln in body)
    return rows, lines, "csv-unix" if quoted else "csv"


def _text(path: Path) -> str:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        with gzip.open(path) as unpacked:
            data = unpacked.read(SUSPICIOUS + 1)
    if len(data) > SUSPICIOUS:
        raise InputError(
            f"{path}: more than {SUSPICIOUS} bytes are no release table", path=os.fspath(path)
        )
    return data.decode("utf-8-sig", "replace")


def _read_page(path: Path, boards: _Boards) -> list[Release]:
    text = _text(path)
    tables, plain = page_tables(text, os.fspath(path))
    true_ids = ".. tickgauge: true cpu ids" in text
    groups: dict[str, list[_Draft]] = {}
    problems: dict[str, list[tuple[int, str]]] = {}
    notes: dict[str, list[str]] = {}
    forms: dict[str, str] = {}
    platform = boards.named
    for raw in tables:
        test = _test_of(" ".join([raw.caption, *raw.spanning])) or _test_of(
            raw.sections[0] if raw.sections else ""
        )
        if test is None:
            continue
        platform = platform or boards.in_text(" ".join(raw.sections)) or boards.in_text(plain)
        label, form, source = _label_of(raw.caption), "rst", path
        if raw.file:
            source = (path.parent / raw.file).resolve()
            if not source.is_relative_to(path.parent.resolve()):
                problems.setdefault(label, []).append((raw.line, f"{raw.file} is not below it"))
                continue
            rows, lines, form = _read_csv_rows(_text(source))
            raw = RawTable(raw.caption, raw.sections, raw.rows + rows, raw.lines + lines, raw.line)
            said, label = label, source.parent.name
            if said and said not in label:
                notes.setdefault(label, []).append(
                    f"the caption of {test} says {said}, the folder {label}"
                )
        elif not label:
            historic = bool(raw.rows) and raw.rows[0][0].strip().lower() == "cpu"
            label = _page_label(raw.sections, plain if not historic else _historic(plain))
        mine = problems.setdefault(label, [])
        draft = _draft(raw, test, os.fspath(source), mine)
        if draft is not None:
            groups.setdefault(label, []).append(draft)
            forms.setdefault(label, form)
            for caption in raw.spanning:
                notes.setdefault(label, []).append(
                    f"a caption row {caption!r} inside the grid of {test} is left out"
                )
    releases = []
    for label, drafts in groups.items():
        release = _finish(
            drafts, label, platform, os.fspath(path), forms[label], problems[label],
            true_ids=true_ids,
        )  # fmt: skip
        release.notes.extend(notes.get(label, []))
        releases.append(release)
    return releases


def _historic(plain: str) -> str:
    found = re.search(r"TF master as of \d\d/\d\d/\d{4}", plain)
    return found[0] if found else plain


def _read_csv_file(path: Path) -> tuple[_Draft | None, str, list[tuple[int, str]]]:
    rows, lines, form = _read_csv_rows(_text(path))
    problems: list[tuple[int, str]] = []
    test = _test_of(path.stem)
    if test is None or not rows:
        return None, form, problems
    raw = RawTable(path.stem, (), rows, lines, lines[0])
    return _draft(raw, test, os.fspath(path), problems), form, problems


def _read_folder(path: Path, boards: _Boards) -> list[Release]:
    drafts: list[_Draft] = []
    problems: list[tuple[int, str]] = []
    forms: list[str] = []
    for file in sorted(path.glob("*.csv")):
        draft, form, bad = _read_csv_file(file)
        problems += bad
        if draft is not None:
            drafts.append(draft)
            forms.append(form)
    found: list[Release] = []
    if drafts:
        form = forms[0] if len(set(forms)) == 1 else "csv"
        board, label = boards.in_path(path), path.resolve().name
        found.append(_finish(drafts, label, board, os.fspath(path), form, problems))
    for sub in sorted(p for p in path.iterdir() if p.is_dir()):
        found += _read_folder(sub, boards)
    for page in sorted(path.glob("*.rst")):
        if is_published(page.read_bytes()[: 1 << 16], page.name):
            found += _read_page(page, boards)
    return found


_Cells = dict[str, tuple[str, str | None]]  # metric -> number as printed, printed change


@dataclass
class _LongTable:
    """One test of one release in the long CSV."""

    rows: dict[tuple[int, int, int], _Cells]
    lines: list[int]

    def draft(self, test: str, source: str) -> _Draft:
        metrics = list(dict.fromkeys(m for cells in self.rows.values() for m in cells))
        labels: list[tuple[int, ...]] = [key[1:] for key in self.rows]
        stated: dict[str, str | None] = dict.fromkeys(metrics, "ns")
        cells = list(self.rows.values())
        return _Draft(test, metrics, stated, labels, cells, self.lines, "", source, self.lines[0])


def _read_long(path: Path, boards: _Boards) -> list[Release]:
    """The long CSV: one cell a line, with its release; resolution from the values themselves."""
    found: dict[tuple[str, str, str], dict[str, _LongTable]] = {}
    reader = csv.DictReader(io.StringIO(_text(path)))
    for number, row in enumerate(reader):
        where = (row.get("commit") or "", row["platform"], row["release_label"])
        test = _test_of(row["test"])
        if test is None:
            continue
        try:
            key = (int(row.get("row") or number), int(row["cluster"]), int(row["core"]))
        except ValueError as error:
            raise InputError(
                f"{path}: line {reader.line_num}: {error}", line=reader.line_num
            ) from error
        table = found.setdefault(where, {}).setdefault(test, _LongTable({}, []))
        if key not in table.rows:
            table.lines.append(reader.line_num)
        delta = row.get("printed_delta_pct")
        cells = table.rows.setdefault(key, {})
        cells[row["metric"]] = (row["value_ns"], f"{delta}%" if delta else None)
    releases = []
    for (commit, board, label), tables in found.items():
        source = f"{path}:{commit}" if commit else f"{path}"
        drafts = [table.draft(test, source) for test, table in tables.items()]
        form = "csv-unix" if _raw_order(drafts) else "csv"
        release = _finish(
            drafts, label, boards.named or find(board, boards.known), source, form, []
        )
        release.unit_stated = False
        _whole_us(release)
        releases.append(release)
    return releases


def _whole_us(release: Release) -> None:
    """Where a release was measured in whole us its columns get a resolution of 1000 ns."""
    values = [c.ns for t, _, _, c in release.cells() if t.test != "psci_version_parallel"]
    if values and all(v % 1000 == 0 for v in values):
        for test, metric in release.resolution:
            if test != "psci_version_parallel":
                release.resolution[test, metric] = 1000
        release.notes.append("the values are whole us: their resolution is 1000 ns, not a tick")


def _raw_order(drafts: list[_Draft]) -> bool:
    return any(d.labels != sorted(d.labels) for d in drafts)


def _form_of(head: bytes) -> str:
    """What the beginning of a source looks like: ``"long"``, ``"csv"``, ``"page"`` or nothing."""
    text = head.decode("utf-8-sig", "replace")
    first = next((ln for ln in text.splitlines() if ln.strip() and ln[0] != "#"), "").strip()
    if all(column in first.split(",") for column in _LONG):
        return "long"
    cell = r'"?\d+(\.\d+)?( ?\(([+-]\d+\.\d+%|from 0)\))?"?'
    if re.fullmatch(rf'"?\d+"?,"?\d+"?(,{cell}){{1,3}}', first):
        return "csv"
    if re.match(r'"?Cluster"?,"?Core"?,', first, re.IGNORECASE):
        return "csv"
    grid = re.search(r"^\s*\+[-=]+\+|^\.\. (csv-)?table::", text, re.MULTILINE)
    return "page" if grid and re.search(r"Powerdown|PSCI_ENTRY|CPU_SUSPEND", text) else ""


def is_published(head: bytes, name: str = "") -> bool:
    """True where the beginning of a source looks like a release table (RST, CSV, long CSV).

    Bare CSV rows are told from other CSV by the file's name, which says the test.
    """
    form = _form_of(head)
    return bool(form) and (form != "csv" or _test_of(Path(name).stem) is not None)


def _read_single_csv(path: Path, boards: _Boards) -> list[Release]:
    draft, form, problems = _read_csv_file(path)
    if draft is None:
        raise InputError(f"{path}: the file name does not say which test it holds")
    label = path.resolve().parent.name
    return [_finish([draft], label, boards.in_path(path), os.fspath(path), form, problems)]


def read_published(
    path: str | os.PathLike[str],
    *,
    platform: Platform | None = None,
    platforms: Mapping[str, Platform] | None = None,
) -> list[Release]:
    """Every release that a page, a CSV file, or a folder of them holds, in their order.

    Parameters
    ----------
    path
        An RST page; a folder of ``TEST.csv`` files, or one above such folders; one such file; or
        the long CSV. Files may be gzipped.
    platform
        The board, where the path and the page do not say it.
    platforms
        The known boards; by default the shipped ones.

    Raises
    ------
    InputError
        Where nothing in it is a release table.
    """
    boards = _Boards(platforms if platforms is not None else load(), platform)
    where = Path(path)
    if where.is_dir():
        found = _read_folder(where, boards)
    else:
        readers = {"long": _read_long, "csv": _read_single_csv, "page": _read_page}
        reader = readers.get(_form_of(_text(where)[: 1 << 16].encode()))
        found = reader(where, boards) if reader else []
    if not found:
        raise InputError(
            f"{where}: no release table in it (looked for RST or CSV tables with Powerdown, "
            "Wakeup and Cache Flush, or Latency)",
            path=os.fspath(where),
        )
    return found
