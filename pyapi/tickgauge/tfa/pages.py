"""Published release tables in: RST pages, CSV folders, and the long CSV of all releases.

A page holds one or more *releases*: six tests, one row per cpu, up to three metrics, each cell a
value and possibly the change against the release before. Values become whole nanoseconds; the unit
is decided from the numbers and stated, because pages have been titled wrongly.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..boards.platforms import Platform, find, load
from ..errors import InputError
from .model import Release
from .page_table import NUMBER, Cells, Draft, draft_of, finish, label_of, test_of
from .rst import RawTable, page_tables

__all__ = [
    "Place",
    "bundle",
    "is_member",
    "is_published",
    "published_folders",
    "read_published",
    "read_text",
]

_LONG = ("platform", "release_label", "test", "cluster", "core", "metric", "value_ns")
_BUNDLED = re.compile(r"# (\S+\.csv)\b.*")
#: The form of the cells of the long CSV.
_CELLS = {
    "platform": r".+", "release_label": r".+", "test": r".+", "metric": r".+",
    "cluster": r"[0-9]{1,9}", "core": r"[0-9]{1,9}", "row": r"([0-9]{1,9})?",
    "value_ns": NUMBER, "printed_delta_pct": rf"([+-]?{NUMBER}|from 0)?",
}  # fmt: skip
SUSPICIOUS = 16 << 20  # a CSV larger than this is no release table
LARGEST_PAGE = 1 << 20  # characters; docutils reads some 50,000 a second


@dataclass(frozen=True)
class Place:
    """The known facts of the place of a text, and of the boards."""

    name: str
    path: Path | None
    known: Mapping[str, Platform]
    named: Platform | None

    def in_text(self, text: str) -> Platform | None:
        """The one board that a text names."""
        words = set(re.findall(r"[a-z0-9_]+", text.lower()))
        found = {p.name: p for p in self.known.values() if words & {p.name.lower(), *p.names}}
        return next(iter(found.values())) if len(found) == 1 else None

    def in_path(self) -> Platform | None:
        """The board that the innermost folder of the path names."""
        parts = self.path.resolve().parts if self.path is not None else Path(self.name).parts
        found = (find(part, self.known) for part in reversed(parts))
        return self.named or next((p for p in found if p), None)

    def folder(self) -> str:
        """The name of the folder it lies in, or is."""
        path = self.path.resolve() if self.path is not None else Path(self.name)
        return path.name if path.suffix != ".csv" else path.parent.name


def _page_label(text: str) -> str:
    """The release of a table whose caption names none: the one that the page says it measured."""
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
    with path.open("rb") as file:
        data = file.read(SUSPICIOUS + 1)
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.open(path) as unpacked:
                data = unpacked.read(SUSPICIOUS + 1)
        except (EOFError, zlib.error) as error:
            raise InputError(f"gz data is damaged or cut: {error}", path=os.fspath(path)) from error
    return _decoded(data, os.fspath(path))


def _decoded(data: bytes, name: str) -> str:
    if len(data) > SUSPICIOUS:
        raise InputError(f"more than {SUSPICIOUS} bytes are no release table", path=name)
    return data.decode("utf-8-sig", "replace")


@dataclass
class _Group:
    """The tables of one release on a page, before units and cpus are decided."""

    form: str
    drafts: list[Draft]
    problems: list[tuple[int, str]]
    notes: list[str]


def _from_file(raw: RawTable, place: Place) -> tuple[RawTable, str, Path] | str:
    """A ``csv-table`` with the rows of its file, their form, and the file; or why not."""
    if place.path is None:
        return f"{raw.file} cannot be found: the page itself is no file"
    below = place.path.parent.resolve()
    try:
        source = (below / raw.file).resolve()
    except (OSError, ValueError) as error:  # a loop of links, a NUL
        return f"{raw.file!r} is no file name: {error}"
    if not source.is_relative_to(below):
        return f"{raw.file} is not below the page"
    try:
        rows, lines, form = _read_csv_rows(_text(source))
    except OSError as error:
        return f"{raw.file} cannot be read: {error}"
    whole = RawTable(raw.caption, raw.sections, raw.rows + rows, raw.lines + lines, raw.line)
    return whole, form, source


def _read_page(text: str, place: Place) -> list[Release]:
    if len(text) > LARGEST_PAGE:
        raise InputError(
            f"a page of more than {LARGEST_PAGE} characters is no release table", path=place.name
        )
    tables, plain = page_tables(text, place.name)
    groups: dict[str, _Group] = {}
    platform = place.named
    for raw in tables:
        title = raw.sections[0] if raw.sections else ""
        test = test_of(" ".join([raw.caption, *raw.spanning])) or test_of(title)
        if test is None:
            continue
        platform = platform or place.in_text(" ".join(raw.sections)) or place.in_text(plain)
        label, form, source = label_of(raw.caption), "rst", place.name
        note = ""
        if raw.file:
            found = _from_file(raw, place)
            if isinstance(found, str):
                group = groups.setdefault(label, _Group(form, [], [], []))
                group.problems.append((raw.line, found))
                continue
            raw, form, path = found
            if label and label not in path.parent.name:
                note = f"the caption of {test} says {label}, the folder {path.parent.name}"
            label, source = path.parent.name, os.fspath(path)
        elif not label:
            historic = bool(raw.rows) and raw.rows[0][0].strip().lower() == "cpu"
            label = _page_label(_historic(plain) if historic else plain)
        group = groups.setdefault(label, _Group(form, [], [], []))
        draft = draft_of(raw, test, source, group.problems)
        if draft is not None:
            group.drafts.append(draft)
            group.notes += [note] if note else []
            group.notes += [
                f"a caption row {caption!r} inside the grid of {test} is left out"
                for caption in raw.spanning
            ]
    true_ids = ".. tickgauge: true cpu ids" in text
    releases = []
    for label, group in groups.items():
        if group.drafts:
            release = finish(
                group.drafts, label, platform, place.name, group.form, group.problems,
                true_ids=true_ids,
            )  # fmt: skip
            release.notes.extend(group.notes)
            releases.append(release)
    lost = [problem for group in groups.values() if not group.drafts for problem in group.problems]
    if lost and not releases:
        line, detail = lost[0]
        text = f"has no release table that can be read; line {line}: {detail}"
        raise InputError(text, path=place.name)
    for problem in lost:  # a table whose file is missing has no release of its own
        releases[0].problems.append(problem)
    return releases


def _historic(plain: str) -> str:
    found = re.search(r"TF master as of \d\d/\d\d/\d{4}", plain)
    return found[0] if found else plain


def _csv_draft(
    text: str, file: str, source: str, problems: list[tuple[int, str]]
) -> tuple[Draft | None, str]:
    """One CSV file, whose name says the test, and its form."""
    rows, lines, form = _read_csv_rows(text)
    test = test_of(Path(file).stem)
    if test is None or not rows:
        return None, form
    return draft_of(RawTable(file, (), rows, lines, lines[0]), test, source, problems), form


def _read_csv(text: str, place: Place) -> list[Release]:
    """A CSV file, or a bundle of them: each below a ``#`` line with its file name."""
    files: list[tuple[str, list[str]]] = [(place.name, [])]
    for line in text.splitlines(keepends=True):
        named = _BUNDLED.match(line)
        if named:
            files.append((named[1], []))
        else:
            files[-1][1].append(line)
    drafts: list[Draft] = []
    problems: list[tuple[int, str]] = []
    forms: set[str] = set()
    for file, body in files:
        source = file if file == place.name else f"{place.name}/{file}"
        draft, form = _csv_draft("".join(body), file, source, problems)
        if draft is not None:
            drafts.append(draft)
            forms.add(form)
    if not drafts:
        return []
    form = forms.pop() if len(forms) == 1 else "csv"
    return [finish(drafts, place.folder(), place.in_path(), place.name, form, problems)]


