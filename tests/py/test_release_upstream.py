"""The release step against the files that TF-A published, and against the rule of its script.

The rule (tf-a-ci-scripts d4f3530a): rows in the order of the console, paired with those of the
former file by place; each cell the new whole ns and, where the two are not close
(``math.isclose`` with the tolerance), the relative change as ``+.2%``; every field quoted.
"""

from __future__ import annotations

import csv
import io
import math
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import tfa_pages as pages
import tickgauge as tg
from tickgauge.cli import main

CASES = pages.DATA / "release"

#: Every release published from May 2023 to May 2026, each against the one published before it.
RELEASES = [
    ("juno", "a3077ae1e v2.9(rc0)", "94276a569 v2.9"),
    ("juno", "94276a569 v2.9", "94276a569 v2.10"),
    ("juno", "94276a569 v2.10", "970203555 v2.14"),
    ("juno", "9418c9ebe v2.14", "0e4a751f8 v2.15"),
    ("n1sdp", "6338876b6 v2.9(rc0-16-g666aec401)", "fe7d06a67 v2.9"),
    ("n1sdp", "fe7d06a67 v2.9", "fe7d06a67 v2.10"),
    ("n1sdp", "fe7d06a67 v2.10", "e9c335fbd v2.11"),
    ("n1sdp", "e9c335fbd v2.11", "012cc2cb6 v2.12"),
    ("n1sdp", "012cc2cb6 v2.12", "08e6f24b7 v2.13"),
    ("n1sdp", "02e82d024 v2.13", "02e82d024 v2.14"),
    ("n1sdp", "9418c9ebe v2.14", "55925c478 v2.15"),
]


def cells_of(platform: str, where: str) -> list[pages.Row]:
    """The cells of a release, in the order in which its console had them.

    N1SDP's pages up to v2.13 sorted the labels that the board printed, 0,0 1,0 0,0 1,0.
    """
    commit, label = where.split(" ")
    found = pages.cells(commit, platform, label)
    assert found, where
    if platform == "n1sdp" and not label.startswith(("v2.9(", "v2.14", "v2.15")):
        place = {"0": "0", "1": "2", "2": "1", "3": "3"}
        found = [{**row, "row": place[row["row"]]} for row in found]
    return found


def upstream(old: list[pages.Row], new: list[pages.Row], tolerance: float) -> dict[str, str]:
    """The files of the rule above."""
    files = {}
    for test in pages.TESTS:
        out = io.StringIO()
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for before, after in zip(pages.grid(old, test), pages.grid(new, test), strict=True):
            row = [after[0]["cluster"], after[0]["core"]]
            for a, b in zip(before, after, strict=True):
                x, y = int(a["value_ns"]), int(b["value_ns"])
                near = math.isclose(x, y, rel_tol=tolerance)
                row.append(str(y) if near else f"{y} ({(y - x) / x:+.2%})")
            writer.writerow(row)
        files[f"test_rt_instr_{test}.csv"] = out.getvalue()
    return files


def released(
    tmp_path: Path, old: list[pages.Row], new: list[pages.Row], *options: object
) -> dict[str, str]:
    """The files that the release step leaves, from the old ones and a console of the new ones."""
    board = tmp_path / new[0]["platform"]
    pages.write_folder(board / "current", old, quoted=True)
    (board / "previous").mkdir()
    log = tmp_path / "console.log"
    log.write_bytes(pages.console(new))
    assert main(list(map(str, ["table", board / "current", log, "--into", board, *options]))) == 0
    return {path.name: path.read_text() for path in (board / "current").iterdir()}


@pytest.mark.parametrize("tolerance", [0.02, 0.25])
@pytest.mark.parametrize(("platform", "old", "new"), RELEASES)
def test_every_published_release_as_the_script_would_write_it(
    platform: str, old: str, new: str, tolerance: float, tmp_path: Path
) -> None:
    before, after = cells_of(platform, old), cells_of(platform, new)
    got = released(tmp_path, before, after, "--join", "row", "--threshold", tolerance)
    assert got == upstream(before, after, tolerance)


