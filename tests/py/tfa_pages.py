"""Published TF-A figures for the tests, and pages written from them in the forms they have had."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "tfa"
PAGE = DATA / "psci-performance-n1sdp.rst"
TESTS = (
    "susp_deep_parallel",
    "susp_deep_serial",
    "cpu_susp_parallel",
    "cpu_susp_serial",
    "cpu_off_serial",
    "psci_version_parallel",
)
HEADERS = {
    "powerdown": "Powerdown",
    "wakeup": "Wakeup",
    "cache_flush": "Cache Flush",
    "latency": "Latency",
}
Row = dict[str, str]


def published() -> list[Row]:
    """The published cells, one a row: value in ns, printed change without its percent sign."""
    text = gzip.decompress((DATA / "published.csv.gz").read_bytes()).decode()
    return list(csv.DictReader(io.StringIO(text)))


def corrected(platform: str) -> list[Row]:
    """The v2.15 cells with the right change against the same cpu of v2.14."""
    with (DATA / "v2.15_corrected.csv").open() as file:
        return [r for r in csv.DictReader(file) if r["platform"] == platform]


def cells(commit: str, platform: str, label: str) -> list[Row]:
    """One published release as one commit printed it."""
    return [
        r
        for r in published()
        if (r["commit"], r["platform"], r["release_label"]) == (commit, platform, label)
    ]


def text_of(row: Row, unit: str = "ns") -> str:
    """A cell as the pages print it in `unit`."""
    value = row["value_ns"]
    if unit == "us":
        value = repr(int(value) / 1000)
    delta = row["printed_delta_pct"]
    return f"{value} ({delta}%)" if delta else value


def grid(rows: Iterable[Row], test: str) -> list[list[Row]]:
    """The cells of a test by printed row."""
    mine = [r for r in rows if r["test"] == f"test_rt_instr_{test}"]
    return [[r for r in mine if int(r["row"]) == n] for n in sorted({int(r["row"]) for r in mine})]


def write_folder(folder: Path, rows: list[Row], *, quoted: bool) -> Path:
    """The data folder of a page: one CSV a test without header, all fields quoted or none."""
    folder.mkdir(parents=True)
    for test in TESTS:
        lines = []
        for line in grid(rows, test):
            fields = [line[0]["cluster"], line[0]["core"], *map(text_of, line)]
            lines.append(",".join(f'"{f}"' if quoted else f for f in fields) + "\n")
        (folder / f"test_rt_instr_{test}.csv").write_text("".join(lines))
    return folder


def data_tree(base: Path) -> Path:
    """docs/perf/data as of v2.15: both platforms, current and previous."""
    for platform, commit in (("juno", "0e4a751f8"), ("n1sdp", "55925c478")):
        new, old = cells(commit, platform, "v2.15"), cells(commit, platform, "v2.14")
        write_folder(base / platform / "current", new, quoted=True)
        write_folder(base / platform / "previous", old, quoted=False)
    return base


def console(rows: list[Row], *, order: tuple[int, ...] | None = None) -> bytes:
    """A TFTF session that prints the cells of one release, CRLF, in printed row order."""
    names = {
        "susp_deep_parallel": "Suspend to deepest power level on all cores in parallel",
        "susp_deep_serial": "Suspend to deepest power level on all cores in sequence",
        "cpu_susp_parallel": "CPU suspend on all cores in parallel",
        "cpu_susp_serial": "CPU suspend on all cores in sequence",
        "cpu_off_serial": "CPU off on all non-lead cores in sequence and suspend lead to deepest "
        "power level",
        "psci_version_parallel": "PSCI version call on all cores in parallel",
    }
    platform = rows[0]["platform"]
    out = [
        "NOTICE:  Booting Trusted Firmware",
        "NOTICE:  BL1: v2.15.0(release):v2.15-rc0",
        "NOTICE:  BL1: Built : 09:12:31, May 18 2026",
        "NOTICE:  Booting trusted firmware test framework",
        "NOTICE:  Built : 09:14:02, May 18 2026",
        f"NOTICE:  v2.14({platform},release):v2.15-rc0",
        "",
        "NOTICE:  Starting a new test session",
        "--",
        "Running test suite 'Runtime Instrumentation Validation'",
        "Description: Validate PMF Runtime Instrumentation",
        "",
    ]
    for test in TESTS:
        out.append(f"> Executing '{names[test]}'")
        lines = grid(rows, test)
        for at in order or range(len(lines)):
            line = lines[at]
            fields = [line[0]["cluster"], line[0]["core"], *(r["value_ns"] for r in line)]
            out.append(f"<RT_INSTR:test_rt_instr_{test}\t" + "\t".join(fields) + "/>")
        out += ["  TEST COMPLETE" + "Passed".rjust(55), ""]
    return ("\r\n".join(out) + "\r\n").encode()