@dataclass
class _LongTable:
    """One test of one release in the long CSV."""

    rows: dict[tuple[int, int, int], Cells]
    lines: list[int]

    def draft(self, test: str, source: str) -> Draft:
        metrics = list(dict.fromkeys(m for cells in self.rows.values() for m in cells))
        labels: list[tuple[int, ...]] = [key[1:] for key in self.rows]
        stated: dict[str, str | None] = dict.fromkeys(metrics, "ns")
        cells = list(self.rows.values())
        return Draft(test, metrics, stated, labels, cells, self.lines, "", source, self.lines[0])


def _read_long(text: str, place: Place) -> list[Release]:
    """The long CSV: one cell a line, with its release; resolution from the values themselves."""
    found: dict[tuple[str, str, str], dict[str, _LongTable]] = {}
    reader = csv.DictReader(io.StringIO(text))
    for number, row in enumerate(reader):
        wrong = next((n for n, f in _CELLS.items() if not re.fullmatch(f, row.get(n) or "")), None)
        if wrong is not None:
            text = f"{wrong} is {str(row.get(wrong))[:40]!r}"
            raise InputError(text, path=place.name, line=reader.line_num)
        where = (row.get("commit") or "", row["platform"], row["release_label"])
        test = test_of(row["test"])
        if test is None:
            continue
        key = (int(row.get("row") or number), int(row["cluster"]), int(row["core"]))
        table = found.setdefault(where, {}).setdefault(test, _LongTable({}, []))
        if key not in table.rows:
            table.lines.append(reader.line_num)
        delta = row.get("printed_delta_pct")
        cells = table.rows.setdefault(key, {})
        cells[row["metric"]] = (row["value_ns"], f"{delta}%" if delta else None)
    releases = []
    for (commit, board, label), tables in found.items():
        source = f"{place.name}:{commit}" if commit else place.name
        drafts = [table.draft(test, source) for test, table in tables.items()]
        form = "csv-unix" if _raw_order(drafts) else "csv"
        release = finish(drafts, label, place.named or find(board, place.known), source, form, [])
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


