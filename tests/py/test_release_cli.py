"""``tickgauge table`` and ``tickgauge audit`` as a user runs them, and `tg.tables`, `tg.audit`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import tfa_pages as pages
import tickgauge as tg
from tickgauge.cli import main


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return pages.data_tree(tmp_path / "data")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "juno.log"
    file.write_bytes(pages.console(pages.cells("0e4a751f8", "juno", "v2.15")))
    return file


Run = tuple[int, str, str]


def _run(capfd: pytest.CaptureFixture[str], *argv: object) -> Run:
    code = main([str(a) for a in argv])
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize("order", [None, (4, 5, 0, 1, 2, 3), (5, 3, 1, 0, 2, 4)])
def test_a_console_against_the_published_tables(
    tree: Path, tmp_path: Path, order: tuple[int, ...] | None
) -> None:
    file = tmp_path / "juno.log"
    rows = pages.cells("0e4a751f8", "juno", "v2.15")
    file.write_bytes(pages.console(rows, order=order))
    old = tree / "juno" / "previous"
    every = tg.tables(old, file, threshold=None)
    for cell in pages.corrected("juno"):
        test = cell["test"][14:]
        column = {"powerdown": 2, "wakeup": 3, "cache_flush": 4, "latency": 2}[cell["metric"]]
        (row,) = [r for r in every[test].rows if r[:2] == (cell["cluster"], cell["core"])]
        assert row[column] == f"{cell['v2.15_ns']} ({cell['correct_delta_pct']}%)"
    few = tg.tables(str(old), str(file))
    assert sum("(" in c for t in few.tables for row in t.rows for c in row) == 64


def test_the_n1sdp_release_as_printed(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(
        capfd, "table", f"{pages.PAGE}@v2.9", f"{pages.PAGE}@v2.10", "--threshold", "0.25",
        "--join", "row", "--style", "tfa-csv",
    )  # fmt: skip
    assert code == 0
    for test in pages.TESTS:
        for line in pages.grid(pages.cells("fe7d06a67", "n1sdp", "v2.10"), test):
            fields = [line[0]["cluster"], line[0]["core"]]
            fields += [pages.text_of(r, "us") for r in line]
            assert ",".join(f'"{f}"' for f in fields) + "\n" in out


def test_audit_finds_the_wrong_pages(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capfd, "audit", tree)
    assert code == 1
    assert "juno current against previous: 94 of 96 cells wrong, 15 with the wrong sign" in out
    assert "n1sdp current against previous: 30 of 64 cells wrong" in out
    assert "threshold 0.02" in out
    code, out, _ = _run(capfd, "audit", tree, "--format", "json")
    document = json.loads(out)
    assert document["command"] == "audit" and len(document["rows"]) == 124
    assert document["releases"][0]["wrong_sign"] == 15
    assert _run(capfd, "audit", pages.PAGE)[0] == 0


def test_audit_of_a_folder_with_other_files(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tree / "index.rst").write_text("Performance\n===========\n")
    assert _run(capfd, "audit", tree)[0] == 1
    code, _, err = _run(capfd, "audit", tree / "index.rst")
    assert code == 2 and "no published release table" in err


def test_audit_without_the_table_before(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = pages.cells("970203555", "juno", "v2.14")
    folder = pages.write_folder(tmp_path / "juno" / "current", rows, quoted=False)
    code, out, _ = _run(capfd, "audit", folder)
    assert code == 3 and "baseline not given" in out


@pytest.mark.parametrize("style", ["tfa-csv", "rst", "md", "html"])
def test_styles(tree: Path, log: Path, style: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(
        capfd, "table", tree / "juno" / "previous", log, "--style", style, "--release", "v2.15",
        "--commit", "0e4a751f8",
    )  # fmt: skip
    assert code == 0 and "168140" in out and "101440 (" not in out
    if style != "tfa-csv":
        assert "v2.15" in out and "0e4a751f8" in out


def test_json(tree: Path, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(
        capfd, "table", tree / "juno" / "previous", log, "--format", "json", "--summary"
    )
    document = json.loads(out)
    assert code == 0 and document["schema"] == "tickgauge" and len(document["rows"]) == 96
    assert {row["row"] for row in document["summary"]} == {"base", "step", "min", "max"}


def _files(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_the_release_step(tree: Path, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    base = tree / "juno"
    old = tree.parent / "v2.14"
    shutil.copytree(base / "previous", old)
    shutil.rmtree(base / "current")
    shutil.copytree(old, base / "current")  # the folder as it was before v2.15
    before = _files(base)
    wrong = tree / "n1sdp" / "current"
    code, _, err = _run(capfd, "table", wrong, log, "--into", base)
    assert code != 0 and _files(base) == before
    code, out, err = _run(capfd, "table", old, log, "--into", base)
    assert code == 0 and out == ""
    assert _files(base / "previous") == _files(old)
    after = _files(base)
    assert sorted(after) == sorted(before)
    line = after["current/test_rt_instr_cpu_off_serial.csv"].splitlines()[4]  # as on the console
    assert line.startswith('"0","0","267200') and line.endswith('"168140"')  # by cpu: no change
    assert _run(capfd, "audit", base)[0] == 0  # every printed change is right
    for again in (old, base / "current"):  # run twice it is as run once
        code, _, err = _run(capfd, "table", again, log, "--into", base)
        assert code == 0 and "holds the values of NEW already" in err
        assert _files(base) == after


def test_the_release_step_from_an_old_side_of_several_boots(
    tree: Path, log: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """OLD is asked for its boots as the tables are: here the lower median of two."""
    base = tree / "juno"
    shutil.rmtree(base / "current")
    (base / "current").mkdir()
    old = tmp_path / "old.log"
    old.write_bytes(pages.console(pages.cells("9418c9ebe", "juno", "v2.14")) * 2)
    stat = ("--stat", "median-low")
    code, _, err = _run(capfd, "table", log, old, "--into", base, *stat)
    assert code == 0, err
    code, _, err = _run(capfd, "table", old, log, "--into", base, *stat)
    assert code == 0, err
    assert "168140" in (base / "current" / "test_rt_instr_cpu_off_serial.csv").read_text()


def test_limits_of_both_sides(tree: Path, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old = tree / "juno" / "previous"
    assert _run(capfd, "table", old, log, "--limit", "template=4K")[0] == 0
    for limit in ("template=4", "whole=4"):
        code, _, err = _run(capfd, "table", old, log, "--limit", limit)
        assert code == 2 and f"--limit {limit[:-2]}=N" in err
    code, out, _ = _run(capfd, "table", old, log, "--limit", "line=16")
    assert (code, out) != (0, "") and "168140" not in out


def test_a_former_release_that_is_not_current_is_refused(
    tree: Path, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    base = tree / "juno"
    shutil.rmtree(base / "current")
    shutil.copytree(base / "previous", base / "current")
    before = _files(base)
    code, _, err = _run(capfd, "table", log, log, "--into", base, "--boot", "0")
    assert code == 2 and "OLD is not what" in err
    assert _files(base) == before


@pytest.mark.parametrize("style", ["md", "html"])
def test_a_data_folder_holds_csv_only(
    tree: Path, log: Path, style: str, capfd: pytest.CaptureFixture[str]
) -> None:
    base = tree / "juno"
    before = _files(base)
    code, _, err = _run(capfd, "table", base / "current", log, "--into", base, "--style", style)
    assert code == 2 and f"--style {style} goes to standard output or -o FILE" in err
    assert _files(base) == before


def test_several_boots_are_refused(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = pages.cells("0e4a751f8", "juno", "v2.15")
    other = [dict(r, value_ns=str(int(r["value_ns"]) + 40)) for r in rows]
    third = [dict(r, value_ns=str(int(r["value_ns"]) + 20)) for r in rows]
    both = tree / "several.log"
    both.write_bytes(b"".join(map(pages.console, (rows, other, third))))
    old = tree / "juno" / "previous"
    code, out, err = _run(capfd, "table", old, both)
    assert code == 2 and out == ""
    assert "holds 3 boots" in err and "--boot N" in err and "--stat median-low" in err
    code, out, _ = _run(capfd, "table", old, both, "--boot", 1, "--threshold", "none")
    assert code == 0 and "267240" in out
    code, out, _ = _run(capfd, "table", old, both, "--stat", "median-low", "--threshold", "none")
    assert code == 0 and "267220" in out and "lower median of 3 boots" in out
    assert _run(capfd, "table", old, both, "--boot", 3)[0] == 2


def test_other_boards_and_builds_are_refused(
    tree: Path, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = _run(capfd, "table", tree / "n1sdp" / "previous", log)
    assert code == 3 and "platform" in err and "--anyway" in err
    debug = log.with_name("debug.log")
    debug.write_bytes(log.read_bytes().replace(b"release)", b"debug)"))
    code, _, err = _run(capfd, "table", log, debug)
    assert code == 3 and "build type" in err
    assert _run(capfd, "table", log, debug, "--anyway")[0] == 0


def test_a_snapshot_on_either_side(tree: Path, log: Path, tmp_path: Path) -> None:
    old = tree / "juno" / "previous"
    want = tg.tables(old, log, threshold=None)
    for what in (log, old):
        tg.snapshot(what).save(tmp_path / f"{what.name}.json")
    got = tg.tables(tmp_path / "previous.json", tmp_path / "juno.log.json", threshold=None)
    assert {t.test: t.rows for t in got.tables} == {t.test: t.rows for t in want.tables}
    assert {t.test: t.summary for t in got.tables} == {t.test: t.summary for t in want.tables}


def test_a_test_that_ran_twice_in_a_boot(tree: Path, tmp_path: Path) -> None:
    rows = pages.cells("0e4a751f8", "juno", "v2.15")
    again = [dict(r, value_ns=str(int(r["value_ns"]) + 20)) for r in rows]
    first, second = pages.console(rows), pages.console(again)
    file = tmp_path / "twice.log"
    file.write_bytes(first + second[second.index(b"> Executing") :])
    old = tree / "juno" / "previous"
    with pytest.raises(tg.InputError, match="ran 2 times"):
        tg.tables(old, file)
    made = tg.tables(old, file, stat="median-low", threshold=None)
    assert made["cpu_off_serial"].rows[0][2].startswith("267200 (")
    with pytest.raises(tg.InputError, match="ran 2 times"):
        tg.tables(old, tg.snapshot(file))


def test_a_page_with_several_releases_needs_a_name(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = _run(capfd, "table", pages.PAGE, pages.PAGE)
    assert code == 2 and "2 releases (v2.9, v2.10)" in err and "@v2.10" in err
    code, _, err = _run(capfd, "table", f"{pages.PAGE}@v2.8", f"{pages.PAGE}@v2.10")
    assert code == 2


@pytest.mark.parametrize("bad", ["abc", "-1", "2"])
def test_bad_thresholds(bad: str, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = _run(capfd, "table", log, log, f"--threshold={bad}")
    assert code == 2 and "--threshold" in err


def test_tables_read_as_well_as_consoles(tree: Path, log: Path) -> None:
    page = tg.read(tree / "juno" / "current")
    console = tg.read(log)
    columns = ("test", "metric", "cluster", "core", "value", "unit")

    def rows(data: tg.Dataset) -> list[tuple[str, ...]]:
        r = data.readings.select(format="tftf")
        return sorted(tuple(str(r[c][k]) for c in columns) for k in range(len(r)))

    assert rows(page) == rows(console) and len(rows(page)) == 96
    both = tg.read(tree / "juno" / "current", log)
    assert len(both.keys) == len(console.keys)  # one key, two boots
    released = tg.read(pages.PAGE)
    assert [str(v) for v in released.boots["version"]] == ["v2.9", "v2.10"]
    one = tg.read(f"{pages.PAGE}@v2.10")
    assert len(one.boots) == 1 and len(one.readings) == 64
