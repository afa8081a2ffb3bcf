"""Published release tables: read, printed again, and joined by cpu."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tfa_pages as pages
from tickgauge.boards import platforms
from tickgauge.boards.platforms import Cpu
from tickgauge.errors import InputError, NotComparableError
from tickgauge.tfa.delta import Interval, close, number_text, percent, threshold_interval
from tickgauge.tfa.join import Side, SideRow, SideTable, join, merge
from tickgauge.tfa.model import distinct, exchange_class
from tickgauge.tfa.pages import is_published, read_published
from tickgauge.tfa.tables import block_figures, build


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return pages.data_tree(tmp_path / "data")


# ---- the delta rule ----------------------------------------------------------------------------
def test_percent_half_even_in_the_pages_unit() -> None:
    assert percent(4480, 4340) == "-3.12%"  # exactly -3.125, Juno v2.13 cpu_off
    assert percent(10.08, 23.94) == "+137.50%"
    assert percent(500, 500) == "+0.00%"
    assert percent(0, 20) == "from 0"
    assert percent(0, 0) == "+0.00%"


def test_a_quarter_is_beyond_the_threshold_in_us_and_not_in_ns() -> None:
    # N1SDP v2.10 susp_deep_parallel row 2: printed as -25.00%
    assert not close(3.68, 2.76, 0.25)
    assert close(3680, 2760, 0.25)
    assert close(1, 1, 0.0)
    assert not close(1, 1, None)


@pytest.mark.parametrize(
    ("ns", "unit", "text"),
    [
        (38300, "us", "38.3"),
        (260, "us", "0.26"),
        (2000, "us", "2.0"),
        (41, "us", "0.041"),
        (38300, "ns", "38300"),
        (368934881460, "us", "368934881.46"),
        (0, "us", "0.0"),
    ],
)
def test_number_text(ns: int, unit: str, text: str) -> None:
    assert number_text(ns, unit) == text


@pytest.mark.parametrize(
    ("low", "high", "value"),
    [
        (0.0186514, 0.0235294, 0.02),
        (0.224631, 0.256757, 0.25),
        (0.00981767, 0.0102339, 0.01),
        (0.25, 0.2500000000000001, 0.25),
        (0.5, 0.5, None),
        (0.0, 0.3, 0.2),
    ],
)
def test_simplest_threshold(low: float, high: float, value: float | None) -> None:
    assert Interval(low, high).simplest() == value


def test_threshold_interval_against_counting() -> None:
    rng = random.Random(3)
    for _ in range(200):
        cells = [
            (float(rng.randrange(1, 9)), float(rng.randrange(0, 9)), rng.random() < 0.5)
            for _ in range(rng.randrange(1, 9))
        ]
        interval, off = threshold_interval(cells)
        changes = [(abs(n - o) / max(o, n), p) for o, n, p in cells]
        tried = {
            t: sum(p == (c <= t) for c, p in changes)
            for t in sorted({0.0, *(c for c, _ in changes)})
        }
        assert off == min(tried.values())
        assert tried[interval.low] == off
        assert interval.low == min(t for t in tried if tried[t] == off)


# ---- reading -----------------------------------------------------------------------------------
def test_rst_page_gives_both_releases() -> None:
    old, new = read_published(pages.PAGE)
    assert (old.label, new.label) == ("v2.9", "v2.10")
    assert old.platform is not None and old.platform.name == "n1sdp"
    assert (old.unit, len(old), len(new)) == ("us", 64, 64)
    for release in (old, new):
        want = {
            (r["test"][14:], int(r["row"]), r["metric"]): (
                int(r["value_ns"]),
                r["printed_delta_pct"] or None,
            )
            for r in pages.cells("fe7d06a67", "n1sdp", release.label)
        }
        got = {
            (t.test, t.rows.index(row), m): (c.ns, c.delta.rstrip("%") if c.delta else None)
            for t, row, m, c in release.cells()
        }
        assert got == want
        assert release.problems == []
        assert set(release.resolution.values()) == {20}
    cpus = [row.cpu for row in new.tables["cpu_off_serial"].rows]
    assert cpus == [Cpu(0, 0), Cpu(1, 0), Cpu(0, 1), Cpu(1, 1)]
    assert any("caption row" in note for note in new.notes)


def test_a_cell_knows_its_line() -> None:
    text = pages.PAGE.read_text().splitlines()
    for release in read_published(pages.PAGE):
        for _, _, _, cell in release.cells():
            assert cell.text in text[cell.line - 1]


def test_data_folders(tree: Path) -> None:
    found = read_published(tree)
    names = [(r.platform.name if r.platform else "", r.label, r.form, len(r)) for r in found]
    assert names == [
        ("juno", "current", "csv-unix", 96),
        ("juno", "previous", "csv", 96),
        ("n1sdp", "current", "csv-unix", 64),
        ("n1sdp", "previous", "csv", 64),
    ]
    assert [r.cpu for r in found[2].tables["cpu_off_serial"].rows] == [
        Cpu(0, 0),
        Cpu(0, 1),
        Cpu(1, 0),
        Cpu(1, 1),
    ]
    single = read_published(tree / "juno" / "current" / "test_rt_instr_cpu_off_serial.csv")
    assert len(single[0]) == 18 and single[0].platform is not None


FORMS = {
    "us": ("0.42 (-47.50%)", "µs", 420, "-47.50%"),
    "typo": ("10.04", "µs", 10040, None),
    "float ns": ("270640.0(+1031.44%)", "ns", 270640, "+1031.44%"),
    "two decimals ns": ("1620.00", "ns", 1620, None),
    "integer ns": ("267240 (+9.97%)", "ns", 267240, "+9.97%"),
}


@pytest.mark.parametrize("form", FORMS)
def test_cell_syntax(tmp_path: Path, form: str) -> None:
    cell, unit, ns, delta = FORMS[form]
    header = "Wakekup" if form == "typo" else "Wakeup"
    page = tmp_path / "page.rst"
    page.write_text(
        f"Juno\n====\n\n.. csv-table:: ``CPU_SUSPEND`` latencies ({unit}) to power level 0 in "
        f"serial (v2.14)\n    :header: Cluster, Core, Powerdown, {header}, Cache Flush\n\n"
        f"    0,0,{cell},{cell},{cell}\n    0,1,{cell},{cell},{cell}\n"
    )
    (release,) = read_published(page)
    assert release.label == "v2.14"
    assert [c.ns for _, _, _, c in release.cells()] == [ns] * 6
    assert {c.delta for _, _, _, c in release.cells()} == {delta}


def test_us_title_over_ns_values_is_caught(tmp_path: Path) -> None:
    rows = pages.cells("970203555", "juno", "v2.14")
    lines = ["Juno", "====", ""]
    for test, how in (("susp_deep_serial", "deepest power level in serial"),):
        lines += [f".. csv-table:: ``CPU_SUSPEND`` latencies (µs) to {how} (v2.14)"]
        lines += ["    :header: Cluster, Core, Powerdown, Wakeup, Cache Flush", ""]
        for line in pages.grid(rows, test):
            fields = [line[0]["cluster"], line[0]["core"], *(f"{r['value_ns']}.0" for r in line)]
            lines.append("    " + ",".join(fields))
    page = tmp_path / "page.rst"
    page.write_text("\n".join(lines) + "\n")
    (release,) = read_published(page)
    assert release.unit == "ns"
    assert release.notes == [
        "unit ns: every value is a multiple of the tick, 20 ns (the title says us)"
    ]
    assert release.tables["susp_deep_serial"].rows[0].cells["powerdown"].ns == 267000


def test_2017_table_whole_us_and_positions(tmp_path: Path) -> None:
    rows = pages.cells("4fe912302", "juno", "TF-master-2017-01-31(c38b36d)")
    out = ["Measurements on Juno", "====================", "", "TF master as of 31/01/2017", ""]
    titles = {
        "susp_deep_parallel": "``CPU_SUSPEND`` to deepest power level on all CPUs in parallel",
        "psci_version_parallel": "``PSCI_VERSION`` on all CPUs in parallel",
    }
    for test, title in titles.items():
        version = test.startswith("psci")
        heads = (
            ["CPU", "TOTAL TIME (ns)"]
            if version
            else ["CPU", "``PSCI_ENTRY`` (us)", "``PSCI_EXIT`` (us)", "``CFLUSH_OVERHEAD`` (us)"]
        )
        rule = "+" + "+".join("-" * 26 for _ in heads) + "+"
        out += [title, "-" * len(title), "", rule]
        out += ["|" + "|".join(f" {h:<25}" for h in heads) + "|", rule.replace("-", "=")]
        for position, line in enumerate(pages.grid(rows, test)):
            scale = 1 if version else 1000
            texts = [str(position), *(str(int(r["value_ns"]) // scale) for r in line)]
            out += ["|" + "|".join(f" {t:<25}" for t in texts) + "|", rule]
        out.append("")
    page = tmp_path / "page.rst"
    page.write_text("\n".join(out))
    (release,) = read_published(page)
    assert release.label == "TF master 2017-01-31"
    deep = release.tables["susp_deep_parallel"]
    assert [r.cpu for r in deep.rows] == [(1, 0), (1, 1), (1, 2), (1, 3), (0, 0), (0, 1)]
    assert deep.rows[3].cells["cache_flush"].ns == 94000
    assert release.resolution["susp_deep_parallel", "powerdown"] == 1000
    assert release.tables["psci_version_parallel"].rows[4].cells["latency"].ns == 520
    assert release.resolution["psci_version_parallel", "latency"] == 20


def test_reprints_are_one_data_set(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    import gzip

    path.write_bytes(gzip.decompress((pages.DATA / "published.csv.gz").read_bytes()))
    sets = distinct(read_published(path))
    assert len(sets) == 14  # 20 printed tables, of which 6 are reprints
    reprints = {first.name: len(again) for first, again in sets}
    assert reprints["juno v2.14"] == 2 and reprints["n1sdp v2.13"] == 2
    assert sum(reprints.values()) == 6
    juno = [first for first, _ in sets if first.name == "juno v2.9"]
    assert len(juno) == 1
    assert len([f for f, _ in sets if f.label.startswith("v2.9") and "juno" in f.name]) == 2


def test_gzip_is_read_like_the_plain_file() -> None:
    assert len(read_published(pages.DATA / "published.csv.gz")) == 20


def test_hostile_page_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("0,0,20,40,60\n")
    folder = tmp_path / "page"
    folder.mkdir()
    page = folder / "page.rst"
    page.write_text(
        ".. include:: ../secret.csv\n\n.. csv-table:: ``CPU_OFF`` latencies (ns) (v2.14)\n"
        "    :header: Cluster, Core, Powerdown, Wakeup, Cache Flush\n    :file: ../secret.csv\n"
    )
    with pytest.raises(InputError, match="no release table"):
        read_published(page)


def test_bad_cells_are_problems_not_values(tmp_path: Path) -> None:
    folder = tmp_path / "juno" / "current"
    folder.mkdir(parents=True)
    (folder / "test_rt_instr_cpu_off_serial.csv").write_text(
        "0,0,240 (+1.00%),x12,-\n0,1,260,280,300,1\n1,0,-20,40,60\n1,1,20.01,40.0,60.0\n"
    )
    (release,) = read_published(folder)
    reasons = [reason for _, reason in release.problems]
    assert len(release) == 6
    assert "'x12' is not a value with an optional change" in reasons
    assert "a row of 6 cells, expected 5" in reasons
    assert "'-20' is not a value with an optional change" in reasons


@pytest.mark.parametrize(
    ("head", "name", "yes"),
    [
        (b'"1","0","104500 (-68.57%)","23400","5840"\n', "susp_deep_parallel.csv", True),
        (b"0,0,1200.0(+20.00%)\n", "test_rt_instr_psci_version_parallel.csv", True),
        (b"0,0,1200\n", "samples.csv", False),
        (b"commit,platform,release_label,test,cluster,core,metric,value_ns\n", "x", True),
        (b"NOTICE:  BL31: v2.15\r\n", "x.log", False),
        (b"", "x", False),
    ],
)
def test_told_by_content(head: bytes, name: str, yes: bool) -> None:
    assert is_published(head, name) is yes


# ---- tables out --------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["cpu", "row"])
def test_n1sdp_v2_10_comes_out_as_printed(how: str) -> None:
    old, new = map(Side.of_release, read_published(pages.PAGE))
    tables = build(join(old, new, how), threshold=0.25)
    assert tables.unit == "us"
    rows = pages.cells("fe7d06a67", "n1sdp", "v2.10")
    cpus = [(0, 0), (1, 0), (0, 1), (1, 1)]  # what the page's rows are
    same = 0
    for test in pages.TESTS:
        printed = {n: [pages.text_of(r, "us") for r in line] for n, line in enumerate(
            pages.grid(rows, test))}  # fmt: skip
        for at, row in enumerate(tables[test].rows):
            line = at if how == "row" else cpus.index((int(row[0]), int(row[1])))
            assert list(row[2:]) == printed[line]
            same += len(row) - 2
    assert same == 64
    assert "2.76 (-25.00%)" in tables.to_rst()


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("platform", ["juno", "n1sdp"])
def test_v2_15_right_deltas(tree: Path, platform: str, shuffled: bool) -> None:
    new, old = (Side.of_release(r) for r in read_published(tree / platform))
    if shuffled:
        rng = random.Random(1)
        for test, table in new.tables.items():
            rows = list(table.rows)
            rng.shuffle(rows)
            new.tables[test] = SideTable(test, table.metrics, tuple(rows))
    every = build(join(old, new), threshold=None)
    few = build(join(old, new), threshold=0.02)
    found = 0
    for cell in pages.corrected(platform):
        test = cell["test"][14:]
        column = {"powerdown": 2, "wakeup": 3, "cache_flush": 4, "latency": 2}[cell["metric"]]
        (row,) = [r for r in every[test].rows if r[:2] == (cell["cluster"], cell["core"])]
        assert row[column] == f"{cell['v2.15_ns']} ({cell['correct_delta_pct']}%)"
        found += 1
    printed = sum("(" in c for t in few.tables for row in t.rows for c in row)
    assert (found, printed) == {"juno": (96, 64), "n1sdp": (64, 54)}[platform]


def test_join_row_reproduces_the_wrong_pages(tree: Path) -> None:
    new, old = (Side.of_release(r) for r in read_published(tree / "juno"))
    tables = build(join(old, new, "row"), threshold=0.02)
    rows = pages.cells("0e4a751f8", "juno", "v2.15")
    for test in pages.TESTS:
        printed = [tuple(map(pages.text_of, line)) for line in pages.grid(rows, test)]
        assert [row[2:] for row in tables[test].rows] == printed
        assert tables[test].summary == ()


def test_ladder_of_juno_v2_15(tree: Path) -> None:
    # sorted 104540 250160 395020 540660 685280 830900: a = 104.7 us, b = 145.2 us per rank
    new, old = (Side.of_release(r) for r in read_published(tree / "juno"))
    tables = build(join(old, new), threshold=None, summary=True)
    summary = {row[0]: row for row in tables["cpu_susp_parallel"].summary}
    assert summary["base"][2].startswith("1047") and summary["step"][2].startswith("1452")
    assert summary["base"][3] == "-"
    assert summary["min"][2].startswith("104540 (+") and summary["max"][2].startswith("830900 (+")
    assert tables["cpu_susp_serial"].summary == ()


def test_block_figures_exact() -> None:
    assert block_figures([40, 10, 30, 20], "all") == {"base": 10, "step": 10, "min": 10, "max": 40}
    assert block_figures([7], "all") == {"min": 7, "max": 7}
    assert block_figures([5, 9], "cluster") == {"min": 5, "max": 9}
    assert block_figures([], "all") == {}
    # T11: old 24 36 48 60, new 72 28 42 57 -> OLS 27.7 and 14.7
    assert block_figures([72, 28, 42, 57], "all")["base"] == 28
    # a line that begins below 0 is no time of a first cpu: 0 0 0 100 has a = -20, b = 30
    assert block_figures([0, 0, 0, 100], "all") == {"min": 0, "max": 100}


def test_exchange_classes() -> None:
    assert exchange_class("susp_deep_parallel", "powerdown") == "all"
    assert exchange_class("susp_deep_parallel", "cache_flush") == "cluster"
    assert exchange_class("cpu_off_serial", "powerdown") == "none"


@pytest.mark.parametrize("style", ["tfa-csv", "rst", "md", "html"])
def test_styles_hold_every_cell(tree: Path, style: str) -> None:
    new, old = (Side.of_release(r) for r in read_published(tree / "juno"))
    tables = build(join(old, new), release="v2.15", commit="0e4a751f8")
    text = tables.text(style)
    for table in tables.tables:
        for row in table.all_rows():
            for cell in row[2:]:
                assert cell in text
    if style != "tfa-csv":
        assert "(v2.15)" in text and "0e4a751f8" in text


def test_own_output_reads_back(tree: Path, tmp_path: Path) -> None:
    for board in ("juno", "n1sdp"):
        new, old = (Side.of_release(r) for r in read_published(tree / board))
        tables = build(join(old, new), release="v2.14", threshold=None)
        page = tmp_path / f"{board}.rst"
        page.write_text(f"{board}\n=====\n\n" + tables.to_rst())
        (back,) = read_published(page)
        again = Side.of_release(back)
        for test, table in new.tables.items():
            want = {row.cpu: dict(row.values) for row in table.rows}
            assert {row.cpu: dict(row.values) for row in again.tables[test].rows} == want


def test_html_is_escaped() -> None:
    side = Side("<b>", "table", "", None, "", {"<i>": SideTable("<i>", ("wakeup",), ())})
    text = build(join(side, side)).to_html()
    assert "<b>" not in text and "<i>" not in text and "&lt;b&gt;" in text


# ---- joins -------------------------------------------------------------------------------------
def _side(kind: str = "console", **more: object) -> Side:
    rows = more.pop("rows", None) or (SideRow("0,0", Cpu(0, 0), {"wakeup": 100}),)
    table = SideTable("cpu_susp_serial", ("wakeup",), rows)  # type: ignore[arg-type]
    base = {"platform": "juno", "clock_hz": 50_000_000, "build": "release"}
    base.update(more)  # type: ignore[arg-type]
    return Side("x", kind, tables={"cpu_susp_serial": table}, **base)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("what", "more"),
    [
        ("platform", {"platform": "n1sdp"}),
        ("clock", {"clock_hz": 24_000_000}),
        ("build type", {"build": "debug"}),
    ],
)
def test_different_boards_are_refused(what: str, more: dict[str, object]) -> None:
    with pytest.raises(NotComparableError, match=what):
        join(_side(), _side(**more))
    joined = join(_side(), _side(**more), anyway=True)
    assert any(what in note for note in joined.notes)
    (note,) = join(_side(), _side(**dict.fromkeys(more, None))).notes
    assert f"does not state its {what}" in note and note.endswith("not checked")
    assert not join(_side(), _side("table", **dict.fromkeys(more, None))).notes


def test_undecided_cpus() -> None:
    rows = (SideRow("0,0", None, {"wakeup": 100}), SideRow("0,0", None, {"wakeup": 200}))
    with pytest.raises(NotComparableError, match="--platform"):
        join(_side("table", rows=rows), _side(rows=rows))
    joined = join(_side(rows=rows), _side(rows=rows))
    assert any("place in the block" in note for note in joined.notes)
    assert len(build(joined, threshold=None)["cpu_susp_serial"].rows) == 2


def test_missing_cpus_are_missing() -> None:
    both = (
        SideRow("0,0", Cpu(0, 0), {"wakeup": 100}),
        SideRow("0,1", Cpu(0, 1), {"wakeup": 120}),
    )
    joined = join(_side(rows=both), _side())
    rows = build(joined)["cpu_susp_serial"].rows
    assert rows == (("0", "0", "100"), ("0", "1", "-"))
    assert any("no reading of cpu 0,1" in note for note in joined.notes)


def test_median_low_is_a_value_that_occurred() -> None:
    sides = [_side(rows=(SideRow("0,0", Cpu(0, 0), {"wakeup": v}),)) for v in (100, 160, 120, 180)]
    merged = merge(sides, "median-low")
    assert merged.boots == 4
    assert merged.tables["cpu_susp_serial"].rows[0].values == {"wakeup": 120}
    caption = build(join(_side(), merged))["cpu_susp_serial"].caption
    assert "lower median of 4 boots" in caption


# ---- platforms ---------------------------------------------------------------------------------
def test_user_platform_wins(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        '[juno]\nnames = ["juno"]\nclock_hz = 24000000\nclusters = [{cores = 1}, {cores = 2}]\n'
        '[mine]\nnames = ["board-x"]\nclusters = [{cores = 2}]\nlinear = ["0,1", "0,0"]\n'
    )
    known = platforms.load(file)
    juno = platforms.find("JUNO", known)
    assert juno is not None and juno.clock_hz == 24_000_000 and juno.tick_ns is None
    mine = platforms.find("board-x", known)
    assert mine is not None and mine.cpus == ((0, 0), (0, 1))
    assert platforms.identify(mine, [(0,), (1,)]).cpus == ((0, 1), (0, 0))
    assert platforms.find("n1sdp", known) is not None
    assert platforms.find("unheard", known) is None


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "[a]\nclock_hz = -5",
        "[a]\nspeed = 5",
        '[a]\nlinear = ["0.1"]',
        '[a]\n[[a.labels]]\nprinted = ["0,0"]\ncpus = []',
        '[a]\n[[a.labels]]\nprinted = ["0,0"]\ncpus = ["0,0"]\nsource = "page"',
        "[a]\nclusters = [{name = 'x'}]",
        "[a",
    ],
)
def test_bad_platform_files(tmp_path: Path, text: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"own\.toml"):
        platforms.load(file)


def test_unknown_platform_says_what_is_missing() -> None:
    found = platforms.identify(None, [(0, 0), (1, 0), (0, 0), (1, 0)], source="console")
    assert found.how == "ordinal" and set(found.cpus) == {None}
    assert "--platform" in found.note