def _raw_order(drafts: list[Draft]) -> bool:
    return any(d.labels != sorted(d.labels) for d in drafts)


def _form_of(head: bytes) -> str:
    """The form of the beginning of a source: ``"long"``, ``"csv"``, ``"page"`` or nothing."""
    text = head.decode("utf-8-sig", "replace")
    begin = text[:4096].splitlines()
    some = begin[:16] if len(begin) > 16 else text.splitlines()[:16]
    lines = [ln.strip() for ln in some if ln.strip() and ln[0] != "#"]
    first = lines[0] if lines else ""
    if all(column in first.split(",") for column in _LONG):
        return "long"
    if _BUNDLED.match(text) and test_of(text.split(maxsplit=2)[1]):
        return "csv"
    ruled = any(mark in text for mark in ("+-", "+=", "table::"))  # of the pattern, far quicker
    grid = ruled and re.search(r"^\s*\+[-=]+\+|^\.\. (csv-)?table::", text, re.MULTILINE)
    if grid and re.search(r"Powerdown|PSCI_ENTRY|CPU_SUSPEND", text):
        return "page"
    cell = r'"?\d+(\.\d+)?( ?\(([+-]\d+\.\d+%|from 0)\))?"?'
    row = re.compile(rf'"?\d+"?,"?\d+"?(,{cell}){{1,3}}')
    header = re.compile(r'"?Cluster"?,"?Core"?,.*', re.IGNORECASE)
    return "csv" if any(row.fullmatch(ln) or header.fullmatch(ln) for ln in lines) else ""


def is_published(head: bytes, name: str = "") -> bool:
    """True where the beginning of a source looks like a release table (RST, CSV, long CSV).

    Bare CSV rows are told from other CSV by the file's name, which says the test.
    """
    form = _form_of(head)
    return bool(form) and (
        form != "csv" or head[:1] == b"#" or test_of(Path(name).stem) is not None
    )


def is_member(file: Path) -> bool:
    """Whether a file is one of the CSV files of a release, by its name."""
    return file.suffix == ".csv" and test_of(file.stem) is not None


def published_folders(path: Path) -> list[Path]:
    """The folders at or below `path` that hold the CSV files of a release, sorted."""
    found = {
        file.parent for file in path.rglob("*.csv")
        if is_member(file) and is_published(_head(file), file.name)
    }  # fmt: skip
    return sorted(found)


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(1 << 12)


def bundle(folder: Path) -> bytes:
    """The CSV files of a release as one text: each below a ``#`` line with its file name."""
    parts = []
    for file in sorted(folder.glob("*.csv")):
        if is_member(file):
            parts += [f"# {file.name}\n".encode(), file.read_bytes(), b"\n"]
    return b"".join(parts)


def read_text(data: bytes, place: Place) -> list[Release]:
    """The releases in the bytes of one source; none where it is no release table."""
    readers = {"long": _read_long, "csv": _read_csv, "page": _read_page}
    reader = readers.get(_form_of(data[: 1 << 16]))
    try:
        return reader(_decoded(data, place.name), place) if reader else []
    except (csv.Error, RecursionError) as error:
        raise InputError(f"the table is damaged: {error}", path=place.name) from error


def _read_folder(
    path: Path, known: Mapping[str, Platform], named: Platform | None
) -> list[Release]:
    found: list[Release] = []
    for folder in published_folders(path):
        found += read_text(bundle(folder), Place(os.fspath(folder), folder, known, named))
    for page in sorted(path.rglob("*.rst")):
        data = page.read_bytes()
        if is_published(data[: 1 << 16], page.name):
            found += read_text(data, Place(os.fspath(page), page, known, named))
    return found


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
    known = platforms if platforms is not None else load()
    where = Path(path)
    if where.is_dir():
        found = _read_folder(where, known, platform)
    else:
        place = Place(os.fspath(path), where, known, platform)
        found = read_text(_text(where).encode(), place)
    if not found:
        raise InputError(
            "no release table in it (looked for RST or CSV tables with Powerdown, Wakeup and "
            "Cache Flush, or Latency)",
            path=os.fspath(path),
        )
    return found