@pytest.mark.parametrize(
    ("platform", "old", "new"), [r for r in RELEASES if r[0] == "juno" and "v2.15" not in r[2]]
)
def test_by_cpu_where_the_rows_lie_in_one_order(
    platform: str, old: str, new: str, tmp_path: Path
) -> None:
    before, after = cells_of(platform, old), cells_of(platform, new)
    assert released(tmp_path, before, after) == upstream(before, after, 0.02)


@pytest.mark.parametrize(("platform", "old", "new"), [r for r in RELEASES if "v2.15" in r[2]])
def test_the_files_of_v2_15_to_the_byte(platform: str, old: str, new: str, tmp_path: Path) -> None:
    """The only ones that were published as the script writes them."""
    after = cells_of(platform, new)
    pages.write_folder(tmp_path / "published", after, quoted=True)
    published = {p.name: p.read_text() for p in (tmp_path / "published").iterdir()}
    assert released(tmp_path, cells_of(platform, old), after, "--join", "row") == published


def test_by_cpu_a_console_in_another_order_keeps_its_order_and_has_right_changes(
    tmp_path: Path,
) -> None:
    """Juno v2.15: 94 of 96 changes were wrong, by rows; the corrected ones are known."""
    before, after = cells_of("juno", RELEASES[3][1]), cells_of("juno", RELEASES[3][2])
    got = released(tmp_path, before, after)
    right = {(r["test"], r["cluster"], r["core"], r["metric"]): r for r in pages.corrected("juno")}
    for test in pages.TESTS:
        rows = list(csv.reader(io.StringIO(got[f"test_rt_instr_{test}.csv"])))
        for line, row in zip(pages.grid(after, test), rows, strict=True):
            assert row[:2] == [line[0]["cluster"], line[0]["core"]]
            for cell, text in zip(line, row[2:], strict=True):
                key = (f"test_rt_instr_{test}", row[0], row[1], cell["metric"])
                known = right[key]
                delta = f" ({known['correct_delta_pct']}%)"
                assert text in (cell["value_ns"], cell["value_ns"] + delta)


def test_the_tables_without_a_summary_go_into_the_folder(tmp_path: Path) -> None:
    """Four of six cpus reported: asked for, and each row whole numbers."""
    base = tmp_path / "juno"
    (base / "current").mkdir(parents=True)
    step = ["table", CASES / "plain.log", CASES / "next_release.log", "--into", base, "--anyway"]
    assert main([*map(str, step), "--summary"]) == 0
    text = (base / "current" / "test_rt_instr_susp_deep_parallel.csv").read_text()
    assert text == (
        '"0","0","204200","20420","4080"\n"0","1","204400","20440","4080"\n'
        '"1","0","204600","20460","4080"\n"1","1","204800","20480","4080"\n'
    )


