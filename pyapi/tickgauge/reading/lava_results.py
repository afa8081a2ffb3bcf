"""Results of LAVA as a source: the CSV and YAML that ``/results/JOB/csv`` and ``yaml`` export.

A job is one boot; a test case with a measurement is a reading. The suite ``lava`` holds the job's
own actions, whose durations are no latencies, and is left out. Keys are those of the signals on
the console (``rules/shipped/lava.toml``): the case, and the suite as a label. A case that failed
with a measurement is a reading like any other: most fail because the measurement is high, and
without those the distribution would end below. Source: Linaro/lava, ``lava_results_app``
(``utils.py``, ``models.py``): measurements are decimals of ten places.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..dataset.dataset import Part, SourceInfo
from ..dataset.from_columns import from_columns
from ..errors import InputError
from ..frame.frame import Column, Frame
from ..sources.digest import Digest
from ..sources.form import Match
from ..units import ns_factor
from ..util.optional import need

__all__ = ["load", "sniff"]

#: Columns that every export has; the others are not used.
_COLUMNS = ("job", "suite", "result", "measurement", "unit", "name")

#: A decimal keeps so many digits behind the point; the model of LAVA has ten.
_PLACES = 10


def sniff(head: bytes, source: Any) -> Match:
    """How well the form fits."""
    first = head.lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    names = {word.strip(b'"\r ') for word in first.split(b",")}
    if set(map(str.encode, _COLUMNS)) <= names:
        return Match(95, "the header of LAVA's results as CSV")
    keys = set(re.findall(rb"^[- ] ([a-z_]+):", head[:4096], re.M))
    if head.lstrip().startswith(b"- ") and set(map(str.encode, _COLUMNS)) <= keys:
        return Match(95, "a list of LAVA's results as YAML")
    return Match(0, "")


def load(source: Any, options: Any) -> Part:
    """Read a source as results of LAVA."""
    data = source.read_bytes(options.limits)
    text = data.decode("utf-8-sig", "replace")
    rows = list(_csv_rows(text) if not text.lstrip().startswith("-") else _yaml_rows(text))
    found, problems = _measurements(rows)
    info = SourceInfo(source.name, form="lava-results", bytes=len(data), formats=("lava",))
    info.identity = Digest.of(data)
    info.lines = data.count(b"\n")
    info.records = len(rows)
    info.problems = len(problems)
    results = Counter(row["result"] for _, row in rows)
    told = ", ".join(f"{n} {word}" for word, n in sorted(results.items()))
    failed = sum(row["result"] != "pass" for _, row, _ in found)
    beside = f" ({failed} of cases that did not pass)" if failed else ""
    info.why.append(f"{len(rows)} results ({told}), {len(found)} with a measurement{beside}")
    if not found:
        info.message = "no result has a measurement"
    return _part(info, found, problems)


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Line and cells of every row."""
    reader = csv.DictReader(io.StringIO(text))
    try:
        for row in reader:
            yield reader.line_num, {name: str(row.get(name) or "") for name in _COLUMNS}
    except csv.Error as error:
        raise InputError(f"the CSV of results is damaged: {error}", line=reader.line_num) from error


def _yaml_rows(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    yaml = need("yaml", "yaml")
    loader = yaml.BaseLoader  # each value as the text that stands there
    try:
        items = yaml.compose(text, Loader=loader)
        document = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"the YAML of results is damaged: {error}") from error
    for node, row in zip(items.value, document, strict=True):
        if isinstance(row, dict):
            cells = {name: str(row.get(name) or "") for name in _COLUMNS}
            yield node.start_mark.line + 1, cells


def _measurements(
    rows: list[tuple[int, Mapping[str, str]]],
) -> tuple[list[tuple[int, Mapping[str, str], Decimal]], list[tuple[int, str]]]:
    """The rows with a measurement, and unusable ones with the reason."""
    found, problems = [], []
    for line, row in rows:
        if row["suite"] == "lava" or row["measurement"] in ("", "None"):
            continue
        try:
            value = Decimal(row["measurement"])
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite() or abs(value) >= Decimal(10) ** (18 - _PLACES):
            problems.append((line, f"measurement {row['measurement'][:40]!r} is no usable number"))
        else:
            found.append((line, row, value))
    return found, problems


def _part(
    info: SourceInfo,
    found: list[tuple[int, Mapping[str, str], Decimal]],
    problems: list[tuple[int, str]],
) -> Part:
    places = max((-int(v.normalize().as_tuple().exponent) for _, _, v in found), default=0)
    places = min(max(places, 0), _PLACES)
    jobs = {job: i for i, job in enumerate(dict.fromkeys(row["job"] for _, row, _ in found))}
    units = [row["unit"] or "1" for _, row, _ in found]
    made = from_columns(
        np.array([int(v.scaleb(places)) for _, _, v in found], "i8"),
        unit=units,
        better=["none" if ns_factor(unit, None) is None else "lower" for unit in units],
        test=[row["name"] for _, row, _ in found],
        metric="measurement",
        labels={"suite": [re.sub(r"^\d+_", "", row["suite"]) for _, row, _ in found]},
        format="lava",
        boot=[jobs[row["job"]] for _, row, _ in found],
        exp10=-places,
        name=info.name,
    )
    lines = np.array([line for line, _, _ in found], "u8")
    stored = ("key", "source", "boot", "run", "block", "value")
    columns = [made.readings.column(name) for name in stored]
    columns += [Column.of("line", lines), made.readings.column("offset")]
    readings = Frame(columns, "readings")
    tables = {"boots": made.table("boots"), "keys": made.table("keys"), "readings": readings}
    tables["problems"] = _problem_table(problems)
    return Part([info], tables)


def _problem_table(problems: list[tuple[int, str]]) -> Frame:
    n = len(problems)
    none = np.zeros(n, "?")
    return Frame(
        [
            Column.of("source", np.zeros(n, "u4")),
            Column.of("line", np.array([line for line, _ in problems], "u8")),
            Column.of("offset", np.zeros(n, "u8"), none),
            Column.of("rule", np.array(["lava.result"] * n, "O")),
            Column.of("reason", np.array(["result"] * n, "O")),
            Column.of("detail", np.array([detail for _, detail in problems], "O")),
            Column.of("excerpt", np.array([""] * n, "O"), none),
        ],
        "problems",
    )