# ---- runs that should not be published ---------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test_failed.log", ["cpu_susp_serial: verdict Failed"]),
        ("test_hangs.log", ["psci_version_parallel: no", "no verdict: the run hung"]),
        ("next_release.log", ["susp_deep_parallel: 4 of 6 cpus reported"]),
    ],
)
def test_a_run_that_failed_hung_or_is_partial_is_refused(
    name: str, words: Sequence[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "current").mkdir()
    command = ["table", str(CASES / "plain.log"), str(CASES / name)]
    for more in (["--into", str(tmp_path)], ["--style", "tfa-csv"], ["--style", "rst"]):
        assert main([*command, *more]) == 3
        said = capfd.readouterr()
        assert said.out == ""
        assert "is not to be published" in said.err
        assert all(word in said.err for word in words)
    assert list((tmp_path / "current").iterdir()) == []
    assert main([*command, "--style", "rst", "--anyway"]) == 0
    assert "NOT TO BE PUBLISHED" in capfd.readouterr().out
    assert main([*command, "--into", str(tmp_path), "--anyway"]) == 0
    assert words[-1].partition(": ")[2] in capfd.readouterr().err


def test_a_console_that_is_cut_is_refused(tmp_path: Path) -> None:
    new = pages.console(cells_of("juno", "94276a569 v2.10"))
    log = tmp_path / "new.log"
    log.write_bytes(new[: new.index(b"PSCI version call")])
    board = tmp_path / "juno"
    pages.write_folder(board / "current", cells_of("juno", "94276a569 v2.9"), quoted=True)
    assert main(["table", str(board / "current"), str(log), "--into", str(board)]) == 3
    made = tg.tables(board / "current", log)
    assert any("psci_version_parallel" in fault for fault in made.faults)


# ---- the page ----------------------------------------------------------------------------------


def test_the_page_directives_are_upstreams(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before, after = cells_of("juno", "94276a569 v2.9"), cells_of("juno", "94276a569 v2.10")
    released(tmp_path, before, after, "--style", "rst")
    out = capfd.readouterr().out
    assert out.startswith(
        ".. csv-table:: ``CPU_SUSPEND`` latencies (ns) to deepest power level in parallel "
        "(current release)\n"
        "    :header: Cluster, Core, Powerdown, Wakeup, Cache Flush\n"
        "    :width: 95%\n"
        "    :widths: 1, 1, 3, 3, 3\n"
        "    :file: data/juno/current/test_rt_instr_susp_deep_parallel.csv\n"
        "\n"
        ".. csv-table:: ``CPU_SUSPEND`` latencies (ns) to deepest power level in parallel "
        "(previous release)\n"
    )
    assert out.endswith(
        ".. csv-table:: ``CPU_VERSION`` latency (ns) in parallel on all cores (previous release)\n"
        "    :header: Cluster, Core, Latency\n"
        "    :width: 95%\n"
        "    :widths: 1, 1, 2\n"
        "    :file: data/juno/previous/test_rt_instr_psci_version_parallel.csv\n"
    )
    assert out.count("csv-table::") == 12


def test_rst_is_a_csv_table_that_docutils_and_this_program_read(tmp_path: Path) -> None:
    core = pytest.importorskip("docutils.core")
    nodes = pytest.importorskip("docutils.nodes")
    before, after = cells_of("juno", "94276a569 v2.9"), cells_of("juno", "94276a569 v2.10")
    board = tmp_path / "juno"
    pages.write_folder(board / "current", before, quoted=True)
    log = tmp_path / "new.log"
    log.write_bytes(pages.console(after))
    text = tg.tables(board / "current", log, release="v2.10").to_rst()
    tree = core.publish_doctree(text, settings_overrides={"report_level": 1, "halt_level": 2})
    tables = list(tree.findall(nodes.table))
    assert len(tables) == 6
    assert all(len(list(table.findall(nodes.row))) == 7 for table in tables)
    page = tmp_path / "page.rst"
    page.write_text(f"juno\n====\n\n{text}")
    again = tg.tables(board / "current", f"{page}@v2.10")
    assert [t.rows for t in again.tables] == [
        t.rows for t in tg.tables(board / "current", log).tables
    ]


# ---- several at once ---------------------------------------------------------------------------

RACER = """
import sys
from tickgauge.errors import InputError
from tickgauge.tfa.install import install
base, tag = sys.argv[1:]
sys.stdin.readline()
try:
    install(base, {f"{tag}{i}.csv": "x" * 1000 for i in range(4)})
    print("ok")
except InputError as error:
    print("refused" if "writes into it" in str(error) else error)
"""


@pytest.mark.parametrize(
    "rounds", [12, pytest.param(150, marks=[pytest.mark.slow, pytest.mark.noasan])]
)
def test_steps_at_the_same_time_leave_one_whole_set(rounds: int, tmp_path: Path) -> None:
    for number in range(rounds):
        base = tmp_path / f"{number}"
        for name in ("current", "previous"):
            (base / name).mkdir(parents=True)
            (base / name / f"{name}.csv").write_text(name)
        racers = {
            tag: subprocess.Popen(
                [sys.executable, "-c", RACER, str(base), tag],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for tag in "ABC"
        }  # fmt: skip
        for racer in racers.values():
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        said = {tag: racer.communicate(timeout=60)[0].strip() for tag, racer in racers.items()}
        assert set(said.values()) <= {"ok", "refused"}
        winners = [tag for tag, word in said.items() if word == "ok"]
        now = sorted(path.name for path in (base / "current").iterdir())
        assert now in [[f"{tag}{i}.csv" for i in range(4)] for tag in winners]
        before = sorted(path.name for path in (base / "previous").iterdir())
        assert before in [["current.csv"], *([f"{t}{i}.csv" for i in range(4)] for t in winners)]
        assert sorted(path.name for path in base.iterdir()) == ["current", "previous"]
        shutil.rmtree(base)
